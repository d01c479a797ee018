# Two commands do all the set-up on a machine with Python 3.10 to 3.12, git and make:
#   make run TEXT="..."   resolves a Hebrew text (a sample without TEXT)
#   make test             linter, types, tests, and the smoke tests on spaCy 3.8
# Installed once into .venv and .venv38; a second call starts at once.

SHELL := /bin/bash
PYTHON ?= python3
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1

SAMPLE := דנה פגשה את אחיה בבית הספר. היא חיבקה אותו, והוא סיפר לה שדבריו הודפסו בעיתון.
# Through the environment, so that quotes (צה"ל) and dollars reach the command as typed.
export HE_COREF_TEXT := $(or $(value TEXT),$(SAMPLE))

# The newest models in the repository, by version and not by letter (0.10 > 0.9).
newest = $(lastword $(shell ls -1 assets/$(1)-*.whl 2>/dev/null | sort -V))
MODEL := $(call newest,he_coref)
LIGHT := $(call newest,he_segmenter_light)
SETUP := setup.cfg pyproject.toml Makefile spacy_he_coref/about.py

.DELETE_ON_ERROR:
.PHONY: run test clean python model

run: model .venv/.core
	@.venv/bin/he-coref resolve --text "$$HE_COREF_TEXT"

test: .venv/.test .venv38/.test
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/pytest -q
	.venv38/bin/pytest -q -m smoke

clean:
	rm -rf .venv .venv38 build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache

# Refuses a Python that the pinned packages have no files for, before pip fails on it.
python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 12))' \
	|| { echo "Python 3.10, 3.11 or 3.12 is needed, and '$(PYTHON)' is" \
	"$$($(PYTHON) --version 2>&1 | head -n 1). Name another one: make PYTHON=python3.11 ..." >&2; exit 1; }

.venv/.core: $(SETUP) constraints.txt | python
	test -x .venv/bin/pip || $(PYTHON) -m venv .venv
	.venv/bin/pip install -q -c constraints.txt -e .
	@touch $@

.venv/.test: .venv/.core $(if $(MODEL),.venv/.model)
	.venv/bin/pip install -q -c constraints.txt -e '.[wl,test]'
	@touch $@

.venv38/.core: $(SETUP) constraints-3.8.txt | python
	test -x .venv38/bin/pip || $(PYTHON) -m venv .venv38
	.venv38/bin/pip install -q --upgrade -c constraints-3.8.txt -e . 'spacy>=3.8,<3.9' pytest
	@touch $@

.venv38/.test: .venv38/.core $(if $(MODEL),.venv38/.model)
	@touch $@

# The shipped models need nothing that the package has not installed already.
%/.model: $(MODEL) $(LIGHT) %/.core
	$*/bin/pip install -q --no-index --no-deps --force-reinstall $(MODEL) $(LIGHT)
	@touch $@

ifeq ($(MODEL),)
model:
	@echo "There is no model to run: assets/ has no he_coref-*.whl. Get the repository" \
	"with its assets, or train and package one (see 'Retrain' in CONTRIBUTING.md)." >&2; exit 1
else
model: .venv/.model
endif

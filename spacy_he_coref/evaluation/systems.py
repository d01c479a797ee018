"""Systems as their metrics files have them, and how they differ.

A system is one metrics file or several, of the same training with other seeds.
"""

from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Sequence

from .bootstrap import (
    Array,
    Comparison,
    compare,
    count_array,
    intervals,
    mean_and_spread,
)
from .coref import CorefCounts, Fractions
from .schema import read_metrics, regimes_of

# Conditions that must be the same where figures stand beside each other.
SAME = ("singletons", "match", "given_mentions")


class System(NamedTuple):
    """A system and its runs.

    name (str): What it is called.
    files (List[str]): The metrics file of each seed.
    runs (List[Dict[str, Any]]): Their contents.
    """

    name: str
    files: List[str]
    runs: List[Dict[str, Any]]

    @property
    def first(self) -> Dict[str, Any]:
        """The first run, for what is not a mean of all."""
        return self.runs[0]

    def regimes(self) -> List[str]:
        """The regimes that all runs have figures of."""
        return [r for r in regimes_of(self.first) if all(r in run for run in self.runs)]

    def conll_f1(self, regime: str) -> "tuple[float, float]":
        """Mean and spread of the seeds in a regime.

        regime (str): One of ``regimes``.
        RETURNS (Tuple[float, float]): In percent (``bootstrap.mean_and_spread``).
        """
        return mean_and_spread([run[regime]["conll_f1"] for run in self.runs])

    def counts(self, regime: str, order: Sequence[str]) -> List[Array]:
        """The counts of each seed.

        regime (str): One of ``regimes``.
        order (Sequence[str]): Ids of the documents in the order that is wanted.
        RETURNS (List[Array]): As ``bootstrap.count_array`` gives them.
        """
        return [_counts(run, regime, order) for run in self.runs]


def _counts(run: Dict[str, Any], regime: str, order: Sequence[str]) -> Array:
    place = {name: i for i, name in enumerate(document_ids(run))}
    rows = run[regime]["per_document"]
    return count_array(
        [
            CorefCounts(
                *(Fractions(*rows[field][place[name]]) for field in CorefCounts._fields)
            )
            for name in order
        ]
    )


def document_ids(run: Dict[str, Any]) -> List[str]:
    """The documents of a metrics file.

    run (Dict[str, Any]): The content of the file.
    RETURNS (List[str]): Their ids, those that come again with a number.
    """
    seen: Dict[str, int] = {}
    names: List[str] = []
    for document in run["documents"]:
        name = document["id"]
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names


def read_systems(arguments: Sequence[str]) -> List[System]:
    """Read metrics files.

    arguments (Sequence[str]): For each system its file, or those of its seeds with
        commas between.
    RETURNS (List[System]): The systems; called by their model, and by the name of the
        file too where models are called alike, with its folder where files are.
    RAISES (ValueError): If a file cannot be read, is no metrics file, or the files
        cannot stand beside each other; names it.
    """
    parts = [
        [name.strip() for name in argument.split(",") if name.strip()]
        for argument in arguments
    ]
    if not parts or not all(parts):
        raise ValueError("Name at least one metrics file for each system.")
    runs = [[read_metrics(file) for file in files] for files in parts]
    names = models = [model_name(contents[0]) for contents in runs]
    for labels in ([Path(files[0]).stem for files in parts], [f[0] for f in parts]):
        names = [
            name if names.count(name) == 1 else f"{model} ({label})"
            for name, model, label in zip(names, models, labels, strict=True)
        ]
    systems = [System(*row) for row in zip(names, parts, runs, strict=True)]
    check_same(systems)
    return systems


def model_name(metrics: Dict[str, Any]) -> str:
    """What the model of a metrics file is called.

    metrics (Dict[str, Any]): The content of the file.
    RETURNS (str): Name and version.
    """
    conditions = metrics["conditions"]
    version = conditions["model_version"]
    # spaCy gives 0.0.0 to what nobody gave a version.
    return f"{conditions['model']} {'' if version == '0.0.0' else version}".strip()


def check_same(systems: Sequence[System]) -> None:
    """Check that figures of systems can stand beside each other.

    systems (Sequence[System]): The systems.
    RAISES (ValueError): If a file has other documents, other gold mentions in them, or
        other conditions than the first one; names both files.
    """
    pairs = [
        (file, run)
        for system in systems
        for file, run in zip(system.files, system.runs, strict=True)
    ]
    (first_file, first), *others = pairs
    ids = document_ids(first)
    for file, run in others:
        which = f"{file} and {first_file}"
        for key in SAME:
            ours, theirs = run["conditions"][key], first["conditions"][key]
            if ours != theirs:
                raise ValueError(
                    f"{which} were measured under other conditions: {key} is {ours} in "
                    f"the first and {theirs} in the second. Evaluate both alike."
                )
        lost = sorted(set(ids) ^ set(document_ids(run)))
        if lost:
            raise ValueError(
                f"{which} have other documents: only one of them has {lost[0]}"
                f"{f' and {len(lost) - 1} more' if len(lost) > 1 else ''}. "
                "Evaluate both on the same corpus."
            )
        for regime, report in regimes_of(run).items():
            if regime not in first or not first[regime]:
                continue
            ours_at = dict(zip(document_ids(run), _gold(report), strict=True))
            for name, number in zip(ids, _gold(first[regime]), strict=True):
                if ours_at[name] != number:
                    raise ValueError(
                        f"{which} have other gold clusters: in {regime}, document "
                        f"{name} has {ours_at[name]:g} gold mentions in the first and "
                        f"{number:g} in the second. Evaluate both on the same corpus."
                    )


def _gold(report: Dict[str, Any]) -> List[float]:
    """The number of gold mentions of each document."""
    return [row[-1] for row in report["per_document"]["mentions"]]


def compare_systems(first: System, second: System) -> Dict[str, Dict[str, Comparison]]:
    """Compare two systems by a paired bootstrap (``bootstrap.compare``).

    first (System), second (System): The systems.
    RETURNS (Dict[str, Dict[str, Comparison]]): By regime, of those that both have, and
        metric.
    RAISES (ValueError): If they have no regime in common, or only one document.
    """
    order = document_ids(first.first)
    common = [name for name in first.regimes() if name in second.regimes()]
    if not common:
        raise ValueError(
            f"{first.name} and {second.name} have no regime in common: the first has "
            f"{', '.join(first.regimes()) or 'none'}, the second "
            f"{', '.join(second.regimes()) or 'none'}."
        )
    return {
        regime: compare(first.counts(regime, order), second.counts(regime, order))
        for regime in common
    }


def seed_intervals(system: System, regime: str) -> Any:
    """The 95% interval of CoNLL F1, of the mean of the seeds if there are several.

    system (System): The system.
    regime (str): One of its regimes.
    RETURNS (Optional[List[float]]): Its ends; None with fewer than two documents.
    """
    if len(system.runs) == 1:
        found = system.first[regime].get("intervals") or {}
        return found.get("conll_f1")
    order = document_ids(system.first)
    return intervals(*system.counts(regime, order)).get("conll_f1")

"""docs/api.md is what docs/api.py makes of the docstrings."""

import importlib.util
import inspect
from types import ModuleType

import pytest

from tests.util import ROOT


@pytest.fixture(scope="module")
def api() -> ModuleType:
    spec = importlib.util.spec_from_file_location("api", ROOT / "docs" / "api.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_up_to_date(api: ModuleType) -> None:
    written = (ROOT / "docs" / "api.md").read_text(encoding="utf8")
    assert written == api.render(), "run: python docs/api.py"


def test_everything_in_it_is_described(api: ModuleType) -> None:
    paths = [path for paths in api.PUBLIC.values() for path in paths]
    registered = [row for row in api.entry_points() if row[0] in api.REGISTERED]
    assert {group for group, *_ in registered} == set(api.REGISTERED)
    for path in [*paths, *(path for _, _, path in registered)]:
        thing = api.find(path)
        assert (thing.__doc__ or "").strip(), path
        # What takes arguments says which.
        if inspect.isfunction(thing) and inspect.signature(thing).parameters:
            assert "\n* **" in "\n".join(api.describe(thing)), path


def test_docstrings_become_lists(api: ModuleType) -> None:
    def example(one, *, two=3):  # type: ignore[no-untyped-def]
        """Do it, with ``care``.

        Some more (see there): text.

        one (Optional[Dict[str, int]]): The first,
            which goes on.
        two (int): The second: a number.
        RETURNS (Tuple[int, int]): Both.
        RAISES (ValueError): Never.
        """

    assert api.signature(example) == "(one, *, two=3)"
    assert list(api.describe(example)) == [
        "Do it, with `care`.\n",
        "Some more (see there): text.\n",
        "* **one (Optional[Dict[str, int]])**: The first, which goes on.",
        "* **two (int)**: The second: a number.",
        "* **RETURNS (Tuple[int, int])**: Both.",
        "* **RAISES (ValueError)**: Never.",
        "",
    ]

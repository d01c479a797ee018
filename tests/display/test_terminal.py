"""The view for terminals: guarded against reordering, plain without colours."""

import io
from typing import Any, List, Tuple

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text
from spacy.tokens import Doc

from spacy_he_coref.display.terminal import (
    FSI,
    LRM,
    PDI,
    RLI,
    RLM,
    WIDEST,
    terminal_view,
)
from tests.display.helpers import story, words
from tests.mentions.helpers import vocabulary


def view(doc: Doc, width: int = 80, name: str = "שם.txt") -> List[Text]:
    console = Console(file=io.StringIO(), width=width)
    return list(terminal_view(doc._.coref, name, console))


def text_and_list(doc: Doc, width: int = 80) -> Tuple[List[str], List[str]]:
    lines = [line.plain for line in view(doc, width)]
    text = [line for line in lines if line.startswith(RLM)]
    return [line[2:-1] for line in text], [x for x in lines[1:] if x.startswith(LRM)]


def test_view() -> None:
    lines = [line.plain for line in view(story())]
    assert lines[:4] == [
        f"{LRM}{FSI}שם.txt{PDI}: 2 clusters, 5 mentions, 1 singleton",
        "",
        f"{RLM}{RLI}[דנה]₁ פגשה את [אחי[ה]₁]₂ . [היא]₁ חיבקה אות[ו]₂ בבית .{PDI}",
        "",
    ]
    cells = [line.replace(FSI, "").replace(LRM, "").split(PDI) for line in lines[4:]]
    rows = [[cell.strip() for cell in row] for row in cells]
    assert rows == [
        ["1.", "דנה", "3 mentions", "40%", ""],
        ["", "דנה", "0:3", "", ""],
        ["", "ה (אחיה)", "15:16", "64%", ""],
        ["", "היא", "19:22", "25%", ""],
        ["2.", "אחיה", "2 mentions", "80%", ""],
        ["", "אחיה", "12:16", "", ""],
        ["", "ו (אותו)", "32:33", "80%", ""],
        ["-", "בית", "35:38", "75%", ""],
        [""],
    ]


def test_every_line_is_guarded() -> None:
    for line in view(story()):
        text = line.plain
        if text:
            assert text[0] in (LRM, RLM)
            opened = text.count(FSI) + text.count(RLI)
            assert opened == text.count(PDI) > 0


def test_columns_are_aligned() -> None:
    _, rows = text_and_list(story())
    starts = {cell_len(row[: row.rindex(FSI)]) for row in rows}
    assert len(starts) == 1


def test_colours_are_those_of_the_clusters() -> None:
    lines = view(story())
    first, second = (str(lines[i].style).split()[-1] for i in (4, 8))
    assert first != second
    text = lines[2]
    clitic = text.plain.index("[ה]₁") + 1
    inner = [s.style for s in text.spans if s.start <= clitic < s.end]
    outer = [s.style for s in text.spans if s.start <= clitic - 2 < s.end]
    assert (inner, outer) == ([first], [second])


def test_colours_only_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    def printed(**settings: Any) -> str:
        stream = io.StringIO()
        console = Console(file=stream, width=80, highlight=False, **settings)
        for line in terminal_view(story()._.coref, "x", console):
            console.print(line, soft_wrap=True)
        return stream.getvalue()

    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    assert "\x1b" not in printed()
    # rich keeps how a style was written first, so not always as truecolor.
    assert "\x1b[38;" in printed(force_terminal=True, color_system="truecolor")
    monkeypatch.setenv("NO_COLOR", "1")
    coloured = printed(force_terminal=True, color_system="truecolor")
    assert "\x1b[38" not in coloured and "[דנה" in coloured


def test_long_text_is_wrapped_between_words() -> None:
    doc = words(["מילה"] * 100, [[(0, 60), (98, 100)]])
    for width in (30, 80, 400):
        text, _ = text_and_list(doc, width)
        assert " ".join(text) == f"[{'מילה ' * 59}מילה]₁ {'מילה ' * 38}[מילה מילה]₁"
        longest = max(map(cell_len, text))
        assert min(width - 1, WIDEST) - 5 < longest <= min(width - 1, WIDEST)
        # Each line of a mention has its colour.
        shown = [x for x in view(doc, width) if x.plain.startswith(RLM)]
        assert shown[1].spans or len(shown) < 3


def test_paragraphs() -> None:
    tokens = ["א", "\n", "ב", "\n\n \n", "ג", "\r\n", "ד"]
    doc = words(tokens, [[(0, 1), (2, 5)]], [False] * 7)
    lines = [line.plain.strip(RLM + RLI + PDI) for line in view(doc)]
    assert lines[2:8] == ["[א]₁", "[ב", "", "ג]₁", "ד", ""]


def test_nothing_steers_the_terminal() -> None:
    tokens = ["a\x1b[31mb", "\u202e", "ג\u2069", "\x07", "ד\te", "\u200fו"]
    doc = words(tokens, [[(0, 1), (2, 3)]])
    lines = view(doc, name="x\x1b]0;y\x07\n")
    shown = "\n".join(line.plain for line in lines)
    assert "\x1b" not in shown and "\x07" not in shown and "\t" not in shown
    assert "\u202e" not in shown and "[a\ufffd[31mb]₁" in shown
    # Marks of direction do no harm.
    assert "\u200fו" in shown
    assert all(
        x.plain.count(RLI) + x.plain.count(FSI) == x.plain.count(PDI) for x in lines
    )


@pytest.mark.parametrize("tokens", [[], ["שלום"], ["\n"]])
def test_nothing_to_show(tokens: List[str]) -> None:
    lines = view(Doc(vocabulary(), words=tokens))
    assert [line.plain for line in lines] == [
        f"{LRM}{FSI}שם.txt{PDI}: 0 clusters, 0 mentions",
        "",
    ]

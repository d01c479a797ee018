"""Pages as Markdown and HTML."""

import re
from html.parser import HTMLParser
from typing import List, Optional, Tuple
from xml.etree import ElementTree

import pytest

from spacy_he_coref.evaluation.page import (
    Block,
    Excerpt,
    Heading,
    Mark,
    Plot,
    Point,
    Step,
    Table,
    Text,
    bar_plot,
    inline,
    interval_plot,
    ladder_plot,
    reliability_plot,
    to_html,
    to_markdown,
)

PAGE: List[Block] = [
    Heading("תוצאות: results <1>", 1),
    Text("The word דבריו, see `a < b`."),
    Heading("First"),
    Table(
        "What | and how",
        ["", "F1", "ends"],
        [["a|b", 61.84, None], ["של & co", 3, "x"]],
    ),
    Heading("Second"),
    Excerpt(
        "error, <htb:1>",
        "דנה אמרה שהיא <כאן>",
        [Mark(0, 3, "gold"), Mark(9, 13, "predicted")],
    ),
]


class Balanced(HTMLParser):
    """Fails on tags that are not closed in order."""

    VOID = frozenset(("meta", "line", "rect", "circle", "polyline"))

    def __init__(self) -> None:
        super().__init__()
        self.open: List[str] = []
        self.tags: List[str] = []

    def handle_starttag(self, tag: str, attrs: List[Tuple[str, Optional[str]]]) -> None:
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(
        self, tag: str, attrs: List[Tuple[str, Optional[str]]]
    ) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check_html(html: str) -> List[str]:
    """All tags of a page that is whole and needs nothing from elsewhere."""
    parser = Balanced()
    parser.feed(html)
    assert parser.open == []
    assert "script" not in parser.tags and "link" not in parser.tags
    assert not re.search(r"https?:|src=|@import|url\(", html)
    return parser.tags


def test_markdown() -> None:
    text = to_markdown(PAGE)
    assert text.startswith("# תוצאות: results <1>\n")
    assert "| a\\|b | 61.8 | – |" in text
    assert "| --- | ---: | ---: |" in text
    assert (
        '<p dir="rtl" lang="he"><ins>דנה</ins> אמרה <b>שהיא</b> &lt;כאן&gt;</p>' in text
    )


def test_html() -> None:
    html = to_html(PAGE)
    tags = check_html(html)
    assert tags.count("th") == 3 + 2 and tags.count("caption") == 1
    assert '<th scope="row">a|b</th><td>61.8</td><td>–</td>' in html
    # The title, two chapters in the list of contents.
    assert "<title>תוצאות: results &lt;1&gt;</title>" in html
    assert html.count('<li><a href="#') == 2
    assert '<blockquote lang="he" dir="rtl"><mark class="gold"' in html
    assert "&lt;כאן&gt;</blockquote>" in html
    assert "prefers-color-scheme: dark" in html and "@media print" in html


def test_hebrew_stands_in_its_own_direction() -> None:
    bdi = '<bdi lang="he" dir="rtl">{}</bdi>'.format
    html = inline("of בית הספר (3), של")
    assert html == f"of {bdi('בית הספר')} (3), {bdi('של')}"
    assert inline("`x<y` & z") == "<code>x&lt;y</code> &amp; z"
    assert inline("no Hebrew, 12.5") == "no Hebrew, 12.5"


def test_overlapping_marks() -> None:
    """Each piece carries all that it is part of."""
    marks = [Mark(0, 9, "predicted"), Mark(4, 9, "gold")]
    html = to_html([Excerpt("x", "בית של דני גדול", marks)])
    assert '<mark class="predicted" title="predicted">בית </mark>' in html
    assert (
        '<mark class="gold predicted" title="gold and predicted">של דנ</mark>' in html
    )


PLOTS = [
    ladder_plot("a < b", [Step("raw", 0, 60, 0), Step("+ segments", 60, 58, 1)]),
    interval_plot("b", [Point("raw", 60, [50, 70], 0), Point("gold", 64, None, 9)]),
    bar_plot("c", {"clitic": [90.0, None], "name <": [10, 0]}, ["one", "two"]),
    reliability_plot("d", {"raw": [(10, 5), (90, 95)]}),
]


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.title)
def test_plots(plot: Plot) -> None:
    root = ElementTree.fromstring(f"<svg>{plot.svg}</svg>")
    texts = [element.text for element in root.iter("text")]
    assert all(texts)
    for element in root.iter():
        for name in ("x", "x1", "x2", "cx"):
            assert 0 <= float(element.get(name, 0)) <= plot.width
        for name in ("y", "y1", "y2", "cy"):
            assert 0 <= float(element.get(name, 0)) <= plot.height
        assert float(element.get("width", 1)) > 0
    html = to_html([plot])
    check_html(html)
    assert 'role="img"' in html
    assert to_markdown([plot]) == "\n"


def test_a_step_down_is_a_bar_too() -> None:
    root = ElementTree.fromstring(f"<svg>{PLOTS[0].svg}</svg>")
    first, second = root.iter("rect")
    ends = [float(r.get("x", 0)) + float(r.get("width", 0)) for r in (first, second)]
    assert ends[0] == pytest.approx(ends[1], abs=0.2)
    assert "-2.0" in [element.text for element in root.iter("text")]

"""The page and the fragment, read back as HTML."""

import re
import sys
from types import ModuleType
from typing import Any, List

import pytest
from spacy.tokens import Doc

from spacy_he_coref.display import html, render
from tests.display.helpers import Page, story, words
from tests.mentions.helpers import vocabulary


def page_of(*docs: Doc, **options: Any) -> Page:
    made = render(list(docs), jupyter=False, **options)
    assert made is not None
    return Page(made)


def text_of(page: Page) -> str:
    (block,) = page.find("div", "text")
    return page.texts[block]


def test_page() -> None:
    doc = story()
    page = page_of(doc)
    root = page.attrs(page.find("html")[0])
    assert root == {"lang": "he", "dir": "rtl"}
    assert text_of(page) == doc.text
    mentions = page.find("span", "m")
    assert [page.texts[i] for i in mentions] == ["דנה", "אחיה", "ה", "היא", "ו"]
    assert [page.attrs(i)["data-c"] for i in mentions] == ["1", "2", "1", "1", "2"]
    # The clitic lies in אחיה, whose line is lower.
    assert page.around(mentions[2], "m") == [mentions[1]]
    assert page.attrs(mentions[1])["style"] == "--h:1"
    assert "style" not in page.attrs(mentions[2])
    for i in mentions:
        attrs = page.attrs(i)
        assert attrs["tabindex"] == "0" and attrs["role"] == "group"
        assert "end" in attrs["class"].split()
    labels = [page.attrs(i)["aria-label"] for i in mentions]
    assert labels[2] == "אזכור 2 מתוך 3 באשכול 1, דנה"
    assert labels[1] == "אזכור 1 מתוך 2 באשכול 2, אחיה"


def test_list_of_clusters() -> None:
    page = page_of(story(), language="en")
    cards = page.find("details", "card")
    assert [page.attrs(i)["id"] for i in cards] == ["d1c1", "d1c2"]
    assert [page.texts[i] for i in cards] == [
        "1דנה40%3 mentionsדנהאחיה64%היא25%",
        "2אחיה80%2 mentionsאחיהאותו80%",
    ]
    # Of a word that ends in a clitic, the letters of the clitic are marked.
    assert [page.texts[i] for i in page.find("b")] == ["ה", "ו"]
    sure = page.find("span", "sure")[0]
    assert page.attrs(sure)["aria-label"] == "confidence 40%"
    ids = {attrs["id"] for _, attrs, _ in page.elements if "id" in attrs}
    links = [page.attrs(i)["href"] for i in page.find("a")]
    assert len(links) == 7 and all(link[1:] in ids for link in links)


def test_gold_has_no_confidences() -> None:
    page = page_of(words(["דנה", "היא"], [[(0, 1), (1, 2)]]))
    assert page.find("details", "card") and not page.find("span", "sure")


def test_singletons_only_if_asked_for() -> None:
    doc = story()
    assert not page_of(doc).find("span", "alone")
    page = page_of(doc, singletons=True)
    (alone,) = page.find("span", "alone")
    assert page.texts[alone] == "בית" and "data-c" not in page.attrs(alone)
    assert "end" not in page.attrs(alone)["class"].split()
    assert page.attrs(alone)["aria-label"] == "אזכור יחיד"


def test_nothing_is_fetched() -> None:
    made = render(story(), jupyter=False) or ""
    assert "default-src 'none'" in made
    for forbidden in ("http:", "https:", "url(", "@import", " src=", "<link"):
        assert forbidden not in made
    # The text names no script that runs: the policy has the sum of ours.
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/]{43}='", made)


def test_everything_is_escaped() -> None:
    bad = "<script>alert('x')</script>"
    quote = '"><img/onerror=1>&amp;'
    doc = words(["דנה", bad, quote, "סוף"], [[(1, 2), (2, 3)], [(0, 2), (0, 4)]])
    for options in ({}, {"page": False}):
        made = render(doc, titles=[bad], jupyter=False, **options) or ""  # type: ignore[arg-type]
        page = Page(made)
        assert text_of(page) == doc.text
        assert not page.find("img")
        assert len(page.find("script")) == (0 if options else 1)
        assert [page.texts[i] for i in page.find("span", "m")][2:4] == [bad, quote]
    assert page.find("h4") and page.texts[page.find("h4")[0]] == bad


@pytest.mark.parametrize(
    "text",
    ["א\nב\n\n ג", "\nא", "א\t  ב ", "א\u202bב\u200f\u2067x", "שָׁלוֹם", "😀 a"],
)
def test_text_is_kept(text: str) -> None:
    doc = Doc(vocabulary(), words=list(text), spaces=[False] * len(text))
    doc.spans["coref_clusters_1"] = [doc[0:1], doc[1:2], doc[1 : len(doc)]]
    assert text_of(page_of(doc)) == doc.text == text


def test_character_that_html_has_not() -> None:
    doc = words(["א\0ב"], [])
    assert text_of(page_of(doc)) == "א\ufffdב"


def test_crossing_mentions_come_in_pieces() -> None:
    doc = words("א ב ג".split(), [[(0, 2), (0, 1)], [(1, 3), (2, 3)]])
    page = page_of(doc)
    assert text_of(page) == doc.text
    first = next(i for i in page.find("span") if page.attrs(i).get("id") == "d1m2-1")
    later = [i for i in page.find("span", "m") if "data-of" in page.attrs(i)]
    assert [page.attrs(i)["data-of"] for i in later] == ["d1m2-1"]
    assert page.texts[first] + page.texts[later[0]] == "ב ג"
    # Reached and named once; the number stands where it ends.
    assert "tabindex" not in page.attrs(later[0])
    assert "aria-label" not in page.attrs(later[0])
    assert "end" in page.attrs(later[0])["class"].split()
    assert "end" not in page.attrs(first)["class"].split()


def test_number_inside_a_word_takes_no_room() -> None:
    doc = words(
        ["דברי", "ו", "ו"], [[(0, 1), (2, 3)], [(0, 2)] * 2], [False, True, False]
    )
    page = page_of(doc)
    inside = [page.texts[i] for i in page.find("span", "inside")]
    assert inside == ["דברי"]


def test_several_documents() -> None:
    docs = [story(), words(["היא"], []), story()]
    docs[2]._.source = {"id": "ג.txt"}
    page = page_of(*docs)
    articles = page.find("article")
    assert [page.attrs(i)["id"] for i in articles] == ["d1", "d2", "d3"]
    assert [page.texts[i] for i in page.find("h2")] == ["מסמך 1", "מסמך 2", "ג.txt"]
    ids = [attrs["id"] for _, attrs, _ in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids)) and "d3m2-2" in ids
    assert page.texts[page.find("header")[0]].split("\n")[1:3] == [
        "3 מסמכים",
        "4 אשכולות, 10 אזכורים",
    ]
    titled = page_of(*docs, titles=["1", "2", "3"])
    assert [titled.texts[i] for i in titled.find("h2")] == ["1", "2", "3"]


def test_nothing_to_draw() -> None:
    for docs in ([], [Doc(vocabulary())], [words(["שלום"], [])]):
        page = page_of(*docs)
        assert len(page.find("article")) == len(docs)
        assert not page.find("span", "m") and not page.find("details")
    assert "לא נמצאו אשכולות" in page.texts[0]
    assert render(Doc(vocabulary()), page=False, jupyter=False)


def test_run_twice_is_equal_and_changes_nothing() -> None:
    doc = story()
    before = doc.to_bytes()
    assert render(doc) == render(doc)
    assert doc.to_bytes() == before


def test_fragment() -> None:
    doc = story()
    made = doc._.coref._repr_html_()
    assert made == render(doc, page=False)
    page = Page(made)
    assert text_of(page) == doc.text
    assert page.elements[0][0] == "div" and not page.find("script")
    # Many fragments may stand on one page.
    assert not [attrs for _, attrs, _ in page.elements if "id" in attrs]
    assert not [attrs for _, attrs, _ in page.elements if "tabindex" in attrs]
    titles = [page.attrs(i)["title"] for i in page.find("span", "m")]
    assert titles[0] == "אזכור 1 מתוך 3 באשכול 1, דנה"
    style = page.texts[page.find("style")[0]]
    style = re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL)
    # Every selector is about a fragment, or what is in it.
    selectors: List[str] = re.findall(r"(?:^|[{}])\s*([^{}@]+)\{", style)
    assert len(selectors) > 20
    for selector in selectors:
        for one in re.split(r",(?![^(]*\))", selector):
            assert ".he-coref" in one, selector
    assert style.count(":has(") == 4 and '[data-c="2"]{background' in style


def test_only_some_clusters_of_a_fragment_light_up() -> None:
    size = html.MOST_LIT + 5
    doc = words(
        ["א"] * 2 * size, [[(i, i + 1), (size + i, size + i + 1)] for i in range(size)]
    )
    made = render(doc, page=False) or ""
    assert made.count(".he-coref.fragment:has(") == html.MOST_LIT


def test_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: List[str] = []
    module: Any = ModuleType("IPython.display")
    module.HTML = lambda made: f"HTML:{made}"
    module.display = shown.append
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    doc = story()
    assert render([doc, doc], jupyter=True) is None
    assert shown == ["HTML:" + 2 * doc._.coref._repr_html_()]
    # Found out by itself.
    monkeypatch.setattr("spacy.util.is_in_jupyter", lambda: True)
    assert render(doc) is None and len(shown) == 2
    assert (render(doc, jupyter=False) or "").startswith("<!DOCTYPE html>")


def test_languages_say_the_same() -> None:
    hebrew, english = html.WORDS["he"], html.WORDS["en"]
    assert list(hebrew) == list(english) and set(html.DIRECTIONS) == set(html.WORDS)
    for name, value in hebrew.items():
        assert value.count("{}") == english[name].count("{}"), name


def test_errors() -> None:
    with pytest.raises(ValueError, match="Cannot draw str 'שלום': not a Doc"):
        render(["שלום"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="language 'fr'. Choose one of he, en"):
        render(story(), language="fr")
    with pytest.raises(ValueError, match="1 titles for 2 documents"):
        render([story(), story()], titles=["א"])

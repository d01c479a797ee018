"""The page in a browser without a window, where there is one."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import List

import pytest

from spacy_he_coref.display import render
from spacy_he_coref.display.colours import PATTERNS
from tests.display.helpers import Page, story, words

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture
def browser() -> str:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser ({', '.join(BROWSERS)})")
    return found


def open_page(browser: str, path: Path, target: str) -> Page:
    """The page as it is after its script ran; fails if that complains."""
    done = subprocess.run(
        [
            browser,
            *("--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
            *("--enable-logging=stderr", "--virtual-time-budget=2000"),
            f"--user-data-dir={path.parent / 'profile'}",
            f"{path.as_uri()}{target}",
        ],
        capture_output=True,
        timeout=300,
    )
    errors = done.stderr.decode("utf8", "replace")
    complaints = [line for line in errors.splitlines() if ":CONSOLE" in line]
    assert done.returncode == 0 and not complaints, errors
    return Page(re.sub("(?s)^.*?<html", "<html", done.stdout.decode("utf8")))


def test_lines_in_the_list_of_a_fragment(browser: str, tmp_path: Path) -> None:
    # A cluster for each pattern.
    size = len(PATTERNS)
    doc = words(
        ["א"] * 2 * size, [[(i, i + 1), (size + i, size + i + 1)] for i in range(size)]
    )
    path = tmp_path / "fragment.html"
    script = """<script>
    const items = [...document.querySelectorAll("li bdi")];
    document.body.title = items.map((e) => getComputedStyle(e).borderBottomStyle);
    </script>"""
    fragment = f"<body>{render(doc, page=False, jupyter=False)}{script}</body>"
    path.write_text(f"<!DOCTYPE html><html>{fragment}</html>", encoding="utf8")
    page = open_page(browser, path, "")
    styles = page.attrs(page.find("body")[0])["title"].split(",")
    assert styles == [pattern.split()[0] for pattern in PATTERNS]


def lit(page: Page) -> List[str]:
    return [page.texts[i] for i in page.find("span", "on") if page.around(i, "text")]


def test_script_lights_a_cluster(browser: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    bad = "<script>document.title = 1</script>"
    crossing = words(["א", bad, "ג"], [[(0, 2), (2, 3)], [(1, 3), (2, 3)]])
    docs = [story(), crossing]
    path.write_text(render(docs, jupyter=False) or "", encoding="utf8")
    page = open_page(browser, path, "#d1m1-2")
    assert lit(page) == ["דנה", "ה", "היא"]
    assert [page.texts[i] for i in page.find("span", "at")] == ["ה"]
    (bar,) = page.find("div", "bar")
    assert "hidden" not in page.attrs(bar)
    assert re.sub(r"\s+", " ", page.texts[bar]).startswith(" 1דנה 2 מתוך 3")
    (search,) = page.find("div", "find")
    assert "hidden" not in page.attrs(search)
    # A cluster of the other document, in pieces; its script is text.
    page = open_page(browser, path, "#d2c2")
    assert "".join(lit(page)) == f"{bad} ג" + "ג"
    blocks = [page.texts[i] for i in page.find("div", "text")]
    assert blocks == [doc.text for doc in docs]
    assert page.texts[page.find("title")[0]] == "2 מסמכים"

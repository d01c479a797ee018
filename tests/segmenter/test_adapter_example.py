"""The adapter that docs/segmenter-backends.md shows, against a fake server."""

import re
from types import SimpleNamespace
from typing import Any, List

import pytest
import spacy

from tests.segmenter.helpers import LEXICON, TEXT, blank
from tests.util import ROOT

ANSWERS = {word: forms.replace("_", "").split() for word, forms in LEXICON.items()}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> List[Any]:
    """Stands in for the tool; keeps what it was asked."""
    asked: List[Any] = []

    def post(url: str, json: List[List[str]], timeout: float) -> Any:
        asked.append((url, json, timeout))
        found = [[ANSWERS.get(word, [word]) for word in words] for words in json]
        return SimpleNamespace(raise_for_status=lambda: None, json=lambda: found)

    monkeypatch.setattr("requests.post", post)
    return asked


def test_the_adapter_of_the_guide_works(server: List[Any]) -> None:
    guide = (ROOT / "docs" / "segmenter-backends.md").read_text(encoding="utf8")
    (example,) = [
        block
        for block in re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
        if "class ServerSegmenter" in block
    ]
    exec(compile(example, "segmenter-backends.md", "exec"), {"__name__": "adapter"})
    nlp = blank()
    backend = {"@misc": "my_package.ServerSegmenter.v1", "url": "http://localhost:1"}
    nlp.add_pipe("he_segmenter", config={"backend": backend})
    nlp.add_pipe("he_retokenizer")
    docs = list(nlp.pipe([TEXT, "", "שלום"]))
    assert [doc.text for doc in docs] == [TEXT, "", "שלום"]
    assert [t.text for t in docs[0]][:6] == ["דברי", "ו", "נאמרו", "ב", "שטחים", ","]
    assert docs[0][0]._.morphemes == ("דבר",)
    assert docs[0][1]._.morphemes == ("_של_", "_הוא")
    assert docs[0][4]._.morphemes == ("ה_", "שטחים")
    # One call for the batch, with a time-out.
    assert len(server) == 1 and server[0][2] > 0
    spacy.registry.misc.get("my_package.ServerSegmenter.v1")

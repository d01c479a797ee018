"""HTML of clusters: a page of its own, and a fragment for notebooks."""

import base64
import hashlib
from functools import cache
from html import escape
from importlib.resources import files
from typing import Dict, Iterable, List, Optional, Sequence, Union

from spacy.tokens import Doc, Span

from ..coref.reading import Cluster, DocCoref, readable
from ..tokens import CLITIC
from .colours import (
    DARK,
    LIGHT,
    colour_of,
    paper_css,
    pattern_css,
    pattern_of,
)
from .marks import Mark, ends_inside_word, find_marks, heights, walk

# Letters of the main mention in what a screen reader says.
LONGEST_LABEL = 40
# Clusters of a fragment that light up under the mouse; each takes a rule of CSS.
MOST_LIT = 60
# The directions of the languages that the page can speak; its text is Hebrew.
DIRECTIONS = {"he": "rtl", "en": "ltr"}
# In each language: for one, for several where there is a difference.
WORDS: Dict[str, Dict[str, str]] = {
    "he": {
        "title": "מי ומה בטקסט",
        "documents": "{} מסמכים",
        "document": "מסמך {}",
        "clusters_1": "אשכול אחד",
        "clusters": "{} אשכולות",
        "mentions_1": "אזכור אחד",
        "mentions": "{} אזכורים",
        "singletons_1": "אזכור יחיד אחד",
        "singletons": "{} אזכורים יחידים",
        "alone": "אזכור יחיד",
        "mention": "אזכור {} מתוך {} באשכול {}, {}",
        "list": "אשכולות",
        "to_list": "לרשימת האשכולות",
        "none": "לא נמצאו אשכולות",
        "confidence": "ודאות {}",
        "search": "חיפוש באזכורים",
        "found": "{} אזכורים, {} אשכולות",
        "place": "{} מתוך {}",
        "chosen": "האשכול שנבחר",
        "next": "האזכור הבא",
        "previous": "האזכור הקודם",
        "close": "סגירה",
        "keys": "Tab לאזכור הבא, חצים ימינה ושמאלה בתוך האשכול, / לחיפוש, Esc לסיום",
    },
    "en": {
        "title": "Who and what in the text",
        "documents": "{} documents",
        "document": "Document {}",
        "clusters_1": "1 cluster",
        "clusters": "{} clusters",
        "mentions_1": "1 mention",
        "mentions": "{} mentions",
        "singletons_1": "1 singleton",
        "singletons": "{} singletons",
        "alone": "singleton",
        "mention": "mention {} of {} of cluster {}, {}",
        "list": "Clusters",
        "to_list": "To the list of clusters",
        "none": "No clusters were found",
        "confidence": "confidence {}",
        "search": "Search mentions",
        "found": "{} mentions, {} clusters",
        "place": "{} of {}",
        "chosen": "The chosen cluster",
        "next": "Next mention",
        "previous": "Previous mention",
        "close": "Close",
        "keys": "Tab to the next mention, left and right in the cluster, / to search, "
        "Esc to end",
    },
}


def render(
    docs: Union[Doc, Iterable[Doc]],
    *,
    page: bool = True,
    jupyter: Optional[bool] = None,
    titles: Optional[Sequence[str]] = None,
    singletons: bool = False,
    language: str = "he",
) -> Optional[str]:
    """Draw the clusters of documents as HTML, as ``displacy.render`` does trees.

    The page needs nothing but itself: no network, no other file. Every mention has
    the number of its cluster, its colour, and a line of its pattern; lines of nested
    mentions lie below each other. In a notebook the fragment is shown instead.

    docs (Union[Doc, Iterable[Doc]]): The documents, with clusters (predicted, gold, or
        read from a file).
    page (bool): Make a whole page, with a list of clusters, search and keyboard; else
        a fragment of HTML without script.
    jupyter (Optional[bool]): Show the fragment in a notebook; by default where the
        code runs in one.
    titles (Optional[Sequence[str]]): The name of each document; by default the ``id``
        in ``doc._.source``, if it has one.
    singletons (bool): Also mark the mentions that nothing else refers to.
    language (str): Language of what is around the text, ``he`` or ``en``.
    RETURNS (Optional[str]): The HTML; None if it was shown in a notebook.
    RAISES (ValueError): If the language is another one, there are not as many titles
        as documents, or something is not a Doc.
    """
    documents = [docs] if isinstance(docs, Doc) else list(docs)
    for doc in documents:
        if not isinstance(doc, Doc):
            raise ValueError(
                f"Cannot draw {type(doc).__name__} {str(doc)[:40]!r}: not a Doc. Give "
                "what the pipeline returns: render(nlp(text))."
            )
    if language not in WORDS:
        raise ValueError(
            f"The page cannot be in the language {language!r}. Choose one of "
            f"{', '.join(WORDS)}."
        )
    if titles is not None and len(titles) != len(documents):
        raise ValueError(
            f"There are {len(titles)} titles for {len(documents)} documents. Give as "
            "many as there are documents."
        )
    names = [_name_of(doc) for doc in documents] if titles is None else list(titles)
    if jupyter is None:
        from spacy.util import is_in_jupyter

        jupyter = is_in_jupyter()
    corefs = [doc._.coref for doc in documents]
    if page and not jupyter:
        return _page(corefs, names, singletons, language)
    html = "".join(
        fragment(coref, name, singletons, language)
        for coref, name in zip(corefs, names, strict=True)
    )
    if not jupyter:
        return html
    from IPython.display import HTML, display  # type: ignore[import-not-found]

    display(HTML(html))
    return None


def _name_of(doc: Doc) -> str:
    source = doc._.source
    return str(source.get("id", "")) if isinstance(source, dict) else ""


def fragment(
    coref: DocCoref, title: str = "", singletons: bool = False, language: str = "he"
) -> str:
    """Draw the clusters of a document for a place on another page.

    coref (DocCoref): The clusters.
    title (str): Name of the document.
    singletons (bool): Also mark the mentions that nothing else refers to.
    language (str): Language of what is around the text.
    RETURNS (str): One element, whose style touches nothing outside of it. Without
        script: a cluster lights up under the mouse by CSS, if it is among the first
        ``MOST_LIT``.
    """
    words = WORDS[language]
    style = _style("base.css", "fragment.css")
    lit = "\n".join(_lit_rule(cluster.number) for cluster in coref[:MOST_LIT])
    items = [
        f'<li class="k{colour_of(cluster.number)}" data-c="{cluster.number}">'
        f'{_number(cluster.number)} <bdi class="p{pattern_of(cluster.number)}">'
        f"{_shown(cluster.main)}</bdi> "
        f'<small class="quiet">{_size_of(cluster, words)}</small></li>'
        for cluster in coref
    ]
    listed = f"<ul>{''.join(items)}</ul>" if items else ""
    heading = f"<h4><bdi>{escape(title)}</bdi></h4>" if title else ""
    # A text block is white space as it is, so there are no line ends in it.
    return (
        f'<div class="he-coref fragment" dir="rtl" lang="he"><style>{style}\n{lit}'
        f"</style>{heading}"
        f"{_text(coref, singletons, words, None)}{listed}</div>"
    )


def _lit_rule(cluster: int) -> str:
    mention = f'[data-c="{cluster}"]'
    inner = f"{mention}:hover:not(:has([data-c]:hover))"
    return f".he-coref.fragment:has({inner}) {mention}{{background:var(--s)}}"


def _size_of(cluster: Cluster, words: Dict[str, str]) -> str:
    size = _count(words, "mentions", len(cluster))
    if cluster.confidence is None:
        return size
    return f"{size}, {_confidence(cluster.confidence, words)}"


def _page(
    corefs: Sequence[DocCoref],
    names: Sequence[str],
    singletons: bool,
    language: str,
) -> str:
    """The whole page."""
    words = WORDS[language]
    chrome = f'dir="{DIRECTIONS[language]}" lang="{language}"'
    several = len(corefs) != 1
    if several:
        title = words["documents"].format(len(corefs))
        names = [
            name or words["document"].format(number)
            for number, name in enumerate(names, start=1)
        ]
    else:
        title = names[0] or words["title"]
    articles = [
        _article(f"d{number}", coref, name if several else "", singletons, language)
        for number, (coref, name) in enumerate(zip(corefs, names, strict=True), start=1)
    ]
    counted = ", ".join(
        [
            _count(words, "clusters", sum(map(len, corefs))),
            _count(words, "mentions", sum(len(c) for coref in corefs for c in coref)),
        ]
    )
    if not several:
        counted = f'<a href="#d1-list">{counted}</a>'
    links = [
        f'<a href="#d{number}"><bdi>{escape(name)}</bdi></a>'
        for number, name in enumerate(names, start=1)
    ]
    nav = f"<nav>{' '.join(links)}</nav>" if several and links else ""
    script = _read("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf8")).digest()).decode()
    # Nothing is fetched, and no other script runs, whatever the text holds.
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    )
    return f"""<!DOCTYPE html>
<html lang="he" dir="rtl">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="spacy_he_coref">
<title>{escape(title)}</title>
<style>
{_style("base.css", "page.css")}
</style>
</head>
<body class="he-coref" data-found="{escape(words["found"])}" \
data-place="{escape(words["place"])}">
<a class="skip" href="#d1-list" {chrome}>{words["to_list"]}</a>
<header {chrome}>
<h1><bdi>{escape(title)}</bdi></h1>
<span class="quiet">{counted}</span>
<div class="find" role="search" hidden>
<span class="quiet" role="status"></span>
<input type="search" placeholder="{words["search"]}" aria-label="{words["search"]}" \
dir="auto" autocomplete="off" spellcheck="false">
</div>
</header>
<main>
{nav}
{"".join(articles)}</main>
<div class="bar" role="group" aria-label="{words["chosen"]}" lang="{language}" hidden>
<span class="number"></span><bdi class="main" lang="he"></bdi>
<bdi class="place quiet"></bdi>
<button type="button" value="-1" aria-label="{words["previous"]}">→</button>
<button type="button" value="1" aria-label="{words["next"]}">←</button>
<button type="button" value="" aria-label="{words["close"]}">✕</button>
</div>
<script>{script}</script>
</body>
</html>
"""


def _article(
    name: str, coref: DocCoref, title: str, singletons: bool, language: str
) -> str:
    """A document on the page: its text, and its clusters beside it."""
    words = WORDS[language]
    chrome = f'dir="{DIRECTIONS[language]}" lang="{language}"'
    heading = f"<h2><bdi>{escape(title)}</bdi></h2>" if title else ""
    text = _text(coref, singletons, words, name)
    cards = "".join(_card(name, cluster, words) for cluster in coref)
    counts = [_count(words, "mentions", sum(map(len, coref)))]
    if singletons and coref.singletons:
        counts.append(_count(words, "singletons", len(coref.singletons)))
    if len(coref):
        top = f"{_count(words, 'clusters', len(coref))} "
        top += f'<span class="quiet">{", ".join(counts)}</span>'
        foot = f'<p class="keys quiet">{words["keys"]}</p>'
    else:
        top, foot = words["list"], f'<p class="none quiet">{words["none"]}</p>'
    return f"""<article id="{name}">
<div class="sheet">{heading}{text}</div>
<aside id="{name}-list" tabindex="-1" aria-label="{words["list"]}" {chrome}>
<h3>{top}</h3>
{cards}{foot}
</aside>
</article>
"""


def _card(name: str, cluster: Cluster, words: Dict[str, str]) -> str:
    """A cluster in the list; opens to show its mentions, also without script."""
    number = cluster.number
    rows = []
    for place, (span, link) in enumerate(
        zip(cluster, cluster.links, strict=True), start=1
    ):
        sure = "" if link is None else f'<span class="sure quiet">{link:.0%}</span>'
        target = f"{name}m{number}-{place}"
        rows.append(
            f'<li><a href="#{target}"><bdi lang="he">{_shown(span)}</bdi></a>'
            f"{sure}</li>"
        )
    sure = ""
    if cluster.confidence is not None:
        said = _confidence(cluster.confidence, words)
        sure = (
            f'<span class="sure" role="img" aria-label="{said}" title="{said}">'
            f'<i style="--sure:{cluster.confidence:.2f}"></i>{cluster.confidence:.0%}'
            "</span>"
        )
    return (
        f'<details class="card k{colour_of(number)}" id="{name}c{number}" '
        f'data-c="{number}">'
        f'<summary>{_number(number)}<bdi class="main p{pattern_of(number)}" lang="he">'
        f"{_shown(cluster.main)}</bdi>{sure}"
        f'<span class="size quiet">{_count(words, "mentions", len(cluster))}</span>'
        f"</summary><ol>{''.join(rows)}</ol></details>\n"
    )


def _text(
    coref: DocCoref, singletons: bool, words: Dict[str, str], name: Optional[str]
) -> str:
    """The text with its mentions.

    coref (DocCoref): The clusters.
    singletons (bool): Also mark the mentions that nothing else refers to.
    words (Dict[str, str]): Of the language.
    name (Optional[str]): Of the document on a page, for the addresses of its mentions;
        None on a fragment, which has no addresses and is not reached by Tab.
    RETURNS (str): One element. Its text content is that of the document.
    """
    text = coref.doc.text
    marks = find_marks(coref, singletons)
    events = list(walk(text, marks))
    height_of = heights(events, len(marks))
    labels = _labels(coref, marks, words)
    # A cut mark has its number where it really ends.
    last = {event.mark: i for i, event in enumerate(events) if event.opens}
    parts: List[str] = []
    for i, event in enumerate(events):
        if event.mark < 0:
            parts.append(_escape(event.text))
        elif not event.opens:
            parts.append("</span>")
        else:
            mark = marks[event.mark]
            ends = last[event.mark] == i and mark.cluster > 0
            inside = ends and ends_inside_word(text, mark.end)
            parts.append(
                _open(
                    mark,
                    height_of[event.mark],
                    ends,
                    inside,
                    event.whole,
                    labels[event.mark],
                    name,
                )
            )
    levels = 1 + max(height_of, default=-1)
    return f'<div class="text" style="--levels:{levels}">{"".join(parts)}</div>'


def _open(
    mark: Mark,
    height: int,
    ends: bool,
    inside: bool,
    first: bool,
    label: str,
    name: Optional[str],
) -> str:
    """The tag that opens a mention, or a later piece of it."""
    classes = ["m", _look(mark.cluster) if mark.cluster else "alone"]
    classes += ["end"] if ends else []
    classes += ["inside"] if inside else []
    tag = f'<span class="{" ".join(classes)}"'
    if mark.cluster:
        tag += f' data-c="{mark.cluster}"'
    if height:
        tag += f' style="--h:{height}"'
    if name is not None:
        number = mark.cluster or f"s{mark.start}-{mark.end}"
        target = f"{name}m{number}-{mark.place}"
        # A group, as those of buttons and links may not hold others.
        tag += (
            f' id="{target}" tabindex="0" role="group" aria-label="{label}"'
            if first
            else f' data-of="{target}"'
        )
    elif first:
        tag += f' title="{label}"'
    return tag + ">"


def _labels(coref: DocCoref, marks: Sequence[Mark], words: Dict[str, str]) -> List[str]:
    """What is said of each mention: its place, its cluster, who that is."""
    mains = [escape(readable(cluster.main, LONGEST_LABEL)) for cluster in coref]
    sizes = [len(cluster) for cluster in coref]
    labels: List[str] = []
    for mark in marks:
        if not mark.cluster:
            labels.append(words["alone"])
            continue
        i = mark.cluster - 1
        labels.append(
            words["mention"].format(mark.place, sizes[i], mark.cluster, mains[i])
        )
    return labels


def _look(cluster: int) -> str:
    return f"k{colour_of(cluster)} p{pattern_of(cluster)}"


def _number(cluster: int) -> str:
    return f'<span class="number">{cluster}</span>'


def _shown(span: Span) -> str:
    """A mention in a list: in one line, shortened; a clitic with its word."""
    if len(span) == 1 and span[0]._.segment_kind == CLITIC:
        word = span[0]._.word
        before = word.text[: span.start_char - word.start_char]
        after = word.text[span.end_char - word.start_char :]
        return f"{_escape(before)}<b>{_escape(span.text)}</b>{_escape(after)}"
    return _escape(readable(span))


def _count(words: Dict[str, str], what: str, number: int) -> str:
    return words[f"{what}_1"] if number == 1 else words[what].format(number)


def _confidence(confidence: float, words: Dict[str, str]) -> str:
    return words["confidence"].format(f"{confidence:.0%}")


def _escape(text: str) -> str:
    # HTML has no way to write this character.
    return escape(text).replace("\0", "\ufffd")


@cache
def _read(name: str) -> str:
    return (files(__package__) / name).read_text("utf8").strip()


@cache
def _style(*names: str) -> str:
    """The style of a page or fragment, with the colours of light and dark paper."""
    root = ".he-coref"
    # Notebooks have a theme of their own, which may not be that of the system.
    dark = ['[data-jp-theme-light="false"]', ".vscode-dark", 'html[theme="dark"]']
    light = ['[data-jp-theme-light="true"]', ".vscode-light"]
    rules = [
        paper_css(f"{root}{{}}", LIGHT),
        f"@media screen and (prefers-color-scheme:dark){{\n"
        f"{paper_css(f'{root}{{}}', DARK)}\n}}",
    ]
    if "fragment.css" in names:
        for themes, paper in ((light, LIGHT), (dark, DARK)):
            anyone = f":is({','.join(themes)}) {root}{{}}"
            rules.append(f"@media screen{{\n{paper_css(anyone, paper)}\n}}")
    # The patterns come last, to win over the line that the other rules begin with.
    rules += [*map(_read, names), pattern_css(root)]
    return "\n".join(rules)

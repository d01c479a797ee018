"""Writes docs/api.md from the docstrings of what the package offers.

Run it after a change of a docstring: python docs/api.py
"""

import inspect
import re
from configparser import ConfigParser
from importlib import import_module
from pathlib import Path
from typing import Any, Iterator, Tuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "spacy_he_coref"
# What a user imports, or gets from what is imported.
_PUBLIC = {
    "Attributes: `doc._`, `token._`, `span._`": """tokens tokens.register_extensions
        tokens.DocMorpheme coref.reading.register_coref coref.reading.DocCoref
        coref.reading.Cluster mentions.kinds.mention_kind""",
    "Resolved text": """coref.rewriting.ResolvedText coref.rewriting.Piece
        coref.rewriting.Left""",
    "Text in pieces": """coref.stream.resolve_stream coref.stream.StreamPiece
        coref.stream.StreamEntity coref.stream.StreamMention""",
    "Display": "display.render",
    "Files": """formats.table.read_docs formats.table.write_docs
        formats.table.get_format formats.table.Format corpus.docs.load_docs""",
    "Clusters by hand": """coref.clusters.get_clusters coref.clusters.set_clusters
        coref.clusters.clear_clusters""",
    "Evaluation": """evaluation.coref evaluation.coref.score_coref
        evaluation.coref.CorefScore evaluation.regimes.RegimeScore""",
}
PUBLIC = {heading: paths.split() for heading, paths in _PUBLIC.items()}
REGISTERED = {
    "spacy_factories": "Components: `nlp.add_pipe(name)`",
    "spacy_architectures": "Architectures: `@architectures`",
    "spacy_tokenizers": "Tokenizers: `@tokenizers`",
    "spacy_misc": "Segmenters: `@misc`, for `backend` of `he_segmenter`",
    "spacy_readers": "Corpora: `@readers`",
    "spacy_scorers": "Scorers: `@scorers`",
}
_ITEM = re.compile(r"(RETURNS|YIELDS|RAISES|\*{0,2}\w+(?: \(.*?\))?(?:, \w+)*) ?\(.*:")
_LABEL = re.compile(r"(.+?\)+):(?= |$)(.*)", re.DOTALL)


def find(path: str) -> Any:
    """A module or an object in one by its path in the package, with dots."""
    thing: Any = import_module(PACKAGE)
    for name in path.split("."):
        if inspect.ismodule(thing) and not hasattr(thing, name):
            import_module(f"{thing.__name__}.{name}")
        thing = getattr(thing, name)
    return thing


def entry_points() -> Iterator[Tuple[str, str, str]]:
    """Group, name and path of everything that setup.cfg registers with spaCy."""
    config = ConfigParser(delimiters=("=",))
    config.optionxform = str  # type: ignore[assignment,method-assign]
    config.read(ROOT / "setup.cfg", encoding="utf8")
    for group, rows in config["options.entry_points"].items():
        for row in rows.strip().splitlines():
            name, path = (part.strip() for part in row.split("=", 1))
            yield group, name, path.replace(":", ".").removeprefix(f"{PACKAGE}.")


def signature(thing: Any) -> str:
    """The parameters with their defaults; the types are in the docstring."""
    found = inspect.signature(thing)
    bare = inspect.Parameter.empty
    parameters = [p.replace(annotation=bare) for p in found.parameters.values()]
    if parameters and parameters[0].name == "self":
        del parameters[0]
    return str(inspect.Signature(parameters))


def describe(thing: Any) -> Iterator[str]:
    """The docstring as Markdown: arguments and results become a list."""
    text = inspect.getdoc(thing) or ""
    text = re.sub(r"``(.+?)``", r"`\1`", text, flags=re.DOTALL)
    for paragraph in text.split("\n\n"):
        if not _ITEM.match(paragraph):
            yield f"{paragraph}\n"
            continue
        # Lines that go on are indented.
        items = re.sub(r"\n +", " ", paragraph).splitlines()
        for item in items:
            label = _LABEL.match(item)
            yield f"* **{label[1]}**:{label[2]}" if label else f"* {item}"
        yield ""


def document(path: str, title: str = "") -> Iterator[str]:
    """A module's text, a function, or a class with its public methods; of what is
    registered under a title only how it is made."""
    thing = find(path)
    if inspect.ismodule(thing):
        yield from describe(thing)
        return
    name = path.rsplit(".", 1)[-1]
    call = "" if inspect.isclass(thing) else signature(thing)
    yield f"### `{title or name + call}`\n"
    yield f"`{PACKAGE}.{path}`\n"
    yield from describe(thing)
    if not inspect.isclass(thing):
        return
    if title:
        yield from list(describe(thing.__init__))[1:]
        return
    for key, member in vars(thing).items():
        if key.startswith("_") or not inspect.getdoc(member):
            continue
        if inspect.isfunction(member):
            yield f"#### `{name}.{key}{signature(member)}`\n"
        elif isinstance(member, property) or hasattr(member, "func"):
            yield f"#### `{name}.{key}`\n"
        else:
            continue
        yield from describe(member)


def render() -> str:
    """The whole page."""
    lines = ["# API reference\n", "Made by `python docs/api.py` from the docstrings.\n"]
    for heading, paths in PUBLIC.items():
        lines.append(f"## {heading}\n")
        for path in paths:
            lines.extend(document(path))
    last = ""
    for group, name, path in entry_points():
        if group not in REGISTERED:
            continue
        if group != last:
            lines.append(f"## {REGISTERED[group]}\n")
            last = group
        lines.extend(document(path, name))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


if __name__ == "__main__":
    (ROOT / "docs" / "api.md").write_text(render(), encoding="utf8")

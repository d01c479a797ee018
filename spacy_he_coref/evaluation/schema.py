"""The metrics file of ``he-coref evaluate coref``: its schema, reading and writing.

The file is JSON without any text of the corpus: documents go by their id, places in
them by character offsets. ``docs/evaluation.md`` describes the fields.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Tuple, Type, Union

from .coref import METRICS, CorefCounts, Dropped, Fractions

# Goes up when a field changes its meaning or is taken away; new fields do not count.
VERSION = 1
# Objects of up to so many characters stand on one line of the file.
LINE = 120
REGIMES = ("gold_mentions", "gold", "auto", "raw")


@dataclass(frozen=True)
class Maybe:
    """A field that may be missing or null.

    schema (Any): What it is otherwise.
    """

    schema: Any


@dataclass(frozen=True)
class Each:
    """An object with any names.

    schema (Any): What each of its values is.
    """

    schema: Any


@dataclass(frozen=True)
class Rows:
    """A list.

    schema (Any): What each of its members is.
    length (int): How many members it has; -1 for any number.
    """

    schema: Any
    length: int = -1


Types = Tuple[Type[Any], ...]
NUMBER: Types = (int, float)
COUNT: Types = (int,)
TEXT: Types = (str,)
YES_NO: Types = (bool,)
ANY: Types = (object,)

PRF = dict.fromkeys(("p", "r", "f1"), NUMBER)
ENDS = Rows(NUMBER, 2)
SCORES: Dict[str, Any] = {
    **dict.fromkeys(METRICS, PRF),
    "conll_f1": NUMBER,
    "counts": dict.fromkeys(
        ("predicted_clusters", "gold_clusters", "predicted_mentions", "gold_mentions"),
        COUNT,
    ),
    "dropped": dict.fromkeys(
        ("predicted", "gold"), dict.fromkeys(Dropped._fields, COUNT)
    ),
    "intervals": Maybe(
        {
            "conll_f1": ENDS,
            **dict.fromkeys(METRICS, dict.fromkeys(("p", "r", "f1"), ENDS)),
        }
    ),
    "per_document": dict.fromkeys(
        CorefCounts._fields, Rows(Rows(NUMBER, len(Fractions._fields)))
    ),
}
CALIBRATION = Maybe(
    {
        "ece": NUMBER,
        "confidence": NUMBER,
        "right": NUMBER,
        "number": COUNT,
        "bins": Rows(ANY),
    }
)
CELL = {
    **dict.fromkeys(
        ("mentions", "links", "b3"), {**PRF, "predicted": NUMBER, "gold": NUMBER}
    )
}
LENGTH_CELL = {**CELL, "documents": COUNT, "conll_f1": NUMBER}
LOSSES = {
    "conll_f1": NUMBER,
    "ceilings": {"segments": NUMBER, "mentions": NUMBER},
    "without": {"bad_segments": NUMBER, "bad_mentions": NUMBER},
    "losses": Each(NUMBER),
    "singletons_known": COUNT,
}
CLUSTERS = {
    **dict.fromkeys(("gold", "predicted", "correct", "missed", "extra"), COUNT),
    **dict.fromkeys(("correct_share", "missed_share", "extra_share"), NUMBER),
}
PLACE = {"start": COUNT, "end": COUNT}
EXAMPLE = {
    "document": TEXT,
    "contexts": Rows(
        {**PLACE, "mentions": Rows({**PLACE, "kind": TEXT, "role": TEXT})}
    ),
}
ERROR = {
    "count": COUNT,
    "share": NUMBER,
    "mentions": COUNT,
    "by_kind": Each({"mentions": COUNT, "share": NUMBER}),
    "gold_singletons": Maybe(COUNT),
    "examples": Rows(EXAMPLE),
}
ANALYSIS: Dict[str, Any] = {
    "regime": TEXT,
    "documents": COUNT,
    "breakdown": {
        "total": CELL,
        **dict.fromkeys(
            ("by_kind", "by_sentences", "by_morphemes", "by_width"), Each(CELL)
        ),
        "by_length": Each(LENGTH_CELL),
        "pronouns": Each(
            {"mentions": COUNT, "clitics": COUNT, "pronouns": COUNT, "share": NUMBER}
        ),
    },
    "clusters": {**CLUSTERS, "documents": Rows({"document": TEXT, **CLUSTERS})},
    "errors": {"types": Each(ERROR), "count": COUNT, "documents": Rows(ANY)},
    "losses": LOSSES,
}
TAGS = Each(Maybe(NUMBER))
FOUND = {**PRF, "by_kind": Each({**PRF, "gold": COUNT})}
REGIME: Dict[str, Any] = {
    **SCORES,
    "calibration": Maybe({"links": CALIBRATION, "clusters": CALIBRATION}),
    "unaligned": Maybe({"predicted": COUNT, "gold": COUNT}),
    "other_texts": Maybe(COUNT),
    "carried_over": Maybe(SCORES),
    "analysis": ANALYSIS,
}
CONDITIONS: Dict[str, Any] = {
    "corpus": TEXT,
    "split": Maybe(TEXT),
    "model": TEXT,
    "model_version": TEXT,
    "components": Each(Rows(TEXT)),
    "documents": COUNT,
    "singletons": YES_NO,
    "match": TEXT,
    "given_mentions": TEXT,
    "segmentation": TEXT,
    "not_run": Each(TEXT),
    "spacy_version": TEXT,
    "bootstrap": Maybe({"replicas": COUNT, "seed": COUNT}),
}
METRICS_FILE: Dict[str, Any] = {
    "schema": COUNT,
    **dict.fromkeys(REGIMES, Maybe(REGIME)),
    "documents": Rows({"id": TEXT, "morphemes": COUNT, "sentences": COUNT}),
    "ladder": Maybe(
        {
            "steps": Rows(
                {
                    "from": TEXT,
                    "to": TEXT,
                    "causes": Rows(TEXT),
                    "points": NUMBER,
                    "share": NUMBER,
                    "losses": Each(NUMBER),
                }
            ),
            "gap": Maybe(
                {
                    "from": TEXT,
                    "to": TEXT,
                    "points": NUMBER,
                    "losses": Each({"points": NUMBER, "share": Maybe(NUMBER)}),
                }
            ),
        }
    ),
    "segmentation": Maybe({"auto": Maybe(Each(NUMBER)), "raw": Maybe(Each(NUMBER))}),
    "syntax": Maybe(
        {"gold": Maybe(TAGS), "raw": Maybe(TAGS), "sents_f1": Maybe(NUMBER)}
    ),
    "mention_detection": Maybe(
        {"setting": TEXT, "gold_trees": FOUND, "raw": Maybe(FOUND)}
    ),
    "conditions": CONDITIONS,
}


def problems(value: Any, schema: Any = METRICS_FILE, place: str = "") -> Iterator[str]:
    """What is wrong with a metrics file.

    value (Any): Its content.
    schema (Any): What it should be: types, or one of the forms of this module.
    place (str): Where in the file it stands.
    YIELDS (str): The place and what is expected there.
    """
    name = place or "the file"
    if isinstance(schema, Maybe):
        if value is not None:
            yield from problems(value, schema.schema, place)
    elif isinstance(schema, tuple):
        # For Python a bool is an int.
        right = isinstance(value, schema) and (
            not isinstance(value, bool) or bool in schema or object in schema
        )
        if not right:
            wanted = " or ".join(kind.__name__ for kind in schema)
            yield f"{name} is {value!r:.40} and not of type {wanted}"
    elif isinstance(schema, Rows):
        if not isinstance(value, list):
            yield f"{name} is not a list"
        elif schema.length not in (-1, len(value)):
            yield f"{name} has {len(value)} members and not {schema.length}"
        else:
            for i, member in enumerate(value):
                yield from problems(member, schema.schema, f"{place}[{i}]")
    elif not isinstance(value, dict):
        yield f"{name} is not an object"
    elif isinstance(schema, Each):
        for key, member in value.items():
            yield from problems(member, schema.schema, f"{place}.{key}".strip("."))
    else:
        yield from _fields(value, schema, place)


def _fields(
    value: Dict[str, Any], schema: Mapping[str, Any], place: str
) -> Iterator[str]:
    for key, field in schema.items():
        inner = f"{place}.{key}".strip(".")
        if key in value:
            yield from problems(value[key], field, inner)
        elif not isinstance(field, Maybe):
            yield f"{inner} is missing"
    for key in value.keys() - schema.keys():
        yield f"{place or 'the file'} has the unknown field {key!r}"


def check_metrics(metrics: Any, name: Union[str, Path]) -> None:
    """Check the content of a metrics file.

    metrics (Any): The content.
    name (Union[str, Path]): The file, for messages.
    RAISES (ValueError): If it is of another version, or not what the schema says; names
        the file and the place.
    """
    how = "Write it again with: he-coref evaluate coref MODEL CORPUS --json FILE"
    found = metrics.get("schema") if isinstance(metrics, dict) else None
    if found != VERSION:
        stated = "states no version" if found is None else f"has version {found!r}"
        raise ValueError(
            f"{name} {stated} of the metrics file, and this is for version {VERSION}. "
            f"{how}"
        )
    wrong = next(problems(metrics), None)
    if wrong is None:
        number = len(metrics["documents"])
        for regime, report in regimes_of(metrics).items():
            for counts, rows in (report.get("per_document") or {}).items():
                if len(rows) != number:
                    wrong = (
                        f"{regime}.per_document.{counts} has {len(rows)} rows for "
                        f"{number} documents"
                    )
    if wrong is not None:
        raise ValueError(f"{name}: {wrong}. {how}")


def regimes_of(metrics: Mapping[str, Any]) -> Dict[str, Dict[str, Any]]:
    """The regimes that a metrics file has figures of.

    metrics (Mapping[str, Any]): The content of the file.
    RETURNS (Dict[str, Dict[str, Any]]): The report of each, in the order of REGIMES.
    """
    return {name: metrics[name] for name in REGIMES if metrics.get(name)}


def read_metrics(path: Union[str, Path]) -> Dict[str, Any]:
    """Read a metrics file.

    path (Union[str, Path]): The file.
    RETURNS (Dict[str, Any]): Its content.
    RAISES (ValueError): If it cannot be read or is no metrics file; names it and says
        what to do.
    """
    try:
        metrics = json.loads(Path(path).read_text(encoding="utf8"))
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}.") from None
    except ValueError as error:
        raise ValueError(f"{path} is not JSON: {error}.") from None
    check_metrics(metrics, path)
    content: Dict[str, Any] = metrics
    return content


def write_metrics(path: Union[str, Path], metrics: Dict[str, Any]) -> None:
    """Write a metrics file, short objects and lists of numbers on one line each.

    path (Union[str, Path]): The file.
    metrics (Dict[str, Any]): Its content.
    RAISES (OSError): If it cannot be written.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_format(metrics, "") + "\n", encoding="utf8")


def _format(value: Any, indent: str) -> str:
    line = json.dumps(value, ensure_ascii=False)
    numbers = isinstance(value, list) and "{" not in line
    if numbers or not isinstance(value, (dict, list)) or len(line) <= LINE:
        return line
    inner = indent + "  "
    if isinstance(value, list):
        parts = [_format(part, inner) for part in value]
        ends = "[]"
    else:
        parts = [
            f"{json.dumps(key, ensure_ascii=False)}: {_format(part, inner)}"
            for key, part in value.items()
        ]
        ends = "{}"
    body = f",\n{inner}".join(parts)
    return f"{ends[0]}\n{inner}{body}\n{indent}{ends[1]}"


def names_of(schema: Mapping[str, Any]) -> List[str]:
    """All names of fields of a schema, those inside others among them.

    schema (Mapping[str, Any]): The schema.
    RETURNS (List[str]): The names, each once.
    """
    names: Dict[str, None] = {}
    for key, field in schema.items():
        names[key] = None
        while isinstance(field, (Maybe, Each, Rows)):
            field = field.schema
        if isinstance(field, dict):
            names.update(dict.fromkeys(names_of(field)))
    return list(names)

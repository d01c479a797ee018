"""The report: one page on one system or several, from their metrics files.

``build_report`` puts the page together (``page``), ``write_report`` writes it as
``report.md`` and ``report.html``. The metrics files have no text, so excerpts come from
the corpus; without it the page has none.
"""

from functools import partial
from pathlib import Path
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Union,
)

from . import published
from .coref import METRICS
from .page import (
    DASH,
    Block,
    Cell,
    Excerpt,
    Heading,
    Mark,
    Plot,
    Point,
    Step,
    Table,
    Text,
    bar_plot,
    interval_plot,
    ladder_plot,
    reliability_plot,
    shown,
    to_html,
    to_markdown,
)
from .schema import REGIMES
from .systems import System, compare_systems, seed_intervals

TITLES = {
    "gold_mentions": "gold mentions",
    "gold": "gold segments",
    "auto": "written words (auto)",
    "raw": "raw text",
}
NAMES = {
    "mentions": "mentions",
    "muc": "MUC",
    "b3": "B³",
    "ceafe": "CEAF-e",
    "ceafm": "CEAF-m",
    "lea": "LEA",
    "blanc": "BLANC",
    "conll_f1": "CoNLL F1",
}
# The causes of ``analysis.ladder``.
CAUSES = {
    "text": "words and sentences",
    "segmentation": "segments",
    "detection": "mentions",
    "clustering": "clustering",
}
BREAKDOWNS = {
    "by_kind": "Kind of mention",
    "by_sentences": "Sentences to the antecedent",
    "by_morphemes": "Morphemes to the antecedent",
    "by_width": "Morphemes of the mention",
    "by_length": "Morphemes of the document",
}
ERRORS = {
    "span_error": "span error",
    "conflated_entities": "conflated entities",
    "divided_entity": "divided entity",
    "missing_entity": "missing entity",
    "extra_entity": "extra entity",
    "missing_mention": "missing mention",
    "extra_mention": "extra mention",
}
SEGMENTATION = {
    "morpheme_f1": "morphemes, F1 inside aligned words",
    "levi_tsarfaty_f1": "morphemes, F1 of each sentence's multiset",
    "words_right": "written words right",
    "multi_words_right": "words of several morphemes right",
    "boundaries_f1": "borders between segments, F1",
    "tokens_f1": "written words of the tokenizer, F1",
    "prefix_f1": "prefixes, F1",
    "clitic_f1": "clitics, F1",
    "covert_article_f1": "covert articles, F1",
    "base_forms_right": "base forms of changed hosts right",
}
SYNTAX = {
    "words": "morphemes aligned",
    "upos": "UPOS",
    "feats": "FEATS",
    "lemmas": "lemmas",
    "uas": "UAS",
    "las": "LAS",
    "las_subtypes": "LAS with subtypes",
}
# Where in the losses of ``analysis`` each row stands.
LOSSES = {
    "ceiling with these segments": ("ceilings", "segments"),
    "ceiling with these mentions": ("ceilings", "mentions"),
    "CoNLL F1": ("conll_f1",),
    "lost by segmentation": ("losses", "segmentation"),
    "lost by mention detection": ("losses", "detection"),
    "lost by clustering": ("losses", "clustering"),
    "without mentions on wrong segments": ("without", "bad_segments"),
    "and without all wrong mentions": ("without", "bad_mentions"),
}
# Roles of mentions in examples of errors; the right one is gold's.
ROLES = {"mention": "predicted", "other": "other", "gold": "gold"}
EXAMPLES = 3


def prf(cell: Optional[Mapping[str, Any]]) -> Optional[str]:
    """Precision, recall and F1 in one cell.

    cell (Optional[Mapping[str, Any]]): ``p``, ``r`` and ``f1`` in percent.
    RETURNS (Optional[str]): With one decimal; None for None.
    """
    if not cell:
        return None
    return " / ".join(shown(float(cell[part])) for part in ("p", "r", "f1"))


def with_ends(value: Optional[float], ends: Optional[Sequence[float]]) -> Optional[str]:
    """A value with its interval in one cell.

    value (Optional[float]): The value.
    ends (Optional[Sequence[float]]): The ends of the interval.
    RETURNS (Optional[str]): With one decimal; None without a value.
    """
    if value is None:
        return None
    if not ends:
        return shown(float(value))
    return f"{value:.1f} ({ends[0]:.1f} to {ends[1]:.1f})"


class Report:
    """The parts of the page."""

    def __init__(self, systems: Sequence[System], texts: Mapping[str, str]) -> None:
        """Take the systems.

        systems (Sequence[System]): The systems, measured alike
            (``systems.read_systems``).
        texts (Mapping[str, str]): The text of documents by their id, for excerpts.
        """
        self.systems = systems
        self.texts = texts
        found = {regime for system in systems for regime in system.regimes()}
        self.regimes = [regime for regime in REGIMES if regime in found]

    def blocks(self) -> List[Block]:
        """The page.

        RETURNS (List[Block]): Its blocks.
        """
        parts: Sequence[Callable[[], Iterator[Block]]] = (
            self.head,
            self.headline,
            self.comparison,
            self.ladder,
            self.ceilings,
            self.breakdowns,
            self.clusters,
            self.errors,
            self.upstream,
            self.calibration,
            self.literature,
            self.conditions,
        )
        return [block for part in parts for block in part()]

    def columns(self, *first: str) -> List[str]:
        """Headings of a table with a column for every regime."""
        return [*first, *(TITLES[regime] for regime in self.regimes)]

    def values(
        self, system: System, value: Callable[[Dict[str, Any]], Cell]
    ) -> List[Cell]:
        """One value of every regime of the first run of a system."""
        runs = system.regimes()
        return [value(system.first[r]) if r in runs else None for r in self.regimes]

    def title(self, what: str, system: System) -> str:
        """A caption, with the system if there are several."""
        return f"{what}: {system.name}" if len(self.systems) > 1 else what

    def head(self) -> Iterator[Block]:
        """What was measured."""
        names = " and ".join(system.name for system in self.systems)
        conditions = self.systems[0].first["conditions"]
        documents = self.systems[0].first["documents"]
        split = conditions.get("split")
        yield Heading(f"Coreference evaluation of {names}", 1)
        yield Text(
            f"Measured on `{conditions['corpus']}`"
            f"{f' ({split})' if split else ''}: {len(documents)} documents, "
            f"{sum(d['sentences'] for d in documents):,} sentences, "
            f"{sum(d['morphemes'] for d in documents):,} morphemes. All figures are "
            "percentages. In brackets stand 95% intervals: what other documents of the "
            "same kind would give (bootstrap over documents)."
        )
        yield Text(
            "The regimes say what the pipeline is given. Raw text: the text alone. "
            "Written words: words and sentences too. Gold segments: the parts of each "
            "word too. Gold mentions: the mentions too, so that only linking is left. "
            "Gold segments and gold mentions are compared by morphemes, the others by "
            "the first and last written letter of each mention."
        )

    def headline(self) -> Iterator[Block]:
        """The metrics by regime."""
        yield Heading("Results by regime")
        rows: List[List[Cell]] = []
        points: Dict[str, List[Point]] = {regime: [] for regime in self.regimes}
        for i, system in enumerate(self.systems):
            row: List[Cell] = [system.name]
            for regime in self.regimes:
                if regime not in system.regimes():
                    row.append(None)
                    continue
                mean, spread = system.conll_f1(regime)
                ends = seed_intervals(system, regime)
                cell = with_ends(mean, ends)
                if len(system.runs) > 1:
                    cell = f"{cell}, ± {spread:.1f} over {len(system.runs)} seeds"
                row.append(cell)
                name = TITLES[regime]
                if len(self.systems) > 1:
                    name = f"{name}, {i + 1}"
                points[regime].append(Point(name, mean, ends, i))
            rows.append(row)
        yield Table("CoNLL F1, with 95% intervals", self.columns("system"), rows)
        if len(self.systems) > 1:
            numbers = [f"{i}: {s.name}" for i, s in enumerate(self.systems, 1)]
            legend = f" ({'; '.join(numbers)})"
        else:
            legend = ""
        yield interval_plot(
            f"CoNLL F1 by regime, with 95% intervals{legend}",
            [point for row in points.values() for point in row],
        )
        for system in self.systems:
            yield from self._metrics(system)

    def _metrics(self, system: System) -> Iterator[Block]:
        columns: Dict[str, Dict[str, Any]] = {}
        for regime in system.regimes():
            columns[TITLES[regime]] = report = system.first[regime]
            if report.get("carried_over"):
                columns["auto, carried over"] = report["carried_over"]
        if len(self.systems) > 1:
            yield Heading(system.name, 3)
        if len(system.runs) > 1:
            yield Text(f"The tables below are of its first seed, `{system.files[0]}`.")
        f1: List[List[Cell]] = [
            [
                NAMES[metric],
                *(
                    with_ends(
                        report[metric]["f1"],
                        (report.get("intervals") or {}).get(metric, {}).get("f1"),
                    )
                    for report in columns.values()
                ),
            ]
            for metric in METRICS
        ]
        f1.append(
            [
                NAMES["conll_f1"],
                *(
                    with_ends(
                        report["conll_f1"],
                        (report.get("intervals") or {}).get("conll_f1"),
                    )
                    for report in columns.values()
                ),
            ]
        )
        yield Table(
            self.title("F1, with 95% intervals", system), ["metric", *columns], f1
        )
        yield Table(
            self.title("Precision / recall / F1", system),
            ["metric", *columns],
            [[NAMES[m], *(prf(r[m]) for r in columns.values())] for m in METRICS],
        )
        counts = {
            "gold clusters": "gold_clusters",
            "predicted clusters": "predicted_clusters",
            "gold mentions": "gold_mentions",
            "predicted mentions": "predicted_mentions",
        }
        rows: List[List[Cell]] = [
            [name, *(report["counts"][key] for report in columns.values())]
            for name, key in counts.items()
        ]
        rows += [
            [
                f"{side} mentions in a cluster twice or in two",
                *(
                    r["dropped"][side]["repeated"]
                    + r["dropped"][side]["in_two_clusters"]
                    for r in columns.values()
                ),
            ]
            for side in ("gold", "predicted")
        ]
        rows.append(
            [
                "documents with another text",
                *(r.get("other_texts") for r in columns.values()),
            ]
        )
        rows += [
            [
                f"{side} mentions whose letters the other text lacks",
                *((r.get("unaligned") or {}).get(side) for r in columns.values()),
            ]
            for side in ("gold", "predicted")
        ]
        yield Table(self.title("What was counted", system), ["number", *columns], rows)
        if "auto, carried over" in columns:
            yield Text(
                "`auto, carried over` is the paper's own way: gold clusters are "
                "carried over to the predicted tokens and compared by tokens."
            )
        for what, reason in system.first["conditions"]["not_run"].items():
            yield Text(f"No figures for {TITLES.get(what, what)}: {reason}")

    def comparison(self) -> Iterator[Block]:
        """The first system against each of the others."""
        if len(self.systems) < 2 or len(self.systems[0].first["documents"]) < 2:
            return
        yield Heading("Differences between systems")
        yield Text(
            "A paired bootstrap: both systems on the same draws of documents. The "
            "p-value is two-sided; with few documents only large differences are sure."
        )
        first = self.systems[0]
        for other in self.systems[1:]:
            if not set(first.regimes()) & set(other.regimes()):
                continue
            found = compare_systems(first, other)
            yield Table(
                f"{first.name} less {other.name}",
                ["", *(TITLES[regime] for regime in found)],
                [
                    [
                        NAMES[metric],
                        *(
                            f"{c.difference:+.1f} ({c.interval[0]:+.1f} to "
                            f"{c.interval[1]:+.1f}), "
                            + (
                                f"p = {c.p_value:.3f}"
                                if c.p_value >= 0.001
                                else "p < 0.001"
                            )
                            for c in (found[regime][metric] for regime in found)
                        ),
                    ]
                    for metric in ("conll_f1", *METRICS)
                ],
            )

    def ladder(self) -> Iterator[Block]:
        """From raw text to what is perfect, step by step."""
        if not self.regimes:
            return
        yield Heading("Where the loss begins: the ladder")
        yield Text(
            "Each step gives the pipeline one thing more, so its gain is what that "
            "thing costs when the pipeline has to find it itself. What is left below "
            "100 with gold mentions is clustering alone."
        )
        rows: List[List[Cell]] = []
        for i, system in enumerate(self.systems):
            plot: List[Step] = []
            # From the hardest regime up to 100.
            for step in reversed((system.first.get("ladder") or {}).get("steps", [])):
                value = float(system.first[step["to"]]["conll_f1"])
                after = value + step["points"]
                if not plot:
                    plot.append(Step(TITLES[step["to"]], 0, value, i))
                    rows.append([system.name, TITLES[step["to"]], value, None, None])
                causes = " and ".join(CAUSES.get(c, c) for c in step["causes"])
                name = f"{causes}, to 100" if step["from"] == "perfect" else causes
                plot.append(Step(f"+ {name}", value, after, i))
                rows.append(
                    [
                        system.name,
                        name,
                        after,
                        f"{step['points']:+.1f}",
                        f"{step['share']:.0f}%",
                    ]
                )
            if plot:
                yield ladder_plot(self.title("CoNLL F1, step by step", system), plot)
        yield Table(
            "What each step explains of the gap to 100",
            ["system", "step", "CoNLL F1", "gain", "share of the gap"],
            rows,
        )

    def ceilings(self) -> Iterator[Block]:
        """What perfect parts would reach, by the oracles of ``analysis``."""
        yield Heading("Oracles: ceilings and losses", 2)
        yield Text(
            "A ceiling is what a perfect rest of the pipeline would reach: with these "
            "segments, every gold mention that they can express, linked as in gold; "
            "with these mentions, the same for those that were found. The other way "
            "round, mentions that gold has not are taken away: first those that stand "
            "on wrong segments, then all others. The losses by segmentation, mention "
            "detection and clustering add up to what is missing to 100."
        )
        for system in self.systems:
            yield Table(
                self.title("CoNLL F1 and points of it", system),
                self.columns(""),
                [
                    [name, *self.values(system, partial(_loss, path))]
                    for name, path in LOSSES.items()
                ],
            )
            known = [
                system.first[regime]["analysis"]["losses"]["singletons_known"]
                for regime in system.regimes()
                if regime != "gold_mentions"
            ]
            if known and not any(known):
                yield Text(
                    f"{system.name} does not say which mentions it found and left "
                    "alone, so these count as lost by mention detection."
                )

    def breakdowns(self) -> Iterator[Block]:
        """Figures by kind, distance, width and length."""
        yield Heading("Breakdown")
        yield Text(
            "Mentions: found or not. Links: whether a mention joins the right entity, "
            "for those that are not the first of their cluster. Each cell has the F1 "
            "of mentions and that of links."
        )
        for key, title in BREAKDOWNS.items():
            yield Heading(title, 3)
            for system in self.systems:
                yield from self._breakdown(system, key, title)
            if regime := self._shown_regime():
                yield from self._breakdown_plot(regime, key, title)
        yield Heading("Pronouns", 3)
        for system in self.systems:
            parts = {
                "gold mentions": "gold",
                "predicted mentions": "predicted",
                "found mentions": "right",
                "missed mentions": "missed",
                "extra mentions": "extra",
            }
            yield Table(
                self.title("Share of clitics and pronouns among mentions", system),
                self.columns("of the"),
                [
                    [name, *self.values(system, partial(_pronouns, part))]
                    for name, part in parts.items()
                ],
            )

    def _shown_regime(self) -> Optional[str]:
        """The regime of plots and examples: the nearest to what users have."""
        return next((r for r in reversed(REGIMES) if r in self.regimes), None)

    def _breakdown(self, system: System, key: str, title: str) -> Iterator[Block]:
        reports = {
            r: system.first[r]["analysis"]["breakdown"][key] for r in system.regimes()
        }
        names = list(dict.fromkeys(n for report in reports.values() for n in report))
        rows: List[List[Cell]] = []
        for name in names:
            cells = [
                reports[r].get(name) if r in reports else None for r in self.regimes
            ]
            known = [cell for cell in cells if cell]
            if not any(
                c["mentions"]["gold"] or c["mentions"]["predicted"] for c in known
            ):
                continue
            rows.append(
                [
                    name,
                    known[0]["mentions"]["gold"],
                    *(
                        None
                        if cell is None
                        else _pair(cell, first="conll_f1")
                        if "conll_f1" in cell
                        else _pair(cell)
                        for cell in cells
                    ),
                ]
            )
        what = "CoNLL F1 | links" if key == "by_length" else "mentions | links"
        yield Table(
            self.title(f"{title}: F1, {what}", system),
            self.columns(title.lower(), "number"),
            rows,
        )

    def _breakdown_plot(self, regime: str, key: str, title: str) -> Iterator[Plot]:
        with_it = [system for system in self.systems if regime in system.regimes()]
        reports = [s.first[regime]["analysis"]["breakdown"][key] for s in with_it]
        part = "mentions" if key == "by_width" else "links"
        groups: Dict[str, List[Optional[float]]] = {}
        for name in dict.fromkeys(n for report in reports for n in report):
            cells = [report.get(name) for report in reports]
            if any(cell and cell[part]["gold"] for cell in cells):
                groups[name] = [cell and cell[part]["f1"] for cell in cells]
        if groups:
            yield bar_plot(
                f"{title}: F1 of {part}, {TITLES[regime]}",
                groups,
                [system.name for system in with_it],
            )

    def clusters(self) -> Iterator[Block]:
        """The paper's Appendix H."""
        yield Heading("Whole clusters (the paper's Appendix H)")
        yield Text(
            "A predicted cluster is correct if its weighted similarity with a gold one "
            "is at least 0.5; pronouns and clitics weigh 0.2, other mentions 1. Gold "
            "clusters without such a one are missed, predicted ones extra."
        )
        for system in self.systems:
            yield Table(
                self.title("Clusters", system),
                self.columns(""),
                [
                    [name, *self.values(system, partial(_clusters, k))]
                    for name, k in (
                        ("correct (of gold)", "correct"),
                        ("missed (of gold)", "missed"),
                        ("extra (of predicted)", "extra"),
                    )
                ],
            )
        for system in self.systems:
            by_regime = [
                system.first[r]["analysis"]["clusters"]["documents"]
                if r in system.regimes()
                else None
                for r in self.regimes
            ]
            rows: List[List[Cell]] = []
            for i, document in enumerate(system.first["documents"]):
                rows.append(
                    [
                        document["id"],
                        *(
                            found
                            and f"{found[i]['correct']} / {found[i]['missed']} / "
                            f"{found[i]['extra']}"
                            for found in by_regime
                        ),
                    ]
                )
            yield Table(
                self.title("Correct / missed / extra clusters by document", system),
                self.columns("document"),
                rows,
            )

    def errors(self) -> Iterator[Block]:
        """Error types, with examples."""
        yield Heading("Error types")
        yield Text(
            "What has to be changed to make gold of the prediction (Kummerfeld and "
            "Klein 2013): borders of mentions, entities that were joined "
            "(conflated) or not joined (divided), and entities and mentions that are "
            "missing or extra."
        )
        for system in self.systems:
            yield Table(
                self.title("Number of errors, and share of all", system),
                self.columns("error"),
                [
                    [name, *self.values(system, partial(_error, k))]
                    for k, name in ERRORS.items()
                ],
            )
        regime = self._shown_regime()
        if regime is None:
            return
        for system in self.systems:
            if regime not in system.regimes():
                continue
            yield Heading(self.title(f"Examples, {TITLES[regime]}", system), 3)
            if not self.texts:
                yield Text(
                    "There are no excerpts here, since the corpus is not at hand: name "
                    "it with `--corpus`."
                )
                continue
            if system is self.systems[0]:
                yield Text(
                    "A dashed line (in Markdown bold) marks the mention at fault, a "
                    "full line (underlined) that of gold, a dotted one (italic) what "
                    "it was or should have been joined with."
                )
            types = system.first[regime]["analysis"]["errors"]["types"]
            for key, name in ERRORS.items():
                for example in (types.get(key) or {}).get("examples", [])[:EXAMPLES]:
                    yield from self._example(name, example)

    def _example(self, name: str, example: Mapping[str, Any]) -> Iterator[Excerpt]:
        text = self.texts.get(example["document"])
        if text is None:
            return
        pieces: List[str] = []
        marks: List[Mark] = []
        length = end = 0
        for context in example["contexts"]:
            start, end = context["start"], context["end"]
            before = " … " if pieces else "… " if start else ""
            shift = length + len(before) - start
            # Marks go by characters, so white space keeps its length.
            pieces.append(
                before + "".join(" " if c.isspace() else c for c in text[start:end])
            )
            length += len(pieces[-1])
            marks += [
                Mark(
                    m["start"] + shift, m["end"] + shift, ROLES.get(m["role"], "other")
                )
                for m in context["mentions"]
            ]
        if end < len(text):
            pieces.append(" …")
        yield Excerpt(f"{name}, {example['document']}", "".join(pieces), marks)

    def upstream(self) -> Iterator[Block]:
        """Segments, tags, trees and mention candidates of the same run."""
        yield Heading("Before coreference: segments, tags, trees, mentions")
        runs = [system.first for system in self.systems]
        for key, title, names, regimes in (
            ("segmentation", "Segmentation", SEGMENTATION, ("auto", "raw")),
            ("syntax", "Tags and trees, F1", SYNTAX, ("gold", "raw")),
        ):
            columns = {
                self.title(TITLES[regime], system): run[key][regime]
                for system, run in zip(self.systems, runs, strict=True)
                for regime in regimes
                if (run.get(key) or {}).get(regime)
            }
            if not columns:
                yield Text(f"{title}: no figures. {self._reason(key)}")
                continue
            rows: List[List[Cell]] = [
                [title_, *(column.get(name) for column in columns.values())]
                for name, title_ in names.items()
            ]
            if key == "syntax":
                rows.append(["sentences, F1 (raw text)", *self._sentences(regimes)])
            yield Table(title, ["", *columns], rows)
        found = {
            self.title(TITLES.get(given, "gold trees"), system): run[
                "mention_detection"
            ][given]
            for system, run in zip(self.systems, runs, strict=True)
            for given in ("gold_trees", "raw")
            if (run.get("mention_detection") or {}).get(given)
        }
        if not found:
            yield Text(
                f"Mention detection: no figures. {self._reason('mention_detection')}"
            )
            return
        setting = next(
            r["mention_detection"]["setting"]
            for r in runs
            if r.get("mention_detection")
        )
        yield Table(
            f"Rule-based mention candidates (setting {setting}), singletons included: "
            "precision / recall / F1",
            ["", *found],
            [
                ["all", *(prf(report) for report in found.values())],
                *(
                    [
                        kind,
                        *(
                            prf(report["by_kind"].get(kind))
                            for report in found.values()
                        ),
                    ]
                    for kind in next(iter(found.values()))["by_kind"]
                ),
            ],
        )

    def _sentences(self, regimes: Sequence[str]) -> List[Cell]:
        cells: List[Cell] = []
        for system in self.systems:
            syntax = system.first.get("syntax") or {}
            for regime in regimes:
                if syntax.get(regime):
                    cells.append(syntax.get("sents_f1") if regime == "raw" else None)
        return cells

    def _reason(self, key: str) -> str:
        reasons = [
            system.first["conditions"]["not_run"].get(key) for system in self.systems
        ]
        said = next((reason for reason in reasons if reason), None)
        return f"Reason: {said}" if said else "No regime was run that has them."

    def calibration(self) -> Iterator[Block]:
        """Whether confidences mean what they say."""
        yield Heading("Calibration")
        for system in self.systems:
            found = {
                regime: system.first[regime].get("calibration") or {}
                for regime in system.regimes()
            }
            if not any(report.get("links") for report in found.values()):
                yield Text(f"{system.name} gives no confidences.")
                continue
            yield Table(
                self.title("Expected calibration error, in points", system),
                self.columns("confidence of"),
                [
                    [
                        what,
                        *(
                            ((found.get(r) or {}).get(what) or {}).get("ece")
                            for r in self.regimes
                        ),
                    ]
                    for what in ("links", "clusters")
                ],
            )
            yield reliability_plot(
                self.title("Links: confidence and what is right", system),
                {
                    TITLES[regime]: [
                        (row["confidence"], row["right"])
                        for row in report["links"]["bins"]
                    ]
                    for regime, report in found.items()
                    if report.get("links")
                },
            )

    def literature(self) -> Iterator[Block]:
        """Published values beside ours."""
        conditions = self.systems[0].first["conditions"]
        split = conditions.get("split") or Path(conditions["corpus"]).stem
        yield Heading("Beside published values")
        yield Text(
            "In the layout of the KibutzR paper's tables of results. Its figures are "
            f"on its test split, ours here on {split}, and both splits are small: for "
            f"orientation, not a comparison. {DASH} stands for a value that we do not "
            "have."
        )
        rows: List[List[Cell]] = [[*row] for row in published.MENTION_DETECTION]
        for system in self.systems:
            detected = system.first.get("mention_detection") or {}
            for given, name in (
                ("gold_trees", "gold trees"),
                ("raw", "from raw text, by letters"),
            ):
                if report := detected.get(given):
                    rows.append(
                        [
                            f"ours: {system.name}, {detected['setting']}",
                            split,
                            name,
                            *(float(report[part]) for part in ("p", "r", "f1")),
                        ]
                    )
        yield Table(
            "Mention detection, singletons included",
            ["system", "split", "conditions", "precision", "recall", "F1"],
            rows,
        )
        for title, values, regimes in (
            ("Trained systems, by segmentation", published.TRAINED, ("gold", "auto")),
            (
                "Language models, by what they are given",
                published.LANGUAGE_MODELS,
                REGIMES,
            ),
        ):
            rows = [
                [p.system, p.split, TITLES[p.regime], p.conditions, *p[4:]]
                for p in values
            ]
            for system in self.systems:
                for regime in regimes:
                    if regime in system.regimes():
                        rows += _ours(system, regime, split)
            yield Table(
                title,
                [
                    "system",
                    "split",
                    "given",
                    "conditions",
                    "MUC F1",
                    "B³ F1",
                    "CEAF-e F1",
                    "CoNLL F1",
                ],
                rows,
            )
        yield Table(
            "Agreement of annotators: what people reach",
            ["", "conditions", "mentions", "MUC", "B³", "CEAF-e", "LEA", "mean"],
            [[*row] for row in published.AGREEMENT],
        )

    def conditions(self) -> Iterator[Block]:
        """Under what everything was measured."""
        yield Heading("Conditions")
        keys = list(
            dict.fromkeys(k for s in self.systems for k in s.first["conditions"])
        )
        rows: List[List[Cell]] = [
            ["metrics files", *(", ".join(system.files) for system in self.systems)]
        ]
        for key in keys:
            if key in ("components", "not_run", "bootstrap"):
                continue
            rows.append(
                [
                    key.replace("_", " "),
                    *(_said(s.first["conditions"].get(key)) for s in self.systems),
                ]
            )
        for regime in self.regimes:
            rows.append(
                [
                    f"components, {TITLES[regime]}",
                    *(
                        " ".join(s.first["conditions"]["components"].get(regime, []))
                        or None
                        for s in self.systems
                    ),
                ]
            )
        yield Table("Conditions", ["", *(system.name for system in self.systems)], rows)


def _pair(cell: Mapping[str, Any], first: str = "mentions") -> str:
    value = cell[first]
    left = float(value["f1"] if isinstance(value, dict) else value)
    links = cell["links"]
    right = float(links["f1"]) if links["gold"] or links["predicted"] else None
    return f"{shown(left)} | {shown(right)}"


def _loss(path: Sequence[str], report: Mapping[str, Any]) -> Cell:
    value: Any = report["analysis"]["losses"]
    for key in path:
        value = value[key]
    return float(value)


def _pronouns(part: str, report: Mapping[str, Any]) -> Cell:
    found = report["analysis"]["breakdown"]["pronouns"][part]
    number = found["clitics"] + found["pronouns"]
    return f"{found['share']:.1f} ({number} of {found['mentions']})"


def _clusters(key: str, report: Mapping[str, Any]) -> Cell:
    clusters = report["analysis"]["clusters"]
    return f"{clusters[key]} ({clusters[f'{key}_share']:.1f})"


def _error(name: str, report: Mapping[str, Any]) -> Cell:
    error = report["analysis"]["errors"]["types"].get(name)
    return f"{error['count']} ({error['share']:.1f})" if error else None


def _ours(system: System, regime: str, split: str) -> Iterator[List[Cell]]:
    reports = {"": system.first[regime]}
    if system.first[regime].get("carried_over"):
        reports["gold carried over"] = system.first[regime]["carried_over"]
    for how, report in reports.items():
        if not how:
            how = "by letters" if regime in ("auto", "raw") else "by morphemes"
        yield [
            f"ours: {system.name}",
            split,
            TITLES[regime],
            how,
            *(float(report[metric]["f1"]) for metric in ("muc", "b3", "ceafe")),
            float(report["conll_f1"]),
        ]


def _said(value: Any) -> Cell:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return None if value is None else str(value)


def build_report(systems: Sequence[System], texts: Mapping[str, str]) -> List[Block]:
    """Put the page together.

    systems (Sequence[System]): The systems, measured alike.
    texts (Mapping[str, str]): The text of documents by their id, for excerpts; may be
        empty.
    RETURNS (List[Block]): The page.
    """
    return Report(systems, texts).blocks()


def write_report(
    directory: Union[str, Path], systems: Sequence[System], texts: Mapping[str, str]
) -> List[Path]:
    """Write the page as ``report.md`` and ``report.html``.

    directory (Union[str, Path]): Where to; made if it is not there.
    systems (Sequence[System]), texts (Mapping[str, str]): As for ``build_report``.
    RETURNS (List[Path]): The files.
    RAISES (OSError): If they cannot be written.
    """
    blocks = build_report(systems, texts)
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    pages = {"report.md": to_markdown(blocks), "report.html": to_html(blocks)}
    for name, content in pages.items():
        (directory / name).write_text(content, encoding="utf8")
    return [directory / name for name in pages]

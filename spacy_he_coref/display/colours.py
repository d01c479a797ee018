"""Colours and lines of clusters, on paper, on a dark screen and in a terminal.

A cluster is never known by its colour alone: its number stands at every mention, and
its line has a pattern. With 8 colours and 5 patterns, which repeat independently, two
clusters look alike only if their numbers are 40 apart.

The colours were chosen by search: those of one list stay apart for all kinds of
dichromatic sight (simulated as in Machado, Oliveira and Fernandes 2009), those on
light paper carry white letters and those on dark paper black ones (WCAG 2.2, AA).
tests/display/test_colours.py measures it.
"""

from typing import NamedTuple, Tuple


class Paper(NamedTuple):
    """The colours of a page, light or dark.

    paper (str), ink (str): Background and letters.
    quiet (str): Letters that matter less.
    edge (str): Lines that separate.
    desk (str): What is around the paper.
    on_colour (str): Letters on the colour of a cluster.
    colours (Tuple[str, ...]): Of the clusters: lines and numbers.
    tint (float), strong (float): How much of its colour the background of a mention
        has, and that of a mention that is lit; from 0 to 1.
    """

    paper: str
    ink: str
    quiet: str
    edge: str
    desk: str
    on_colour: str
    colours: Tuple[str, ...]
    tint: float
    strong: float


# The same hues in the same order: blue, ochre, green, magenta, olive, violet, maroon,
# indigo; the last two are salmon and rose in the dark.
LIGHT = Paper(
    paper="#ffffff",
    ink="#1d2127",
    quiet="#5b6470",
    edge="#dfe3e8",
    desk="#f5f6f8",
    on_colour="#ffffff",
    colours=(
        "#1238e0",
        "#a86412",
        "#038566",
        "#8d3577",
        "#455200",
        "#8c5ecb",
        "#5f142b",
        "#3a0a80",
    ),
    tint=0.1,
    strong=0.3,
)
DARK = Paper(
    paper="#1b1e24",
    ink="#e6e8ec",
    quiet="#a3abb7",
    edge="#363c46",
    desk="#13151a",
    on_colour="#101216",
    colours=(
        "#20b5ee",
        "#b98a3c",
        "#84f8a1",
        "#e853a2",
        "#b7c303",
        "#747ffe",
        "#ed9c9a",
        "#ffcafe",
    ),
    tint=0.16,
    strong=0.33,
)
# For letters on a background that is not known, black or white.
TERMINAL = (
    "#5885fb",
    "#849400",
    "#c61503",
    "#1f6f41",
    "#a226ad",
    "#fa4380",
    "#702ff6",
    "#c75fbd",
)
# Style and width of the line under a mention, as in CSS; widths that show the style.
PATTERNS = (
    "solid 0.12em",
    "dashed 0.12em",
    "dotted 0.16em",
    "double 0.2em",
    "solid 0.22em",
)


def mix(colour: str, paper: str, part: float) -> str:
    """Thin a colour down.

    colour (str), paper (str): The colour and the background, as #rrggbb.
    part (float): How much of the colour there is, from 0 to 1.
    RETURNS (str): The opaque colour that comes out.
    """
    channels = [
        round(
            int(colour[i : i + 2], 16) * part + int(paper[i : i + 2], 16) * (1 - part)
        )
        for i in (1, 3, 5)
    ]
    return "#" + "".join(f"{channel:02x}" for channel in channels)


def colour_of(cluster: int) -> int:
    """The place in the lists of colours of a cluster, by its number from 1."""
    return (cluster - 1) % len(LIGHT.colours)


def pattern_of(cluster: int) -> int:
    """The place in the list of patterns of a cluster, by its number from 1."""
    return (cluster - 1) % len(PATTERNS)


def paper_css(selector: str, paper: Paper) -> str:
    """The CSS that sets the colours of a page.

    selector (str): What the page is; ``{}`` in it takes the rest of a selector.
    paper (Paper): Its colours.
    RETURNS (str): Rules with the variables ``--paper``, ``--ink``, ``--quiet``,
        ``--edge``, ``--desk`` and ``--on-colour``, and for the class ``kN`` of the
        colour N ``--k`` (the colour), ``--t`` and ``--s`` (its backgrounds).
    """
    named = {
        "paper": paper.paper,
        "ink": paper.ink,
        "quiet": paper.quiet,
        "edge": paper.edge,
        "desk": paper.desk,
        "on-colour": paper.on_colour,
    }
    values = ";".join(f"--{name}:{value}" for name, value in named.items())
    rules = [f"{selector.format('')}{{{values}}}"]
    for i, colour in enumerate(paper.colours):
        tint = mix(colour, paper.paper, paper.tint)
        strong = mix(colour, paper.paper, paper.strong)
        place = selector.format(f" .k{i}")
        rules.append(f"{place}{{--k:{colour};--t:{tint};--s:{strong}}}")
    return "\n".join(rules)


def pattern_css(selector: str) -> str:
    """The CSS of the patterns.

    selector (str): What the page is.
    RETURNS (str): For the class ``pN`` of the pattern N the style and width of the
        line.
    """
    rules = []
    for i, pattern in enumerate(PATTERNS):
        style, width = pattern.split()
        rules.append(
            f"{selector} .p{i}{{border-block-end-style:{style};"
            f"border-block-end-width:{width}}}"
        )
    return "\n".join(rules)

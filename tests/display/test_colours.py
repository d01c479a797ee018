"""The colours: readable, and apart for every kind of sight."""

from typing import Iterator, List, Tuple

import numpy
import pytest

from spacy_he_coref.display.colours import (
    DARK,
    LIGHT,
    PATTERNS,
    TERMINAL,
    Paper,
    colour_of,
    mix,
    paper_css,
    pattern_of,
)

# Full protanopia, deuteranopia and tritanopia in linear RGB (Machado et al. 2009).
SIGHTS = {
    "all": numpy.eye(3),
    "protanopia": numpy.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": numpy.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": numpy.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}


def linear(colour: str) -> numpy.ndarray:
    """The linear RGB values of #rrggbb."""
    values = numpy.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    low = values / 12.92
    return numpy.where(values <= 0.04045, low, ((values + 0.055) / 1.055) ** 2.4)


def contrast(first: str, second: str) -> float:
    """The contrast of WCAG, from 1 to 21."""
    weights = numpy.array([0.2126, 0.7152, 0.0722])
    light, dark = sorted((linear(c) @ weights for c in (first, second)), reverse=True)
    return float((light + 0.05) / (dark + 0.05))


def oklab(rgb: numpy.ndarray) -> numpy.ndarray:
    """A colour where distances are like those that people see (Ottosson 2020)."""
    cones = numpy.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    axes = numpy.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return axes @ numpy.cbrt(cones @ rgb)


def pairs(colours: Tuple[str, ...]) -> Iterator[Tuple[str, str]]:
    for i, first in enumerate(colours):
        yield from ((first, second) for second in colours[:i])


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("colours", [LIGHT.colours, DARK.colours, TERMINAL])
def test_colours_are_apart(colours: Tuple[str, ...], sight: str) -> None:
    # 0.02 is about the least that people see.
    for first, second in pairs(colours):
        seen = [
            oklab(numpy.clip(SIGHTS[sight] @ linear(colour), 0, 1))
            for colour in (first, second)
        ]
        assert numpy.linalg.norm(seen[0] - seen[1]) > 0.08, (first, second)


@pytest.mark.parametrize("paper", [LIGHT, DARK])
def test_letters_are_readable(paper: Paper) -> None:
    assert contrast(paper.ink, paper.paper) > 12
    for background in (paper.paper, paper.desk):
        assert contrast(paper.quiet, background) > 4.5
    for colour in paper.colours:
        # Numbers, lines, and letters on the backgrounds.
        assert contrast(colour, paper.on_colour) > 4.5
        assert contrast(colour, paper.paper) > 3
        for part in (paper.tint, paper.strong):
            assert contrast(paper.ink, mix(colour, paper.paper, part)) > 5


def test_terminal_colours_are_readable_on_black_and_white() -> None:
    for colour in TERMINAL:
        assert contrast(colour, "#000000") > 3 and contrast(colour, "#ffffff") > 3


def test_looks_repeat_late() -> None:
    looks: List[Tuple[int, int]] = [(colour_of(n), pattern_of(n)) for n in range(1, 42)]
    assert looks[0] == (0, 0) and len(set(looks)) == 40 and looks[40] == looks[0]
    assert len(LIGHT.colours) == len(DARK.colours) == len(TERMINAL) == 8
    assert len(set(PATTERNS)) == 5


def test_css_has_all_colours() -> None:
    css = paper_css(".x{}", DARK)
    assert css.startswith(".x{--paper:#1b1e24;")
    assert ".x .k7{--k:#ffcafe;--t:" in css
    assert mix("#ff0080", "#000000", 0.5) == "#800040"

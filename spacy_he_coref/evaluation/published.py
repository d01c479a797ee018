"""What others have published, for the report.

Values of the KibutzR paper (Greenfeld and Tsarfaty 2026, ``Beyond Word Boundaries``) as
far as we have them: the means of five runs on its test split that it states, and
figures counted from its published files. What we do not have is None; nothing here is
an estimate.
"""

from typing import List, NamedTuple, Optional

TEST = "KibutzR test"
STATED = "as the paper states it"
RESCORED = "its saved output, scored by us"


class Detector(NamedTuple):
    """Mention detection, singletons included, exact spans; in percent.

    system (str), split (str), conditions (str): What was measured, on what and how.
    p (float), r (float), f1 (float): Precision, recall and F1.
    """

    system: str
    split: str
    conditions: str
    p: float
    r: float
    f1: float


class Resolver(NamedTuple):
    """Clusters without singletons, exact spans; F1 in percent.

    system (str), split (str), conditions (str): What was measured, on what and how.
    regime (str): What the system was given, one of ``regimes.REGIMES``.
    muc, b3, ceafe, conll_f1 (Optional[float]): The F1 of each metric, and their mean.
    """

    system: str
    split: str
    conditions: str
    regime: str
    muc: Optional[float]
    b3: Optional[float]
    ceafe: Optional[float]
    conll_f1: Optional[float]


def _stated(system: str, regime: str, conll_f1: float, how: str = STATED) -> Resolver:
    return Resolver(system, TEST, how, regime, None, None, None, conll_f1)


_RULES = "the paper's rules"
_FILES = "counted from its files"
MENTION_DETECTION: List[Detector] = [
    Detector(_RULES, "KibutzR dev", f"gold trees; {_FILES}", 85.1, 85.4, 85.3),
    Detector(
        _RULES,
        "KibutzR dev",
        f"automatic trees, by letters; {_FILES}",
        77.1,
        77.7,
        77.4,
    ),
    Detector(_RULES, TEST, f"gold trees; {_FILES}", 78.7, 80.3, 79.5),
    Detector(_RULES, TEST, f"automatic trees, by letters; {_FILES}", 71.0, 74.1, 72.5),
]

_MEAN = f"mean of five runs, {STATED}"
TRAINED: List[Resolver] = [
    _stated("LingMess-He, DictaBERT", "gold", 50.4, _MEAN),
    _stated("LingMess-He, DictaBERT", "auto", 47.9, _MEAN),
    _stated("LingMess-He, AlephBERT", "gold", 44.3, _MEAN),
    _stated("LingMess-He, AlephBERT", "auto", 42.8, _MEAN),
    _stated("wl-coref (first of two figures)", "gold", 44.5, _MEAN),
    _stated("wl-coref (second of two figures)", "gold", 44.4, _MEAN),
    Resolver("LingMess-He, one run", TEST, RESCORED, "gold", 56.1, 51.5, 54.2, 53.9),
    Resolver(
        "LingMess-He, one run",
        TEST,
        f"{RESCORED}; gold carried over",
        "auto",
        51.2,
        46.9,
        49.1,
        49.0,
    ),
]

LANGUAGE_MODELS: List[Resolver] = [
    _stated("the best language model", "gold_mentions", 45.4),
    _stated("the best language model", "gold", 26.8),
    _stated("the best language model", "auto", 27.4),
    _stated("the best language model", "raw", 22.2),
    Resolver("Gemini 2.5 Pro", TEST, RESCORED, "raw", 13.9, 20.3, 28.1, 20.8),
]


class Agreement(NamedTuple):
    """Annotators against each other, without singletons; F1 in percent.

    pairs (str), conditions (str): Of whom, and how it was counted.
    mentions, muc, b3, ceafe, lea, mean (Optional[float]): The metrics, and the mean of
        those that ``conditions`` says.
    """

    pairs: str
    conditions: str
    mentions: Optional[float]
    muc: Optional[float]
    b3: Optional[float]
    ceafe: Optional[float]
    lea: Optional[float]
    mean: Optional[float]


AGREEMENT: List[Agreement] = [
    Agreement(
        "annotators",
        "stated; mean of MUC, B³, CEAF-e and LEA",
        None,
        None,
        None,
        None,
        None,
        81.0,
    ),
    Agreement(
        "annotators",
        "1,056 pairs of its files, scored by us; the same mean",
        87.3,
        84.0,
        81.1,
        79.4,
        78.9,
        80.9,
    ),
]

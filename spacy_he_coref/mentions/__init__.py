"""The rule-based mention detector (Appendix A of the paper, design section 2)."""

from ..corpus.docs import MENTIONS
from .kinds import KINDS, mention_kind
from .rules import (
    SETTINGS,
    Candidate,
    Settings,
    find_candidates,
    find_mentions,
)

__all__ = [
    "KINDS",
    "MENTIONS",
    "SETTINGS",
    "Candidate",
    "Settings",
    "find_candidates",
    "find_mentions",
    "mention_kind",
]

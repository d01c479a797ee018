"""Hebrew coreference resolution over morphemes, as a spaCy plugin."""

from .about import __version__
from .tokens import register_extensions

register_extensions()

__all__ = ["__version__"]

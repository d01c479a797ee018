"""Hebrew coreference resolution over morphemes, as a spaCy plugin."""

from .about import __version__
from .coref.reading import register_coref
from .tokens import register_extensions

register_extensions()
register_coref()

__all__ = ["__version__"]

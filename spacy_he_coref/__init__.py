"""Hebrew coreference resolution over morphemes, as a spaCy plugin."""

from typing import TYPE_CHECKING, Any, List

from .about import __version__
from .coref.reading import register_coref
from .tokens import register_extensions

if TYPE_CHECKING:
    from .coref.stream import resolve_stream
    from .display import render

register_extensions()
register_coref()

__all__ = ["__version__", "render", "resolve_stream"]


def __getattr__(name: str) -> Any:
    # On first use: importing torch and transformers takes seconds.
    if name == "render":
        from .display import render

        return render
    if name == "resolve_stream":
        from .coref.stream import resolve_stream

        return resolve_stream
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})

"""The encoder: transformers over morphemes.

Whatever here needs transformers or spacy-transformers gets them from this import, since
they are imported without torch's compiler (``imports``).
"""

from .imports import without_compiler

with without_compiler():
    import spacy_transformers  # noqa: F401

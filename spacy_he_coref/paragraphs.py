"""``he_paragraphs``: a sentence starts after an empty line.

The sentence model learned from running text and does not see line ends: without
this, a headline would run into the first sentence of its article.
"""

from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc


@Language.factory("he_paragraphs", assigns=["token.is_sent_start"])
def make_paragraphs(nlp: Language, name: str) -> "Paragraphs":
    """Make the component; it belongs before the ``senter``.

    nlp (Language): The pipeline.
    name (str): Name of the component in it.
    RETURNS (Paragraphs): The component.
    """
    return Paragraphs(name)


class Paragraphs(Pipe):
    """Pipeline component that starts a sentence after white space with two line ends.

    A boundary that is set already stays as it is, and so does any other token: a
    ``senter`` decides on those.
    """

    def __init__(self, name: str = "he_paragraphs") -> None:
        """Make the component.

        name (str): Name of the component.
        """
        self.name = name

    def __call__(self, doc: Doc) -> Doc:
        """Mark the first words of paragraphs.

        doc (Doc): The document.
        RETURNS (Doc): The same document.
        """
        line_ends = 0
        for token in doc:
            if token.is_space:
                line_ends += token.text.count("\n")
            else:
                if line_ends > 1 and token.is_sent_start is None:
                    token.is_sent_start = True
                line_ends = 0
        return doc

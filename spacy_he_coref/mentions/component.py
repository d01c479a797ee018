"""``he_mentions``: writes the rule-based mention candidates to a Doc.

It needs no training. What it looks for is in the config alone, so it can be changed
in the ``config.cfg`` of a saved pipeline.
"""

from typing import Dict, List, Optional

from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, SpanGroup

from ..corpus.docs import MENTIONS
from .lexicon import Lexicon
from .rules import BALANCED, SETTINGS, Settings, find_mentions


@Language.factory(
    "he_mentions",
    requires=["token.pos", "token.morph", "token.dep", "token.head"],
    assigns=["doc.spans"],
    default_config={"setting": BALANCED, "lexicon": {}},
)
def make_mention_detector(
    nlp: Language, name: str, setting: str, lexicon: Dict[str, List[str]]
) -> "MentionDetector":
    """Make the mention detector of a pipeline.

    nlp (Language): The pipeline.
    name (str): Name of the component in it.
    setting (str): ``balanced`` (best F1), ``recall`` or ``precision``.
    lexicon (Dict[str, List[str]]): Closed lists that replace those of the rules, by
        the names of the fields of ``mentions.lexicon.Lexicon``.
    RETURNS (MentionDetector): The component.
    """
    return MentionDetector(name, setting=setting, lexicon=lexicon)


class MentionDetector(Pipe):
    """Pipeline component that finds mention candidates by rules (``rules``)."""

    def __init__(
        self,
        name: str = "he_mentions",
        *,
        setting: str = BALANCED,
        lexicon: Optional[Dict[str, List[str]]] = None,
    ) -> None:
        """Make the component.

        name (str): Name of the component.
        setting (str): ``balanced``, ``recall`` or ``precision``.
        lexicon (Optional[Dict[str, List[str]]]): Closed lists that replace those of
            the rules.
        RAISES (ValueError): If there is no such setting or list.
        """
        if setting not in SETTINGS:
            raise ValueError(
                f"The setting of {name!r} is {setting!r}. Choose one of: "
                f"{', '.join(SETTINGS)}."
            )
        lexicon = lexicon or {}
        unknown = sorted(set(lexicon) - set(Lexicon._fields))
        if unknown:
            raise ValueError(
                f"The lexicon of {name!r} has lists that no rule uses: "
                f"{', '.join(unknown)}. There are: {', '.join(Lexicon._fields)}."
            )
        lists = {key: frozenset(words) for key, words in lexicon.items()}
        self.name = name
        self.settings = Settings(setting, Lexicon()._replace(**lists))

    def __call__(self, doc: Doc) -> Doc:
        """Find the mention candidates of a document.

        doc (Doc): A document with tags, features and trees.
        RETURNS (Doc): The same document, with the candidates in
            ``doc.spans["coref_mentions"]`` instead of what was there; other span
            groups stay.
        RAISES (ValueError): If the document has no tags or no trees; nothing is
            changed then.
        """
        spans = find_mentions(doc, self.settings)
        doc.spans[MENTIONS] = SpanGroup(
            doc, name=MENTIONS, spans=[doc[start:end] for start, end in spans]
        )
        return doc

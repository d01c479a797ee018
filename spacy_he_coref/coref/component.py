"""The component ``he_coref``: finds mentions and links those of one entity."""

from itertools import islice
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

import numpy as np
import torch
from spacy.language import Language
from spacy.pipeline.trainable_pipe import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Config, Model, Optimizer, set_dropout_rate

from ..corpus.docs import CLUSTER_PREFIX, MENTIONS, SINGLETONS
from ..segmenter.letters import describe_doc
from .clusters import set_clusters
from .model import (
    CorefInput,
    Links,
    Targets,
    get_network,
    initialize_network,
)

GIVEN = "coref_mentions_given"
# The score of a link from a possessor to the clitic before it. In KibutzR train 97.2%
# of 528 such pairs are of one entity (metrics/decoding.json).
POSSESSOR_SCORE = 5.0

_DEFAULT_CONFIG = Config().from_str(
    """
[he_coref]
candidates = "coref_mentions"
singletons = false
mention_cut = 0.5
link_cut = 0.0
pronoun_cut = null
agreement = true
possessors = true
calibration = null
scorer = {"@scorers":"spacy_he_coref.coref_scorer.v1"}

[he_coref.model]
@architectures = "spacy_he_coref.LingMess.v1"

[he_coref.model.tok2vec]
@architectures = "spacy_he_coref.TokenListener.v1"
"""
)


@Language.factory(
    "he_coref",
    assigns=["doc.spans"],
    requires=["token.pos", "token.dep", "token.head"],
    default_config=_DEFAULT_CONFIG["he_coref"],
    default_score_weights={
        "coref_f": 1.0,
        "coref_p": None,
        "coref_r": None,
        "coref_muc_f": None,
        "coref_b3_f": None,
        "coref_ceafe_f": None,
        "coref_lea_f": None,
        "coref_mentions_f": None,
    },
)
def make_coref(
    nlp: Language,
    name: str,
    model: Model[CorefInput, Any],
    candidates: str,
    singletons: bool,
    mention_cut: float,
    link_cut: float,
    pronoun_cut: Optional[float],
    agreement: bool,
    possessors: bool,
    calibration: Optional[List[float]],
    scorer: Optional[Callable],
) -> "HebrewCoref":
    """Make the component.

    nlp (Language): The pipeline.
    name (str): Name of the component.
    model (Model): Scores spans as mentions, and links between them.
    candidates (str): Span group of the rule-based candidates (``he_mentions``).
    singletons (bool): Also write the mentions that nothing else refers to, as
        ``doc.spans["coref_singletons"]``.
    mention_cut (float): Spans are mentions from this probability on.
    link_cut (float): Mentions are linked from this score on; higher for fewer links.
    pronoun_cut (Optional[float]): Pronouns whose gender or number is known are linked
        from this score on, even if ``link_cut`` is lower; None for no other cut. A
        description is often linked though no link is a little likelier; a pronoun
        that is not linked mostly has no antecedent.
    agreement (bool): Whether the pronouns of an entity must agree in gender and
        number.
    possessors (bool): Whether a clitic and the possessor that is said again behind it
        (ביתו של דן) are always one entity, that of the possessor.
    calibration (Optional[List[float]]): Slope and intercept that turn the log-odds
        of links into those of their confidence (``he-coref calibrate``).
    scorer (Optional[Callable]): Scores examples.
    RETURNS (HebrewCoref): The component.
    """
    return HebrewCoref(
        nlp.vocab,
        model,
        name,
        candidates=candidates,
        singletons=singletons,
        mention_cut=mention_cut,
        link_cut=link_cut,
        pronoun_cut=pronoun_cut,
        agreement=agreement,
        possessors=possessors,
        calibration=calibration,
        scorer=scorer,
    )


class HebrewCoref(TrainablePipe):
    """Writes clusters to ``doc.spans["coref_clusters_1"]``, ... (design section 1).

    It reads the vectors, tags, trees and rule-based candidates of a document. Mentions
    that stand in ``doc.spans["coref_mentions_given"]`` are taken instead of looking
    for any. Clusters that a document has already are replaced; other groups stay.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model[CorefInput, Any],
        name: str = "he_coref",
        *,
        candidates: str = MENTIONS,
        singletons: bool = False,
        mention_cut: float = 0.5,
        link_cut: float = 0.0,
        pronoun_cut: Optional[float] = None,
        agreement: bool = True,
        possessors: bool = True,
        calibration: Optional[List[float]] = None,
        scorer: Optional[Callable] = None,
    ) -> None:
        """Make the component; see ``make_coref`` for the arguments."""
        if not 0.0 < mention_cut < 1.0:
            raise ValueError(
                f"{name}: mention_cut is {mention_cut}; set it between 0 and 1."
            )
        if calibration is not None and len(calibration) != 2:
            raise ValueError(
                f"{name}: calibration has {len(calibration)} numbers; it needs two, "
                "slope and intercept. 'he-coref calibrate' finds them."
            )
        self.vocab = vocab
        self.model = model
        self.name = name
        self.scorer = scorer
        self.candidates = candidates
        self.singletons = singletons
        self.mention_cut = mention_cut
        self.link_cut = link_cut
        self.pronoun_cut = pronoun_cut
        self.agreement = agreement
        self.possessors = possessors
        self.calibration = calibration
        self.cfg: Dict[str, Any] = {}

    def _input(self, docs: List[Doc]) -> CorefInput:
        return CorefInput(
            docs,
            [self._candidates(doc) for doc in docs],
            [_bounds(doc, GIVEN) if GIVEN in doc.spans else None for doc in docs],
            [self.mention_cut] * len(docs),
        )

    def _candidates(self, doc: Doc) -> np.ndarray:
        if self.candidates not in doc.spans:
            return np.zeros((0, 2), dtype=np.int64)
        return _bounds(doc, self.candidates)

    def predict(self, docs: Iterable[Doc]) -> List[Links]:
        """Find mentions and score their links, without changing the documents.

        docs (Iterable[Doc]): The documents.
        RETURNS (List[Links]): For each, what the model says.
        RAISES (ValueError): If the component is not initialized.
        """
        get_network(self.model)
        found: List[Links] = self.model.predict(self._input(list(docs)))
        return [self._apply_settings(links) for links in found]

    def _apply_settings(self, links: Links) -> Links:
        """Add what the settings say to what the model says."""
        if self.pronoun_cut is not None and links.pronouns is not None:
            pronouns = links.pronouns.any(axis=1)
            links = links._replace(floors=np.where(pronouns, self.pronoun_cut, -np.inf))
        if self.possessors and links.possessors is not None:
            links = join_possessors(links)
        return links if self.agreement else links._replace(pronouns=None)

    def set_annotations(self, docs: Iterable[Doc], scores: List[Links]) -> None:
        """Write the clusters.

        docs (Iterable[Doc]): The documents.
        scores (List[Links]): What ``predict`` gave for them.
        """
        for doc, links in zip(docs, scores, strict=True):
            antecedents, entities, confidences = link_mentions(
                links, self.link_cut, self.calibration
            )
            set_clusters(
                doc,
                links.bounds,
                entities,
                antecedents,
                confidences,
                links.probabilities,
                singletons=self.singletons,
            )

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Resolve a stream of documents.

        stream (Iterable[Doc]): The documents. One after the other is resolved, so an
            error in one loses no other.
        batch_size (int): Not used: a batch is not faster.
        YIELDS (Doc): Each document for which there was no error.
        """
        handle = self.get_error_handler()
        for doc in stream:
            try:
                self.set_annotations([doc], self.predict([doc]))
            except Exception as error:
                handle(self.name, self, [doc], error)
            else:
                yield doc

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Optional[Language] = None,
    ) -> None:
        """Make the network.

        get_examples (Callable[[], Iterable[Example]]): Gives training examples.
        nlp (Optional[Language]): The pipeline.
        """
        validate_get_examples(get_examples, "HebrewCoref.initialize")
        docs = [eg.predicted for eg in islice(get_examples(), 4)]
        initialize_network(self.model, docs)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optional[Optimizer] = None,
        losses: Optional[Dict[str, float]] = None,
    ) -> Dict[str, float]:
        """Learn from a batch of documents with gold clusters.

        examples (Iterable[Example]): The batch. The tags, trees and candidates of the
            predicted side are features; gold mentions come from the reference.
        drop (float): Not used; the dropout rate is the model's.
        sgd (Optional[Optimizer]): Takes a step if given.
        losses (Optional[Dict[str, float]]): Gets the loss added, under the name of
            the component and with ``_mentions`` and ``_links`` after it.
        RETURNS (Dict[str, float]): The losses.
        """
        losses = {} if losses is None else losses
        names = (self.name, f"{self.name}_mentions", f"{self.name}_links")
        for name in names:
            losses.setdefault(name, 0.0)
        validate_examples(examples, "HebrewCoref.update")
        examples = list(examples)
        if not any(len(eg.predicted) for eg in examples):
            return losses
        set_dropout_rate(self.model, drop)
        shim: Any = self.model.shims[0]
        corpora = shim.settings["corpora"]
        inputs = self._input([eg.predicted for eg in examples])._replace(
            given=[None] * len(examples),
            targets=[find_targets(eg, corpora) for eg in examples],
        )
        parts, backprop = self.model.begin_update(inputs)
        loss = parts.mentions + parts.links
        backprop(loss)
        if sgd is not None:
            self.finish_update(sgd)
        for name, part in zip(names, (loss, *parts), strict=True):
            losses[name] += float(part.detach())
        return losses

    def get_loss(self, examples: Iterable[Example], scores: Any) -> Tuple[float, Any]:
        """The loss that the model gave for examples.

        examples (Iterable[Example]): The examples.
        scores (Losses): What the model gave in training.
        RETURNS (Tuple[float, Any]): The loss as a number and as a tensor.
        """
        loss: torch.Tensor = scores.mentions + scores.links
        return float(loss.detach()), loss


def _bounds(doc: Doc, key: str) -> np.ndarray:
    spans = {(span.start, span.end) for span in doc.spans[key]}
    bounds = sorted(b for b in spans if b[0] < b[1])
    return np.array(bounds, dtype=np.int64).reshape(-1, 2)


def find_component(nlp: Language) -> str:
    """The name of the component ``he_coref`` of a pipeline.

    nlp (Language): The pipeline.
    RETURNS (str): Its name.
    RAISES (ValueError): If there is none.
    """
    for name, pipe in nlp.pipeline:
        if isinstance(pipe, HebrewCoref):
            return name
    raise ValueError(
        "The pipeline has no he_coref; its components are: "
        f"{', '.join(nlp.pipe_names) or 'none'}."
    )


def find_targets(example: Example, corpora: List[str]) -> Targets:
    """The gold mentions of an example, as tokens of its predicted side.

    example (Example): The example; mentions whose first or last letter is inside of
        a predicted token are left out.
    corpora (List[str]): Names of the corpora that the model knows.
    RETURNS (Targets): The mentions.
    RAISES (ValueError): If the document is of another corpus.
    """
    predicted, gold = example.predicted, example.reference
    source = gold._.source or {}
    name = source.get("corpus", corpora[0])
    if name not in corpora:
        raise ValueError(
            f"Document {describe_doc(gold)} is of the corpus {name!r}, which the model "
            f"does not know. Add it to the corpora of its config: {corpora}."
        )
    starts = {token.idx: token.i for token in predicted}
    ends = {token.idx + len(token): token.i + 1 for token in predicted}
    entities: Dict[Tuple[int, int], int] = {}
    number = 0
    for key, group in gold.spans.items():
        if not key.startswith(f"{CLUSTER_PREFIX}_") and key != SINGLETONS:
            continue
        number += key != SINGLETONS
        for span in group:
            start, end = starts.get(span.start_char), ends.get(span.end_char)
            if start is not None and end is not None and start < end:
                entity = 0 if key == SINGLETONS else number
                entities[start, end] = max(entity, entities.get((start, end), 0))
    return Targets(
        np.array(list(entities), dtype=np.int64).reshape(-1, 2),
        np.array(list(entities.values()), dtype=np.int64),
        corpora.index(name),
        SINGLETONS in gold.spans,
    )


def join_possessors(links: Links) -> Links:
    """Let clitics go where the possessors go that are said again behind them.

    In ביתו של דן the clitic gets the antecedents that דן has, and דן none but the
    clitic. So both are of one entity, and the name decides which.

    links (Links): What the model says of a document.
    RETURNS (Links): The same with other pairs.
    """
    if links.possessors is None or not len(links.possessors):
        return links
    clitics, phrases = links.possessors.T
    clitic_of = np.full(len(links.bounds), -1, dtype=np.int64)
    clitic_of[phrases] = clitics
    clitic = clitic_of[links.later]
    moved = (clitic >= 0) & (links.earlier < clitic)
    kept = (clitic < 0) & ~np.isin(links.later, clitics)
    sure = np.full(len(clitics), POSSESSOR_SCORE, dtype=links.scores.dtype)
    later = np.concatenate([links.later[kept], clitic[moved], phrases])
    order = np.argsort(later, kind="stable")
    earlier = np.concatenate([links.earlier[kept], links.earlier[moved], clitics])
    scores = np.concatenate([links.scores[kept], links.scores[moved], sure])
    floors = links.floors
    if floors is not None:
        floors = floors.copy()
        floors[clitics] = floors[phrases]
        floors[phrases] = -np.inf
    return links._replace(
        later=later[order], earlier=earlier[order], scores=scores[order], floors=floors
    )


def link_mentions(
    links: Links,
    cut: float,
    calibration: Optional[List[float]] = None,
) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Choose the antecedent of each mention.

    links (Links): What the model says of a document. With ``pronouns`` those of an
        entity must agree in gender and number: the best antecedent whose entity a
        mention fits is taken.
    cut (float): Links need a higher score than this, and than the mention's floor.
    calibration (Optional[List[float]]): Slope and intercept for the log-odds.
    RETURNS (Tuple[np.ndarray, np.ndarray, np.ndarray]): Of each mention the best
        antecedent, -1 for none; the number of its entity; and the confidence of its
        link: how much of the probability lies on antecedents of the same entity.
    """
    size = len(links.bounds)
    # By the later mention, then by score; of equal ones the nearest first.
    order = np.lexsort((-links.earlier, -links.scores, links.later))
    order = order[links.scores[order] > cut]
    if links.floors is not None:
        order = order[links.scores[order] > links.floors[links.later[order]]]
    firsts = np.searchsorted(links.later[order], np.arange(size + 1)).tolist()
    choices = links.earlier[order].tolist()
    # Gender and number of the pronouns so far, as bits: two of one kind disagree.
    forms = [0] * size
    if links.pronouns is not None:
        bits = np.array([[0, 1, 2], [0, 4, 8]])
        forms = (bits[0][links.pronouns[:, 0]] | bits[1][links.pronouns[:, 1]]).tolist()
    chosen = [-1] * size
    roots = list(range(size))
    for i in range(size):
        for place in range(firsts[i], firsts[i + 1]):
            root = roots[choices[place]]
            both = forms[i] | forms[root]
            if both & 3 != 3 and both & 12 != 12:
                chosen[i], roots[i], forms[root] = choices[place], root, both
                break
    antecedents = np.array(chosen, dtype=np.int64)
    entities = np.array(roots, dtype=np.int64)
    top = np.zeros(size)
    np.maximum.at(top, links.later, links.scores)
    odds = np.exp(links.scores - top[links.later])
    every = np.exp(-top) + np.bincount(links.later, odds, minlength=size)
    same = entities[links.later] == entities[links.earlier]
    own = np.bincount(links.later[same], odds[same], minlength=size)
    share = np.clip(own / every, 1e-6, 1.0 - 1e-6)
    if calibration is not None:
        slope, intercept = calibration
        logit = slope * np.log(share / (1.0 - share)) + intercept
        # The logistic function; exp would overflow.
        share = 0.5 + 0.5 * np.tanh(0.5 * logit)
    return antecedents, entities, share

"""The thinc model of coreference around its torch network.

In use it gives, for every document, the mentions that it found and the scores of
their links; in training the losses. Long documents take time and memory in proportion
to their length: spans are scored stretch by stretch, and a mention is compared with
the mentions in a window before it, and further away with those of the same words.
"""

from typing import (
    Any,
    Callable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    cast,
)

import numpy as np
import spacy
import torch
import torch.nn.functional as F
from spacy.errors import Errors
from spacy.tokens import Doc
from thinc.api import Model, torch2xp, xp2torch
from thinc.types import Floats2d
from torch import Tensor

from ..segmenter.letters import describe_doc
from ..shim import BuiltShim, limit_threads_after_fork, release_memory
from .features import (
    GROUPS,
    MentionTable,
    TokenTable,
    doubled_possessors,
    is_pronoun,
    mention_features,
    mention_table,
    pair_features,
    token_table,
)
from .network import (
    ANY_MENTION,
    COARSE_DISTANCES,
    CorefEnsemble,
    Mentions,
    antecedent_loss,
    coarse_loss,
    ranges,
)

# Tokens whose spans are scored at once, mentions whose antecedents are ranked at once,
# and pairs that get fine scores at once. Larger arrays are slower, and the C library
# would keep their memory in pieces.
_STRETCH = 256
_BLOCK = 256
_PAIRS = 2048
# Mentions of the same words that are compared beyond the window, for each key.
_REPEATED = 4
# The widest rule-based candidate that is a span of its own beyond the widest span.
_WIDEST = 128

NO_ENTITY, SINGLETON = -1, 0


class Targets(NamedTuple):
    """The gold mentions of a document.

    bounds (np.ndarray): First token and token after the last one, int64 of
        (mentions, 2), each span once.
    entities (np.ndarray): Entity of each, from 1; 0 for a singleton. int64 of
        (mentions,).
    corpus (int): Number of the corpus whose guidelines they follow.
    complete (bool): Whether singletons are among them.
    """

    bounds: np.ndarray
    entities: np.ndarray
    corpus: int
    complete: bool


class CorefInput(NamedTuple):
    """What the model takes; lists have an item for each document.

    docs (List[Doc]): The documents.
    candidates (List[np.ndarray]): Rule-based candidates, int64 of (candidates, 2),
        in the order of their first tokens.
    given (List[Optional[np.ndarray]]): Mentions to link, int64 of (mentions, 2),
        None to find them.
    cuts (List[float]): Mentions need at least this probability.
    targets (Optional[List[Targets]]): In training, the gold mentions.
    """

    docs: List[Doc]
    candidates: List[np.ndarray]
    given: List[Optional[np.ndarray]]
    cuts: List[float]
    targets: Optional[List[Targets]] = None


class Links(NamedTuple):
    """What the model says of a document.

    bounds (np.ndarray): The mentions in the order of the text, the longer of two
        with one start first; int64 of (mentions, 2).
    probabilities (np.ndarray): That they are mentions, float32 of (mentions,).
    later, earlier (np.ndarray): The pairs that were scored, as mentions, int64 of
        (pairs,); ordered by the later one.
    scores (np.ndarray): Of the pairs, float32; above 0 where a link is likelier
        than none.
    pronouns (Optional[np.ndarray]): Gender and number of the mentions that are
        pronouns, int64 of (mentions, 2), 0 where unknown and for all others; None if
        nothing is known of any.
    floors (Optional[np.ndarray]): Scores that the links of each mention must exceed
        whatever the cut is, float of (mentions,); None for none.
    possessors (Optional[np.ndarray]): Clitics and the possessors that are said again
        behind them, as mentions, int64 of (doubled, 2); None if nothing is known.
    """

    bounds: np.ndarray
    probabilities: np.ndarray
    later: np.ndarray
    earlier: np.ndarray
    scores: np.ndarray
    pronouns: Optional[np.ndarray] = None
    floors: Optional[np.ndarray] = None
    possessors: Optional[np.ndarray] = None


class Losses(NamedTuple):
    """The losses of a batch.

    mentions, links (Tensor): float32, of one number each.
    """

    mentions: Tensor
    links: Tensor


@spacy.registry.architectures("spacy_he_coref.LingMess.v1")
def build_lingmess(
    tok2vec: Model[List[Doc], List[Floats2d]],
    span_hidden: int = 128,
    hidden: int = 256,
    rank: int = 64,
    dropout: float = 0.3,
    feature_dropout: float = 0.1,
    max_width: int = 30,
    antecedents: int = 50,
    window: int = 384,
    features: Sequence[str] = GROUPS,
    corpora: Sequence[str] = ("kibutzr", "iahlt"),
    candidates: bool = True,
    candidate_dropout: float = 0.0,
    experts: bool = True,
    singletons: bool = True,
    training_mentions: float = 0.45,
    mention_weight: float = 1.0,
    frozen: bool = True,
    coarse_features: bool = False,
    coarse_weight: float = 0.0,
) -> Model[CorefInput, Any]:
    """Architecture ``spacy_he_coref.LingMess.v1`` for ``he_coref``.

    tok2vec (Model[List[Doc], List[Floats2d]]): Gives the vectors of the tokens,
        mostly a listener.
    span_hidden (int): Width of the hidden layers over spans.
    hidden (int): Width of the hidden layers over mentions and pairs.
    rank (int): Width of the bilinear products.
    dropout (float): Dropout rate.
    feature_dropout (float): Share of the mentions and pairs whose features are
        hidden in training.
    max_width (int): Widest span, in tokens; candidates may be wider.
    antecedents (int): Antecedents with the best coarse scores that get fine ones.
    window (int): Mentions before a mention that are compared with it at all.
    features (Sequence[str]): Groups of features from tags, trees and words:
        agreement, lexical, structure, roles, distance.
    corpora (Sequence[str]): Names of the corpora, each with a marker of its own; the
        guidelines of the first one are followed in use.
    candidates (bool): Whether rule-based candidates are a feature of spans.
    candidate_dropout (float): Share of the candidates that are hidden in training,
        where trees are better than they will be in use.
    experts (bool): Whether the kinds of pairs have scorers of their own (LingMess).
    singletons (bool): Whether singletons are supervision for finding mentions.
    training_mentions (float): Most spans that are linked in training, as a share of
        the tokens.
    mention_weight (float): Weight of the loss of mentions.
    frozen (bool): Whether the encoder is frozen: its vectors are then read from the
        documents in training too, and nothing goes back to it.
    coarse_features (bool): Whether distance, pronouns and equal words count when
        the antecedents are chosen that get fine scores.
    coarse_weight (float): Weight of a loss of its own for this choice; 0 for none.
    RETURNS (Model[CorefInput, Any]): The model; gives ``List[Links]``, in training
        ``Losses``.
    """
    shim = BuiltShim(CorefEnsemble)
    shim.settings = {
        "sizes": {
            "span_hidden": span_hidden,
            "hidden": hidden,
            "rank": rank,
            "dropout": dropout,
            "feature_dropout": feature_dropout,
            "max_width": max_width,
            "groups": list(features),
            "corpora": len(corpora),
            "candidates": candidates,
            "experts": experts,
            "coarse_features": coarse_features,
        },
        "corpora": list(corpora),
        "antecedents": antecedents,
        "window": window,
        "candidate_dropout": candidate_dropout,
        "singletons": singletons,
        "training_mentions": training_mentions,
        "mention_weight": mention_weight,
        "coarse_weight": coarse_weight,
        "frozen": frozen,
    }
    unknown = sorted(set(features) - set(GROUPS))
    if unknown:
        raise ValueError(
            f"There are no features {', '.join(unknown)}. Choose among: "
            f"{', '.join(GROUPS)}."
        )
    model: Model[CorefInput, Any] = Model(
        "lingmess", _forward, layers=[tok2vec], shims=[shim]
    )
    model.set_ref("tok2vec", tok2vec)
    return model


def initialize_network(model: Model, docs: List[Doc]) -> None:
    """Make the network of a model.

    model (Model): The model.
    docs (List[Doc]): Some documents, to learn the width of their vectors.
    """
    tok2vec = model.get_ref("tok2vec")
    tok2vec.initialize(X=docs)
    shim = cast(BuiltShim, model.shims[0])
    shim.build(members=1, input_width=tok2vec.get_dim("nO"), **shim.settings["sizes"])


def get_network(model: Model) -> CorefEnsemble:
    """The torch network of a model.

    model (Model): The model.
    RETURNS (CorefEnsemble): Its network.
    RAISES (ValueError): If the model is not initialized.
    """
    network = cast(BuiltShim, model.shims[0])._model
    if network is None:
        raise ValueError(Errors.E109.format(name="he_coref"))
    return cast(CorefEnsemble, network)


def _forward(
    model: Model, inputs: CorefInput, is_train: bool
) -> Tuple[Any, Callable[[Tensor], Any]]:
    network = get_network(model)
    limit_threads_after_fork()
    network.train(is_train)
    settings = cast(BuiltShim, model.shims[0]).settings
    read = is_train and not settings["frozen"]
    tok2vec = model.get_ref("tok2vec")
    if not read and tok2vec.has_ref("listener"):
        _check_vectors(inputs.docs, is_train)
    outputs, backprop_vectors = tok2vec(inputs.docs, read)
    device = next(network.parameters()).device
    vectors = [xp2torch(output).to(device) for output in outputs]
    if not is_train:
        with torch.no_grad():
            found = [
                _resolve(network, settings, vectors[i], inputs, i)
                for i in range(len(inputs.docs))
            ]
        return found, lambda _: []
    assert inputs.targets is not None
    for vector in vectors:
        vector.requires_grad_(not settings["frozen"])
    mention_loss = torch.zeros((), device=device)
    link_loss = torch.zeros((), device=device)
    for i in range(len(inputs.docs)):
        if len(inputs.docs[i]):
            mentions, links = _losses(network, settings, vectors[i], inputs, i)
            mention_loss = mention_loss + mentions
            link_loss = link_loss + links

    def backprop(loss: Tensor) -> Any:
        loss.backward()
        if settings["frozen"]:
            return []
        return backprop_vectors(
            [
                torch2xp(
                    torch.zeros_like(vector) if vector.grad is None else vector.grad
                )
                for vector in vectors
            ]
        )

    return Losses(mention_loss * settings["mention_weight"], link_loss), backprop


def _check_vectors(docs: List[Doc], is_train: bool) -> None:
    """A listener would give zeros for the vectors that a document does not have."""
    for doc in docs:
        if len(doc) and doc._.trf_data is None:
            raise ValueError(
                f"Document {describe_doc(doc)} has no vectors of the encoder"
                + (
                    ", which is frozen. Name the encoder in the reader of the corpus "
                    "(spacy_he_coref.CorefCorpus.v1), or set frozen = false in the "
                    "model."
                    if is_train
                    else ". Run 'transformer' before 'he_coref'; 'doc_cleaner' removes "
                    "what it wrote."
                )
            )


def _spans(
    tokens: TokenTable, candidates: np.ndarray, start: int, end: int, max_width: int
) -> Tuple[np.ndarray, np.ndarray]:
    """The spans that begin in a stretch of tokens.

    RETURNS (Tuple[np.ndarray, np.ndarray]): First and last tokens, int64 of (spans,);
        first all within the sentences, then the wider candidates.
    """
    reach = min(end + max_width - 1, len(tokens.sentence))
    sentence = torch.from_numpy(tokens.sentence[start:reach])
    first, last = (part.numpy() for part in ranges(reach - start, sentence, max_width))
    here = first < end - start
    first, last = first[here] + start, last[here] + start
    width = candidates[:, 1] - candidates[:, 0]
    wide = candidates[
        (width > max_width)
        & (width <= _WIDEST)
        & (candidates[:, 0] >= start)
        & (candidates[:, 0] < end)
    ]
    return (
        np.concatenate([first, wide[:, 0]]),
        np.concatenate([last, wide[:, 1] - 1]),
    )


def _member(
    first: np.ndarray, last: np.ndarray, bounds: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """The values of spans that are among others, -1 for those that are not."""
    found = np.full(len(first), -1, dtype=np.int64)
    if not len(bounds):
        return found
    keys = bounds[:, 0] << 32 | bounds[:, 1] - 1
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    own = first << 32 | last
    place = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
    same = keys[place] == own
    found[same] = values[order[place[same]]]
    return found


def _codes(first: np.ndarray, last: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    ones = np.ones(len(candidates), dtype=np.int64)
    return np.maximum(_member(first, last, candidates, ones), 0)


def _order(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """The order of the text, of two with one start the longer first."""
    return np.lexsort((-last, first))


def _resolve(
    network: CorefEnsemble,
    settings: Any,
    vectors: Tensor,
    inputs: CorefInput,
    number: int,
) -> Links:
    """Find and link the mentions of one document."""
    doc, given = inputs.docs[number], inputs.given[number]
    candidates = inputs.candidates[number]
    nothing = np.zeros(0, dtype=np.int64)
    none = Links(
        np.zeros((0, 2), dtype=np.int64),
        np.zeros(0, dtype=np.float32),
        nothing,
        nothing,
        np.zeros(0, dtype=np.float32),
    )
    if not len(doc) or (given is not None and not len(given)):
        return none
    device = vectors.device
    table = token_table(doc)
    if given is not None:
        first, last = given[:, 0], given[:, 1] - 1
        probability = np.ones(len(first), dtype=np.float32)
    else:
        kept: List[Tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for start in range(0, len(doc), _STRETCH):
            end = min(start + _STRETCH, len(doc))
            first_here, past = np.searchsorted(candidates[:, 0], (start, end))
            here = candidates[first_here:past]
            one, other = _spans(table, here, start, end, network.max_width)
            # No more than the tokens of these spans: time would grow with the square.
            scores = network.score_spans(
                network.read(vectors[start : int(other.max()) + 1]),
                torch.from_numpy(one - start).to(device),
                torch.from_numpy(other - start).to(device),
                torch.from_numpy(_codes(one, other, here)).to(device),
            )
            sure = scores[:, ANY_MENTION].sigmoid().cpu().numpy()
            keep = sure >= inputs.cuts[number]
            kept.append((one[keep], other[keep], sure[keep]))
        first, last, probability = (
            np.concatenate(part) for part in zip(*kept, strict=True)
        )
        if not len(first):
            return none
    order = _order(first, last)
    first, last, probability = first[order], last[order], probability[order]
    table_of = mention_table(table, first, last + 1)
    later: List[np.ndarray] = []
    earlier: List[np.ndarray] = []
    scores_of: List[np.ndarray] = []
    for block in antecedent_pairs(
        network, vectors, table_of, settings["antecedents"], settings["window"]
    ):
        later.append(block.later)
        earlier.append(block.earlier)
        for place in range(0, len(block.later), _PAIRS):
            part = block._replace(
                later=block.later[place : place + _PAIRS],
                earlier=block.earlier[place : place + _PAIRS],
            )
            scores_of.append(_score_block(network, part, table_of, 0).cpu().numpy())
    release_memory(len(doc))
    return Links(
        np.stack([first, last + 1], axis=1),
        probability,
        np.concatenate(later) if later else nothing,
        np.concatenate(earlier) if earlier else nothing,
        np.concatenate(scores_of) if scores_of else np.zeros(0, dtype=np.float32),
        np.where(
            is_pronoun(table_of)[:, None],
            np.stack([table_of.gender, table_of.number], axis=1),
            0,
        ),
        possessors=doubled_possessors(table, table_of),
    )


class PairBlock(NamedTuple):
    """Some later mentions with the earlier ones that they are compared with.

    later, earlier (np.ndarray): The pairs as mentions of the document, int64 of
        (pairs,), ordered by the later one.
    mentions (List[Mentions]): The mentions of the block, for each member.
    rows (np.ndarray): Which mentions of the document they are, int64, sorted.
    coarse (Tensor): Coarse scores of all mentions in the window, float32 of (later,
        earlier), -inf for pairs that are none.
    first (Tuple[int, int]): The mentions that its first row and column stand for.
    """

    later: np.ndarray
    earlier: np.ndarray
    mentions: List[Mentions]
    rows: np.ndarray
    coarse: Tensor
    first: Tuple[int, int]


def antecedent_pairs(
    network: CorefEnsemble,
    vectors: Tensor,
    table: MentionTable,
    antecedents: int,
    window: int,
) -> Iterator[PairBlock]:
    """The pairs that are worth a fine score, block by block.

    network (CorefEnsemble): Gives the coarse scores.
    vectors (Tensor): Of the tokens, float32 of (tokens, input width).
    table (MentionTable): The mentions.
    antecedents (int): Best antecedents of each mention in the window.
    window (int): How many mentions before it are looked at.
    YIELDS (PairBlock): The pairs; blocks without any are left out.
    """
    size = len(table.start)
    values = mention_features(table)
    words = _same_words(table)
    pronoun = is_pronoun(table)
    device = vectors.device
    for begin in range(0, size, _BLOCK):
        end = min(begin + _BLOCK, size)
        low = max(0, begin - window)
        far_later, far_earlier = repeated_mentions(words, begin, end, window)
        far = np.unique(far_earlier[far_earlier < low])
        rows = np.concatenate([far, np.arange(low, end)])
        # Those of the whole document would take too much memory.
        mentions = _read_mentions(network, vectors, table, values, rows)
        row = torch.arange(begin, end, device=device)[:, None]
        column = torch.arange(low, end, device=device)[None]
        shift = len(far) - low
        codes = coarse_codes(pronoun, words, begin, low, end)
        coarse = network.score_coarse(
            mentions,
            row.squeeze(1) + shift,
            column.squeeze(0) + shift,
            torch.from_numpy(codes).to(device),
        )
        outside = (column >= row) | (column < row - window)
        coarse = coarse.masked_fill(outside, -torch.inf)
        best = coarse.detach().topk(min(antecedents, coarse.shape[1]), dim=1)
        chosen = best.values > -torch.inf
        later = row.expand_as(chosen)[chosen].cpu().numpy()
        earlier = (best.indices + low)[chosen].cpu().numpy()
        later = np.concatenate([later, far_later])
        earlier = np.concatenate([earlier, far_earlier])
        if len(later):
            pairs = np.unique(later * np.int64(size) + earlier)
            yield PairBlock(
                pairs // size, pairs % size, mentions, rows, coarse, (begin, low)
            )


def _read_mentions(
    network: CorefEnsemble,
    vectors: Tensor,
    table: MentionTable,
    values: np.ndarray,
    rows: np.ndarray,
) -> List[Mentions]:
    device = vectors.device
    places = np.concatenate([table.start[rows], table.end[rows] - 1, table.head[rows]])
    tokens = network.read(vectors[torch.from_numpy(places).to(device)])
    start, last, head = torch.arange(len(places), device=device).reshape(3, -1)
    return network.read_mentions(
        tokens, start, last, head, torch.from_numpy(values[rows]).to(device)
    )


def _score_block(
    network: CorefEnsemble, block: PairBlock, table: MentionTable, corpus: int
) -> Tensor:
    device = next(network.parameters()).device
    values = pair_features(table, block.later, block.earlier)
    later = np.searchsorted(block.rows, block.later)
    earlier = np.searchsorted(block.rows, block.earlier)
    return network.score_fine(
        block.mentions,
        torch.from_numpy(later).to(device),
        torch.from_numpy(earlier).to(device),
        torch.from_numpy(values).to(device),
        corpus,
    )


def coarse_codes(
    pronoun: np.ndarray, words: Sequence["SameWords"], begin: int, low: int, end: int
) -> np.ndarray:
    """What pairs of mentions look like at a glance, for their coarse scores.

    pronoun (np.ndarray): Whether mentions are pronouns, bool of (mentions,).
    words (Sequence[SameWords]): The mentions by their words.
    begin (int), low (int), end (int): The later mentions are those from begin to end,
        the earlier ones those from low to end.
    RETURNS (np.ndarray): int64 of (end - begin, end - low), less than
        ``COARSE_CODES``: distance in mentions, which are pronouns, and whether heads
        or last names are the same.
    """
    distance = np.arange(begin, end)[:, None] - np.arange(low, end)[None]
    # 1, 2, 3 to 4, 5 to 8, ...
    step = np.ceil(np.log2(np.maximum(distance, 1))).astype(np.int64)
    codes = np.minimum(step, COARSE_DISTANCES - 1)
    codes = codes * 4 + pronoun[begin:end, None] * 2 + pronoun[None, low:end]
    for group, _ in words:
        own = group[begin:end, None]
        codes = codes * 2 + ((own == group[None, low:end]) & (own >= 0))
    return codes


class SameWords(NamedTuple):
    """The mentions by what their heads or last names are, for fast look-up.

    group (np.ndarray): Number of each mention's word, -1 for none; int64 of
        (mentions,).
    codes (np.ndarray): Word and mention in one number, sorted, int64.
    """

    group: np.ndarray
    codes: np.ndarray


def _same_words(table: MentionTable) -> List[SameWords]:
    """The mentions by the lemma of the head, pronouns left out, and by last name."""
    names = table.names
    surname = names[np.arange(len(names)), (names > 0).cumsum(1).argmax(1)]
    found: List[SameWords] = []
    for keys in (np.where(is_pronoun(table), np.uint64(0), table.lemma), surname):
        group = np.full(len(keys), -1, dtype=np.int64)
        known = np.flatnonzero(keys > 0)
        if len(known):
            group[known] = np.unique(keys[known], return_inverse=True)[1].reshape(-1)
        codes = np.sort(group[known] * np.int64(len(keys)) + known)
        found.append(SameWords(group, codes))
    return found


def repeated_mentions(
    words: Sequence[SameWords], begin: int, end: int, window: int
) -> Tuple[np.ndarray, np.ndarray]:
    """Mentions beyond the window whose head or last name is the same.

    words (Sequence[SameWords]): The mentions by their words.
    begin (int), end (int): The mentions whose antecedents are looked for.
    window (int): Mentions before each that are not looked for here.
    RETURNS (Tuple[np.ndarray, np.ndarray]): Later and earlier ones, int64 of (pairs,).
    """
    later = [np.zeros(0, dtype=np.int64)]
    earlier = [np.zeros(0, dtype=np.int64)]
    for group, codes in words:
        size = np.int64(len(group))
        own = begin + np.flatnonzero(group[begin:end] >= 0)
        if end <= window or not len(own):
            continue
        base = group[own] * size
        place = np.searchsorted(codes, base + np.maximum(own - window, 0))
        for back in range(1, _REPEATED + 1):
            index = np.maximum(place - back, 0)
            found = (place >= back) & (codes[index] >= base)
            later.append(own[found])
            earlier.append(codes[index[found]] % size)
    return np.concatenate(later), np.concatenate(earlier)


def _losses(
    network: CorefEnsemble,
    settings: Any,
    vectors: Tensor,
    inputs: CorefInput,
    number: int,
) -> Tuple[Tensor, Tensor]:
    """The losses of one document: of its spans and of its links."""
    assert inputs.targets is not None
    targets, candidates = inputs.targets[number], inputs.candidates[number]
    device = vectors.device
    doc = inputs.docs[number]
    table = token_table(doc)
    tokens = network.read(vectors)
    first, last = _spans(table, candidates, 0, len(doc), network.max_width)
    entity = _member(first, last, targets.bounds, targets.entities)
    codes = torch.from_numpy(_codes(first, last, candidates))
    if settings["candidate_dropout"]:
        hidden = torch.rand(len(codes)) < settings["candidate_dropout"]
        codes = codes.masked_fill(hidden, 0)
    logits = network.score_spans(
        tokens,
        torch.from_numpy(first).to(device),
        torch.from_numpy(last).to(device),
        codes.to(device),
    )
    gold = torch.from_numpy(entity >= SINGLETON).to(device)
    corefers = torch.from_numpy(entity > SINGLETON).to(device)
    own = logits[:, 1 + targets.corpus]
    loss = F.binary_cross_entropy_with_logits(own, corefers.float(), reduction="sum")
    if targets.complete:
        mention = gold if settings["singletons"] else corefers
        loss = loss + F.binary_cross_entropy_with_logits(
            logits[:, ANY_MENTION], mention.float(), reduction="sum"
        )
        own = logits[:, ANY_MENTION]
    mention_loss = loss / max(1, int(gold.sum()))
    # Spans that may be taken for mentions in use learn that they have no antecedent.
    score = own.detach() + 1e3 * gold
    kept = torch.nonzero(score > _LIKELY)[:, 0]
    most = int(len(doc) * settings["training_mentions"]) + 5
    if len(kept) > most:
        kept = kept[score[kept].topk(most).indices]
    index = kept.cpu().numpy()
    index = index[_order(first[index], last[index])]
    if len(index) < 2:
        return mention_loss, mention_loss * 0.0
    mentions_of = mention_table(table, first[index], last[index] + 1)
    blocks = list(
        antecedent_pairs(
            network, vectors, mentions_of, settings["antecedents"], settings["window"]
        )
    )
    later = np.concatenate([block.later for block in blocks])
    earlier = np.concatenate([block.earlier for block in blocks])
    entity = entity[index]
    right = (entity[later] == entity[earlier]) & (entity[later] > SINGLETON)
    scores = torch.cat(
        [_score_block(network, block, mentions_of, targets.corpus) for block in blocks]
    )
    links = antecedent_loss(
        scores,
        torch.from_numpy(later).to(device),
        torch.from_numpy(right).to(device),
        len(index),
    )
    link_loss = links.mean()
    if settings["coarse_weight"]:
        ranked = [
            coarse_loss(block.coarse, _same_entity(block, entity).to(device))
            for block in blocks
        ]
        link_loss = link_loss + settings["coarse_weight"] * torch.cat(ranked).mean()
    return mention_loss, link_loss


def _same_entity(block: PairBlock, entity: np.ndarray) -> Tensor:
    (begin, low), (rows, columns) = block.first, block.coarse.shape
    own = entity[begin : begin + rows, None]
    same = (own == entity[None, low : low + columns]) & (own > SINGLETON)
    # Only those before it are antecedents.
    before = (
        np.arange(low, low + columns)[None] < np.arange(begin, begin + rows)[:, None]
    )
    return torch.from_numpy(same & before)


# The logit of a probability of 0.15.
_LIKELY = -1.7

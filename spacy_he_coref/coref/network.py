"""The torch network of coreference: mentions, coarse and fine antecedent scores.

Every span of a sentence gets a mention score; of those that are kept, a bilinear
product ranks all earlier ones (coarse), and the best are scored again with the
features of the pair (fine), by experts for the kinds of pairs of LingMess (Otmazgin,
Cattan and Goldberg 2023). The mention score is no part of the antecedent scores:
singletons are mentions too, and links would push their scores down (design section 4).
"""

from typing import Any, Iterable, List, NamedTuple, Sequence, Tuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .features import CATEGORIES, MENTION_FEATURES, PAIR_FEATURES, Feature, offsets

# Columns of the mention scores: any mention of the first corpus, singletons included;
# and mentions that corefer, of each corpus.
ANY_MENTION = 0
# Kinds of pairs for the coarse scores (``coarse_codes``): steps of distance, for two
# nominals, a later or an earlier pronoun, two pronouns; and which words are the same.
COARSE_DISTANCES = 10
COARSE_CODES = COARSE_DISTANCES * 4 * 4
# Candidate codes of a span: none, found by the recall setting, by the balanced one.
CANDIDATE_CODES = 3


class Embeddings(nn.Module):
    """The sum of the embeddings of some features."""

    def __init__(
        self, features: Sequence[Feature], groups: Sequence[str], width: int
    ) -> None:
        """Make the embeddings.

        features (Sequence[Feature]): All features.
        groups (Sequence[str]): The groups that are used.
        width (int): Width of the sum.
        """
        super().__init__()
        self.starts: Tensor
        self.used: Tensor
        starts = torch.from_numpy(offsets(features))
        used = [i for i, f in enumerate(features) if f.group in groups]
        self.register_buffer("starts", starts[:-1], persistent=False)
        self.register_buffer("used", torch.tensor(used).long(), persistent=False)
        self.table = nn.EmbeddingBag(int(starts[-1]), width, mode="sum")
        nn.init.normal_(self.table.weight, std=0.05)

    def forward(self, values: Tensor) -> Tensor:
        """Embed features.

        values (Tensor): int64 of (items, features).
        RETURNS (Tensor): float32 of (items, width).
        """
        index = (values + self.starts)[:, self.used]
        if not index.shape[1] or not len(index):
            width = self.table.weight.shape[1]
            return self.table.weight.new_zeros((len(index), width))
        output: Tensor = self.table(index)
        return output


class Mentions(NamedTuple):
    """What pairs of mentions are scored with.

    query, key (Tensor): Of the coarse product, float32 of (mentions, rank).
    later, earlier (Tensor): Of the fine scores, float32 of (mentions, hidden).
    left, right (Tensor): Of the fine product, float32 of (mentions, rank).
    queries, keys (Tensor): Of the experts' products, float32 of (mentions,
        categories, rank).
    """

    query: Tensor
    key: Tensor
    later: Tensor
    earlier: Tensor
    left: Tensor
    right: Tensor
    queries: Tensor
    keys: Tensor


class CorefNetwork(nn.Module):
    """Scores spans as mentions, and pairs of mentions as coreferent."""

    def __init__(
        self,
        input_width: int,
        span_hidden: int,
        hidden: int,
        rank: int,
        dropout: float,
        feature_dropout: float,
        max_width: int,
        groups: Sequence[str],
        corpora: int,
        candidates: bool,
        experts: bool,
        coarse_features: bool = False,
    ) -> None:
        """Make the network.

        input_width (int): Width of the vectors of tokens.
        span_hidden (int): Width of the hidden layers over spans.
        hidden (int): Width of the hidden layers over mentions and pairs.
        rank (int): Width of the products.
        dropout (float): Dropout rate of vectors and hidden layers.
        feature_dropout (float): Share of the pairs and mentions whose features are
            hidden in training.
        max_width (int): Widest span, in tokens.
        groups (Sequence[str]): Groups of features (``features.GROUPS``) in use.
        corpora (int): How many corpora it is trained on, each with its marker.
        candidates (bool): Whether the rule-based candidates are a feature.
        experts (bool): Whether kinds of pairs have scorers of their own.
        coarse_features (bool): Whether distance, pronouns and equal words count when
            antecedents are ranked for the fine scores.
        """
        super().__init__()
        self.coarse_features = coarse_features
        self.max_width = max_width
        self.feature_dropout = feature_dropout
        self.candidates = candidates
        self.experts = experts
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(input_width)
        # Spans as mentions.
        self.span_start = nn.Linear(input_width, span_hidden)
        self.span_end = nn.Linear(input_width, span_hidden)
        self.product_start = nn.Linear(input_width, rank)
        self.product_end = nn.Linear(input_width, rank)
        self.span_product = nn.Linear(rank, span_hidden, bias=False)
        self.span_width = nn.Embedding(max_width + 1, span_hidden)
        self.span_candidate = nn.Embedding(CANDIDATE_CODES, span_hidden)
        self.span_hidden = nn.Linear(span_hidden, span_hidden)
        self.span_score = nn.Linear(span_hidden, 1 + corpora)
        # Mentions.
        self.mention_features = Embeddings(MENTION_FEATURES, groups, 64)
        self.mention = nn.Linear(3 * input_width + 64, hidden)
        self.query = nn.Linear(hidden, rank)
        self.key = nn.Linear(hidden, rank)
        if coarse_features:
            self.coarse = nn.Embedding(COARSE_CODES, 1)
            nn.init.zeros_(self.coarse.weight)
        # Pairs.
        self.later = nn.Linear(hidden, hidden)
        self.earlier = nn.Linear(hidden, hidden)
        self.left = nn.Linear(hidden, rank)
        self.right = nn.Linear(hidden, rank)
        self.pair_product = nn.Linear(rank, hidden, bias=False)
        self.pair_features = Embeddings(PAIR_FEATURES, groups, hidden)
        self.marker = nn.Embedding(corpora, hidden)
        self.pair_hidden = nn.Linear(hidden, hidden)
        kinds = len(CATEGORIES)
        self.pair_score = nn.Linear(hidden, 1 + kinds)
        self.rank = rank
        self.queries = nn.Linear(hidden, kinds * rank)
        self.keys = nn.Linear(hidden, kinds * rank)
        for table in (self.span_width, self.span_candidate, self.marker):
            nn.init.normal_(table.weight, std=0.05)
        nn.init.zeros_(self.pair_score.weight)
        nn.init.zeros_(self.pair_score.bias)

    def read(self, vectors: Tensor) -> Tensor:
        """Prepare the vectors of tokens.

        vectors (Tensor): float32 of (tokens, input width).
        RETURNS (Tensor): float32 of (tokens, input width).
        """
        output: Tensor = self.dropout(self.norm(vectors))
        return output

    def score_spans(
        self, tokens: Tensor, start: Tensor, last: Tensor, codes: Tensor
    ) -> Tensor:
        """Score spans as mentions.

        tokens (Tensor): What ``read`` gave.
        start (Tensor), last (Tensor): First and last tokens, int64 of (spans,).
        codes (Tensor): Candidate codes, int64 of (spans,).
        RETURNS (Tensor): Logits, float32 of (spans, 1 + corpora): of any mention, and
            of a mention that corefers for each corpus.
        """
        product = self.product_start(tokens)[start] * self.product_end(tokens)[last]
        hidden = (
            self.span_start(tokens)[start]
            + self.span_end(tokens)[last]
            + self.span_product(product)
            + self.span_width((last - start).clamp(0, self.max_width))
        )
        if self.candidates:
            hidden = hidden + self.span_candidate(codes)
        hidden = self._drop_columns(F.gelu(hidden))
        hidden = self._drop_columns(F.gelu(self.span_hidden(hidden)))
        output: Tensor = self.span_score(hidden)
        return output

    def read_mentions(
        self, tokens: Tensor, start: Tensor, last: Tensor, head: Tensor, values: Tensor
    ) -> Mentions:
        """Prepare mentions for the scoring of their pairs.

        tokens (Tensor): What ``read`` gave.
        start (Tensor), last (Tensor), head (Tensor): Tokens, int64 of (mentions,).
        values (Tensor): Their features, int64 of (mentions, features).
        RETURNS (Mentions): What the scores need.
        """
        features = self._hide(self.mention_features(values))
        hidden = self.mention(
            torch.cat([tokens[start], tokens[last], tokens[head], features], 1)
        )
        hidden = self.dropout(F.gelu(hidden))
        kinds = len(CATEGORIES)
        return Mentions(
            query=self.query(hidden),
            key=self.key(hidden),
            later=self.later(hidden),
            earlier=self.earlier(hidden),
            left=self.left(hidden),
            right=self.right(hidden),
            queries=self.queries(hidden).reshape(-1, kinds, self.rank),
            keys=self.keys(hidden).reshape(-1, kinds, self.rank),
        )

    def score_coarse(
        self, mentions: Mentions, later: Tensor, earlier: Tensor, codes: Tensor
    ) -> Tensor:
        """Score all earlier mentions of some later ones.

        mentions (Mentions): What ``read_mentions`` gave.
        later (Tensor), earlier (Tensor): Slices of mentions, int64.
        codes (Tensor): Kinds of the pairs, int64 of (later, earlier).
        RETURNS (Tensor): float32 of (later, earlier).
        """
        scale = self.rank**-0.5
        scores = mentions.query[later] @ mentions.key[earlier].T * scale
        if self.coarse_features:
            # Single numbers: at the rate of the other weights they would lag behind.
            scores = scores + (10.0 * self.coarse.weight[:, 0])[codes]
        return scores

    def score_fine(
        self,
        mentions: Mentions,
        later: Tensor,
        earlier: Tensor,
        values: Tensor,
        corpus: int,
    ) -> Tensor:
        """Score pairs.

        mentions (Mentions): What ``read_mentions`` gave.
        later (Tensor), earlier (Tensor): Mentions of each pair, int64 of (pairs,).
        values (Tensor): Features of the pairs, int64 of (pairs, features), the
            category first.
        corpus (int): Number of the corpus whose guidelines count.
        RETURNS (Tensor): float32 of (pairs,), with the coarse score in it; above 0
            where a link is likelier than none.
        """
        scale = self.rank**-0.5
        coarse = (mentions.query[later] * mentions.key[earlier]).sum(1) * scale
        hidden = (
            mentions.later[later]
            + mentions.earlier[earlier]
            + self.pair_product(mentions.left[later] * mentions.right[earlier])
            + self._hide(self.pair_features(values))
            + self.marker.weight[corpus]
        )
        hidden = self._drop_columns(F.gelu(hidden))
        hidden = self.dropout(F.gelu(self.pair_hidden(hidden)))
        scores = self.pair_score(hidden)
        total = coarse + scores[:, 0]
        if self.experts:
            kind = values[:, 0]
            total = total + scores.gather(1, 1 + kind[:, None]).squeeze(1)
            queries, keys = mentions.queries[later, kind], mentions.keys[earlier, kind]
            total = total + (queries * keys).sum(1) * scale
        return total

    def _drop_columns(self, hidden: Tensor) -> Tensor:
        """Dropout with one mask for all rows: a mask of each would take most time."""
        if not self.training:
            return hidden
        mask: Tensor = self.dropout(hidden.new_ones(hidden.shape[1]))
        return hidden * mask

    def _hide(self, features: Tensor) -> Tensor:
        if not self.training or not self.feature_dropout:
            return features
        keep = torch.rand(len(features), 1, device=features.device)
        return features * (keep >= self.feature_dropout)


class CorefEnsemble(nn.Module):
    """Networks that were trained from different seeds; their scores are averaged.

    One network alone is an ensemble of one.
    """

    def __init__(self, members: int, **sizes: Any) -> None:
        """Make the networks.

        members (int): How many.
        sizes (Any): Arguments of ``CorefNetwork``.
        """
        super().__init__()
        self.members = nn.ModuleList(CorefNetwork(**sizes) for _ in range(members))
        self.max_width: int = sizes["max_width"]

    def _each(self) -> List[CorefNetwork]:
        return cast(List[CorefNetwork], list(self.members))

    def read(self, vectors: Tensor) -> List[Tensor]:
        """As ``CorefNetwork.read``, for each member."""
        return [member.read(vectors) for member in self._each()]

    def score_spans(
        self, tokens: List[Tensor], start: Tensor, last: Tensor, codes: Tensor
    ) -> Tensor:
        """As ``CorefNetwork.score_spans``, the mean of the members' logits."""
        return _mean(
            member.score_spans(own, start, last, codes)
            for member, own in zip(self._each(), tokens, strict=True)
        )

    def read_mentions(
        self,
        tokens: List[Tensor],
        start: Tensor,
        last: Tensor,
        head: Tensor,
        values: Tensor,
    ) -> List[Mentions]:
        """As ``CorefNetwork.read_mentions``, for each member."""
        return [
            member.read_mentions(own, start, last, head, values)
            for member, own in zip(self._each(), tokens, strict=True)
        ]

    def score_coarse(
        self, mentions: List[Mentions], later: Tensor, earlier: Tensor, codes: Tensor
    ) -> Tensor:
        """As ``CorefNetwork.score_coarse``, the mean of the members' scores."""
        return _mean(
            member.score_coarse(own, later, earlier, codes)
            for member, own in zip(self._each(), mentions, strict=True)
        )

    def score_fine(
        self,
        mentions: List[Mentions],
        later: Tensor,
        earlier: Tensor,
        values: Tensor,
        corpus: int,
    ) -> Tensor:
        """As ``CorefNetwork.score_fine``, the mean of the members' scores."""
        return _mean(
            member.score_fine(own, later, earlier, values, corpus)
            for member, own in zip(self._each(), mentions, strict=True)
        )


def _mean(scores: Iterable[Tensor]) -> Tensor:
    parts = list(scores)
    if len(parts) == 1:
        return parts[0]
    return torch.stack(parts).mean(0)


def antecedent_loss(scores: Tensor, owner: Tensor, right: Tensor, size: int) -> Tensor:
    """The negative log-likelihood that each mention links to an antecedent of its own.

    scores (Tensor): Scores of pairs, float32 of (pairs,).
    owner (Tensor): Later mention of each pair, int64 of (pairs,).
    right (Tensor): Whether both are of one entity, bool of (pairs,).
    size (int): How many mentions there are.
    RETURNS (Tensor): float32 of (mentions,). No link has the score 0 and is right for
        a mention without an antecedent among its pairs.
    """
    zeros = scores.new_zeros(size)
    every = _log_sum(scores, owner, zeros)
    lonely = torch.ones(size, dtype=torch.bool, device=scores.device)
    lonely[owner[right]] = False
    nothing = torch.where(lonely, 0.0, -1e9)
    good = _log_sum(scores[right], owner[right], nothing)
    return every - good


def coarse_loss(scores: Tensor, right: Tensor) -> Tensor:
    """The same for the scores of all earlier mentions, as a matrix.

    scores (Tensor): float32 of (later, earlier), -inf for pairs that are none.
    right (Tensor): Whether both are of one entity, bool of (later, earlier).
    RETURNS (Tensor): float32 of (later,).
    """
    nothing = scores.new_zeros((len(scores), 1))
    right = right & (scores > -torch.inf)
    good = scores.masked_fill(~right, -torch.inf)
    lonely = torch.where(right.any(1, keepdim=True), -torch.inf, nothing)
    every = torch.cat([nothing, scores], 1).logsumexp(1)
    return every - torch.cat([lonely, good], 1).logsumexp(1)


def _log_sum(scores: Tensor, owner: Tensor, base: Tensor) -> Tensor:
    """log(exp(base) + sum of exp(scores) by owner), stable."""
    top = base.detach().scatter_reduce(0, owner, scores.detach(), "amax")
    total = (base - top).exp().index_add(0, owner, (scores - top[owner]).exp())
    return top + total.log()


def ranges(tokens: int, sentence: Tensor, max_width: int) -> Tuple[Tensor, Tensor]:
    """All spans within sentences.

    tokens (int): Tokens of the document.
    sentence (Tensor): Sentence of each, int64 of (tokens,).
    max_width (int): Widest span, in tokens.
    RETURNS (Tuple[Tensor, Tensor]): First and last tokens, int64 of (spans,).
    """
    first = torch.arange(tokens, device=sentence.device)
    starts: List[Tensor] = []
    lasts: List[Tensor] = []
    for width in range(min(max_width, tokens)):
        start = first[: tokens - width]
        inside = sentence[start] == sentence[start + width]
        starts.append(start[inside])
        lasts.append(start[inside] + width)
    if not starts:
        return first, first
    return torch.cat(starts), torch.cat(lasts)

"""The torch network of the trained segmenter backend.

A word is read as hashes of itself and its affixes, with the words around it
through gated convolutions; with an encoder, also as its first and last
wordpiece. Candidates (see ``candidates``) are scored against that: the prefix
and the suffix pattern each by a product, the host by a hash embedding and by
what is known of it. Words of a second corpus, which knows borders but not
articles and base forms, share all of this and add a correction of their own, so
that its habits do not leak into the first.
"""

from typing import List, NamedTuple, Optional, Sequence, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .candidates import EDIT_FACTS, FACTS


class Batch(NamedTuple):
    """Windows of words with their candidates, as the network reads them.

    grams (Tensor): int64 of (words, GRAMS).
    place (Tensor): int64 of (words,), the row of each word in a sequence in which
        windows stand one after the other with ``depth`` empty rows between.
    rows (int): Rows of that sequence.
    word (Tensor): int64 of (candidates,), the word of each candidate.
    prefixes, suffixes, hosts (Tensor): int64 of (candidates,).
    facts (Tensor): float32 of (candidates, FACTS + 2).
    foreign (Tensor): bool of (words,), True for words of the second corpus.
    pieces (Optional[Tensor]): int64 of (windows, length), wordpieces.
    mask (Optional[Tensor]): int64 of (windows, length).
    ends (Optional[Tensor]): int64 of (words, 2), flat places of the first and
        last wordpiece of each word.
    """

    grams: Tensor
    place: Tensor
    rows: int
    word: Tensor
    prefixes: Tensor
    suffixes: Tensor
    hosts: Tensor
    facts: Tensor
    foreign: Tensor
    pieces: Optional[Tensor]
    mask: Optional[Tensor]
    ends: Optional[Tensor]


class SegmenterNetwork(nn.Module):
    """Scores the candidate analyses of words in context."""

    def __init__(
        self,
        n_prefixes: int,
        n_suffixes: int,
        n_edits: int,
        hash_rows: int,
        width: int,
        depth: int,
        dropout: float,
        n_tags: Sequence[int] = (),
        encoder: Optional[nn.Module] = None,
        encoder_width: int = 0,
    ) -> None:
        """Make the network.

        n_prefixes (int): Prefix patterns.
        n_suffixes (int): Suffix patterns.
        n_edits (int): Edits from host to base form.
        hash_rows (int): Rows of each table of hash embeddings.
        width (int): Width of the vector of a word.
        depth (int): Convolutions over neighbouring words; 0 for none.
        dropout (float): Dropout rate, for all but the encoder.
        n_tags (Sequence[int]): For each kind of tags that is learned beside the
            segments, how many there are.
        encoder (Optional[nn.Module]): A transformer that takes pieces and a mask, or
            None.
        encoder_width (int): Width of its output.
        """
        super().__init__()
        self.depth = depth
        self.encoder = encoder
        self.grams = nn.EmbeddingBag(hash_rows, width, mode="sum")
        self.dropout = nn.Dropout(dropout)
        self.convolutions = nn.ModuleList(
            [nn.Linear(3 * width, 2 * width) for _ in range(depth)]
        )
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(depth)])
        if encoder is not None:
            self.from_encoder = nn.Linear(2 * encoder_width, width)
        self.reader = nn.Linear(width, width)

        self.prefix_products = nn.Embedding(n_prefixes, width)
        self.suffix_products = nn.Embedding(n_suffixes, width)
        self.prefix_bias = nn.Parameter(torch.zeros(n_prefixes))
        self.suffix_bias = nn.Parameter(torch.zeros(n_suffixes))
        self.to_prefix = nn.Linear(width, width)
        self.to_suffix = nn.Linear(width, width)
        self.hosts = nn.Embedding(hash_rows, 32)
        self.to_host = nn.Linear(width, 32)
        self.prefix_facts = nn.Embedding(n_prefixes, 32)
        self.suffix_facts = nn.Embedding(n_suffixes, 32)
        self.facts = nn.Linear(FACTS + 2 + 64, 64)
        self.to_facts = nn.Linear(width, 64)
        self.judge = nn.Linear(64, 1)

        self.foreign_facts = nn.Linear(FACTS + 2 + 64, 64)
        self.to_foreign_facts = nn.Linear(width, 64)
        self.foreign_judge = nn.Linear(64, 1)
        self.foreign_hosts = nn.Embedding(hash_rows, 16)
        self.to_foreign_host = nn.Linear(width, 16)

        self.taggers = nn.ModuleList([nn.Linear(width, count) for count in n_tags])
        self.suffix_edits = nn.Embedding(n_suffixes, 64)
        self.edits = nn.Linear(width + 64, n_edits)
        self.edit_facts = nn.Sequential(
            nn.Linear(EDIT_FACTS + 1, 16), nn.GELU(), nn.Linear(16, 1)
        )
        for table in (
            self.grams,
            self.prefix_products,
            self.suffix_products,
            self.hosts,
            self.prefix_facts,
            self.suffix_facts,
            self.foreign_hosts,
        ):
            nn.init.normal_(table.weight, std=0.1)

    def forward(self, batch: Batch) -> Tuple[Tensor, Tensor]:
        """Score candidates.

        batch (Batch): The words and their candidates.
        RETURNS (Tuple[Tensor, Tensor]): Vectors of the words, float32 of (words,
            width), and scores of the candidates, float32 of (candidates,).
        """
        vectors = self._read(batch)
        word = batch.word
        scores = (self.to_prefix(vectors) @ self.prefix_products.weight.T)[
            word, batch.prefixes
        ] + self.prefix_bias[batch.prefixes]
        scores = (
            scores
            + (self.to_suffix(vectors) @ self.suffix_products.weight.T)[
                word, batch.suffixes
            ]
        )
        scores = scores + self.suffix_bias[batch.suffixes]
        hosts = self.dropout(self.hosts(batch.hosts))
        scores = scores + (self.to_host(vectors)[word] * hosts).sum(-1)
        facts = torch.cat(
            [
                batch.facts,
                self.prefix_facts(batch.prefixes),
                self.suffix_facts(batch.suffixes),
            ],
            dim=-1,
        )
        hidden = F.gelu(self.facts(facts) + self.to_facts(vectors)[word])
        scores = scores + self.judge(hidden).squeeze(-1)
        if batch.foreign.any():
            correction = self.foreign_judge(
                F.gelu(self.foreign_facts(facts) + self.to_foreign_facts(vectors)[word])
            ).squeeze(-1)
            own = self.foreign_hosts(batch.hosts)
            correction = correction + (self.to_foreign_host(vectors)[word] * own).sum(
                -1
            )
            scores = scores + correction * batch.foreign[word]
        return vectors, scores

    def _read(self, batch: Batch) -> Tensor:
        hidden = self.grams(batch.grams)
        if self.encoder is not None:
            assert batch.ends is not None
            output = self.encoder(batch.pieces, batch.mask)
            output = output.reshape(-1, output.shape[-1])[batch.ends]
            hidden = hidden + self.from_encoder(output.flatten(1))
        hidden = self.dropout(hidden)
        if self.depth:
            # All windows lie in one sequence, with empty rows between them: no
            # result depends on what else is in the batch.
            sequence = hidden.new_zeros((batch.rows, hidden.shape[-1]))
            sequence[batch.place] = hidden
            for convolution, norm in zip(self.convolutions, self.norms, strict=True):
                around = F.pad(sequence, (0, 0, 1, 1))
                around = torch.cat([around[:-2], sequence, around[2:]], dim=-1)
                value, gate = convolution(around[batch.place]).chunk(2, dim=-1)
                hidden = norm(hidden + self.dropout(value * torch.sigmoid(gate)))
                sequence = hidden.new_zeros(sequence.shape)
                sequence[batch.place] = hidden
        return self.dropout(F.gelu(self.reader(hidden)))

    def score_edits(
        self,
        vectors: Tensor,
        suffixes: Tensor,
        row: Tensor,
        edits: Tensor,
        facts: Tensor,
    ) -> Tensor:
        """Score the edits that fit the hosts of some words.

        vectors (Tensor): Vectors of the words, float32 of (words, width).
        suffixes (Tensor): Their suffix patterns, int64 of (words,).
        row (Tensor): int64 of (edits,), the word of each edit.
        edits (Tensor): int64 of (edits,).
        facts (Tensor): What is known of the base form that each edit makes,
            float32 of (edits, EDIT_FACTS + 1).
        RETURNS (Tensor): float32 of (edits,).
        """
        scores = self.edits(torch.cat([vectors, self.suffix_edits(suffixes)], dim=-1))
        return scores[row, edits] + self.edit_facts(facts).squeeze(-1)


def segment_logsumexp(scores: Tensor, group: Tensor, groups: int) -> Tensor:
    """The logarithm of the sum of exponentials, over groups of scores.

    scores (Tensor): float32 of (n,).
    group (Tensor): int64 of (n,), the group of each.
    groups (int): How many there are.
    RETURNS (Tensor): float32 of (groups,); -1e9 for an empty group.
    """
    highest = torch.full((groups,), -1e9).scatter_reduce(
        0, group, scores.detach(), "amax"
    )
    total = torch.zeros(groups).index_add(0, group, torch.exp(scores - highest[group]))
    return torch.where(total > 0, torch.log(total.clamp(min=1e-30)), total) + highest


def segment_argmax(scores: Tensor, group: Tensor, groups: int) -> List[int]:
    """The place of the highest score of each group; the first of equal ones.

    scores (Tensor): float32 of (n,), sorted by group.
    group (Tensor): int64 of (n,); every group has at least one score.
    groups (int): How many there are.
    RETURNS (List[int]): One place for each group.
    """
    highest = torch.full((groups,), -torch.inf).scatter_reduce(0, group, scores, "amax")
    best = torch.nonzero(scores == highest[group])[:, 0]
    first = torch.full((groups,), len(scores), dtype=torch.long)
    return first.scatter_reduce(0, group[best], best, "amin").tolist()

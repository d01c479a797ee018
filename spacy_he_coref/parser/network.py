"""The torch network of the parser: biaffine scores (Dozat and Manning 2017)."""

from typing import List, Sequence, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

# Arcs further than this are as far as this.
_FAR = 32
# Arcs whose relations are scored at once: of all relations much memory is needed.
_ARCS = 1024
# A group of sentences has as many tokens at most as if no sentence were shorter.
_SHORT = 64


class BiaffineNetwork(nn.Module):
    """Scores the heads of tokens, and the relation of each arc."""

    def __init__(
        self,
        input_width: int,
        labels: int,
        arc_width: int,
        label_width: int,
        dropout: float,
    ) -> None:
        """Make the network.

        input_width (int): Width of the vectors of the tokens.
        labels (int): Relations.
        arc_width (int): Width of the vectors that arcs are scored with.
        label_width (int): Width of the vectors that relations are scored with.
        dropout (float): Dropout rate.
        """
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.root = nn.Parameter(torch.randn(input_width) * 0.1)
        self.arc_dependent = nn.Linear(input_width, arc_width)
        self.arc_head = nn.Linear(input_width, arc_width)
        self.arc_product = nn.Parameter(torch.zeros(arc_width, arc_width))
        self.arc_bias = nn.Linear(arc_width, 1, bias=False)
        # How near a head stands, on which side, and the root.
        self.distance = nn.Embedding(2 * _FAR + 2, 1)
        self.label_dependent = nn.Linear(input_width, label_width)
        self.label_head = nn.Linear(input_width, label_width)
        self.label_product = nn.Parameter(
            torch.zeros(label_width + 1, labels, label_width + 1)
        )
        nn.init.xavier_uniform_(self.arc_product)
        nn.init.normal_(self.label_product, std=0.02)
        nn.init.zeros_(self.distance.weight)

    def forward(self, vectors: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        """Score the arcs of sentences of padded length.

        vectors (Tensor): Vectors of the tokens, float32 of (sentences, length,
            input width).
        RETURNS (Tuple[Tensor, Tensor, Tensor]): Scores of heads, float32 of
            (sentences, length, length + 1), the root first; and what the relations
            are scored with: of dependents, of (sentences, length, label width), and
            of heads, of (sentences, length + 1, label width).
        """
        sentences, length = vectors.shape[:2]
        vectors = self.dropout(vectors)
        heads = torch.cat(
            [self.root.expand(sentences, 1, -1), vectors],
            dim=1,
        )
        dependent = self.dropout(F.gelu(self.arc_dependent(vectors)))
        head = self.dropout(F.gelu(self.arc_head(heads)))
        scores = (dependent @ self.arc_product) @ head.transpose(1, 2)
        scores = scores + self.arc_bias(head).transpose(1, 2)
        place = torch.arange(length + 1, device=vectors.device)
        away = (place[None, :] - place[1:, None]).clamp(-_FAR, _FAR) + _FAR + 1
        away[:, 0] = 0
        scores = scores + self.distance(away).squeeze(-1)
        return (
            scores,
            self.dropout(F.gelu(self.label_dependent(vectors))),
            self.dropout(F.gelu(self.label_head(heads))),
        )

    def score_labels(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """Score the relations of some arcs.

        dependents (Tensor): Of the dependents, float32 of (arcs, label width).
        heads (Tensor): Of their heads, float32 of (arcs, label width).
        RETURNS (Tensor): float32 of (arcs, labels).
        """
        if len(dependents) > _ARCS:
            parts = zip(dependents.split(_ARCS), heads.split(_ARCS), strict=True)
            return torch.cat([self.score_labels(*part) for part in parts])
        dependents = F.pad(dependents, (0, 1), value=1.0)
        heads = F.pad(heads, (0, 1), value=1.0)
        count, width = dependents.shape
        left = dependents @ self.label_product.reshape(width, -1)
        return (left.reshape(count, -1, width) @ heads[:, :, None]).squeeze(-1)


def group_sentences(lengths: Sequence[int], size: int) -> List[List[int]]:
    """Group sentences of about equal length, so that little is padding.

    lengths (Sequence[int]): Tokens of each sentence.
    size (int): Most scores of arcs in a group, padding included; one sentence may
        have more. Of short sentences fewer, whose tokens would need the memory.
    RETURNS (List[List[int]]): Numbers of sentences; every one is in one group.
    """
    groups: List[List[int]] = []
    longest = 0
    for i in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        if (
            not groups
            or longest * max(longest, _SHORT) * (len(groups[-1]) + 1) > size
            or lengths[i] * 2 < longest
        ):
            groups.append([])
            longest = lengths[i]
        groups[-1].append(i)
    return groups

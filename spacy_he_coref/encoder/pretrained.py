"""Pretrained encoders: their configuration, wordpieces and weights."""

import hashlib
import importlib
import json
import re
from pathlib import Path
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple, Union, cast

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.overrides import TorchFunctionMode

from .imports import without_compiler
from .quantized import FLOAT32, INT8, quantize

# The rest of a longer word would only cost time.
_LETTERS = 200
# What the names of a wrapped transformer's weights begin with.
_TRANSFORMER = "transformer."


class MixedLayers(torch.nn.Module):
    """A transformer whose output is a learned mean of all its layers.

    The upper layers of encoders that were made for sentence embeddings say less
    about single words than the middle ones.
    """

    def __init__(self, transformer: torch.nn.Module, layers: int) -> None:
        """Wrap a transformer.

        transformer (torch.nn.Module): A model of the transformers library.
        layers (int): Its layers.
        """
        super().__init__()
        self.transformer = transformer
        self.mix = torch.nn.Parameter(torch.zeros(layers + 1))
        self._frozen: List[torch.nn.Module] = []

    def freeze(self, layers: int) -> None:
        """Keep embeddings and lower layers as they are in training.

        Nothing goes back to them, and they have no dropout. So what another component
        borrowed (``lend_layers``) stays the same.

        layers (int): How many layers.
        RAISES (ValueError): If the transformer has fewer layers.
        """
        every = list(self.transformer.encoder.layer)  # type: ignore[union-attr, arg-type]
        if layers > len(every):
            raise ValueError(
                f"The encoder has {len(every)} layers, so {layers} cannot be frozen. "
                "Freeze fewer."
            )
        embeddings = cast(torch.nn.Module, self.transformer.embeddings)
        self._frozen = [embeddings, *every[:layers]]
        for module in self._frozen:
            module.requires_grad_(False)

    def train(self, mode: bool = True) -> "MixedLayers":
        """Switch to training, apart from what is frozen.

        mode (bool): Whether to train.
        RETURNS (MixedLayers): Itself.
        """
        super().train(mode)
        for module in self._frozen:
            module.eval()
        return self

    def forward(self, pieces: Tensor, mask: Optional[Tensor]) -> Tensor:
        """Read wordpieces.

        pieces (Tensor): int64 of (windows, length).
        mask (Optional[Tensor]): int64 of (windows, length), 0 for padding; None if
            there is none.
        RETURNS (Tensor): float32 of (windows, length, width).
        """
        states = self.transformer(
            input_ids=pieces, attention_mask=mask, output_hidden_states=True
        ).hidden_states
        output = torch.zeros_like(states[0])
        for weight, state in zip(self.mix.softmax(0), states, strict=True):
            output = output + weight * state
        return output


class LentLayers(NamedTuple):
    """The lower layers of an encoder that another component reads with too.

    files (EncoderFiles): Its files, for as many layers.
    weights (Dict[str, Tensor]): Names as in a transformers model, half precision.
    digest (str): Of the weights.
    """

    files: "EncoderFiles"
    weights: Dict[str, Tensor]
    digest: str


class EncoderFiles:
    """What is needed to make an encoder and its wordpieces, without weights."""

    def __init__(self, config: Dict[str, Any], tokenizer: str) -> None:
        """Keep the files of an encoder.

        config (Dict[str, Any]): Its configuration as the transformers library
            writes it, with the ids of the first and last piece of every input
            (``first_piece``, ``last_piece``) and the pieces that fit in
            (``longest``).
        tokenizer (str): Its tokenizer in JSON.
        """
        self.config = config
        self.tokenizer = Tokenizer.from_str(tokenizer)
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.width = int(config["hidden_size"])
        self.first = int(config["first_piece"])
        self.last = int(config["last_piece"])
        self.padding = int(config["pad_token_id"])
        self.longest = int(config["longest"])

    @classmethod
    def load(
        cls, name: Union[str, Path], layers: Optional[int] = None
    ) -> "EncoderFiles":
        """Read them from a directory or from the hub.

        name (Union[str, Path]): The directory, or the name of a model.
        layers (Optional[int]): Keep this many of the lower layers; None for all.
        RETURNS (EncoderFiles): The files.
        """
        from transformers import AutoConfig, AutoTokenizer

        config = AutoConfig.from_pretrained(str(name)).to_dict()
        tokenizer = AutoTokenizer.from_pretrained(str(name), use_fast=True)
        config.update(
            num_hidden_layers=min(
                layers or config["num_hidden_layers"], config["num_hidden_layers"]
            ),
            first_piece=_first_not_none(tokenizer.cls_token_id, tokenizer.bos_token_id),
            last_piece=_first_not_none(tokenizer.sep_token_id, tokenizer.eos_token_id),
            pad_token_id=tokenizer.pad_token_id,
            # RoBERTa counts positions from the padding id on.
            longest=config["max_position_embeddings"]
            - (tokenizer.pad_token_id + 1 if "roberta" in config["model_type"] else 0),
            # Any other value would leave the fused kernel, at twice the time.
            attention_probs_dropout_prob=0.0,
        )
        return cls(config, tokenizer.backend_tokenizer.to_str())

    def pieces(self, word: str, longest: int) -> List[int]:
        """The wordpieces of a word.

        word (str): The word.
        longest (int): Keep no more than this many: the first and the last ones.
        RETURNS (List[int]): Ids of the pieces; that of padding if there are none.
        """
        ids = self.tokenizer.encode(word[:_LETTERS], add_special_tokens=False).ids
        if not ids:
            return [self.padding]
        half = longest // 2
        return ids if len(ids) <= longest else ids[:half] + ids[-half:]

    def pieces_with_letters(
        self, word: str, longest: int
    ) -> Tuple[List[int], List[Tuple[int, int]]]:
        """The wordpieces of a word and the letters that each stands for.

        word (str): The word.
        longest (int): Keep no more than this many: the first ones.
        RETURNS (Tuple[List[int], List[Tuple[int, int]]]): Ids of the pieces, and
            first letter and letter after the last one of each.
        """
        found = self.tokenizer.encode(word[:_LETTERS], add_special_tokens=False)
        return found.ids[:longest], found.offsets[:longest]

    def make_encoder(
        self,
        pretrained: Optional[Union[str, Path]],
        dropout: Optional[float] = None,
        precision: str = FLOAT32,
    ) -> "MixedLayers":
        """Make the encoder.

        pretrained (Optional[Union[str, Path]]): Where to read pretrained weights;
            None if weights will be loaded into it.
        dropout (Optional[float]): Dropout rate of its layers in training; None
            for that of its configuration.
        precision (str): What its linear layers multiply in use, one of
            ``quantized.PRECISIONS``.
        RETURNS (MixedLayers): A model of the transformers library, wrapped.
        """
        from transformers import AutoConfig

        own = ("model_type", "first_piece", "last_piece", "longest", "torch_dtype")
        if dropout is not None:
            self.config["hidden_dropout_prob"] = dropout
        config = AutoConfig.for_model(
            self.config["model_type"],
            **{k: v for k, v in self.config.items() if k not in own},
        )
        if pretrained is None:
            with torch.device("meta"), _NoRandomNumbers():
                encoder = _model_class(self.config["model_type"])(config)
            encoder.to_empty(device="cpu")
            # Buffers such as position ids are not among the saved weights.
            for module in encoder.modules():
                for key, buffer in list(module.named_buffers(recurse=False)):
                    if key == "position_ids":
                        buffer.copy_(torch.arange(buffer.shape[-1])[None])
                    elif key == "token_type_ids":
                        buffer.zero_()
        else:
            from transformers import AutoModel

            encoder = AutoModel.from_pretrained(
                str(pretrained), config=config, attn_implementation="sdpa"
            ).float()
            # Word embeddings of rare pieces are better left as they are.
            encoder.get_input_embeddings().requires_grad_(False)
        if hasattr(encoder, "pooler"):
            encoder.pooler = None
        if precision == INT8:
            quantize(encoder)
        return MixedLayers(encoder, int(self.config["num_hidden_layers"]))

    def to_bytes(self) -> bytes:
        """Serialize the files.

        RETURNS (bytes): JSON.
        """
        data = {"config": self.config, "tokenizer": self.tokenizer.to_str()}
        return json.dumps(data, ensure_ascii=False, default=str).encode("utf8")

    @classmethod
    def from_bytes(cls, data: bytes) -> "EncoderFiles":
        """Read them again.

        data (bytes): What ``to_bytes`` gave.
        RETURNS (EncoderFiles): The files.
        """
        return cls(**json.loads(data))


class _NoRandomNumbers(TorchFunctionMode):
    """Tensors on the meta device have no values; torch imports its compiler to draw
    random ones for them."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if func.__name__ in ("normal_", "uniform_", "kaiming_uniform_"):
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)


def _model_class(model_type: str) -> Any:
    """The class that ``AutoModel`` would choose; that one looks through all models."""
    from transformers.models.auto.configuration_auto import model_type_to_module_name
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    module = model_type_to_module_name(model_type)
    name = str(MODEL_MAPPING_NAMES[model_type])
    package = f"transformers.models.{module}.modeling_{module}"
    with without_compiler():
        return getattr(importlib.import_module(package), name)


def _first_not_none(*values: Optional[int]) -> int:
    return next(value for value in values if value is not None)


def lend_layers(
    files: EncoderFiles, weights: Mapping[str, Tensor], layers: int
) -> LentLayers:
    """Pick the lower layers of an encoder.

    files (EncoderFiles): Its files.
    weights (Mapping[str, Tensor]): The weights of its ``MixedLayers``.
    layers (int): How many layers.
    RETURNS (LentLayers): The files and weights.
    RAISES (ValueError): If it has fewer layers.
    """
    if layers > int(files.config["num_hidden_layers"]):
        raise ValueError(
            f"The encoder has {files.config['num_hidden_layers']} layers; {layers} of "
            "them cannot be shared. Set encoder_layers lower."
        )
    config = {**files.config, "num_hidden_layers": layers, "hidden_dropout_prob": 0.0}
    picked: Dict[str, Tensor] = {}
    digest = hashlib.sha256()
    for name in sorted(weights):
        if not name.startswith(_TRANSFORMER):
            continue
        layer = re.search(r"encoder\.layer\.(\d+)\.", name)
        if layer is None or int(layer[1]) < layers:
            weight = weights[name].cpu().half().contiguous()
            picked[name[len(_TRANSFORMER) :]] = weight
            digest.update(weight.numpy().tobytes())
    lent = EncoderFiles(config, files.tokenizer.to_str())
    return LentLayers(lent, picked, digest.hexdigest())

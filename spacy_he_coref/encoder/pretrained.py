"""Pretrained encoders: their configuration, wordpieces and weights."""

import json
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple, Union

import torch
from tokenizers import Tokenizer

# The rest of a longer word would only cost time.
_LETTERS = 200


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
        self, pretrained: Optional[Union[str, Path]], dropout: Optional[float] = None
    ) -> torch.nn.Module:
        """Make the encoder.

        pretrained (Optional[Union[str, Path]]): Where to read pretrained weights;
            None if weights will be loaded into it.
        dropout (Optional[float]): Dropout rate of its layers in training; None
            for that of its configuration.
        RETURNS (torch.nn.Module): A model of the transformers library.
        """
        from transformers import AutoConfig, AutoModel

        own = ("model_type", "first_piece", "last_piece", "longest", "torch_dtype")
        if dropout is not None:
            self.config["hidden_dropout_prob"] = dropout
        config = AutoConfig.for_model(
            self.config["model_type"],
            **{k: v for k, v in self.config.items() if k not in own},
        )
        if pretrained is None:
            with torch.device("meta"):
                encoder = AutoModel.from_config(config, attn_implementation="sdpa")
            encoder.to_empty(device="cpu")
            # Buffers such as position ids are not among the saved weights.
            for module in encoder.modules():
                for key, buffer in list(module.named_buffers(recurse=False)):
                    if key == "position_ids":
                        buffer.copy_(torch.arange(buffer.shape[-1])[None])
                    elif key == "token_type_ids":
                        buffer.zero_()
        else:
            encoder = AutoModel.from_pretrained(
                str(pretrained), config=config, attn_implementation="sdpa"
            ).float()
            # Word embeddings of rare pieces are better left as they are.
            encoder.get_input_embeddings().requires_grad_(False)
        if hasattr(encoder, "pooler"):
            encoder.pooler = None
        return encoder

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


def _first_not_none(*values: Optional[int]) -> int:
    return next(value for value in values if value is not None)

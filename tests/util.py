"""What the tests share: where the corpora are."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# The hand-written corpus that is always there.
TOY = Path(__file__).parent / "corpus" / "data"
TOY_KIBUTZR = TOY / "kibutzr"
TOY_HTB = TOY / "htb"
TOY_IAHLT = [TOY / "iahlt" / "val.jsonl", TOY / "iahlt" / "iaa.jsonl"]


def data_dir() -> Path:
    """The directory of the real corpora; skips the test if there is none.

    RETURNS (Path): The directory that HE_COREF_DATA names, by default
        ``shared/data`` beside the repository.
    """
    path = Path(os.environ.get("HE_COREF_DATA", ROOT.parent / "shared" / "data"))
    if not (path / "kibutzr").is_dir():
        pytest.skip(f"no corpora in {path} (set HE_COREF_DATA)")
    return path


def save_tiny_encoder(path: Path, longest: int = 64) -> Path:
    """Save a tiny BERT whose pieces are single characters.

    path (Path): The directory to save it to.
    longest (int): Pieces that fit in at once.
    RETURNS (Path): The directory.
    """
    import torch
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    letters = [chr(c) for c in range(ord("א"), ord("ת") + 1)] + list('"-.,?!')
    names = ["<s>", "<pad>", "</s>", "<unk>", *letters]
    tokenizer = Tokenizer(
        models.WordLevel({name: i for i, name in enumerate(names)}, unk_token="<unk>")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
    ).save_pretrained(path)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(names),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=longest,
        pad_token_id=1,
    )
    BertModel(config).save_pretrained(path)
    return path

"""Cut the vocabulary of a multilingual encoder down to what Hebrew text needs.

A unigram tokenizer takes the path of pieces with the best sum of scores. As long as
every piece of that path is kept, the segmentation of a text stays as it was, so rows
of the embeddings can be dropped without touching the rest of the model. The shipped
encoder, me5-small-he, was made in this way (design section 4).
"""

import json
import re
import shutil
import tempfile
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Tuple, Union

from tokenizers import Tokenizer

# SentencePiece's mark of the begin of a word.
MARKER = "\u2581"
_BYTE = re.compile(r"<0x[0-9A-F]{2}>")
_SPECIAL = (
    "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token",
    "mask_token",
)  # fmt: skip


class PruneError(ValueError):
    """A model whose vocabulary cannot be cut. The message says why."""


class Pruning(NamedTuple):
    """A smaller tokenizer and where its pieces come from.

    tokenizer (str): The tokenizer in JSON.
    kept (List[int]): For each new id, in order, the old one.
    kinds (Counter[str]): How many pieces were kept for what reason.
    before (int): Pieces of the old tokenizer.
    """

    tokenizer: str
    kept: List[int]
    kinds: "Counter[str]"
    before: int


class Comparison(NamedTuple):
    """How a text is segmented by two tokenizers.

    lines (int): Lines with anything but white space.
    same (int): Lines with the same pieces.
    pieces (int): Pieces of the old tokenizer.
    missing (Counter[str]): Those that the new one does not have.
    """

    lines: int
    same: int
    pieces: int
    missing: "Counter[str]"


def select_pieces(
    vocab: List[Tuple[str, float]],
    special: Iterable[str],
    keep_latin: int,
    byte_fallback: bool = False,
) -> Dict[int, str]:
    """Choose the pieces of a vocabulary that Hebrew text needs.

    vocab (List[Tuple[str, float]]): Pieces and scores, by id.
    special (Iterable[str]): Pieces that are no text, such as ``<pad>``.
    keep_latin (int): Pieces of ASCII with letters to keep: those with the best
        scores, which are the most frequent ones.
    byte_fallback (bool): Whether unknown characters are spelled in bytes.
    RETURNS (Dict[int, str]): Ids to keep, in order, and the reason for each.
    """
    special = frozenset(special)
    latin = [
        i
        for i, (piece, _) in enumerate(vocab)
        if piece not in special and _is_latin(piece.replace(MARKER, ""))
    ]
    latin.sort(key=lambda i: (-vocab[i][1], i))
    frequent = frozenset(latin[: max(keep_latin, 0)])
    # The score of an unknown character is the lowest one less a constant, so
    # without this piece other paths might win.
    ordinary = [i for i, (piece, _) in enumerate(vocab) if piece not in special]
    lowest = min(ordinary, key=lambda i: vocab[i][1], default=-1)
    kept: Dict[int, str] = {}
    for i, (piece, _) in enumerate(vocab):
        text = piece.replace(MARKER, "")
        if piece in special:
            kept[i] = "special"
        elif byte_fallback and _BYTE.fullmatch(piece):
            kept[i] = "bytes"
        elif any(map(_is_hebrew, text)):
            kept[i] = "hebrew"
        elif all(map(_is_symbol, text)):  # also the bare marker
            kept[i] = "digits, punctuation, symbols"
        elif len(text) == 1 and _is_letter(text):
            kept[i] = "single letters"
        elif i in frequent:
            kept[i] = "ascii with letters"
        elif i == lowest:
            kept[i] = "lowest score"
    return kept


def _is_hebrew(letter: str) -> bool:
    return "\u0590" <= letter <= "\u05ff" or "\ufb1d" <= letter <= "\ufb4f"


def _is_letter(letter: str) -> bool:
    """A letter or mark of Latin, Greek, Cyrillic, Armenian or Arabic script."""
    return (
        letter < "\u0590"
        or "\u0600" <= letter <= "\u077f"
        or "\u1e00" <= letter <= "\u1fff"
    )


def _is_symbol(letter: str) -> bool:
    """A digit, punctuation mark or symbol, not of a script that is dropped."""
    if unicodedata.category(letter)[0] not in "NPSZC":
        return False
    return (
        letter < "\u0700"
        or "\u2000" <= letter <= "\u2bff"
        or "\U0001f300" <= letter <= "\U0001faff"
    )


def _is_latin(text: str) -> bool:
    return len(text) > 1 and text.isascii() and any(map(str.isalpha, text))


def prune_tokenizer(tokenizer: str, keep_latin: int) -> Pruning:
    """Cut a unigram tokenizer down to the pieces that Hebrew text needs.

    Its words are parted at white space before the marker is put in, so that the
    offsets of a word's first piece are those of its letters.

    tokenizer (str): The tokenizer in JSON (``tokenizer.json``).
    keep_latin (int): Pieces of ASCII with letters to keep.
    RETURNS (Pruning): The smaller tokenizer.
    RAISES (PruneError): If the vocabulary is not a unigram one.
    """
    data = json.loads(tokenizer)
    model = data["model"]
    # Old files do not name the type; only a unigram model has a list of scores.
    kind = model.get("type") or (
        "Unigram" if isinstance(model.get("vocab"), list) else "unknown"
    )
    if kind != "Unigram":
        raise PruneError(
            f"its vocabulary is of the type {kind}, where the pieces of a word depend "
            "on pieces that would be dropped. Only a unigram vocabulary (of "
            "SentencePiece, as XLM-R has) can be cut down."
        )
    vocab: List[Tuple[str, float]] = [(piece, score) for piece, score in model["vocab"]]
    added = data["added_tokens"]
    outside = [token for token in added if token["id"] >= len(vocab)]
    special = {token["content"] for token in added}
    if model.get("unk_id") is not None:
        special.add(vocab[model["unk_id"]][0])
    reasons = select_pieces(vocab, special, keep_latin, model.get("byte_fallback"))
    inside = list(reasons)
    outside.sort(key=lambda token: token["id"])
    kept = inside + [token["id"] for token in outside]
    new_id = {old: new for new, old in enumerate(kept)}
    model["vocab"] = [vocab[i] for i in inside]
    if model.get("unk_id") is not None:
        model["unk_id"] = new_id[model["unk_id"]]
    for token in added:
        token["id"] = new_id[token["id"]]
    _renumber(data["post_processor"], new_id)
    data["pre_tokenizer"] = _split_at_white_space(data["pre_tokenizer"])
    data["truncation"] = data["padding"] = None
    kinds = Counter(reasons.values())
    kinds["special"] += len(outside)
    return Pruning(
        json.dumps(data, ensure_ascii=False), kept, kinds, len(vocab) + len(outside)
    )


def _renumber(processor: Any, new_id: Dict[int, int]) -> None:
    """Put the new ids into what adds ``<s>`` and ``</s>`` to a text."""
    if processor is None:
        return
    if processor["type"] == "Sequence":
        for part in processor["processors"]:
            _renumber(part, new_id)
    elif processor["type"] == "TemplateProcessing":
        for special in processor["special_tokens"].values():
            special["ids"] = [new_id[i] for i in special["ids"]]
    elif processor["type"] in ("RobertaProcessing", "BertProcessing"):
        for name in ("sep", "cls"):
            token, old = processor[name]
            processor[name] = [token, new_id[old]]


def _split_at_white_space(pre_tokenizer: Any) -> Any:
    if pre_tokenizer is None:
        return None
    parts = [pre_tokenizer]
    if pre_tokenizer["type"] == "Sequence":
        parts = pre_tokenizer["pretokenizers"]
    markers = [part for part in parts if part["type"] == "Metaspace"]
    never = any(part.get("prepend_scheme") == "never" for part in markers)
    if not markers or never or parts[0]["type"].startswith("Whitespace"):
        return pre_tokenizer
    for part in markers:
        # Each word is a text of its own now, and keeps its marker.
        part["prepend_scheme"] = "always"
    return {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, *parts]}


def compare_segmentation(
    before: str, pruning: Pruning, lines: Iterable[str]
) -> Comparison:
    """Compare the pieces that a text has before and after.

    before (str): The old tokenizer in JSON.
    pruning (Pruning): The new one.
    lines (Iterable[str]): The text.
    RETURNS (Comparison): The counts.
    """
    old, new = Tokenizer.from_str(before), Tokenizer.from_str(pruning.tokenizer)
    old.no_truncation()
    old.no_padding()
    kept = frozenset(pruning.kept)
    count = same = pieces = 0
    missing: Counter[str] = Counter()
    for line in lines:
        if not line.strip():
            continue
        count += 1
        # By number: an unknown character is its own letter in a list of tokens.
        expected = old.encode(line, add_special_tokens=False).ids
        found = new.encode(line, add_special_tokens=False).ids
        same += expected == [pruning.kept[i] for i in found]
        pieces += len(expected)
        missing.update(old.id_to_token(i) for i in expected if i not in kept)
    return Comparison(count, same, pieces, missing)


def load_tokenizer(model: Union[str, Path]) -> Any:
    """Read the tokenizer of a model.

    model (Union[str, Path]): Its directory, or its name on the hub.
    RETURNS (PreTrainedTokenizerFast): The tokenizer.
    RAISES (PruneError): If there is none that has a ``tokenizer.json``.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(str(model), use_fast=True)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise PruneError(
            f"its tokenizer cannot be read ({error}). Give a directory with "
            "config.json, tokenizer.json and the weights, or the name of a model on "
            "the hub."
        ) from None
    if not tokenizer.is_fast:
        raise PruneError(
            f"its tokenizer ({type(tokenizer).__name__}) has no tokenizer.json. Save "
            "it with one first (AutoTokenizer with use_fast=True, save_pretrained)."
        )
    return tokenizer


def prune_encoder(
    model: Union[str, Path], output: Union[str, Path], tokenizer: Any, pruning: Pruning
) -> int:
    """Write a model with a smaller vocabulary: 16-bit weights, tokenizer, config.

    The directory is written whole or not at all.

    model (Union[str, Path]): Directory of the model, or its name on the hub.
    output (Union[str, Path]): Directory to write; must not be there, or be empty.
    tokenizer (PreTrainedTokenizerFast): The tokenizer of the model.
    pruning (Pruning): The smaller one.
    RETURNS (int): Parameters of the smaller model.
    RAISES (PruneError): If model and tokenizer do not fit, or the output is there.
    """
    from transformers import PreTrainedTokenizerFast

    output = Path(output)
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise PruneError(f"{output} is there already. Delete it, or name another one.")
    network = _load_network(model)
    _cut_rows(network, tokenizer, pruning.kept)
    new_id = {old: new for new, old in enumerate(pruning.kept)}
    _renumber_config(network.config, new_id)
    smaller: Any = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(pruning.tokenizer),
        model_max_length=tokenizer.model_max_length,
        model_input_names=tokenizer.model_input_names,
        clean_up_tokenization_spaces=False,
        **{name: str(t) for name in _SPECIAL if (t := getattr(tokenizer, name))},
    )
    parameters = sum(tensor.numel() for tensor in network.parameters())
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=".prune-") as temporary:
        folder = Path(temporary) / "model"
        network.half().save_pretrained(folder, safe_serialization=True)
        smaller.save_pretrained(folder)
        # What to load them as, whatever they are on disk: processors compute in it.
        path = folder / "config.json"
        config = json.loads(path.read_text(encoding="utf8"))
        config["torch_dtype"] = "float32"
        path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf8")
        for file in folder.iterdir():
            # safetensors makes files that only their owner may read.
            file.chmod(path.stat().st_mode)
        if output.exists():
            output.rmdir()
        shutil.move(folder, output)
    return parameters


def _load_network(model: Union[str, Path]) -> Any:
    """The model with the head that it was saved with, in 32 bits."""
    import transformers

    try:
        config = transformers.AutoConfig.from_pretrained(str(model))
        names = config.architectures or []
        kind = next((k for n in names if (k := getattr(transformers, n, None))), None)
        load: Callable[..., Any] = (kind or transformers.AutoModel).from_pretrained
        return load(str(model)).float().eval()
    except (OSError, ValueError) as error:
        raise PruneError(f"its weights cannot be read: {error}") from None


def _cut_rows(network: Any, tokenizer: Any, kept: List[int]) -> None:
    """Cut the word embeddings, and the output layer if there is one."""
    import torch

    embeddings = network.get_input_embeddings()
    rows = embeddings.weight.shape[0]
    if max(kept) >= rows:
        raise PruneError(
            f"the tokenizer has a piece number {max(kept)}, but the model only {rows} "
            "embeddings. Give a model with its own tokenizer."
        )
    positions = [
        module
        for name, module in network.named_modules()
        if name.endswith("position_embeddings")
        and isinstance(module, torch.nn.Embedding)
    ]
    padding = tokenizer.pad_token_id
    if any(module.padding_idx is not None for module in positions):
        # RoBERTa counts positions from the id of the padding on.
        if padding is None or kept.index(padding) != padding:
            raise PruneError(
                f"the padding piece (number {padding}) would get another number, from "
                "which this kind of model counts positions. Such a model is not "
                "supported."
            )
    index = torch.tensor(kept)
    layers = [embeddings]
    head = network.get_output_embeddings()
    if head is not None:
        layers.append(head)
    done: Dict[int, Any] = {}
    # Tied weights stay one tensor, wherever they are.
    targets = {
        tensor.data_ptr()
        for layer in layers
        for tensor in (layer.weight, getattr(layer, "bias", None))
        if tensor is not None and tensor.shape[0] == rows
    }
    with torch.no_grad():
        for module in network.modules():
            for name, tensor in list(module.named_parameters(recurse=False)):
                key = tensor.data_ptr()
                if key not in targets:
                    continue
                if key not in done:
                    done[key] = torch.nn.Parameter(tensor[index].clone())
                setattr(module, name, done[key])
    embeddings.num_embeddings = len(kept)
    if embeddings.padding_idx is not None and padding is not None:
        embeddings.padding_idx = kept.index(padding)
    if head is not None and hasattr(head, "out_features"):
        head.out_features = len(kept)


def _renumber_config(config: Any, new_id: Dict[int, int]) -> None:
    config.vocab_size = len(new_id)
    for name, value in config.to_dict().items():
        if name.endswith("_token_id") and isinstance(value, int) and value in new_id:
            setattr(config, name, new_id[value])

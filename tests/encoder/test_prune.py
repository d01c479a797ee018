"""A smaller vocabulary gives the same pieces and vectors for Hebrew."""

import json
from pathlib import Path
from typing import Any, List, Tuple

import pytest
import torch
from safetensors.torch import load_file
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import (
    AutoModel,
    AutoModelForMaskedLM,
    AutoTokenizer,
    BertConfig,
    BertModel,
    PreTrainedTokenizerFast,
    XLMRobertaConfig,
    XLMRobertaForMaskedLM,
)
from typer.testing import CliRunner

from spacy_he_coref.cli.main import app
from spacy_he_coref.encoder.prune import (
    PruneError,
    compare_segmentation,
    prune_tokenizer,
    select_pieces,
)

HEBREW = [
    "הגנן השקה את הפרחים בגינה שליד הבית הישן.",
    "בבוקר קנתה נעמה לחם, גבינה ושתי עגבניות בשוק.",
    'הנהג אמר: "האוטובוס לירושלים יוצא בשעה 8:45".',
    "סבתא אפתה עוגה לנכדיה, והם אכלו אותה בחצר.",
    "ילדי הגן שרו שירים ורקדו במעגל גדול.",
    "הרופאה בדקה את החולה ונתנה לו תרופה חדשה.",
    "בשנת 1987 נפתחה הספרייה של המושבה (בניין 12).",
    "הכלב רדף אחרי החתול עד שזה טיפס על העץ.",
]
OTHERS = [
    "The gardener watered the flowers in the garden beside the house.",
    "The driver said that the bus would leave at noon, and the children sang.",
    "Сторож закрыл ворота сада, и дети пошли домой.",
    "園丁在花園裡澆花。孩子們在唱歌。",
]
ADDED = "<side>"
Source = Tuple[Path, Path]


def make_tokenizer() -> Tokenizer:
    """A unigram tokenizer of the shape of XLM-R's, without the split at spaces."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=420,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        unk_token="<unk>",
        show_progress=False,
    )
    tokenizer.train_from_iterator(HEBREW * 4 + OTHERS * 4, trainer)
    tokenizer.add_special_tokens([AddedToken(ADDED), AddedToken("<mask>", lstrip=True)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    return tokenizer


def save(
    folder: Path, tokenizer: Tokenizer, model: Any, padding: str = "<pad>"
) -> Path:
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=64,
        model_input_names=["input_ids", "attention_mask"],
        bos_token="<s>", eos_token="</s>", cls_token="<s>", sep_token="</s>",
        unk_token="<unk>", pad_token=padding, mask_token="<mask>",
    )  # fmt: skip
    fast.save_pretrained(folder)
    model.eval().save_pretrained(folder)
    return folder


def sizes(rows: int) -> Any:
    return dict(
        vocab_size=rows,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=66,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    """A masked language model with a tied head and spare rows, and a text."""
    folder = tmp_path_factory.mktemp("source")
    torch.manual_seed(0)
    tokenizer = make_tokenizer()
    rows = tokenizer.get_vocab_size() + 5
    model = XLMRobertaForMaskedLM(XLMRobertaConfig(**sizes(rows), type_vocab_size=1))
    torch.nn.init.normal_(model.lm_head.bias)
    text = folder / "text.txt"
    text.write_text("\n".join(HEBREW) + "\n\n", encoding="utf8")
    return save(folder / "model", tokenizer, model), text


def run(*args: object) -> Any:
    return CliRunner().invoke(app, ["encoder", "prune", *map(str, args)])


def vectors(folder: Path, text: str) -> torch.Tensor:
    inputs = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")
    with torch.no_grad():
        return AutoModel.from_pretrained(folder).eval()(**inputs).last_hidden_state


def test_hebrew_is_as_before(source: Source, tmp_path: Path) -> None:
    model, text = source
    output = tmp_path / "deep" / "small"
    result = run(model, output, "--text", text, "--keep-latin", 5, "--strict")
    assert result.exit_code == 0, result.output
    assert f"{len(HEBREW)} of {len(HEBREW)}" in result.output
    before = AutoTokenizer.from_pretrained(model)
    after = AutoTokenizer.from_pretrained(output)
    assert 50 < len(after) < len(before) - 10
    for line in HEBREW:
        assert before.tokenize(line) == after.tokenize(line)
        torch.testing.assert_close(
            vectors(model, line), vectors(output, line), rtol=0, atol=1e-2
        )
    assert (after.pad_token_id, after.model_max_length) == (1, 64)
    assert after.model_input_names == before.model_input_names


def test_weights_are_half_as_large_and_the_head_is_cut(
    source: Source, tmp_path: Path
) -> None:
    model, _ = source
    assert run(model, tmp_path / "small", "--keep-latin", 0).exit_code == 0
    config = json.loads((tmp_path / "small" / "config.json").read_text())
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "small")
    assert config["vocab_size"] == len(tokenizer)
    assert config["torch_dtype"] == "float32"
    weights = load_file(tmp_path / "small" / "model.safetensors")
    assert {tensor.dtype for tensor in weights.values()} == {torch.float16}
    # The tied weights are stored once.
    assert "lm_head.decoder.weight" not in weights
    old_tokenizer = AutoTokenizer.from_pretrained(model)
    old_ids = old_tokenizer.convert_tokens_to_ids(
        tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    )
    assert len(set(old_ids)) == len(old_ids)
    line = HEBREW[0]
    logits = []
    for folder, tok in ((model, old_tokenizer), (tmp_path / "small", tokenizer)):
        network = AutoModelForMaskedLM.from_pretrained(folder).eval()
        with torch.no_grad():
            logits.append(network(**tok(line, return_tensors="pt")).logits)
    torch.testing.assert_close(logits[0][..., old_ids], logits[1], rtol=0, atol=1e-2)


def test_first_pieces_begin_at_their_letters(source: Source, tmp_path: Path) -> None:
    model, _ = source
    run(model, tmp_path / "small")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "small")
    line = "הגנן  השקה את"
    found = tokenizer(line, return_offsets_mapping=True, add_special_tokens=False)
    assert not any(line[start:end][:1].isspace() for start, end in found.offset_mapping)


def test_special_pieces_keep_their_places(source: Source, tmp_path: Path) -> None:
    model, _ = source
    run(model, tmp_path / "small", "--keep-latin", 0)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "small")
    ids = tokenizer(f"הגנן {ADDED} <mask>").input_ids
    assert (ids[0], ids[-1]) == (0, 2)
    assert ids[-3:-1] == [len(tokenizer) - 2, len(tokenizer) - 1]
    assert tokenizer.mask_token_id == len(tokenizer) - 1


def test_what_was_dropped_is_reported(source: Source, tmp_path: Path) -> None:
    model, text = source
    other = tmp_path / "other.txt"
    other.write_text("\n".join(OTHERS), encoding="utf8")
    args = (model, tmp_path / "small", "--text", text, "--text", other)
    result = run(*args, "--keep-latin", 0, "--strict")
    assert result.exit_code == 1
    assert "nothing was written" in result.output
    assert not (tmp_path / "small").exists()
    result = run(*args, "--keep-latin", 0)
    assert result.exit_code == 0
    assert f"{len(HEBREW)} of {len(HEBREW) + len(OTHERS)}" in result.output
    assert "▁garden" in result.output
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "small")
    assert tokenizer("園").input_ids[-2] == tokenizer.unk_token_id


def test_a_letter_that_became_unknown_is_a_difference(source: Source) -> None:
    tokenizer = AutoTokenizer.from_pretrained(source[0]).backend_tokenizer.to_str()
    found = compare_segmentation(tokenizer, prune_tokenizer(tokenizer, 0), ["הגנן 園"])
    assert (found.same, sum(found.missing.values())) == (0, 1)


def test_more_latin_pieces_keep_english(source: Source) -> None:
    tokenizer = AutoTokenizer.from_pretrained(source[0]).backend_tokenizer.to_str()
    english = OTHERS[:2]
    missing = []
    for keep_latin in (0, 5, 1000):
        pruning = prune_tokenizer(tokenizer, keep_latin)
        found = compare_segmentation(tokenizer, pruning, [*english, "", " "])
        assert found.lines == 2
        missing.append(sum(found.missing.values()))
    assert missing[0] > missing[1] > missing[2] == 0
    assert found.same == 2


def test_an_unknown_character_is_not_dropped(source: Source) -> None:
    tokenizer = AutoTokenizer.from_pretrained(source[0]).backend_tokenizer.to_str()
    pruning = prune_tokenizer(tokenizer, 0)
    found = compare_segmentation(tokenizer, pruning, ["הגנן ஔ"])
    assert (found.same, found.missing) == (1, {})


def test_another_architecture(tmp_path: Path) -> None:
    tokenizer = make_tokenizer()
    model = BertModel(BertConfig(**sizes(tokenizer.get_vocab_size())))
    save(tmp_path / "bert", tokenizer, model)
    assert run(tmp_path / "bert", tmp_path / "small").exit_code == 0
    for line in HEBREW[:2]:
        torch.testing.assert_close(
            vectors(tmp_path / "bert", line),
            vectors(tmp_path / "small", line),
            rtol=0,
            atol=1e-2,
        )


@pytest.mark.parametrize(
    "piece, kept",
    [
        ("▁בית", "hebrew"),
        ("שָׁ", "hebrew"),
        ("׳", "hebrew"),
        ("▁", "digits, punctuation, symbols"),
        ("▁1987", "digits, punctuation, symbols"),
        ("…", "digits, punctuation, symbols"),
        ("ж", "single letters"),
        ("▁b", "single letters"),
        ("▁often", "ascii with letters"),
        ("▁seldom", None),
        ("дом", None),
        ("花", None),
        ("<s>", "special"),
    ],
)
def test_choice_of_pieces(piece: str, kept: str) -> None:
    vocab: List[Tuple[str, float]] = [
        ("<s>", 0.0),
        (piece, -9.0 if piece == "▁seldom" else -3.0),
        ("▁common", -5.0),
        ("花園裡", -20.0),
    ]
    found = select_pieces(vocab, ["<s>"], 1)
    assert found.get(1) == kept
    # An unknown character's score depends on it.
    assert found[3] == "lowest score"


def test_bytes_are_kept_where_they_spell_unknown_characters() -> None:
    vocab = [("<0x0A>", 0.0), ("▁x", -1.0)]
    assert select_pieces(vocab, [], 0, byte_fallback=True)[0] == "bytes"


@pytest.mark.parametrize(
    "model", [models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"), models.BPE()]
)
def test_other_vocabularies_are_refused(model: Any) -> None:
    with pytest.raises(PruneError, match="Only a unigram vocabulary") as error:
        prune_tokenizer(Tokenizer(model).to_str(), 10)
    assert type(model).__name__ in str(error.value)


def test_command_says_what_to_do(source: Source, tmp_path: Path) -> None:
    model, _ = source
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    (tmp_path / "empty").mkdir()
    latin1 = tmp_path / "latin1.txt"
    latin1.write_bytes(b"\xe9")
    for args, message in [
        ((model, tmp_path / "full"), "is there already"),
        ((tmp_path / "empty", tmp_path / "new"), "cannot be read"),
        ((model, tmp_path / "new", "--text", "nowhere.txt"), "nowhere.txt"),
        ((model, tmp_path / "new", "--text", latin1), "not UTF-8"),
    ]:
        result = run(*args)
        assert result.exit_code == 1
        assert message in result.output.replace("\n", " ")
        assert "Traceback" not in result.output
        assert not (tmp_path / "new").exists()
    assert run(model, tmp_path / "empty").exit_code == 0


def test_model_and_tokenizer_must_fit(tmp_path: Path) -> None:
    tokenizer = make_tokenizer()
    model = BertModel(BertConfig(**sizes(tokenizer.get_vocab_size() - 5)))
    save(tmp_path / "bert", tokenizer, model)
    result = run(tmp_path / "bert", tmp_path / "small")
    assert result.exit_code == 1
    assert "embeddings" in result.output
    assert not (tmp_path / "small").exists()


def test_positions_that_count_from_the_padding(tmp_path: Path) -> None:
    tokenizer = make_tokenizer()
    padding = tokenizer.token_to_id(ADDED)
    config = XLMRobertaConfig(**sizes(tokenizer.get_vocab_size()))
    config.pad_token_id, config.max_position_embeddings = padding, padding + 66
    save(tmp_path / "model", tokenizer, XLMRobertaForMaskedLM(config), ADDED)
    result = run(tmp_path / "model", tmp_path / "small", "--keep-latin", 0)
    assert result.exit_code == 1
    assert "counts positions" in result.output.replace("\n", " ")
    assert not (tmp_path / "small").exists()

"""The configs of coreference train, and networks of several seeds are joined."""

from pathlib import Path
from typing import Any, List

import numpy as np
import pytest
import spacy
import torch
from spacy.language import Language
from typer.testing import CliRunner

from spacy_he_coref.cli.main import app
from spacy_he_coref.coref.ensemble import join_pipelines
from spacy_he_coref.coref.model import get_network
from spacy_he_coref.training import train as run_training
from tests.coref.helpers import inputs, make_pipeline, write_stories

ROOT = Path(__file__).parents[2]
# Small networks and few steps; the rest is as the configs have it.
OVERRIDES = {
    "components.he_coref.model.span_hidden": 16,
    "components.he_coref.model.hidden": 16,
    "components.he_coref.model.rank": 8,
    "training.max_steps": 3,
    "training.eval_frequency": 2,
}


def read_clusters(nlp: Language) -> List[Any]:
    return [
        [[(span.start, span.end) for span in cluster] for cluster in doc._.coref]
        for doc in nlp.pipe(inputs(nlp))
    ]


@pytest.mark.parametrize("name", ["coref", "coref_dictabert", "coref_alephbert"])
def test_configs_take_steps(name: str, encoder: Path, tmp_path: Path) -> None:
    corpus = write_stories(tmp_path / "stories.spacy")
    overrides = {
        **OVERRIDES,
        "corpora.train.paths": [str(corpus)],
        "corpora.dev.paths": [str(corpus)],
    }
    if name == "coref":
        syntax = make_pipeline(encoder)
        syntax.remove_pipe("he_coref")
        syntax.to_disk(tmp_path / "syntax")
        overrides["paths.syntax"] = str(tmp_path / "syntax")
    else:
        overrides["paths.encoder"] = str(encoder)
        # The tiny encoder takes no more wordpieces at once.
        overrides["components.transformer.model.window"] = 60
    run_training(
        ROOT / "configs" / f"{name}.cfg", tmp_path / "out", overrides=overrides
    )
    nlp = spacy.load(tmp_path / "out" / "model-last")
    assert nlp.pipe_names == ["transformer", "he_coref"]
    assert "coref_f" in nlp.meta["performance"]
    if name == "coref":
        trained: Any = nlp.get_pipe("transformer")
        before: Any = spacy.load(tmp_path / "syntax").get_pipe("transformer")
        assert trained.model.to_bytes() == before.model.to_bytes()


def test_ensemble_of_equals_says_what_one_says(encoder: Path, frozen: Language) -> None:
    copies = []
    for _ in range(2):
        nlp = make_pipeline(encoder, singletons=True, model={"frozen": True})
        for name in nlp.pipe_names:
            pipe: Any = nlp.get_pipe(name)
            own: Any = frozen.get_pipe(name)
            pipe.from_bytes(own.to_bytes())
        copies.append(nlp)
    joined = join_pipelines(copies)
    component: Any = joined.get_pipe("he_coref")
    assert len(get_network(component.model).members) == 2
    assert read_clusters(joined) == read_clusters(frozen)
    assert any(read_clusters(joined))


def test_scores_of_an_ensemble_are_the_means(encoder: Path, tmp_path: Path) -> None:
    members = [
        make_pipeline(encoder, seed, mention_cut=0.01, model={"frozen": True})
        for seed in (0, 0)
    ]
    component: Any = members[1].get_pipe("he_coref")
    with torch.no_grad():
        for weight in get_network(component.model).members.parameters():
            weight.add_(0.01)
    for member in members:
        member.get_pipe("transformer")
    docs = [list(nlp.pipe(inputs(nlp)))[0] for nlp in members]
    single = []
    for nlp, doc in zip(members, docs, strict=True):
        one: Any = nlp.get_pipe("he_coref")
        found = one.predict([doc])[0]
        logits = np.log(found.probabilities / (1 - found.probabilities))
        single.append((found.bounds.tolist(), logits))
    joined = join_pipelines(members)
    both: Any = joined.get_pipe("he_coref")
    found = both.predict([docs[0]])[0]
    logits = np.log(found.probabilities / (1 - found.probabilities))
    # All spans pass the low cut, so they are the same ones everywhere.
    assert single[0][0] == single[1][0] == found.bounds.tolist()
    expected = (single[0][1] + single[1][1]) / 2
    np.testing.assert_allclose(logits, expected, atol=1e-3)
    joined.to_disk(tmp_path)
    loaded: Any = spacy.load(tmp_path).get_pipe("he_coref")
    assert len(get_network(loaded.model).members) == 2


def test_models_that_do_not_fit_are_not_joined(encoder: Path, tmp_path: Path) -> None:
    one = make_pipeline(encoder)
    with pytest.raises(ValueError, match="different sizes"):
        join_pipelines([one, make_pipeline(encoder, model={"hidden": 16})])
    with pytest.raises(ValueError, match="different encoders"):
        join_pipelines([one, _other_encoder(encoder)])
    with pytest.raises(ValueError, match="no he_coref"):
        join_pipelines([one, spacy.blank("he")])
    one.to_disk(tmp_path / "one")
    result = CliRunner().invoke(
        app, ["ensemble", str(tmp_path / "one"), "--output", str(tmp_path / "two")]
    )
    assert result.exit_code == 1
    assert not (tmp_path / "two").exists()


def test_command_joins(encoder: Path, tmp_path: Path) -> None:
    make_pipeline(encoder).to_disk(tmp_path / "one")
    paths = [str(tmp_path / "one")] * 3
    output = tmp_path / "joined"
    options = ["--output", str(output), "--antecedents", "5"]
    result = CliRunner().invoke(app, ["ensemble", *paths, *options])
    assert result.exit_code == 0, result.output
    joined: Any = spacy.load(output).get_pipe("he_coref")
    assert len(get_network(joined.model).members) == 3
    assert joined.model.shims[0].settings["antecedents"] == 5


def _other_encoder(encoder: Path) -> Language:
    nlp = make_pipeline(encoder)
    pipe: Any = nlp.get_pipe("transformer")
    with torch.no_grad():
        next(pipe.model.shims[0].network.parameters()).add_(0.5)
    return nlp

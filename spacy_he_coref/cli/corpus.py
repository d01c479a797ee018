"""``he-coref corpus``: build the training corpora and count them."""

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Dict, Iterable, List, Optional

import typer

from . import fail, load_pipeline

if TYPE_CHECKING:
    from spacy.tokens import Doc

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Build the training corpora from the public ones, and count them.",
)

# What the summary of a build says about each count, in this order.
SUMMARY = {
    "documents": "documents",
    "sentences": "sentences",
    "words": "written words",
    "tokens": "tokens (written segments)",
    "morphemes": "morphemes",
    "covert_articles": "words with a covert article",
    "words_left_whole": "words of several morphemes left whole (spelled otherwise)",
    "tokens_untagged": "tokens whose tags in the scheme of HTB are not known",
    "mentions": "mentions in clusters of two or more",
    "clusters": "clusters of two or more",
    "mentions_with_singletons": "mentions with singletons",
    "entities": "named entities",
    "digits_reversed": "numbers with reversed digits, put right",
    "digits_other": "numbers with other digits than the treebank, put right",
    "clitics_without_underscore": "clitics without underscore, recognised",
    "morphemes_without_tree_node": "morphemes that the treebank lacks",
    "sentences_without_tree": "sentences whose tree is not in the treebank given",
    "words_without_letters": "words whose letters fit no morpheme",
    "words_dropped": "words of the treebank that KibutzR lacks",
    "entities_lost": "named entities lost",
    "mentions_unwritten": "mentions without a letter, lost",
    "mentions_same_in_cluster": "mentions of one cluster that became the same",
    "mentions_same_span": "mentions of different clusters that became the same span",
    "mentions_not_restored": "mentions that do not come back as the same morphemes",
    "coreferent_not_restored": "of these in clusters of two or more",
    "annotations_not_chosen": "annotations not chosen, of several for one document",
    "documents_seen_before": "documents that another file has too, left out",
    "mentions_read": "mentions read",
    "stray_borders": "stray segment borders, ignored",
    "mentions_with_stray_border": "mentions that began or ended in a border, trimmed",
    "mentions_outside_text": "mentions outside the text, dropped",
    "mentions_empty": "mentions of white space only, dropped",
    "mentions_widened": "mentions that cut a segment, widened to it",
    "mentions_twice_in_cluster": "mentions twice in a cluster, kept once",
    "mentions_in_several_clusters": "mentions in several clusters",
    "clusters_of_several_entities": "clusters made of those (several entities at once)",
    "mentions_left_alone": "mentions left alone by that, dropped",
    "sentences_joined_by_mention": "sentence ends inside a mention, ignored",
    "mentions_lost": "mentions lost, singletons among them: no such tokens",
    "coreferent_lost": "of these in clusters of two or more",
    "clusters_lost": "clusters of which less than two mentions are left",
    "mentions_left_single": "mentions left alone in a cluster",
    "coref_candidates": "rule-based candidates, balanced",
    "coref_candidates_recall": "rule-based candidates, recall",
}


@app.command()
def build(
    output: Path = typer.Option(
        ..., "--output", "-o", help="Directory to write to; made if it is not there."
    ),
    kibutzr: Optional[Path] = typer.Option(
        None,
        "--kibutzr",
        help="KibutzR: the hebrew_coreference_data repository, or its data folder.",
    ),
    htb: Optional[Path] = typer.Option(
        None,
        "--htb",
        help="The Hebrew treebank: a folder of *.conllu files, or one such file.",
    ),
    iahlt: Optional[List[Path]] = typer.Option(
        None,
        "--iahlt",
        help="A file (.jsonl) or folder of the IAHLT coreference corpus; repeat.",
    ),
    ud: Optional[List[Path]] = typer.Option(
        None,
        "--ud",
        help="A file or folder of another treebank, for segments and trees; repeat.",
    ),
) -> None:
    """Build the training corpora as .spacy files.

    KibutzR is aligned with the Hebrew treebank, which annotates the same sentences.
    Each split that is there becomes `SPLIT.spacy`: one token per written segment,
    with unwritten morphemes, lemmas, tags, features, trees, named entities, all
    mentions and clusters. IAHLT files become `iahlt.spacy`, other treebanks
    `ud.spacy` with trees converted to the same scheme. `build.json` has the counts
    that are printed.

    ```
    he-coref corpus build --kibutzr hebrew_coreference_data --htb UD_Hebrew-HTB \\
        --output corpora
    he-coref corpus build --kibutzr KIBUTZR --htb HTB --iahlt val.jsonl \\
        --iahlt iaa.jsonl --output corpora
    ```

    The treebank must have full pronouns (`_הוא`), as all versions but those of 2021
    have. If a corpus file has to be put right first, nothing is written, and the
    message names the file, the line and what to do.
    """
    from ..corpus.build import build_corpus
    from ..corpus.conllu import CorpusError

    if (kibutzr is None) != (htb is None):
        fail("--kibutzr and --htb need each other: give both directories.")
    if kibutzr is None and not iahlt and not ud:
        fail("nothing to build: give --kibutzr and --htb, --iahlt or --ud.")
    try:
        counts = build_corpus(output, kibutzr, htb, iahlt or (), ud or ())
    except (CorpusError, OSError) as error:
        fail(str(error))
    for name, found in counts.items():
        typer.echo(f"{output / name}.spacy")
        typer.echo(_format_counts(found))


def _format_counts(counts: Dict[str, int]) -> str:
    rows = [
        (f"{counts[key]:,}", text) for key, text in SUMMARY.items() if key in counts
    ]
    return "\n".join(f"{number:>10}  {text}" for number, text in rows)


@app.command()
def stats(
    directory: Path = typer.Argument(
        ..., help="A built corpus (*.spacy), or a KibutzR directory."
    ),
    json_file: Optional[Path] = typer.Option(
        None, "--json", help="Write the figures to this file too."
    ),
    figure: Optional[Path] = typer.Option(
        None, "--figure", help="Draw the histogram as this .svg or .png file too."
    ),
) -> None:
    """Print the KibutzR paper's Table 1 and its Figure 1 for a corpus.

    The table has documents, sentences, morphemes, mentions and clusters of each
    split; mentions are those in clusters of two or more unless it says *with
    singletons*, and widths are in morphemes. The figure is a histogram of sentences
    per document.

    ```
    he-coref corpus stats corpora
    he-coref corpus stats hebrew_coreference_data --json stats.json
    he-coref corpus stats corpora --figure figure1.svg
    ```

    The figure file needs matplotlib (`pip install 'spacy_he_coref[plots]'`).
    """
    import srsly

    from ..corpus.conllu import CorpusError
    from ..corpus.stats import (
        draw_histogram,
        format_histogram,
        format_table,
        statistics,
    )

    if figure is not None and figure.suffix.lower() not in (".svg", ".png"):
        fail(f"the figure {figure} must end in .svg or .png.")
    try:
        found = statistics(directory)
        typer.echo(format_table(found["table"]))
        typer.echo("")
        typer.echo(format_histogram(found["sentences_per_document"]))
        if json_file is not None:
            json_file.parent.mkdir(parents=True, exist_ok=True)
            srsly.write_json(json_file, found)
        if figure is not None:
            draw_histogram(found["sentences_per_document"], figure)
    except (CorpusError, ImportError, OSError) as error:
        fail(str(error))


@app.command()
def lexicon(
    output: Path = typer.Argument(..., help="The file to write, ending in .tsv.gz."),
) -> None:
    """Write the word list that the segmenter learns with.

    It has the 590,000 Hebrew words and frequencies of the package wordfreq (data under
    CC BY-SA 4.0; its sources are Wikipedia, subtitles, news, books and the web), which
    tell a host from letters that only look like one: שסילבר is rare, סילבר is not.

    ```
    he-coref corpus lexicon corpora/lexicon.tsv.gz
    ```

    It needs wordfreq (`pip install 'spacy_he_coref[train]'`).
    """
    from ..segmenter.lexicon import wordfreq_lexicon, write_lexicon

    try:
        words = wordfreq_lexicon()
        output.parent.mkdir(parents=True, exist_ok=True)
        write_lexicon(output, words)
    except (ImportError, OSError) as error:
        fail(str(error))
    typer.echo(f"{output}: {len(words):,} words")


class Clusters(str, Enum):
    """Whose clusters annotated documents have."""

    gold = "gold"
    predicted = "predicted"


class GivenToAnnotate(str, Enum):
    """What the pipeline gets of a gold document."""

    segments = "segments"
    text = "text"


@app.command()
def annotate(
    model: str = typer.Argument(..., help="Model package, or a pipeline's directory."),
    corpus: Path = typer.Argument(..., help="A .spacy file with gold clusters."),
    output: Path = typer.Argument(..., help="The .spacy file to write."),
    given: GivenToAnnotate = typer.Option(
        ..., "--given", help="What the pipeline gets of each document."
    ),
    clusters: Clusters = typer.Option(
        "gold", "--clusters", help="Whose clusters the documents have."
    ),
    noise: float = typer.Option(
        0.0,
        "--noise",
        min=0.0,
        help="With --given text, let the segmenter err: the temperature at which it "
        "draws analyses.",
        show_default=False,
    ),
    fold: Optional[str] = typer.Option(
        None, "--fold", metavar="K/N", help="Only the documents of the fold K of N."
    ),
    ids: Optional[Path] = typer.Option(
        None, "--ids", help="Only the documents whose ids are in this file, one a line."
    ),
) -> None:
    """Replace gold tags and trees of a corpus by predicted ones; clusters stay gold,
    or are predicted too.

    Coreference is trained on such a corpus, because in use it gets predicted annotation
    too. The documents have the rule-based candidates as well, in the span groups
    `coref_candidates` (setting *balanced*) and `coref_candidates_recall`.

    * `--given segments` keeps gold segments and sentences.
    * `--given text` gives the pipeline nothing but the text. Gold mentions become the
      tokens with the same first and last letter; those without such tokens are lost,
      and counted.

    ```
    he-coref corpus annotate he_coref corpora/train.spacy train_segments.spacy \\
        --given segments
    he-coref corpus annotate he_coref corpora/dev.spacy dev_text.spacy \\
        --given text
    ```

    **Noise.** A segmenter is hardly ever wrong on the documents it was trained on. With
    `--noise` it draws analyses by their probabilities, so that coreference sees errors
    such as it will get; the lost mentions that are counted say how many there are.

    ```
    he-coref corpus annotate he_coref corpora/train.spacy corpora/train_noisy.spacy \\
        --given text --noise 2.8
    ```

    **Self-training.** With `--clusters predicted` the clusters are those of the
    pipeline, singletons too, and the documents count as of the first corpus that its
    `he_coref` knows. A model that is trained on them beside gold ones learns from texts
    that nobody annotated by these guidelines, and what an ensemble knows.

    ```
    he-coref corpus annotate he_coref corpora/iahlt.spacy corpora/iahlt_labels.spacy \\
        --given segments --clusters predicted
    ```

    **Jackknifing.** A model's trees are nearly gold on the documents it was trained
    on. To get trees as they will be on other texts, train it N times, each time without
    one fold, and annotate that fold with it. All parts of an article (`htb:12_1` to
    `htb:12_7`) are in one fold, the same one for `leave_out` of the reader and `--fold`
    here. The N files together are the corpus.

    ```
    he-coref train configs/syntax.cfg --output fold1 --corpora.train.leave_out 1/5
    he-coref corpus annotate fold1/model-best corpora/train.spacy train_1.spacy \\
        --given segments --fold 1/5
    ```
    """
    from collections import Counter

    from spacy.tokens import DocBin
    from tqdm import tqdm

    from ..corpus.annotate import annotate_docs
    from ..corpus.docs import TREE_ATTRS
    from .evaluate import read_corpus

    nlp = load_pipeline(model)
    docs = _choose(read_corpus(corpus, nlp), corpus, fold, ids)

    def track(predicted: "Iterable[Doc]") -> "Iterable[Doc]":
        return tqdm(
            predicted, total=len(docs), unit=" documents", delay=2, disable=None
        )

    counts: Counter[str] = Counter()
    docbin = DocBin(attrs=TREE_ATTRS, store_user_data=True)
    try:
        for doc in annotate_docs(
            nlp,
            docs,
            given.value,
            counts,
            clusters=clusters.value,
            noise=noise,
            track=track,
        ):
            docbin.add(doc)
        output.parent.mkdir(parents=True, exist_ok=True)
        docbin.to_disk(output)
    except (OSError, ValueError) as error:
        fail(str(error))
    typer.echo(str(output))
    typer.echo(_format_counts(counts))


def _choose(
    docs: "List[Doc]", corpus: Path, fold: Optional[str], ids: Optional[Path]
) -> "List[Doc]":
    from ..corpus.reader import in_fold
    from ..segmenter.letters import describe_doc

    if ids is not None:
        try:
            lines = ids.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            fail(f"cannot read {ids}: {error}")
        wanted = {line.strip() for line in lines} - {""}
        unknown = sorted(wanted - {describe_doc(doc) for doc in docs})
        if unknown:
            fail(f"{corpus} has no document {unknown[0]!r}, which {ids} names.")
        docs = [doc for doc in docs if describe_doc(doc) in wanted]
    if fold is not None:
        try:
            docs = [doc for doc in docs if in_fold(doc, fold)]
        except ValueError as error:
            fail(f"--fold: {error}")
    if not docs:
        fail(f"{corpus} has no such documents: nothing to annotate.")
    return docs

"""Build the training corpora: ``he-coref corpus build``."""

import json
import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Union

import spacy
from spacy.tokens import DocBin
from tqdm import tqdm

from .alignment import Treebank, align_document
from .conllu import CorpusError
from .docs import TREE_ATTRS, make_doc
from .iahlt import IAHLT_ATTRS, make_iahlt_docs
from .kibutzr import find_kibutzr, read_kibutzr
from .ud import make_ud_docs


def build_corpus(
    output: Union[str, Path],
    kibutzr: Optional[Union[str, Path]] = None,
    htb: Optional[Union[str, Path]] = None,
    iahlt: Sequence[Union[str, Path]] = (),
    ud: Sequence[Union[str, Path]] = (),
) -> Dict[str, Dict[str, int]]:
    """Build the training corpora (issue "The ground", section 2).

    Files are written when everything has gone well: after an error the output
    directory is as it was.

    output (Union[str, Path]): Directory for ``SPLIT.spacy``, ``iahlt.spacy``,
        ``ud.spacy`` and ``build.json``.
    kibutzr (Optional[Union[str, Path]]): Directory of KibutzR.
    htb (Optional[Union[str, Path]]): Directory of the Hebrew treebank.
    iahlt (Sequence[Union[str, Path]]): Files of the IAHLT coreference corpus, or
        directories of them.
    ud (Sequence[Union[str, Path]]): Files of other treebanks, or directories of
        them. Their trees are converted to the scheme of HTB.
    RETURNS (Dict[str, Dict[str, int]]): The counts of each file.
    RAISES (CorpusError): If a corpus file has to be put right first.
    """
    vocab = spacy.blank("he").vocab
    bins: Dict[str, DocBin] = {}
    counts: Dict[str, Counter[str]] = {}
    if kibutzr is not None and htb is not None:
        splits = find_kibutzr(kibutzr)
        treebank = Treebank.from_directory(htb)
        progress = tqdm(
            total=sum(len(files) for files in splits.values()),
            desc="KibutzR",
            unit="doc",
            delay=2,
            disable=None,
        )
        with progress:
            for split, files in splits.items():
                bins[split] = DocBin(attrs=TREE_ATTRS, store_user_data=True)
                counts[split] = Counter()
                for path in files:
                    document = read_kibutzr(path)
                    aligned = align_document(document, treebank, split == "train")
                    bins[split].add(
                        make_doc(vocab, document, aligned, split, counts[split])
                    )
                    progress.update()
    iahlt = _find_files(iahlt, "*.jsonl")
    ud = _find_files(ud, "*.conllu")
    if iahlt:
        bins["iahlt"] = DocBin(attrs=IAHLT_ATTRS, store_user_data=True)
        counts["iahlt"] = Counter()
        for doc in make_iahlt_docs(vocab, iahlt, counts["iahlt"]):
            bins["iahlt"].add(doc)
    if ud:
        bins["ud"] = DocBin(attrs=TREE_ATTRS, store_user_data=True)
        counts["ud"] = Counter()
        for doc in make_ud_docs(vocab, ud, counts["ud"]):
            bins["ud"].add(doc)
    plain = {name: dict(sorted(count.items())) for name, count in counts.items()}
    files_out = {f"{name}.spacy": docbin.to_bytes() for name, docbin in bins.items()}
    files_out["build.json"] = json.dumps(plain, indent=2).encode("utf8")
    _write_all(Path(output), files_out)
    return plain


def _find_files(
    paths: Sequence[Union[str, Path]], pattern: str
) -> List[Union[str, Path]]:
    """Files as they are given, and those of the directories that are given."""
    found: List[Union[str, Path]] = []
    for path in paths:
        if not Path(path).is_dir():
            found.append(path)
            continue
        files = sorted(Path(path).glob(pattern))
        if not files:
            raise CorpusError(path, None, f"there is no {pattern} in this directory.")
        found.extend(files)
    return found


def _write_all(output: Path, files: Dict[str, bytes]) -> None:
    """Write all files, or none."""
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output, prefix=".build-") as temporary:
        for name, data in files.items():
            (Path(temporary) / name).write_bytes(data)
        for name in files:
            os.replace(Path(temporary) / name, output / name)

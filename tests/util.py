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

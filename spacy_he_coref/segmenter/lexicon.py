"""Compact tables from a word to a number: frequencies and counts.

Words are kept as 32-bit hashes, so that half a million of them take three
megabytes and no time to load. A word that is not in the table is taken for
another one about once in ten thousand look-ups, which a statistical feature
can bear.
"""

import gzip
from pathlib import Path
from typing import Dict, Mapping, Sequence, Union
from zlib import crc32

import numpy as np


class WordTable:
    """Numbers from 0 to 25.5 for many words, in steps of a tenth."""

    def __init__(self, values: Mapping[str, float]) -> None:
        """Make a table.

        values (Mapping[str, float]): The number of each word. What is out of
            range is cut to it.
        """
        hashed: Dict[int, float] = {}
        for word, value in values.items():
            key = crc32(word.encode("utf8"))
            hashed[key] = max(value, hashed.get(key, 0.0))
        keys = np.fromiter(hashed.keys(), dtype=np.uint32, count=len(hashed))
        numbers = np.fromiter(hashed.values(), dtype=np.float64, count=len(hashed))
        order = np.argsort(keys)
        self._keys = keys[order]
        self._values = np.clip(np.rint(numbers[order] * 10), 0, 255).astype(np.uint8)

    def __len__(self) -> int:
        return len(self._keys)

    def lookup(self, words: Sequence[str]) -> np.ndarray:
        """Find the numbers of words.

        words (Sequence[str]): The words.
        RETURNS (np.ndarray): Their numbers, float32 of shape (words,); 0 for a
            word that is not in the table.
        """
        if not len(self._keys) or not words:
            return np.zeros(len(words), dtype=np.float32)
        hashes = np.fromiter(
            (crc32(word.encode("utf8")) for word in words), np.uint32, len(words)
        )
        places = np.searchsorted(self._keys, hashes)
        places[places == len(self._keys)] = 0
        found = self._keys[places] == hashes
        return np.where(found, self._values[places], 0).astype(np.float32) / 10

    def to_bytes(self) -> bytes:
        """Serialize the table.

        RETURNS (bytes): Keys and values, one after the other.
        """
        return self._keys.astype("<u4").tobytes() + self._values.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> "WordTable":
        """Load a table.

        data (bytes): What ``to_bytes`` gave.
        RETURNS (WordTable): The table.
        """
        table = cls({})
        count, rest = divmod(len(data), 5)
        if rest:
            raise ValueError("The data of a word table is cut off; save it again.")
        table._keys = np.frombuffer(data[: 4 * count], dtype="<u4").astype(np.uint32)
        table._values = np.frombuffer(data[4 * count :], dtype=np.uint8)
        return table


def wordfreq_lexicon(language: str = "he") -> Dict[str, float]:
    """The word frequencies of the package wordfreq, as numbers from 0.5 to 5.

    language (str): The language.
    RETURNS (Dict[str, float]): 5 is for a word of every hundredth word of a
        text, 1 less for every factor of a hundred.
    RAISES (ImportError): If wordfreq is not installed; says how to get it.
    """
    try:
        import wordfreq
    except ImportError as error:
        raise ImportError(
            "The lexicon is made from the package wordfreq. Install it with: "
            "pip install 'spacy_he_coref[train]'"
        ) from error
    bands = wordfreq.get_frequency_list(language, wordlist="large")
    # wordfreq keeps a list of words for each centibel below certainty.
    return {
        word: max(0.5, 6 - centibels / 200)
        for centibels, words in enumerate(bands)
        for word in words
    }


def write_lexicon(path: Union[str, Path], values: Mapping[str, float]) -> None:
    """Write a lexicon as a gzipped file of ``word<TAB>number`` lines.

    path (Union[str, Path]): The file.
    values (Mapping[str, float]): The number of each word.
    """
    with gzip.open(path, "wt", encoding="utf8", newline="\n") as file:
        for word in sorted(values):
            file.write(f"{word}\t{values[word]:.2f}\n")


def read_lexicon(path: Union[str, Path]) -> Dict[str, float]:
    """Read a lexicon.

    path (Union[str, Path]): A file as ``write_lexicon`` makes it.
    RETURNS (Dict[str, float]): The number of each word.
    RAISES (ValueError): If a line is not a word, a tab and a number.
    """
    values: Dict[str, float] = {}
    with gzip.open(path, "rt", encoding="utf8") as file:
        for number, line in enumerate(file, 1):
            word, tab, value = line.rstrip("\n").partition("\t")
            try:
                values[word] = float(value)
            except ValueError as error:
                raise ValueError(
                    f"{path}:{number}: expected a word, a tab and a number. Make the "
                    "lexicon again with 'he-coref corpus lexicon'."
                ) from error
    return values

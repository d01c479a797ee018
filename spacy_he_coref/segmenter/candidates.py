"""Which analyses of a word are possible, and what is known about each.

An analysis is chosen in two steps. First a pair of a prefix pattern (ו+ב+ה_)
and a suffix pattern (_של_+_הוא, written ו) is chosen among those of the
training data that fit the first and last letters of the word; then, where there
is a suffix, the edit that turns the letters of the host into its base form
(אדמת to אדמה). Patterns and edits make up the ``Inventory``. The known facts
are features of the network: how frequent the host is by itself and with other
prefixes, in a large word list and among the hosts of the training data.
"""

from collections import Counter
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple
from zlib import crc32

import numpy as np

from ..tokens import CLITIC, COVERT_ARTICLE, HOST, PREFIX, Analysis, Morpheme
from .lexicon import WordTable
from .normalize import has_hebrew, normalize_word

# Longer words are left whole: no Hebrew word with its prefixes comes near.
MAX_LETTERS = 40
# Sizes of what is hashed: prefixes and suffixes of a word up to this length.
AFFIX_LENGTHS = (1, 2, 3, 4)
GRAMS = 1 + 2 * len(AFFIX_LENGTHS)
FACTS = 17
EDIT_FACTS = 3
_CACHE_SIZE = 20_000

_FINAL = {"כ": "ך", "מ": "ם", "נ": "ן", "פ": "ף", "צ": "ץ"}


class Suffix(NamedTuple):
    """A suffix pattern: morphemes and the letters that they share.

    forms (Tuple[str, ...]): The morphemes; none for a word without suffix.
    letters (str): The letters, all of the last morpheme.
    """

    forms: Tuple[str, ...]
    letters: str


class Edit(NamedTuple):
    """How the base form of a host is made from its letters before a suffix.

    head (int): Letters to take off its beginning (the ל of an infinitive).
    tail (str): Letters to take off its end.
    add (str): Letters to put at its end.
    """

    head: int
    tail: str
    add: str

    def apply(self, host: str) -> Optional[str]:
        """Make the base form.

        host (str): Letters of the host.
        RETURNS (Optional[str]): The base form; None if the edit does not fit.
        """
        if not host.endswith(self.tail) or (self.head and not host.startswith("ל")):
            return None
        return host[self.head : len(host) - len(self.tail)] + self.add or None


NO_PREFIX: Tuple[str, ...] = ()
NO_SUFFIX = Suffix((), "")


class Label(NamedTuple):
    """What an analysis is made of: prefixes, suffix, and edit of the host."""

    prefix: Tuple[str, ...]
    suffix: Suffix
    edit: Optional[Edit]
    host: str


def make_label(word: str, analysis: Analysis) -> Optional[Label]:
    """Take an analysis apart.

    word (str): The written word.
    analysis (Analysis): Its morphemes.
    RETURNS (Optional[Label]): None for what no pattern can express: two hosts,
        letters that were not assigned, a host in another spelling.
    """
    if len(analysis) == 1:
        form = analysis[0].form
        return Label(NO_PREFIX, NO_SUFFIX, None, word) if form == word else None
    hosts = [m for m in analysis if m.kind == HOST]
    if len(hosts) != 1 or hosts[0].start is None:
        return None
    prefix = tuple(m.form for m in analysis if m.kind == PREFIX)
    suffixes = [m for m in analysis if m.kind == CLITIC]
    unwritten = [m for m in suffixes if not m.written]
    if suffixes and (len(unwritten) != len(suffixes) - 1 or not suffixes[-1].written):
        return None
    if any(not m.written and m.form != COVERT_ARTICLE for m in analysis[: len(prefix)]):
        return None
    host = word[hosts[0].start : hosts[0].end]
    if not suffixes:
        if hosts[0].form != host:
            return None
        return Label(prefix, NO_SUFFIX, None, host)
    suffix = Suffix(
        tuple(m.form for m in suffixes), word[suffixes[-1].start : suffixes[-1].end]
    )
    return Label(prefix, suffix, _make_edit(host, hosts[0].form), host)


def _make_edit(host: str, base: str) -> Edit:
    shared = _shared_letters(host, base)
    if shared < 2 and host.startswith("ל") and len(host) > 2:
        # להציג + ו has the base הציג.
        inner = _shared_letters(host[1:], base)
        if inner:
            return Edit(1, host[1 + inner :], base[inner:])
    return Edit(0, host[shared:], base[shared:])


def _shared_letters(a: str, b: str) -> int:
    length = 0
    while length < min(len(a), len(b)) and a[length] == b[length]:
        length += 1
    return length


def _letters(prefix: Sequence[str]) -> str:
    return "".join(form for form in prefix if form != COVERT_ARTICLE)


class Candidates(NamedTuple):
    """The possible analyses of one word, and what the network reads of it.

    word (str): The word in its one spelling.
    offsets (Tuple[int, ...]): Where its letters stand in the word as typed.
    grams (np.ndarray): Hashes of the word and its affixes, int64 of (GRAMS,).
    prefixes (np.ndarray): Prefix pattern of each candidate, int64 of (n,).
    suffixes (np.ndarray): Suffix pattern of each, int64 of (n,).
    hosts (List[str]): Letters of the host of each.
    host_hashes (np.ndarray): int64 of (n,).
    facts (np.ndarray): float32 of (n, FACTS); the first two are a tenth of the
        count of the host among the hosts and the words of the training data.
    """

    word: str
    offsets: Tuple[int, ...]
    grams: np.ndarray
    prefixes: np.ndarray
    suffixes: np.ndarray
    hosts: List[str]
    host_hashes: np.ndarray
    facts: np.ndarray


class Inventory:
    """The patterns and edits of a training corpus, and the tables of words."""

    def __init__(
        self,
        prefixes: Sequence[Tuple[str, ...]],
        suffixes: Sequence[Suffix],
        edits: Sequence[Edit],
        tables: Dict[str, WordTable],
        hash_rows: int,
    ) -> None:
        """Make an inventory.

        prefixes (Sequence[Tuple[str, ...]]): Prefix patterns, the empty one too.
        suffixes (Sequence[Suffix]): Suffix patterns, the empty one too.
        edits (Sequence[Edit]): Edits from host to base form.
        tables (Dict[str, WordTable]): ``lexicon``, a large word list; ``hosts``,
            ``words`` and ``bases``, counts in the training data.
        hash_rows (int): Rows of the tables of hash embeddings.
        """
        self.prefixes = [tuple(p) for p in prefixes]
        self.suffixes = [Suffix(tuple(forms), s) for forms, s in suffixes]
        self.edits = [Edit(*edit) for edit in edits]
        self.tables = tables
        self.hash_rows = hash_rows
        self.prefix_index = {p: i for i, p in enumerate(self.prefixes)}
        self.suffix_index = {s: i for i, s in enumerate(self.suffixes)}
        self.edit_index = {e: i for i, e in enumerate(self.edits)}
        self._by_start: Dict[str, List[int]] = {}
        for i, prefix in enumerate(self.prefixes):
            self._by_start.setdefault(_letters(prefix), []).append(i)
        self._by_end: Dict[str, List[int]] = {}
        for i, suffix in enumerate(self.suffixes):
            self._by_end.setdefault(suffix.letters, []).append(i)
        self._longest_start = max(map(len, self._by_start))
        self._longest_end = max(map(len, self._by_end))
        self._cache: Dict[str, Candidates] = {}

    @classmethod
    def learn(
        cls,
        words: Iterable[Tuple[str, Analysis]],
        lexicon: Dict[str, float],
        hash_rows: int,
        min_count: int = 1,
    ) -> "Inventory":
        """Collect the inventory of a training corpus.

        words (Iterable[Tuple[str, Analysis]]): Words and their gold analyses.
        lexicon (Dict[str, float]): Numbers of a large word list (see
            ``lexicon.wordfreq_lexicon``); may be empty.
        hash_rows (int): Rows of the tables of hash embeddings.
        min_count (int): How often a pattern or edit must occur.
        RETURNS (Inventory): The inventory.
        """
        prefixes: Counter[Tuple[str, ...]] = Counter({NO_PREFIX: min_count})
        suffixes: Counter[Suffix] = Counter({NO_SUFFIX: min_count})
        edits: Counter[Edit] = Counter({Edit(0, "", ""): min_count})
        hosts: Counter[str] = Counter()
        whole: Counter[str] = Counter()
        bases: Counter[str] = Counter()
        for text, analysis in words:
            word = normalize_word(text).text
            whole[word] += 1
            bases.update(m.form for m in analysis)
            label = make_label(text, analysis)
            if label is None:
                continue
            prefixes[label.prefix] += 1
            suffixes[label.suffix] += 1
            hosts[label.host] += 1
            if label.edit is not None:
                edits[label.edit] += 1
        tables = {
            "lexicon": WordTable(lexicon),
            "hosts": WordTable(_as_numbers(hosts)),
            "words": WordTable(_as_numbers(whole)),
            "bases": WordTable(_as_numbers(bases)),
        }
        return cls(
            sorted(p for p, n in prefixes.items() if n >= min_count),
            sorted(s for s, n in suffixes.items() if n >= min_count),
            sorted(e for e, n in edits.items() if n >= min_count),
            tables,
            hash_rows,
        )

    def to_dict(self) -> Dict[str, Any]:
        """The patterns as plain lists, without the tables.

        RETURNS (Dict[str, Any]): What ``from_dict`` takes.
        """
        return {
            "prefixes": [list(p) for p in self.prefixes],
            "suffixes": [[list(s.forms), s.letters] for s in self.suffixes],
            "edits": [list(e) for e in self.edits],
            "hash_rows": self.hash_rows,
        }

    @classmethod
    def from_dict(
        cls, data: Dict[str, Any], tables: Dict[str, WordTable]
    ) -> "Inventory":
        """Make an inventory from plain lists.

        data (Dict[str, Any]): What ``to_dict`` gave.
        tables (Dict[str, WordTable]): The tables of words.
        RETURNS (Inventory): The inventory.
        """
        return cls(
            [tuple(p) for p in data["prefixes"]],
            [Suffix(tuple(forms), letters) for forms, letters in data["suffixes"]],
            [Edit(*edit) for edit in data["edits"]],
            tables,
            data["hash_rows"],
        )

    def hash(self, text: str) -> int:
        """The row of a text in the tables of hash embeddings.

        text (str): The text.
        RETURNS (int): A number below ``hash_rows``.
        """
        return crc32(text.encode("utf8")) % self.hash_rows

    def candidates(self, typed: Sequence[str]) -> List[Candidates]:
        """The possible analyses of words.

        typed (Sequence[str]): Words as they stand in the text.
        RETURNS (List[Candidates]): For each, at least one candidate: the word as a
            whole.
        """
        known = self._cache
        missing = {word for word in typed if word not in known}
        if missing:
            made = self._make_candidates(sorted(missing))
            if len(known) + len(made) > _CACHE_SIZE:
                # A new one, for threads that are reading the old one.
                known = self._cache = {}
                made = self._make_candidates(sorted(set(typed)))
            known.update(made)
        output = [known[word] for word in typed]
        for word in missing:
            if len(word) > MAX_LETTERS:
                known.pop(word, None)
        return output

    def _make_candidates(self, words: Sequence[str]) -> Dict[str, Candidates]:
        """Make the candidates of many words at once, with few look-ups."""
        normal = [normalize_word(word) for word in words]
        rows = [self._rows(word.text) for word in normal]
        facts = self._facts([word.text for word in normal], rows)
        output: Dict[str, Candidates] = {}
        for typed, (word, offsets), own, known in zip(
            words, normal, rows, facts, strict=True
        ):
            # Letters past the first ones of a very long token say nothing.
            short = word[:MAX_LETTERS]
            grams = ["w" + short]
            for size in AFFIX_LENGTHS:
                grams += [f"p{size}{short[:size]}", f"s{size}{short[-size:]}"]
            hosts = [host for _, _, host in own]
            hashes = {host: self.hash("h" + host[:MAX_LETTERS]) for host in set(hosts)}
            output[typed] = Candidates(
                word,
                offsets,
                np.array([self.hash(gram) for gram in grams], dtype=np.int64),
                np.array([p for p, _, _ in own], dtype=np.int64),
                np.array([s for _, s, _ in own], dtype=np.int64),
                hosts,
                np.array([hashes[host] for host in hosts], dtype=np.int64),
                known,
            )
        return output

    def _rows(self, word: str) -> List[Tuple[int, int, str]]:
        """Prefix pattern, suffix pattern and host of each candidate of a word."""
        length = len(word)
        rows: List[Tuple[int, int, str]] = []
        if length <= MAX_LETTERS and has_hebrew(word):
            for start in range(min(self._longest_start, length - 1) + 1):
                prefixes = self._by_start.get(word[:start])
                if prefixes is None:
                    continue
                for end in range(min(self._longest_end, length - start - 1) + 1):
                    suffixes = self._by_end.get(word[length - end :])
                    if suffixes is None:
                        continue
                    host = word[start : length - end]
                    rows.extend((p, s, host) for p in prefixes for s in suffixes)
        if not rows:
            whole = (self.prefix_index[NO_PREFIX], self.suffix_index[NO_SUFFIX], word)
            rows = [whole]
        return rows

    def _facts(
        self, words: Sequence[str], rows: List[List[Tuple[int, int, str]]]
    ) -> List[np.ndarray]:
        """What is known of each candidate of each word."""
        # Candidates that differ in an article or a pattern only share their host.
        places: Dict[Tuple[str, str], int] = {}
        hosts: List[str] = []
        neighbours: List[str] = []
        place: List[int] = []
        for own in rows:
            for _, suffix, host in own:
                pair = (host, self.suffixes[suffix].letters)
                at = places.get(pair)
                if at is None:
                    at = places[pair] = len(hosts)
                    hosts.append(host)
                    neighbours += _neighbours(host, pair[1]) if host else [""] * 12
                place.append(at)
        unique = np.zeros((len(hosts), FACTS), dtype=np.float32)
        unique[:, 0] = self.tables["hosts"].lookup(hosts)
        unique[:, 1] = self.tables["words"].lookup(hosts)
        unique[:, 2] = [min(len(host), MAX_LETTERS) / 5 for host in hosts]
        lexicon = self.tables["lexicon"]
        unique[:, 5:] = lexicon.lookup(neighbours).reshape(len(hosts), FACTS - 5)
        facts = unique[place]
        counts = [len(own) for own in rows]
        facts[:, 3] = np.repeat(lexicon.lookup(words), counts)
        definite = lexicon.lookup(["ה" + word for word in words])
        facts[:, 4] = np.repeat(definite, counts)
        # A word with no choice needs no facts.
        facts[np.repeat(np.array(counts) == 1, counts)] = 0
        return np.split(facts, np.cumsum(counts)[:-1])

    def bases(self, host: str) -> Tuple[np.ndarray, List[str], np.ndarray]:
        """The possible base forms of a host before a suffix.

        host (str): Letters of the host.
        RETURNS (Tuple[np.ndarray, List[str], np.ndarray]): The edits that fit,
            int64 of (n,), at least one; the base form that each makes; and what
            is known of it, float32 of (n, EDIT_FACTS).
        """
        fitting = [(i, edit.apply(host)) for i, edit in enumerate(self.edits)]
        pairs = [(i, base) for i, base in fitting if base is not None]
        forms = [base for _, base in pairs]
        known = self.tables["lexicon"].lookup(forms + ["ה" + form for form in forms])
        facts = np.stack(
            [
                known[: len(forms)],
                known[len(forms) :],
                self.tables["bases"].lookup(forms),
            ],
            axis=1,
        )
        return np.array([i for i, _ in pairs], dtype=np.int64), forms, facts

    def analysis(
        self, candidates: Candidates, choice: int, base: Optional[str]
    ) -> Analysis:
        """Put an analysis together.

        candidates (Candidates): The possible analyses of the word.
        choice (int): Which one it is.
        base (Optional[str]): The base form of the host, if there is a suffix.
        RETURNS (Analysis): The morphemes, with offsets in the word as typed.
        """
        prefix = self.prefixes[candidates.prefixes[choice]]
        suffix = self.suffixes[candidates.suffixes[choice]]
        host = candidates.hosts[choice]
        offsets = candidates.offsets
        output: List[Morpheme] = []
        position = 0
        for form in prefix:
            if form == COVERT_ARTICLE:
                output.append(Morpheme(form, None, None, PREFIX))
                continue
            end = position + len(form)
            output.append(Morpheme(form, offsets[position], offsets[end], PREFIX))
            position = end
        end = position + len(host)
        output.append(Morpheme(base or host, offsets[position], offsets[end], HOST))
        for form in suffix.forms[:-1]:
            output.append(Morpheme(form, None, None, CLITIC))
        if suffix.forms:
            output.append(Morpheme(suffix.forms[-1], offsets[end], offsets[-1], CLITIC))
        return tuple(output)


def _as_numbers(counts: "Counter[str]") -> Dict[str, float]:
    # Tables keep tenths; counts above 255 say no more than 255.
    return {word: number / 10 for word, number in counts.items()}


def _neighbours(host: str, suffix: str) -> List[str]:
    """Words that are frequent if a host is a real one: 12 of them."""
    plain = host[:-1] + _FINAL.get(host[-1], host[-1])
    output = [plain, *(letter + plain for letter in "הבלמוש")]
    if not suffix:
        return [*output, host + "ים", host + "ות", host + "י", host + "ה", host + "ו"]
    if host.endswith("ת"):
        feminine = host[:-1] + "ה"
    elif host.endswith("י"):
        feminine = host[:-1] + "ים"
    else:
        feminine = host + "ים"
    return [
        *output,
        host + ("ה" if suffix == "ו" else "ו"),
        host + ("ו" if suffix == "ם" else "ם"),
        host + "ה",
        feminine,
        host + suffix,
    ]

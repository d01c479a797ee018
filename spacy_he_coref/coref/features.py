"""What tags, trees and words say about mentions and about pairs of them.

Tokens become columns of numbers once (``TokenTable``); of any spans (``MentionTable``)
and of any pairs of them everything else is computed from those columns, without a
loop over spans or pairs. The values are categories: each is the number of an
embedding. The six kinds of pairs are those of LingMess (Otmazgin, Cattan and Goldberg
2023), with groups of Hebrew pronouns by person, gender and number, clitics included.
"""

from typing import Dict, Iterable, List, NamedTuple, Sequence, Tuple

import numpy as np
from spacy.attrs import DEP, HEAD, LEMMA, MORPH, ORTH, POS
from spacy.strings import get_string_id
from spacy.tokens import Doc

from ..tokens import CLITIC, COVERT_ARTICLE, get_segment

# The kinds of pairs.
PRONOUNS_AGREE, PRONOUNS_DIFFER, PRONOUN_NOMINAL, MATCH, CONTAIN, OTHER = range(6)
CATEGORIES = (
    "pron-pron-agree",
    "pron-pron-differ",
    "pron-ent",
    "match",
    "contain",
    "other",
)

# Groups of features that a config may switch off.
AGREEMENT = "agreement"
LEXICAL = "lexical"
STRUCTURE = "structure"
ROLES = "roles"
DISTANCE = "distance"
GROUPS = (AGREEMENT, LEXICAL, STRUCTURE, ROLES, DISTANCE)

# 0 stands for an unknown value everywhere.
_GENDERS = {"Masc": 1, "Fem": 2}
_NUMBERS = {"Sing": 1, "Plur": 2, "Dual": 2}
_PERSONS = {"1": 1, "2": 2, "3": 3}
_POS = ("", "NOUN", "PROPN", "PRON", "NUM", "ADJ", "VERB", "X")
_CONTENT = frozenset(("NOUN", "PROPN", "NUM", "ADJ", "VERB", "X", "ADV"))
_ROLES = (
    "",
    "nsubj",
    "obj",
    "obl",
    "nmod",
    "nmod:poss",
    "compound:smixut",
    "conj",
    "appos",
    "ROOT",
    "det",
    "iobj",
    "nsubj:cop",
    "flat:name",
    "parataxis",
    "dep",
)
# Relations between the heads of two mentions that speak for or against a link.
_LINKS = ("", "appos", "conj", "compound:smixut", "nmod:poss", "nmod", "nsubj", "other")
_KINDS = ("other", "clitic", "pronoun", "demonstrative", "name", "nominal", "number")
_CLITIC, _PRONOUN, _DEMONSTRATIVE = 1, 2, 3
# Content words of a mention that are compared.
_WORDS = 6
# Words that an acronym is made from at most.
_INITIALS = 5
# The preposition of possessors, as a token has it.
_OF = np.uint64(get_string_id("של"))
_MARKS = "\"'״׳”“„`"
_BASE = np.uint64(0x9E3779B97F4A7C15)


class TokenTable(NamedTuple):
    """The columns of a document; int64 of (tokens,) where not said otherwise.

    pos, role (np.ndarray): Numbers of tag and relation.
    gender, number, person (np.ndarray): 0 where unknown.
    definite (np.ndarray): Whether the token is definite by itself.
    kind (np.ndarray): Kind of a mention with this head.
    head (np.ndarray): Token of its head, itself for a root.
    sentence (np.ndarray): Number of its sentence.
    lemma, text (np.ndarray): uint64 keys of lemma and letters.
    content (np.ndarray): bool, whether it is a content word.
    acronym (np.ndarray): uint64 key of the letters of an acronym, else 0.
    words (np.ndarray): Written words before the token; (tokens + 1,).
    letter (np.ndarray): The first letter of the token, uint64.
    initials (np.ndarray): Running key of the words' first letters; uint64 of
        (written words + 1,).
    """

    pos: np.ndarray
    role: np.ndarray
    gender: np.ndarray
    number: np.ndarray
    person: np.ndarray
    definite: np.ndarray
    kind: np.ndarray
    head: np.ndarray
    sentence: np.ndarray
    lemma: np.ndarray
    text: np.ndarray
    content: np.ndarray
    acronym: np.ndarray
    words: np.ndarray
    letter: np.ndarray
    initials: np.ndarray


class MentionTable(NamedTuple):
    """The columns of spans; int64 of (spans,) where not said otherwise.

    start, end (np.ndarray): First token and token after the last one.
    head (np.ndarray): Token of the head.
    kind, pos, role, gender, number, person, definite, sentence (np.ndarray): Of the
        head; an article before the head makes it definite.
    governor (np.ndarray): Token that the head hangs from, -1 if none.
    lemma, text (np.ndarray): uint64 keys of the head's lemma and of all letters.
    content (np.ndarray): uint64 key of the content words, 0 if there are none.
    bag, names (np.ndarray): uint64 of (spans, 6), the lemmas of the first content
        words and of the names among them, 0 where there are fewer.
    acronym, initials (np.ndarray): uint64 keys; 0 where there are none.
    """

    start: np.ndarray
    end: np.ndarray
    head: np.ndarray
    kind: np.ndarray
    pos: np.ndarray
    role: np.ndarray
    gender: np.ndarray
    number: np.ndarray
    person: np.ndarray
    definite: np.ndarray
    sentence: np.ndarray
    governor: np.ndarray
    lemma: np.ndarray
    text: np.ndarray
    content: np.ndarray
    bag: np.ndarray
    names: np.ndarray
    acronym: np.ndarray
    initials: np.ndarray


def token_table(doc: Doc) -> TokenTable:
    """Read the columns of a document.

    doc (Doc): A document; what it has of tags, trees and lemmas is used.
    RETURNS (TokenTable): The columns.
    """
    size = len(doc)
    columns = doc.to_array([ORTH, LEMMA, POS, DEP, HEAD, MORPH]).reshape(size, 6)
    strings = doc.vocab.strings
    orth, lemma, pos, dep, head, morph = columns.T.astype(np.uint64)
    names = doc.vocab.morphology
    gender = np.zeros(size, dtype=np.int64)
    number, person, definite = gender.copy(), gender.copy(), gender.copy()
    demonstrative = np.zeros(size, dtype=bool)
    for key in np.unique(morph):
        feats = names.feats_to_dict(strings[int(key)]) if key else {}
        if not feats:
            continue
        here = morph == key
        gender[here] = _GENDERS.get(feats.get("Gender", ""), 0)
        number[here] = _NUMBERS.get(feats.get("Number", ""), 0)
        person[here] = _PERSONS.get(feats.get("Person", ""), 0)
        definite[here] = feats.get("Definite") == "Def"
        demonstrative[here] = feats.get("PronType") == "Dem"
    tags = _numbers(pos, [strings[int(key)] for key in np.unique(pos)], _POS, 0)
    roles = _numbers(dep, [strings[int(key)] for key in np.unique(dep)], _ROLES, 15)
    content = np.isin(
        pos, [key for key in np.unique(pos) if strings[int(key)] in _CONTENT]
    )
    kind = np.select(
        [tags == 3, tags == 2, tags == 1, tags == 4],
        [_PRONOUN, 4, 5, 6],
        default=0,
    )
    kind[(tags == 3) & demonstrative] = _DEMONSTRATIVE
    acronym = np.zeros(size, dtype=np.uint64)
    first = np.ones(size, dtype=bool)
    letters = np.zeros(size, dtype=np.uint64)
    for token in doc:
        i = token.i
        row = get_segment(token)
        if row is not None:
            first[i] = row[3] == 0
            if row[0] == CLITIC:
                kind[i] = _CLITIC
            if COVERT_ARTICLE in row[1]:
                definite[i] = 1
        text = token.text
        if len(text) > 2 and text[-2] in _MARKS:
            acronym[i] = _spell(c for c in text if c not in _MARKS)
        letters[i] = ord(text[0])
    place = np.arange(size)
    heads = place + head.astype(np.int64)
    starts = np.zeros(size, dtype=np.int64)
    if size:
        for sentence in _sentence_starts(doc):
            starts[sentence] = 1
    return TokenTable(
        pos=tags,
        role=roles,
        gender=gender,
        number=number,
        person=person,
        definite=definite,
        kind=kind,
        head=heads,
        sentence=np.cumsum(starts),
        lemma=np.where(lemma > 0, lemma, orth),
        text=orth,
        content=content,
        acronym=acronym,
        words=np.concatenate([[0], np.cumsum(first)]),
        letter=letters,
        initials=_running(letters[first]),
    )


def _sentence_starts(doc: Doc) -> List[int]:
    if not doc.has_annotation("SENT_START"):
        return [0]
    return [sentence.start for sentence in doc.sents]


def _numbers(
    column: np.ndarray, values: Sequence[str], known: Sequence[str], other: int
) -> np.ndarray:
    places = {value: i for i, value in enumerate(known)}
    numbers = np.array([places.get(value, other) for value in values], dtype=np.int64)
    if not len(column):
        return np.zeros(0, dtype=np.int64)
    return numbers[np.unique(column, return_inverse=True)[1].reshape(-1)]


def _spell(letters: Iterable[str]) -> np.uint64:
    """The key of a string, the same as that of its letters' running keys."""
    key = 0
    for letter in letters:
        key = (key * int(_BASE) + ord(letter)) % 2**64
    return np.uint64(key)


def _powers(size: int) -> np.ndarray:
    powers = np.full(size + 1, _BASE, dtype=np.uint64)
    powers[0] = 1
    return np.multiply.accumulate(powers)


def _running(values: np.ndarray) -> np.ndarray:
    """Keys of all beginnings of a sequence, so that any stretch has a key."""
    # The polynomial with inverse powers would need division; odd numbers have inverses.
    size = len(values)
    inverse = np.uint64(pow(int(_BASE), -1, 2**64))
    scale = np.full(size + 1, inverse, dtype=np.uint64)
    scale[0] = 1
    scale = np.multiply.accumulate(scale)
    terms = np.concatenate([[np.uint64(0)], values.astype(np.uint64) * scale[1:]])
    return np.add.accumulate(terms)


def _stretch(running: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Keys of stretches; equal stretches have equal keys."""
    powers = _powers(len(running))
    return (running[end] - running[start]) * powers[end]


def mention_table(
    tokens: TokenTable, start: np.ndarray, end: np.ndarray
) -> MentionTable:
    """Compute the columns of spans.

    tokens (TokenTable): The columns of the document.
    start (np.ndarray): First tokens, int64 of (spans,).
    end (np.ndarray): Tokens after the last ones, int64 of (spans,).
    RETURNS (MentionTable): The columns.
    """
    head = find_heads(tokens.head, start, end)
    size = len(tokens.head)
    outside = tokens.head[head]
    governor = np.where((outside < start) | (outside >= end), outside, -1)
    # Content words, counted; the words of a span are a stretch of them.
    places = np.flatnonzero(tokens.content)
    counts = np.concatenate([[0], np.cumsum(tokens.content)])
    first, last = counts[start], counts[end]
    index = first[:, None] + np.arange(_WORDS)
    inside = index < last[:, None]
    chosen = places[np.minimum(index, max(len(places) - 1, 0))] if len(places) else None
    if chosen is None:
        bag = np.zeros((len(start), _WORDS), dtype=np.uint64)
        names = bag.copy()
    else:
        bag = np.where(inside, tokens.lemma[chosen], np.uint64(0))
        names = np.where(tokens.pos[chosen] == 2, bag, np.uint64(0))
    content = _stretch(_running(tokens.lemma[places]), first, last)
    article = tokens.definite[head] | tokens.definite[np.maximum(head - 1, start)]
    return MentionTable(
        start=start,
        end=end,
        head=head,
        kind=tokens.kind[head],
        pos=tokens.pos[head],
        role=tokens.role[head],
        gender=tokens.gender[head],
        number=tokens.number[head],
        person=tokens.person[head],
        definite=article,
        sentence=tokens.sentence[head],
        governor=governor,
        lemma=tokens.lemma[head],
        text=_stretch(_running(tokens.text), start, end),
        content=np.where(last > first, content, np.uint64(0)),
        bag=bag,
        names=names,
        acronym=np.where(
            end - start <= 2, tokens.acronym[np.maximum(end - 1, 0)], np.uint64(0)
        )
        if size
        else np.zeros(0, dtype=np.uint64),
        initials=_initials(tokens, start, end),
    )


def _initials(tokens: TokenTable, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    first, last = tokens.words[start], tokens.words[end]
    # After a prefix (ב|צבא ההגנה לישראל) the first letter is that of the segment.
    inside = tokens.words[start + 1] == first
    count = last - first + inside
    several = (count > 1) & (count <= _INITIALS)
    own = np.where(inside, tokens.letter[start], np.uint64(0))
    place = _powers(_INITIALS)[np.minimum(last - first, _INITIALS)]
    keys = _stretch(tokens.initials, first, last) + own * place
    return np.where(several, keys, np.uint64(0))


def find_heads(heads: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The head of each span: its first token that hangs from outside, or is a root.

    heads (np.ndarray): Token of each token's head, int64 of (tokens,).
    start (np.ndarray), end (np.ndarray): Bounds, int64 of (spans,).
    RETURNS (np.ndarray): int64 of (spans,); the first token where there is none.
    """
    found = start.copy()
    open_ = np.ones(len(start), dtype=bool)
    offset = 0
    while True:
        place = start + offset
        alive = np.flatnonzero(open_ & (place < end))
        if not len(alive):
            return found
        at = place[alive]
        up = heads[at]
        outside = (up < start[alive]) | (up >= end[alive]) | (up == at)
        found[alive[outside]] = at[outside]
        open_[alive[outside]] = False
        offset += 1


class Feature(NamedTuple):
    """A feature of mentions or pairs.

    name (str): Its name.
    group (str): The group that switches it.
    size (int): Its values are 0 to this, exclusive.
    """

    name: str
    group: str
    size: int


MENTION_FEATURES = (
    Feature("kind", STRUCTURE, len(_KINDS)),
    Feature("pos", STRUCTURE, len(_POS)),
    Feature("role", ROLES, len(_ROLES)),
    Feature("gender", AGREEMENT, 3),
    Feature("number", AGREEMENT, 3),
    Feature("person", AGREEMENT, 4),
    Feature("definite", AGREEMENT, 2),
    Feature("width", STRUCTURE, 10),
    Feature("seen", LEXICAL, 4),
)


def mention_features(mentions: MentionTable) -> np.ndarray:
    """Values of the features of mentions.

    mentions (MentionTable): The mentions, in the order of the text.
    RETURNS (np.ndarray): int64 of (mentions, features).
    """
    width = _bucket(mentions.end - mentions.start)
    columns = [
        mentions.kind,
        mentions.pos,
        mentions.role,
        mentions.gender,
        mentions.number,
        mentions.person,
        mentions.definite,
        np.minimum(width, 9),
        np.minimum(_seen_before(mentions.lemma), 3),
    ]
    return np.stack(columns, axis=1)


def _seen_before(keys: np.ndarray) -> np.ndarray:
    """How many earlier items have the same key."""
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    fresh = np.concatenate([[True], sorted_keys[1:] != sorted_keys[:-1]])
    if not len(keys):
        return np.zeros(0, dtype=np.int64)
    begin = np.maximum.accumulate(np.where(fresh, np.arange(len(keys)), 0))
    seen = np.empty(len(keys), dtype=np.int64)
    seen[order] = np.arange(len(keys)) - begin
    return seen


def _bucket(values: np.ndarray) -> np.ndarray:
    """0 to 4 as they are, then by powers of two."""
    values = np.maximum(values, 0)
    logs = np.floor(np.log2(np.maximum(values, 1))).astype(np.int64) + 2
    return np.where(values < 5, values, logs + 1)


PAIR_FEATURES = (
    Feature("category", STRUCTURE, len(CATEGORIES)),
    Feature("gender", AGREEMENT, 9),
    Feature("number", AGREEMENT, 9),
    Feature("person", AGREEMENT, 16),
    Feature("definite", AGREEMENT, 4),
    Feature("kinds", AGREEMENT, len(_KINDS) ** 2),
    Feature("lemma", LEXICAL, 3),
    Feature("content", LEXICAL, 3),
    Feature("text", LEXICAL, 2),
    Feature("contained", LEXICAL, 4),
    Feature("shared", LEXICAL, 4),
    Feature("names", LEXICAL, 4),
    Feature("acronym", LEXICAL, 2),
    Feature("modifiers", LEXICAL, 3),
    Feature("nesting", STRUCTURE, 4),
    Feature("edges", STRUCTURE, 4),
    Feature("link", STRUCTURE, 2 * len(_LINKS)),
    Feature("siblings", STRUCTURE, 3),
    Feature("roles", ROLES, len(_ROLES) ** 2),
    Feature("governor", ROLES, 2),
    Feature("tokens", DISTANCE, 16),
    Feature("mentions", DISTANCE, 16),
    Feature("sentences", DISTANCE, 12),
)


def is_pronoun(mentions: MentionTable) -> np.ndarray:
    """Which mentions are pronouns, clitics and demonstratives among them.

    mentions (MentionTable): The mentions.
    RETURNS (np.ndarray): bool of (mentions,).
    """
    pronoun: np.ndarray = (mentions.kind >= _CLITIC) & (mentions.kind <= _DEMONSTRATIVE)
    return pronoun


def doubled_possessors(tokens: TokenTable, mentions: MentionTable) -> np.ndarray:
    """Clitics whose possessor is said again behind them: ביתו של דן.

    The clitic and a noun phrase after של hang from one host, and mean the same.

    tokens (TokenTable): The columns of the document.
    mentions (MentionTable): The mentions in the order of the text.
    RETURNS (np.ndarray): The clitic and the noun phrase of each such pair, as
        mentions; int64 of (pairs, 2). Of several noun phrases the nearest, of these
        the longest; it is in one pair only, with the nearest clitic.
    """
    clitics = np.flatnonzero(
        (mentions.kind == _CLITIC) & (mentions.end - mentions.start == 1)
    )
    clitics = clitics[mentions.governor[clitics] >= 0]
    behind_of = tokens.text[np.maximum(mentions.start - 1, 0)] == _OF
    phrases = np.flatnonzero(
        (mentions.start > 0) & behind_of & (mentions.governor >= 0)
    )
    if not len(clitics) or not len(phrases):
        return np.zeros((0, 2), dtype=np.int64)
    # In the order of their hosts, then of the text, longer ones first.
    size = len(tokens.text) + 1
    places = mentions.governor * size + mentions.start
    phrases = phrases[np.lexsort((-mentions.end[phrases], places[phrases]))]
    found = np.searchsorted(places[phrases], places[clitics], side="right")
    there = found < len(phrases)
    clitics, phrases = clitics[there], phrases[found[there]]
    same = mentions.governor[clitics] == mentions.governor[phrases]
    clitics, phrases = clitics[same][::-1], phrases[same][::-1]
    _, nearest = np.unique(phrases, return_index=True)
    return np.stack([clitics[nearest], phrases[nearest]], axis=1)


def pair_categories(
    mentions: MentionTable, later: np.ndarray, earlier: np.ndarray
) -> np.ndarray:
    """LingMess's kind of each pair.

    mentions (MentionTable): The mentions.
    later (np.ndarray), earlier (np.ndarray): Mentions of each pair, int64 of (pairs,).
    RETURNS (np.ndarray): Numbers of ``CATEGORIES``, int64 of (pairs,).
    """
    _, inside, outside = _compare_words(mentions.bag, later, earlier)
    return _categories(mentions, later, earlier, inside | outside)


def _categories(
    mentions: MentionTable, later: np.ndarray, earlier: np.ndarray, contain: np.ndarray
) -> np.ndarray:
    pronoun = is_pronoun(mentions)
    one, other = pronoun[later], pronoun[earlier]
    agree = np.ones(len(later), dtype=bool)
    for column in (mentions.gender, mentions.number, mentions.person):
        a, b = column[later], column[earlier]
        agree &= (a == b) | (a == 0) | (b == 0)
    content = mentions.content
    match = (content[later] == content[earlier]) & (content[later] > 0)
    return np.select(
        [one & other & agree, one & other, one | other, match, contain],
        [PRONOUNS_AGREE, PRONOUNS_DIFFER, PRONOUN_NOMINAL, MATCH, CONTAIN],
        default=OTHER,
    )


def _compare_words(
    bag: np.ndarray, later: np.ndarray, earlier: np.ndarray
) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How many words both have, and whether one has all of the other, both ways."""
    a, b = bag[later], bag[earlier]
    same = (a[:, :, None] == b[:, None, :]) & (a > 0)[:, :, None]
    found = same.any(2)
    return (
        found.sum(1),
        (found | (a == 0)).all(1) & (a > 0).any(1),
        (same.any(1) | (b == 0)).all(1) & (b > 0).any(1),
    )


def pair_features(
    mentions: MentionTable, later: np.ndarray, earlier: np.ndarray
) -> np.ndarray:
    """Values of the features of pairs.

    mentions (MentionTable): The mentions.
    later (np.ndarray), earlier (np.ndarray): Mentions of each pair, int64 of (pairs,).
    RETURNS (np.ndarray): int64 of (pairs, features), the category first.
    """
    m = mentions
    shared, inside, outside = _compare_words(m.bag, later, earlier)
    category = _categories(m, later, earlier, inside | outside)
    name, other_name = m.names[later], m.names[earlier]
    both_named = (name > 0).any(1) & (other_name > 0).any(1)
    common = (
        (name[:, :, None] == other_name[:, None, :]) & (name > 0)[:, :, None]
    ).any((1, 2))
    one_named = (name > 0).any(1) | (other_name > 0).any(1)
    plain = category > PRONOUN_NOMINAL
    lemma = m.lemma[later] == m.lemma[earlier]
    content = m.content[later] == m.content[earlier]
    acronym = ((m.acronym[later] == m.initials[earlier]) & (m.acronym[later] > 0)) | (
        (m.acronym[earlier] == m.initials[later]) & (m.initials[later] > 0)
    )
    modifiers = np.where(lemma & plain, np.where(inside | outside, 1, 2), 0)
    starts, ends = m.start[later], m.end[later]
    covers = (m.start[earlier] <= starts) & (m.end[earlier] >= ends)
    covered = (m.start[earlier] >= starts) & (m.end[earlier] <= ends)
    overlap = (m.start[earlier] < ends) & (m.end[earlier] > starts)
    nesting = np.select([covers, covered, overlap], [1, 2, 3], default=0)
    edges = (m.start[earlier] == starts) + 2 * (m.end[earlier] == ends)
    down = m.governor[later] == m.head[earlier]
    up = m.governor[earlier] == m.head[later]
    relation = np.where(down, _link_of(m.role[later]), 0)
    relation = np.where(up & ~down, len(_LINKS) + _link_of(m.role[earlier]), relation)
    siblings = (m.governor[later] == m.governor[earlier]) & (m.governor[later] >= 0)
    alike = siblings & (m.role[later] == m.role[earlier])
    columns: Dict[str, np.ndarray] = {
        "category": category,
        "gender": m.gender[later] * 3 + m.gender[earlier],
        "number": m.number[later] * 3 + m.number[earlier],
        "person": m.person[later] * 4 + m.person[earlier],
        "definite": m.definite[later] * 2 + m.definite[earlier],
        "kinds": m.kind[later] * len(_KINDS) + m.kind[earlier],
        "lemma": np.where(plain, 1 + lemma, 0),
        "content": np.where(plain, 1 + content, 0),
        "text": (m.text[later] == m.text[earlier]).astype(np.int64),
        "contained": inside + 2 * outside,
        "shared": np.minimum(shared, 3),
        "names": np.select([common, both_named, one_named], [3, 2, 1], default=0),
        "acronym": acronym.astype(np.int64),
        "modifiers": modifiers,
        "nesting": nesting,
        "edges": edges,
        "link": relation,
        "siblings": siblings.astype(np.int64) + alike,
        "roles": m.role[later] * len(_ROLES) + m.role[earlier],
        "governor": siblings.astype(np.int64),
        "tokens": np.minimum(_bucket(starts - m.start[earlier]), 15),
        "mentions": np.minimum(_bucket(later - earlier), 15),
        "sentences": np.minimum(_bucket(m.sentence[later] - m.sentence[earlier]), 11),
    }
    return np.stack(
        [columns[feature.name] for feature in PAIR_FEATURES], axis=1
    ).astype(np.int64)


def _link_of(roles: np.ndarray) -> np.ndarray:
    table = np.array(
        [_LINKS.index(r) if r in _LINKS and r else len(_LINKS) - 1 for r in _ROLES]
    )
    return table[roles]


def offsets(features: Sequence[Feature]) -> np.ndarray:
    """Where the values of each feature begin in one table of embeddings.

    features (Sequence[Feature]): The features.
    RETURNS (np.ndarray): int64 of (features + 1,), the last one the size of the table.
    """
    return np.concatenate([[0], np.cumsum([feature.size for feature in features])])

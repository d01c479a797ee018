"""Features of mentions and pairs on small trees, and on broken ones."""

import random
import sys
from types import FrameType
from typing import Any, Dict, List, Sequence, Tuple

import numpy as np
import pytest
from spacy.tokens import Doc

from spacy_he_coref.coref import features
from spacy_he_coref.coref.features import (
    CATEGORIES,
    CONTAIN,
    GROUPS,
    MATCH,
    MENTION_FEATURES,
    OTHER,
    PAIR_FEATURES,
    PRONOUN_NOMINAL,
    PRONOUNS_AGREE,
    PRONOUNS_DIFFER,
    MentionTable,
    doubled_possessors,
    find_heads,
    mention_features,
    mention_table,
    offsets,
    pair_features,
    token_table,
)
from tests.coref.helpers import Bounds, story
from tests.mentions.helpers import tree, vocabulary


def table(doc: Doc, bounds: Sequence[Bounds]) -> MentionTable:
    start, end = np.array(bounds, dtype=np.int64).reshape(-1, 2).T
    return mention_table(token_table(doc), start, end)


def pair(doc: Doc, earlier: Bounds, later: Bounds) -> Dict[str, int]:
    """The features of one pair, by name."""
    mentions = table(doc, [earlier, later])
    values = pair_features(mentions, np.array([1]), np.array([0]))
    return dict(zip([f.name for f in PAIR_FEATURES], values[0].tolist(), strict=True))


def mention(doc: Doc, bounds: Bounds) -> Dict[str, int]:
    values = mention_features(table(doc, [bounds]))
    names = [f.name for f in MENTION_FEATURES]
    return dict(zip(names, values[0].tolist(), strict=True))


# Heads


def naive_head(heads: Sequence[int], start: int, end: int) -> int:
    for i in range(start, end):
        if heads[i] == i or not start <= heads[i] < end:
            return i
    return start


@pytest.mark.parametrize("seed", range(5))
def test_heads_of_random_graphs(seed: int) -> None:
    # Any token may hang from any other: cycles, several roots, all that is broken.
    draw = np.random.default_rng(seed)
    heads = draw.integers(0, 30, 30)
    start, end = np.sort(draw.integers(0, 31, (200, 2)), axis=1).T
    start, end = start[start < end], end[start < end]
    expected = [naive_head(heads, a, b) for a, b in zip(start, end, strict=True)]
    assert find_heads(heads, start, end).tolist() == expected


def test_a_cycle_has_its_first_token_as_head() -> None:
    assert find_heads(np.array([1, 2, 0]), np.array([0]), np.array([3])).tolist() == [0]
    assert find_heads(np.array([0]), np.array([0]), np.array([1])).tolist() == [0]


def test_heads_and_governors_of_mentions() -> None:
    doc = story(0)
    # אחיה hangs from פגשה, its clitic from אחי; the whole sentence from nothing.
    mentions = table(doc, [(3, 5), (4, 5), (0, 8)])
    assert mentions.head.tolist() == [3, 4, 1]
    assert mentions.governor.tolist() == [1, 3, -1]


# Possessors that are said twice


def test_doubled_possessors() -> None:
    doc = tree(
        """
בית+ NOUN nsubj 10
ו PRON nmod:poss 1
ה+ DET det 4
חדש ADJ amod 1
של ADP case:gen 6
דן PROPN nmod:poss 1
כהן PROPN flat:name 6
ו+ CCONJ cc 9
גג+ NOUN conj 1
נשרפו VERB ROOT 0
של ADP case:gen 12
רות PROPN nmod:poss 10
"""
    )

    def found(bounds: Sequence[Bounds]) -> List[List[int]]:
        start, end = np.array(bounds, dtype=np.int64).reshape(-1, 2).T
        tokens = token_table(doc)
        mentions = mention_table(tokens, start, end)
        return doubled_possessors(tokens, mentions).tolist()

    clitic, name, whole, other = (1, 2), (5, 6), (5, 7), (11, 12)
    # The longest phrase; not the name inside, nor what hangs from another host.
    assert found([clitic, whole, name, other]) == [[0, 1]]
    assert found([clitic, name, other]) == [[0, 1]]
    assert found([clitic, other]) == found([whole, other]) == found([]) == []
    # Without של it is another relation.
    assert found([clitic, (3, 4)]) == []


# Agreement


def test_agreement() -> None:
    doc = story(0)
    # דנה (fem, sing) and היא (fem, sing, third person).
    values = pair(doc, (0, 1), (8, 9))
    assert values["gender"] == 2 * 3 + 2
    assert values["number"] == 1 * 3 + 1
    assert values["person"] == 3 * 4 + 0
    # אחיה and ו: the gender of a mention is that of its head.
    assert pair(doc, (3, 5), (11, 12))["gender"] == 1 * 3 + 1


def test_dual_is_plural() -> None:
    doc = tree("שנתיים NOUN ROOT 0")
    doc[0].set_morph("Gender=Fem|Number=Dual")
    assert mention(doc, (0, 1))["number"] == 2


def test_definite_by_article_feature_and_covert_article() -> None:
    doc = tree(
        """
ה+ DET det 2
כלב NOUN nsubj 3
נבח VERB ROOT 0
ב+ ADP case 5
בית NOUN obl 3 article
על ADP case 7
ילד NOUN obl 3
"""
    )
    doc[0].set_morph("Definite=Def")
    doc[4].set_morph("")
    definite = table(doc, [(0, 2), (1, 2), (4, 5), (6, 7)]).definite
    # An article outside of the mention does not count.
    assert definite.tolist() == [1, 0, 1, 0]


# Categories


CATEGORY_CASES: List[Tuple[int, Bounds, Bounds, int]] = [
    (0, (4, 5), (8, 9), PRONOUNS_AGREE),  # her, she
    (0, (8, 9), (11, 12), PRONOUNS_DIFFER),  # she, him
    (0, (0, 1), (8, 9), PRONOUN_NOMINAL),
    (1, (0, 2), (10, 12), MATCH),
    (2, (0, 2), (12, 13), CONTAIN),
    (2, (0, 2), (6, 7), OTHER),
]


@pytest.mark.parametrize("number, earlier, later, expected", CATEGORY_CASES)
def test_categories(number: int, earlier: Bounds, later: Bounds, expected: int) -> None:
    found = pair(story(number), earlier, later)["category"]
    assert CATEGORIES[found] == CATEGORIES[expected]


def test_unknown_values_agree_with_all() -> None:
    doc = tree("הוא PRON ROOT 0\nזאת PRON dep 1\nאני PRON dep 1")
    doc[0].set_morph("Gender=Masc|Number=Sing|Person=3")
    doc[1].set_morph("PronType=Dem")
    doc[2].set_morph("Number=Sing|Person=1")
    assert pair(doc, (0, 1), (1, 2))["category"] == PRONOUNS_AGREE
    assert pair(doc, (0, 1), (2, 3))["category"] == PRONOUNS_DIFFER


def test_kinds_of_mentions() -> None:
    doc = story(0)
    doc[8].set_morph("PronType=Dem")
    kinds = [features._KINDS[k] for k in table(doc, [(0, 1), (3, 5), (4, 5)]).kind]
    assert kinds == ["name", "nominal", "clitic"]
    assert features._KINDS[table(doc, [(8, 9)]).kind[0]] == "demonstrative"
    # A clitic without its host is a pronoun all the same.
    assert features._KINDS[table(doc, [(11, 12)]).kind[0]] == "clitic"


# Words


def test_names() -> None:
    doc = story(2)
    assert pair(doc, (0, 2), (12, 13))["names"] == 3  # רותם לוי, לוי
    assert pair(doc, (0, 2), (6, 7))["names"] == 2
    assert pair(doc, (0, 2), (4, 5))["names"] == 1
    assert pair(story(1), (0, 2), (4, 6))["names"] == 0


def test_contained_and_shared_words() -> None:
    doc = story(2)
    assert pair(doc, (0, 2), (12, 13))["contained"] == 1
    assert pair(doc, (12, 13), (0, 2))["contained"] == 2
    assert pair(doc, (6, 7), (9, 10))["contained"] == 3
    assert pair(doc, (0, 2), (6, 7))["contained"] == 0
    assert pair(doc, (0, 2), (12, 13))["shared"] == 1


def test_modifiers_that_differ() -> None:
    doc = tree(
        """
בית NOUN ROOT 0
גדול ADJ amod 1
ו+ CCONJ cc 4
בית NOUN conj 1
קטן ADJ amod 4
ו+ CCONJ cc 7
בית NOUN conj 1
"""
    )
    assert pair(doc, (0, 2), (3, 5))["modifiers"] == 2
    assert pair(doc, (0, 2), (6, 7))["modifiers"] == 1
    assert pair(doc, (0, 2), (6, 7))["lemma"] == 2


@pytest.mark.parametrize("mark", ['"', "״", "''"])
def test_acronyms(mark: str) -> None:
    doc = tree(
        f"""
צבא NOUN nsubj 6
ה+ DET det 3
הגנה NOUN compound:smixut 1
ל+ ADP case 5
ישראל PROPN nmod 3
הודיע VERB ROOT 0
. PUNCT punct 6

ב+ ADP case 2
צה{mark}ל PROPN obl 3
שירתו VERB ROOT 0
"""
    )
    whole = (0, 5)
    assert pair(doc, whole, (8, 9))["acronym"] == 1
    assert pair(doc, (8, 9), whole)["acronym"] == 1
    # ארגון אחר, or another stretch of words, is something else.
    assert pair(doc, (0, 3), (8, 9))["acronym"] == 0
    assert pair(doc, (1, 5), (8, 9))["acronym"] == 0


def test_acronym_of_words_after_a_prefix() -> None:
    doc = tree(
        """
ב+ ADP case 2
צבא NOUN obl 7
ה+ DET det 4
הגנה NOUN compound:smixut 2
ל+ ADP case 6
ישראל PROPN nmod 4
שירתו VERB ROOT 0

צה"ל PROPN nsubj 2
הודיע VERB ROOT 0
"""
    )
    assert pair(doc, (1, 6), (7, 8))["acronym"] == 1
    # With the prefix it is no mention of the army; its letters are others.
    assert pair(doc, (0, 6), (7, 8))["acronym"] == 0


def test_one_word_has_no_initials() -> None:
    doc = tree("צבא NOUN ROOT 0\nטוב ADJ amod 1")
    assert table(doc, [(0, 1)]).initials.tolist() == [0]
    assert table(doc, [(0, 2)]).initials.tolist() != [0]
    assert table(doc, [(0, 1)]).acronym.tolist() == [0]


def test_equal_stretches_have_equal_keys() -> None:
    words = random.Random(0).choices(["אב", "גד", "הו"], k=300)
    doc = Doc(
        vocabulary(), words=words, pos=["NOUN"] * len(words), lemmas=words, tags=words
    )
    bounds = [(i, i + n) for n in (1, 2, 3, 4) for i in range(len(doc) - n)]
    mentions = table(doc, bounds)
    texts = [tuple(words[a:b]) for a, b in bounds]
    for column in (mentions.text, mentions.content):
        by_text: Dict[Any, set] = {}
        for text, key in zip(texts, column.tolist(), strict=True):
            by_text.setdefault(text, set()).add(key)
        assert all(len(keys) == 1 for keys in by_text.values())
        assert len(by_text) == len({key for keys in by_text.values() for key in keys})


def test_content_leaves_out_what_is_no_content() -> None:
    doc = story(1)
    # הכלב, כלב: the article is no content.
    assert pair(doc, (0, 2), (11, 12))["content"] == 2
    assert pair(doc, (0, 2), (11, 12))["text"] == 0
    assert pair(doc, (0, 2), (10, 12))["text"] == 1
    # Without content there is nothing to compare.
    assert table(doc, [(0, 1)]).content.tolist() == [0]


# Places and relations


def test_construct_state_and_other_links_between_heads() -> None:
    doc = tree(
        """
מנהל NOUN nsubj 7
בית NOUN compound:smixut 1
ה+ DET det 4
ספר NOUN compound:smixut 2
, PUNCT punct 6
אבי PROPN appos 1
הגיע VERB ROOT 0
"""
    )
    links = features._LINKS
    construct, apposition = links.index("compound:smixut"), links.index("appos")
    # The later one hangs from the earlier one, or the other way round.
    assert pair(doc, (0, 6), (1, 4))["link"] == construct
    assert pair(doc, (1, 4), (0, 6))["link"] == len(links) + construct
    assert pair(doc, (0, 1), (5, 6))["link"] == apposition
    assert pair(doc, (2, 4), (5, 6))["link"] == 0


def test_nesting_and_edges() -> None:
    doc = story(0)
    expected = {
        ((3, 5), (4, 5)): (1, 2),
        ((4, 5), (3, 5)): (2, 2),
        ((3, 5), (3, 5)): (1, 3),
        ((2, 5), (3, 6)): (3, 0),
        ((0, 1), (4, 5)): (0, 0),
    }
    for (earlier, later), values in expected.items():
        found = pair(doc, earlier, later)
        assert (found["nesting"], found["edges"]) == values, (earlier, later)


def test_siblings_and_roles() -> None:
    doc = story(0)
    found = pair(doc, (0, 1), (3, 5))
    assert found["siblings"] == 1
    roles = features._ROLES
    assert found["roles"] == roles.index("obj") * len(roles) + roles.index("nsubj")
    assert pair(doc, (0, 1), (8, 9))["siblings"] == 0
    # Two roots hang from nothing, not from the same.
    assert pair(doc, (1, 2), (9, 10))["siblings"] == 0


def test_distances() -> None:
    values = np.array([-3, 0, 1, 4, 5, 7, 8, 15, 16, 31, 32, 64, 10**9])
    buckets = features._bucket(values).tolist()
    assert buckets[:12] == [0, 0, 1, 4, 5, 5, 6, 6, 7, 7, 8, 9]
    words = ["אב"] * 5000
    starts = [i % 10 == 0 for i in range(5000)]
    doc = Doc(vocabulary(), words=words, sent_starts=starts)
    found = pair(doc, (0, 1), (4999, 5000))
    assert found["tokens"] == 15 and found["sentences"] == 11
    found = pair(doc, (4, 5), (12, 13))
    assert (found["tokens"], found["sentences"], found["mentions"]) == (6, 1, 1)


def test_seen_counts_earlier_mentions_of_a_lemma() -> None:
    keys = np.array([7, 5, 7, 7, 5, 9], dtype=np.uint64)
    assert features._seen_before(keys).tolist() == [0, 0, 1, 2, 1, 0]
    assert features._seen_before(keys[:0]).tolist() == []


# Anything


def random_doc(draw: random.Random) -> Doc:
    """A document with tags and trees, of which anything may be wrong or missing."""
    size = draw.choice([1, 2, 3, 10, 40])
    words = draw.choices(
        ["אב", "צה״ל", "ו", "?", "x", "\u200b", "״״", "ה", "\n"], k=size
    )
    tags = ["NOUN", "PROPN", "PRON", "NUM", "VERB", "ADJ", "PUNCT", "SPACE", "", "DET"]
    morphs = [
        "Gender=Masc|Number=Dual|Person=3",
        "Gender=Fem,Masc|Number=Plur",
        "PronType=Dem",
        "Definite=Def|Person=2",
        "",
    ]
    values: Dict[str, Any] = {"words": words}
    if draw.random() < 0.8:
        values["pos"] = draw.choices(tags, k=size)
    if draw.random() < 0.8:
        values["morphs"] = draw.choices(morphs, k=size)
    if draw.random() < 0.8:
        values["lemmas"] = draw.choices(["אב", "ב", ""], k=size)
    if draw.random() < 0.5:
        values["sent_starts"] = [draw.random() < 0.2 for _ in words]
    elif draw.random() < 0.7:
        values["heads"] = [draw.randrange(i + 1) for i in range(size)]
        values["deps"] = draw.choices([*features._ROLES, "acl:relcl", "punct"], k=size)
    return Doc(vocabulary(), **values)


@pytest.mark.parametrize("seed", range(40))
def test_values_are_within_the_size_of_each_feature(seed: int) -> None:
    draw = random.Random(seed)
    doc = random_doc(draw)
    size = len(doc)
    spans = [
        sorted((draw.randrange(size + 1), draw.randrange(size))) for _ in range(50)
    ]
    spans = sorted({(a, max(b, a + 1)) for a, b in spans if a < size})
    start, end = np.array(spans, dtype=np.int64).T
    columns = token_table(doc)
    if seed % 2:
        # As no Doc keeps them: with cycles, and across sentences.
        heads = np.array([draw.randrange(size) for _ in range(size)])
        columns = columns._replace(head=heads)
    mentions = mention_table(columns, start, end)
    ones = mention_features(mentions)
    later, earlier = np.tril_indices(len(spans), -1)
    pairs = pair_features(mentions, later, earlier)
    for values, described in ((ones, MENTION_FEATURES), (pairs, PAIR_FEATURES)):
        assert values.shape[1] == len(described)
        assert values.dtype == np.int64
        for column, feature in zip(values.T, described, strict=True):
            assert (column >= 0).all() and (column < feature.size).all(), feature
            assert feature.group in GROUPS


@pytest.mark.parametrize("words", [[], ["אב"], ["אב", "גד", "."]])
def test_documents_without_annotation(words: List[str]) -> None:
    doc = Doc(vocabulary(), words=words)
    columns = token_table(doc)
    for name, column in columns._asdict().items():
        if name == "words":
            assert len(column) == len(words) + 1
        elif name != "initials":
            assert len(column) == len(words)
    bounds = [(i, i + 1) for i in range(len(words))]
    mentions = table(doc, bounds)
    assert mention_features(mentions).shape == (len(words), len(MENTION_FEATURES))
    nothing = np.zeros(0, dtype=np.int64)
    assert pair_features(mentions, nothing, nothing).shape == (0, len(PAIR_FEATURES))


def test_offsets() -> None:
    starts = offsets(PAIR_FEATURES)
    assert starts[0] == 0 and len(starts) == len(PAIR_FEATURES) + 1
    assert np.diff(starts).tolist() == [feature.size for feature in PAIR_FEATURES]


def test_python_does_not_run_over_pairs() -> None:
    """The lines that run for pairs do not grow with the number of pairs."""
    doc = Doc(vocabulary(), words=["אב"] * 60, pos=["NOUN"] * 60)
    mentions = table(doc, [(i, i + 1) for i in range(60)])

    def lines(number: int) -> int:
        count = 0

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal count
            count += event == "line"
            return trace

        later, earlier = (part[:number] for part in np.tril_indices(60, -1))
        sys.settrace(trace)
        try:
            pair_features(mentions, later, earlier)
        finally:
            sys.settrace(None)
        return count

    assert lines(10) == lines(1000)

"""The rules from newer treebanks to the scheme of HTB, one sentence each."""

from typing import List, Tuple

import pytest

from spacy_he_coref.corpus.conllu import TreeNode
from spacy_he_coref.corpus.scheme import format_feats, parse_feats, to_htb

ART = "Definite=Def|PronType=Art"
MASC = "Gender=Masc|Number=Sing"
FEM = "Gender=Fem|Number=Sing"
INF = "HebBinyan=PAAL|VerbForm=Inf|Voice=Act"
HIS = "Case=Gen|Definite=Def|Gender=Masc|Number=Sing|Person=3|Poss=Yes|PronType=Prs"


def tree(text: str) -> List[TreeNode]:
    """Nodes from lines of form, upos, head, deprel, and if given feats and lemma."""
    nodes = []
    for line in text.strip().splitlines():
        form, upos, head, deprel, *rest = line.split()
        feats = rest[0] if rest else "_"
        lemma = rest[1] if len(rest) > 1 else form
        nodes.append(TreeNode(form, lemma, upos, feats, int(head), deprel, "O"))
    return nodes


def arcs(nodes: List[TreeNode]) -> List[Tuple[str, int, str]]:
    return [(node.form, node.head, node.deprel) for node in nodes]


def tags(nodes: List[TreeNode]) -> List[Tuple[str, str, str]]:
    return [(node.form, node.upos, node.feats) for node in nodes]


def test_articles_and_relations_of_a_noun_phrase() -> None:
    found = to_htb(
        tree(f"""
        ב ADP 2 case {ART}
        כיתת NOUN 0 root Definite=Cons|{FEM}
        ה DET 4 det {ART}
        מורה NOUN 2 compound {MASC}
        של ADP 7 case Case=Gen
        ה DET 7 det {ART}
        נגרים NOUN 2 nmod:poss Gender=Masc|Number=Plur
        """)
    )
    assert [node.deprel for node in found] == [
        "case", "root", "det:def", "compound:smixut", "case:gen", "det:def",
        "nmod:poss",
    ]  # fmt: skip
    assert found[0].feats == ""
    assert found[1].feats == f"Definite=Cons|{FEM}"
    assert found[2].feats == "PronType=Art"
    assert found[4].feats == "Case=Gen"


def test_covert_article_makes_the_host_definite_across_a_quote() -> None:
    found = to_htb(
        tree(f"""
        ישבנו VERB 0 root _
        ב ADP 4 case {ART}
        " PUNCT 4 punct
        גן NOUN 1 obl {MASC}
        """)
    )
    assert tags(found)[1:] == [
        ("ב", "ADP", ""),
        ('"', "PUNCT", ""),
        ("גן", "NOUN", f"Definite=Def|{MASC}"),
    ]


def test_clitics() -> None:
    found = to_htb(
        tree(f"""
        שימש VERB 0 root Gender=Masc|HebBinyan=PIEL|Number=Sing|Person=3|Tense=Past
        בית NOUN 1 nsubj {MASC}
        ו PRON 2 nmod:poss {HIS} הוא
        אות ADP 5 case Case=Acc את
        נו PRON 1 obj Number=Plur|Person=1|PronType=Prs הוא
        ל ADP 7 case
        ן PRON 1 obl Number=Plur|Person=3|PronType=Prs הוא
        """)
    )
    assert tags(found)[1:] == [
        ("בית", "NOUN", f"Definite=Def|{MASC}"),
        ("ו", "PRON", "Case=Gen|Gender=Masc|Number=Sing|Person=3|PronType=Prs"),
        ("אות", "ADP", "Case=Acc"),
        ("נו", "PRON", "Gender=Fem,Masc|Number=Plur|Person=1|PronType=Prs"),
        ("ל", "ADP", ""),
        # Its gender is not given, so nothing is claimed.
        ("ן", "", ""),
    ]
    assert found[3].deprel == "case:acc"


def test_modal_with_an_infinitive_as_subject_becomes_its_aux() -> None:
    found = to_htb(
        tree(f"""
        היום ADV 2 advmod
        אפשר VERB 0 root _
        לנוח VERB 2 csubj {INF} נח
        . PUNCT 2 punct
        """)
    )
    assert arcs(found) == [
        ("היום", 2, "advmod"),
        ("אפשר", 3, "aux"),
        ("לנוח", 0, "root"),
        (".", 2, "punct"),
    ]
    assert tags(found)[1] == ("אפשר", "AUX", "VerbType=Mod")


def test_aux_keeps_what_is_around_the_infinitive() -> None:
    found = to_htb(
        tree(f"""
        דנה PROPN 4 nsubj
        היתה AUX 4 aux HebBinyan=PAAL|{FEM}|Person=3|Tense=Past היה
        צריכה AUX 4 aux {FEM}|VerbType=Mod צריך
        לכתוב VERB 0 root {INF} כתב
        מכתב NOUN 4 obj {MASC}
        . PUNCT 4 punct
        """)
    )
    assert arcs(found) == [
        ("דנה", 3, "nsubj"),
        ("היתה", 3, "cop"),
        ("צריכה", 4, "aux"),
        ("לכתוב", 0, "root"),
        ("מכתב", 4, "obj"),
        (".", 3, "punct"),
    ]
    assert tags(found)[1:3] == [
        ("היתה", "AUX", f"{FEM}|Person=3|Polarity=Pos|Tense=Past|VerbType=Cop"),
        ("צריכה", "AUX", f"{FEM}|Person=1,2,3|VerbType=Mod"),
    ]


def test_copula_and_negation() -> None:
    found = to_htb(
        tree(f"""
        הנגר NOUN 3 nsubj {MASC}
        הוא PRON 3 cop {MASC}|Person=3|PronType=Prs
        שכן NOUN 0 root {MASC}
        ו CCONJ 6 cc
        אינו AUX 6 aux {MASC}|Polarity=Neg
        ישן VERB 3 conj HebBinyan=PAAL|{MASC}|Person=3|Tense=Pres|VerbForm=Part
        """)
    )
    assert [node.deprel for node in found] == [
        "nsubj:cop", "cop", "root", "cc", "advmod", "conj",
    ]  # fmt: skip
    copula = f"{MASC}|Person=3|Polarity=Pos|VerbForm=Part|VerbType=Cop"
    assert tags(found)[1] == ("הוא", "AUX", copula)
    assert tags(found)[4] == ("אינו", "AUX", copula.replace("Pos", "Neg"))
    assert found[5].feats == (
        "Gender=Masc|HebBinyan=PAAL|Number=Sing|Person=1,2,3|VerbForm=Part|Voice=Act"
    )


@pytest.mark.parametrize(
    "feats, expected",
    [
        (
            "Gender=Masc|HebBinyan=NIFAL|Number=Plur|Person=3|Tense=Past|Voice=Pass",
            "Gender=Fem,Masc|HebBinyan=NIFAL|Number=Plur|Person=3|Tense=Past|Voice=Mid",
        ),
        (
            "HebBinyan=HITPAEL|VerbForm=Inf|Voice=Mid",
            "HebBinyan=HITPAEL|VerbForm=Inf",
        ),
        (
            "Gender=Fem|HebBinyan=PAAL|Number=Sing|Person=1|Tense=Fut|Voice=Act",
            "Gender=Fem,Masc|HebBinyan=PAAL|Number=Sing|Person=1|Tense=Fut|Voice=Act",
        ),
        ("Gender=Masc|HebBinyan=NITPAEL|Number=Sing|Person=3|Tense=Past", None),
        ("HebBinyan=PAAL|Number=Sing|Person=3|VerbForm=Part|Voice=Act", None),
    ],
)
def test_verbs(feats: str, expected: str) -> None:
    (found,) = to_htb(tree(f"פעל VERB 0 root {feats}"))
    assert (found.upos, found.feats) == (("VERB", expected) if expected else ("", ""))


def test_dates_particles_and_numbers() -> None:
    found = to_htb(
        tree("""
        נולדה VERB 0 root _
        ב ADP 3 case
        3 NUM 1 obl
        ב ADP 5 case
        מאי PROPN 3 nmod
        1950 NUM 3 nmod:unmarked
        רק ADV 8 advmod
        שתי NUM 9 nummod Gender=Fem|NumType=Card
        אחיות NOUN 1 obj Gender=Fem|Number=Plur
        גם ADV 12 advmod
        ב ADP 12 case
        עפולה PROPN 1 obl
        """)
    )
    assert arcs(found)[4:8] == [
        ("מאי", 3, "obl"),
        ("1950", 5, "nummod"),
        ("רק", 8, "det"),
        ("שתי", 9, "nummod"),
    ]
    assert arcs(found)[9] == ("גם", 11, "advmod")
    assert found[7].feats == "Definite=Cons|Gender=Fem|Number=Plur"
    assert found[7].lemma == "שתי"


def test_names() -> None:
    found = to_htb(
        tree(f"""
        השכן NOUN 0 root {MASC}
        יוסי PROPN 1 appos {MASC}
        לוי PROPN 2 flat
        , PUNCT 5 punct
        גדעון PROPN 1 appos
        ו CCONJ 7 cc
        ארצות PROPN 1 conj Definite=Cons
        ה DET 9 det {ART}
        שלג PROPN 7 compound
        """)
    )
    assert [node.deprel for node in found][1:5] == [
        "flat:name", "flat:name", "punct", "appos",
    ]  # fmt: skip
    assert tags(found)[1] == ("יוסי", "PROPN", "")
    # HTB would give the tags of common nouns, which are not known here.
    assert [node.upos for node in found[6:]] == ["", "DET", ""]


@pytest.mark.parametrize(
    "between, expected",
    [
        ("ישן ADJ 1 amod", "nmod"),
        ("זה PRON 1 det PronType=Dem", "nmod"),
        ("עץ NOUN 1 compound", "nmod:poss"),
    ],
)
def test_possession_after_an_adjective_is_nmod(between: str, expected: str) -> None:
    found = to_htb(
        tree(f"""
        ארון NOUN 0 root
        {between}
        של ADP 4 case Case=Gen
        נעמה PROPN 1 nmod:poss
        """)
    )
    assert found[3].deprel == expected
    assert found[2].deprel == "case:gen"


def test_case_before_clauses() -> None:
    found = to_htb(
        tree(f"""
        שרנו VERB 0 root _
        לאחר ADP 4 mark
        ש SCONJ 2 fixed
        אכלנו VERB 1 advcl _
        במקום SCONJ 6 mark
        לנוח VERB 1 advcl {INF}
        """)
    )
    assert arcs(found)[1:3] == [("לאחר", 4, "case"), ("ש", 4, "mark")]
    assert found[4].deprel == "case"
    assert found[4].upos == "ADP"


def test_hyphens() -> None:
    found = to_htb(
        tree("""
        ב ADP 3 case
        - PUNCT 1 punct
        יחד NOUN 0 root
        אי ADV 6 compound:affix
        - PUNCT 4 punct
        סדר NOUN 3 conj
        תל PROPN 6 nmod
        - PUNCT 9 punct
        גמא PROPN 7 compound
        """)
    )
    assert arcs(found)[1] == ("-", 1, "fixed")
    assert arcs(found)[4] == ("-", 6, "punct")
    assert arcs(found)[7:] == [("-", 7, "flat:name"), ("גמא", 7, "flat:name")]


def test_comma_hangs_on_what_is_on_both_sides() -> None:
    found = to_htb(
        tree("""
        קנינו VERB 0 root _
        לחם NOUN 1 obj
        , PUNCT 4 punct
        גבינה NOUN 2 conj
        . PUNCT 1 punct
        """)
    )
    assert arcs(found)[2] == (",", 2, "punct")
    assert arcs(found)[4] == (".", 1, "punct")


def test_what_has_no_counterpart_is_dep() -> None:
    found = to_htb(
        tree("""
        דנה PROPN 2 vocative
        בואי VERB 0 root _
        """)
    )
    assert found[0].deprel == "dep"
    assert found[0].lemma == "דנה"


def test_punctuation_only() -> None:
    found = to_htb(tree(", PUNCT 0 root\n: PUNCT 1 punct"))
    assert arcs(found) == [(",", 0, "root"), (":", 1, "punct")]


def test_features_round_trip() -> None:
    assert parse_feats("_") == parse_feats("") == {}
    assert format_feats({}) == ""
    assert format_feats(parse_feats("Number=Sing|Gender=Masc")) == MASC

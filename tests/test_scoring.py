"""Scores against numbers worked out by hand, against the libraries, and their laws."""

import math

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from tutor.evaluation.scoring import (
    Score,
    alignment_error_rate,
    bleu,
    bleu_counts,
    bleu_of_counts,
    chrf,
    exact_match,
    gains,
    moses_bleu,
)

REFERENCES = ["Un homme lit un livre rouge.", "L'homme n'a pas de chien.", "Il dort."]
HYPOTHESES = ["Un homme lit un livre.", "l'homme a un chien.", "Il dort."]
SCORES = (bleu, moses_bleu, chrf, exact_match)

words = st.sampled_from("un le chien homme rouge lit dort l'arbre Paris".split())
sentences = st.lists(words, min_size=4, max_size=9).map(" ".join)
pairs = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=8)
links = st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12)


def test_bleu_by_hand():
    # 7 tokens against 8: precisions 6/7, 3/6, 2/5, 1/4, and a brevity penalty of exp(1 - 8/7).
    score = bleu(["a b c d x e."], ["a b c d e f g."])
    expected = 100 * (6 / 7 * 3 / 6 * 2 / 5 * 1 / 4) ** 0.25 * math.exp(1 - 8 / 7)
    assert score.value == pytest.approx(expected)


def test_counts_of_bleu_by_hand():
    counts = bleu_counts(["a b c d x e.", "a a"], ["a b c d e f g.", "a b"])
    assert counts.tolist() == [[6, 3, 2, 1, 7, 6, 5, 4, 7, 8], [1, 0, 0, 0, 2, 1, 0, 0, 2, 2]]
    assert bleu_of_counts(counts[1]) == 0  # no pair has a match; not smoothed


@given(pairs)
def test_bleu_of_summed_counts_is_sacrebleus_where_nothing_is_smoothed(both):
    ours, theirs = map(list, zip(*both, strict=True))
    counts = bleu_counts(ours, theirs).sum(0)
    assert bleu_of_counts(bleu_counts(ours, ours).sum(0)).item() == pytest.approx(100)
    if counts[:4].all():
        assert bleu_of_counts(counts).item() == pytest.approx(bleu(ours, theirs).value)


def test_gains_are_differences_of_bleu_with_intervals_that_widen_with_their_number():
    theirs = [f"a b c d {i} e f g h." for i in range(40)]
    worse = [s.replace("e f", "f e") if i % 3 else s for i, s in enumerate(theirs)]
    mixed = [s.replace("a b", "b a") if i % 2 else s for i, s in enumerate(theirs)]
    alone = gains({"mixed": mixed}, worse, theirs)["mixed"]
    among = gains({"mixed": mixed, "same": worse, "right": theirs}, worse, theirs)
    assert alone.value == pytest.approx(bleu(mixed, theirs).value - bleu(worse, theirs).value)
    assert among["mixed"].value == alone.value
    assert among["mixed"].low < alone.low < alone.value < alone.high < among["mixed"].high
    assert among["same"] == (0, 0, 0) and among["right"].low > 0


def test_chrf_by_hand():
    # "abcdef" / "abcxef": n-gram matches 5/6, 3/5, 1/4, then 0/3, 0/2, 0/1, and F = P = R here.
    expected = 100 * (5 / 6 + 3 / 5 + 1 / 4) / 6
    assert chrf(["abcdef"], ["abcxef"]).value == pytest.approx(expected)


def test_bleu_and_chrf_are_sacrebleus_own_and_say_how():
    value, signature = bleu(HYPOTHESES, REFERENCES)
    assert value == sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES]).score
    assert "case:mixed" in signature and "tok:13a" in signature and "version:" in signature
    assert chrf(HYPOTHESES, REFERENCES).value == (
        sacrebleu.corpus_chrf(HYPOTHESES, [REFERENCES]).score
    )


def test_moses_bleu_is_bleu_on_tokens_cut_by_hand():
    hypotheses = ["un homme lit un livre .", "l' homme a un chien .", "il dort ."]
    references = ["un homme lit un livre rouge .", "l' homme n' a pas de chien .", "il dort ."]
    expected = sacrebleu.corpus_bleu(hypotheses, [references], tokenize="none", force=True)
    score = moses_bleu(HYPOTHESES, REFERENCES)
    assert score.value == pytest.approx(expected.score)
    for part in ("case:lc", "tok:none", "sacremoses.", ".fr.escape-no"):
        assert part in score.signature


def test_moses_bleu_lowers_the_text_before_it_cuts_it():
    # A full stop before a small letter stays with its word, so "assis. il" is not cut.
    expected = sacrebleu.corpus_bleu(
        ["a b c assis. il lit ."], [["a b c debout. il lit ."]], tokenize="none", force=True
    )
    score = moses_bleu(["A b c assis. Il lit."], ["A b c debout. Il lit."])
    assert score.value == pytest.approx(expected.score)


def test_moses_tokens_depend_on_the_language():
    # French cuts after the apostrophe (l' arbre), German stands it alone (l ' arbre).
    sentences = ["l'arbre l'arbre"], ["l'arbre x'arbre"]
    assert moses_bleu(*sentences, "fr").value != moses_bleu(*sentences, "de").value
    with pytest.raises(ValueError, match="'french': use one of de, en, fr"):
        moses_bleu(*sentences, "french")


def test_flavours_differ_in_case_only_where_they_should():
    hypotheses = [reference.upper() for reference in REFERENCES]
    assert moses_bleu(hypotheses, REFERENCES).value == pytest.approx(100)
    assert bleu(hypotheses, REFERENCES).value < 100


@pytest.mark.parametrize(("tokenised", "plain"), [(1, 1), (100, 150)])
def test_tokenised_text_is_refused_by_bleu_alone(tokenised, plain, caplog):
    hypotheses = ["Un homme lit un livre ."] * tokenised + ["Un homme lit un livre."] * plain
    references = ["Un homme lit un livre."] * len(hypotheses)
    with pytest.raises(ValueError, match=f"{tokenised} of {len(hypotheses)} .*look tokenised"):
        bleu(hypotheses, references)
    assert moses_bleu(hypotheses, references).value == pytest.approx(100)
    assert caplog.records == []


def test_a_stray_space_before_a_full_stop_is_accepted():
    assert bleu([*REFERENCES, "Il lit un livre ."], [*REFERENCES, "Il lit un livre ."]).value > 99


def test_exact_match_counts_whole_sentences():
    assert exact_match(HYPOTHESES, REFERENCES) == 1 / 3
    assert exact_match(["il dort."], ["Il dort."]) == 0


@given(pairs)
@settings(max_examples=50)
def test_equal_texts_score_full(pairs):
    references = [reference for _, reference in pairs]
    for score in (bleu, moses_bleu, chrf):
        assert score(references, references).value == pytest.approx(100)
    assert exact_match(references, references) == 1


@given(pairs, st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_the_order_of_the_pairs_does_not_matter(pairs, random):
    shuffled = random.sample(pairs, len(pairs))
    for score in SCORES:
        before, after = (score(*map(list, zip(*p, strict=True))) for p in (pairs, shuffled))
        assert after == before
        assert 0 <= (before.value if isinstance(before, Score) else before) <= 100.000001


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(
    ("hypotheses", "references", "kind", "words"),
    [
        ("Il dort.", ["Il dort."], TypeError, "hypotheses must be a list of strings, not str"),
        (["Il dort."], "Il dort.", TypeError, "references must be a list of strings, not str"),
        (["Il dort."], [["Il dort."]], TypeError, r"references\[0\] must be a string, not list"),
        (["Il dort.", None], ["a", "b"], TypeError, r"hypotheses\[1\] must be a string"),
        (None, ["Il dort."], TypeError, "not NoneType"),
        (["Il dort."], ["a", "b"], ValueError, "1 hypotheses but 2 references"),
        ([], [], ValueError, "nothing to score"),
    ],
)
def test_bad_input_is_named(score, hypotheses, references, kind, words):
    with pytest.raises(kind, match=words):
        score(hypotheses, references)


def test_aer_by_hand():
    # |A & S| = 1, |A & P| = 2, |A| = 3, |S| = 2.
    predicted = {(0, 0), (1, 2), (3, 3)}
    assert alignment_error_rate(predicted, {(0, 0), (1, 1)}, {(1, 2)}) == pytest.approx(1 - 3 / 5)
    assert alignment_error_rate(predicted, {(0, 0), (1, 1)}) == pytest.approx(1 - 2 / 5)
    assert alignment_error_rate(predicted, set(), {(1, 2)}) == pytest.approx(1 - 1 / 3)
    assert alignment_error_rate(set(), {(0, 0)}) == 1


def test_aer_of_a_corpus_keeps_its_sentences_apart():
    predicted = {(0, 1, 1), (1, 2, 2)}
    assert alignment_error_rate(predicted, {(1, 1, 1), (1, 2, 2)}) == 0.5


@given(links, links.filter(len), links)
def test_aer_laws(predicted, sure, possible):
    rate = alignment_error_rate(predicted, sure, possible)
    assert -1e-12 <= rate <= 1
    assert alignment_error_rate(predicted, sure, possible | sure) == rate
    assert alignment_error_rate(sure, sure, possible) == 0
    # More tolerance never hurts; with none, AER is 1 minus the F-score.
    assert rate <= alignment_error_rate(predicted, sure)
    f_score = 2 * len(predicted & sure) / (len(predicted) + len(sure))
    assert alignment_error_rate(predicted, sure) == pytest.approx(1 - f_score)


@pytest.mark.parametrize(
    ("predicted", "sure", "kind", "words"),
    [
        (set(), set(), ValueError, "undefined"),
        ({(0, 0)}, {(0, 0, 0)}, ValueError, "mixed"),
        ([{(0, 0)}], [{(0, 0)}], TypeError, "not a link"),
        ("0-0", {(0, 0)}, TypeError, "not a link"),
        ({(0.5, 0)}, {(0, 0)}, TypeError, "not a link"),
        (None, {(0, 0)}, TypeError, "None is not a link"),
    ],
)
def test_what_is_not_a_set_of_links_is_named(predicted, sure, kind, words):
    with pytest.raises(kind, match=words):
        alignment_error_rate(predicted, sure)

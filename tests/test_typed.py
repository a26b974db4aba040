"""What the shipped translator is trained on besides captions: slips, haste, and fragments."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.making.typed import SLIPS, fragments, grammar_pairs, hurried, misspell, nearest, slipped

TEXTS = st.text(st.sampled_from("aAbBéz ,.'3"), max_size=30)


@given(TEXTS, st.sampled_from(SLIPS), st.randoms(use_true_random=False))
def test_a_slip_changes_one_place_of_one_word(text, slip, rng):
    new = misspell(text, slip, rng)
    if new == text:
        return
    assert len(new) - len(text) == {"missing": -1, "doubled": 1}.get(slip, 0)
    at = next(
        (i for i, (a, b) in enumerate(zip(text, new, strict=False)) if a != b),
        min(len(text), len(new)),
    )
    width = {"transposed": 2, "wrong": 1, "missing": 1, "doubled": 0}[slip]
    assert new[at + width + len(new) - len(text) :] == text[at + width :]
    if slip == "transposed":
        assert sorted(new.lower()) == sorted(text.lower())
    assert [c for c in new if not c.isalpha()] == [c for c in text if not c.isalpha()]


def test_slips_by_example():
    rng = random.Random(0)
    assert misspell("the", "doubled", rng) in ("tthe", "thhe", "thee")
    assert misspell("Red", "transposed", rng) in ("Erd", "Rde")
    assert misspell("q", "missing", rng) == "q" and misspell("", "wrong", rng) == ""
    assert hurried("A dog on TV.", "Un chien à la télé.", rng)[0].startswith("a dog on tv")
    pairs = [("A dog runs.", "Un chien court.")] * 200
    found = list(slipped(*zip(*pairs, strict=True), 0))
    assert (
        found
        == list(slipped(*zip(*pairs, strict=True), 0))
        != list(slipped(*zip(*pairs, strict=True), 1))
    )
    assert {french for _, french in found} == {
        "Un chien court.", "un chien court.", "un chien court",
    }  # fmt: skip


def test_no_fragment_stands_in_two_splits():
    splits = {split: fragments(split, 300) for split in ("train", "val", "test")}
    texts = [{pair.english for pair in pairs} for pairs in splits.values()]
    assert [len(each) for each in texts] == [300] * 3
    assert not (texts[0] & texts[1] or texts[1] & texts[2] or texts[0] & texts[2])
    for pair in splits["test"]:
        assert pair.english.endswith(".") and pair.french[0].isupper()
    learned = {english.lower().rstrip(".") for english, _ in grammar_pairs(0, 2_000, 15_000)}
    assert not learned & {pair.english.lower().rstrip(".") for pair in splits["test"]}


class Teacher:
    def translate(self, texts, beams, n_best):
        assert beams == n_best == 5
        return [[(f"Un {text}.", -1.0), ("Le chien court.", -2.0)] for text in texts]


@pytest.mark.parametrize("kept", ["", "Un chat.\n"])
def test_the_translation_nearest_to_the_real_one_is_taken(tmp_path, kept):
    path = tmp_path / "nearest.fr"
    path.write_text(kept, encoding="utf-8")
    real = ["Un chat.", "Le chien court vite."]
    assert nearest(Teacher(), ["chat", "x"], real, path) == ["Un chat.", "Le chien court."]
    assert path.read_text(encoding="utf-8") == "Un chat.\nLe chien court.\n"

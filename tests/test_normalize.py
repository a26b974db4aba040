"""The door that source sentences come in by: one spelling goes on, and texts that look alike meet.

That the page's JavaScript has the same door is held in test_page_model.py.
"""

import sys
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tutor.commands.common import read_pairs
from tutor.models import load_pretrained
from tutor.models.small import load_small
from tutor.text.normalize import (
    APOSTROPHES,
    INVISIBLE,
    QUOTES,
    as_sentence,
    as_typed,
    mend_slips,
    normalize,
)
from tutor.translator import Translator
from tutor.views.base import asked

SPACES = "".join(filter(str.isspace, map(chr, range(sys.maxunicode + 1))))
MEANT = "\u200c\u200d"  # joiners
ODD = st.sampled_from(SPACES + INVISIBLE + APOSTROPHES + QUOTES + MEANT + "'\"aeio\u0301\u0327")
TEXTS = st.lists(ODD | st.characters(), max_size=20).map("".join)  # st.text draws ODD no oftener
WORDS = st.lists(
    st.sampled_from(["A", "man", "in", "a", "café", "it's", "‘this’", "“Noël”", "fête."]),
    min_size=1, max_size=6,
)  # fmt: skip


@pytest.fixture(scope="module")
def translator():
    return load_small(0)


@given(TEXTS)
@example("e\u200b\u0301")
def test_what_came_in_once_comes_in_unchanged(text):
    once = normalize(text)
    assert normalize(once) == once
    assert not set(once) & {*SPACES, *INVISIBLE, *APOSTROPHES, *QUOTES} - {" "}
    assert once == once.strip() and "  " not in once and unicodedata.is_normalized("NFC", once)
    assert [c for c in once if c in MEANT] == [c for c in text if c in MEANT]


@given(TEXTS.map(normalize))
def test_a_sentence_is_read_as_it_is(text):
    once = as_sentence(text)
    assert as_sentence(once) == once or once.isupper()  # "NO." and "TV." stay in capitals
    assert as_typed(once, "Un chien.") in ("Un chien.", "UN CHIEN.", "un chien.")


@pytest.mark.parametrize(
    ("typed", "read", "answer"),
    [
        ("A dog runs.", "A dog runs.", "Le TGV."),
        ("a dog", "A dog.", "le TGV"),
        ("A DOG RUNS", "A dog runs.", "LE TGV"),
        ("DOGS!", "Dogs!", "LE TGV."),
        ("TV", "TV.", "Le TGV"),
        ("a man watches TV", "A man watches TV.", "le TGV"),
        ("3 DOGS?", "3 dogs?", "LE TGV."),
        ('He says "no"', 'He says "no".', "Le TGV"),
        ("", "", "Le TGV."),
        ("Ⓐ", "Ⓐ", "Le TGV."),  # a capital that is no letter
    ],
)
def test_what_is_typed_in_a_hurry_is_read_as_a_sentence(typed, read, answer):
    assert as_sentence(typed) == read
    assert as_typed(typed, "Le TGV.") == answer


RANKS = {"the": 0, "dog": 1, "a": 2, "form": 3, "farm": 4, "from": 5, "hat": 6}


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("hte dgo", "the dog"),  # exchanged
        ("Te do.", "The dog."),  # left out; a capital stays
        ("frm", "form"),  # of two that are possible the one of lower rank
        ("from a hat", "from a hat"),  # known
        ("rome", "rome"),  # two slips away
        ("TE DG", "TE DG"),  # abbreviations
        ("dgo's été-dgo dgo1 dgoé", "dgo's été-dog dgo1 dgoé"),  # no word that stands alone
        ("t" + "h" * 40, "t" + "h" * 40),
    ],
)
def test_a_word_that_nobody_knows_is_read_as_one_a_slip_away(typed, read):
    assert mend_slips(typed, RANKS) == read


@settings(max_examples=300)
@given(st.text("abc", min_size=3, max_size=9), st.data())
def test_each_slip_is_found_again(word, data):
    at = data.draw(st.integers(0, len(word) - 2))
    swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    for slip in (swapped, word[:at] + word[at + 1 :]):
        assert mend_slips(slip, {word: 0}) == word


def test_a_slip_is_mended_for_the_translator_and_in_its_record(translator, tmp_path):
    caption, typed = "A dog is running.", "a dgo is rnning"
    knows = Translator(
        translator.model, translator.tokenizer, True, words=caption.lower()[:-1].split()
    )
    knows.save(tmp_path / "model")
    loaded = Translator.load(tmp_path / "model")
    assert loaded.words == knows.words
    assert loaded.encode([typed]) == translator.encode([caption]) != translator.encode([typed])
    with pytest.warns(UserWarning, match="^Read as: A dog is running.$"):
        recorded = loaded.record(typed)
    assert recorded.source == translator.record(caption).source


@pytest.mark.parametrize("lines", ["dog\nDog\n", "dog\n\ncat\n", "été\n", "a" * 2_000_001])
def test_a_damaged_list_of_words_is_refused(translator, tmp_path, lines):
    translator.save(tmp_path / "model")
    (tmp_path / "model" / "words.txt").write_text(lines, encoding="utf-8")
    with pytest.raises(ValueError, match=r"words\.txt (holds|has more)"):
        Translator.load(tmp_path / "model")


def test_variants_of_a_caption_are_translated_to_the_letter():
    translator = load_pretrained()
    caption = "A man is riding a white horse on the beach."
    [french] = translator.translate([caption])
    shouted, quick = caption.upper(), caption.lower().removesuffix(".")
    assert translator.translate([shouted, quick, caption[:-1]]) == [
        french.upper(), french[0].lower() + french[1:-1], french[:-1],
    ]  # fmt: skip
    recorded = translator.record(quick)
    assert (recorded.text, recorded.translation) == (quick, french[0].lower() + french[1:-1])
    assert recorded.source == translator.record(caption).source


def test_a_model_says_whether_it_reads_sentences(translator, tmp_path):
    for sentences in (True, False):
        Translator(translator.model, translator.tokenizer, sentences).save(tmp_path / "model")
        assert Translator.load(tmp_path / "model").sentences is sentences
    assert load_pretrained().sentences and not translator.sentences


@pytest.mark.filterwarnings("ignore:.*did not end by themselves")
@settings(max_examples=15)
@given(WORDS, st.lists(st.text(st.sampled_from(SPACES), min_size=1), min_size=7, max_size=7))
def test_texts_that_look_alike_are_translated_alike(translator, words, spaces):
    plain = " ".join(words)
    typed = "".join(map("".join, zip(spaces, [*words, ""], strict=False))) + spaces[-1]
    alike = [
        plain,
        unicodedata.normalize("NFD", plain),
        typed,
        plain.replace("'", "\u2019"),
        plain.translate(str.maketrans("‘’“”", "''\"\"")),
        "\ufeff" + plain.replace("n", "n\u200b"),
    ]
    assert len(set(translator.translate(alike))) == 1
    assert translator.record(typed).translation == translator.translate([plain])[0]


@pytest.mark.parametrize("text", ["\u200b", "\ufeff", "\u2060\u3000\u200e"])
def test_a_text_with_nothing_in_it_is_refused_as_a_blank_one(translator, text):
    assert translator.translate([text]) == [""]
    with pytest.raises(ValueError, match="There is nothing to translate"):
        translator.record(text)
    assert asked(translator.record, text) == (None, "Write a sentence first.")


def test_of_pairs_that_are_read_only_sources_are_normalized(tmp_path):
    odd = "\u200bUn  cafe\u0301, l\u2019eau"
    for name in ("en", "fr"):
        (tmp_path / name).write_text(f"{odd}\n", "utf-8")
    sources, targets = read_pairs(tmp_path / "en", tmp_path / "fr")
    assert (sources, targets) == (["Un café, l'eau"], [odd])

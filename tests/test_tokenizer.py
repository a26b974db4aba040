"""Any text goes in and comes out the same, also by way of a file."""

import pytest
import tokenizers
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tutor.text.tokenizer import BOS, EOS, PAD, SPECIAL, UNK, Tokenizer

TEXTS = [
    "A man is riding a horse in the snow.",
    "Un homme monte à cheval dans la neige.",
    "Two women are reading a book near the horse.",
    "Deux femmes lisent un livre près de l'homme.",
] * 3
TOKENIZER = Tokenizer.train(TEXTS, 330)

texts = st.text(st.characters(exclude_categories=["Cs"]))  # surrogates are no text


def examples(test):
    for text in (
        "[EOS]", "[PAD][UNK] [BOS]", "▁", " ▁Ġ ", "", " ", "\n", "  a\r\n\tb  ", "👩🏽‍🚀 🇫🇷",
        "e\u0301 \u00e9", "l’homme d'à côté", "\x00\ufffe\u202e", "漢字 กำ", "_x_", "١٢½²",
    ):  # fmt: skip
        test = example(text)(test)
    return test


@given(texts)
@examples
@settings(max_examples=200)
def test_round_trip_of_any_text_without_special_ids(text):
    ids = TOKENIZER.encode(text)
    assert TOKENIZER.decode(ids) == text
    assert all(len(SPECIAL) <= i < len(TOKENIZER) for i in ids)


@given(st.lists(texts, max_size=4))
@settings(max_examples=30)
def test_a_list_is_encoded_one_by_one(batch):
    assert TOKENIZER.encode(batch) == [TOKENIZER.encode(text) for text in batch]


def test_a_saved_tokenizer_gives_the_same_ids(tmp_path):
    TOKENIZER.save(tmp_path / "tokenizer.json")
    loaded = Tokenizer.load(tmp_path / "tokenizer.json")
    assert len(loaded) == len(TOKENIZER)
    for text in [*TEXTS, "[EOS] ▁ \n 🙂 Zürich, 1905"]:
        assert loaded.encode(text) == TOKENIZER.encode(text)
        assert loaded.decode(loaded.encode(text)) == text


def test_special_ids_are_0_to_3_and_are_left_out_of_texts():
    assert [TOKENIZER.model.token_to_id(token) for token in SPECIAL] == [PAD, UNK, BOS, EOS]
    assert [PAD, UNK, BOS, EOS] == [0, 1, 2, 3]
    ids = TOKENIZER.encode("A man")
    assert TOKENIZER.decode([BOS, *ids, UNK, EOS, PAD, PAD]) == "A man"
    assert TOKENIZER.decode([BOS, EOS]) == TOKENIZER.decode([]) == ""


def test_what_is_no_text_and_ids_of_no_token_are_refused_in_a_sentence():
    for texts in (None, ["A man", None], [3]):
        with pytest.raises(TypeError, match="encode takes a text or a list of texts, not"):
            TOKENIZER.encode(texts)
    with pytest.raises(UnicodeEncodeError, match="surrogates not allowed"):
        TOKENIZER.encode("\ud800 man")
    for ids in ([-1], [5, len(TOKENIZER)]):
        with pytest.raises(
            ValueError, match=f"ids must lie between 0 and {len(TOKENIZER) - 1}, not"
        ):
            TOKENIZER.decode(ids)


def test_decoding_loses_no_letter_of_a_text_that_begins_without_a_space():
    # A model may write any ids; only a space at the front is dropped.
    inside = TOKENIZER.encode("l'homme")[-1:]
    assert TOKENIZER.decode(inside) == TOKENIZER.model.decode(inside) == "homme"


def test_learned_merges():
    # A frequent word is one token, wherever it stands; l' is cut off; punctuation stands apart.
    assert TOKENIZER.tokens("horse horse.") == ["_horse", "_horse", "."]
    assert TOKENIZER.tokens("l'homme") == ["_l'", "homme"]
    # A character never seen falls back to its bytes: no [UNK].
    assert len(TOKENIZER.encode("🙂")) == 1 + len("🙂".encode())


def test_training_is_repeatable_and_keeps_to_the_size_asked_for():
    again = Tokenizer.train(iter(TEXTS), 330)
    assert again.model.get_vocab() == TOKENIZER.model.get_vocab()
    assert len(TOKENIZER) == 330
    assert len(Tokenizer.train(TEXTS, 260)) == 260  # bytes alone
    assert Tokenizer.train(TEXTS, 260).decode(Tokenizer.train([], 260).encode("é")) == "é"


def test_too_small_a_vocabulary_is_named():
    with pytest.raises(ValueError, match="at least 260, not 259"):
        Tokenizer.train(TEXTS, 259)


def test_one_text_is_not_taken_for_a_list_of_letters():
    with pytest.raises(TypeError, match=r"not one text: train\(\[text\]\)"):
        Tokenizer.train("abc def", 300)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": "1.0"}', "\x00"])
def test_a_file_that_is_no_tokenizer_is_named(tmp_path, content):
    (tmp_path / "bad.json").write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=r"bad\.json is not a tokenizer file"):
        Tokenizer.load(tmp_path / "bad.json")


def test_a_missing_file_is_named(tmp_path):
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(FileNotFoundError, match="no tokenizer at"):
            Tokenizer.load(path)


def test_somebody_elses_tokenizer_is_named(tmp_path):
    other = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "b": 1}, unk_token="b"))
    other.save(str(tmp_path / "other.json"))
    with pytest.raises(ValueError, match=r"other\.json.*do not begin with.*\[PAD\].*\[EOS\]"):
        Tokenizer.load(tmp_path / "other.json")

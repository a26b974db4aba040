"""Text in, text out: order, blanks, neighbours, limits. The models are untrained."""

import itertools
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course.making.typed import fragments, is_negated
from tutor import (
    Transformer,
    TransformerConfig,
    Translator,
    load_pretrained,
    models,
    record_attention,
    translator,
)
from tutor.evaluation.scoring import exact_match
from tutor.language_model import LanguageModel, LanguageModelConfig
from tutor.record import shares_of_length, value_lengths
from tutor.text.grammar import generate_pairs
from tutor.text.tokenizer import BOS, EOS, Tokenizer

TOKENIZER = Tokenizer.train([], 260)  # a token a byte
# An untrained model does not know where a sentence ends.
pytestmark = pytest.mark.filterwarnings("ignore:.*did not end by themselves")


@pytest.fixture(scope="module")
def toy():
    torch.manual_seed(0)
    config = TransformerConfig(260, d_model=8, num_heads=2, d_ff=16, num_layers=1, max_len=70)
    # In float64 no rounding decides between two tokens.
    return Translator(Transformer(config).double(), TOKENIZER)


TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=15), max_size=5)


@settings(max_examples=10)
@given(texts=TEXTS)
def test_a_translation_does_not_depend_on_its_neighbours(toy, texts):
    alone = [toy.translate([text])[0] for text in texts]
    assert toy.translate(texts) == alone
    assert toy.translate(texts[::-1]) == alone[::-1]


def test_many_texts_keep_their_order(toy):
    texts = [str(i) for i in range(translator.MAX_BATCH_SENTENCES)]
    texts += ["longer " + text for text in reversed(texts)]
    alone = {i: toy.translate([texts[i]])[0] for i in (0, 1, 100, 127, 128, 255)}
    assert len(set(alone.values())) > 1
    together = toy.translate(texts)
    assert {i: together[i] for i in alone} == alone


@pytest.mark.filterwarnings("error:.*have more than")
def test_blank_texts_give_nothing(toy):
    assert toy.translate([]) == []
    first, *rest = toy.translate(["dog", "", " \t\u00a0", " " * 500])
    assert first == toy.translate(["dog"])[0] != ""
    assert rest == ["", "", ""]


def test_a_text_that_is_too_long_is_cut_with_a_warning(toy, monkeypatch):
    seen, greedy = [], translator.greedy
    monkeypatch.setattr(translator, "greedy", lambda *a, **k: seen.append(a[1]) or greedy(*a, **k))
    text = "abc" * 50
    with pytest.warns(UserWarning, match="1 of 2 texts have more than the 69 tokens"):
        cut = toy.translate(["dog", text])[1]
    # A space in front belongs to the 69 tokens; the end of the sentence is the 70th.
    assert seen[0][1].tolist() == [*TOKENIZER.encode(text[:68]), EOS]
    assert cut == toy.translate([text[:68]])[0]


def test_dropout_is_off_and_no_gradient_is_kept():
    config = TransformerConfig(
        260, d_model=8, num_heads=2, d_ff=16, num_layers=1, dropout=0.9, max_len=30
    )
    model = Transformer(config).double().train()
    seen = []
    model.encoder.register_forward_hook(lambda module, args, out: seen.append(out.requires_grad))
    first, second = (Translator(model, TOKENIZER).translate(["a dog"]) for _ in range(2))
    assert first == second and model.training
    assert seen == [False, False]


@pytest.mark.parametrize("texts", ["a dog", None, ["a dog", None], [b"a dog"], b"a dog"])
def test_only_a_list_of_texts_is_taken(toy, texts):
    with pytest.raises(TypeError, match="translate takes a list of str"):
        toy.translate(texts)


def test_a_tokenizer_of_another_size_is_refused(toy):
    with pytest.raises(ValueError, match="260 rows, but the tokenizer has 262 ids"):
        Translator(toy.model, Tokenizer.train(["a red dog"], 262))


def test_a_language_model_is_refused(toy):
    with pytest.raises(TypeError, match="encoder and a decoder"):
        Translator(LanguageModel(LanguageModelConfig(260)), toy.tokenizer)


def test_saved_and_loaded_it_says_the_same(toy, tmp_path, monkeypatch):
    model = Transformer(toy.model.config)
    texts = ["a dog", "", "deux œufs 🙂"]
    expected = Translator(model, TOKENIZER).translate(texts)
    Translator(model, TOKENIZER).save(tmp_path / "model", card="A toy.")
    assert Translator.load(tmp_path / "model").translate(texts) == expected
    monkeypatch.setattr(models, "PRETRAINED", tmp_path / "model")
    assert load_pretrained().translate(texts) == expected
    monkeypatch.setattr(models, "PRETRAINED", tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="ships without a trained model"):
        load_pretrained()


def test_a_translation_that_does_not_end_is_named(toy):
    with pytest.warns(UserWarning, match="1 of 2 translations did not end .* that of 'dog'"):
        (text, *_), blank = toy.translate(["dog", ""], beams=2)
    assert text and blank == ""


@pytest.fixture(scope="module")
def trained():
    return load_pretrained()


SENTENCES = ["Two dogs are running on the beach.", "", "A man in a red hat."]


def test_n_best_are_the_best_with_their_scores(trained):
    best = trained.translate(SENTENCES, beams=4)
    found = trained.translate(SENTENCES, beams=4, n_best=3)
    assert [each[0][0] for each in found] == best
    assert [len(each) for each in found] == [3, 1, 3]
    for each in found:
        scores = [score for _, score in each]
        assert scores == sorted(scores, reverse=True)
    assert found[1] == [("", 0.0)]
    assert trained.translate(SENTENCES, beams=1) == trained.translate(SENTENCES)


@pytest.mark.parametrize("wrong", [{"beams": 0}, {"beams": 2, "n_best": 3}, {"n_best": 2}])
def test_a_search_that_cannot_be_is_refused(toy, wrong):
    with pytest.raises(ValueError, match="must"):
        toy.translate(["dog"], **wrong)


def test_a_recording_is_the_translation_with_the_matrices_that_made_it(trained):
    text = SENTENCES[0]
    recording = trained.record(text)
    for A in itertools.chain(*recording.attention.values()):
        A.requires_grad_()  # they may be computed with like any tensor
    assert recording.text == text and [recording.translation] == trained.translate([text])
    tokenizer, model = trained.tokenizer, trained.model
    assert recording.source == [*tokenizer.tokens(text), "[EOS]"]
    assert recording.target == [*tokenizer.tokens(recording.translation), "[EOS]"]
    assert recording.inputs == ["[BOS]", *tokenizer.tokens(recording.translation)]
    # The same matrices as those of one whole pass over what was written.
    source_ids = torch.tensor([[*tokenizer.encode(text), EOS]])
    target_ids = torch.tensor([[BOS, *tokenizer.encode(recording.translation)]])
    with torch.no_grad(), record_attention(model) as attention:
        model(source_ids, target_ids)
    assert list(recording.attention) == [*attention, "length"]
    for kind, layers in attention.items():
        assert len(layers) == len(recording.attention[kind]) == model.config.num_layers
        for whole, stepwise in zip(layers, recording.attention[kind], strict=True):
            torch.testing.assert_close(stepwise, whole[0], rtol=0, atol=1e-5)
    lengths = value_lengths(model, model.encode(source_ids))  # (L, N, h, S)
    for A, of_layer, shares in zip(
        attention["cross"], lengths, recording.attention["length"], strict=True
    ):
        torch.testing.assert_close(shares, shares_of_length(A, of_layer)[0], rtol=0, atol=1e-5)
    with pytest.raises(ValueError, match="nothing to translate"):
        trained.record(" ")
    with pytest.raises(TypeError, match="list of str"):
        trained.record(None)


def test_half_a_surrogate_pair_is_read_as_an_unknown_character(toy):
    assert toy.translate(["dog \ud800"]) == toy.translate(["dog \ufffd"])
    assert toy.encode(["\ud83d\ude00"]) == toy.encode(["😀"])  # two halves make a whole


def test_what_the_card_says_becomes_of_a_sentence_does():
    card = (models.PRETRAINED / "card.md").read_text(encoding="utf-8")
    said = re.findall(r'"([^"]+)" becomes \*([^*]+)\*', " ".join(card.split()))
    assert len(said) >= 2
    assert load_pretrained().translate([english for english, _ in said]) == [f for _, f in said]


def test_the_model_that_ships_knows_the_negation_of_the_grammar():
    pairs = [pair for pair in generate_pairs("val", 400) if is_negated(pair)][:40]
    written = load_pretrained().translate([pair.english for pair in pairs])
    assert len(pairs) == 40 and exact_match(written, [pair.french for pair in pairs]) > 0.7
    assert all(re.search(r"\bne |\bn'", text) for text in written)


def test_the_model_that_ships_reads_fragments_of_the_grammar():
    pairs = fragments("val", 40)
    written = load_pretrained().translate([pair.english for pair in pairs])
    assert exact_match(written, [pair.french for pair in pairs]) > 0.7

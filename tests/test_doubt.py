"""A translator knows when it does not know: strangeness, the threshold, and who is told."""

import json
import os
from pathlib import Path

import pytest
import torch

from tutor.models import PRETRAINED, load_pretrained, small
from tutor.record import DOUBT
from tutor.text.batches import make_batch
from tutor.text.grammar import generate_pairs
from tutor.text.multi30k import load_multi30k
from tutor.translator import Translator
from tutor.views import AttentionView, JourneyView

HERE = Path(__file__).parent
OTHERS = json.loads((HERE / "benchmarks" / "others.json").read_text(encoding="utf-8"))
CAPTION, OTHER = "Two dogs are running on the beach.", "The parliament rejected the amendment."


@pytest.fixture(scope="module")
def translator():
    return load_pretrained()


def test_strangeness_by_hand(translator):
    # Six nats for three tokens, and eight tokens read for four words.
    assert translator.strangeness("A dog  runs home.", 8, 3, -6.0) == 4.0
    assert translator.strangeness(" ", 1, 1, -6.0) == 0.0


@pytest.mark.parametrize("beams", [1, 3])
def test_it_is_that_of_one_forward_pass(translator, beams):
    texts = [*(pair.english for pair in generate_pairs("val", 5)), "Winter is cold."]
    found = translator.translations(texts, beams)
    assert [each.text for each in found] == translator.translate(texts, beams)
    for text, each in zip(texts, found, strict=True):
        [source] = translator.encode([text])
        target = translator.tokenizer.encode(each.text)
        batch = make_batch([(source[:-1], target)])
        with torch.no_grad():
            Z = translator.model(batch.source, batch.target_in)[0]  # (T, vocab_size)
        log_p = Z.log_softmax(-1).gather(1, batch.target_out[0][:, None]).sum().item()
        wanted = translator.strangeness(text, len(source), len(target) + 1, log_p)
        assert each.strangeness == pytest.approx(wanted, abs=2e-2)


def test_what_does_not_end_is_doubted_and_a_model_without_a_threshold_doubts_nothing(translator):
    assert translator.doubts(0.0, finished=False) and not translator.doubts(0.0)
    own = small.load_small(0)
    assert own.doubted_above is None
    assert not any(each.doubted for each in own.translations([CAPTION, OTHER, ""]))


def test_texts_of_four_other_kinds_are_doubted(translator):
    found = {kind: translator.translations(texts) for kind, texts in OTHERS.items()}
    shares = {kind: sum(each.doubted for each in all_) / len(all_) for kind, all_ in found.items()}
    assert len(shares) == 4 and all(len(texts) == 50 for texts in OTHERS.values())
    assert min(shares.values()) >= 0.75 and sum(shares.values()) / 4 >= 0.9
    strange = torch.tensor([each.strangeness for all_ in found.values() for each in all_])
    text = PRETRAINED.with_name("strangeness.json").read_text(encoding="utf-8")
    kept = torch.tensor(json.loads(text)["hundredths"]["other texts"])  # measured with this model
    assert torch.allclose(strange.quantile(torch.arange(101) / 100), kept, atol=0.05)


def test_few_captions_are_doubted(translator):
    if not os.environ.get("TUTOR_DATA"):
        pytest.skip("TUTOR_DATA names no folder with Multi30k")
    captions, _ = load_multi30k("val")
    doubted = sum(each.doubted for each in translator.translations(captions[:500]))
    assert 1 <= doubted <= 20


def test_views_say_it_and_take_it_back(translator):
    attention = AttentionView(translator.record(CAPTION), run=translator.record)
    assert attention.message == ""
    slip = CAPTION.replace("dogs", "dgos")
    for text, message in ((OTHER, DOUBT), (CAPTION, ""), (slip, f"Read as: {CAPTION}")):
        attention.ask(text)
        assert attention.message == message
        assert JourneyView(translator, text).facts["message"] == message
    # A reader who chose the tokens is not told what the model would have doubted.
    assert JourneyView(translator, OTHER, written=[9]).facts["message"] == ""


@pytest.mark.parametrize("above", [1.25, None])
def test_the_threshold_is_kept(translator, tmp_path, above):
    model = Translator(translator.model, translator.tokenizer, doubted_above=above)
    model.save(tmp_path / "model")
    assert Translator.load(tmp_path / "model").doubted_above == above


def test_a_threshold_that_is_no_number_is_refused(translator, tmp_path):
    translator.save(tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    for above in ("high", True, [1]):
        path.write_text(json.dumps(config | {"doubted_above": above}), encoding="utf-8")
        with pytest.raises(ValueError, match="doubted_above .*: it must be a number"):
            Translator.load(tmp_path / "model")

"""JourneyView: what it says about a run is what the model did, and each question has an answer.

Its numbers are compared with the model's in test_trace.py.
"""

import json
import math
from base64 import b64encode

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Text
from pytorch_twins import HEADS, PLACES

from tutor import Transformer, TransformerConfig, Translator, load_pretrained
from tutor.decoding import greedy
from tutor.text.tokenizer import BOS, EOS, Tokenizer
from tutor.trace import scaled, trace
from tutor.views import JourneyView
from tutor.views.base import EXPORT

TEXT = "A man is riding a white horse."
OFF = {"decoder.1.cross.head.3": 0, "encoder.0.ff": 0.5}


@pytest.fixture(scope="module")
def translator():
    return load_pretrained()


@pytest.fixture
def view(translator):
    return JourneyView(translator, TEXT)


@pytest.fixture(scope="module")
def small():
    """An untrained translator of another shape, with a limit that its translations run into."""
    torch.manual_seed(0)
    tokenizer = Tokenizer.train(["a b c d e f"], vocab_size=260)
    sizes = dict(d_model=12, num_heads=3, d_k=3, d_v=5, d_ff=10, num_layers=2, max_len=8)
    return Translator(Transformer(TransformerConfig(len(tokenizer), **sizes)), tokenizer)


def ask(view, **question):
    """What the kernel answers to a question of the page."""
    sent = []
    view.send = lambda content, buffers=None: sent.append((content, buffers))
    view._handle_custom_msg({"ask": "page 1", **question}, [])
    [(answer, buffers)] = sent
    assert answer.pop("answer") == "page 1"
    json.dumps(answer, allow_nan=False)
    return answer, buffers


def test_it_writes_what_the_translator_writes(view, translator):
    facts = view.facts
    assert facts["translation"] == translator.translate([TEXT])[0] and facts["message"] == ""
    assert [facts["source_ids"]] == translator.encode([TEXT])
    assert facts["target_ids"] == [*translator.tokenizer.encode(facts["translation"]), EOS]
    assert facts["read"] == ["[BOS]", *facts["target"][:-1]] and facts["target"][-1] == "[EOS]"
    numbers = trace(translator.model, facts["source_ids"], [BOS, *facts["target_ids"][:-1]])
    assert view.numbers("decoder.3.cross.parts").equal(numbers["decoder.3.cross.parts"])
    sizes = dict(layers=4, heads=4, d_model=128, d_k=32, d_v=32, d_ff=512, vocab_size=4000)
    assert facts["config"] == {**sizes, "norm_first": True}


def test_facts_agree_with_the_numbers(view):
    Z = view.numbers("logits")  # (T, vocab_size)
    shares = Z.softmax(-1)
    for t, top in enumerate(view.facts["top"]):
        tokens, ids, logits = zip(*top, strict=True)
        assert list(tokens) == view.translator.tokenizer.readable(ids) and len(ids) == 12
        assert ids[0] == view.facts["target_ids"][t] and min(ids) >= EOS
        assert sorted(ids) == sorted((Z[t, EOS:].topk(12).indices + EOS).tolist())
        found = [math.exp(z - view.facts["log_sum_exp"][t]) for z in logits]
        assert found == pytest.approx(shares[t, list(ids)].tolist(), abs=1e-5)
        assert view.numbers(f"logits.{t}").equal(Z[t])
    for place, lengths in view.facts["lengths"].items():
        for name, found in lengths.items():
            X = view.numbers(f"{place}.{name}")
            assert found == pytest.approx(X.square().sum(-1).sqrt().tolist(), rel=1e-4, abs=1e-4)
    assert set(view.facts["lengths"]) > {"encoder.3.ff", "decoder.3.cross"}
    for place, heads in view.facts["heads"].items():
        parts = view.numbers(f"{place}.parts")  # (h, T, d_model)
        torch.testing.assert_close(
            torch.tensor(heads), parts.square().sum(-1).sqrt(), atol=1e-4, rtol=1e-4
        )
    assert len(view.facts["heads"]) == 12


@settings(max_examples=15)
@given(
    scales=st.dictionaries(st.sampled_from(PLACES + HEADS), st.sampled_from([0, 0.5, 3])),
    written=st.lists(st.integers(3, 259), max_size=9),
    text=st.sampled_from(["a b", "c"]),
)
@example(scales={}, written=[5, EOS, 7, 7, 7, 7, 7, 7, 7], text="a b")
def test_the_model_goes_on_from_what_the_reader_chose(small, scales, written, text):
    """Whatever was shown before, and with the factors in every step."""
    view = JourneyView(small, "a b")
    view.begin(text, written, scales)
    target = view.facts["target_ids"]
    until = written.index(EOS) + 1 if EOS in written else 8
    assert view.written == target[: len(written)] == written[:until][:8]
    assert view.scales == scales and view.text == text
    assert (target[-1] == EOS) == (view.facts["message"] == "") and len(target) <= 8
    source_ids = torch.tensor(small.encode([text]))
    ids = torch.tensor([[BOS, *target[:-1]]])
    with scaled(small.model.eval(), scales), torch.no_grad():
        logits = small.model(source_ids, ids)[0]  # (T, vocab_size)
        if not written:
            assert greedy(small.model, source_ids)[0].ids == [i for i in target if i != EOS]
    torch.testing.assert_close(view.numbers("logits"), logits, rtol=0, atol=1e-5)
    best = (logits[:, EOS:].argmax(-1) + EOS).tolist()
    assert best[len(view.written) :] == target[len(view.written) :]


def test_the_bars_alone_are_the_same_run(translator, view):
    bars = JourneyView(translator, TEXT, bars=True)
    assert bars.facts == view.facts and bars.table() == view.table()
    assert bars.saved_state()["bars"] and not view.saved_state()["bars"]
    assert "Shown: the next token." in bars.describe()
    bars.step = 2
    assert f"{TEXT}\n→ _Un _homme ▸ {' '.join(bars.facts['target'][2:])}" in texts_of(bars)


def test_a_change_and_its_undoing(view):
    before = view.facts
    view.step = -1
    assert view.step == len(before["target"]) - 1
    view.begin(TEXT, written=[EOS], scales=OFF)
    assert view.facts["target"] == ["[EOS]"] and view.step == 0 and view.scales == OFF
    assert (
        "layer 1, cross-attention, head 3 × 0; encoder layer 0, feed-forward × 0.5."
        in view.describe()
    )
    view.begin(TEXT)
    assert view.facts == before


def test_one_pass_is_enough_where_the_translation_stays(view, monkeypatch):
    monkeypatch.setattr("tutor.views.journey.write", None)  # would fail
    logits = view.numbers("logits")
    view.begin(TEXT, scales={"decoder.0.self.head.0": 0.9})
    assert not logits.equal(view.numbers("logits"))
    view.begin(TEXT, written=view.facts["target_ids"][:2])
    assert logits.equal(view.numbers("logits")) and len(view.written) == 2


def test_what_the_page_asks(view, translator):
    answer, _ = ask(view, begin={"text": "Two dogs.", "written": [300], "scales": OFF})
    assert answer["facts"] == view.facts and view.written == [300] and view.scales == OFF
    answer, [data, _] = ask(view, numbers=["encoder.1.self.A", "encoder.out"])
    S = len(view.facts["source"])
    assert answer["shapes"] == [[4, S, S], [S, 128]]
    A = torch.tensor(np.frombuffer(data, "<f4")).reshape(answer["shapes"][0])
    assert A.equal(view.numbers("encoder.1.self.A"))
    assert ask(view, tokens=[3, 300])[0]["tokens"] == translator.tokenizer.readable([3, 300])


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({"begin": {"text": " "}}, "Write a sentence first."),
        ({"begin": {"text": None}}, "Write a sentence first."),
        ({"begin": {"text": TEXT, "written": [2]}}, "whole numbers from 3 to 3999."),
        ({"begin": {"text": TEXT, "written": [4000]}}, "whole numbers from 3 to 3999."),
        ({"begin": {"text": TEXT, "written": "no"}}, "whole numbers from 3 to 3999."),
        ({"begin": {"text": TEXT, "scales": {"x": 0}}}, 'head, "decoder.2.cross.head.3".'),
        ({"begin": {"text": TEXT, "scales": {PLACES[0]: "a"}}}, "to 100, not 'a'."),
        ({"numbers": ["encoder.out", "encoder.9.self.A"]}, "no numbers called 'encoder.9.self.A'."),
        ({"numbers": ["logits.99"]}, "no numbers called 'logits.99'."),
        ({"numbers": [3]}, "is a text, not 3."),
        ({"tokens": [-1]}, "whole numbers from 0 to 3999."),
        ({}, "A question is begin, numbers or tokens."),
    ],
)
def test_what_cannot_be_answered_is_said(view, question, words):
    before = view.facts
    answer, buffers = ask(view, **question)
    assert answer["error"].endswith(words) and "\n" not in answer["error"] and buffers is None
    assert view.facts is before and view.numbers("logits") is not None


def test_the_reader_hears_of_what_is_odd(view):
    view.begin("日本語の文章です")
    assert view.facts["message"].startswith("The model never learned to read most of these")
    view.begin("dog " * 300)
    assert "have more than the 255 tokens that this model reads" in view.facts["message"]
    assert view.facts["message"].endswith("by itself and was cut after 256 tokens.")


def test_each_level_has_its_picture(view):
    places = {
        "": "the whole model",
        "encoder.1": "encoder layer 1",
        "decoder.1.ff": "decoder layer 1, feed-forward",
        "decoder.1.cross": "decoder layer 1, cross-attention",
        "decoder.1.cross.head.2": "decoder layer 1, cross-attention, head 2",
    }
    pictures = set()
    for view.place, words in places.items():
        pictures.add(view.picture())
        assert f"; {words}, token 1 of 8)" in repr(view) and f" {words}. " in view.describe()
    view.step = 2
    assert len(pictures | {view.picture()}) == len(places) + 1
    assert "At token 3 of 8 the decoder reads " in view.describe()
    with pytest.raises(ValueError, match="no place 'decoder.4'"):
        view.place = "decoder.4"
    with pytest.raises(ValueError, match="no step 8: there are 8"):
        view.step = 8


def test_the_still_shows_what_the_live_view_shows(view):
    """Lengths as numbers, what was read so far, probabilities; of heads, which column is whose."""
    view.step, view.place = 2, ""
    says = texts_of(view)
    read, lengths = view.facts["read"], view.facts["lengths"]
    assert set(read[:3]) <= says and read[3] not in says - {token for token, _ in view._shares(8)}
    shown = {f"{lengths[p]['adds'][2 if p.startswith('decoder') else 0]:.1f}" for p in lengths}
    assert {x for x in shown if float(x) < 100} <= says
    assert f"▸ {view.facts['target'][2]}" in says
    assert f"{view._shares(1)[0][1]:.2f}" in says
    view.place = "decoder.1.cross"
    says = texts_of(view)
    assert set(view.facts["source"]) | {f"head {m}" for m in range(4)} <= says
    assert {"decoder layer 1, cross-attention", "source token", "token read"} <= says


def texts_of(view):
    """All that is written in its picture."""
    view.draw(figure := Figure())
    return {text.get_text() for text in figure.findobj(Text)}


def test_a_saved_page_has_every_number_in_two_megabytes(translator, tmp_path):
    view = JourneyView(translator, "A man is riding a white horse slowly.", scales=OFF)
    state = view.saved_state()
    assert len(view.facts["source"]) >= 10
    bits = np.zeros((len(state["buffer"]) // 3, 4), "u1")
    bits[:, 1:] = np.frombuffer(state["buffer"], "u1").reshape(-1, 3)
    packed = torch.tensor(bits.ravel().view("<f4"))
    for name, (start, *shape) in state["index"].items():
        found = packed[start : start + math.prod(shape)].reshape(shape)
        torch.testing.assert_close(found, view.numbers(name), rtol=2**-16, atol=0)
    logits = {f"logits.{t}" for t in range(len(view.facts["target"]))}
    assert set(state["index"]) == {*view._numbers} | logits
    view.save(tmp_path / "view.html")
    assert (tmp_path / "view.html").stat().st_size < 2_000_000


@pytest.mark.parametrize(
    ("place", "drawn"),
    [
        ("", "decoder.3.cross"),
        ("encoder.1", "encoder.1.self"),
        ("decoder.2.ff", "decoder.2.ff"),
        ("decoder.1.self.head.0", "decoder.1.self"),
    ],
)
def test_a_page_carries_what_it_draws_first(view, place, drawn):
    """The lines of all layers, and what is open; so its first sentence needs no weights."""
    view.place = place
    index = view.opened_state()["index"]
    names = ["hidden"] if drawn.endswith("ff") else ["Q", "K", "V", "E", "A", "Y"]
    lines = {f"{sub}.A" for sub in view.facts["heads"]}
    assert set(index) == lines | {f"{drawn}.{name}" for name in names}
    assert JourneyView(view.translator, TEXT, bars=True).opened_state()["index"].keys() == {
        "decoder.3.cross.A"
    }


# ---- the page's side, in a browser, with a model that we play

PAGE = """
globalThis.sent = [];
globalThis.handlers = new Set();
globalThis.answer = (content, buffers) => handlers.forEach((hear) => hear(content, buffers));
globalThis.source = tutorView.makeSource({
  get: () => ({}), // nothing was sent along
  send: (content) => {
    if (content.begin?.text === "throw") throw new Error("Disposed.");
    sent.push(content);
  },
  on: (event, hear) => handlers.add(hear),
  off: (event, hear) => handlers.delete(hear),
});
const result = (promise) => promise.then((x) => ({ ...x, data: x.data && [...x.data] }),
                                         (error) => error.message);
globalThis.asked = (what, ...rest) => { globalThis.told = result(source[what](...rest)); };
"""


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page()
    page.clock.install()
    page.add_script_tag(content=JourneyView._esm.removesuffix(EXPORT) + PAGE)
    return page


def test_the_source_pairs_questions_and_answers(page):
    page.evaluate("""async () => {
      const asked = [source.numbers("a"), source.numbers("b"), source.tokens([3])];
      globalThis.all = Promise.all(asked);
      await null; // names that are asked for at one go are one question
      const [tokens, { ask, numbers }] = sent.splice(0);
      globalThis.names = numbers;
      answer({ answer: "another page 1", tokens: ["wrong"] });
      answer({ answer: tokens.ask, tokens: ["right"] });
      const data = (...x) => new DataView(new Float32Array(x).buffer);
      answer({ answer: ask, shapes: [[2], [1]] }, [data(1, 2), data(3)]);
    }""")
    a, b, tokens = page.evaluate(
        "all.then(([a, b, t]) => [...[a, b].map((x) => ({ ...x, data: [...x.data] })), t])"
    )
    assert (a, b) == ({"shape": [2], "data": [1, 2]}, {"shape": [1], "data": [3]})
    assert (tokens, page.evaluate("names")) == (["right"], ["a", "b"])
    page.evaluate("""() => {
      asked("begin", "A dog.", { scales: { place: 0 } });
      globalThis.question = sent.pop();
      answer({ answer: question.ask, error: "No such place." });
    }""")
    assert page.evaluate("question.begin") == {
        "text": "A dog.", "written": [], "scales": {"place": 0},
    }  # fmt: skip
    assert page.evaluate("told") == "No such place."


def test_a_kernel_that_is_gone_is_told(page):
    gone = "The kernel does not answer: run the cell again."
    page.evaluate('asked("begin", "throw")')
    assert page.evaluate("told") == gone
    page.evaluate('() => { asked("numbers", "a"); told.then((x) => { globalThis.outcome = x; }); }')
    page.clock.fast_forward(14_000)
    assert page.evaluate("globalThis.outcome") is None
    page.clock.fast_forward(2_000)
    assert page.evaluate("told") == gone
    page.evaluate("answer({ answer: sent.pop().ask, shapes: [] })")  # too late: nobody waits
    page.evaluate("source.close()")
    assert page.evaluate("handlers.size") == 0


def test_a_saved_page_answers_alone(page, view):
    view.begin(TEXT, scales=OFF)
    state = view.saved_state()
    page.evaluate(
        """([facts, index, bytes]) => {
          const buffer = new DataView(Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0)).buffer);
          const state = { facts, index, buffer };
          globalThis.source = tutorView.makeSource({ get: (name) => state[name] });
        }""",
        [state["facts"], state["index"], b64encode(state["buffer"]).decode()],
    )

    def told(*question):
        page.evaluate("(question) => asked(...question)", question)
        return page.evaluate("told")

    numbers = told("numbers", "logits.2")
    assert numbers["shape"] == [4000]
    assert numbers["data"] == pytest.approx(view.numbers("logits.2").tolist(), rel=2**-16)
    assert told("begin", TEXT, {"scales": OFF})["translation"] == view.facts["translation"]
    assert told("begin", TEXT, {}).startswith("This needs the kernel")
    assert told("begin", TEXT, {"scales": OFF, "written": [5]}).startswith("This needs the kernel")
    assert told("numbers", "nothing") == 'There are no numbers called "nothing".'
    ids = view.facts["source_ids"][:2] + [view.facts["top"][0][5][1]]
    assert page.evaluate("(ids) => source.tokens(ids)", ids) == [
        *view.facts["source"][:2], view.facts["top"][0][5][0],
    ]  # fmt: skip

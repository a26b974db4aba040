"""The Transformer in JavaScript, in a real browser, is held to the one in PyTorch.

Skipped, by name, where Debian's Chromium is missing. `tests/benchmarks/site.py` compares in full.
"""

import json
import re
import shutil
import sys
import warnings
from contextlib import ExitStack
from pathlib import Path
from unicodedata import category

import lab
import pytest
import torch
from damage import exchange
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from page_model import PageModel, equal, logits_difference, write_page
from site_walk import served

from tutor.decoding import ALPHA, EXTRA_TOKENS
from tutor.exchange import page as page_package
from tutor.exchange.page import program
from tutor.models import PRETRAINED, load_pretrained, small
from tutor.models.small import load_small
from tutor.record import DOUBT
from tutor.text.grammar import generate_pairs
from tutor.text.normalize import (
    APOSTROPHES,
    INVISIBLE,
    QUOTES,
    as_sentence,
    as_typed,
    mend_slips,
    normalize,
)
from tutor.transformer import Transformer, TransformerConfig
from tutor.translator import Translator
from tutor.views import AttentionView, BeamView, JourneyView

MODULES = Path(page_package.__file__).parent
SMALL = Path(small.__file__).with_name("seed0")
TEXT = "A man is riding a white horse on the beach."
ODD = [
    "", " ", "\t\n", "l'homme", "L’été à la plage", "Ein Mädchen läuft", "  two  spaces ", "a_b",
    "don't stop!!!", "1234 + 5,6", "人が馬に乗っている。", "мальчик на пляже", "قطة سوداء",
    "👩‍👧 🐎", "e\u0301", "[EOS] and [PAD]", "a\u0085b\ufeffc\u00a0d\u2003e",
    "\x1c", "\ufeff", "ａ\u3000ｂ", "\x00\x7f",
]  # fmt: skip


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    """A function from a model folder to the page in which that model runs."""
    pages = []

    def opened(folder, address=Path.as_uri):
        path = write_page(tmp_path_factory.mktemp("page"), folder)
        pages.append(PageModel(browser, address(path)))
        return pages[-1]

    yield opened
    for page in pages:
        assert (page.watch.errors, page.watch.outside) == ([], [])


@pytest.fixture(scope="module")
def translator():
    return load_pretrained()


@pytest.fixture(scope="module")
def page(opened):
    return opened(PRETRAINED)


@pytest.fixture(scope="module")
def captions():
    return [pair.english for pair in generate_pairs("test", 40)]


@pytest.fixture(params=["disk", "http"])
def address(request):
    """From the path of a page to its address."""
    with ExitStack() as servers:

        def serve(path):
            return f"{servers.enter_context(served(path.parent))}/{path.name}"

        yield Path.as_uri if request.param == "disk" else serve


def test_nothing_is_loaded_before_the_first_question(opened, address):
    fresh = opened(SMALL, address)
    seen = []
    fresh.page.on("request", lambda request: seen.append(request.url.rpartition("/")[2]))
    fresh.page.wait_for_timeout(100)
    assert seen == [] and fresh.page.evaluate("document.scripts.length") == 1
    assert fresh.translate([TEXT, TEXT]) == fresh.translate([TEXT]) * 2
    assert [name for name in seen if name == "weights.js"] == ["weights.js"]
    assert fresh.page.evaluate("typeof tutorWeights") == "undefined"  # 6 MB that nobody needs


def test_weights_that_do_not_come_are_told_and_asked_for_again(page):
    page.page.evaluate("globalThis.lost = tutorModel.open('nowhere.js')")
    for _ in range(2):
        told = page.page.evaluate("lost.tokens([5]).catch((error) => error.message)")
        assert told == "The model could not be loaded: check the connection and try again."
    assert sum("ERR_FILE_NOT_FOUND" in error for error in page.watch.errors) == 2
    page.watch.errors.clear()


def test_two_tensors_exchanged_are_refused(opened, address, tmp_path):
    folder = shutil.copytree(SMALL, tmp_path / "model")
    exchange(*(f"encoder.layers.0.self_attention.attention.W_{name}" for name in "QK"))(folder)
    with pytest.raises(Exception, match="weights are damaged, or those of another model"):
        opened(folder, address).translate([TEXT])


# Without characters that this Python does not know (Cn): a newer browser may. Half a surrogate pair
# (Cs) gets through no message; test_odd_texts has some.
KNOWN = st.characters(exclude_categories=["Cn", "Cs"])


CASES = "async (letters) => letters.map((a) => a.toUpperCase() + a.toLowerCase())"


@pytest.fixture(scope="module")
def newer(page):
    """A table that drops the letters whose other case is younger than this Python's Unicode."""
    letters = [a for a in map(chr, range(sys.maxunicode + 1)) if category(a) not in ("Cn", "Cs")]
    there = page.page.evaluate(CASES, letters)
    other = {a: b for a, b in zip(letters, there, strict=True) if a.upper() + a.lower() != b}
    assert all("Cn" in map(category, cases) for cases in other.values()), other
    return str.maketrans("", "", "".join(other))


@settings(max_examples=40)
@given(st.lists(st.text(KNOWN, max_size=30), min_size=1, max_size=8))
def test_any_text_becomes_the_same_ids(page, translator, newer, texts):
    texts = [text.translate(newer) for text in texts]
    assert page.ask("encode", texts) == translator.encode(texts)


SPACES = "".join(filter(str.isspace, map(chr, range(sys.maxunicode + 1))))
LETTERS = st.sampled_from(
    SPACES + INVISIBLE + APOSTROPHES + QUOTES + "\u200c\u200d'aeo\u0301\u0327"
)
LETTERS |= KNOWN


DOOR = """async ([texts, code, words]) => {
  const file = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  const { normalize, asSentence, asTyped, mendSlips } = await import(file);
  const ranks = new Map(words.map((word, rank) => [word, rank]));
  return texts.map((text) => {
    const plain = normalize(text);
    const typed = [asTyped(plain, plain), asTyped(plain, "Un été à la TV.")];
    return [plain, asSentence(plain), ...typed, mendSlips(plain, ranks)];
  });
}"""


def through_the_door(text, ranks):
    plain = normalize(text)
    typed = [as_typed(plain, plain), as_typed(plain, "Un été à la TV.")]
    return [plain, as_sentence(plain), *typed, mend_slips(plain, ranks)]


def test_ten_thousand_texts_come_in_by_the_same_door(page, newer):
    texts = []

    @settings(max_examples=10_000, phases=[Phase.generate], database=None)
    @given(st.lists(LETTERS, max_size=12).map("".join))  # st.text would draw odd ones no oftener
    def draw(text):
        text = text.translate(newer)
        texts.append(text.upper() if len(texts) % 3 == 0 else text)

    draw()
    assert len(texts) >= 10_000
    code, ranks = (MODULES / "normalize.js").read_text("utf-8"), load_pretrained().words
    texts += [word[1:] for word in ranks]  # few slips happen by chance
    there = page.page.evaluate(DOOR, [texts, code, list(ranks)])
    assert sum(mend_slips(text, ranks) != text for text in texts) > 1_000
    different = [
        (text, found)
        for text, found in zip(texts, there, strict=True)
        if through_the_door(text, ranks) != found
    ]
    assert different == []


@pytest.mark.filterwarnings("ignore:.*were cut")
def test_odd_texts_become_the_same_ids_and_come_back(page, translator):
    assert page.ask("encode", ODD) == translator.encode(ODD)
    assert page.translate(ODD) == translator.translate(ODD)
    tokens = translator.tokenizer.encode(" ".join(ODD))
    assert page.ask("tokens", [0, 1, 2, 3, *tokens]) == translator.tokenizer.readable(
        [0, 1, 2, 3, *tokens]
    )
    halves = "['\\ud800x', 'a\\udc00\\ud800', '\\ud83d\\ude00\\ud83d']"  # of surrogate pairs
    assert page.page.evaluate(f"model.encode({halves})") == translator.encode(
        ["\ud800x", "a\udc00\ud800", "\U0001f600\ud83d"]
    )


def test_logits_are_equal(page, translator, captions):
    largest, size = logits_difference(page, translator, [TEXT, *captions[:8], *ODD[3:8]])
    assert largest < 1e-4 and size > 10


def test_greedy_and_beam_search_write_the_same(page, translator, captions):
    assert equal(page, translator, captions) == len(captions)
    assert equal(page, translator, captions[:8], beams=5) == 8
    there = page.ask("translate", captions[:3], {"beams": 3, "n_best": 3, "alpha": 0.6})["found"]
    here = translator.translate(captions[:3], beams=3, n_best=3, alpha=0.6)
    for found, expected in zip(there, here, strict=True):
        assert [each["text"] for each in found] == [text for text, _ in expected]
        scores = pytest.approx([score for _, score in expected], abs=1e-4)
        assert [each["score"] for each in found] == scores


def test_what_is_cut_is_told_in_the_words_of_python(opened):
    translator, page = load_small(0), opened(SMALL)  # reads 63 tokens
    texts = [TEXT, "x " * 80, "It's " * 80]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        expected = translator.translate(texts)
    answer = page.ask("translate", texts, {})
    assert [best["text"] for (best,) in answer["found"]] == expected
    assert answer["warnings"] == [str(warning.message) for warning in caught]
    assert "model reads" in answer["warnings"][0]


def test_a_record_is_what_python_records(page, translator):
    record = translator.record(TEXT)
    names = page.page.evaluate(
        "async (text) => { const { facts, weights } = await model.record(text);"
        " return { facts, weights: [...weights] }; }", TEXT
    )  # fmt: skip
    facts = names["facts"]
    assert (facts["source"], facts["target"]) == (record.source, record.target)
    assert (facts["read"], facts["translation"]) == (record.inputs, record.translation)
    A = torch.cat([X.flatten() for kind in facts["shapes"] for X in record.attention[kind]])
    torch.testing.assert_close(torch.tensor(names["weights"]), A, atol=1e-5, rtol=0)


@pytest.mark.parametrize("text", [TEXT, "Hello, how are you?", "Dzień dobry, jak się pan miewa?"])
def test_a_page_doubts_what_python_doubts(page, translator, text):
    [wanted] = translator.translations([text])
    told = f"{translator.slip(text)} {DOUBT if wanted.doubted else ''}".strip()
    assert page.ask("begin", text)["message"] == told
    assert wanted.doubted == (text != TEXT)


def test_a_page_tells_what_it_read_otherwise(page, translator):
    slip = TEXT.replace("beach", "baech")
    assert page.ask("begin", slip)["message"] == translator.slip(slip) == f"Read as: {TEXT}"
    found, plain = (page.ask("search", text, SEARCHES[0]) for text in (slip, TEXT))
    assert found["facts"]["steps"] == plain["facts"]["steps"]
    assert (found["message"], plain["message"]) == (f"Read as: {TEXT}", "")


def test_a_search_is_drawn_as_python_draws_it(page, translator, captions):
    for text, how in zip([TEXT, *captions[:4], *ODD[3:5]], SEARCHES, strict=True):
        there = page.ask("search", text, how)
        view = BeamView.search(translator, text, **how)
        facts = json.loads(json.dumps(view.facts))
        tokens = [[(c["parent"], c["token"], c["state"]) for c in step] for step in facts["steps"]]
        assert tokens == [
            [(c["parent"], c["token"], c["state"]) for c in step]
            for step in there["facts"]["steps"]
        ]
        assert flat(there["facts"]) == pytest.approx(flat(facts), abs=1e-3)
        assert (there["step"], there["message"]) == (len(view.steps) - 1, "")


SEARCHES = [
    {"beams": beams, "alpha": alpha}
    for beams, alpha in ((4, 0.0), (5, 1.4), (1, 0.6), (2, 3.0), (8, 0.0), (3, 0.6), (5, 0.6))
]


@pytest.mark.parametrize("kind", ["attention", "beam", "journey"])
def test_a_saved_page_with_its_model_answers(opened, browser, tmp_path, kind):
    """From disk, alone in its folder, under the page's own law that nothing may be loaded."""
    translator = load_small(0)
    view = {
        "attention": lambda: AttentionView(translator.record(TEXT), run=translator.record),
        "beam": lambda: BeamView.search(translator, TEXT),
        "journey": lambda: JourneyView(translator, TEXT),
    }[kind]()
    view.save(tmp_path / "view.html", model=program(SMALL))
    page = browser.new_page()
    watch = lab.Watch(page)
    page.goto((tmp_path / "view.html").as_uri())
    page.get_by_label("Your sentence").fill("Two dogs.")
    page.get_by_text("Translate", exact=True).click()
    [best] = translator.translate(["Two dogs."], beams=5 if kind == "beam" else 1)
    if kind == "beam":
        best = " ".join(
            [*translator.tokenizer.readable(translator.tokenizer.encode(best)), "[EOS]"]
        )
    page.get_by_text(best).locator("visible=true").first.wait_for()
    assert (watch.errors, watch.outside) == ([], [])
    page.close()


SIZES = [
    {},  # the small model that ships, pre-norm, in float16; the others are untrained, in float32
    {"norm_first": False, "positions": "learned", "d_k": 7, "d_v": 5, "num_heads": 3},
    {"norm_first": True, "d_model": 31, "num_heads": 1, "num_layers": 1, "d_ff": 9},
]


@pytest.mark.parametrize("sizes", SIZES)
def test_every_kind_of_model_has_every_number(opened, tmp_path, sizes):
    translator, folder = load_small(0), SMALL
    if sizes:
        config = {"vocab_size": 2000, "d_model": 30, "d_ff": 40, "num_layers": 2, "max_len": 40}
        torch.manual_seed(0)
        model = Transformer(TransformerConfig(**config | sizes))
        translator, folder = Translator(model, translator.tokenizer), tmp_path / "model"
        translator.save(folder)
    page, view = opened(folder), JourneyView(translator, TEXT)
    last = translator.model.config.num_layers - 1
    changes = {"encoder.0.self": 0, "encoder.0.ff": 1.5, f"decoder.{last}.cross.head.0": -1.0,
               f"decoder.{last}.cross": 0.5, "decoder.0.self": 1, "decoder.0.ff": 0}  # fmt: skip
    for text, written, scales in (
        (TEXT, [], {}), (TEXT, [300, 7], changes), ("人 " * 30, [5, 3, 8], {}), ("x", [], changes)
    ):  # fmt: skip
        there = page.ask("begin", text, {"written": written, "scales": scales})
        here = view.begin(text, written, scales)
        for name in ("lengths", "heads", "log_sum_exp", "top"):
            assert flat(there.pop(name)) == pytest.approx(flat(here.pop(name)), abs=2e-4), name
        sizes = {name: there["config"][name] for name in here["config"]}
        assert there | {"config": sizes} == here
        names = [*view._numbers, "logits.0"]
        for name, X in page.numbers(names).items():
            torch.testing.assert_close(X, view.numbers(name), atol=1e-4, rtol=1e-4, msg=name)


def flat(nested):
    """The numbers in lists and dicts; names become their own length."""
    if isinstance(nested, dict):
        return [x for name in sorted(nested) for x in flat(nested[name])]
    if isinstance(nested, list):
        return [x for each in nested for x in flat(each)]
    return [len(nested) if isinstance(nested, str) else nested]


def test_a_question_that_makes_no_sense_is_answered_in_a_sentence(page):
    for question, told in (
        (["begin", " ", {}], "Write a sentence first."),
        (["begin", TEXT, {"written": [2]}], "Ids must be a list of whole numbers from 3 to 3999."),
        (["begin", TEXT, {"scales": {"decoder.4.ff": 0}}], "There is no place decoder.4.ff."),
        (["begin", TEXT, {"scales": {"encoder.0.cross": 0}}], "There is no place encoder.0.cross."),
        (["begin", TEXT, {"scales": {"decoder.0.ff.head.0": 0}}], "There is no place"),
        (["begin", TEXT, {"scales": {"encoder.0.self.head.4": 0}}], "There is no place"),
        (["begin", TEXT, {"scales": {"encoder.0.ff": 1e9}}], "must be a number from -100 to 100."),
        (["translate", [TEXT], {"beams": 0}], "beams must be a whole number of at least 1"),
        (["translate", [TEXT], {"beams": 2, "n_best": 3}], "n_best must lie between 1 and beams"),
    ):
        with pytest.raises(Exception, match=re.escape(told)):
            page.ask(*question)
    page.ask("begin", TEXT, {})
    with pytest.raises(Exception, match="no numbers called"):
        page.numbers(["logits.99"])


def test_the_page_stays_usable_while_the_model_works(page):
    """A timer of the page goes on ticking: the model runs in a thread of its own."""
    longest = page.page.evaluate(
        """async (text) => {
          let [last, longest, done] = [performance.now(), 0, false];
          const work = model.translate(Array(8).fill(text), { beams: 5 });
          work.then(() => (done = true));
          const began = last;
          while (!done) {
            await new Promise((resolve) => setTimeout(resolve, 5));
            longest = Math.max(longest, performance.now() - last);
            last = performance.now();
          }
          await work;
          return longest / (last - began);
        }""",
        TEXT,
    )
    assert longest < 0.5  # of the whole time; without a Worker it would be all of it


def test_the_numbers_of_the_search_are_ours():
    text = (MODULES / "decoding.js").read_text("utf-8")
    assert f"EXTRA = {EXTRA_TOKENS};" in text and f"ALPHA = {ALPHA};" in text


def test_float16_is_read_bit_by_bit_as_pytorch_reads_it(page):
    """Every pattern of 16 bits."""
    text = (MODULES / "safetensors.js").read_text("utf-8")
    rule = text[text.index("function toFloat32") : text.index("\n}\n", text.index("toFloat32")) + 2]
    every = "Array.from({ length: 2 ** 16 }, (_, bits) => String(toFloat32(bits)))"
    found = page.page.evaluate(f"() => {{ {rule}; return {every}; }}")
    ours = torch.tensor([float(number) for number in found]).half()
    theirs = torch.arange(2**16, dtype=torch.int32).to(torch.int16).view(torch.float16)
    assert len(found) == 2**16 and torch.equal(ours.nan_to_num(nan=0.5), theirs.nan_to_num(nan=0.5))
    assert [float(found[bits]) for bits in (0b0_01111_1000000000, 0b1_10000_0100000000)] == [
        1.5,
        -2.5,
    ]

"""The views say what the tensors say: in their numbers, pictures, tables and saved pages.

What they do in a browser is tested in test_views_browser.py.
"""

import base64
import functools
import html
import io
import json
import re
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from PIL import Image

from course.site import alive
from tutor import Recording, beam_search, load_pretrained
from tutor.attention import compute_attention_matrix, slice_vertically
from tutor.decoding import Pool, best_of, grow, length_penalty, most_probable
from tutor.text.tokenizer import EOS
from tutor.views import (
    AttentionView,
    BeamView,
    Candidate,
    JourneyView,
    MaskView,
    SlicingView,
    SoftmaxView,
    base,
)
from tutor.views.base import STATE, TO_RUN, WIDGET_VIEW, Table

SIZES = {"encoder": (2, 3), "decoder": (1, 4), "cross": (3, 2)}  # layers and heads, all different
ALL_SIZES = SIZES | {"length": (3, 2)}


def assert_close(actual, expected):
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-5)


shipped = functools.cache(load_pretrained)


@pytest.fixture(scope="module")
def translator():
    return shipped()


def recording(S=5, T=4, sizes=SIZES, seed=0):
    generator = torch.Generator().manual_seed(seed)
    source = [f"s{i}" for i in range(S - 1)] + ["[EOS]"]
    target = [f"t{i}" for i in range(T - 1)] + ["[EOS]"]
    shape = {"encoder": (S, S), "decoder": (T, T), "cross": (T, S), "length": (T, S)}
    attention = {}
    for kind, (layers, heads) in sizes.items():
        E = 2 * torch.randn(layers, heads, *shape[kind], generator=generator)
        if kind == "decoder":
            E = E.masked_fill(torch.ones(T, T).triu(1).bool(), -torch.inf)
        attention[kind] = list(E.softmax(dim=-1))
    return Recording("a text", "un texte", source, target, attention)


def matrices(state):
    """What a page reads: facts and bytes -> {kind: (L, h, T, S)}."""
    weights, found = np.frombuffer(state["weights"], dtype="float32"), {}
    for kind, shape in state["facts"]["shapes"].items():
        size = int(np.prod(shape))
        found[kind], weights = torch.tensor(weights[:size]).reshape(shape), weights[size:]
    assert not len(weights)
    return found


def every_view():
    scores = torch.tensor([[1.0, 0.0, -0.5], [0.3, 2.0, 1.0]])
    generator = torch.Generator().manual_seed(0)
    return [
        AttentionView(recording(), alignment={(0, 0), (2, 1)}, layer=1),
        BeamView([[Candidate(0, "le", -1, -1, -1)], [(0, ".", -1, -2, -2, "finished")]]),
        JourneyView(shipped(), "Two dogs.", scales={"decoder.1.ff": 0}),
        MaskView(scores, ["le", "chat"], ["the", "cat", "[PAD]"], mask="causal"),
        SlicingView(torch.eye(3), torch.arange(12.0).reshape(3, 4), 2, ["a", "b", "c"]),
        SoftmaxView(torch.randn(3, 8, generator=generator), torch.randn(4, 8, generator=generator)),
    ]


EVERY = [type(view).__name__ for view in every_view()]


@pytest.fixture(params=range(len(EVERY)), ids=EVERY)
def view(request):
    return every_view()[request.param]


# ---- what every view owes its readers


def shown(view, monkeypatch):
    """What a notebook stores of it: the bundles of its outputs, in their order."""
    bundles = []
    monkeypatch.setattr(base, "display", lambda bundle, raw: bundles.append(bundle))
    view._ipython_display_()
    return bundles


def test_a_picture_with_words_stands_before_the_live_view(view, monkeypatch):
    still, live = shown(view, monkeypatch)
    assert set(live) == {WIDGET_VIEW} and live[WIDGET_VIEW]["model_id"] == view.model_id
    assert set(still) == {"text/plain", "text/html", STATE}
    assert json.loads(still[STATE])["view"] == type(view).__name__
    assert len(still[STATE]) < 100_000  # of a journey, too: its page has the model
    assert still["text/plain"] == repr(view) == repr(every_view()[EVERY.index(type(view).__name__)])
    assert repr(view).startswith(type(view).__name__ + "(") and "0x" not in repr(view)
    image = r'<img alt="(.*?)" .*? src="data:image/svg\+xml;base64,(.*?)">'
    alt, svg = re.search(image, still["text/html"]).groups()
    assert html.unescape(alt) == view.describe() and len(view.describe()) >= 60
    for png in re.findall(r"image/png;base64,(.*?)\"", base64.b64decode(svg).decode()):
        picture = Image.open(io.BytesIO(base64.b64decode(png)))
        assert min(picture.size) > 100 and len(picture.convert("L").getcolors()) > 10
    [again, _] = shown(view, monkeypatch)
    assert again == still
    assert TO_RUN in still["text/html"]
    assert TO_RUN not in alive.as_html(json.loads(still[STATE]), still["text/html"])


def test_table_shows_itself_as_text_and_html(view):
    table = view.table()
    assert all(len(row) == len(table.columns) for row in table.rows) and table.rows
    text = table._repr_html_()
    for cell in [*table.columns, *(cell for row in table.rows for cell in row)]:
        assert cell in repr(table) and f">{cell}</t" in text
    assert text.count('scope="row"') == len(table.rows)


def test_saved_page_holds_all_and_asks_for_nothing(view, tmp_path):
    view.save(tmp_path / "view.html")
    page = (tmp_path / "view.html").read_text(encoding="utf-8")
    state = json.loads(re.search(r'type="application/json" id="state">(.*?)</script>', page)[1])
    assert set(state) == set(view.saved_state())
    for name, data in view.saved_state().items():
        value = state[name]
        if isinstance(data, bytes):
            data = {"base64": base64.b64encode(data).decode()}
        assert value == data
    assert {"facts"} < set(state)
    assert re.findall(r"(?:src|href)=\"(?!data:)|url\(|@import|\bimport\b[ (]|fetch\(", page) == []
    assert "default-src 'none'" in page and "<html lang=" in page
    assert base64.b64encode(view.picture()).decode() in page and view.table()._repr_html_() in page


def test_text_cannot_break_out_of_the_page(tmp_path):
    evil = "</script><img src=x onerror=alert(1)> & $style"
    AttentionView(recording()._replace(text=evil)).save(tmp_path / "view.html")
    page = (tmp_path / "view.html").read_text(encoding="utf-8")
    assert page.count("</script>") == 2 and "<img src=x" not in page
    assert Table(["<b>"], [["<i>"]])._repr_html_().count("<b>") == 0


# ---- attention


@settings(max_examples=20)
@given(S=st.integers(1, 6), T=st.integers(1, 6), seed=st.integers(0, 99))
def test_the_page_gets_the_matrices(S, T, seed):
    given_ = recording(S, T, seed=seed)
    view = AttentionView(given_)
    found = matrices(view.get_state())
    assert set(found) == set(SIZES)
    for kind, layers in given_.attention.items():
        assert found[kind].equal(torch.stack(layers))
        for layer in range(len(layers)):
            view.kind, view.layer, view.head = kind, layer, -1
            assert view.head == SIZES[kind][1] - 1 and view.A.equal(layers[layer][-1])
        view.head = None
        assert_close(view.A, layers[-1].mean(0))


def test_table_and_words_and_picture_are_those_of_the_head_that_is_shown():
    view = AttentionView(recording(), kind="cross", layer=2, head=1)
    assert view.table().columns == ["", *view.recording.source]
    first, second = view.picture(), AttentionView(recording(), layer=2, head=0).picture()
    assert first != second
    A = view.recording.attention["cross"][2][1]
    for row, name, cells in zip(A, view.recording.target, view.table().rows, strict=True):
        assert cells == [name, *(f"{weight:.2f}" for weight in row)]
        assert f"{name} to {view.recording.source[row.argmax()]}" in view.describe()
    view.kind = "decoder"  # has fewer layers: the choice stays within
    assert (view.layer, view.head) == (0, 1)
    assert view.table().columns == ["", "[BOS]", "t0", "t1", "t2"]  # what was read
    assert [row[0] for row in view.table().rows] == ["t0", "t1", "t2", "[EOS]"]  # what was written


def test_shares_of_length_are_a_kind_of_their_own():
    given_ = recording(sizes=ALL_SIZES)
    view = AttentionView(given_, kind="length", layer=1, head=1, alignment={(0, 1)})
    assert view.A.equal(given_.attention["length"][1][1])
    assert view.table().columns == ["", *given_.source]
    assert "cross attention by length, layer 1, head 1" in view.describe()
    first = view.picture()
    view.kind = "cross"
    assert view.picture() != first and view.A.equal(given_.attention["cross"][1][1])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"layer": 3}, "no layer 3: there are 3"),
        ({"head": -3}, "no head -3: there are 2"),
        ({"kind": "Cross"}, "only: encoder, decoder, cross"),
        ({"alignment": {(0, 4)}}, r"link \(0, 4\) leads nowhere: there are 5 source and 4 target"),
        ({"recording": recording()._replace(source=["a"])}, r"must be \(heads, 1, 1\)"),
        ({"recording": recording(sizes={"encoder": (2, 3)})}, "no 'cross' .* here, only: encoder"),
        ({"recording": recording(sizes={})}, "holds no attention matrix"),
    ],
)
def test_what_does_not_fit_is_said(arguments, words):
    with pytest.raises(ValueError, match=words):
        AttentionView(**{"recording": recording(), **arguments})


def test_own_sentence_its_warnings_and_its_errors():
    def run(text):
        if text == "bad":
            raise RuntimeError("The model has a headache.\nAnd a long story.")
        if text == "odd":
            return recording()._replace(target=["a"])
        if text == "long":
            warnings.warn("It was cut.", stacklevel=2)
        return recording(S=len(text))

    view = AttentionView(recording(), run=run, layer=1, alignment={(0, 0)})
    view.ask("seven77")
    assert (view.message, view.layer, view.facts["links"]) == ("", 1, [])
    assert matrices(view.get_state())["cross"].shape == (3, 2, 4, 7)
    before = view.get_state(["facts", "weights"])
    for text, message in (
        ("bad", "The model has a headache."),
        ("  ", "Write a sentence first."),
        ("odd", "it must be (heads, 1, 1)."),
    ):
        count = view.answers
        view.ask(text)
        assert view.message.endswith(message) and view.answers == count + 1
        assert view.get_state(["facts", "weights"]) == before
    view.ask("long")
    assert view.message == "It was cut." and view.A.shape == (4, 4)
    view.ask("again")
    assert view.message == "" and view.A.shape == (4, 5)


def test_the_reader_is_warned_of_unknown_characters(translator):
    view = AttentionView(translator.record("A dog."), run=translator.record)
    assert view.message == ""
    view.ask("Привет, как дела?")
    assert view.message.startswith("26 of its 31 tokens are unknown characters")
    view.ask("Two dogs.")
    assert view.message == ""
    again = recording()._replace(source=["[UNK]", "s1", "[UNK]", "s3", "[EOS]"])
    assert AttentionView(again).message.startswith("2 of its 4 tokens are unknown")
    third = recording(S=4)._replace(source=["[UNK]", "s1", "s2", "[EOS]"])
    assert AttentionView(third).message.startswith("1 of its 3 tokens are unknown")


def test_the_matrices_shown_are_those_that_made_the_translation(translator):
    view = AttentionView(translator.record("A dog."), run=translator.record)
    text = "Two dogs are running on the beach."
    view.ask(text)
    recorded, shown = translator.record(text), matrices(view.get_state())  # see test_translator.py
    assert view.facts["translation"] == recorded.translation
    assert set(shown) == set(recorded.attention) == set(ALL_SIZES)
    for kind, layers in recorded.attention.items():
        assert_close(shown[kind], torch.stack(layers))


def test_a_view_adds_little_to_a_notebook():
    view = AttentionView(recording(60, 60, {"cross": (6, 8)}))
    assert len(view.still()) < 400_000  # of noise in 48 heads, twice; others take a tenth


# ---- the other views


def test_mask_view_agrees_with_the_package():
    generator = torch.Generator().manual_seed(0)
    Q, K = torch.randn(4, 1, generator=generator), torch.randn(5, 1, generator=generator)
    view = MaskView(Q @ K.T, columns=["a", "b", "c", "d", "[PAD]"])
    for mask in (torch.rand(4, 5, generator=generator) > 0.5, torch.ones(4, 5).bool()):
        view.mask = mask.tolist()
        assert view.M.equal(mask)
        assert_close(view.A, compute_attention_matrix(Q, K, mask))
    assert "0 to nothing" in view.describe() and view.table().rows[3][3:] == ["hidden", "0.00"]
    assert MaskView(Q @ K.T, mask="causal").M.equal(torch.ones(4, 5).triu(1).bool())
    with pytest.raises(ValueError, match="must be finite"):
        MaskView(torch.tensor([[0, -torch.inf]]))
    with pytest.raises(TypeError, match="must be torch.bool"):
        MaskView(Q @ K.T, mask=torch.zeros(4, 5))
    with pytest.raises(ValueError, match="4 rows and 5 columns, but there are 2 and 5 names"):
        MaskView(Q @ K.T, rows=["a", "b"])


def test_slicing_view_agrees_with_the_package():
    X, W_Q = torch.arange(6.0).reshape(2, 3), torch.arange(12.0).reshape(3, 4) - 5
    view = SlicingView(X, W_Q, 2)
    assert view.Q.equal(X @ W_Q) and torch.tensor(view.facts["Q"]).equal(view.Q)
    slices = slice_vertically(view.Q, 2)
    for row in view.table().rows:
        (t, c), (m, i, j) = json.loads(row[0]), json.loads(row[3])
        assert int(row[2]) == m and slices[m, i, j] == view.Q[t, c]
        assert float(row[1].replace("−", "-")) == view.Q[t, c]
    with pytest.raises(ValueError, match="cannot be multiplied"):
        SlicingView(X, W_Q.T, 2)
    with pytest.raises(ValueError, match="4 columns cannot be cut into 3 heads"):
        SlicingView(X, W_Q, 3)


def test_softmax_view_agrees_with_the_package():
    generator = torch.Generator().manual_seed(0)
    Q, K = torch.randn(6, 16, generator=generator), torch.randn(4, 16, generator=generator)
    view = SoftmaxView(Q, K, d_k=8, power=0.5)
    for d_k in (1, 2, 4, 8, 16):
        expected = compute_attention_matrix(Q[:, :d_k], K[:, :d_k])
        assert_close(view.A(d_k, 0.5), expected)
    products = torch.tensor(np.frombuffer(view.products, dtype="float32")).reshape(5, 6, 4)
    assert_close(products[3], (Q[:, :8] @ K[:, :8].T))
    assert [row[3] for row in view.table().rows] == [f"{a:.3f}" for a in view.A()[0]]
    with pytest.raises(ValueError, match="d_k must be one of"):
        SoftmaxView(Q, K, d_k=5)


def test_beam_view_shows_the_search(translator):
    alpha, history = 0.6, []
    texts = ["A dog.", "A man is riding a white horse on the beach.", "Two women."]
    ids = translator.encode(texts)
    source = torch.tensor([row + [0] * (max(map(len, ids)) - len(row)) for row in ids])
    found = beam_search(translator.model, source, 4, alpha, history=history)
    for sentence, [best] in enumerate(found):
        view = BeamView.of(history, translator.tokenizer.readable, alpha, sentence=sentence)
        path = [view.steps[i][j] for i, j in view.path(*view.facts["winner"])]
        assert [c.token for c in path[:-1]] == translator.tokenizer.readable(best.ids)
        assert path[-1].token == "[EOS]" and path[-1].score == pytest.approx(best.score)
        assert path[-1].total == pytest.approx(sum(c.log_prob for c in path), abs=1e-4)
        for i, c in enumerate(path):
            assert c.score == pytest.approx(c.total / length_penalty(i + 1, alpha), abs=1e-4)
        fates = [fate for step in view.fates() for fate in step]
        assert fates.count("best") == 1


def test_beam_view_opens_where_a_beam_is_lost(translator):
    view = BeamView.search(translator, "A man is riding a white horse on the beach.", 3)
    opening = view.step
    assert "pruned" in view.fates()[opening - 1]
    for step in range(opening):
        view.step = step
        dead = sum(fates.count("pruned") for fates in view.fates())
        never = sum(c.state == "pruned" for tried in view.steps[: step + 1] for c in tried)
        assert dead == never, "before it only what was never a beam is gone"


@given(seed=st.integers(0, 999), alpha=st.sampled_from([0, 0.6, 2]))
def test_beam_view_agrees_on_the_winner(seed, alpha):
    """Also where better beams have pushed a finished one out of the search."""
    generator = torch.Generator().manual_seed(seed)
    pool, history = Pool.start(1, 3), []
    for _ in range(6):
        E = 2 * torch.randn(1, 3, 9, generator=generator)  # ids 0 to 8
        pool, parents = grow(pool, *most_probable(E, 3), alpha)
        history.append((torch.tensor([0]), pool, parents))
    best = best_of(Pool(*(x[0] for x in pool)), alpha)[0]
    view = BeamView.of(history, lambda ids: list(map(str, ids)), alpha)
    path = view.path(*view.facts["winner"]) if view.facts["winner"] else []
    tokens = [view.steps[i][j].token for i, j in path]
    assert tokens == ([*map(str, best.ids), str(EOS)] if best.finished else [])


def test_fates_in_a_tree():
    steps = [
        [(0, "a", -1, -1, -1), (0, "b", -2, -2, -2)],
        [(0, "c", -1, -2, -2), (0, ".", -2, -3, -3, "finished"), (1, "d", -1, -3, -3, "pruned")],
        [(0, ".", -0.5, -2.5, -2.5, "finished"), (0, "e", -9, -11, -11)],
    ]
    view = BeamView(steps)
    assert view.fates() == [["live", "pruned"], ["live", "finished", "pruned"], ["best", "live"]]
    view.step = 0
    assert view.fates() == [["live", "live"]]
    view.step = 2
    view.draw(figure := Figure())
    at = {text.get_text(): text.get_position() for text in figure.axes[0].texts}
    (start, top), (later, lower), (end, first) = at["a\n−1"], at["■ .\n−3"], at["★ .\n−2.50"]
    assert start < later < end and top == first == 0 < lower  # columns are steps, the best on top
    with pytest.raises(ValueError, match="goes on from candidate 3, which is not there"):
        BeamView([steps[0], [(3, "x", -1, -1, -1)]])
    with pytest.raises(ValueError, match="no step 3: there are 3"):
        BeamView(steps, step=3)

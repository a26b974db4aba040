"""What has to give the CPU's result on a GPU: `tests/test_emulated.py` runs this, with a device."""

import ast
import copy
import inspect
import io
import json
import re
import sys
import warnings
from functools import partial

import pytest
import torch
from emulated import NAME, Emulated
from house_rules import NOTEBOOKS
from torch.utils._pytree import tree_leaves, tree_map

import tutor
from tutor import Transformer, TransformerConfig, Translator, beam_search, figures, greedy, sample
from tutor.__main__ import main
from tutor.attention import causal_mask, decoder_mask, padding_mask
from tutor.cache import Cache
from tutor.check import examine
from tutor.check.bank import exercises
from tutor.check.exercise import evaluate as answer_of
from tutor.commands import evaluate
from tutor.decoding import chooser
from tutor.ensemble import Ensemble
from tutor.evaluation import (
    aligned_batch,
    all_heads,
    bleu,
    cross_attention,
    measure,
    patched,
    record_vectors,
    same_sort,
    without_heads,
)
from tutor.exchange import huggingface, llama, onnx
from tutor.exchange.pytorch import PyTorchTransformer, from_pytorch, to_pytorch
from tutor.language_model import Cache as LanguageCache
from tutor.language_model import LanguageModel, LanguageModelConfig, stream_mask, write_on
from tutor.modern import window_mask
from tutor.proof import equal
from tutor.record import record_attention
from tutor.text.grammar import generate_pairs
from tutor.text.packing import pack
from tutor.text.tokenizer import BOS, Tokenizer
from tutor.trace import trace
from tutor.training import Recipe, language_loss, recipes, train, translation_loss
from tutor.training.loss import in_bfloat16
from tutor.training.resume import Checkpoints
from tutor.views import AttentionView, JourneyView, MaskView, SoftmaxView

TEXTS = ["A dog runs.", "A man is riding a white horse.", "A cat."]
PAIRS = generate_pairs("train", 60, seed=0)
IDS = torch.tensor([[5, 6, 7, 8, 3], [9, 5, 3, 0, 0], [7, 3, 0, 0, 0]])  # (N, S)
TARGET = torch.tensor([[2, 9, 8, 7], [2, 6, 0, 0], [2, 5, 7, 0]])  # (N, T)


def to(device, values):
    """The tensors among `values` on a device."""
    return tree_map(lambda x: x.to(device) if isinstance(x, torch.Tensor) else x, values)


def same(run, *given):
    """Assert that `run` of a device, and of what is given on it, finds there what the CPU does."""
    found = []
    for device in ("cpu", NAME):
        torch.manual_seed(0)
        values = copy.deepcopy(given)
        for module in values:
            if isinstance(module, torch.nn.Module):
                module.to(device)
        found.append(run(*to(device, values)))
    ours, theirs = map(tree_leaves, found)
    assert len(ours) == len(theirs)
    for x, y in zip(ours, theirs, strict=True):
        if isinstance(x, torch.Tensor):
            assert equal(x, y.cpu()), (x, y)
        elif isinstance(x, float):
            assert x == pytest.approx(y, rel=1e-4)
        else:
            assert x == y
    return found[1]


def on_device(values):
    tensors = [x for x in tree_leaves(values) if isinstance(x, torch.Tensor)]
    return tensors and all(isinstance(x, Emulated) for x in tensors)


def make(**changes):
    torch.manual_seed(0)
    sizes = dict(d_model=16, num_heads=2, d_ff=20, num_layers=2, dropout=0.0, max_len=64)
    return Transformer(TransformerConfig(**dict(vocab_size=300) | sizes | changes))


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.train([text for p in PAIRS for text in (p.english, p.french)], 300)


def with_gradients(run):
    """`run` of a module and inputs, with the gradients of all its parameters."""

    def both(module, *inputs):
        Z = run(module, *inputs)  # what is summed has no symmetry that hides a mistake
        (Z * torch.arange(Z.numel(), device=Z.device).view(Z.shape).sin()).sum().backward()
        return Z.detach(), {name: p.grad for name, p in module.named_parameters()}

    return both


def test_the_device_is_as_strict_as_a_gpu():
    X = torch.ones(2, 3, device=NAME)
    for mixed in (
        lambda: X + torch.ones(2, 3),
        lambda: torch.ones(3).add_(X[0]),
        lambda: torch.ones(2, 3)[X > 0],
        lambda: X.clone().index_put_((torch.tensor([0]),), torch.ones(3)),
        lambda: torch.cat([X, torch.ones(2, 3)]),
        lambda: torch.multinomial(X, 1, generator=torch.Generator()),
    ):
        with pytest.raises(RuntimeError, match="Expected"):
            mixed()
    with pytest.raises(TypeError, match="numpy"):
        X.numpy()
    assert on_device([X * torch.tensor(2.0), X[torch.tensor([0])], torch.tensor([1], device=NAME)])
    assert (X.sum().item(), X.cpu().numpy().shape) == (6, (2, 3))


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_model_forward_and_backward(norm_first, positions):
    model = make(norm_first=norm_first, positions=positions)
    found = same(with_gradients(lambda model, *ids: model(*ids)), model, IDS, TARGET)
    assert on_device(found)


def test_dropout_draws_on_the_device():
    model, ids = make(dropout=0.5).to(NAME), to(NAME, (IDS, TARGET))
    assert on_device([model(*ids)]) and not torch.equal(model(*ids), model(*ids))


def test_masks():
    def masks(ids):
        T, device = ids.shape[1], ids.device
        documents = (ids > 5).cumsum(1)
        return [
            causal_mask(T, device), window_mask(T, 2, device), padding_mask(ids),
            decoder_mask(ids), stream_mask(ids), stream_mask(ids, documents, ids == 5),
        ]  # fmt: skip

    assert on_device(same(masks, IDS))


MODERN = [
    dict(),
    dict(positions="sinusoidal", norm_first=False, tied=False),
    dict(positions="rope", norm="rms", feed_forward="swiglu", bias=False, num_kv_heads=1),
    dict(positions="alibi", qk_norm=True, window=3, bias=False),
]


@pytest.mark.parametrize("changes", MODERN)
def test_language_model(changes):
    torch.manual_seed(0)
    sizes = dict(d_model=16, num_heads=2, d_ff=20, dropout=0.0)
    model = LanguageModel(LanguageModelConfig(30, **sizes | changes))
    packed = pack([[5, 6, 7], [8, 9], [10]], 9)
    read = with_gradients(lambda model, ids, documents: model(ids, documents))
    assert on_device(same(read, model, packed.ids, packed.documents))
    assert on_device(same(lambda model, batch: language_loss(model, batch), model, packed))

    @torch.no_grad()
    def pieces(model, ids):
        cache = LanguageCache(model)
        first = model(ids[:, :2], cache=cache)
        cache.keep(torch.tensor([0, 2], device=ids.device))
        return first, model(ids[[0, 2], 2:], cache=cache), cache.size()

    same(pieces, model, TARGET)
    same(lambda model, ids: write_on(model, ids, chooser(), 6), model, TARGET[:, :2])


@pytest.mark.parametrize("ids", [IDS, IDS[:1]], ids=["three", "one"])
@pytest.mark.parametrize("norm_first", [False, True])
def test_searches(ids, norm_first):
    model = make(norm_first=norm_first)
    same(lambda *given: greedy(*given, max_len=6), model, ids)
    same(lambda *given: beam_search(*given, beams=3, n_best=2, max_len=6), model, ids)
    some = dict(temperature=0.9, top_k=20, top_p=0.9, min_p=0.01)
    same(lambda *given: sample(*given, max_len=6, **some), model, ids)
    several = Ensemble([model, make(norm_first=not norm_first)])
    same(lambda *given: beam_search(*given, beams=2, max_len=6), several, ids)


def test_caches():
    @torch.no_grad()
    def steps(model, ids):
        cache = Cache(model, ids, beams=2)
        Z = [cache.step(ids.new_full((len(ids), 2), token)) for token in (BOS, 5, 6)]
        cache.follow(ids.new_tensor([[1, 1]] * len(ids)))
        cache.keep(torch.arange(len(ids), device=ids.device))
        return Z, cache.step(ids[:, :2]), cache.layers[0].K

    assert on_device(same(steps, make(norm_first=True).eval(), IDS))


def test_record_trace_and_views(tokenizer):
    translator = Translator(make(norm_first=True, max_len=16).eval(), tokenizer)

    def on(device, run):
        translator.model.to(device)
        return run()

    def both(run):
        same(lambda anchor: on(anchor.device.type, run), torch.zeros(1))

    scales = {"encoder.0.self": 0.5, "decoder.1.cross.head.1": 0.0, "decoder.0.ff": 2.0}
    both(lambda: tuple(translator.record(TEXTS[1])))
    both(lambda: trace(translator.model, [5, 6, 3], [2, 7, 8], scales))

    def attention():
        with record_attention(translator.model) as attention:
            translator.translate(TEXTS)
        return attention

    both(attention)

    def shown(view):
        assert view.picture()
        return view.facts, view.describe(), view.table().rows

    def attention_view():
        view = AttentionView(translator.record(TEXTS[1]), run=translator.record)
        return shown(view), torch.frombuffer(bytearray(view.weights), dtype=torch.float32)

    def journey_view():
        view = JourneyView(translator, TEXTS[1], scales=scales, place="decoder.1.cross")
        return shown(view), [view.numbers(name) for name in view.saved_state()["index"]]

    both(attention_view)
    both(lambda: AttentionView(translator.record(TEXTS[1]), kind="length", head=None).A)
    both(journey_view)


def test_views_of_tensors():
    same(lambda E: MaskView(E, mask="causal").table().rows, torch.randn(3, 3))
    same(lambda X: SoftmaxView(X, X).table().rows, torch.randn(3, 4))


def test_heads_off_and_vectors_put_in():
    model, other = make(norm_first=True), IDS.where(IDS != 5, 11)

    def silenced(model, *ids):
        with without_heads(model, all_heads(model)[1::2]):
            return model(*ids)

    assert on_device(same(silenced, model, IDS, TARGET))

    def put_in(model, ids, other, target):
        with record_vectors(model) as vectors:
            model(other, target)
        with patched(model, vectors, [("encoder", 1, 0), ("decoder", 2, 1)]):
            return vectors, model(ids, target)

    assert on_device(same(put_in, model, IDS, other, TARGET))


@pytest.mark.parametrize("moved", [False, True], ids=["batch on the CPU", "batch moved"])
def test_alignment(tokenizer, moved):
    pairs = PAIRS[:4]
    aligned, sort = aligned_batch(tokenizer, pairs), same_sort(pairs)

    def rates(model, anchor):
        ours, among = to(anchor.device, (aligned, sort)) if moved else (aligned, sort)
        return measure(cross_attention(model, ours.batch), ours, among)

    same(rates, make(norm_first=True), torch.zeros(1))


def test_translations_and_bleu(tokenizer):
    def score(model):
        translator = Translator(model, tokenizer)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = translator.translate(TEXTS) + translator.translate(TEXTS, beams=2)
        return found, bleu(found, TEXTS * 2).value

    same(score, make(max_len=16))


SMALL = Recipe(steps=6, max_tokens=128, warmup=2)
LOSSES = {"highest": translation_loss, "bfloat16": in_bfloat16(translation_loss)}


@pytest.fixture(scope="module")
def pairs(tokenizer):
    return [tuple(tokenizer.encode([pair.english, pair.french])) for pair in PAIRS]


@pytest.mark.parametrize("precision", LOSSES)
def test_train(pairs, precision):
    def learn(model):
        history = train(model, pairs, SMALL, loss_of=LOSSES[precision])
        return history.loss, history.tokens, dict(model.state_dict())

    same(learn, make(norm_first=True))


def test_resume(pairs, tmp_path):
    whole = make(dropout=0.1, norm_first=True).to(NAME)
    train(whole, pairs, SMALL)
    for steps in (4, SMALL.steps):  # stopped, and gone on with by another model
        model = make(dropout=0.1, norm_first=True).to(NAME)
        checkpoints = Checkpoints(tmp_path, model, {}, every=2)

        def on_step(step, history, last=steps, checkpoints=checkpoints):
            checkpoints.on_step(step, history)
            if step + 1 == last < SMALL.steps:
                raise KeyboardInterrupt

        try:
            history = train(model, pairs, SMALL, on_step, checkpoints.resume)
        except KeyboardInterrupt:
            pass
    assert len(history.loss) == SMALL.steps
    for x, y in zip(whole.parameters(), model.parameters(), strict=True):
        assert torch.equal(x, y)


@pytest.mark.parametrize("norm_first", [False, True])
def test_pytorch_and_back(norm_first):
    def there(model, *ids):
        theirs = to_pytorch(model.eval())
        back = from_pytorch(theirs)
        return theirs(*ids)[ids[1] != 0], back(*ids), dict(back.state_dict())

    assert on_device(same(there, make(norm_first=norm_first), IDS, TARGET))

    def stack(model, X, ids):
        theirs = to_pytorch(model.encoder)
        return theirs(X, src_key_padding_mask=ids == 0)[ids != 0], from_pytorch(theirs)(X)

    X = torch.randn(*IDS.shape, 16)
    assert on_device(same(stack, make(norm_first=norm_first).eval(), X, IDS))

    def wrapped(anchor):
        torch.manual_seed(0)
        inside = torch.nn.Transformer(16, 2, 1, 1, 20, 0.0, batch_first=True, norm_first=norm_first)
        if not norm_first:
            inside.encoder.norm = inside.decoder.norm = None
        config = make(num_layers=1, norm_first=norm_first).config
        ours = from_pytorch(PyTorchTransformer(config, inside).to(anchor.device))
        return dict(ours.state_dict())

    assert on_device(same(wrapped, torch.zeros(1)))


@pytest.mark.parametrize("exchange", ["model folder", "onnx", "onnx of language", "huggingface"])
def test_files(exchange, tokenizer, tmp_path, monkeypatch):
    def run_graph(graph, inputs, outputs):
        found = graph.eval()(*(example for example, _ in inputs.values()))
        return b"".join(X.detach().numpy().tobytes() for X in found)

    if "onnx" in exchange:
        pytest.importorskip("onnxscript")
        # The exporter, which takes long, is `test_export.py`'s; here is what it is given.
        monkeypatch.setattr(onnx, "to_onnx", run_graph)

    def write(model):
        folder = tmp_path / next(model.parameters()).device.type
        if exchange == "onnx of language":
            onnx.export_language_model(model.eval(), tokenizer, folder)
        elif exchange == "model folder":
            Translator(model.eval(), tokenizer).save(folder)
            Translator.load(folder)
        elif exchange == "onnx":
            onnx.export(Translator(model.eval(), tokenizer), folder)
        else:
            huggingface.export(Translator(model.eval(), tokenizer), folder)
            huggingface.load(folder)
        names = sorted(path.name for path in folder.iterdir() if path.suffix != ".md")
        return [(name, (folder / name).read_bytes()) for name in names]

    language = LanguageModel(LanguageModelConfig(300, d_model=16, window=2, num_kv_heads=2))
    same(write, language if "language" in exchange else make(norm_first=True))


def test_llama():
    transformers = pytest.importorskip("transformers")
    theirs = transformers.Qwen3Config(
        vocab_size=30, hidden_size=16, intermediate_size=20, num_hidden_layers=2, head_dim=4,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64,
    )  # fmt: skip
    torch.manual_seed(0)
    model = LanguageModel(llama.config_from(theirs))

    def back(model, ids):
        settings, weights = llama.to_llama(model)
        return weights, llama.from_llama(settings, weights)(ids)

    assert on_device(same(back, model, IDS))


EXERCISES = [each for each in exercises().values() if "device=" in each.stub]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_exercises_with_a_device(exercise):
    """What an answer makes there is right, or wrong in the same way, once it has come back."""
    for code in (exercise.solution, *exercise.right, *exercise.wrong):
        answer = answer_of(exercise, code)
        if "device" in inspect.signature(answer).parameters:
            there = partial(answer, device=NAME)
            # A case that names a device itself ("meta") is answered there.
            assert examine(
                exercise,
                lambda *x, f=there, **named: f(*x, **named) if named else f(*x).cpu(),
            ) == examine(exercise, answer)


def test_command_line(tokenizer, tmp_path, monkeypatch, capsys):
    """`train` in both precisions, `translate` and `evaluate` work where TUTOR_DEVICE says."""
    monkeypatch.setenv("TUTOR_DEVICE", NAME)
    assert tutor.device() == torch.device(NAME)
    monkeypatch.setattr(recipes, "BUILTIN_PAIRS", 60)
    sizes = dict(vocab_size=300, num_layers=1, d_model=16, num_heads=2)
    monkeypatch.setitem(recipes.SIZES, "builtin", sizes)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    folder = str(tmp_path / "model")
    assert main(["train", "--steps", "3", "--out", folder]) == 0
    assert f"on {NAME}" in capsys.readouterr().err
    about = json.loads((tmp_path / "model" / "training.json").read_text("utf-8"))
    assert about["precision"] == "bfloat16"
    monkeypatch.setattr(evaluate, "TEST_PAIRS", 5)
    written = []
    for device in (NAME, "cpu"):
        monkeypatch.setenv("TUTOR_DEVICE", device)
        stream = io.TextIOWrapper(io.BytesIO("\n".join(TEXTS).encode()))
        monkeypatch.setattr(sys, "stdin", stream)
        assert main(["translate", "--model", folder, "--beams", "2"]) == 0
        written.append(capsys.readouterr().out)
        assert main(["evaluate", "--model", folder, "--json"]) == 0
        assert '"sentences": 5' in capsys.readouterr().out
    assert written[0] == written[1] and written[0].count("\n") == len(TEXTS)


FEWER = {  # what a page trains on, and how long, to be quick here
    "60_000": "300",
    "6_000": "300",
    "vocab_size=3000": "vocab_size=700",
    "english.index(bicycle)": "8",
    "[eight] * 60": "[eight] * 2",
    "32 * 120": "32 * 2",
    "pairs[5000:5300]": "pairs[200:210]",
    "STEPS = 1250": "STEPS = 3",
    "generate_pairs(name, 1000)": "generate_pairs(name, 2)",
    "steps=120": "steps=2",
    "steps=200": "steps=2",
    "few * 32": "few",
}


class Short(ast.NodeTransformer):
    """A page without its assertions, which three steps of training do not keep."""

    def visit_Assert(self, node):
        return ast.copy_location(ast.Pass(), node)


def test_pages_that_train(monkeypatch):
    monkeypatch.setenv("TUTOR_DEVICE", NAME)
    monkeypatch.setattr(figures, "loss_panels", partial(figures.loss_panels, mean_of=1))
    pages = "08_training", "08b_overfitting"
    text = "".join((NOTEBOOKS / "source" / f"{page}.md").read_text("utf-8") for page in pages)
    for much, few in FEWER.items():
        assert much in text, much
        text = text.replace(much, few)
    page = {}
    for cell in re.findall(r"^```\{code-cell\}\n(.*?)^```", text, re.M | re.S):
        if ":tags: [you-write]" not in cell:
            code = ast.parse(cell.replace(":tags: [hide-input]\n", ""))
            exec(compile(Short().visit(code), "a cell", "exec"), page)
    assert all(on_device(list(page[name].parameters())) for name in ("model", "student"))

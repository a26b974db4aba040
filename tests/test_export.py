"""The exported files, run by onnxruntime, against the model; the example, in a Python without it.

The numbers to agree with come from the whole model on whole sentences, which knows no cache.
"""

import ast
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from onnxruntime import InferenceSession

from tutor import Transformer, TransformerConfig, Translator, load_pretrained
from tutor.exchange.onnx import (
    ENCODER_FILE,
    ONNX_FILES,
    SETTINGS_FILE,
    STEP_FILE,
    TOKENIZER_FILE,
    export,
)
from tutor.text.grammar import generate_pairs
from tutor.text.tokenizer import BOS, EOS, Tokenizer

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "translate_with_onnx.py"
ALONE = """\
import runpy, sys
for name in ("torch", "tutor", "onnx", "onnxscript", "safetensors"):
    sys.modules[name] = None  # an import of it raises
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
LONG = ", and a man in a red shirt is standing next to a large brown dog"
TEXTS = [pair.english for pair in generate_pairs("test", 24)] + [
    "", " \t\u00a0", "dog", "?", "A man with a hat.", "[EOS] is a dog.", "Ünïcödé 猫 🙂.",
    "  two  dogs ", "Two dogs" + 5 * LONG + ".", "A dog" + 30 * LONG,
]  # fmt: skip


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shipped") / "new" / "export"
    translator = load_pretrained()
    export(translator, folder)
    return translator, folder


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """All that the shipped model is not: post-norm, learned positions, d_k is not d_v, float64,
    untrained, so that nothing ends by itself, and fond of ids that are never written.
    """
    torch.manual_seed(0)
    config = TransformerConfig(
        260, d_model=8, num_heads=2, d_ff=16, num_layers=1, dropout=0.5, max_len=70,
        positions="learned", d_k=3, d_v=5,
    )  # fmt: skip
    translator = Translator(Transformer(config).double().train(), Tokenizer.train([], 260))
    with torch.no_grad():
        translator.model.embedding.weight[:EOS] *= 10
    folder = tmp_path_factory.mktemp("toy")
    export(translator, folder)
    return translator, folder


def in_float32(model):
    """A copy of a model in float32, with dropout off."""
    twin = Transformer(model.config).eval()
    twin.load_state_dict(model.state_dict())
    return twin


def run_alone(*arguments, text=""):
    """Run a script in a Python that cannot import torch or tutor."""
    command = [sys.executable, "-I", "-c", ALONE, *map(str, arguments)]
    return subprocess.run(command, input=text.encode(), capture_output=True, timeout=1200)


@pytest.mark.filterwarnings("ignore:.*have more than", "ignore:.*did not end by themselves")
def test_the_example_translates_like_the_model(shipped):
    translator, folder = shipped
    done = run_alone(EXAMPLE, folder, text="\n".join(TEXTS) + "\n")
    assert done.returncode == 0, done.stderr.decode()
    written = done.stdout.decode().splitlines()
    as_it_is = Translator(translator.model, translator.tokenizer)  # the example knows no haste
    expected = [as_it_is.translate([text], beams=1)[0] for text in TEXTS]
    assert written == expected
    assert len(set(expected)) > 25  # no model that always says the same


@pytest.mark.filterwarnings("ignore:.*have more than", "ignore:.*did not end by themselves")
def test_the_example_stops_where_the_model_stops(toy):
    translator, folder = toy
    texts = ["", "a", "a dog", 60 * "b", 100 * "dog "]  # limits: source + 50, max_len, cut source
    reference = Translator(in_float32(translator.model), translator.tokenizer)
    expected = [reference.translate([text], beams=1)[0] for text in texts]
    done = run_alone(EXAMPLE, folder, text="\n".join(texts))
    assert done.stdout.decode() == "\n".join(expected) + "\n", done.stderr.decode()


def test_the_example_says_how_it_is_called():
    result = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True)
    assert result.returncode == 1 and result.stderr == "usage: translate_with_onnx.py FOLDER\n"


def test_the_example_is_short_and_has_no_torch_to_import(tmp_path):
    source = EXAMPLE.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 40
    imports = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Import | ast.ImportFrom)]
    names = {getattr(n, "module", None) or n.names[0].name for n in imports}
    standard = {"json", "sys", "pathlib", "unicodedata"}
    assert names == standard | {"numpy", "onnxruntime", "tokenizers"}
    for name in ("torch", "tutor"):
        (tmp_path / "script.py").write_text(f"import {name}")
        assert b"ModuleNotFoundError" in run_alone(tmp_path / "script.py").stderr


def pairs_of_ids(N, S, T, vocab_size):
    """Random source_ids (N, S), row n with n tokens of padding, and target_ids (N, T)."""
    torch.manual_seed(N + S)
    source_ids = torch.randint(4, vocab_size, (N, S))
    for n in range(N):
        source_ids[n, S - n - 1 :] = 0
        source_ids[n, S - n - 1] = EOS
    target_ids = torch.randint(4, vocab_size, (N, T))
    target_ids[:, 0] = BOS
    return source_ids, target_ids


@pytest.mark.parametrize(
    "which, N, S, T",
    [("shipped", 1, 1, 3), ("shipped", 4, 7, 20), ("shipped", 1, 256, 256)]
    + [("toy", 1, 70, 1), ("toy", 3, 5, 70)],
)
def test_logits_of_any_number_of_sentences_and_any_length(request, which, N, S, T):
    translator, folder = request.getfixturevalue(which)
    model = in_float32(translator.model)
    c, attention = model.config, model.decoder.layers[0].self_attention.attention
    source_ids, target_ids = pairs_of_ids(N, S, T, c.vocab_size)
    with torch.no_grad():
        expected = model(source_ids, target_ids)  # (N, T, vocab_size)

    encoder, step = (InferenceSession(folder / name) for name in (ENCODER_FILE, STEP_FILE))
    feed = {"source_ids": source_ids.numpy()}
    feed["memory_K"], feed["memory_V"] = encoder.run(["memory_K", "memory_V"], feed)
    for name, d in (("past_K", attention.d_k), ("past_V", attention.d_v)):
        feed[name] = np.zeros((c.num_layers, N, c.num_heads, 0, d), np.float32)
    for t in range(T):
        feed["ids"] = target_ids[:, t : t + 1].numpy()
        logits, feed["past_K"], feed["past_V"] = step.run(["logits", "K", "V"], feed)
        np.testing.assert_allclose(logits, expected[:, t].numpy(), rtol=0, atol=1e-4)
    for name in ("past_K", "past_V"):
        assert feed[name].shape[3] == T


@pytest.mark.parametrize("which", ["shipped", "toy"])
def test_the_graphs_name_their_free_sizes(request, which):
    translator, folder = request.getfixturevalue(which)
    c = translator.model.config
    d_k, d_v = (32, 32) if which == "shipped" else (3, 5)

    def kept(size, d):
        return [c.num_layers, "N", c.num_heads, size, d]

    encoder, step = (InferenceSession(folder / name) for name in (ENCODER_FILE, STEP_FILE))
    memory = {"memory_K": kept("S", d_k), "memory_V": kept("S", d_v)}
    assert {x.name: x.shape for x in encoder.get_inputs()} == {"source_ids": ["N", "S"]}
    assert {x.name: x.shape for x in encoder.get_outputs()} == memory
    assert {x.name: x.shape for x in step.get_inputs()} == {
        "ids": ["N", 1], "source_ids": ["N", "S"], **memory,
        "past_K": kept("t", d_k), "past_V": kept("t", d_v),
    }  # fmt: skip
    assert {x.name: x.shape for x in step.get_outputs()} == {
        "logits": ["N", c.vocab_size], "K": kept("t + 1", d_k), "V": kept("t + 1", d_v)
    }  # fmt: skip


def test_the_files_are_small_and_complete(shipped, tmp_path):
    translator, folder = shipped
    assert {path.name for path in folder.iterdir()} == set(
        ONNX_FILES
    )  # no weights beside the graphs
    sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
    assert sum(sizes.values()) < 16_000_000
    translator.tokenizer.save(tmp_path / TOKENIZER_FILE)
    assert (folder / TOKENIZER_FILE).read_bytes() == (tmp_path / TOKENIZER_FILE).read_bytes()
    assert json.loads((folder / SETTINGS_FILE).read_text(encoding="utf-8")) == {
        "format_version": 1, "prefix": " ", "pad": 0, "bos": 2, "eos": 3,
        "never_written": [0, 1, 2], "max_len": 256, "extra": 50,
        "vocab_size": 4000, "num_layers": 4, "num_heads": 4, "d_k": 32, "d_v": 32,
    }  # fmt: skip
    for name in (ENCODER_FILE, STEP_FILE):
        graph = (folder / name).read_bytes()
        assert b".py" not in graph and str(ROOT).encode() not in graph


def test_the_same_model_gives_the_same_bytes_and_stays_as_it_was(toy, tmp_path):
    translator, folder = toy
    before = {name: tensor.clone() for name, tensor in translator.model.state_dict().items()}
    state = torch.get_rng_state()
    (tmp_path / STEP_FILE).write_text("an older export")
    export(translator, tmp_path)
    for name in ONNX_FILES:
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name
    assert torch.equal(torch.get_rng_state(), state)
    assert all(module.training for module in translator.model.modules())
    after = translator.model.state_dict()
    assert all(after[name].dtype == torch.float64 for name in after)
    assert all(torch.equal(after[name], before[name]) for name in before)


def test_a_folder_that_cannot_be_written(toy, tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OSError, match=r"^Cannot write into .*file.* \(.+\): choose another"):
            export(toy[0], folder)


def test_a_model_folder_keeps_its_tokenizer(toy, tmp_path):
    toy[0].save(tmp_path / "model")
    with pytest.raises(ValueError, match="holds a model, whose tokenizer .*: choose another"):
        export(toy[0], tmp_path / "model")


@pytest.mark.parametrize("name", ["onnx", "onnxscript"])
def test_a_missing_package_is_named_before_anything_is_written(toy, tmp_path, monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=rf"missing \(.*{name}.*\): run `python -m pip install"):
        export(toy[0], tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_full_disk_leaves_the_last_export(toy, tmp_path, monkeypatch):
    def save(path):
        raise OSError(28, "No space left on device")

    (tmp_path / STEP_FILE).write_text("an older export")
    monkeypatch.setattr("tutor.exchange.onnx.to_onnx", lambda *_: b"graph")  # takes its time
    monkeypatch.setattr(toy[0].tokenizer, "save", save)
    with pytest.raises(OSError, match=r"\(No space left on device\): free room, or choose"):
        export(toy[0], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [STEP_FILE]
    assert (tmp_path / STEP_FILE).read_text() == "an older export"

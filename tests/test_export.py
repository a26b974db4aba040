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
import tokenizers
import torch
from command_line import run_here
from onnxruntime import InferenceSession

from tutor import Transformer, TransformerConfig, Translator, load_pretrained
from tutor.exchange.onnx import (
    ENCODER_FILE,
    LANGUAGE_FILES,
    ONNX_FILES,
    SETTINGS_FILE,
    STEP_FILE,
    TOKENIZER_FILE,
    export,
    export_language_model,
)
from tutor.language_model import LanguageModel, LanguageModelConfig
from tutor.text.grammar import generate_pairs
from tutor.text.tokenizer import BOS, EOS, Tokenizer
from tutor.training.checkpoint import save_language_model

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


YARN = dict(
    rope_type="yarn", factor=4.0, original_max_position_embeddings=16, beta_fast=8, beta_slow=1,
    truncate=True, attention_factor=1.2,
)  # fmt: skip
SPEAKERS = {  # every part of a language model is in one of them
    "plain": {},
    "2017": dict(positions="sinusoidal", norm_first=False, num_layers=1),
    "modern": dict(
        positions="rope", rope_scaling=YARN, norm="rms", feed_forward="swiglu", bias=False,
        num_kv_heads=2, qk_norm=True, window=5, unwindowed=(1,), unturned=(1,), tied=False,
        scale_embedding=False, pad=None, d_k=6,
    ),
    "alibi": dict(
        positions="alibi", num_kv_heads=1, window=3, qk_norm="joint", qkv_bias=True, norm_out=True,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def speakers(tmp_path_factory):
    """name -> a language model, in whose every number there is chance, and its export."""
    made = {}

    def make(name):
        if name not in made:
            torch.manual_seed(0)
            sizes = dict(d_model=16, num_heads=4, d_ff=20, num_layers=2, max_len=40)
            model = LanguageModel(LanguageModelConfig(260, **sizes | SPEAKERS[name])).eval()
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.add_(0.3 * torch.randn_like(parameter))
            made[name] = model, tmp_path_factory.mktemp(name)
            export_language_model(model, Tokenizer.train([], 260), made[name][1])
        return made[name]

    return make


def speaking(folder, N):
    """A function that reads the newest ids (N, T), with a cache, and gives logits."""
    step, about = InferenceSession(folder / LANGUAGE_FILES[0]), settings_of(folder)
    sizes = about["num_layers"], N, about["num_kv_heads"], 0
    feed = {f"past_{x}": np.zeros((*sizes, about[f"d_{x.lower()}"]), np.float32) for x in "KV"}

    def read(ids):
        feed["ids"] = np.array(ids, np.int64)
        logits, feed["past_K"], feed["past_V"] = step.run(["logits", "K", "V"], feed)
        return logits  # (N, vocab_size)

    return read


def settings_of(folder):
    return json.loads((folder / LANGUAGE_FILES[-1]).read_text(encoding="utf-8"))


@pytest.mark.parametrize("N", [1, 2])
@pytest.mark.parametrize("name", SPEAKERS)
def test_a_language_model_reads_a_prompt_and_goes_on_by_steps(speakers, name, N):
    model, folder = speakers(name)
    words = range(1 if model.config.pad == 0 else 0, 260)
    torch.manual_seed(N)
    ids = torch.randint(words.start, words.stop, (N, 40))
    ids[0, ::9] = words.start
    read, end = speaking(folder, N), 0
    with torch.no_grad():
        expected = model(ids)  # (N, T, vocab_size), without a cache
    for part in ids.split([9, *28 * [1], 3], dim=1):
        end += part.shape[1]
        found = read(part.numpy())
        np.testing.assert_allclose(found, expected[:, end - 1].numpy(), rtol=0, atol=1e-4)


def test_a_language_model_completes_as_the_command_does(speakers, tmp_path, monkeypatch, capsys):
    (model, folder), home, away = speakers("modern"), tmp_path / "home", tmp_path / "away"
    save_language_model(home, model, Tokenizer.train([], 260))
    assert run_here(["export", "--model", home, "--out", away], monkeypatch) == 0
    assert {path.name for path in away.iterdir()} == set(LANGUAGE_FILES)
    for file in LANGUAGE_FILES:  # the same model, the same bytes
        found = (away / file).read_bytes()
        assert found == (folder / file).read_bytes(), file
        assert b".py" not in found and str(ROOT).encode() not in found

    beginnings, written = ["A dog", "", "Two men"], []
    lines = "".join(f"{text}\n" for text in beginnings).encode()
    assert run_here(["complete", "--model", home], monkeypatch, lines) == 0
    about = settings_of(away)
    assert about == {
        "format_version": 1, "prefix": " ", "bos": 2, "eos": 3, "never_written": [0, 1, 2],
        "max_len": 40, "vocab_size": 260, "num_layers": 2, "num_kv_heads": 2, "d_k": 6, "d_v": 6,
    }  # fmt: skip
    tokenizer = tokenizers.Tokenizer.from_file(str(away / TOKENIZER_FILE))
    for text in beginnings:
        read, ids = speaking(away, 1), [about["bos"]]
        ids += tokenizer.encode(about["prefix"] + text).ids if text else []
        newest = ids
        while newest != [about["eos"]] and len(ids) <= about["max_len"]:
            logits = read([newest])
            logits[:, about["never_written"]] = -np.inf
            newest = [int(logits.argmax())]
            ids = ids + newest
        text = tokenizer.decode(ids).removeprefix(about["prefix"])
        written.append(" ".join(text.splitlines()))
    assert written == capsys.readouterr().out.split("\n")[:-1]
    assert min(len(set(text)) for text in written) > 8  # no model that always says the same


def test_what_no_graph_of_a_language_model_holds(tmp_path):
    dynamic = dict(rope_type="dynamic", factor=2.0, original_max_position_embeddings=16)
    for sizes, words in (
        (dict(positions="rope", rope_scaling=dynamic), 'the speeds of "dynamic" RoPE depend on'),
        (dict(positions="alibi", unturned=(1,)), "keys have one column more in the layers with"),
        (dict(vocab_size=300_000, d_model=2048), r"it has 2\.\d GB in float32"),
    ):
        with torch.device("meta"):
            model = LanguageModel(LanguageModelConfig(**dict(vocab_size=260) | sizes))
        with pytest.raises(ValueError, match=f"not written as ONNX: .*{words}"):
            export_language_model(model, Tokenizer.train([], 260), tmp_path)
    assert not list(tmp_path.iterdir())


def test_exports_of_two_kinds_do_not_share_a_folder(speakers, toy):
    model, folder = speakers("plain")
    for write in (lambda: export(toy[0], folder),
                  lambda: export_language_model(model, toy[0].tokenizer, toy[1])):  # fmt: skip
        with pytest.raises(ValueError, match="holds a model, whose tokenizer .*: choose another"):
            write()

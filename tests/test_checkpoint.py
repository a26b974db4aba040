"""Model folders: what goes in comes out, what is damaged is named, what was good stays."""

import hashlib
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from damage import edit_config, edit_header, edit_json, edit_tensors, exchange, write
from hypothesis import given, settings
from hypothesis import strategies as st

import tutor
from tutor.text.tokenizer import Tokenizer
from tutor.training import checkpoint
from tutor.training.checkpoint import load_model, save_model
from tutor.transformer import Transformer, TransformerConfig

TOKENIZER = Tokenizer.train(["a red dog", "un chien rouge"], 270)
CONFIG = TransformerConfig(
    len(TOKENIZER), d_model=12, num_heads=3, d_ff=8, num_layers=2, dropout=0.5, max_len=20
)


def make_model(**changes):
    return Transformer(replace(CONFIG, **changes))


def state(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "model"
    save_model(folder, make_model(), TOKENIZER)
    return folder


@pytest.fixture
def folder(whole, tmp_path):
    """A good model folder, to be damaged."""
    copy = tmp_path / "model"
    copy.mkdir()
    for name, data in state(whole).items():
        (copy / name).write_bytes(data)
    return copy


@pytest.mark.parametrize(
    "changes",
    [{}, {"positions": "learned", "norm_first": True}, {"d_k": 5, "d_v": 7, "num_heads": 5}],
)
def test_what_was_saved_is_loaded(changes, tmp_path):
    model = make_model(**changes)
    save_model(tmp_path, model, TOKENIZER, card="Déjà vu\n", training={"steps": 3})
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    loaded, tokenizer = load_model(tmp_path)
    assert torch.equal(torch.rand(3), expected)  # loading draws no random numbers
    assert loaded.config == model.config and not loaded.training
    ids = torch.tensor([tokenizer.encode("a red dog")])
    assert torch.equal(loaded(ids, ids), model.eval()(ids, ids))
    assert (tmp_path / "card.md").read_bytes() == "Déjà vu\n".encode()
    assert json.loads((tmp_path / "training.json").read_text()) == {"steps": 3}


def test_half_precision_is_half_the_size_and_is_loaded_as_float32(whole, tmp_path):
    model, tokenizer = load_model(whole)
    save_model(tmp_path / "half", model, tokenizer, dtype=torch.float16)
    sizes = [(path / "model.safetensors").stat().st_size for path in (whole, tmp_path / "half")]
    assert sizes[1] < 0.75 * sizes[0]
    half = load_model(tmp_path / "half")[0].state_dict()
    for name, tensor in model.state_dict().items():
        assert half[name].dtype == torch.float32
        assert torch.equal(half[name], tensor.half().float())


def without(field):
    return edit_json("config.json", lambda values: values.pop(field))


def edit_tokenizer(change):
    return edit_json("tokenizer.json", change)


OTHER = Tokenizer.train(["a red dog"], 262)
Q, K = (f"encoder.layers.0.self_attention.attention.W_{name}" for name in "QK")

DAMAGE = {
    "no weights": (lambda f: (f / "model.safetensors").unlink(), "holds no model.safetensors"),
    "no config": (lambda f: (f / "config.json").unlink(), "holds no config.json"),
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), "holds no tokenizer.json"),
    "not JSON": (write("config.json", b'{"d_model": '), "is not a JSON file"),
    "not UTF-8": (write("config.json", b"\xff"), "is not a JSON file"),
    "a list": (write("config.json", b"[]"), "one JSON object"),
    "not a tokenizer": (write("tokenizer.json", b"{}"), "is not a tokenizer file"),
    "a huge tokenizer": (write("tokenizer.json", b" " * 8_000_001), "more than 8,000,000 bytes"),
    "a huge config": (write("config.json", b" " * 100_001), "more than 100,000 bytes"),
    "a deep config": (write("config.json", b"[" * 99_999), "is not a JSON file"),
    "a tokenizer that makes texts longer": (
        edit_tokenizer(
            lambda t: t.update(
                normalizer={"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 9999}
            )
        ),
        "of another kind: its 'normalizer'",
    ),
    "a tokenizer that may never end": (
        edit_tokenizer(
            lambda t: t["pre_tokenizer"]["pretokenizers"][0].update(pattern={"Regex": "(a*)*b"})
        ),
        "of another kind: its 'pre_tokenizer'",
    ),
    "a tokenizer of words": (
        edit_tokenizer(lambda t: t["model"].update(type="WordLevel")),
        "of another kind: its 'model'",
    ),
    "ids with a gap": (
        edit_tokenizer(lambda t: t["model"]["vocab"].update({"Ġred": 10**6})),
        "its ids are not 0, 1, 2",
    ),
    "true for an id": (
        edit_tokenizer(lambda t: t["model"]["vocab"].update({"[UNK]": True})),
        "its ids are not 0, 1, 2",
    ),
    "no token for a byte": (
        edit_tokenizer(lambda t: t["model"]["vocab"].update(xyz=t["model"]["vocab"].pop("!"))),
        "it has no token '!'",
    ),
    "a merge of nothing": (
        edit_tokenizer(lambda t: t["model"]["merges"].append(["x", "nothing"])),
        "is not a tokenizer file",
    ),
    "a merge of numbers": (
        edit_tokenizer(lambda t: t["model"]["merges"].append([1, 2])),
        "is not a tokenizer file",
    ),
    "no merges": (edit_tokenizer(lambda t: t["model"].pop("merges")), "lacks a vocabulary"),
    "a header of a terabyte": (edit_header(lambda n: 2**40), "damaged or cut short"),
    "a header one byte short": (edit_header(lambda n: n - 1), "damaged or cut short"),
    "numbers that are not finite": (
        edit_tensors(lambda t: t["embedding.weight"][3].fill_(float("nan"))),
        "holds numbers in embedding.weight that are not finite",
    ),
    "not safetensors": (write("model.safetensors", b"x" * 99), "damaged or cut short"),
    "empty weights": (write("model.safetensors", b""), "damaged or cut short"),
    "from the future": (edit_config(format_version=2), "format_version 2"),
    "of transformers": (write("config.json", b'{"model_type": "bart"}'), "huggingface.load"),
    "unknown field": (edit_config(colour="red"), "unknown field 'colour'"),
    "missing field": (without("d_ff"), "lacks the field 'd_ff'"),
    "text for a number": (edit_config(d_model="12"), "d_model must be .* not '12'"),
    "true for a number": (edit_config(num_layers=True), "num_layers must be .* not True"),
    "text for a share": (edit_config(dropout="0.1"), "dropout must be .* not '0.1'"),
    "number for a switch": (edit_config(norm_first=1), "norm_first must be .* not 1"),
    "no such positions": (edit_config(positions="relative"), "describes no model: positions"),
    "heads that do not divide": (edit_config(num_heads=5), "describes no model: d_model=12"),
    "another width": (edit_config(d_model=24), "weights, but the sizes ask for"),
    "fewer layers": (edit_config(num_layers=1), "weights, but the sizes ask for"),
    "more layers": (edit_config(num_layers=3), "weights, but the sizes ask for"),
    "far too many layers": (edit_config(num_layers=999_999), "weights, but the sizes ask for"),
    "far too long": (edit_config(max_len=10**12), "numbers is the most"),
    "a table of positions of 12 GB": (
        edit_config(d_model=3 * 10**6 // 3, num_heads=1, max_len=3000),
        "numbers is the most",
    ),
    "an endless number": (write("config.json", b"1" * 9999), "is not a JSON file"),
    "a long story": (edit_config(positions="x" * 9999), "describes no model"),
    "far too wide": (edit_config(d_ff=1_000_000), "weights, but the sizes ask for"),
    "other tokenizer": (lambda f: OTHER.save(f / "tokenizer.json"), "has 262 ids"),
    "tensor left out": (
        edit_tensors(lambda tensors: tensors.pop("embedding.weight")),
        "weights, but the sizes ask for",
    ),
    "tensor too many": (
        edit_tensors(lambda t: t.update(extra=torch.ones(2))),
        "weights, but the sizes ask for",
    ),
    "another name": (
        edit_tensors(lambda t: t.update(extra=t.pop("embedding.weight"))),
        r"do not belong together \(.*embedding.weight",
    ),
    "another shape": (
        edit_tensors(
            lambda t: t.update({"embedding.weight": t["embedding.weight"].T.contiguous()})
        ),
        r"do not belong together \(.*size mismatch for embedding.weight",
    ),
    "whole numbers": (
        edit_tensors(lambda t: t.update({k: v.int() for k, v in t.items()})),
        "as I32",
    ),
    "two tensors exchanged": (
        exchange(Q, K),
        "not the file that config.json was written with .its SHA-256",
    ),
    "one number changed": (
        edit_tensors(lambda t: t[Q][0, 0].add_(1.0)),
        "not the file that config.json was written with .its SHA-256",
    ),
    "another hash": (edit_config(weights_sha256=7), "its SHA-256 is another"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damage_is_named_in_one_sentence(case, folder):
    damage, words = DAMAGE[case]
    damage(folder)
    with pytest.raises((FileNotFoundError, ValueError), match=words) as caught:
        load_model(folder)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600


def test_no_model_is_made_while_its_sizes_are_in_doubt(folder, monkeypatch):
    made, build = [], Transformer.__init__
    monkeypatch.setattr(
        Transformer, "__init__", lambda self, config: made.append(config) or build(self, config)
    )
    load_model(folder)
    assert len(made) == 1
    edit_config(d_ff=999_999)(folder)
    with pytest.raises(ValueError, match="do not belong together"):
        load_model(folder)
    assert len(made) == 1


def test_a_folder_without_a_hash_is_one_of_an_earlier_version(folder):
    expected = load_model(folder)[0].embedding.weight
    without("weights_sha256")(folder)
    assert torch.equal(load_model(folder)[0].embedding.weight, expected)


@pytest.mark.parametrize("path", [*Path(tutor.__file__).parent.rglob("tokenizer.json")])
def test_models_that_ship_are_of_our_kind(path):
    checkpoint.load_tokenizer(path)
    weights = hashlib.sha256(path.with_name("model.safetensors").read_bytes()).hexdigest()
    assert json.loads(path.with_name("config.json").read_text())["weights_sha256"] == weights


SHOWN = "17_shipping.md"  # opens one, to show what a stranger's could do
PICKLES = re.compile(
    r"\btorch\.(load|save)\(|\bimport c?pickle|\bc?pickle\.\w|allow_pickle ?= ?True|_object\("
)


def test_nothing_is_pickled_anywhere():
    """Opening a pickle runs whatever its author wrote: no code of ours does, tests included.

    That of objects sent between processes (`gather_object` and the like) is one, too. (To grade an
    answer, the judge sends code to its process with cloudpickle; only plain data comes back.)
    """
    root = Path(__file__).parents[1]
    folders = "tutor", "course", "tests"
    sources = [path for name in folders for path in (root / name).rglob("*.py")]
    sources += [path for path in (root / "notebooks").rglob("*.md") if path.name != SHOWN]
    found = [
        f"{path.name}: {line.strip()}"
        for path in sources
        for line in path.read_text(encoding="utf-8").splitlines()
        if PICKLES.search(line.partition("#")[0]) and "re.compile" not in line and 'r"' not in line
    ]
    assert len(sources) > 40 and found == []
    for line in ("import " + "pickle", "x = torch." + "load(f)", "all_gather" + "_object(a, b)"):
        assert PICKLES.search(line)


def test_no_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="no model folder"):
        load_model(tmp_path / "nowhere")


@settings(max_examples=25)
@given(st.data())
def test_weights_cut_anywhere_are_refused(whole, tmp_path_factory, data):
    weights = (whole / "model.safetensors").read_bytes()
    end = data.draw(st.integers(0, len(weights) - 1))
    path = tmp_path_factory.mktemp("cut")
    for name, content in state(whole).items():
        (path / name).write_bytes(content)
    (path / "model.safetensors").write_bytes(weights[:end])
    with pytest.raises(ValueError, match="damaged or cut short"):
        load_model(path)


class Failure(Exception):
    pass


def fail(*args, **kwargs):
    raise Failure


def fail_the_second_time(monkeypatch):
    replace, calls = os.replace, []

    def second(a, b):
        calls.append(a)
        if len(calls) == 2:
            raise Failure
        replace(a, b)

    monkeypatch.setattr(os, "replace", second)


FAILURES = {
    "while the tokenizer is written": lambda m: m.setattr(Tokenizer, "save", fail),
    "while the weights are written": lambda m: m.setattr(checkpoint, "save", fail),
    "between the two renamings": fail_the_second_time,
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failed_save_leaves_everything_as_it_was(case, folder, monkeypatch):
    before = state(folder)
    FAILURES[case](monkeypatch)
    with pytest.raises(Failure):
        save_model(folder, make_model(), TOKENIZER, card="new")
    assert state(folder) == before
    assert list(folder.parent.iterdir()) == [folder]


def test_saving_replaces_the_folder_as_a_whole(folder):
    save_model(folder, make_model(), TOKENIZER, card="old", training={})
    model = make_model(norm_first=True)
    save_model(folder, model, TOKENIZER)
    assert sorted(state(folder)) == ["config.json", "model.safetensors", "tokenizer.json"]
    assert load_model(folder)[0].config == model.config
    assert list(folder.parent.iterdir()) == [folder]


def test_what_must_not_be_saved(tmp_path):
    broken = make_model()
    with torch.no_grad():
        broken.embedding.weight[3, 3] = float("nan")
    with pytest.raises(ValueError, match="embedding.weight holds numbers that are not finite"):
        save_model(tmp_path / "a", broken, TOKENIZER)
    with torch.no_grad():
        broken.embedding.weight[3, 3] = 65520
    with pytest.raises(ValueError, match=r"embedding.weight .* too large for torch.float16"):
        save_model(tmp_path / "a", broken, TOKENIZER, dtype=torch.float16)
    with pytest.raises(ValueError, match="has 262 ids"):
        save_model(tmp_path / "a", make_model(), OTHER)
    with pytest.raises(ValueError, match="dtype must be"):
        save_model(tmp_path / "a", make_model(), TOKENIZER, dtype=torch.int8)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"not part of a model \(notes.txt\)"):
        save_model(tmp_path, make_model(), TOKENIZER)
    with pytest.raises(ValueError, match="is a file"):
        save_model(tmp_path / "notes.txt", make_model(), TOKENIZER)
    assert state(tmp_path) == {"notes.txt": b"mine"}

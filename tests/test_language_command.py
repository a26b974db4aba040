"""Language models on the command line: trained, resumed, gone on from, completing, exported."""

import filecmp
import json
import math

import pytest
import torch
from command_line import DOES, TWENTY, run_here, write_toy
from torch.nn import functional as F

from tutor.language_model import LanguageModel, LanguageModelConfig
from tutor.text import multi30k
from tutor.text.tokenizer import BOS, EOS, Tokenizer
from tutor.training import recipes
from tutor.training.checkpoint import load_language_model, save_language_model

TEXTS = [f"The {noun} {verb}." for noun in TWENTY["en"] for verb in DOES["en"]]
KEPT = TEXTS[::7]  # never learned; each of their words is
FAST = ["--steps", 60, "--precision", "highest", "--checkpoint-every", 25]


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A language model that the command line trained on a reader's file, blank lines in it."""
    folder = tmp_path_factory.mktemp("language")
    lines = [line for text in TEXTS if text not in KEPT for line in ("", text)]
    file, model = write_lines(folder / "mine.txt", lines), folder / "model"
    with pytest.MonkeyPatch.context() as patch:
        train = ["train", "--task", "language", "--data", file, *FAST, "--out", model]
        assert run_here(train, patch) == 0
    return file, model


@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    return write_toy(tmp_path_factory.mktemp("translator") / "model")


def test_it_learns_the_texts_of_a_file(learned, tmp_path, monkeypatch, capsys):
    file, model = learned
    about = json.loads((model / "training.json").read_text(encoding="utf-8"))
    assert (about["task"], about["data"], about["texts"]) == ("language", [str(file)], 42)
    assert (about["corpus"], about["pair"], about["recipe"]["smoothing"]) == (None, None, 0.0)
    unseen = write_lines(tmp_path / "unseen.txt", KEPT)
    evaluate = ["evaluate", "--model", model, "--data", unseen]
    assert run_here([*evaluate, "--json"], monkeypatch) == 0
    found = json.loads(capsys.readouterr().out)
    loaded, tokenizer = load_language_model(model)
    nats = tokens = 0
    for ids in tokenizer.encode(KEPT):
        Z = loaded(torch.tensor([[BOS, *ids]]))[0]
        nats += F.cross_entropy(Z, torch.tensor([*ids, EOS]), reduction="sum").item()
        tokens += len(Z)
    assert (found["texts"], found["tokens"]) == (8, tokens)
    assert found["perplexity"] == pytest.approx(math.exp(nats / tokens), rel=1e-3)
    # Ten nouns and five verbs are log 50 nats a text; the model had little to learn that from.
    assert nats / 8 < 2 * math.log(50)
    size = unseen.stat().st_size
    assert found["bits_per_byte"] == pytest.approx(nats / math.log(2) / size, abs=1e-3)
    assert run_here(evaluate, monkeypatch) == 0
    assert f"perplexity     {found['perplexity']:8.2f}" in capsys.readouterr().out


def test_complete_writes_each_line_on(learned, monkeypatch, capsys):
    complete = ["complete", "--model", learned[1]]
    assert run_here(complete, monkeypatch, b"The  dog\n\nThe dog si\n") == 0
    dog, nothing, si = capsys.readouterr().out.splitlines()
    texts = {text: None for text in TEXTS}
    assert dog in texts and dog.startswith("The dog ") and nothing in texts
    assert si.startswith("The dog si")
    assert run_here([*complete, "--tokens", 1], monkeypatch, b"The\n") == 0
    assert len(capsys.readouterr().out.split()) == 2

    def drawn(*options):
        assert run_here([*complete, *options], monkeypatch, b"The\n" * 20) == 0
        return capsys.readouterr().out.splitlines()

    free = ["--temperature", 1, "--seed", 1]
    assert drawn(*free) == drawn(*free) != drawn(*free[:-1], 2)
    assert len({*drawn(*free)}) > 3  # and greedily one:
    assert (
        len({*drawn()}) == len({*drawn("--temperature", 0)}) == len({*drawn("--top-p", 0.01)}) == 1
    )
    assert drawn("--top-p", 1, "--seed", 1) == drawn(*free)


def test_a_killed_training_goes_on_and_ends_alike(learned, tmp_path, monkeypatch):
    file, model = learned
    train = ["train", "--task", "language", "--data", file, *FAST, "--out", tmp_path / "again"]
    with monkeypatch.context() as patch:
        patch.setattr("tutor.commands.train.save_language_model", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run_here(train, patch)
    assert run_here(train, monkeypatch) == 2  # without --resume
    assert run_here([*train, "--resume"], monkeypatch) == 0
    for name in ("model.safetensors", "tokenizer.json"):
        assert filecmp.cmp(model / name, tmp_path / "again" / name, shallow=False)


def test_another_training_goes_on_from_its_weights(learned, tmp_path, monkeypatch):
    file, model = learned
    train = ["train", "--task", "language", "--data", file, "--steps", 1, "--out"]
    assert run_here([*train, tmp_path / "on", "--start", model], monkeypatch) == 0
    (first, _), (second, _) = load_language_model(model), load_language_model(tmp_path / "on")
    assert second.config == first.config
    for one, other in zip(first.parameters(), second.parameters(), strict=True):
        assert 0 < (one - other).abs().max() < 0.01
    assert run_here([*train, tmp_path / "new", "--tokenizer", model], monkeypatch) == 0
    same = [folder / "tokenizer.json" for folder in (model, tmp_path / "new")]
    assert filecmp.cmp(*same, shallow=False)


def test_a_long_line_is_learned_in_pieces(tmp_path, monkeypatch):
    config = LanguageModelConfig(260, d_model=8, num_heads=2, d_ff=16, num_layers=1, max_len=9)
    model, file = tmp_path / "model", write_lines(tmp_path / "long.txt", ["abcdefg" * 2, "abcdefg"])
    save_language_model(model, LanguageModel(config), Tokenizer.train([], 260))
    train = ["train", "--task", "language", "--data", file, "--steps", 1, "--start", model]
    assert run_here([*train, "--out", tmp_path / "on"], monkeypatch) == 0
    about = json.loads((tmp_path / "on" / "training.json").read_text(encoding="utf-8"))
    assert about["texts"] == 3  # of 8, 7 and 8 bytes, each with the space in front of its text


@pytest.mark.parametrize("corpus", ["builtin", "multi30k"])
def test_a_corpus_gives_its_english_side(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(recipes, "BUILTIN_PAIRS", 20)
    monkeypatch.setattr(
        multi30k, "load_multi30k", lambda split, pair: (["A dog."] * 20, ["Un chien."] * 20)
    )
    monkeypatch.chdir(tmp_path)
    train = ["train", "--task", "language", "--corpus", corpus, "--steps", 1]
    assert run_here(train, monkeypatch) == 0
    _, tokenizer = load_language_model("models/language")
    assert "_A" in tokenizer.tokens("A man") and "_Un" not in tokenizer.tokens("Un chien")


@torch.no_grad()
def test_transformers_writes_what_complete_writes(learned, tmp_path, monkeypatch, capsys):
    transformers = pytest.importorskip("transformers")
    export = ["export", "--model", learned[1], "--to", "huggingface", "--out", tmp_path / "out"]
    assert run_here(export, monkeypatch) == run_here(export, monkeypatch) == 0
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "out")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    beginnings = ["The dog", "The", ""]
    lines = "".join(f"{text}\n" for text in beginnings).encode()
    assert run_here(["complete", "--model", learned[1]], monkeypatch, lines) == 0
    ours, _ = load_language_model(learned[1])
    for text, wanted in zip(beginnings, capsys.readouterr().out.splitlines(), strict=True):
        batch = tokenizer([text], return_tensors="pt")
        assert torch.allclose(theirs(**batch).logits, ours(batch["input_ids"]), atol=1e-4)
        [ids] = theirs.generate(**batch, max_new_tokens=50, do_sample=False)
        assert tokenizer.decode(ids, skip_special_tokens=True) == wanted


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("train --task language --pair en-fr", "--pair is for translators"),
        ("train --task language --more FILE FILE", "--more is for translators"),
        ("train --task language --data FILE FILE", "reads one file"),
        ("train --data FILE", "two files of sentence pairs"),
        ("train --task other", "invalid choice: 'other'"),
        ("train --task language --data EMPTY", "EMPTY holds no text"),
        ("train --task language --data nothing", "nothing"),
        ("train --task language --start TRANSLATOR", "holds a translator, not a language model"),
        ("train --start MODEL", "holds a language model, not a translator"),
        ("translate --model MODEL", "holds a language model, not a translator"),
        ("complete", "required: --model"),
        ("complete --model TRANSLATOR", "holds a translator, not a language model"),
        ("complete --model nowhere", "There is no model folder nowhere"),
        ("complete --model MUTE", "holds no tokenizer"),
        ("complete --model MODEL --temperature 1e-40", "temperature must lie between"),
        ("complete --model MODEL --top-p 0", "'0' is not a number from 0.001 to 1"),
        ("complete --model MODEL", "Line 2 has 602 tokens, but the model reads 255 at most"),
        ("evaluate --model MODEL --pair en-fr", "--pair is for translators"),
        ("evaluate --model MODEL --beams 2", "one --model"),
        ("evaluate --model MODEL --model MODEL", "one --model"),
        ("evaluate --data FILE", "two files of sentence pairs"),
        ("export --model MUTE --out out", "holds no tokenizer"),
        ("export --model MUTE --to huggingface --out out", "positions='learned'"),
    ],
)
def test_wrong_use_is_answered_in_one_line(
    command, words, learned, translator, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    there = {"MODEL": learned[1], "TRANSLATOR": translator, "MUTE": "MUTE"}
    write_lines(tmp_path / "FILE", ["A dog."])
    write_lines(tmp_path / "EMPTY", ["", " "])
    if "MUTE" in command:
        config = LanguageModelConfig(260, d_model=8, num_heads=2, d_ff=16, num_layers=1)
        save_language_model("MUTE", LanguageModel(config))
    before = {path.name for path in tmp_path.iterdir()}
    arguments = [there.get(word, word) for word in command.split()]
    arguments += ["--out", "new"] if command.startswith("train") else []
    code = run_here(arguments, monkeypatch, f"The\n{'x y ' * 150}.\n".encode())
    out, errors = capsys.readouterr()
    last = [line for line in errors.splitlines() if not line.startswith("tutor: reading")][-1]
    assert code == 2 and last.startswith("tutor: ") and words in last
    assert len(out.splitlines()) == ("255 at most" in words)
    assert {path.name for path in tmp_path.iterdir()} == before

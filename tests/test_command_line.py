"""The command line as a shell sees it: streams, exit codes, files."""

import contextlib
import errno
import filecmp
import json
import os
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from command_line import DOES, TWENTY, run_here, write_toy

from tutor import Transformer, TransformerConfig, Translator
from tutor.__main__ import main
from tutor.record import DOUBT
from tutor.text.tokenizer import Tokenizer
from tutor.training import recipes, runs
from tutor.training.checkpoint import load_model, read_words, write_words
from tutor.training.resume import Checkpoints
from tutor.translator import Translation

# The whole corpus would take most of the time of this test.
SMALL = (
    "import sys; from tutor.training import recipes; recipes.BUILTIN_PAIRS = 300; "
    "from tutor.__main__ import main; "
)
TRAIN = [sys.executable, "-c", SMALL + "sys.exit(main())", "train"]
TUTOR = [sys.executable, "-m", "tutor"]
# As on a computer whose language is not set up: UTF-8 must not depend on it.
PLAIN = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}


def run(command, **kwargs):
    return subprocess.run(list(map(str, command)), capture_output=True, env=PLAIN, **kwargs)


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return write_toy(tmp_path_factory.mktemp("toy") / "model")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model folder that the command line trained for seconds, and what it said meanwhile."""
    folder = tmp_path_factory.mktemp("command line") / "deep" / "model"
    return folder, run([*TRAIN, "--minutes", 0.03, "--seed", 3, "--out", folder])


def test_train_writes_a_model_folder_and_says_how_on_standard_error(trained):
    folder, result = trained
    assert result.returncode == 0, result.stderr
    assert result.stdout == b""
    assert b"seconds are left of 0.03 minutes" in result.stderr
    about = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    assert about["steps"] == about["recipe"]["steps"] >= 5
    assert f"step {about['steps']:,} of {about['steps']:,}".encode() in result.stderr
    assert (about["sentence_pairs"], about["recipe"]["seed"]) == (300, 3)
    assert about["loss"][-1] < about["loss"][0]
    history = runs.read(folder)
    assert len(history.loss) == about["steps"] and sum(history.tokens) == about["target_tokens"]
    assert set(about["versions"]) == {"python", "torch", "tokenizers"} and about["config"]
    assert not runs.training_folder(folder).exists()
    assert len(Translator.load(folder).translate(["A dog is running."])) == 1


def test_pairs_of_text_files_are_trained_on_too(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(recipes, "BUILTIN_PAIRS", 300)
    english, french = tmp_path / "english", tmp_path / "french"
    english.write_bytes(b"A dog.\r\nA cat.\n")
    french.write_bytes("Un chien.\n\u2028Un chat.\n".encode())
    train = ["train", "--steps", 2, "--more", english, french, "--out", tmp_path / "model"]
    assert run_here([*train, "--more", french, french], monkeypatch) == 0
    about = json.loads((tmp_path / "model" / "training.json").read_text(encoding="utf-8"))
    files = [[str(english), str(french)], [str(french)] * 2]
    assert (about["sentence_pairs"], about["more"]) == (304, files)
    assert run_here([*train, "--resume"], monkeypatch) == 2  # other pairs
    assert "holds a model already" in capsys.readouterr().err
    french.write_bytes(b"Un chien.\nUn ch\xe2t.\n")
    assert run_here([*train, "--force"], monkeypatch) == 2
    assert f"Line 2 of {french} is not UTF-8" in capsys.readouterr().err
    french.write_bytes(b"Un chien.\n")
    assert run_here([*train, "--force"], monkeypatch) == 2
    assert f"{english} has 2 lines but {french} has 1" in capsys.readouterr().err
    french.unlink()
    assert run_here([*train, "--force"], monkeypatch) == 2
    assert str(french) in capsys.readouterr().err


def test_the_same_number_of_steps_and_seed_give_the_same_weights(trained, tmp_path, monkeypatch):
    folder, _ = trained
    about = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    asked = ["--steps", about["steps"], "--precision", about["precision"], "--seed", 3]
    monkeypatch.setattr(recipes, "BUILTIN_PAIRS", 300)
    assert run_here(["train", *asked, "--out", tmp_path], monkeypatch) == 0
    same = filecmp.cmp(*(path / "model.safetensors" for path in (folder, tmp_path)), shallow=False)
    assert same


def test_translate_gives_a_line_for_a_line(toy):
    lines = ["A dog is running.", "", "L'été, 🙂\u2028 it\x0brains.", "  ", "A boy", "long " * 50]
    result = run([*TUTOR, "translate", "--model", toy], input="\n".join(lines).encode())
    assert result.returncode == 0, result.stderr
    with pytest.warns(UserWarning, match="were cut"):
        expected = Translator.load(toy).translate(lines)
    assert result.stdout.decode() == "".join(f"{line}\n" for line in expected)
    assert expected[1] == expected[3] == "" not in expected[::2]
    errors = result.stderr.decode()
    assert "tutor: 1 of 6 texts have more than the 39 tokens" in errors
    assert "translated:" not in errors  # no bar: this is no terminal


def plain(texts):
    return [Translation(text, 0.0, False) for text in texts]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [([], (1, 1.4)), (["--beams", "5"], (5, 1.4)), (["--beams", "2", "--alpha", "1"], (2, 1.0))],
)
def test_the_search_is_the_one_asked_for(toy, monkeypatch, capsys, options, wanted):
    asked = []
    monkeypatch.setattr(
        Translator, "translations", lambda self, t, *how: asked.append(how) or plain(t)
    )
    assert run_here(["translate", "--model", toy, *options], monkeypatch, b"one\n") == 0
    assert asked == [wanted]


def test_the_model_reads_the_lines_and_nothing_else(toy, monkeypatch, capsys):
    monkeypatch.setattr(Translator, "translations", lambda self, t, *_: plain(map(repr, t)))
    text = "\ufeffone\r\n\n\ufefftwo \u2028 three".encode()  # Windows puts a BOM in front
    assert run_here(["translate", "--model", toy], monkeypatch, text) == 0
    assert capsys.readouterr().out.splitlines() == [
        "'one'", "''", repr("\ufefftwo \u2028 three"),
    ]  # fmt: skip


def test_several_models_translate_together(toy, tmp_path, monkeypatch, capsys):
    text = b"A dog is running.\n"
    one, other = ["--model", toy], ["--model", tmp_path]
    write_toy(tmp_path, ["the the"], 261)
    written = []
    for models in (one, one + one):
        assert run_here(["translate", "--beams", 2, *models], monkeypatch, text) == 0
        written.append(capsys.readouterr().out)
    assert written[0] == written[1] != ""
    assert run_here(["translate", *one, *other], monkeypatch, text) == 2
    assert "different tokenizers" in capsys.readouterr().err


def test_only_force_replaces_a_model(toy, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(recipes, "BUILTIN_PAIRS", 300)
    folder = tmp_path / "model"
    shutil.copytree(toy, folder)
    before = (folder / "model.safetensors").read_bytes()
    train = ["train", "--steps", 2, "--out", folder]
    assert run_here(train, monkeypatch) == 2 and "add --force" in capsys.readouterr().err
    assert (folder / "model.safetensors").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert run_here([*train, "--force"], monkeypatch) == 0
    assert (folder / "model.safetensors").read_bytes() != before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals in Python")
def test_a_bar_moves_in_a_terminal(toy):
    command = [*TUTOR, "translate", "--model", toy]
    ours, theirs = os.openpty()
    subprocess.run(["stty", "rows", "24", "cols", "80"], stdin=theirs, check=True)
    subprocess.run(command, input=b"A dog.\n", stderr=theirs, stdout=subprocess.PIPE, check=True)
    os.close(theirs)
    said = b""
    with contextlib.suppress(OSError):  # the end of a pseudo-terminal
        while part := os.read(ours, 10_000):
            said += part
    assert b"translated: 1line" in said


def test_a_line_stays_a_line_whatever_the_model_writes(toy, monkeypatch, capsys):
    monkeypatch.setattr(Translator, "translations", lambda self, t, *_: plain(["a\nb\r\nc"] * 2))
    assert run_here(["translate", "--model", toy], monkeypatch, b"one\ntwo\n") == 0
    assert capsys.readouterr().out == "a b  c\na b  c\n"


def test_lines_with_a_slip_and_lines_to_doubt_are_named(monkeypatch, capsys):
    text = b"A dgo is running on the beach.\n\nThe parliament rejected the amendment.\n"
    assert run_here(["translate"], monkeypatch, text) == 0
    slip, doubt = capsys.readouterr().err.splitlines()
    assert slip == "tutor: line 1: Read as: A dog is running on the beach."
    assert doubt == f"tutor: line 3: {DOUBT}"


def test_text_that_is_not_utf8_is_refused(toy, monkeypatch, capsys):
    assert run_here(["translate", "--model", toy], monkeypatch, b"A dog.\n\xff\n") == 2
    assert "tutor: Line 2 of the input is not UTF-8" in capsys.readouterr().err


def test_translate_ends_quietly_when_its_reader_goes(toy):
    process = subprocess.Popen(
        [*TUTOR, "translate", "--model", toy],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    process.stdout.close()
    process.stdout = None
    _, errors = process.communicate(b"A dog is running.\n")
    assert process.returncode == 1
    assert b"Error" not in errors and b"pipe" not in errors.lower()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no shell, or no device that is full")
@pytest.mark.parametrize(
    ("streams", "code", "words"),
    [
        ("2>&-", 0, b""),
        ("2>/dev/full", 0, b""),
        ("<&-", 2, b"tutor: Standard input is closed"),
        (">&-", 2, b"tutor: Standard output is closed"),
    ],
)
def test_a_stream_that_is_closed_or_full_costs_nothing_else(toy, streams, code, words):
    command = ["sh", "-c", f'exec "$@" {streams}', "sh", *TUTOR, "translate", "--model", toy]
    result = run(command, input=b"long " * 60)  # it is warned of
    assert result.returncode == code
    assert result.stdout.count(b"\n") == (code == 0)
    assert result.stderr.startswith(words) and result.stderr.count(b"\n") == bool(words)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("train --steps 1 --out new", 0),
        ("export --to huggingface --model MODEL --out new", 0),
        ("evaluate --json --model MODEL", 2),
        ("translate --model MODEL", 2),
    ],
)
def test_a_program_without_streams_does_its_work(command, code, toy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(recipes, "BUILTIN_PAIRS", 300)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    assert main([str(toy) if word == "MODEL" else word for word in command.split()]) == code
    assert [path.name for path in tmp_path.iterdir()] == ["new"] * (code == 0)


def test_evaluate_prints_json_and_nothing_else(toy, monkeypatch, capfd):
    evaluate = ["evaluate", "--corpus", "builtin", "--json", "--model", toy]
    assert run_here(evaluate, monkeypatch) == 0
    said = capfd.readouterr().out
    scores = json.loads(said)
    assert said.count("\n") == 1
    assert (scores["split"], scores["sentences"]) == ("test", 1000) and scores["seconds"] > 0
    assert 0 <= scores["exact_match"] <= 1
    assert "tok:13a" in scores["bleu"]["signature"]
    assert "tok:none" in scores["moses_bleu"]["signature"]
    assert all(0 <= scores[name]["score"] <= 100 for name in ("bleu", "moses_bleu", "chrf"))


def toy_pairs():
    """Fifty pairs of English and Spanish: each noun with each verb."""
    return [
        (f"The {noun} {verb}.", f"El {sustantivo} {verbo}.")
        for noun, sustantivo in zip(TWENTY["en"], TWENTY["es"], strict=True)
        for verb, verbo in zip(DOES["en"], DOES["es"], strict=True)
    ]


def write_sides(folder, name, pairs):
    """Write name.en and name.es; returns their paths."""
    paths = [folder / f"{name}.en", folder / f"{name}.es"]
    for path, lines in zip(paths, zip(*pairs, strict=True), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return paths


def test_a_translator_of_the_readers_own_pairs(tmp_path, monkeypatch, capsys):
    pairs = toy_pairs()
    kept = pairs[::7]  # never seen; each of their words is
    learned = write_sides(tmp_path, "mine", [pair for pair in pairs if pair not in kept])
    tested = write_sides(tmp_path, "test", kept)
    model = tmp_path / "model"
    train = ["train", "--data", *learned, "--steps", 150, "--precision", "highest"]
    assert run_here([*train, "--out", model], monkeypatch) == 0
    about = json.loads((model / "training.json").read_text(encoding="utf-8"))
    assert (about["corpus"], about["pair"]) == (None, None)
    assert (about["data"], about["sentence_pairs"]) == ([str(path) for path in learned], 42)
    capsys.readouterr()
    evaluate = ["evaluate", "--model", model, "--data", *tested, "--json"]
    assert run_here(evaluate, monkeypatch) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["exact_match"] == 1.0 and found["sentences"] == 8 and "moses_bleu" not in found
    # Its tokenizer serves another training; its pairs go on in other languages with a word.
    more = [*train[:4], "--steps", 1, "--tokenizer", model, "--more", learned[0], learned[0]]
    assert run_here([*more, "--out", tmp_path / "other"], monkeypatch) == 0
    [line] = [x for x in capsys.readouterr().err.splitlines() if "same language" in x]
    assert line.startswith(f"tutor: {learned[0]}: ")
    same = filecmp.cmp(model / "tokenizer.json", tmp_path / "other" / "tokenizer.json", False)
    assert same
    # One step on from its weights, at half of the rates, leaves them almost where they were.
    write_words(model, ["dog", "cat"])  # and what it knows of words goes along
    on = [*train[:4], "--steps", 1, "--start", model, "--out", tmp_path / "on"]
    assert run_here(on, monkeypatch) == 0
    (first, _), (second, _) = load_model(model), load_model(tmp_path / "on")
    assert second.config == first.config
    for one, other in zip(first.parameters(), second.parameters(), strict=True):
        assert (one - other).abs().max() < 0.01
    about = json.loads((tmp_path / "on" / "training.json").read_text(encoding="utf-8"))
    assert (about["start"], about["recipe"]["lr"]) == (str(model), 0.0025)
    assert read_words(tmp_path / "on") == ["dog", "cat"] and not read_words(tmp_path / "other")
    capsys.readouterr()
    assert run_here([*on[:-3], tmp_path / "none", "--out", tmp_path / "new"], monkeypatch) == 2
    assert capsys.readouterr().err.endswith(f"There is no model folder {tmp_path / 'none'}.\n")


@pytest.mark.parametrize(
    ("english", "spanish", "words"),
    [
        ("A cat.\n\n", "Un gato.\nUn perro.\n", "Line 2 of {en} is blank"),
        ("A cat.\nA dog.\n", "Un gato.\n \n", "Line 2 of {es} is blank"),
        ("A cat.\nA dog.\n", "Un gato.\n", "{en} has 2 lines but {es} has 1"),
        ("", "", "{en} is empty"),
        ("A cat.\n", None, "{es}"),
    ],
)
def test_pairs_that_are_none_are_refused_before_anything_is_learned(
    tmp_path, monkeypatch, capsys, english, spanish, words
):
    paths = {"en": tmp_path / "a.en", "es": tmp_path / "a.es"}
    for path, text in zip(paths.values(), (english, spanish), strict=True):
        if text is not None:
            path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(Tokenizer, "train", None)
    for option in ("--data", "--more"):
        train = ["train", option, *paths.values(), "--out", tmp_path / "model"]
        monkeypatch.setattr(recipes, "BUILTIN_PAIRS", 3)
        assert run_here(train, monkeypatch) == 2
        assert words.format(**paths) in capsys.readouterr().err.splitlines()[-1]
        assert not (tmp_path / "model").exists()


def test_ctrl_c_before_the_first_step_says_one_thing_and_leaves_nothing(
    tmp_path, monkeypatch, capsys
):
    def interrupted(*_):
        signal.raise_signal(signal.SIGINT)
        yield from ()

    monkeypatch.setattr(recipes, "BUILTIN_PAIRS", 30)
    monkeypatch.setattr("tutor.training.loop.batches_forever", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        train = ["train", "--steps", 9, "--out", tmp_path / "model"]
        assert run_here(train, monkeypatch) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    stopped = [x for x in capsys.readouterr().err.splitlines() if "topped" in x]
    assert stopped == ["tutor: stopped: no model was saved"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends Ctrl-C to the whole console")
def test_ctrl_c_writes_the_model_so_far_and_the_training_goes_on(tmp_path, monkeypatch):
    # Jobs in the background ignore Ctrl-C, and the tests may be one.
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    options = ["--steps", "30", "--seed", "2", "--out", "model", "--resume"]
    process = subprocess.Popen(
        [sys.executable, "-c", listen + TRAIN[2], "train", *options],
        stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    try:
        for line in process.stderr:
            if "step 3 of 30" in line:  # the training runs
                break
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=1200)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "steps: --resume goes on" in errors and "Traceback" not in errors
    about = json.loads((tmp_path / "model" / "training.json").read_text(encoding="utf-8"))
    assert 0 < about["steps_done"] < about["steps"] == 30
    assert len(runs.read(tmp_path / "model").loss) == about["steps_done"]
    Translator.load(tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(recipes, "BUILTIN_PAIRS", 300)
    assert run_here(["train", *options], monkeypatch) == 0
    assert run_here(["train", *options[:-3], "--out", "whole"], monkeypatch) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "whole"]
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("model", "whole")]
    assert weights[0] == weights[1]


def test_a_training_that_has_not_ended_is_not_overwritten(tmp_path, monkeypatch, capsys):
    workspace = runs.training_folder(tmp_path / "model")
    asked = {"corpus": "builtin", "pair": "en-fr", "seed": 0, "steps": 9, "minutes": None}
    Checkpoints(workspace, Transformer(TransformerConfig(9, d_model=8)), {"asked": asked})
    before = {path.name: path.read_bytes() for path in workspace.iterdir()}
    for options, words in (
        (["--steps", 9], "model.training holds a training that has not ended: add --resume"),
        (["--steps", 8, "--resume"], "with steps 9 instead of 8: resume with the same options"),
        (["--resume"], "with minutes None instead of 2.0"),
    ):
        assert run_here(["train", "--out", tmp_path / "model", *options], monkeypatch) == 2
        [line] = capsys.readouterr().err.splitlines()
        assert words in line
        assert {path.name: path.read_bytes() for path in workspace.iterdir()} == before


@pytest.mark.parametrize("every", [3, 9])
def test_a_disk_that_is_full_at_the_end_is_named_and_the_way_on_too(
    every, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(recipes, "BUILTIN_PAIRS", 300)
    write = Path.write_bytes

    def full(path, data):
        write(path, data[:1000])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    train = ["train", "--steps", 4, "--checkpoint-every", every, "--out", tmp_path / "model"]
    with monkeypatch.context() as patch:
        patch.setattr(
            Path, "write_bytes",
            lambda path, data: (full if path.name == "model.safetensors" else write)(path, data),
        )  # fmt: skip
        assert run_here(train, monkeypatch) == 2
        assert [path.name for path in tmp_path.iterdir()] == ["model.training"]
        said = capsys.readouterr().err.splitlines()[-1]
        way = "goes on after step 3." if every == 3 else "begins anew."
        assert f"Cannot write into {tmp_path / 'model'} ({os.strerror(errno.ENOSPC)}" in said
        assert "free room" in said and said.endswith(f"--resume {way}")
    assert run_here([*train, "--resume"], monkeypatch) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        export = ["export", "--to", "huggingface", "--out", tmp_path / "exported"]
        assert run_here(export, monkeypatch) == 2
    assert f"Cannot write into {tmp_path / 'exported'}" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize(
    "command, words",
    [
        ("", "required: COMMAND"),
        ("train --steps 0", "'0' is not a whole number from 1"),
        ("train --minutes nan", "'nan' is not a number from"),
        ("train --minutes 1 --steps 1", "not allowed with"),
        ("train --checkpoint-every 0", "'0' is not a whole number from 1"),
        ("train --seed x", "'x' is not a whole number from 0"),
        ("train --steps 1 --out FILE", "is a file"),
        ("train --steps 1 --out FILE/model", "Cannot write into"),
        ("train --steps 1 --out .", "not part of a model (FILE)"),
        ("train --steps 1 --out MODEL", "holds a model already: choose another folder"),
        ("train --steps 1 --out MODEL --resume", "holds a model already: choose another folder"),
        ("train --steps 1 --pair en-de --out new", "The built-in corpus has no en-de"),
        ("translate --model nowhere", "There is no model folder nowhere"),
        ("evaluate --model MODEL --split nothing", "split is 'nothing'"),
        ("evaluate --model MODEL --corpus multi30k", "There is no test_2016_flickr.en.gz in ."),
    ],
)
def test_wrong_use_is_answered_in_one_line(command, words, toy, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TUTOR_DATA", ".")
    (tmp_path / "FILE").write_text("")
    arguments = [toy if word == "MODEL" else word for word in command.split()]
    code = run_here(arguments, monkeypatch)
    out, errors = capsys.readouterr()
    lines = errors.splitlines()
    if "--pair" in command:
        lines = lines[1:]  # training has begun
    assert code == 2 and out == ""
    assert len(lines) == 1 and lines[0].startswith("tutor: ") and words in lines[0]
    assert [path.name for path in tmp_path.iterdir()] == ["FILE"]

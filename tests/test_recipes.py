"""What a training chooses for itself: the precision in which its steps are faster."""

import json

import pytest

from tutor.__main__ import main
from tutor.commands.train import make_loss
from tutor.training import recipes

TINY = dict(vocab_size=300, num_layers=1, d_model=16, num_heads=2)


@pytest.fixture
def paces(monkeypatch):
    """Seconds a step in each precision; the measuring is taken from them."""
    paces = {"highest": 1.0, "bfloat16": 1.0}

    def measured(model, pairs, recipe, seconds, make_loss):
        return paces[make_loss.keywords["precision"]]

    monkeypatch.setattr(recipes, "measure_pace", measured)
    return paces


@pytest.mark.parametrize(
    ("pace", "wanted"), [(0.75, "bfloat16"), (0.85, "highest"), (2, "highest")]
)
def test_bfloat16_is_taken_where_it_is_clearly_faster(paces, pace, wanted):
    paces["bfloat16"] = pace
    found = recipes.fastest_precision(None, [], None, 60, make_loss)
    assert found == (wanted, paces[wanted])


def test_half_of_the_time_is_spent_on_each(monkeypatch):
    given = []
    monkeypatch.setattr(recipes, "measure_pace", lambda *args: given.append(args[3]) or 1.0)
    recipes.fastest_precision(None, [], None, 60, make_loss)
    assert given == [30, 30]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--steps", "3"], "highest"),  # too short to measure
        (["--minutes", "0.01"], "bfloat16"),
        (["--minutes", "0.01", "--precision", "highest"], "highest"),
        (["--steps", "3", "--precision", "bfloat16"], "bfloat16"),
    ],
)
def test_a_training_writes_down_its_precision(
    paces, options, wanted, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(recipes, "BUILTIN_PAIRS", 300)
    monkeypatch.setitem(recipes.SIZES, "builtin", TINY)
    paces |= {"highest": 0.002, "bfloat16": 0.001}
    train = ["train", *options, "--out", str(tmp_path / "model")]
    assert main(train) == 0
    about = json.loads((tmp_path / "model" / "training.json").read_text(encoding="utf-8"))
    assert about["precision"] == wanted
    assert main([*train, "--resume"]) == 0  # finished
    assert (f"{paces[wanted]:.3f} a step" in capsys.readouterr().err) == ("--minutes" in options)


def test_a_resumed_training_keeps_its_precision(paces, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(recipes, "BUILTIN_PAIRS", 300)
    monkeypatch.setattr(recipes, "worth_measuring", lambda steps: True)
    monkeypatch.setitem(recipes.SIZES, "builtin", TINY)
    train = ["train", "--steps", "3", "--out", str(tmp_path / "model")]
    paces["bfloat16"] = 0.5
    with monkeypatch.context() as patch:
        patch.setattr("tutor.commands.train.train", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):  # ends before its first checkpoint
            main(train)
    paces["bfloat16"] = 2  # on another day
    assert main([*train, "--resume", "--precision", "highest"]) == 2
    assert "precision None instead of 'highest'" in capsys.readouterr().err
    assert main([*train, "--resume"]) == 0
    about = json.loads((tmp_path / "model" / "training.json").read_text(encoding="utf-8"))
    assert about["precision"] == "bfloat16"


def test_a_precision_of_an_older_version_is_refused(paces, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(recipes, "BUILTIN_PAIRS", 300)
    monkeypatch.setitem(recipes.SIZES, "builtin", TINY)
    train = ["train", "--steps", "3", "--out", str(tmp_path / "model")]
    with monkeypatch.context() as patch:
        patch.setattr("tutor.commands.train.train", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            main(train)
    (run,) = tmp_path.rglob("run.json")
    run.write_text(run.read_text(encoding="utf-8").replace('"highest"', '"medium"'), "utf-8")
    assert main([*train, "--resume"]) == 2
    assert "This training began in 'medium' precision" in capsys.readouterr().err

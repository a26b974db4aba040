"""What a training chooses for itself: the precision in which its steps are faster."""

import json

import pytest
import torch

from tutor.__main__ import main
from tutor.training import recipes

TINY = dict(vocab_size=300, num_layers=1, d_model=16, num_heads=2)


@pytest.fixture(autouse=True)
def as_before():
    precision = torch.get_float32_matmul_precision()
    yield
    torch.set_float32_matmul_precision(precision)


@pytest.fixture
def paces(monkeypatch):
    """Seconds a step in each precision; the measuring is taken from them."""
    paces = {"highest": 1.0, "medium": 1.0}

    def measured(*_):
        return paces[torch.get_float32_matmul_precision()]

    monkeypatch.setattr(recipes, "measure_pace", measured)
    return paces


@pytest.mark.parametrize(("medium", "wanted"), [(0.8, "medium"), (0.95, "highest"), (2, "highest")])
def test_medium_is_taken_where_it_is_clearly_faster(paces, medium, wanted):
    paces["medium"] = medium
    found = recipes.fastest_precision(None, [], None, 60, None)
    assert found == (wanted, paces[wanted])
    assert torch.get_float32_matmul_precision() == wanted


def test_half_of_the_time_is_spent_on_each(monkeypatch):
    given = []
    monkeypatch.setattr(recipes, "measure_pace", lambda *args: given.append(args[3]) or 1.0)
    recipes.fastest_precision(None, [], None, 60, None)
    assert given == [30, 30]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--steps", "3"], "highest"),  # too short to measure
        (["--minutes", "0.01"], "medium"),
        (["--minutes", "0.01", "--precision", "highest"], "highest"),
        (["--steps", "3", "--precision", "medium"], "medium"),
    ],
)
def test_a_training_writes_down_its_precision(
    paces, options, wanted, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(recipes, "BUILTIN_PAIRS", 300)
    monkeypatch.setitem(recipes.SIZES, "builtin", TINY)
    paces |= {"highest": 0.002, "medium": 0.001}
    train = ["train", *options, "--out", str(tmp_path / "model")]
    assert main(train) == 0
    about = json.loads((tmp_path / "model" / "training.json").read_text(encoding="utf-8"))
    assert about["precision"] == torch.get_float32_matmul_precision() == wanted
    assert main([*train, "--resume"]) == 0  # finished
    assert (f"{paces[wanted]:.3f} a step" in capsys.readouterr().err) == ("--minutes" in options)


def test_a_resumed_training_keeps_its_precision(paces, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(recipes, "BUILTIN_PAIRS", 300)
    monkeypatch.setattr(recipes, "worth_measuring", lambda steps: True)
    monkeypatch.setitem(recipes.SIZES, "builtin", TINY)
    train = ["train", "--steps", "3", "--out", str(tmp_path / "model")]
    paces["medium"] = 0.5
    with monkeypatch.context() as patch:
        patch.setattr("tutor.commands.train.train", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):  # ends before its first checkpoint
            main(train)
    paces["medium"] = 2  # on another day
    assert main([*train, "--resume", "--precision", "highest"]) == 2
    assert "precision None instead of 'highest'" in capsys.readouterr().err
    assert main([*train, "--resume"]) == 0
    about = json.loads((tmp_path / "model" / "training.json").read_text(encoding="utf-8"))
    assert about["precision"] == "medium"

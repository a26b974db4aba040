"""Which device is chosen; that everything works on another one is `test_emulated.py`."""

import pytest
import torch

import tutor
from tutor.__main__ import main


@pytest.mark.parametrize(
    ("named", "gpu", "chosen"),
    [(None, False, "cpu"), (None, True, "cuda"), ("", True, "cuda"), ("cpu", True, "cpu")],
)
def test_the_variable_then_a_gpu_then_the_cpu(monkeypatch, named, gpu, chosen):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu)
    monkeypatch.delenv("TUTOR_DEVICE", raising=False)
    if named is not None:
        monkeypatch.setenv("TUTOR_DEVICE", named)
    assert tutor.device() == torch.device(chosen)


@pytest.mark.parametrize("name", ["gpu", "cuda:99", "meta", "cpu:no"])
def test_a_device_that_is_not_there_is_one_sentence(monkeypatch, name, tmp_path, capsys):
    monkeypatch.setenv("TUTOR_DEVICE", name)
    with pytest.raises(ValueError, match=f"TUTOR_DEVICE is {name!r}, but PyTorch finds no such"):
        tutor.device()
    assert main(["train", "--steps", "1", "--out", str(tmp_path / "model")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and name in said

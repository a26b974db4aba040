"""Two processes under torchrun do what one does."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import shared_gradients
import torch
from safetensors.torch import load_file

from tutor.training.resume import steps_in

HERE = Path(__file__).parent
TWO = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
pytestmark = pytest.mark.skipif(
    not torch.distributed.is_available() or torch.cuda.is_available(), reason="two CPU processes"
)


def by_two(*arguments):
    """Run a program under torchrun; returns what it says on standard error."""
    command = list(map(str, [*TWO, *arguments]))
    result = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    assert result.returncode == 0, result.stderr
    return result.stderr


def by_one(folder, steps):
    """What `shared_gradients` does without torchrun, in this process."""
    before = torch.get_default_dtype()
    try:
        shared_gradients.main(folder, steps)
    finally:
        torch.set_default_dtype(before)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Gradients, losses and weights by one process, and by each of two."""
    one, two = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("two")
    by_one(one, 0)
    by_two(HERE / "shared_gradients.py", two, 0)
    paths = one / "1.0.safetensors", two / "2.0.safetensors", two / "2.1.safetensors"
    return [load_file(path) for path in paths]


def assert_close(one, other, kind):
    names = [name for name in one if name.startswith(kind)]
    assert names
    for name in names:
        torch.testing.assert_close(one[name], other[name], rtol=0, atol=1e-12)


@pytest.mark.parametrize("batch", ["0.", "1.", "2."])
def test_two_processes_have_the_gradient_of_one(found, batch):
    one, first, second = found
    assert one["0.loss"].dtype == torch.float64
    for each in (first, second):
        assert_close(one, each, batch)


def test_two_processes_end_with_the_same_weights_and_all_but_those_of_one(found):
    one, first, second = found
    for name in (name for name in one if name.startswith("trained.")):
        assert torch.equal(first[name], second[name])
        # Muon's products in bfloat16 make a small difference larger.
        torch.testing.assert_close(one[name], first[name], rtol=0, atol=0.01)
    torch.testing.assert_close(one["losses"], first["losses"], rtol=0, atol=0.01)


def test_another_number_of_processes_goes_on(found, tmp_path):
    by_one(tmp_path, 3)
    assert steps_in(tmp_path / "run") == [2]
    by_two(HERE / "shared_gradients.py", tmp_path, 5)
    assert steps_in(tmp_path / "run") == [2, 4]
    by_one(tmp_path, 0)
    assert steps_in(tmp_path / "run") == [4, 6]
    losses = load_file(tmp_path / "1.0.safetensors")["losses"]
    torch.testing.assert_close(losses, found[0]["losses"], rtol=0, atol=0.01)


def test_the_command_line_under_torchrun_speaks_and_writes_once(tmp_path):
    arguments = [HERE / "tiny_training.py", "train", "--minutes", 0.01, "--out", tmp_path / "model"]
    said = by_two(*arguments, "--checkpoint-every", 2)
    for words in ("2 processes", "seconds are left of", "saved in", "step 5 of 5,"):
        assert len(re.findall(words, said)) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    files = {path.name for path in (tmp_path / "model").iterdir()}
    assert files == {
        "config.json", "history.csv", "model.safetensors", "tokenizer.json", "training.json",
    }  # fmt: skip

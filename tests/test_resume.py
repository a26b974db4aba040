"""Trainings that are killed, stopped, damaged or short of disk, and what is left of them."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from pytorch_twins import PAIRS, tiny
from safetensors.torch import load_file, save

from tutor.training import Recipe, train
from tutor.training.resume import Checkpoints, checkpoints_in, digest, steps_in

RECIPE = Recipe(steps=12, max_tokens=8, warmup=3, seed=5)
TINY = [sys.executable, str(Path(__file__).with_name("tiny_training.py")), "train"]


class Killed(Exception):
    pass


def run(folder, stop=None, recipe=RECIPE, every=2, seed=0):
    """Train a tiny model, resumed if `folder` has checkpoints, and die after step `stop`."""
    model = tiny(seed, dropout=0.3)
    checkpoints = Checkpoints(folder, model, {"recipe": asdict(recipe)}, every=every)

    def on_step(step, history):
        checkpoints.on_step(step, history)
        if step + 1 == stop:
            raise Killed

    try:
        history = train(model, PAIRS, recipe, on_step, checkpoints.resume)
    except Killed:
        return None
    return history, model.state_dict()


def assert_same(one, other):
    assert one[0].loss == other[0].loss and one[0].tokens == other[0].tokens
    assert all(torch.equal(t, other[1][name]) for name, t in one[1].items())


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return run(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def killed(tmp_path):
    """A folder with the checkpoints of steps 4 and 6."""
    run(tmp_path / "run", stop=7)
    assert steps_in(tmp_path / "run") == [4, 6]
    return tmp_path / "run"


def files(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def start(arguments, **environment):
    command = list(map(str, [*TINY, *arguments]))
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_killed_three_times_a_training_ends_with_the_same_weights(tmp_path):
    """Half-way through writing the first checkpoint, before one is renamed, before an old one is
    removed.
    """
    options = ["--steps", 24, "--checkpoint-every", 4, "--seed", 3]
    result = start([*options, "--out", tmp_path / "whole"])
    assert result.returncode == 0, result.stderr
    resumed = [*options, "--out", tmp_path / "killed", "--resume"]
    kills = {"write_bytes:2": [], "replace:3": [4], "unlink:1": [4, 8, 12]}
    for kill_at, left in kills.items():
        assert start(resumed, KILL_AT=kill_at).returncode == -signal.SIGKILL
        assert steps_in(tmp_path / "killed.training") == left
    result = start(resumed)
    assert result.returncode == 0, result.stderr
    for name in ("model.safetensors", "history.csv"):
        whole, killed = ((tmp_path / run / name).read_bytes() for run in ("whole", "killed"))
        assert whole == killed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["killed", "whole"]
    assert "finished" in start(resumed).stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_killed_once_its_model_is_saved_a_training_is_finished(tmp_path):
    resumed = ["--steps", 4, "--checkpoint-every", 2, "--out", tmp_path / "model", "--resume"]
    assert start(resumed, KILL_AT="replace:model.training").returncode == -signal.SIGKILL
    saved, begun = files(tmp_path / "model"), tmp_path / "model.training" / "history.csv"
    history = begun.read_bytes()
    begun.write_bytes(history.replace(b"1,", b"1,9"))  # that of another training with these options
    result = start(resumed)
    assert result.returncode == 2 and "holds a model already" in result.stderr
    assert steps_in(begun.parent) == [2, 4]
    begun.write_bytes(history)
    result = start(resumed)
    assert result.returncode == 0 and "model is finished" in result.stderr
    assert files(tmp_path) == saved


@pytest.mark.parametrize("stop", [1, 2, 7, 11])
def test_a_resumed_training_is_the_same_to_the_last_bit(whole, tmp_path, stop):
    run(tmp_path, stop=stop)
    assert_same(run(tmp_path), whole)


def test_the_last_two_checkpoints_are_kept(tmp_path):
    run(tmp_path, every=3)
    assert steps_in(tmp_path) == [9, 12]
    names = {"run.json", "history.csv", *(path.name for path in checkpoints_in(tmp_path))}
    assert {path.name for path in tmp_path.iterdir()} == names


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path):
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(data)


DAMAGE = {
    "cut in half": cut,
    "one bit of a weight": flip,
    "empty": lambda path: path.write_bytes(b""),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_used(case, killed, whole):
    DAMAGE[case](checkpoints_in(killed)[-1])
    with pytest.warns(UserWarning, match="the checkpoint before it is used") as caught:
        result = run(killed)
    assert_same(result, whole)
    assert len(caught) == 1 and "\n" not in str(caught[0].message)
    assert steps_in(killed) == [10, 12]


@pytest.mark.parametrize("name", ["cpu.0", "history.loss", "model.embedding.weight", "model.extra"])
def test_a_whole_checkpoint_that_does_not_fit_is_refused_and_named(name, killed):
    """As an attacker would write it: the hash in its name is right."""
    path = checkpoints_in(killed)[-1]
    data = save(load_file(path) | {name: torch.zeros(7, dtype=torch.uint8)[1:, None].contiguous()})
    path.unlink()
    path = path.with_name(f"step-00000006-{digest(data)}.safetensors")
    path.write_bytes(data)
    with pytest.raises(ValueError, match=f"{path.name} does not fit this training") as caught:
        run(killed)
    assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("ignore:.*the checkpoint before it")
def test_where_all_checkpoints_are_damaged_nothing_is_begun_or_lost(killed):
    for path in checkpoints_in(killed):
        cut(path)
    before = files(killed)
    with pytest.raises(ValueError, match="No checkpoint in .* can be read: delete the folder"):
        run(killed)
    assert files(killed) == before


def test_another_training_is_refused_and_its_checkpoints_stay(killed, whole):
    before = files(killed)
    with pytest.raises(ValueError, match="with recipe.lr 0.005 instead of 0.004: resume with"):
        run(killed, recipe=replace(RECIPE, lr=0.004))
    assert files(killed) == before
    assert_same(run(killed), whole)


@pytest.mark.filterwarnings("ignore:Cannot write the checkpoint")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_a_disk_that_takes_no_more_costs_no_checkpoint_and_no_training(
    number, killed, whole, monkeypatch
):
    before = files(killed)
    write, limit = Path.write_bytes, 1000

    def full(path, data):
        write(path, data[:limit])
        if len(data) > limit:
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.warns(UserWarning, match="Cannot write the checkpoint of step 8 into") as caught:
        result = run(killed)
    assert_same(result, whole)
    assert len(caught) == 3 and os.strerror(number) in str(caught[0].message)
    assert files(killed) == before


@pytest.mark.filterwarnings("ignore:Cannot write the checkpoint")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid(), reason="needs root")
def test_a_disk_that_is_really_full(tmp_path, whole):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        run(disk / "run", stop=7)
        before = files(disk / "run")
        filler = disk / "filler"
        with pytest.raises(OSError), filler.open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        with pytest.warns(UserWarning, match=os.strerror(errno.ENOSPC)):
            result = run(disk / "run")
        assert_same(result, whole)
        assert files(disk / "run") == before
    finally:
        subprocess.run(["umount", str(disk)], check=True)


# ---- Ctrl-C


def press(times, at, wait=0.0):
    """An on_step that presses Ctrl-C at a step, and a list of the steps it saw."""
    seen = []

    def on_step(step, history):
        seen.append(step)
        if step == at:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
                threading.Event().wait(wait)

    return on_step, seen


@pytest.fixture
def foreground():
    """Ctrl-C as in a terminal or a notebook, whatever started the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_the_training_after_a_whole_step(foreground):
    stopped, model = tiny(0), tiny(0)
    on_step, seen = press(times=2, at=4)  # torchrun sends it on, so there may be two at once
    with pytest.warns(UserWarning, match="Stopped: the model has learned so far"):
        history = train(stopped, PAIRS, RECIPE, on_step)
    assert seen == list(range(5)) and len(history.loss) == 5 and not stopped.training
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def stop(step, history):
        if step == 4:
            raise Killed

    with pytest.raises(Killed):
        train(model, PAIRS, RECIPE, stop)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    for p, q in zip(stopped.parameters(), model.parameters(), strict=True):
        assert torch.equal(p, q)


def test_ctrl_c_a_second_time_interrupts_at_once(foreground):
    on_step, seen = press(times=2, at=4, wait=1.1)
    with pytest.raises(KeyboardInterrupt):
        train(tiny(0), PAIRS, RECIPE, on_step)
    assert seen[-1] == 4
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_thread_can_train(foreground):
    results = []
    thread = threading.Thread(target=lambda: results.append(train(tiny(0), PAIRS, RECIPE)))
    thread.start()
    thread.join()
    assert len(results[0].loss) == 12


def test_a_training_that_has_ended_was_not_stopped(foreground):
    on_step, _ = press(times=1, at=11)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(train(tiny(0), PAIRS, RECIPE, on_step).loss) == 12

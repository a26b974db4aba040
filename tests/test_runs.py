"""Histories as CSV, and the plot of several."""

import sys

import pytest

from tutor import figures
from tutor.training import History, runs


def write(folder, history):
    folder.mkdir(parents=True)
    (folder / "history.csv").write_bytes(runs.to_csv(history).encode())


def test_a_history_by_hand(tmp_path):
    history = History([2.5, 0.1 + 0.2], [7, 14], 3.0)
    text = "step,loss,target_tokens\n1,2.5,7\n2,0.30000000000000004,14\n"
    assert runs.to_csv(history) == text
    write(tmp_path / "mine", history)
    found = runs.read(tmp_path / "mine")
    assert (found.loss, found.tokens) == (history.loss, history.tokens)


def test_a_training_that_is_going_on_is_read(tmp_path):
    write(tmp_path / "mine.training", History([1.0], [2]))
    assert runs.read(tmp_path / "mine").loss == [1.0]


@pytest.mark.parametrize(
    "data, words",
    [
        (b"", "not enough values"),
        (b"a,b\n", "the columns must be step, loss, target_tokens"),
        (b"step,loss,target_tokens\n2,1.0,1\n", "line 2 is not step 1"),
        (b"step,loss,target_tokens\n1,x,1\n", "could not convert"),
        (b"step,loss,target_tokens\n1,1.0\n", "not enough values"),
        (b"\xff", "utf-8"),
    ],
)
def test_what_is_no_history_is_named(data, words, tmp_path):
    (tmp_path / "history.csv").write_bytes(data)
    with pytest.raises(ValueError, match="is not the history of a training") as caught:
        runs.read(tmp_path)
    assert words in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(FileNotFoundError, match="holds no history.csv"):
        runs.read(tmp_path / "nowhere")


def test_several_runs_in_one_plot(tmp_path, monkeypatch):
    write(tmp_path / "a" / "mine", History([4.0, 2.0, 1.0], [1, 1, 1]))
    write(tmp_path / "b" / "mine", History([3.0], [1]))
    drawn = []
    monkeypatch.setattr(figures, "curves", lambda *args, **kwargs: drawn.append((args, kwargs)))
    folders = [tmp_path / "a" / "mine", tmp_path / "b" / "mine"]
    runs.plot(folders, window=2)
    [((lines, *_), words)] = drawn
    [(x, y), (short_x, short_y)] = lines.values()
    assert list(lines) == ["mine", str(folders[1])]
    assert (list(x), y) == ([2, 3], [3.0, 1.5]) and (list(short_x), short_y) == ([1], [3.0])
    assert "mine from 3.00 to 1.50 in 3 steps" in words["alt"]


def test_the_plot_is_drawn(tmp_path, monkeypatch):
    write(tmp_path / "mine", History([4.0, 2.0, 1.0], [1, 1, 1]))
    shown = []
    monkeypatch.setattr(figures.page, "display", shown.append)
    runs.plot([tmp_path / "mine"])
    assert shown


def test_tensorboard_reads_what_was_written(tmp_path):
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    for name, loss in (("first", [2.5, 1.5]), ("second", [3.0])):
        write(tmp_path / name, History(loss, [7] * len(loss)))
    runs.to_tensorboard([tmp_path / "first", tmp_path / "second"], tmp_path / "events")
    for name, loss in (("first", [(1, 2.5), (2, 1.5)]), ("second", [(1, 3.0)])):
        events = reader.EventAccumulator(str(tmp_path / "events" / name)).Reload()
        (tag,) = events.Tags()["scalars"]
        assert [(event.step, event.value) for event in events.Scalars(tag)] == loss


def test_tensorboard_gets_all_or_nothing(tmp_path):
    pytest.importorskip("tensorboard")
    write(tmp_path / "mine", History([1.0], [2]))
    for folders, error, words in (
        (["mine", "nowhere"], FileNotFoundError, "holds no history.csv"),
        (["mine", "mine"], FileExistsError, "is there already"),
    ):
        with pytest.raises(error, match=words):
            runs.to_tensorboard([tmp_path / name for name in folders], tmp_path / "events")
        assert not (tmp_path / "events").exists()


def test_tensorboard_that_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ModuleNotFoundError, match="pip install tensorboard"):
        runs.to_tensorboard([], tmp_path)

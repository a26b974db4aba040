"""The task of chapter 21, and what was measured on it."""

import torch

from course.making import longer as making
from tutor import language_model
from tutor.models import longer


def test_a_number_is_known_if_its_name_came_before():
    ids, names = longer.texts(5, 24, seed=1)
    assert ids.shape == (5, 25) and names.shape == (5, 12)
    known, near = longer.known(names), longer.known(names, within=6)
    for row, its_ids, found, close in zip(names.tolist(), ids.tolist(), known, near, strict=True):
        assert [i - longer.OWNERS[0] for i in its_ids[1::2]] == row
        numbers = {}
        for t, (name, number) in enumerate(zip(row, its_ids[2::2], strict=True)):
            assert found[t] == (name in row[:t]) and close[t] == (name in row[max(0, t - 3) : t])
            assert numbers.setdefault(name, number) == number  # a name keeps its number


def test_a_fact_at_a_distance_is_mentioned_once():
    ids, names = longer.texts(5, 58, seed=1, distance=40)
    rare = (names == len(longer.OWNERS) - 1).nonzero()[:, 1].reshape(5, 2)
    assert (rare == torch.tensor([28 - 20, 28])).all()


def test_a_window_with_sinks():
    with longer.sinks(2):
        mask = language_model.window_mask(6, 2)
    seen = [[t - 2 < s <= t or s < 2 and s <= t for s in range(6)] for t in range(6)]
    assert (~mask).tolist() == seen
    assert language_model.window_mask(6, 2)[5, 0]


def test_ten_seeds_were_measured_in_full():
    results = longer.load("results")
    assert results["seeds"] == list(making.SEEDS) and len(results["runs"]) == 10
    names = {f"{name}, {steps} steps" for name in longer.SCALINGS for steps in (0, 50)}
    for run in results["runs"]:
        assert run["by_place"].keys() == run["recall"].keys() == names
        assert {len(nats) for nats in run["by_place"].values()} == {8}
        assert [int(bits) for bits in run["bits"]] == list(longer.BITS)
        assert run["by_place"]["as trained, 0 steps"][0] < 0.1  # it has learned its task
    assert results["distances"] == list(longer.DISTANCES)

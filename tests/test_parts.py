"""What 05 and 05b bring along: curves for ten seeds, made by the definitions of the pages."""

import pytest
import torch

from course.making.parts import defined_by_the_page, train
from tutor.models.parts import CHANGES, EVERY, SEEDS, UPDATES, WHOLE, load

CURVES = load("curves")


@pytest.fixture(scope="module")
def page():
    return defined_by_the_page()


def test_each_change_has_a_curve_for_each_seed():
    assert {part: list(runs) for part, runs in CURVES.items()} == {
        part: list(changes) for part, changes in CHANGES.items()
    }
    for part, runs in CURVES.items():
        for curves in runs.values():
            assert len(curves) == len(SEEDS)
            assert {len(curve) for curve in curves} == {UPDATES[part] // EVERY}
            assert all(0 <= share <= 1 for curve in curves for share in curve)


def learn_in_time(part, name):
    return sum(curve[-1] > 0.9 for curve in CURVES[part][name])


def test_the_pages_count_what_ships():
    """Their texts say which seeds learn without a part, and how many with a warm-up."""
    found = {name: learn_in_time("parts", name) for name in CHANGES["parts"]}
    assert found["no residual"] == 2 and found["no positions"] == found["one layer"] == 0
    assert found[WHOLE] == found["no norm"] == found["no feed-forward"] == 10
    lucky = [s for s in SEEDS if CURVES["parts"]["no residual"][s][-1] > 0.9]
    assert lucky == [3, 9]
    deep = {name: learn_in_time("depth", name) for name in CHANGES["depth"]}
    assert deep["post-norm"] <= 3 < 9 <= deep["post-norm, warm-up"]
    assert deep["pre-norm"] == deep["no norm"] == 10
    assert deep["post-norm"] < deep["post-norm, third rate"] == 7
    sizes = {name: learn_in_time("sizes", name) for name in CHANGES["sizes"]}
    assert sizes["no factor"] <= 5 >= sizes["a sixth as long"] and sizes["ratio mended"] == 10


@pytest.mark.parametrize(
    ("part", "slow", "fast"),
    [
        ("depth", "post-norm", "post-norm, warm-up"),
        ("depth", "post-norm", "post-norm, third rate"),
        ("parts", WHOLE, "no norm"),
    ],
)
def test_what_the_page_calls_earlier_is_more_than_chance(part, slow, fast):
    runs = torch.tensor([CURVES[part][name] for name in (slow, fast)]).mean(dim=2)
    d = runs[1] - runs[0]  # (seeds,)
    assert d.mean() > 2.262 * d.std() / len(d) ** 0.5


def test_each_seed_goes_one_of_three_ways():
    ways = {"swapped": {1}, "others": {0, 3}, "as drawn": {0, 2}}  # the looks it needs
    found = {name: [] for name in ways}
    for seed, shares in zip(SEEDS, load("looks"), strict=True):
        needed = {i for i, share in enumerate(shares) if share < 0.6}
        assert all(shares[i] > 0.99 for i in range(len(shares)) if i not in needed)
        (name,) = [way for way, looks in ways.items() if looks == needed]
        found[name].append(seed)
    assert found == {"swapped": [0, 1, 3], "others": [2, 4, 5, 7, 8, 9], "as drawn": [6]}


def test_the_definitions_of_the_page_train(page):
    reader, curve = page["learn"](0, EVERY, layers=1)
    assert len(curve) == 1 and 0 < curve[0] < 1
    assert len(page["LOOKS"]) == len(load("looks")[0])


def test_a_run_of_one_machine_is_near_to_what_ships(page):
    """The first forty steps, before chance has a say."""
    _, curve = page["learn"](0, EVERY)
    assert abs(curve[0] - CURVES["parts"][WHOLE][0][0]) < 0.03


@pytest.mark.parametrize("name", ["post-norm", "post-norm, warm-up", "pre-norm"])
def test_a_deep_run_of_one_machine_is_near_to_what_ships(page, name):
    """At the rate and in the order that page 05b compares."""
    pages = page, defined_by_the_page("depth")
    _, curve = train(pages, 0, EVERY, **CHANGES["depth"][name])
    assert abs(curve[0] - CURVES["depth"][name][0][0]) < 0.03

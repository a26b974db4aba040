"""The ratios of the benchmarks, on a machine whose speed changes and whose clock is made up."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent / "benchmarks"))

from rounds import ratios  # noqa: E402

ROUNDS, OURS, THEIRS = 20, 1.0, 1.3  # seconds that a round takes while nobody disturbs


class Machine:
    """`slowness(now)` is how many times as long as usual a piece of work takes."""

    def __init__(self, slowness):
        self.now, self.slowness = 0.0, slowness

    def clock(self):
        return self.now

    def side(self, usual):
        """Work of so many usual seconds in each round."""

        def work(number):
            for _ in range(100):
                self.now += usual / 100 * self.slowness(self.now)
            return 1

        return work


def one_side_after_the_other(ours, theirs, rounds, clock):
    """The old way: the total time of one side over the total time of the other."""
    times = [clock()]
    for side in (ours, theirs):
        for number in range(1, rounds + 1):
            side(number)
        times.append(clock())
    return (times[2] - times[1]) / (times[1] - times[0])


BUSY = {
    "three times as slow from the midst on": lambda now: 3 if now > 23 else 1,
    "three times as slow for a while": lambda now: 3 if 15 < now < 25 else 1,
    "slower and slower": lambda now: 1 + now / 20,
    "faster and faster": lambda now: 1 / (1 + now / 20),
}


@pytest.mark.parametrize("slowness", BUSY.values(), ids=BUSY)
def test_a_busy_machine_cannot_fool_the_ratio(slowness):
    def measured(measure):
        machine = Machine(slowness)
        return measure(machine.side(OURS), machine.side(THEIRS), ROUNDS, machine.clock)

    ratio = measured(ratios)
    assert ratio.median == pytest.approx(THEIRS / OURS, rel=0.01)
    old = measured(one_side_after_the_other)
    assert abs(old / (THEIRS / OURS) - 1) > 0.2


def test_round_0_warms_up_and_the_quartiles_are_those_of_the_others():
    machine, times = Machine(lambda now: 1), (9, 5, 1, 4, 2, 3)

    def theirs(number):
        return machine.side(times[number])(number)

    ratio = ratios(machine.side(1), theirs, 5, machine.clock)
    assert ratio.median == pytest.approx(3)
    assert ratio.quartiles == pytest.approx([2, 4])
    assert ratio.speeds == pytest.approx([1, 1 / 3])

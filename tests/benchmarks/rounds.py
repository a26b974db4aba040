"""A ratio of speeds that a busy machine cannot fool.

What slows one side down has to slow down the other too: both work in turn, in rounds shorter than
most disturbances. Each round has a ratio of its own, and the median forgets the odd ones.
"""

import time
from typing import NamedTuple

import numpy
import torch

HEAD = "{:30}{:>10}{:>10}   ratio       quartiles"


class Ratio(NamedTuple):
    median: float
    quartiles: list[float]  # the first and the third
    speeds: list[float]  # ours, theirs: medians

    def row(self, title):
        numbers = [*self.speeds, self.median, *self.quartiles]
        return f"{title:30}" + "{:10,.1f}{:10,.1f}{:8.2f}{:8.2f}{:8.2f}".format(*numbers)

    def figures(self, name):
        quartiles = [round(quartile, 3) for quartile in self.quartiles]
        return {name: round(self.median, 3), f"{name}_quartiles": quartiles}


def clock():
    """Seconds; where one thread works those of the processor, for it may have to wait for one."""
    return time.process_time() if torch.get_num_threads() == 1 else time.perf_counter()


def ratios(ours, theirs, rounds, clock=clock):
    """How many times as fast as `theirs` `ours` is: a Ratio. Round 0 warms up.

    Both get the number of the round and return how much they did. They take turns in beginning:
    the first would gain by a machine that slows down.
    """
    speeds = []
    for number in range(rounds + 1):
        speed = {}
        for side in (ours, theirs) if number % 2 else (theirs, ours):
            start = clock()
            speed[side] = side(number) / (clock() - start)
        speeds.append((speed[ours], speed[theirs], speed[ours] / speed[theirs]))
    first, median, third = numpy.quantile(speeds[1:], (0.25, 0.5, 0.75), axis=0).tolist()
    return Ratio(median[2], [first[2], third[2]], median[:2])

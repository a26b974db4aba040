"""How a translator is trained within a budget: the numbers, in one table, and the pace."""

import copy
import math
import time
from dataclasses import replace

from tutor.text.batches import bucket
from tutor.training import Recipe, train

# A wider model learns too slowly within minutes. vocab_size is what the tokenizer aims at.
SIZES = {
    "builtin": dict(vocab_size=2000, num_layers=2, d_model=128, num_heads=4, d_ff=256),
    "multi30k": dict(vocab_size=4000, num_layers=4, d_model=128, num_heads=4, d_ff=256),
}
# Up to so many minutes, or so many steps (about what two cores do in that time): dropout,
# max_tokens. Longer training sees each sentence more often, so it needs more dropout.
BUDGETS = {
    "builtin": [(math.inf, math.inf, 0.05, 768)],
    "multi30k": [
        (3, 4_000, 0.05, 512),
        (10, 8_500, 0.1, 768),
        (math.inf, math.inf, 0.2, 1024),
    ],
}
BUILTIN_PAIRS = 60_000  # sentence pairs that the grammar generates for training

START = 0.05  # the share of the budget that measuring the pace takes ...
START_STEPS = 5  # ... if so many steps fit into it
SLOW_STEPS = 2  # the first steps also set up memory and threads: they do not count
START_BATCHES = 20  # batches, from the shortest sentences to the longest, that are measured


def choose(corpus, minutes=None, steps=None):
    """(dropout, max_tokens) for a budget in minutes or, if given, in steps."""
    for most_minutes, most_steps, dropout, max_tokens in BUDGETS[corpus]:
        if (steps <= most_steps) if steps is not None else (minutes <= most_minutes):
            return dropout, max_tokens


def recipe_for(steps, max_tokens, seed):
    """The Recipe of so many steps; a very short one warms up for a tenth of them."""
    return Recipe(steps=steps, max_tokens=max_tokens, seed=seed, warmup=min(50, steps // 10 + 1))


class Measured(Exception):
    """Ends the measured start."""


def measure_pace(model, pairs, recipe, seconds):
    """Train a scratch copy of `model` for a twentieth of `seconds`; returns seconds a step.

    The steps are spread over the whole range of sentence lengths, and at least 5 are timed.
    """
    pairs = sorted(pairs, key=lambda pair: max(map(len, pair)))
    skip = max(1, len(bucket(pairs, recipe.max_tokens)) // START_BATCHES)
    start, ends = time.perf_counter(), []

    def on_step(step, history):
        ends.append(time.perf_counter())
        if len(ends) >= SLOW_STEPS + START_STEPS and ends[-1] - start >= START * seconds:
            raise Measured

    try:
        train(copy.deepcopy(model), pairs[::skip], replace(recipe, steps=10**9), on_step)
    except Measured:
        timed = ends[SLOW_STEPS - 1 :]
        return (timed[-1] - timed[0]) / (len(timed) - 1)

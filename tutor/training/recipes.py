"""How a translator is trained within a budget: the numbers, in one table, and the pace."""

import copy
import math
import time
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from tutor.text.batches import bucket
from tutor.training.loop import Recipe, train
from tutor.training.processes import any_of, from_first


class Budget(NamedTuple):
    """What to train within so many minutes, or so many steps (about what two cores do in them)."""

    minutes: float
    steps: float
    max_tokens: int
    d_ff: int
    dropout: float
    warmup: int = 50


# A wider model learns too slowly within minutes. vocab_size is what the tokenizer aims at.
SIZES = {
    "builtin": dict(vocab_size=3000, num_layers=2, d_model=128, num_heads=4),
    "multi30k": dict(vocab_size=4000, num_layers=4, d_model=128, num_heads=4),
}
# Longer training sees each sentence more often, so it needs more noise to learn something new.
BUDGETS = {
    "builtin": [Budget(math.inf, math.inf, 1024, 256, 0.1)],
    "multi30k": [
        Budget(3, 4_000, 512, 256, 0.05),
        Budget(10, 8_500, 768, 256, 0.1),
        Budget(30, 12_000, 1024, 256, 0.15),
        Budget(math.inf, math.inf, 2048, 512, 0.2, warmup=200),
    ],
}
BUILTIN_PAIRS = 60_000  # sentence pairs that the grammar generates for training

AGAIN = 0.5  # of the learning rates: for a model that has been trained before

START = 0.05  # the share of the budget that measuring the pace takes ...
START_STEPS = 5  # ... if so many steps fit into it
SLOW_STEPS = 2  # the first steps also set up memory and threads: they do not count
# Of matrix products: float32, or bfloat16, which is faster on processors that can multiply it, and
# slower on others.
PRECISIONS = ("highest", "bfloat16")
# Of the time a step takes: so much faster bfloat16 must be. The first steps flatter it: oneDNN
# keeps what it prepares for each shape, and its room for that is not full yet.
CLEARLY = 0.8
START_BATCHES = 20  # batches, from the shortest sentences to the longest, that are measured


def choose(corpus, minutes=None, steps=None):
    """The Budget for a number of minutes or, if given, of steps."""
    for budget in BUDGETS[corpus]:
        if (steps <= budget.steps) if steps is not None else (minutes <= budget.minutes):
            return budget


def worth_measuring(steps):
    """Whether a training of so many steps is long enough to try both precisions first."""
    return len(PRECISIONS) * (SLOW_STEPS + START_STEPS) <= START * steps


def recipe_for(steps, budget, seed, again=False):
    """The Recipe of so many steps; a very short one warms up for a tenth of them.

    again: for a model that has been trained before, at lower rates, so that it forgets less.
    """
    warmup = min(budget.warmup, steps // 10 + 1)
    recipe = Recipe(steps=steps, max_tokens=budget.max_tokens, seed=seed, warmup=warmup)
    if again:
        recipe = replace(recipe, lr=AGAIN * recipe.lr, lr_rest=AGAIN * recipe.lr_rest)
    return recipe


class Measured(Exception):
    """Ends the measured start."""


def measure_pace(model, pairs, recipe, seconds, make_loss):
    """Train a scratch copy of `model` for a twentieth of `seconds`; returns seconds a step.

    The steps are spread over the whole range of sentence lengths, and at least 5 are timed.
    make_loss(model) gives what `train` takes as loss_of.
    """
    pairs = sorted(pairs, key=lambda pair: max(map(len, pair)))
    skip = max(1, len(bucket(pairs, recipe.max_tokens)) // START_BATCHES)
    start, ends = time.perf_counter(), []

    def on_step(step, history):
        ends.append(time.perf_counter())
        enough = len(ends) >= SLOW_STEPS + START_STEPS and ends[-1] - start >= START * seconds
        if any_of(enough):  # several processes must end together
            raise Measured

    scratch = copy.deepcopy(model)
    try:
        recipe = replace(recipe, steps=10**9)
        train(scratch, pairs[::skip], recipe, on_step, loss_of=make_loss(scratch))
    except Measured:
        timed = ends[SLOW_STEPS - 1 :]
        return (timed[-1] - timed[0]) / (len(timed) - 1)
    raise KeyboardInterrupt  # nothing else ends so long a training


def fastest_precision(model, pairs, recipe, seconds, make_loss):
    """The precision with which steps are fastest here, and their pace with it.

    As `measure_pace`, with half of the time for each precision and make_loss(model, precision).
    Several processes choose as the first of them does.
    """
    paces = {}
    for precision in PRECISIONS:
        loss = partial(make_loss, precision=precision)
        paces[precision] = measure_pace(model, pairs, recipe, seconds / 2, loss)
    faster = paces["bfloat16"] < CLEARLY * paces["highest"]
    precision = PRECISIONS[from_first(int(faster))]
    return precision, paces[precision]

"""What an exercise's page needs: to judge an answer without code as its check does, and some cases.

`static/answers.js` says what `tutor.check` says; a test holds both equal on all texts of the bank.
"""

import json
import math
from unittest.mock import ANY

import torch

from tutor.check.examine import (
    CASES_SEED,
    LEAST_WORDS,
    SMALL,
    argument_names,
    describe,
    draw,
    expect,
    openness,
    put_plainly,
    rounded,
    with_shapes,
)
from tutor.check.exercise import EXPLAIN, PREDICT, TEST
from tutor.check.explain import HEDGE, TAKES_BACK
from tutor.check.guard import Raised
from tutor.check.words import plain

CASES, LONGEST_CELL = 4, 240  # of a table, and letters of a cell


def judge_of(exercise):
    """Plain data for JavaScript; None where an answer must be run, or compared by a program."""
    judge = {"name": exercise.name, "section": exercise.section, "chapter": exercise.chapter}
    if exercise.kind == EXPLAIN:
        told = [(expression.replace("(?P<", "(?<"), said)
                for expression, said in exercise.misconceptions]  # fmt: skip
        return judge | {
            "kind": EXPLAIN, "least": LEAST_WORDS, "misconceptions": told,
            "hedge": HEDGE.pattern, "takesBack": TAKES_BACK.pattern,
            "questions": [plain(asked) for asked in exercise.questions],
            "points": [plain(point) for point in exercise.points],
        }  # fmt: skip
    if exercise.kind != PREDICT:
        return None
    right = put_plainly(exercise.reference, exercise.reference)
    try:
        guesses = [
            {"said": said, "open": openness(guess), "value": leaves(put_plainly(guess, right))}
            for said, guess in exercise.mistakes
        ]
    except TypeError:
        return None
    return judge | {
        "kind": PREDICT, "right": leaves(right), "guesses": guesses, "because": exercise.because,
        "tolerance": exercise.tolerance,
    }  # fmt: skip


def leaves(value):
    """A value for JSON: lists and dicts of {"is": ...}, {"near": number} and {"any": True}.

    Raises TypeError for an object that no JSON can hold.
    """
    if value is ANY:
        return {"any": True}
    if isinstance(value, list | tuple):
        return [leaves(item) for item in value]
    if isinstance(value, dict):
        return {"items": {key: leaves(item) for key, item in value.items()}}
    if isinstance(value, float):
        return {"near": value if math.isfinite(value) else str(value)}
    if value is None or isinstance(value, bool | int | str):
        return {"is": value}
    raise TypeError(f"{value!r} is not plain")


def in_page(exercise):
    """The place of the answer, as HTML; "" where it must be run."""
    judge = judge_of(exercise)
    if judge is None:
        return ""
    data = json.dumps(judge).replace("<", "\\u003c")
    return (
        '<div class="course-answer"><noscript>To answer here, allow scripts.</noscript>'
        f'<script type="application/json">{data}</script></div>'
    )


def cases_of(exercise):
    """The first cases that can be read: (arguments, what is right), as texts."""
    if exercise.kind in (EXPLAIN, PREDICT, TEST) or exercise.call:
        return []
    names = argument_names(exercise)
    rows = []
    for case in draw(exercise, CASES_SEED):
        right = expect(exercise, case, names).value
        said = f"raises {right.kind}" if isinstance(right, Raised) else in_full(right)
        rows.append((describe(names, case), said))
    return [row for row in rows if max(map(len, row)) <= LONGEST_CELL][:CASES]


def in_full(value):
    """A result, with the numbers of small tensors."""
    if isinstance(value, torch.Tensor) and value.numel() <= SMALL:
        return rounded(value.tolist())
    if isinstance(value, list | tuple):
        inside = ", ".join(map(in_full, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return with_shapes(value)

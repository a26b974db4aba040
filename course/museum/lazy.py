"""Answers that did not look at the question. No test of the museum may pass one.

They are made from an exhibit's mended code, so that shape and kind are those of the right result:
filled with one number, replaced by an argument, or taken from another question.
"""

from contextlib import suppress

import torch
from torch import nn

from course import museum
from course.museum.exhibit import modules_in, observed, sandbox

FILLS = {  # from the right tensor, as floats, to what a lazy answer gives
    "zeros": torch.zeros_like,
    "ones": torch.ones_like,
    "minus ones": lambda X: -torch.ones_like(X),
    "halves": lambda X: torch.full_like(X, 0.5),
    "a million everywhere": lambda X: torch.full_like(X, 1e6),
    "minus infinity everywhere": lambda X: torch.full_like(X, -torch.inf),
    "NaN everywhere": lambda X: torch.full_like(X, torch.nan),
    "equal shares": lambda X: torch.full_like(X, 1 / max(1, X.shape[-1] if X.dim() else 1)),
    "the mean everywhere": lambda X: X.mean().expand_as(X) if X.numel() > 1 else 0 * X,
    "the last number everywhere": lambda X: (
        X.flatten()[-1:].expand(X.numel()).reshape(X.shape) if X.numel() > 1 else 0 * X
    ),  # (...)
    "ones on the diagonal": lambda X: torch.eye(X.numel())[0] if X.dim() < 2 else diagonal(X),
    "counted upwards": lambda X: torch.arange(X.numel()).to(X).reshape(X.shape),  # (...)
    "random numbers": torch.randn_like,
    "zero times the right numbers": lambda X: 0 * X,  # with their gradient
}


def candidates(exhibit):
    """The lazy answers to an exhibit: a dict from what they do to a function."""
    right = exhibit.mended
    found = {"None": lambda *inputs, **named: None, "an empty list": lambda *inputs, **named: []}
    for i in range(most_inputs(exhibit)):
        found[f"argument {i}"] = lambda *inputs, i=i, **named: inputs[i]
        found[f"argument {i}, in a tuple"] = lambda *inputs, i=i, **named: (inputs[i],) * 2
    for name, fill in FILLS.items():
        found[name] = lambda *inputs, fill=fill, **named: filled(right(*inputs, **named), fill)
    found["the right answer to random inputs"] = lambda *inputs, **named: right(
        *other_inputs(inputs), **named
    )
    if not most_inputs(exhibit):  # what is asked nothing has one answer, and that is right
        return found
    for what, ask in (("test", exhibit.judge), ("demonstration", exhibit.demo)):
        for seed in (0, 1):
            for i, answer in enumerate(answers_of(exhibit, ask, seed)):
                name = f"always answer {i} of the {what} with seed {seed}"
                found[name] = lambda *inputs, answer=answer, **named: answer
    return found


def let_through(exhibit, answers=candidates):
    """The lazy answers that an exhibit's test lets through. There should be none."""
    passed = []
    for name, answer in answers(exhibit).items():
        with suppress(Exception):  # most stumble over None, or over the wrong kind of thing
            if exhibit.passes(answer):
                passed.append(name)
    return passed


def other_inputs(inputs):
    """Random numbers in place of every tensor of floats, of which there must be one."""
    floats = [isinstance(x, torch.Tensor) and x.is_floating_point() for x in inputs]
    assert any(floats), "nothing to draw"
    return [torch.randn_like(x) if f else x for x, f in zip(inputs, floats, strict=True)]


def answers_of(exhibit, ask, seed):
    """What the mended code answers when `ask`, a judge or a demonstration, puts its questions."""
    answers = []

    def note(*inputs, **named):
        answers.append(exhibit.mended(*inputs, **named))
        return answers[-1]

    with sandbox():
        torch.manual_seed(seed)
        ask(note)
    return answers


def most_inputs(exhibit):
    """How many arguments by place the judge gives."""
    return max(map(len, questions_of(exhibit)))


def diagonal(X):
    return torch.eye(*X.shape[-2:]).expand_as(X)  # (..., rows, columns)


def filled(result, fill):
    """Something with the shape and kind of `result`, filled by `fill`."""
    if isinstance(result, torch.Tensor):
        numbers = fill(result.to(torch.float64))
        return numbers if result.is_floating_point() else numbers.nan_to_num().to(result.dtype)
    if isinstance(result, bool | int | float):
        return fill(torch.tensor(float(result))).item()
    if isinstance(result, str):
        return ""
    if isinstance(result, dict):
        return {name: filled(part, fill) for name, part in result.items()}
    if isinstance(result, nn.ModuleList):
        return nn.ModuleList(Filled(part, fill) for part in result)
    if isinstance(result, nn.Module):
        return Filled(result, fill)
    if isinstance(result, list | tuple):
        return type(result)([filled(part, fill) for part in result])
    if callable(result):
        return lambda *inputs, **named: filled(result(*inputs, **named), fill)
    return result


class Filled(nn.Module):
    """A layer that fills its results."""

    def __init__(self, layer, fill):
        super().__init__()
        self.layer, self.fill = layer, fill

    def forward(self, *inputs, **named):
        return filled(self.layer(*inputs, **named), self.fill)


# ---- answers that did look at the question, but not closely


def alone(dim, place):
    """A fill that keeps the numbers of one place of a dimension, and makes all others 0."""

    def keep(X):
        if X.dim() < -dim or X.dim() <= dim:
            return torch.full_like(X, torch.nan)
        kept = torch.zeros(X.shape[dim])
        kept[place] = 1
        return X * kept.reshape(-1, *[1] * (X.dim() - 1 if dim == 0 else 1))  # (...)

    return keep


NEARLY = {
    "the right numbers without their gradient": torch.detach,
    "right in the first part of the batch alone": alone(0, 0),
    "right in the last row alone": alone(-2, -1),
    "right in the last column, and even in all others": lambda X: (
        X.mean(-1, True).expand_as(X) if X.dim() else torch.full_like(X, torch.nan)
    ),
}


def nearly_right(exhibit):
    """Answers to an exhibit that are wrong in one respect: a dict from what they do to a function.

    Without a gradient, right in one place alone, deaf to an argument, leaving a model in eval mode,
    and what the exhibits of the same task show.
    """
    right, inputs_of = exhibit.mended, questions_of(exhibit)
    found, learns = {}, []
    with sandbox(), suppress(TypeError):  # a function of keywords alone is asked otherwise
        learns = observed(right, inputs_of[0], {}, lambda result, *_: result)["The gradient"]
    for name, fill in NEARLY.items():
        if fill is torch.detach and not learns:
            continue
        found[name] = lambda *inputs, fill=fill, **named: filled(right(*inputs, **named), fill)
    for i, first in enumerate(max(inputs_of, key=len)):
        if not callable(first):
            found[f"argument {i} ignored"] = lambda *inputs, i=i, first=first, **named: right(
                *inputs[:i], first, *inputs[i + 1 :], **named
            )
    if any(map(modules_in, inputs_of)):
        found["the model left in eval mode"] = lambda *inputs, **named: (
            right(*inputs, **named),
            [module.eval() for module in modules_in(inputs)],
        )[0]
    for other in museum.EXHIBITS.values():
        if exhibit.task and other.task == exhibit.task:
            found[f"{other.name} as shown"] = other.wrong
    return found


def questions_of(exhibit):
    """The arguments by place of all questions that the judge asks."""
    asked = []

    def note(*inputs, **named):
        asked.append(inputs)
        return exhibit.mended(*inputs, **named)

    with sandbox():
        exhibit.asked(note)
    return asked

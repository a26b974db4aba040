"""Answers that did not look at the question, or not closely. No test of the museum may pass one.

They are made from an exhibit's mended code, so that shape and kind are those of the right result:
filled with one number, replaced by an argument, or taken from another question; right in one place
alone, or changed by one edit.
"""

from contextlib import suppress
from types import SimpleNamespace

import torch
from torch import nn

from course import museum, mutation
from course.museum.exhibit import Page, modules_in, observed, sandbox
from tutor.check.exercise import WRITE

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


# Words in what an answer does, and why it passes all the same: it is right, or the exhibit leaves
# free what it does otherwise.
THE_SAME, EQUAL_PIECES = "it answers the same question", "all sentences are equally long"
ODD, EMPTY = (
    "odd widths are `table_of_halves`'s question",
    "`weights_of_an_empty_row` asks for these",
)
ALLOWED = {
    "loss_of_written_texts": {"mean of the means": "it is a mean over texts"},
    "round_keys": {"without their gradient": "a cache asks for none"},
    "look_up_words": {"ids.max() > len(table)": "the table itself refuses the next id"},
    "first_scores": {"sizes of 1": "nothing has that size"},
    "judge_a_translator": {"argument 1": "training pairs are free"},
    "weights_of_a_sentence": {"an_empty_row as shown": EMPTY},
    "weights_of_wide_words": {"an_empty_row as shown": EMPTY},
    "weights_with_a_mask": {"an_empty_row as shown": EMPTY},
    "mask_of_the_future": {"torch.ones(T, T).triu": "numbers are a mask: what is not 0 hides"},
    "mask_of_what_follows": {"torch.ones(T, T).triu": "numbers are a mask: what is not 0 hides"},
    "layer_for_a_batch": {"Layer(8, 2, dropout": "the width inside is free"},
    "rebuild_a_layer": {"rebuild_a_new_layer as mended": THE_SAME},
    "rebuild_a_new_layer": {"rebuild_a_layer as mended": THE_SAME},
    "table_of_positions": {"of_halves as shown": ODD, "d_model // 1": ODD},
    "table_by_loops": {"of_halves as shown": ODD, "< d_model": ODD, "<= d_model": ODD},
    "table_of_pairs": {"of_halves as shown": ODD, "0::2": "a pair shares its angle"},
    "add_the_places": {"X.size(1), -1]": "the dimension has one place"},
    "layers_of_a_model": {"layers_of_a_stack as mended": THE_SAME},
    "load_a_table": {"Embedding(d_model, V)": "its matrix is replaced", "Linear(V": "as above"},
    "loss_of_the_next_word": {"of the means": EQUAL_PIECES, "loss_of_labels": THE_SAME},
    "loss_in_pieces": {"split(sizes))": "equal lengths need no test", "strict=False": "as above"},
    "loss_of_outputs": {"of the means": "each piece is a token"},
    "loss_on_other_sentences": {"of the means": EQUAL_PIECES, "(Y, model(X))": "a square is even"},
    "search_a_sentence": {
        "and_choose as shown": "which length is `search_and_choose`'s question",
        "[((), 1.0)]": "as above",
        "beam[1] * len": "as above",
    },
    "search_and_choose": {"[((), 1.0)]": "it is one of the penalties for length"},
    "place_the_newest": {"last row alone": "there is one row"},
    "logits_of_the_beams": {"logits_while_writing as mended": THE_SAME},
    "vectors_of_words": {"look_up_words as mended": THE_SAME},
    "queries_of_all_heads": {"'first product'": "how it multiplies is free"},
    "layers_of_a_stack": {"layers_of_a_model as mended": THE_SAME},
    "loss_of_labels": {"of the means": EQUAL_PIECES, "of_the_next_word as mended": THE_SAME},
}


def let_through(exhibit, answers=candidates):
    """The wrong answers that an exhibit's test lets through. There should be none."""
    return [name for name in passed(exhibit, answers) if not allowed(exhibit, name)]


def allowed(exhibit, name):
    """The words for which an answer that passes may do so."""
    return [words for words in ALLOWED.get(exhibit.name, ()) if words in name]


def passed(exhibit, answers):
    """What the answers do that an exhibit's test calls right."""
    names = []
    for name, answer in answers(exhibit).items():
        with suppress(Exception):  # most stumble over None, or over the wrong kind of thing
            if exhibit.passes(answer):
                names.append(name)
    return names


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
        torch.random.default_generator.manual_seed(seed)
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
    "right in the last part of the batch alone": alone(0, -1),
    "right in the first head alone": alone(-3, 0),
    "right in the last row alone": alone(-2, -1),
    "right but for sizes of 1, which are gone": lambda X: X.squeeze() if X.dim() else X + 1,
    "right in the last column, and even in all others": lambda X: (
        X.mean(-1, True).expand_as(X) if X.dim() else torch.full_like(X, torch.nan)
    ),
}


def nearly_right(exhibit):
    """Answers to an exhibit that are wrong in one respect: a dict from what they do to a function.

    Without a gradient, right in one place or for one shape alone, a mean of means, deaf to an
    argument, leaving a model in one mode, and what other exhibits show or mend.
    """
    right, inputs_of = exhibit.mended, questions_of(exhibit)
    found, learns = {}, []
    with sandbox(), suppress(TypeError):  # a function of keywords alone is asked otherwise
        learns = observed(right, inputs_of[0], {}, lambda result, *_: result)["The gradient"]
    for name, fill in NEARLY.items():
        if fill is torch.detach and not learns:
            continue
        found[name] = lambda *inputs, fill=fill, **named: filled(right(*inputs, **named), fill)
    found["right for the shapes of the first question alone"] = lambda *inputs, **named: filled(
        right(*inputs, **named), (1 + (shapes_of(inputs) != shapes_of(inputs_of[0]))).__mul__
    )
    found["the mean of the means of all sentences"] = lambda *inputs, **named: torch.stack(
        [right(*one, **named) for one in single_sentences(inputs)]
    ).mean()
    for i, first in enumerate(max(inputs_of, key=len)):
        if not callable(first):
            found[f"argument {i} ignored"] = lambda *inputs, i=i, first=first, **named: right(
                *inputs[:i], first, *inputs[i + 1 :], **named
            )
    for mode in (True, False) if any(map(modules_in, inputs_of)) else ():
        found[f"the model left in {'training' if mode else 'eval'} mode"] = (
            lambda *inputs, mode=mode, **named: (
                right(*inputs, **named),
                [module.train(mode) for module in modules_in(inputs)],
            )[0]
        )
    for other in museum.EXHIBITS.values():
        if exhibit.task and other.task == exhibit.task:
            found[f"{other.name} as shown"] = other.wrong
        elif other is not exhibit:
            found[f"{other.name} as mended"] = other.mended
    return found


def shapes_of(inputs):
    return [x.shape for x in inputs if isinstance(x, torch.Tensor)]


def single_sentences(inputs):
    """The inputs with one sentence of the batch at a time."""
    for n in range(shapes_of(inputs)[0][0]):
        yield [x[n : n + 1] if isinstance(x, torch.Tensor) else x for x in inputs]


def mutants(exhibit):
    """The mutants of the mended code: a dict from the lines that were changed to a function."""
    if isinstance(exhibit.mended, Page):
        return {}
    right, found = SimpleNamespace(kind=WRITE, solution=exhibit.source("mended")), {}
    for code in mutation.mutants(right):
        names = dict(exhibit.wrong.__globals__)
        with suppress(Exception):  # as it is defined
            exec(code, names)
            found[mutation.lines_changed(right, code)] = names[exhibit.name]
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

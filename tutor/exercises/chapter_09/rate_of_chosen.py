"""Choose on one split, report on another."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _place(rates, at):
    return rates.flatten()[at].item()


def _rate_of_chosen(on_val, on_test):
    return _place(on_test, on_val.argmin())


def _cases():
    yield torch.tensor([[0.5, 0.2]]), torch.tensor([[0.4, 0.3]])
    yield torch.tensor([[0.9, 0.1], [0.3, 0.5]]), torch.tensor([[0.6, 0.7], [0.2, 0.8]])
    for L, h in [(2, 4), (4, 4), (3, 2), (1, 5)]:
        yield torch.rand(L, h), torch.rand(L, h)


rate_of_chosen = Exercise(
    name="rate_of_chosen",
    chapter="09",
    section="Choose on one split, report on another",
    kind=WRITE,
    title="Choose on one split, report on another",
    goal="Report a rate that the choice could not flatter.",
    difficulty=2,
    importance=5,
    minutes=5,
    text="""\
Two tables hold the error rates of the same heads, on validation and on test sentences. Choose the
head that is best on validation, and return its rate on test.""",
    hints=(
        "The lowest rate is the best. Which of the two tables may choose?",
        "`argmin()` without a dimension counts through the flattened table.",
        "`on_test.flatten()` is counted in the same way: take its entry at `on_val.argmin()`.",
    ),
    stub='''\
def rate_of_chosen(on_val, on_test):
    """Error rates (L, h) of the same heads on two splits. Returns one of them."""
    ...  # one line
''',
    solution="""\
def rate_of_chosen(on_val, on_test):
    return on_test.flatten()[on_val.argmin()]  # ()
""",
    reference=_rate_of_chosen,
    cases=_cases,
    mistakes=(
        (
            "You choose on test, where you report: that is the luckiest head, not the best. "
            "Validation chooses.",
            lambda on_val, on_test: on_test.min().item(),
        ),
        (
            "That is the head's rate on validation, which chose it. Report the one on test.",
            lambda on_val, on_test: on_val.min().item(),
        ),
        (
            "You choose the head with the highest error rate; the lowest is the best.",
            lambda on_val, on_test: _place(on_test, on_val.argmax()),
        ),
        (
            "You choose on test and report on validation; it is the other way round.",
            lambda on_val, on_test: _place(on_val, on_test.argmin()),
        ),
        (
            "You return the place of the head; return its rate on test.",
            lambda on_val, on_test: on_val.argmin().item(),
        ),
        (
            "You report the mean of both splits: half of it chose the head. Report test alone.",
            lambda on_val, on_test: (on_val.min().item() + _rate_of_chosen(on_val, on_test)) / 2,
        ),
        (
            "You choose on both splits together, so test has a say. Validation alone chooses.",
            lambda on_val, on_test: _place(on_test, (on_val + on_test).argmin()),
        ),
    ),
    wrong={
        """\
def rate_of_chosen(on_val, on_test):
    return on_test.flatten()[on_test.argmin()]
""": "luckiest head",
        """\
def rate_of_chosen(on_val, on_test):
    return on_val.min()
""": "which chose it",
        """\
def rate_of_chosen(on_val, on_test):
    return on_test.flatten()[on_val.argmax()]
""": "highest error rate",
        """\
def rate_of_chosen(on_val, on_test):
    return on_val.flatten()[on_test.argmin()]
""": "other way round",
        """\
def rate_of_chosen(on_val, on_test):
    return on_val.argmin()
""": "place of the head",
        """\
def rate_of_chosen(on_val, on_test):
    best = on_val.argmin()
    return (on_val.flatten()[best] + on_test.flatten()[best]) / 2
""": "half of it chose",
        """\
def rate_of_chosen(on_val, on_test):
    return on_test.flatten()[(on_val + on_test).argmin()]
""": "test has a say",
    },
    right=(
        """\
def rate_of_chosen(on_val, on_test):
    return on_test[on_val == on_val.min()][0]
""",
        """\
def rate_of_chosen(on_val, on_test):
    layer, head = divmod(on_val.argmin().item(), on_val.shape[1])
    return on_test[layer, head].item()
""",
        """\
def rate_of_chosen(on_val, on_test):
    pairs = zip(on_val.flatten().tolist(), on_test.flatten().tolist())
    return min(pairs)[1]
""",
    ),
)

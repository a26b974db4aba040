"""The gradient of a batch from those of its parts."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _joint(gradients, n):
    return sum(G * count for G, count in zip(gradients, n, strict=True)) / sum(n)


def _cases_of_replicas():
    for shape, n in [((1,), [1, 3]), ((2,), [20, 8]), ((3,), [2, 0, 5]), ((2, 2), [4])]:
        yield [torch.randn(shape) for _ in n], n


joint_gradient = Exercise(
    name="joint_gradient",
    chapter="13",
    section="Two processes, one gradient",
    kind=WRITE,
    title="One gradient from many",
    goal="Join the gradients of the parts of a batch, so that the batch's own comes out.",
    difficulty=2,
    importance=5,
    minutes=4,
    text="""\
Each replica has computed the gradient of the mean loss over *its* target tokens. Return the
gradient of the mean loss over *all* target tokens.""",
    hints=(
        "Undo the division of each replica, add up, and divide by the number of all tokens.",
        "`G * count` undoes the division: it is the gradient of a sum of losses.",
        "`sum(G * count for G, count in zip(gradients, n)) / sum(n)`.",
    ),
    stub='''\
def joint_gradient(gradients, n):
    """gradients: one tensor a replica, all of one shape. n: its target tokens, a list of ints."""
    ...  # one or two lines
''',
    solution="""\
def joint_gradient(gradients, n):
    return sum(G * count for G, count in zip(gradients, n)) / sum(n)
""",
    because="Every token has the same say, wherever it was read.",
    reference=_joint,
    cases=_cases_of_replicas,
    mistakes=(
        (
            "This is the plain mean: a token of a short share has more say than one of a long "
            "share.",
            lambda gradients, n: sum(gradients) / len(gradients),
        ),
        (
            "The gradients are added up and not divided.",
            lambda gradients, n: sum(gradients),
        ),
        (
            "The weighted sum is not divided by the number of all tokens.",
            lambda gradients, n: sum(G * count for G, count in zip(gradients, n, strict=True)),
        ),
        (
            "Divide by the number of tokens, not by the number of replicas.",
            lambda gradients, n: _joint(gradients, n) * sum(n) / len(n),
        ),
        (
            "The plain sum is divided by the number of tokens, but each gradient was a mean "
            "already: multiply it by its own number first.",
            lambda gradients, n: sum(gradients) / sum(n),
        ),
        (
            "Each gradient is divided by its own tokens a second time. Multiply by them.",
            lambda gradients, n: (
                sum(G / max(count, 1) for G, count in zip(gradients, n, strict=True)) / sum(n)
            ),
        ),
    ),
    wrong={
        """\
def joint_gradient(gradients, n):
    return torch.stack(gradients).mean(dim=0)
""": "plain mean",
        """\
def joint_gradient(gradients, n):
    return sum(gradients)
""": "not divided",
        """\
def joint_gradient(gradients, n):
    return sum(G * count for G, count in zip(gradients, n)) / len(n)
""": "not by the number of replicas",
        """\
def joint_gradient(gradients, n):
    return sum(gradients) / sum(n)
""": "a mean already",
    },
    right=(
        """\
def joint_gradient(gradients, n):
    weights = torch.tensor(n, dtype=gradients[0].dtype) / sum(n)
    return torch.tensordot(weights, torch.stack(gradients), dims=1)
""",
        """\
def joint_gradient(gradients, n):
    total = torch.zeros_like(gradients[0])
    for G, count in zip(gradients, n):
        total = total + G * (count / sum(n))
    return total
""",
    ),
)

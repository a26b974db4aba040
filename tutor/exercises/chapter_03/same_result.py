"""Changes that a result does not notice."""

import itertools

from tutor.check.exercise import PREDICT, Exercise

_RIGHT = (True, False, True, True, False, True, True, False)
_ASK = (  # what to look at if the answer for one of two changes is wrong
    "Look at 0 and 1 again. Three things of a head must stay together, its weights, its values and "
    "its rows of W_O; and a sum does not mind the order.",
    "Look at 2 and 3 again. A score is a sum of products, a number of the query times one of the "
    "key. Follow both factors.",
    "Look at 4 and 5 again. The columns of a value meet the rows of W_O, first with first. See "
    "what meets what after the change.",
    "Look at 6 and 7 again. Write the new score as the old one and an addition. See whether "
    "it is the same for all keys, and what a softmax makes of it.",
)
_MANY = (
    "More than three of the eight are wrong. Begin with one head: softmax of its scores, times its "
    "values, times its rows of W_O. See which factors a change touches, and what becomes of "
    "their product."
)


def _mistakes():
    """A message for each wrong list: about the first two changes of which one is wrong."""
    for guess in itertools.product((True, False), repeat=len(_RIGHT)):
        wrong = [i for i, (a, b) in enumerate(zip(guess, _RIGHT, strict=True)) if a != b]
        if wrong:
            yield _MANY if len(wrong) > 3 else _ASK[wrong[0] // 2], list(guess)


same_result = Exercise(
    name="same_result",
    chapter="03",
    section="Bringing the heads together",
    kind=PREDICT,
    title="What nobody notices",
    goal="Say which changes of the four matrices leave a multi-head attention as it was.",
    difficulty=4,
    importance=4,
    minutes=10,
    text="""\
A trained attention has two heads; its matrices are random enough that nothing cancels by chance.
They are changed in one of these ways. After which is the result still the same, for **every**
input, up to rounding?

0. The heads are exchanged everywhere: their columns in $W^Q$, $W^K$ and $W^V$, their rows in $W^O$.
1. The heads are exchanged in $W^Q$ and $W^K$ only.
2. The columns of head 0 are doubled in $W^Q$ and halved in $W^K$.
3. The columns of head 0 are put in reverse order, in $W^Q$ and in $W^K$.
4. The columns of head 0 are put in reverse order in $W^V$ only.
5. The columns of head 1 are tripled in $W^V$, and its rows of $W^O$ divided by 3.
6. One and the same vector $b$ is added to every *key* of head 0, after the projection.
7. One and the same vector $b$ is added to every *query* of head 0, after the projection.

**Predict:** a list of eight, `True` where the result stays the same.""",
    hints=(
        "Write the result as a sum over heads, each softmax(scores) times values times rows of "
        "$W^O$. Which factors does the change touch?",
        "Between a query and a key stands a dot product, between a value and $W^O$ a product of "
        "matrices. What one side does, the other can undo.",
        "For 6 and 7 write the new score: $q \\cdot (k + b)$ and $(q + b) \\cdot k$. A softmax "
        "does not notice what is added to *all* its scores.",
    ),
    stub="same_result = None  # such as [True, True, True, True, False, False, False, False]",
    solution="same_result = [True, False, True, True, False, True, True, False]",
    because="Many sets of matrices are one attention, so single weights cannot be read one by one.",
    reference=list(_RIGHT),
    mistakes=tuple(_mistakes()),
    wrong={
        "same_result = [False, False, True, True, False, True, True, False]": "0 and 1 again",
        "same_result = [True, True, True, True, False, True, True, False]": "0 and 1 again",
        "same_result = [True, False, False, True, False, True, True, False]": "2 and 3 again",
        "same_result = [True, False, True, False, False, True, True, False]": "2 and 3 again",
        "same_result = [True, False, True, True, True, True, True, False]": "4 and 5 again",
        "same_result = [True, False, True, True, False, False, True, False]": "4 and 5 again",
        "same_result = [True, False, True, True, False, True, False, False]": "6 and 7 again",
        "same_result = [True, False, True, True, False, True, True, True]": "6 and 7 again",
        "same_result = [True, False, True, True, False, True, False, True]": "6 and 7 again",
        "same_result = [True] * 8": "0 and 1 again",
        "same_result = [False] * 8": "More than three",
        "same_result = [0, 2, 3, 5, 6]": "of length 5; 8 is wanted",
        "same_result = [1, 0, 1, 1, 0, 1, 1, 0]": "an int; True or False is wanted",
    },
    right=(
        "same_result = torch.tensor([1, 0, 1, 1, 0, 1, 1, 0]) == 1",
        "same_result = [i in (0, 2, 3, 5, 6) for i in range(8)]",
    ),
)

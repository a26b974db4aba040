"""Changes that a result does not notice."""

import itertools

from tutor.check.exercise import PREDICT, Exercise

_RIGHT = (True, False, True, True, False, True, True, False)
_ASK = (  # what to look at if the answer for a change is wrong
    "Exchange 0: see whether the weights of a head, its values and its rows of W_O still belong "
    "together, and whether a sum minds the order.",
    "Exchange 1: the weights of head 0 are now made by the columns of head 1. See whose values "
    "they meet.",
    "Change 2: a score is a sum of products, a number of the query times one of the key. See what "
    "becomes of each product.",
    "Change 3: a score is a dot product. See what becomes of it if both vectors are reversed.",
    "Change 4: the columns of a value meet the rows of W_O, first with first. See which rows they "
    "meet now.",
    "Change 5: a head's contribution is its weights times its values times its rows of W_O. Follow "
    "the factor 3 through it.",
    "Change 6: the score of query q with each key grows by q · b, the same for all keys. See what "
    "a softmax makes of equal additions.",
    "Change 7: the score with key k grows by b · k, which differs from key to key. See what a "
    "softmax makes of that.",
)


def _mistakes():
    """A message for each wrong list: about the first place that is wrong."""
    for guess in itertools.product((True, False), repeat=len(_RIGHT)):
        wrong = [i for i, (a, b) in enumerate(zip(guess, _RIGHT, strict=True)) if a != b]
        if wrong:
            more = f" {len(wrong) - 1} more of your eight answers are wrong." * (len(wrong) > 1)
            yield (
                _ASK[wrong[0]] + more.replace(" 1 more of your eight answers are", " One more is"),
                list(guess),
            )


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
        "same_result = [False, False, True, True, False, True, True, False]": "Exchange 0",
        "same_result = [True, True, True, True, False, True, True, False]": "Exchange 1",
        "same_result = [True, False, False, True, False, True, True, False]": "Change 2",
        "same_result = [True, False, True, False, False, True, True, False]": "Change 3",
        "same_result = [True, False, True, True, True, True, True, False]": "Change 4",
        "same_result = [True, False, True, True, False, False, True, False]": "Change 5",
        "same_result = [True, False, True, True, False, True, False, False]": "Change 6",
        "same_result = [True, False, True, True, False, True, True, True]": "Change 7",
        "same_result = [True, False, True, True, False, True, False, True]": "One more is wrong",
        "same_result = [True] * 8": "2 more of your eight answers are wrong",
        "same_result = [0, 2, 3, 5, 6]": "of length 5; 8 is wanted",
        "same_result = [1, 0, 1, 1, 0, 1, 1, 0]": "an int; True or False is wanted",
    },
    right=(
        "same_result = torch.tensor([1, 0, 1, 1, 0, 1, 1, 0]) == 1",
        "same_result = [i in (0, 2, 3, 5, 6) for i in range(8)]",
    ),
)

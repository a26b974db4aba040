"""Four curves and their causes."""

from itertools import product

from IPython import get_ipython

from tutor.check.exercise import PREDICT, Exercise

# Means of 20 steps in training, and the loss on `val` before each 20 steps. All from one script:
# generate_pairs("train", 3200, seed=0), 200 pairs of `val`, a tokenizer of 1,500 ids; a model with
# d_model=64, num_heads=4, d_ff=128, num_layers=2, norm_first; AdamW, rate 0.004, betas (0.9, 0.98),
# warmup_cosine of 600 steps, clipping at 1; 32 pairs a step in a new random order each epoch;
# torch.manual_seed(0) and random.Random(0) before each run.
# A: warmup_cosine of 120 steps. B: target_in is target_out in training. C: each epoch sorted by
# longer_side. D: the first 200 pairs only. Cause 5, a rate of 0.06, ends at 3.1 and still falls.
RUNS = {
    name: [[float(loss) for loss in losses.split()] for losses in both]
    for name, both in {
        "healthy": (
            "7.17 5.85 5.22 4.77 4.37 3.87 3.53 3.25 2.99 2.74 2.38 2.17 2.04 1.91 1.81 1.52 "
            "1.45 1.4 1.38 1.29 1.14 1.11 1.07 1.08 1.03 0.95 0.96 0.95 0.96 0.95",
            "7.81 6.4 5.41 4.93 4.52 4.06 3.67 3.31 3.02 2.73 2.44 2.22 2.01 1.82 1.7 1.52 "
            "1.41 1.31 1.24 1.16 1.09 1.04 1.01 0.97 0.94 0.92 0.91 0.9 0.89 0.89",
        ),
        "A": (
            "7.17 5.85 5.22 4.79 4.5 4.27 4.24 4.23 4.25 4.27 4.24 4.19 4.2 4.2 4.23 4.18 "
            "4.17 4.18 4.18 4.17 4.18 4.18 4.13 4.15 4.11 4.1 4.14 4.1 4.12 4.12",
            "7.81 6.4 5.41 4.93 4.56 4.33 4.27 4.26 4.25 4.25 4.24 4.23 4.23 4.22 4.21 4.2 "
            "4.2 4.19 4.18 4.18 4.17 4.16 4.16 4.15 4.15 4.14 4.13 4.13 4.12 4.11",
        ),
        "B": (
            "2.43 0.76 0.15 0.04 0.02 0.01 0.01 0.01 0.01 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
            "0 0 0",
            "7.81 8.23 9.88 11.73 12.53 12.98 13.27 13.55 13.8 14.06 14.29 14.52 14.72 14.92 "
            "15.13 15.31 15.47 15.66 15.82 15.95 16.11 16.22 16.34 16.44 16.53 16.6 16.66 "
            "16.71 16.74 16.76",
        ),
        "C": (
            "7.07 5.69 5.06 4.8 4.62 3.86 3.39 3.24 3.13 3.11 2.59 2.14 2.09 2.06 2.17 1.79 "
            "1.39 1.43 1.48 1.68 1.27 1.04 1.1 1.18 1.45 1.09 0.89 0.99 1.08 1.4",
            "7.81 6.5 5.44 4.98 4.59 4.39 3.99 3.53 3.2 2.93 2.86 2.59 2.32 2.07 1.93 1.92 "
            "1.77 1.58 1.43 1.36 1.41 1.39 1.22 1.15 1.12 1.16 1.13 1.12 1.06 1.05",
        ),
        "D": (
            "7.12 5.6 4.51 3.44 2.58 1.85 1.31 0.89 0.63 0.44 0.32 0.27 0.22 0.17 0.14 0.12 "
            "0.1 0.09 0.08 0.07 0.06 0.06 0.05 0.05 0.04 0.04 0.04 0.04 0.04 0.04",
            "7.81 6.43 5.43 4.98 4.69 4.55 4.56 4.48 4.55 4.63 4.76 4.84 4.95 5.05 5.08 5.17 "
            "5.24 5.35 5.39 5.39 5.45 5.43 5.53 5.49 5.54 5.56 5.55 5.57 5.57 5.57",
        ),
    }.items()
}


def draw_runs():
    """Show the four runs, each with the healthy one's validation. Without a notebook: nothing."""
    if get_ipython() is None:  # where the bank is tried, nobody looks
        return
    import matplotlib.pyplot as plt

    from tutor import figures

    figure, axes = plt.subplots(2, 2, figsize=(9.6, 6.4), layout="constrained")
    between, before = range(10, 600, 20), range(0, 600, 20)
    for ax, name in zip(axes.flat, "ABCD", strict=True):
        training, validation = RUNS[name]
        lines = {
            "training": (between, training),
            "validation": (before, validation),
            "healthy": (before, RUNS["healthy"][1]),
        }
        figures.curves(lines, "step", "loss", "", "", ax=ax)
        ax.set_title(name)
        ax.set_ylim(bottom=0)
    figures.show(
        figure,
        "Four runs of 600 steps, and the validation of a healthy run in each.",
        "Healthy: from 7.8 to 0.9. A: both losses fall like the healthy one to 4.3 at step 120 and "
        "stay at 4.1. B: training is 2.4 in the first 20 steps and 0 from step 80; validation "
        "rises from 7.8 to 17. C: both fall below 1.5, in waves with a crest every 100 steps. "
        "D: training falls from 7 through 0.4 at step 200 to 0.04; validation falls to 4.5 "
        "at step 140 and rises to 5.6.",
    )


FEW, COPIES, ORDER, COSINE, RATE = range(1, 6)
_RIGHT = {"A": COSINE, "B": COPIES, "C": ORDER, "D": FEW}
_AGAINST = {
    ("A", FEW): "With 200 pairs, the training loss would go on towards 0 and leave the validation "
    "behind. Here both stop together.",
    ("A", COPIES): "If the model could copy the answer, its training loss would fall to 0. It "
    "stays above 4.",
    ("A", ORDER): "An order that repeats shows in each epoch, every 100 steps. From step 150 on, "
    "this curve has no such waves.",
    ("A", RATE): "As the cosine brings it down, a rate that is too high is cured, and the loss "
    "falls to the end. Here it follows the healthy run, and then it stops.",
    ("B", FEW): "200 pairs are an epoch of seven steps, and learning by heart takes many epochs. "
    "Here the loss is 2.4 in the first 20 steps, where even chances cost log 1500 = 7.3.",
    ("B", ORDER): "Waves come from the order. They do not bring the training loss to 0 within 80 "
    "steps, while the validation rises above even chances, log 1500 = 7.3.",
    ("B", COSINE): "A rate that ends too early stops both losses. Here one is 0 after 80 steps, "
    "and the other rises to the end.",
    ("B", RATE): "Steps that are too large harm the training loss. Here it is 0 after 80 steps: "
    "that is too good to be true.",
    ("C", FEW): "With 200 pairs the validation would turn round and rise. Here it falls along with "
    "the training loss.",
    ("C", COPIES): "If the model could copy the answer, its training loss would fall to 0 at once, "
    "and the validation would rise.",
    ("C", COSINE): "This loss falls to the end of the run, so its last steps were not lost.",
    ("C", RATE): "Steps that are too large make the loss jump without a rhythm. Measure from crest "
    "to crest: 100 steps, an epoch of 3,200 pairs.",
    ("D", COPIES): "Both losses start near log 1500 = 7.3, as with the healthy run: nothing can be "
    "copied yet. The training loss takes 200 steps to get below 0.5.",
    ("D", ORDER): "There are no waves. And the validation turns round at step 140, as no order of "
    "3,200 pairs would make it.",
    ("D", COSINE): "The training loss falls to the end, so the steps were not too small. Only the "
    "validation turns round.",
    ("D", RATE): "Steps that are too large harm the training loss. Here it ends at 0.04, below the "
    "healthy run's.",
}


class _Any:
    """Stands for every answer for which something holds, where a list of them has no end."""

    def __init__(self, holds):
        self.holds = holds

    def __eq__(self, answer):
        return self.holds(answer)

    __hash__ = None


def _other_letters(answer):
    return not set(answer) <= set("ABCD")


def _no_cause(answer):
    """Whether a value is neither one of the five numbers nor None."""
    causes = (None, FEW, COPIES, ORDER, COSINE, RATE)
    return not _other_letters(answer) and not all(n in causes for n in answer.values())


def _guesses():
    """A message for each assignment that is not right: it is about the first wrong curve."""
    for causes in product((None, FEW, COPIES, ORDER, COSINE, RATE), repeat=4):
        guess = dict(zip("ABCD", causes, strict=True))
        wrong = next((c for c in "ABCD" if guess[c] != _RIGHT[c]), None)
        if wrong and guess[wrong] is None:
            yield f"Curve {wrong} has no cause yet.", guess
            yield f"Curve {wrong} has no cause yet.", {c: n for c, n in guess.items() if n}
        elif wrong:
            yield f"Curve {wrong}: {_AGAINST[wrong, guess[wrong]]}", guess


which_cause = Exercise(
    name="which_cause",
    chapter="07",
    section="What a failed run looks like",
    kind=PREDICT,
    title="Four curves, four causes",
    goal="Tell from two losses what went wrong in a run.",
    difficulty=3,
    importance=5,
    minutes=6,
    text="""\
The figure shows four real runs of a small translator: 3,200 pairs, 32 in a step, so that an epoch
has 100 steps; 1,500 ids; a warm-up and a cosine over 600 steps. In each, **one** thing is broken:

1. It has only 200 pairs, again and again.
2. The target is not shifted in training. (In validation it is.)
3. Each epoch has the same order, from short sentences to long ones.
4. The cosine ends after 120 of the 600 steps.
5. The learning rate is 15 times too high.

**Predict** which cause belongs to which curve. One cause belongs to none. Put numbers in the place
of `None`.

A point of *training* is the mean over 20 steps, in which the model learns; a point of *validation*
is taken before them, on 200 other pairs. *Healthy* is the validation of a run without a fault.""",
    hints=(
        "Ask four things of each curve: where does it begin, compared with log 1500 = 7.3? Do the "
        "two losses part? Does it stop early? Is there a rhythm?",
        "Two runs bring the training loss near 0. One is there after 80 steps and begins at 2.4, "
        "the other takes its time. Which of the two can copy, and which learns by heart?",
        "Waves of 100 steps are waves of one epoch. And if the rate is almost 0, both losses stay "
        "where they are.",
    ),
    setup="from tutor.exercises.chapter_07.which_cause import draw_runs\n\ndraw_runs()\n",
    stub='which_cause = {"A": None, "B": None, "C": None, "D": None}  # numbers from 1 to 5\n',
    solution='which_cause = {"A": 4, "B": 2, "C": 3, "D": 1}\n',
    because=(
        "Where a loss begins, whether training and validation part, when it stops, and its rhythm: "
        "four questions that cost nothing."
    ),
    reference=_RIGHT,
    mistakes=(
        ("The keys are the letters of the four curves, A to D, in capitals.", _Any(_other_letters)),
        (
            "Each curve has one cause: a number from 1 to 5, without quotes.",
            _Any(_no_cause),
        ),
        *_guesses(),
    ),
    wrong={
        'which_cause = {"A": 5, "B": 2, "C": 3, "D": 1}': "As the cosine brings it down",
        'which_cause = {"A": 4, "B": 1, "C": 3, "D": 2}': "where even chances cost",
        'which_cause = {"A": 4, "B": 2, "C": 5, "D": 1}': "from crest to crest",
        'which_cause = {"A": 4, "B": 2, "C": 3, "D": 2}': "nothing can be copied",
        'which_cause = {"A": 1, "B": 2, "C": 3, "D": 4}': "leave the validation behind",
        'which_cause = {"A": 4, "B": 2, "C": 3, "D": 5}': "below the healthy run's",
        'which_cause = {"A": 4, "B": 2, "C": 1, "D": 3}': "turn round and rise",
        'which_cause = {"A": 4, "B": 2}': "C has no cause yet",
        "which_cause = [4, 2, 3, 1]": "a dict is wanted",
        "which_cause = {'A': '4', 'B': '2', 'C': '3', 'D': '1'}": "without quotes",
        "which_cause = {'A': 4, 'B': 2, 'C': 3, 'D': 6}": "from 1 to 5",
        "which_cause = {'A': 4, 'B': 2, 'C': (3, 5), 'D': 1}": "one cause",
        "which_cause = {'a': 4, 'b': 2, 'c': 3, 'd': 1}": "in capitals",
        'which_cause = {"A": 4, "B": 2, "C": 3, "D": None}': "D has no cause yet",
    },
    right=(
        "which_cause = dict(zip('DBCA', range(1, 5)))",
        'which_cause = {"A": 4.0, "D": torch.tensor(1), "C": 3, "B": 2}',
    ),
)

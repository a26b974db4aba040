"""Four trainings that failed and a healthy one, for the exercise `which_cause`."""

import json
from pathlib import Path

from IPython import get_ipython

# Means of 20 steps in training, and the loss on `val` before each 20 steps. All from one script:
# generate_pairs("train", 3200, seed=0), 200 pairs of `val`, a tokenizer of 1,500 ids; a model with
# d_model=64, num_heads=4, d_ff=128, num_layers=2, norm_first; AdamW, rate 0.004, betas (0.9, 0.98),
# warmup_cosine of 600 steps, clipping at 1; 32 pairs a step in a new random order each epoch;
# torch.manual_seed(0) and random.Random(0) before each run.
# A: warmup_cosine of 120 steps. B: target_in is target_out in training. C: each epoch sorted by
# longer_side. D: the first 200 pairs only. Cause 5, a rate of 0.06, ends at 3.1 and still falls.
RUNS = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))


def draw_runs():
    """Show the four runs, each with the healthy one's validation. Without a notebook: nothing."""
    if get_ipython() is None:
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

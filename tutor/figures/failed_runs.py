"""Four trainings that failed and a healthy one, for the exercise `which_cause`."""

from IPython import get_ipython

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

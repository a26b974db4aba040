"""Train these translators again: `python -m course.making.small`."""

import torch

from tutor.models.small import FOLDER, SEEDS, train_small

torch.set_float32_matmul_precision("medium")  # as those in this folder were
for seed in SEEDS:
    train_small(seed).save(FOLDER / f"seed{seed}", dtype=torch.float16)
    print(f"saved seed {seed}")

"""Loss, optimizers, the loop, and what a long training needs besides (chapters 08 and 16)."""

from tutor.training.checkpoint import load_model, save_model
from tutor.training.loop import History, Recipe, batches_forever, train, until_ctrl_c
from tutor.training.loss import (
    SmoothedCrossEntropy,
    in_bfloat16,
    language_loss,
    smoothed_cross_entropy,
    translation_loss,
)
from tutor.training.optimizers import (
    Muon,
    inverse_square_root,
    make_optimizers,
    orthogonalize,
    warmup_cosine,
)

__all__ = [
    "History",
    "Muon",
    "Recipe",
    "SmoothedCrossEntropy",
    "batches_forever",
    "in_bfloat16",
    "inverse_square_root",
    "language_loss",
    "load_model",
    "make_optimizers",
    "orthogonalize",
    "save_model",
    "smoothed_cross_entropy",
    "train",
    "translation_loss",
    "until_ctrl_c",
    "warmup_cosine",
]

"""The training loop: a recipe, batches without end, and what happened (chapter 08)."""

import itertools
import math
import signal
import threading
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from tutor.attention import PAD
from tutor.text.batches import bucket
from tutor.training.loss import translation_loss
from tutor.training.optimizers import make_optimizers, warmup_cosine
from tutor.training.processes import any_of

SETTLE = 50  # steps between two looks at the losses on a GPU, which each look has to wait for


@dataclass(frozen=True)
class Recipe:
    """How to train. lr is Muon's, for the matrices inside the layers; lr_rest is AdamW's."""

    steps: int
    max_tokens: int = 1024
    lr: float = 5e-3
    lr_rest: float = 4e-3
    warmup: int = 50
    smoothing: float = 0.1
    clip: float = 1.0
    seed: int = 0


@dataclass
class History:
    """What happened: loss and target tokens of every step, seconds in all."""

    loss: list = field(default_factory=list)
    tokens: list = field(default_factory=list)
    seconds: float = 0.0

    def note(self, loss, batch):
        """Keep a step's loss, a tensor of one number, and count the target tokens of its Batch.

        On a GPU the losses of the last steps stay tensors until `settle`, so that nobody waits.
        """
        self.loss.append(loss.detach())
        self.tokens.append(int((batch.target_out != PAD).sum()))
        if loss.device.type == "cpu" or len(self.loss) % SETTLE == 0:
            self.settle()

    def settle(self):
        """Turn all losses into numbers. Raises ValueError for one that is infinite or NaN."""
        new = sum(1 for _ in itertools.takewhile(torch.is_tensor, reversed(self.loss)))
        if not new:
            return
        first = len(self.loss) - new
        self.loss[first:] = torch.stack(self.loss[first:]).tolist()
        for step in range(first, len(self.loss)):
            if not math.isfinite(self.loss[step]):
                raise ValueError(
                    f"The loss of step {step}, counted from 0, is {self.loss[step]}: training has "
                    f"stopped. Its batch has {self.tokens[step]} target tokens; look at it with "
                    f"next(batches_forever(pairs, max_tokens, seed, first={step})), and try lower "
                    "learning rates."
                )


def batches_forever(pairs, max_tokens, seed, first=0):
    """Epoch after epoch of batches, from step `first` on; which one comes at a step depends on
    seed and step alone.
    """
    epoch = 0
    while True:
        batches = bucket(pairs, max_tokens, seed=seed + epoch)
        if not batches:
            raise ValueError("There are no pairs to train on: give a list with at least one.")
        # Every epoch has as many batches, because they are cut by length.
        epochs, first = divmod(first, len(batches))
        if epochs:
            epoch += epochs
            continue
        yield from batches[first:]
        epoch, first = epoch + 1, 0


@contextmanager
def until_ctrl_c(batches):
    """A context that gives the batches until Ctrl-C; then none, so a training ends between steps.

    A second Ctrl-C, a second or more after the first, interrupts at once. Where Ctrl-C does not
    raise KeyboardInterrupt (another thread, a job in the background), nothing changes.
    """
    asked = []  # when

    def ask(*_):
        if asked and time.monotonic() > asked[0] + 1:
            raise KeyboardInterrupt
        asked.append(time.monotonic())

    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    listening = main and before is signal.default_int_handler
    if listening:
        signal.signal(signal.SIGINT, ask)
    try:
        yield itertools.takewhile(lambda _: not any_of(bool(asked)), batches)
    finally:
        if listening:
            signal.signal(signal.SIGINT, before)


def train(model, pairs, recipe, on_step=None, resume=None, loss_of=translation_loss):
    """Train `model` on (source ids, target ids) pairs, in place. Returns a History.

    pairs: a list of pairs of lists of int. on_step(step, history) is called after every step.
    resume(optimizers, schedules) may put them, the model and the random numbers where an earlier
    training was, and returns its History (see resume.py). loss_of(model, batch, smoothing) gives
    the loss; it calls the steps of the model, so `torch.compile` is of use around the loss alone:
    loss_of=torch.compile(translation_loss). Ctrl-C ends the training after a whole step: then the
    History is shorter. Raises KeyboardInterrupt if there was none.
    Raises ValueError for a loss that is infinite or NaN and for a model without layers, TypeError
    for a wrapper that hides the model's steps.
    """
    device = next(model.parameters()).device
    optimizers = make_optimizers(model, recipe)
    factor = partial(warmup_cosine, steps=recipe.steps, warmup=recipe.warmup)
    schedules = [LambdaLR(optimizer, factor) for optimizer in optimizers]
    torch.manual_seed(recipe.seed)  # dropout
    history = resume(optimizers, schedules) if resume else History()
    first, start = len(history.loss), time.perf_counter() - history.seconds
    model.train()
    batches = batches_forever(pairs, recipe.max_tokens, recipe.seed, first)
    with until_ctrl_c(batches) as batches:
        for step, batch in zip(range(first, recipe.steps), batches, strict=False):
            loss = loss_of(model, batch.to(device), recipe.smoothing)
            history.note(loss, batch)  # a loss that is no number ends the training here
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
            for each in (*optimizers, *schedules):
                each.step()
            model.zero_grad()
            history.seconds = time.perf_counter() - start
            if on_step:
                on_step(step, history)
    if len(history.loss) < recipe.steps:
        if not history.loss:
            raise KeyboardInterrupt
        warnings.warn("Stopped: the model has learned so far and no further.", stacklevel=2)
    history.settle()
    model.eval()
    return history

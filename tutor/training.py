"""Loss, schedule, optimisers and the training loop (chapter 07)."""

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

from tutor.attention import PAD, padding_mask
from tutor.processes import any_of
from tutor.text.batches import bucket

SETTLE = 50  # steps between two looks at the losses on a GPU, which each look has to wait for


class SmoothedCrossEntropy(torch.autograd.Function):
    """Cross-entropy with label smoothing, a chunk of tokens at a time.

    Called by `smoothed_cross_entropy`. The gradient of the loss with respect to the logits is
    softmax(logits) - smoothed target, so it is at hand as soon as the softmax is: each chunk's
    logits are turned into their gradient in place and dropped. The whole matrix of logits,
    (tokens, vocabulary), never exists. Padding has no share in the mean; picking the real tokens
    out instead would make a GPU wait until their number is known.
    """

    @staticmethod
    def forward(ctx, Y, W, targets, smoothing, chunk):
        loss, dY, dW = Y.new_zeros(()), torch.empty_like(Y), torch.zeros_like(W)
        share = (targets != PAD).to(Y)[:, None] / (targets != PAD).sum()  # (tokens, 1)
        room = Y.new_empty(chunk, len(W))  # one place for the logits of every chunk
        for start in range(0, len(Y), chunk):
            part = slice(start, start + chunk)
            right = targets[part, None]  # (chunk, 1)
            E = torch.mm(Y[part], W.T, out=room[: len(right)])  # (chunk, vocabulary): the logits
            E.sub_(E.amax(1, keepdim=True))  # now no exponential overflows
            wanted = (1 - smoothing) * E.gather(1, right) + smoothing * E.mean(1, keepdim=True)
            total = E.exp_().sum(1, keepdim=True)  # (chunk, 1)
            loss += (share[part] * (total.log() - wanted)).sum()
            E.mul_(share[part] / total).sub_(share[part] * smoothing / len(W))  # p - even part
            E.scatter_add_(1, right, share[part] * (smoothing - 1))  # - peak
            torch.mm(E, W, out=dY[part])  # (chunk, d_model)
            dW.addmm_(E.T, Y[part])  # (vocabulary, d_model)
        ctx.save_for_backward(dY, dW)
        return loss

    @staticmethod
    def backward(ctx, gradient):
        dY, dW = ctx.saved_tensors
        return gradient * dY, gradient * dW, None, None, None


def smoothed_cross_entropy(Y, W, targets, smoothing=0.1, chunk=256):
    """Mean cross-entropy of the logits Y W^T against targets smoothed towards the uniform.

    Y: (tokens, d_model), W: (vocabulary, d_model), targets: (tokens,) ids; PAD is not counted.
    Returns nats a token. Equal to F.cross_entropy(Y @ W.T, targets, label_smoothing=smoothing,
    ignore_index=PAD).
    Mixed precision ends here: sums over a vocabulary need all their digits.
    Source: Szegedy et al. 2016, section 7; Vaswani et al. 2017, section 5.4.
    """
    with torch.autocast(Y.device.type, enabled=False):
        return SmoothedCrossEntropy.apply(Y.to(W.dtype), W, targets, smoothing, chunk)


def translation_loss(model, batch, smoothing=0.1):
    """Loss of `model` on a Batch under teacher forcing, in nats a target token, without padding."""
    memory = model.encode(batch.source)  # (N, S, d_model)
    Y = model.decode(batch.target_in, memory, padding_mask(batch.source))  # (N, T, d_model)
    Y, targets = Y.flatten(0, 1), batch.target_out.flatten()  # (N * T, d_model), (N * T,)
    return smoothed_cross_entropy(Y, model.embedding.weight, targets, smoothing)


def warmup_cosine(step, steps, warmup=50, last=0.01):
    """Learning-rate factor: up in a line to 1 over `warmup` steps, then down a cosine to `last`."""
    if step < warmup:
        return (step + 1) / warmup
    done = (step - warmup) / max(1, steps - warmup)
    return last + (1 - last) * 0.5 * (1 + math.cos(math.pi * done))


def inverse_square_root(step, d_model, warmup=4000):
    """The paper's learning rate at `step`, counted from 0 (section 5.3, equation (3))."""
    return d_model**-0.5 * min((step + 1) ** -0.5, (step + 1) * warmup**-1.5)


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


class Muon(torch.optim.Optimizer):
    """Momentum whose every update of a matrix is made (nearly) orthogonal.

    Then all directions of a matrix learn at one speed, and training needs about half the steps. The
    step is scaled to the size that an AdamW step has. The same as torch.optim.Muon with
    adjust_lr_fn="match_rms_adamw" and no weight decay, but all matrices of one shape go through
    the products together, which takes a third of the time on a CPU.
    Source: Jordan et al. 2024 (Muon); Liu et al. 2025, section 2.2 (the scale).
    """

    def __init__(self, params, lr, momentum=0.95):
        super().__init__(params, dict(lr=lr, momentum=momentum))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            momentum, by_shape = group["momentum"], {}
            for p in group["params"]:
                if p.grad is None:
                    continue
                if not self.state[p]:
                    self.state[p]["average"] = torch.zeros_like(p)
                average = self.state[p]["average"]
                average.lerp_(p.grad, 1 - momentum)
                by_shape.setdefault(p.shape, []).append((p, p.grad.lerp(average, momentum)))
            for (rows, columns), pairs in by_shape.items():
                updates = orthogonalize(torch.stack([update for _, update in pairs]))
                size = 0.2 * math.sqrt(max(rows, columns))
                for (p, _), update in zip(pairs, updates, strict=True):
                    p.add_(update.to(p.dtype), alpha=-group["lr"] * size)


def orthogonalize(G, steps=5):
    """The matrices G (n, rows, columns) with all singular values moved to about 1 (0.6 to 1.25).

    A polynomial of X X^T pushes the singular values there without computing them; five steps in
    bfloat16 are enough. Source: Jordan et al. 2024 (Newton-Schulz with these three numbers).
    """
    a, b, c = 3.4445, -4.7750, 2.0315
    tall = G.shape[-2] > G.shape[-1]
    X = (G.mT if tall else G).bfloat16()  # the shorter side first
    X = X / (X.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        A = X @ X.mT  # (n, rows, rows)
        B = torch.baddbmm(A, A, A, beta=b, alpha=c)  # b A + c A A
        X = torch.baddbmm(X, B, X, beta=a)  # a X + B X
    return X.mT if tall else X


def make_optimizers(model, recipe):
    """Muon for the matrices inside the layers; AdamW for embeddings, biases and norms."""
    matrices, rest = [], []
    for name, p in model.named_parameters():
        inside = name.startswith(("encoder.", "decoder."))
        (matrices if inside and p.dim() == 2 else rest).append(p)
    return [
        Muon(matrices, lr=recipe.lr),
        torch.optim.AdamW(rest, lr=recipe.lr_rest, betas=(0.9, 0.98), weight_decay=0.0, fused=True),
    ]


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

    def go_on(_):
        if stop := any_of(bool(asked)):
            warnings.warn("Stopped: the model has learned so far and no further.", stacklevel=3)
        return not stop

    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    listening = main and before is signal.default_int_handler
    if listening:
        signal.signal(signal.SIGINT, ask)
    try:
        yield itertools.takewhile(go_on, batches)
    finally:
        if listening:
            signal.signal(signal.SIGINT, before)


def train(model, pairs, recipe, on_step=None, resume=None, loss_of=translation_loss):
    """Train `model` on (source ids, target ids) pairs, in place. Returns a History.

    pairs: a list of pairs of lists of int. on_step(step, history) is called after every step.
    resume(optimizers, schedules) may put them, the model and the random numbers where an earlier
    training was, and returns its History (`tutor.resume`). loss_of(model, batch, smoothing) gives
    the loss. Ctrl-C ends the training after a whole step: then the History is shorter.
    Raises ValueError for a loss that is infinite or NaN.
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
    history.settle()
    model.eval()
    return history

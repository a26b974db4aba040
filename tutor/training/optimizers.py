"""Optimizers and the schedules of their learning rates (chapters 08, 20b)."""

import itertools
import math

import torch
from torch import nn


def warmup_cosine(step, steps, warmup=50, last=0.01):
    """Learning-rate factor: up in a line to 1 over `warmup` steps, then down a cosine to `last`."""
    if step < warmup:
        return (step + 1) / warmup
    done = (step - warmup) / max(1, steps - warmup)
    return last + (1 - last) * 0.5 * (1 + math.cos(math.pi * done))


def inverse_square_root(step, d_model, warmup=4000):
    """The paper's learning rate at `step`, counted from 0 (section 5.3, equation (3))."""
    return d_model**-0.5 * min((step + 1) ** -0.5, (step + 1) * warmup**-1.5)


class Muon(torch.optim.Optimizer):
    """Momentum whose every update of a matrix is made nearly orthogonal: see `orthogonalize`.

    Then all but the weakest directions of a matrix learn at about one speed. The step is scaled to
    the size that an AdamW step has. The same as torch.optim.Muon with
    adjust_lr_fn="match_rms_adamw" and no weight decay, but all matrices of one shape go through
    the products together, which takes a third of the time on a CPU.
    Raises ValueError for a parameter that is no matrix.
    Source: Jordan et al. 2024 (Muon); Liu et al. 2025, section 2.2 (the scale).
    """

    def __init__(self, params, lr, momentum=0.95):
        super().__init__(params, dict(lr=lr, momentum=momentum))
        for p in itertools.chain.from_iterable(group["params"] for group in self.param_groups):
            if p.dim() != 2:
                raise ValueError(
                    f"Muon trains matrices, not a parameter of shape {tuple(p.shape)}: give that "
                    "one to another optimizer, such as AdamW."
                )

    @torch.no_grad()
    def step(self, closure=None):
        """One step. closure, if given, computes the gradients anew and returns the loss."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
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
        return loss


def orthogonalize(G, steps=5):
    """The matrices G (n, rows, columns) with nearly all singular values moved near 1.

    What is above 0.002 of its matrix's norm (the root of the sum of squares) ends between 0.65 and
    1.25. What is smaller grows at most 3.4445^5 = 485-fold and may stay near 0: of random square
    matrices, 128 x 128, that are about 1 % of the values, and 98 % of the matrices have some.
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
    """Muon for the matrices inside the layers; AdamW for embeddings, biases, norms and the like.

    Layers are what stands in an nn.ModuleList, however the model is wrapped. Raises ValueError if
    there is no matrix among them. A frozen parameter gets no gradient, and so no step.
    """
    stacks = [module for module in model.modules() if isinstance(module, nn.ModuleList)]
    inside = {p for stack in stacks for p in stack.parameters() if p.dim() == 2}
    matrices = [p for p in model.parameters() if p in inside]
    rest = [p for p in model.parameters() if p not in inside]
    if not matrices:
        raise ValueError("Muon finds no matrices inside an nn.ModuleList of layers.")
    return [
        Muon(matrices, lr=recipe.lr),
        torch.optim.AdamW(rest, lr=recipe.lr_rest, betas=(0.9, 0.98), weight_decay=0.0, fused=True),
    ]

"""The loss: cross-entropy with label smoothing, a chunk at a time (chapters 08 and 08b)."""

import torch

from tutor.attention import PAD, padding_mask
from tutor.text.packing import PackedBatch


class SmoothedCrossEntropy(torch.autograd.Function):
    """Cross-entropy with label smoothing, a chunk of tokens at a time.

    Called by `smoothed_cross_entropy`. The gradient of the loss with respect to the logits is
    softmax(logits) - smoothed target, so it is at hand as soon as the softmax is: each chunk's
    logits are turned into their gradient in place and dropped. The whole matrix of logits,
    (tokens, vocabulary), never exists. Padding has no share in the mean; picking the real tokens
    out instead would make a GPU wait until their number is known. A backward pass with
    create_graph=True raises RuntimeError: the kept gradients know nothing of what they were
    computed from, and a penalty on them would train nothing.
    """

    @staticmethod
    def forward(ctx, Y, W, targets, smoothing, chunk):
        loss, dY, dW = W.new_zeros(()), torch.empty_like(Y), torch.zeros_like(W)
        share = (targets != PAD).to(W)[:, None] / (targets != PAD).sum()  # (tokens, 1)
        short, V = Y.dtype != W.dtype, W.to(Y.dtype)  # factors may be short, sums are long
        # One place for the logits of every chunk, as they are multiplied and as they are summed.
        factors, sums = Y.new_empty(chunk, len(W)), W.new_empty(chunk if short else 0, len(W))
        for start in range(0, len(Y), chunk):
            part = slice(start, start + chunk)
            right = targets[part, None]  # (chunk, 1)
            Z = torch.mm(Y[part], V.T, out=factors[: len(right)])  # (chunk, vocabulary)
            E = sums[: len(right)].copy_(Z) if short else Z
            E.sub_(E.amax(1, keepdim=True))  # now no exponential overflows
            wanted = (1 - smoothing) * E.gather(1, right) + smoothing * E.mean(1, keepdim=True)
            total = E.exp_().sum(1, keepdim=True)  # (chunk, 1)
            loss += (share[part] * (total.log() - wanted)).sum()
            E.mul_(share[part] / total).sub_(share[part] * smoothing / len(W))  # p - even part
            E.scatter_add_(1, right, share[part] * (smoothing - 1))  # - peak
            G = Z.copy_(E) if short else E
            torch.mm(G, V, out=dY[part])  # (chunk, d_model)
            if short:
                dW.add_(G.T @ Y[part])  # (vocabulary, d_model)
            else:
                dW.addmm_(G.T, Y[part])
        ctx.save_for_backward(dY, dW)
        return loss

    @staticmethod
    def backward(ctx, gradient):
        if torch.is_grad_enabled():  # with create_graph=True alone
            raise RuntimeError(
                "smoothed_cross_entropy cannot be differentiated twice: take F.cross_entropy with "
                "label_smoothing, or leave out create_graph=True."
            )
        dY, dW = ctx.saved_tensors
        return gradient * dY, gradient * dW, None, None, None


def smoothed_cross_entropy(Y, W, targets, smoothing=0.1, chunk=256):
    """Mean cross-entropy of the logits Y W^T against targets smoothed towards the uniform.

    Y: (tokens, d_model), W: (vocabulary, d_model), targets: (tokens,) ids; PAD is not counted.
    Returns nats a token. Equal to F.cross_entropy(Y @ W.T, targets, label_smoothing=smoothing,
    ignore_index=PAD).
    Under autocast the factors of the products are short; sums over a vocabulary and over tokens
    need all their digits, and stay in W's type.
    Source: Szegedy et al. 2016, section 7; Vaswani et al. 2017, section 5.4.
    """
    with torch.no_grad():
        kind = (Y[:1].to(W.dtype) @ W[:1].T).dtype  # autocast, where it is on, shortens products
    with torch.autocast(Y.device.type, enabled=False):
        return SmoothedCrossEntropy.apply(Y.to(kind), W, targets, smoothing, chunk)


def in_bfloat16(loss_of):
    """A loss like `loss_of` whose matrix products are in bfloat16 (autocast, chapter 16).

    Weights, their gradients and sums stay in float32. loss_of(model, batch, smoothing).
    Source: Micikevicius et al. 2018, section 3.1; bfloat16: Kalamkar et al. 2019.
    """

    def loss(model, batch, smoothing=0.1):
        with torch.autocast(batch.source.device.type, torch.bfloat16):
            return loss_of(model, batch, smoothing)

    return loss


def translation_loss(model, batch, smoothing=0.1):
    """Loss of `model` on a Batch under teacher forcing, in nats a target token, without padding.

    Raises TypeError for a wrapper that hides the model's steps, such as DistributedDataParallel.
    """
    if not hasattr(model, "encode"):
        raise TypeError(f"A {type(model).__name__} has no encode(): train the model inside it.")
    memory = model.encode(batch.source)  # (N, S, d_model)
    Y = model.decode(batch.target_in, memory, padding_mask(batch.source))  # (N, T, d_model)
    Y, targets = Y.flatten(0, 1), batch.target_out.flatten()  # (N * T, d_model), (N * T,)
    return smoothed_cross_entropy(Y, model.embedding.weight, targets, smoothing)


def language_loss(model, batch, smoothing=0.0):
    """Loss of a LanguageModel in nats a token, without padding: on the target side of a Batch, or
    on a PackedBatch, whose documents are kept apart.
    """
    packed = isinstance(batch, PackedBatch)
    ids, targets = (batch.ids, batch.targets) if packed else (batch.target_in, batch.target_out)
    Y = model.read(ids, batch.documents if packed else None)  # (N, T, d_model)
    table = model.embedding if model.output is None else model.output
    return smoothed_cross_entropy(Y.flatten(0, 1), table.weight, targets.flatten(), smoothing)

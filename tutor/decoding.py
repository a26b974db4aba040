"""Writing a translation, a token at a time (chapter 08)."""

import torch

from tutor.attention import PAD, padding_mask
from tutor.text.tokenizer import BOS, EOS, UNK


@torch.no_grad()
def greedy(model, source_ids, max_len=None):
    """The most probable next token, again and again, until EOS.

    source_ids: (N, S), padded, each ending with EOS. Writes at most max_len tokens a sentence, and
    never more than the model's max_len; None: the source's length plus 50, as in the paper (section
    6.1). Returns N lists of ids without special tokens.
    """
    was_training = model.training
    model.eval()  # dropout off
    try:
        memory, memory_mask = model.encode(source_ids), padding_mask(source_ids)
        # Each sentence's own limit, so that its neighbours in the batch change nothing.
        limit = (source_ids != PAD).sum(1) + 50  # (N,)
        if max_len is not None:
            limit = torch.full_like(limit, max_len)
        limit = limit.clamp(max=model.config.max_len)
        ids = source_ids.new_full((len(source_ids), 1), BOS)
        ended = limit < 1  # (N,)
        while not ended.all():
            E = model.logits(model.decode(ids, memory, memory_mask)[:, -1])  # (N, vocabulary)
            E[:, [PAD, UNK, BOS]] = torch.finfo(E.dtype).min  # these are never written
            best = E.argmax(-1).masked_fill(ended, PAD)  # (N,)
            ids = torch.cat([ids, best[:, None]], dim=1)
            ended |= (best == EOS) | (ids.shape[1] > limit)
    finally:
        model.train(was_training)
    return [[i for i in row if i not in (PAD, BOS, EOS)] for row in ids.tolist()]

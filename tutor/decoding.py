"""Writing a translation, a token at a time (chapter 08)."""

import torch

from tutor.attention import PAD, padding_mask
from tutor.text.tokenizer import BOS, EOS


@torch.no_grad()
def greedy(model, source_ids, max_len=None):
    """The most probable next token, again and again, until EOS.

    source_ids: (N, S), padded, each ending with EOS. Writes at most max_len tokens, and never more
    than the model's max_len; None: S + 50, as in the paper (section 6.1). Returns N lists of ids
    without special tokens.
    """
    was_training = model.training
    model.eval()  # dropout off
    N, S = source_ids.shape
    limit = min(S + 50 if max_len is None else max_len, model.config.max_len)
    memory, memory_mask = model.encode(source_ids), padding_mask(source_ids)
    ids = source_ids.new_full((N, 1), BOS)
    ended = torch.zeros(N, dtype=torch.bool, device=ids.device)
    for _ in range(limit):
        Y = model.decode(ids, memory, memory_mask)[:, -1]  # (N, d_model)
        best = model.logits(Y).argmax(-1).masked_fill(ended, PAD)  # (N,)
        ended |= best == EOS
        if ended.all():
            break
        ids = torch.cat([ids, best[:, None]], dim=1)
    model.train(was_training)
    return [[i for i in row if i not in (PAD, BOS, EOS)] for row in ids.tolist()]

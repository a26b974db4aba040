"""Word alignments read from cross-attention, and how far they are from the true ones (chapter 11).

A model attends between tokens, a true link joins words, and a word may be several tokens. So maps
of T x S tokens are first turned into maps of T' x S' words; in code, T_words and S_words.
"""

from typing import NamedTuple

import torch

from tutor.attention import padding_mask
from tutor.record import record_attention, value_lengths
from tutor.text.batches import EOS, Batch, make_batch

STEPS = ("output", "input")  # the step that writes a token, and the next one, which reads it


class AlignedBatch(NamedTuple):
    """N pairs as a batch of ids, and which word each token belongs to: see `aligned_batch`.

    of_source: (N, S, S'), 1 where a source token belongs to a word. of_target: for each of STEPS
    (N, T', T), where each word's steps share a weight of 1. gold: (N, T', S'), True where two words
    are linked. Rows and columns of words that a sentence does not have are zero.
    """

    batch: Batch
    of_source: torch.Tensor
    of_target: dict
    gold: torch.Tensor


def words_of_tokens(tokenizer, text, words):
    """The index of the word that each token of `text` belongs to: a list of int.

    words: the words and signs that `text` is written with, in order. Raises ValueError if the two
    differ in more than spaces and capitals.
    """
    if "".join(words).lower() != "".join(text.split()).lower():
        raise ValueError(f"{text!r} is not written with the words {list(words)}.")
    letters, owners, word = [i for i, w in enumerate(words) for _ in w], [], len(words) - 1
    text = " " + text  # as the tokenizer reads it
    for character in reversed(text):  # a space belongs to the word after it
        word = word if character.isspace() else letters.pop()
        owners.append(word)
    owners.reverse()  # the word of each character
    pieces = tokenizer.model.encode(text, add_special_tokens=False)
    return [owners[end - 1] for _, end in pieces.offsets]


def aligned_batch(tokenizer, pairs):
    """An AlignedBatch of `tutor.text.grammar.Pair`s, which know their words and links.

    [EOS] belongs to no word, so its column of a map is left out.
    """
    texts = zip(*((pair.english, pair.french) for pair in pairs), strict=True)
    batch = make_batch(list(zip(*(tokenizer.encode(list(side)) for side in texts), strict=True)))
    N, S = batch.source.shape
    T = batch.target_in.shape[1]
    S_words = max(len(pair.english_words) for pair in pairs)
    T_words = max(len(pair.french_words) for pair in pairs)
    of_source = torch.zeros(N, S, S_words)
    of_target = {step: torch.zeros(N, T_words, T) for step in STEPS}
    gold = torch.zeros(N, T_words, S_words, dtype=torch.bool)
    for n, pair in enumerate(pairs):
        owners = words_of_tokens(tokenizer, pair.english, pair.english_words)
        for s, i in enumerate(owners):
            of_source[n, s, i] = 1
        owners = words_of_tokens(tokenizer, pair.french, pair.french_words)
        for t, j in enumerate(owners):
            share = 1 / owners.count(j)
            of_target["output"][n, j, t] = share  # row t writes token t ...
            of_target["input"][n, j, t + 1] = share  # ... and row t + 1 reads it
        for i, j in pair.links:
            gold[n, j, i] = True
    return AlignedBatch(batch, of_source, of_target, gold)


@torch.no_grad()
def cross_attention(model, batch):
    """The cross-attention of all L layers and h heads in a pass over a Batch, taken in two ways.

    Returns a dict: "weight" holds the weights A, (L, N, h, T, S); "norm", of the same shape, the
    length of the vector that each weight adds to the result, A_ts ||v_s W_O||: see
    `tutor.record.value_lengths`. They are on the device of the batch, wherever the model is.
    """
    device = batch.source.device
    batch = batch.to(next(model.parameters()).device)
    with record_attention(model) as attention:
        memory = model.encode(batch.source)  # (N, S, d_model)
        model.decode(batch.target_in, memory, padding_mask(batch.source))
    A = torch.stack(attention["cross"]).to(device)  # (L, N, h, T, S)
    lengths = value_lengths(model, memory).to(device)  # (L, N, h, S)
    return {"weight": A, "norm": A * lengths[..., None, :]}


def word_maps(A, aligned, step):
    """Maps of words from maps of tokens, (L, N, h, T, S): (L, N, h, T', S').

    The columns of a source word are added up; the rows of a target word are averaged. step: one of
    STEPS.
    """
    of_target = aligned.of_target[step][:, None]  # (N, 1, T', T)
    of_source = aligned.of_source[:, None]  # (N, 1, S, S')
    return of_target @ A @ of_source  # (L, N, h, T', S')


def best_links(M):
    """Each target word's heaviest source word: booleans of the shape of M, (..., T', S')."""
    best = torch.zeros_like(M, dtype=torch.bool).scatter(-1, M.argmax(-1, keepdim=True), True)
    return best & (M > 0)  # words that a sentence does not have weigh nothing


def error_rates(links, gold):
    """Alignment error rate of every head: links (L, N, h, T', S'), gold (N, T', S'): (L, h).

    The links of all N sentences count together, as in `alignment_error_rate` of scoring.py; every
    gold link is a sure one. Source: Och and Ney 2003, section 5.
    """
    right = (links & gold[:, None]).sum((1, 3, 4))  # (L, h)
    return 1 - 2 * right / (links.sum((1, 3, 4)) + gold.sum())


def same_sort(pairs):
    """True where two words or two signs meet, False between a word and a sign: (N, T', S')."""
    T_words = max(len(pair.french_words) for pair in pairs)
    S_words = max(len(pair.english_words) for pair in pairs)
    same = torch.zeros(len(pairs), T_words, S_words, dtype=torch.bool)
    for n, pair in enumerate(pairs):
        rows = torch.tensor([word[0].isalpha() for word in pair.french_words])  # (T'_n,)
        columns = torch.tensor([word[0].isalpha() for word in pair.english_words])  # (S'_n,)
        same[n, : len(rows), : len(columns)] = rows[:, None] == columns
    return same


def measure(maps, aligned, among=None):
    """The error rates (L, h) of all heads: a dict with a table for each (step, by).

    maps: from `cross_attention`, whose keys are `by`; step: one of STEPS. among: (N, T', S'), False
    where no link may be predicted, such as `same_sort`.
    """
    allowed = True if among is None else among[:, None]  # (N, 1, T', S')
    return {
        (step, by): error_rates(best_links(word_maps(A, aligned, step) * allowed), aligned.gold)
        for step in STEPS
        for by, A in maps.items()
    }


def best_head(rates):
    """The (layer, head) with the lowest error rate in a table (L, h)."""
    return divmod(rates.argmin().item(), rates.shape[1])


def pieces(tokenizer, batch):
    """Which rows of a map write the first piece of a word, and which a later one: (N, T) each.

    A first piece begins with a space, a later one is letters that follow other letters.
    """
    names = [["^", *tokenizer.readable(row)] for row in batch.target_out.tolist()]
    first = [[name[0] == "_" for name in row[1:]] for row in names]
    later = [
        [a[-1].isalpha() and b.isalpha() for a, b in zip(row, row[1:], strict=False)]
        for row in names
    ]
    return torch.tensor(first), torch.tensor(later)


def at_rest(tokenizer, batch, maps):
    """What first and later pieces of a word give to the end, and what arrives: (3, L, h, N) each.

    maps: from `cross_attention`. The end is [EOS] and the token before it, a full stop as a rule.
    [0] holds the weight on the end, [1] the sum of all lengths and [2] its part from the end, as
    means over the rows of a sentence that write such a piece, nan where it has none.
    """
    end = batch.source == EOS  # (N, S)
    end = (end | end.roll(-1, dims=1))[:, None, None]  # (N, 1, 1, S)
    A, norm = maps["weight"], maps["norm"]  # (L, N, h, T, S)
    found = torch.stack([(A * end).sum(-1), norm.sum(-1), (norm * end).sum(-1)])  # (3, L, N, h, T)
    return [
        ((found * rows[:, None]).sum(-1) / rows.sum(-1)[:, None]).mT  # (3, L, h, N)
        for rows in pieces(tokenizer, batch)
    ]

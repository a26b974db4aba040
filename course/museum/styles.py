"""Right answers to the exhibits in other styles, three each, by one who did not see the judges.

`RIGHT_ANSWERS` maps the name of an exhibit, or the task that several share, to functions. No test
of the museum may refuse one.
"""

import copy
import functools
import heapq
import math
from statistics import fmean

import sacrebleu
import torch
import torch.nn.functional as F
from torch import nn

from course.museum.exhibit import Page
from tutor.attention import PAD, causal_mask
from tutor.language_model import places_of
from tutor.modern import rotate


def styles_of(exhibit):
    """The right answers to an exhibit."""
    return RIGHT_ANSWERS.get(exhibit.name) or RIGHT_ANSWERS[exhibit.task]


def look_up_one_by_one(ids, table):
    for id in ids.flatten().tolist():
        if not 0 <= id < len(table):
            raise KeyError(f"There is no row {id}.")
    return torch.stack([table[id] for id in ids])


def assert_then_look_up(ids, table):
    assert ((ids >= 0) & (ids < len(table))).all(), "There is no such row."
    return table.index_select(0, ids)


def shift_then_mask(target):
    T = target.shape[1] - 1
    return target.narrow(1, 0, T), torch.arange(T)[:, None] < torch.arange(T)


def count_right(translate, train_pairs, test_pairs):
    right = 0
    for x, y in test_pairs:
        if translate(x) == y:
            right += 1
    return right / len(test_pairs)


def exp_by_hand(Q, K, mask=None):
    E = torch.einsum("...td,...sd->...ts", Q, K) * Q.shape[-1] ** -0.5
    e = (E - E.amax(-1, keepdim=True)).exp()
    if mask is not None:
        e = e * ~mask
    return e / e.sum(-1, keepdim=True).clamp(min=1e-300)


def attend_to_identity(Q, K, mask=None):
    V = torch.eye(K.shape[-2]).expand(*K.shape[:-2], -1, -1)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=None if mask is None else ~mask)


def minus_a_million(Q, K, mask=None):
    E = (Q / Q.size(-1) ** 0.25) @ (K / K.size(-1) ** 0.25).mT
    if mask is not None:
        E = E + torch.zeros(mask.shape).masked_fill(mask, -1e6)
    return F.softmax(E, -1)


def log_weights(Q, K, mask=None):
    E = torch.matmul(Q, K.transpose(-1, -2)).div(math.sqrt(K.shape[-1]))
    if mask is not None:
        E = torch.where(mask, torch.tensor(-1e9), E)
    return (E - E.logsumexp(-1, keepdim=True)).exp()


def past_by_hand(Q, K, V, hidden):
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    return E.masked_fill(hidden, -math.inf).softmax(-1) @ V


def read_row_by_row(X):
    rows = []
    for t in range(X.shape[-2]):
        q, past = X[..., t : t + 1, :], X[..., : t + 1, :]
        rows.append((q @ past.mT / X.shape[-1] ** 0.5).softmax(-1) @ past)
    return torch.cat(rows, -2)


def past_with_bias(X):
    bias = torch.full((X.shape[-2],) * 2, -torch.inf).triu(1)
    return F.scaled_dot_product_attention(X, X, X, attn_mask=bias)


def scores_head_by_head(Q, K, d_model, num_heads):
    d_k = d_model // num_heads
    pairs = zip(Q.split(d_k, -1), K.split(d_k, -1), strict=True)
    return torch.stack([q @ k.mT / d_k**0.5 for q, k in pairs], -3)


def scores_by_einsum(Q, K, d_model, num_heads):
    Q, K = (X.reshape(*X.shape[:-1], num_heads, -1) for X in (Q, K))
    return torch.einsum("...thk,...shk->...hts", Q, K) / math.sqrt(d_model / num_heads)


def scores_of_small_numbers(Q, K, d_model, num_heads):
    scale = (num_heads / d_model) ** 0.25
    Q = (Q * scale).view(*Q.shape[:-1], num_heads, -1).movedim(-2, -3)
    K = (K * scale).view(*K.shape[:-1], num_heads, -1).movedim(-2, -3)
    return Q @ K.mT


def attend_head_by_head(Q, K, V, num_heads):
    parts = zip(*(X.chunk(num_heads, -1) for X in (Q, K, V)), strict=True)
    return torch.cat([F.scaled_dot_product_attention(*part) for part in parts], -1)


def attend_all_at_once(Q, K, V, num_heads):
    Q, K, V = (X.view(len(X), X.shape[1], num_heads, -1).permute(0, 2, 1, 3) for X in (Q, K, V))
    Y = F.scaled_dot_product_attention(Q, K, V)
    return Y.permute(0, 2, 1, 3).reshape(len(Y), Y.shape[2], -1)


def attend_by_einsum(Q, K, V, num_heads):
    Q, K, V = (X.unflatten(-1, (num_heads, -1)) for X in (Q, K, V))
    A = (torch.einsum("nthk,nshk->nhts", Q, K) / Q.shape[-1] ** 0.5).softmax(-1)
    return torch.einsum("nhts,nshk->nthk", A, V).flatten(-2)


def heads_by_hand(attention, X):
    d = X.shape[-1]
    Q, K, _ = F.linear(X, attention.in_proj_weight, attention.in_proj_bias).chunk(3, -1)
    Q, K = (Y.unflatten(-1, (attention.num_heads, -1)).transpose(-3, -2) for Y in (Q, K))
    return (Q @ K.mT / math.sqrt(d // attention.num_heads)).softmax(-1)


def project_and_mix(projections, X):
    *three, last = projections
    Q, K, V = [W(X) for W in three]
    A = torch.softmax(Q @ K.mT / math.sqrt(Q.size(-1)), dim=-1)
    return last(A @ V)


def project_by_index(projections, X):
    Y = F.scaled_dot_product_attention(*(projections[i](X) for i in range(3)))
    return projections[3](Y)


class SequenceFirst(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0)

    def forward(self, X):
        return self.layer(X.transpose(0, 1)).transpose(0, 1)


def centre_and_scale(X, eps=1e-5):
    centred = X - X.mean(dim=-1, keepdim=True)
    return centred * torch.rsqrt((centred**2).mean(dim=-1, keepdim=True) + eps)


def var_mean(X, eps=1e-5):
    var, mean = torch.var_mean(X, dim=-1, keepdim=True, unbiased=False)
    return (X - mean) / torch.sqrt(var + eps)


def layer_in_small_steps(layer, X):
    residual = X
    X = layer.dropout1(layer.self_attn(X, X, X, need_weights=False)[0])
    residual = layer.norm1(residual + X)
    X = layer.dropout2(layer.linear2(layer.dropout(layer.activation(layer.linear1(residual)))))
    return layer.norm2(residual + X)


def layer_of_blocks(layer, X):
    X = layer.norm1(X + layer._sa_block(X, None, None))
    return layer.norm2(X + layer._ff_block(X))


def residual_in_place(X, norm, work):
    Y = work(norm(X))
    Y += X
    return Y


def pre_norm_in_words(X, norm, work):
    residual = X
    X = norm(X)
    X = work(X)
    return residual + X


def post_norm_in_words(X, norm, work):
    residual = X
    X = work(X)
    return norm(residual + X)


def decode_in_words(X, memory, attend):
    own = X + attend(X, X)
    source = own + attend(own, memory)
    return source


def decode_in_a_loop(X, memory, attend):
    for other in (None, memory):
        X = X + attend(X, X if other is None else other)
    return X


def positions_by_exp(max_len, d_model):
    pos = torch.arange(max_len).unsqueeze(1)
    speed = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    P = torch.zeros(max_len, d_model)
    P[:, 0::2] = torch.sin(pos * speed)
    P[:, 1::2] = torch.cos(pos * speed[: d_model // 2])
    return P


def positions_in_pairs(max_len, d_model):
    pairs = torch.arange((d_model + 1) // 2)
    angle = torch.outer(torch.arange(max_len), 10000.0 ** (-2 * pairs / d_model))
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)[:, :d_model]


def positions_in_lists(max_len, d_model):
    def number(pos, column):
        angle = pos / 10000 ** ((column - column % 2) / d_model)
        return math.cos(angle) if column % 2 else math.sin(angle)

    return torch.tensor([[number(pos, j) for j in range(d_model)] for pos in range(max_len)])


def positions_of_even_width(max_len, d_model):
    assert d_model % 2 == 0, "Give an even width."
    angle = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    z = torch.polar(torch.ones(angle.shape), angle)
    return torch.stack([z.imag, z.real], -1).reshape(max_len, d_model)


def refuse_odd_widths(max_len, d_model):
    if d_model % 2:
        raise ValueError("Give an even width.")
    return positions_by_exp(max_len, d_model)


def places_sentence_by_sentence(X, P):
    return torch.stack([sentence + P[: len(sentence)].squeeze(1) for sentence in X])


class Chain(nn.Module):
    def __init__(self, make, n):
        super().__init__()
        for i in range(n):
            self.add_module(f"layer{i}", make())

    def forward(self, X):
        return functools.reduce(lambda X, layer: layer(X), self.children(), X)


class GrowingList(nn.Module):
    def __init__(self, make, n):
        super().__init__()
        self.layers = nn.ModuleList()
        while len(self.layers) < n:
            self.layers.append(make())

    def forward(self, X):
        for layer in self.layers:
            X = layer(X)
        return X


def modules_appended(make, n):
    layers = nn.ModuleList()
    for _ in range(n):
        layers.append(make())
    return layers


def tie_after_loading(saved):
    model = nn.Sequential(nn.Embedding(*saved.shape), nn.Linear(*saved.shape[::-1], bias=False))
    model[1].weight = model[0].weight
    model.load_state_dict({"0.weight": saved, "1.weight": saved})
    return model


def tie_a_frozen_start(saved):
    table = nn.Embedding.from_pretrained(saved.clone(), freeze=False)
    output = nn.Linear(saved.shape[1], saved.shape[0], bias=False)
    output.weight = table.weight
    return nn.Sequential(table, output)


def tie_by_copying(saved):
    model = nn.Sequential(
        nn.Embedding(*saved.shape), nn.Linear(saved.shape[1], len(saved), bias=False)
    )
    model[0].weight = model[1].weight
    with torch.no_grad():
        model[0].weight.copy_(saved)
    return model


class WithAdapter(nn.Module):
    def __init__(self, attention, adapter):
        super().__init__()
        self.attention, self.adapter = attention, adapter

    def forward(self, *inputs, **named):
        Y, A = self.attention(*inputs, **named)
        return Y + self.adapter(Y), A


def adapt_by_hook(attention, adapter):
    def hook(module, inputs, outputs):
        Y, A = outputs
        return Y + adapter(Y), A

    attention.register_forward_hook(hook)
    return attention


def adapt_forward(attention, adapter):
    forward = attention.forward

    def adapted(*inputs, **named):
        Y, A = forward(*inputs, **named)
        return Y + adapter(Y), A

    attention.forward = adapted
    return attention


def turn_at_the_end(pieces):
    K = torch.cat(pieces, 1)
    S, d_k = K.shape[1:]
    longer = S / 4 if S > 4 else 1
    return rotate(K, torch.arange(S), 1e4 * longer ** (d_k / (d_k - 2)))


def turn_anew_each_time(pieces):
    text = pieces[0][:, :0]
    for piece in pieces:
        text = torch.cat([text, piece], dim=1)
        turned = turn_at_the_end([text])
    return turned


def turn_by_complex_speeds(pieces):
    K = torch.cat(list(pieces), dim=-2)
    S, d_k = K.shape[-2:]
    i = torch.arange(d_k // 2)
    speeds = 10_000.0 ** (-2 * i / d_k) * max(1.0, S / 4) ** (-2 * i / (d_k - 2))
    angle = torch.arange(S)[:, None] * speeds
    Z = torch.complex(*K.chunk(2, -1)) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([Z.real, Z.imag], -1)


def round_where_it_is_not_zero(X):
    scale = X.abs().amax(-1, keepdim=True) / 127
    return torch.where(scale > 0, (X / scale).round() * scale, X)


def round_with_a_floor(X):
    scale = (X.abs().amax(-1, keepdim=True) / 127).clamp(min=1e-30)
    return torch.round(X / scale) * scale


def round_row_by_row(X):
    rows = X.reshape(-1, X.shape[-1]).clone()
    for row in rows:
        if row.any():
            scale = row.abs().max() / 127
            row.copy_((row / scale).round() * scale)
    return rows.reshape(X.shape)


def next_word_flat(model, ids):
    logits, targets = model(ids[:, :-1]), ids[:, 1:]
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))


def next_word_of_all(model, ids):
    logits = model(ids)[:, :-1]
    return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


def next_word_by_hand(model, ids):
    log_p = model(ids[:, :-1]).log_softmax(-1)
    return -log_p.gather(-1, ids[:, 1:, None]).mean()


def loss_with_weights(logits, targets):
    losses = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
    real = (targets != PAD).to(losses.dtype)
    return (losses * real).sum() / real.sum()


def loss_by_gather(logits, targets):
    log_p = F.log_softmax(logits, -1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return -log_p[targets.ne(PAD)].mean()


def smooth_row_by_row(targets, V, smoothing):
    rows = []
    for target in targets.tolist():
        row = [smoothing / (V - 2)] * V
        row[PAD], row[target] = 0.0, 1 - smoothing
        rows.append(row)
    return torch.tensor(rows)


def smooth_by_one_hot(targets, V, smoothing):
    right = F.one_hot(targets, V)
    other = 1 - right
    other[:, PAD] = 0
    return (1 - smoothing) * right + smoothing * other / other.sum(1, keepdim=True)


def smooth_by_scatter(targets, V, smoothing):
    P = torch.ones(targets.numel(), V).mul_(smoothing / (V - 2))
    P.index_fill_(1, torch.tensor([PAD]), 0)
    return P.scatter_(1, targets.unsqueeze(1), 1.0 - smoothing)


def smoothed_by_pytorch(logits, targets, smoothing):
    return F.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=PAD, label_smoothing=smoothing
    )


def smoothed_with_weights(logits, targets, smoothing):
    log_p = logits.log_softmax(-1)
    right = log_p.gather(-1, targets[..., None])[..., 0]
    losses = -(1 - smoothing) * right - smoothing * log_p.mean(-1)
    return losses.masked_fill(targets == PAD, 0).sum() / (targets != PAD).sum()


def smoothed_as_distribution(logits, targets, smoothing):
    keep, V = targets.flatten() != PAD, logits.shape[-1]
    P = F.one_hot(targets.flatten()[keep], V) * (1 - smoothing) + smoothing / V
    return F.cross_entropy(logits.reshape(-1, V)[keep], P)


def pieces_weighted(logits, targets, sizes):
    total, start = 0, 0
    for size in sizes:
        piece = slice(start, start + size)
        total = total + F.cross_entropy(logits[piece], targets[piece]) * size / sum(sizes)
        start += size
    return total


def pieces_by_hand(logits, targets, sizes):
    log_p = [Z.log_softmax(-1) for Z in logits.split(sizes)]
    picked = [p.gather(1, ids[:, None]) for p, ids in zip(log_p, targets.split(sizes), strict=True)]
    return -torch.cat(picked).mean()


def labels_row_by_row(ids, eos):
    labels = ids.clone()
    for row in labels:
        ends = (row == eos).nonzero().flatten()
        if len(ends):
            row[ends[0] + 1 :] = -100
    return labels


def labels_behind_an_end(ids, eos):
    labels = ids.clone()
    labels[:, 1:][(ids[:, 1:] == eos) & (ids[:, :-1] == eos)] = -100
    return labels


def validate_and_restore(model, X, Y):
    modes = {module: module.training for module in model.modules()}
    try:
        model.eval()
        with torch.inference_mode():
            return ((model(X) - Y) ** 2).mean()
    finally:
        for module, mode in modes.items():
            module.training = mode


@torch.no_grad()
def validate_if_needed(model, X, Y):
    training = model.training
    if training:
        model.eval()
    loss = nn.MSELoss()(model(X), Y)
    if training:
        model.train()
    return loss


def validate_a_copy(model, X, Y):
    with torch.no_grad():
        return F.mse_loss(copy.deepcopy(model).eval()(X), Y)


def rate_by_steps(warm_up, epochs, batches):
    return [min(1.0, step / warm_up) for step in range(1, epochs * batches + 1)]


def rate_by_a_counter(warm_up, epochs, batches):
    shares, step = [], 0
    for _ in range(epochs):
        for _ in range(batches):
            step += 1
            shares.append(step / warm_up if step < warm_up else 1.0)
    return shares


def places_one_by_one(real):
    places = torch.zeros(real.shape, dtype=torch.long)
    for n, row in enumerate(real.tolist()):
        place = 0
        for t, there in enumerate(row):
            if there:
                places[n, t] = place
                place += 1
    return places


def places_as_in_transformers(real):
    places = real.long().cumsum(-1) - 1
    return places.masked_fill(real == 0, 1)


def drop_the_second_start(text, template, encode):
    ids = encode(template(text))
    return ids[1:] if ids[0] == ids[1] else ids


def beams_by_sorting(scores, logits):
    k, V = logits.shape
    total = (F.log_softmax(logits, -1) + scores.unsqueeze(1)).reshape(-1)
    order = total.argsort(descending=True)[:k]
    return total[order], torch.div(order, V, rounding_mode="floor"), order.remainder(V)


def beams_by_logsumexp(scores, logits):
    total = logits - logits.logsumexp(1, keepdim=True) + scores[:, None]
    best, place = torch.topk(total.view(-1), len(scores))
    parents, words = torch.unravel_index(place, total.shape)
    return best, parents, words


def beams_two_by_two(scores, logits):
    k = len(logits)
    best, words = (logits.log_softmax(1) + scores[:, None]).topk(min(k, logits.shape[1]), dim=1)
    parents = torch.arange(k)[:, None].expand_as(words)
    kept = best.flatten().topk(k).indices.flip(0)
    return best.flatten()[kept], parents.flatten()[kept], words.flatten()[kept]


def search_with_a_heap(next_log_p, width, max_len):
    beams, done = [(0.0, ())], []
    for _ in range(max_len):
        options = []
        for score, words in beams:
            for word, log_p in next_log_p(words).items():
                new = (score + log_p, (*words, word))
                (done if word == "." else options).append(new)
        beams = heapq.nlargest(width, options)
    return max(done, key=lambda beam: beam[0] / len(beam[1]))[1]


def search_with_a_penalty(next_log_p, width, max_len):
    beams, done = [([], 0.0)], []
    for _ in range(max_len):
        options = []
        for words, score in beams:
            for word, log_p in next_log_p(tuple(words)).items():
                options.append(([*words, word], score + log_p))
        done.extend(beam for beam in options if beam[0][-1] == ".")
        beams = [beam for beam in options if beam[0][-1] != "."]
        beams = sorted(beams, key=lambda beam: beam[1], reverse=True)[:width]
    return tuple(max(done, key=lambda beam: beam[1] / ((5 + len(beam[0])) / 6) ** 0.6)[0])


def search_among_all(next_log_p, width, max_len):
    beams = [((), 0.0)]
    for _ in range(max_len):
        grown = [beam for beam in beams if beam[0][-1:] == (".",)]
        for words, score in beams:
            if words[-1:] != (".",):
                grown += [((*words, w), score + p) for w, p in next_log_p(words).items()]
        beams = sorted(grown, key=lambda beam: beam[1])[-width:]
    ended = [beam for beam in beams if beam[0][-1] == "."] or beams
    return max(ended, key=lambda beam: beam[1] / len(beam[0]) ** 0.7)[0]


def search_until_done(next_log_p, width, max_len):
    beams, best = {(): 0.0}, {}
    while beams and max_len:
        grown = {
            (*words, word): score + log_p
            for words, score in beams.items()
            for word, log_p in next_log_p(words).items()
        }
        best |= {words: score / len(words) for words, score in grown.items() if words[-1] == "."}
        alive = [words for words in grown if words[-1] != "."]
        beams = {words: grown[words] for words in sorted(alive, key=grown.get)[-width:]}
        max_len -= 1
    return max(best, key=best.get)


def translate_and_restore(model, X):
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.inference_mode():
            return model(X)
    finally:
        for module, mode in modes:
            module.training = mode


@torch.no_grad()
def translate_if_needed(model, X):
    if not model.training:
        return model(X)
    Y = model.eval()(X)
    model.train()
    return Y


def translate_with_a_copy(model, X):
    with torch.no_grad():
        return copy.deepcopy(model).eval()(X)


def write_by_recursion(encode, next_word, source, length):
    def write(words, memory):
        if len(words) == length:
            return words
        return write([*words, next_word(words, memory)], memory)

    return write([], encode(source))


def write_when_needed(encode, next_word, source, length):
    words, memory = [], None
    while len(words) < length:
        memory = encode(source) if memory is None else memory
        words += [next_word(words, memory)]
    return words


def write_into_a_copy(encode, next_word, source, length):
    memory, words = encode(source), []
    for _ in range(length):
        words = words + [next_word(list(words), memory)]
    return words


def keys_row_by_row(project, X):
    rows = [project(x[None]) for x in X]
    return [torch.cat(rows[: t + 1]) for t in range(len(X))]


def keys_of_single_words(project, X):
    rows, steps = [], []
    for x in X:
        rows.append(project(x))
        steps.append(torch.stack(rows))
    return steps


def keys_into_a_table(project, X):
    steps, K = [], None
    for x in X.split(1):
        K = project(x) if K is None else torch.vstack([K, project(x)])
        steps.append(K)
    return steps


def heads_of_one_product(X, W, num_heads, product=torch.mm):
    return torch.stack(product(X, W).chunk(num_heads, dim=-1))


def heads_by_view(X, W, num_heads, product=torch.mm):
    return product(X, W).view(len(X), num_heads, -1).permute(1, 0, 2)


def total_without_graph(losses):
    with torch.no_grad():
        total = 0.0
        for loss in losses:
            total += loss
    return total


def pad_with_pytorch(sentences, size):
    groups = [sentences[i : i + size] for i in range(0, len(sentences), size)]
    pad = functools.partial(nn.utils.rnn.pad_sequence, batch_first=True, padding_value=float(PAD))
    return [pad([torch.tensor(ids) for ids in group]) for group in groups]


def pad_into_zeros(sentences, size):
    batches = []
    for i in range(0, len(sentences), size):
        group = sentences[i : i + size]
        batch = torch.full((len(group), max(len(ids) for ids in group)), PAD)
        for row, ids in zip(batch, group, strict=True):
            row[: len(ids)] = torch.tensor(ids)
        batches.append(batch)
    return batches


def longest_first(sentences, size):
    return pad_into_zeros(sorted(sentences, key=len, reverse=True), size)


def rotate_half(X, places):
    d_k = X.shape[-1]
    speed = 1.0 / 10000 ** (torch.arange(0, d_k, 2) / d_k)
    angle = torch.outer(places, speed).repeat(1, 2)
    half = torch.cat([-X[..., d_k // 2 :], X[..., : d_k // 2]], -1)
    return X * angle.cos() + half * angle.sin()


def rotate_as_complex(X, places):
    half = X.shape[-1] // 2
    angle = places[:, None] / 10000 ** (torch.arange(half) / half)
    Z = torch.complex(X[..., :half], X[..., half:]) * torch.polar(torch.ones(angle.shape), angle)
    return torch.cat([Z.real, Z.imag], -1)


def rotate_by_matrices(X, places):
    half, columns = X.shape[-1] // 2, list(X.unbind(-1))
    for i in range(half):
        angle = places * 10000 ** (-i / half)
        x, y = X[..., i], X[..., i + half]
        columns[i] = x * angle.cos() - y * angle.sin()
        columns[i + half] = y * angle.cos() + x * angle.sin()
    return torch.stack(columns, -1)


def attend_by_distance_by_hand(Q, K, V, places):
    E = rotate(Q, places) @ rotate(K, places).mT / math.sqrt(Q.shape[-1])
    return E.masked_fill(causal_mask(E.shape[-1]), -torch.inf).softmax(-1) @ V


def attend_by_distance_with_mask(Q, K, V, places):
    Q, K = rotate(Q, places), rotate(K, places)
    seen = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).tril()
    return F.scaled_dot_product_attention(Q, K, V, seen)


def attend_by_distance_row_by_row(Q, K, V, places):
    Q, K = rotate(Q, places) / Q.shape[-1] ** 0.5, rotate(K, places)
    rows = range(Q.shape[1])
    return torch.cat([(Q[:, [t]] @ K[:, : t + 1].mT).softmax(-1) @ V[:, : t + 1] for t in rows], 1)


def norm_then_rotate(Q, gain, places):
    size = (Q.square().mean(-1, keepdim=True) + 1e-6).rsqrt()
    return rotate(Q * size * gain, places)


def norm_module_then_rotate(Q, gain, places):
    norm = nn.RMSNorm(Q.shape[-1])
    norm.weight = nn.Parameter(torch.ones(Q.shape[-1]))
    return rotate(norm(Q) * gain, places)


def length_then_rotate(Q, gain, places):
    Q = F.normalize(Q, dim=-1) * math.sqrt(Q.shape[-1])
    return rotate(gain * Q, places)


def slopes(E):
    h = E.shape[-3]
    return torch.tensor([2 ** (-8 * m / h) for m in range(1, h + 1)]).view(h, 1, 1)


def far_costs(E):
    t = torch.arange(E.shape[-1])
    return E - slopes(E) * (t[:, None] - t).abs()


def far_costs_in_the_past(E):
    t = torch.arange(E.shape[-1])
    return E + slopes(E) * (t - t[:, None]).clamp(max=0)


def size_by_norm(X, eps=1e-6):
    return X * (X.norm(dim=-1, keepdim=True) ** 2 / X.shape[-1] + eps) ** -0.5


def size_by_module(X, eps=1e-6):
    norm = nn.RMSNorm(X.shape[-1], eps=eps, elementwise_affine=False)
    return norm(X)


def window_by_lists(T, window):
    return torch.tensor([[not 0 <= t - s < window for s in range(T)] for t in range(T)])


def window_by_distance(T, window):
    distance = torch.arange(T)[:, None] - torch.arange(T)
    return (distance < 0) | (distance >= window)


def window_by_triangles(T, window):
    ones = torch.ones(T, T)
    return ~(ones.tril() - ones.tril(-window)).bool()


def pack_by_hand(documents):
    N, T = documents.shape
    places, mask = torch.zeros(N, T, dtype=torch.long), torch.ones(N, T, T, dtype=torch.bool)
    for n in range(N):
        for t in range(T):
            if t and documents[n, t] == documents[n, t - 1]:
                places[n, t] = places[n, t - 1] + 1
            mask[n, t, t - int(places[n, t]) : t + 1] = False
    return places, mask


def pack_by_equality(documents):
    same = documents.unsqueeze(2) == documents.unsqueeze(1)
    seen = same & ~causal_mask(documents.shape[1])
    return seen.sum(-1) - 1, ~seen


def pack_for_all_heads(documents):
    other = documents[:, :, None].ne(documents[:, None, :])
    mask = torch.logical_or(other, causal_mask(len(other[0])))
    return [places_of(documents, documents), mask[:, None]]


def keys_from_there_on(kept, K):
    S, T = kept.shape[1], K.shape[1]
    return torch.cat((kept, rotate(K, torch.arange(S, S + T))), 1)


def keys_of_all(kept, K):
    both = torch.cat([torch.zeros_like(kept), K], -2)
    return torch.cat(
        [kept, rotate(both, torch.arange(both.shape[-2]))[..., kept.shape[-2] :, :]], -2
    )


def keys_one_by_one(kept, K):
    for k in K.split(1, -2):
        kept = torch.cat([kept, rotate(k, torch.tensor([kept.shape[-2]]))], -2)
    return kept


def text_by_cross_entropy(logits, ids):
    nats = F.cross_entropy(logits[:, :-1].mT, ids[:, 1:], ignore_index=PAD, reduction="none")
    return -nats.sum(dim=1)


def text_by_loops(logits, ids):
    log_p, sums = F.log_softmax(logits, -1), []
    for n, row in enumerate(ids.tolist()):
        total = 0 * log_p[n].sum()
        for t, token in enumerate(row[1:]):
            total = total + (log_p[n, t, token] if token != PAD else 0)
        sums.append(total)
    return torch.stack(sums)


def text_by_one_hot(logits, ids):
    hot = F.one_hot(ids[:, 1:], logits.shape[-1]).to(logits)
    hot[..., PAD] = 0
    return (hot * (logits[:, :-1] - logits[:, :-1].logsumexp(-1, keepdim=True))).sum((1, 2))


def moved_from_a_copy(make_policy, step, X):
    policy = make_policy()
    reference = copy.deepcopy(policy)
    step(policy)
    return (policy(X).log_softmax(-1) - reference(X).log_softmax(-1)).detach()


def moved_from_what_was_said(make_policy, step, X):
    policy = make_policy()
    with torch.no_grad():
        said = F.log_softmax(policy(X), dim=-1).clone()
        step(policy)
        return F.log_softmax(policy(X), dim=-1) - said


def moved_from_cloned_weights(make_policy, step, X):
    policy = make_policy()
    saved = {name: W.detach().clone() for name, W in policy.state_dict().items()}
    step(policy)
    now = torch.log_softmax(policy(X), -1).detach()
    policy.load_state_dict(saved)
    return now - torch.log_softmax(policy(X), -1).detach()


def gain_of_all_tokens(log_p, advantages, real):
    return -(advantages[:, None] * log_p)[real].sum() / len(log_p)


def gain_text_by_text(log_p, advantages, real):
    gains = [A * row[kept].sum() for row, A, kept in zip(log_p, advantages, real, strict=True)]
    return -torch.stack(gains).mean()


def gain_by_einsum(log_p, advantages, real):
    return -torch.einsum("nt,n,nt->", log_p, advantages, real.to(log_p)) / log_p.shape[0]


RIGHT_ANSWERS = {
    "look_up_words": [
        look_up_one_by_one,
        assert_then_look_up,
        lambda ids, table: F.one_hot(ids, len(table)).to(table.dtype) @ table,
        F.embedding,
    ],
    "scores_that_learn": [
        lambda Q, K: torch.einsum("ntd,nsd->nts", Q, K),
        lambda Q, K: torch.bmm(Q, K.mT),
        lambda Q, K: (Q[:, :, None] * K[:, None]).sum(-1),
    ],
    "first_scores": [
        Page("""
            from math import sqrt
            import torch
            X = torch.arange(96.0).view(2, 3, 16)
            E = torch.bmm(X, X.mT).div(sqrt(16))
        """),
        Page("""
            import torch
            X = torch.arange(96.0).reshape(2, 3, 16)
            E = X @ X.transpose(1, 2) / 16 ** 0.5
        """),
        Page("""
            import math as m
            import torch
            X = torch.linspace(0, 95, 96).unflatten(0, (2, 3, 16))
            E = torch.einsum("ntd,nsd->nts", X, X) / m.sqrt(X.shape[-1])
        """),
    ],
    "inputs_and_their_mask": [
        shift_then_mask,
        lambda target: (target[:, :-1], causal_mask(target.shape[1])[:-1, :-1]),
        lambda target: [target[:, :-1], ~torch.ones(2 * (target.size(1) - 1,)).tril().bool()],
    ],
    "transform_each_word": [
        lambda X, W_1, W_2: F.linear(F.linear(X, W_1.T).relu(), W_2.T),
        lambda X, W_1, W_2: (X @ W_1).clamp(min=0) @ W_2,
        lambda X, W_1, W_2: torch.einsum("ntf,fd->ntd", nn.ReLU()(torch.matmul(X, W_1)), W_2),
    ],
    "mask_with_a_help_text": [
        Page('''
            def hide(scores, causal_mask):
                """causal_mask - a T by T boolean mask, where True means do not attend."""
                return scores.masked_fill(causal_mask, -float("inf"))
        '''),
        Page('''
            import torch
            def hide(scores, causal_mask):
                """Hide what may not be seen.

                causal_mask: a T by T boolean mask, where True means do not attend.
                """
                return torch.where(causal_mask, torch.tensor(float("-inf")), scores)
        '''),
        Page("""
            def hide(scores, causal_mask):
                return scores.masked_fill(causal_mask, float("-inf"))
            hide.__doc__ = "causal_mask - a T by T boolean mask; True means do not attend."
        """),
    ],
    "judge_a_translator": [
        count_right,
        lambda translate, train, test: fmean(translate(x) == y for x, y in test),
        lambda translate, train, test: len([1 for x, y in test if translate(x) == y]) / len(test),
    ],
    "compute_attention_matrix": [exp_by_hand, attend_to_identity, minus_a_million, log_weights],
    "weights_of_scores": [
        lambda E, hidden: E.masked_fill(hidden, float("-inf")).softmax(-1),
        lambda E, hidden: E.double().masked_fill(hidden, -1e9).softmax(-1).to(E.dtype),
        lambda E, hidden: F.softmax(E.masked_fill(hidden, -1e4), dim=-1),
        lambda E, hidden: F.softmax(torch.where(hidden, -65504.0, E), dim=-1),
    ],
    "causal_mask": [
        lambda T: torch.arange(T)[:, None] < torch.arange(T)[None, :],
        lambda T: ~torch.tril(torch.ones(T, T)).bool(),
        lambda T: nn.Transformer.generate_square_subsequent_mask(T) != 0,
        lambda T: torch.tensor([[s > t for s in range(T)] for t in range(T)]),
    ],
    "attend_to_the_past": [
        past_by_hand,
        lambda Q, K, V, hidden: F.scaled_dot_product_attention(Q, K, V, hidden.logical_not()),
        lambda Q, K, V, hidden: F.scaled_dot_product_attention(
            Q, K, V, torch.zeros(hidden.shape).masked_fill(hidden, -torch.inf)
        ),
    ],
    "read_what_is_written": [
        lambda X: F.scaled_dot_product_attention(X, X, X, is_causal=True),
        read_row_by_row,
        past_with_bias,
    ],
    "slice_vertically": [
        lambda X, width: torch.stack(X.split(width, dim=-1), dim=-3),
        lambda X, width: X.unflatten(-1, (-1, width)).movedim(-2, -3),
        lambda X, width: torch.stack(
            [X[..., i : i + width] for i in range(0, X.shape[-1], width)], -3
        ),
    ],
    "unslice_vertically": [
        lambda X: torch.cat(X.unbind(-3), dim=-1),
        lambda X: X.movedim(-3, -2).flatten(-2),
        lambda X: X.transpose(-3, -2).contiguous().view(*X.shape[:-3], X.shape[-2], -1),
    ],
    "scores_of_all_heads": [scores_head_by_head, scores_by_einsum, scores_of_small_numbers],
    "attend_with_heads": [attend_head_by_head, attend_all_at_once, attend_by_einsum],
    "project_by_hand": [
        lambda linear, X: F.linear(X, linear.weight),
        lambda linear, X: (linear.weight @ X.T).T,
        lambda linear, X: torch.einsum("td,od->to", X, linear.weight),
        lambda linear, X: F.linear(X, linear.weight, linear.bias),
    ],
    "weights_of_one_head": [
        lambda attention, X: attention(X, X, X, average_attn_weights=False, need_weights=True)[1],
        lambda attention, X: attention.forward(
            query=X, key=X, value=X, average_attn_weights=False
        )[-1],
        heads_by_hand,
    ],
    "attend_by_projections": [
        project_and_mix,
        project_by_index,
        lambda W, X: W[-1](F.scaled_dot_product_attention(*[W_i(X) for W_i in W[:3]])),
    ],
    "look_across": [
        lambda attend, X, memory: attend(X, *[memory] * 2),
        lambda attend, X, memory: functools.partial(attend, X)(memory, memory),
        lambda attend, target, source: attend(target, source, source),
    ],
    "layer_for_a_batch": [
        SequenceFirst,
        lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True),
        lambda: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(8, 2, 16, 0, batch_first=True), 1, enable_nested_tensor=False
        ),
    ],
    "layer_norm": [
        centre_and_scale,
        var_mean,
        lambda X, eps=1e-5: nn.LayerNorm(X.shape[-1], eps, elementwise_affine=False)(X),
    ],
    "rebuild_a_layer": [layer_in_small_steps, layer_of_blocks, lambda layer, X: layer(X)],
    "rebuild_a_new_layer": [layer_in_small_steps, layer_of_blocks, lambda layer, X: layer(X)],
    "add_what_was_found": [
        residual_in_place,
        pre_norm_in_words,
        lambda X, norm, work: torch.add(work(norm(X)), X),
    ],
    "step_as_in_the_paper": [
        post_norm_in_words,
        lambda X, norm, work: norm(torch.add(X, work(X))),
        lambda X, norm, work: norm(work(X).add(X)),
    ],
    "decode_a_step": [
        decode_in_words,
        decode_in_a_loop,
        lambda X, memory, attend: (lambda Y: Y + attend(Y, memory))(X + attend(X, X)),
    ],
    "sinusoidal_positions": [
        positions_by_exp,
        positions_in_pairs,
        positions_in_lists,
        positions_of_even_width,
        refuse_odd_widths,
    ],
    "bound_of_first_weights": [
        lambda fan_in, fan_out: (6 / (fan_in + fan_out)) ** 0.5,
        lambda fan_in, fan_out: math.sqrt(3) * math.sqrt(2 / (fan_in + fan_out)),
        lambda fan_in, fan_out: torch.tensor(6 / (fan_in + fan_out)).sqrt(),
    ],
    "chances_of_words": [
        lambda logits: F.softmax(logits, -1),
        lambda logits: logits.log_softmax(-1).exp(),
        lambda logits: (logits - logits.logsumexp(-1, keepdim=True)).exp(),
    ],
    "add_the_places": [
        places_sentence_by_sentence,
        lambda X, P: X + P[: X.size(1)].transpose(0, 1),
        lambda X, P: X + P.squeeze(1)[torch.arange(X.shape[1])],
    ],
    "stack_of_layers": [
        Chain,
        GrowingList,
        lambda make, n: nn.Sequential(*[make() for _ in range(n)]),
    ],
    "layers_of_a_model": [
        modules_appended,
        lambda make, n: nn.ModuleList(make() for _ in range(n)),
        lambda make, n: nn.ModuleList(map(lambda _: copy.deepcopy(make()), range(n))),
    ],
    "load_a_table": [tie_after_loading, tie_a_frozen_start, tie_by_copying],
    "attention_with_an_adapter": [WithAdapter, adapt_by_hook, adapt_forward],
    "next_token_loss": [next_word_flat, next_word_of_all, next_word_by_hand],
    "token_loss": [
        loss_with_weights,
        loss_by_gather,
        lambda logits, targets: F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=PAD
        ),
    ],
    "smoothed_targets": [smooth_row_by_row, smooth_by_one_hot, smooth_by_scatter],
    "smoothed_loss": [smoothed_by_pytorch, smoothed_with_weights, smoothed_as_distribution],
    "logits_of_a_pair": [
        lambda model, source, target: model(*(source, target)),
        lambda model, source, target: functools.partial(model, source)(target),
        lambda model, en, fr: model(en, fr),
    ],
    "loss_in_pieces": [
        pieces_weighted,
        pieces_by_hand,
        lambda logits, targets, sizes: F.cross_entropy(logits, targets),
    ],
    "loss_of_outputs": [
        lambda outputs, targets: F.nll_loss(outputs.log_softmax(-1), targets),
        lambda Z, targets: (Z.logsumexp(1) - Z[range(len(Z)), targets]).mean(),
        lambda outputs, targets: nn.CrossEntropyLoss()(outputs, targets),
    ],
    "labels_of_a_batch": [
        labels_row_by_row,
        labels_behind_an_end,
        lambda ids, eos: torch.where(
            F.pad((ids == eos).long().cummax(1).values[:, :-1], (1, 0)).bool(), -100, ids
        ),
    ],
    "loss_on_other_sentences": [validate_and_restore, validate_if_needed, validate_a_copy],
    "shares_of_the_rate": [
        rate_by_steps,
        rate_by_a_counter,
        lambda warm_up, epochs, batches: (
            (torch.arange(1, epochs * batches + 1) / warm_up).clamp(max=1).tolist()
        ),
    ],
    "places_of_tokens": [
        places_one_by_one,
        places_as_in_transformers,
        lambda real: (real.cumsum(1) - 1) * real,
    ],
    "ids_of_a_question": [
        drop_the_second_start,
        lambda text, template, encode: encode(*[template(text), False]),
        lambda question, template, encode: (lambda prompt: encode(prompt, False))(
            template(question)
        ),
    ],
    "beam_step": [beams_by_sorting, beams_by_logsumexp, beams_two_by_two],
    "beam_search": [
        search_with_a_heap,
        search_with_a_penalty,
        search_among_all,
        search_until_done,
    ],
    "extend_the_cache": [
        lambda cache, parents, new: torch.cat([cache.index_select(0, parents), new], 1),
        lambda cache, parents, new: torch.stack(
            [torch.vstack([cache[p], new[b]]) for b, p in enumerate(parents.tolist())]
        ),
        lambda cache, parents, new: torch.concat((cache[parents, :], new), dim=-2),
    ],
    "place_the_newest": [
        lambda X_new, table, step: X_new + table[step],
        lambda X_new, table, step: X_new + table.narrow(0, step, X_new.shape[1]),
        lambda X_new, table, step: X_new + F.embedding(torch.tensor([step]), table),
    ],
    "logits_of_the_beams": [
        lambda Y, W: (Y @ W.T)[:, 0],
        lambda Y, W: F.linear(Y[:, -1], W),
        lambda Y, W: torch.einsum("ntd,vd->nv", Y, W),
    ],
    "translate_a_sentence": [translate_and_restore, translate_if_needed, translate_with_a_copy],
    "score_a_system": [
        lambda ours, references: sacrebleu.corpus_bleu(ours, [references]).score,
        lambda ours, references: sacrebleu.BLEU(tokenize="13a").corpus_score(
            ours, [references]
        ).score,
        lambda ours, references: sacrebleu.metrics.BLEU(references=[references])
        .corpus_score(ours, None)
        .score,
    ],
    "write_a_translation": [write_by_recursion, write_when_needed, write_into_a_copy],
    "keys_while_writing": [keys_row_by_row, keys_of_single_words, keys_into_a_table],
    "logits_while_writing": [
        lambda Y, W: F.linear(Y[:, -1], W),
        lambda Y, W: (Y[:, -1:] @ W.T).squeeze(1),
        lambda Y, W: torch.stack([W @ y for y in Y[:, -1]]),
    ],
    "vectors_of_words": [
        F.embedding,
        lambda ids, W: W.index_select(0, ids),
        lambda ids, W: torch.stack([W[id] for id in ids.tolist()]),
    ],
    "queries_of_all_heads": [
        heads_of_one_product,
        heads_by_view,
        lambda X, W, num_heads, product=None: (X @ W).unflatten(1, (num_heads, -1)).movedim(1, 0),
    ],
    "layers_of_a_stack": [
        modules_appended,
        lambda make, n: nn.ModuleList([make() for _ in range(n)]),
        lambda make, n: nn.ModuleList(map(lambda _: make(), range(n))),
    ],
    "loss_of_a_test_set": [
        total_without_graph,
        lambda losses: sum(float(loss) for loss in losses),
        lambda losses: math.fsum(loss.detach().item() for loss in losses),
        lambda losses: torch.stack([loss.detach() for loss in losses]).sum(),
    ],
    "batches_of_sentences": [pad_with_pytorch, pad_into_zeros, longest_first],
    "rotate": [rotate_half, rotate_as_complex, rotate_by_matrices],
    "attend_by_distance": [
        attend_by_distance_by_hand,
        attend_by_distance_with_mask,
        attend_by_distance_row_by_row,
    ],
    "queries_by_place": [norm_then_rotate, norm_module_then_rotate, length_then_rotate],
    "scores_by_distance": [
        far_costs,
        far_costs_in_the_past,
        lambda E: E + slopes(E) * torch.arange(E.shape[-1]),
    ],
    "repeat_heads": [
        lambda K, times: torch.stack([K] * times, 2).flatten(1, 2),
        lambda K, times: K[:, torch.arange(K.shape[1] * times) // times],
        lambda K, times: K[:, :, None].expand(-1, -1, times, -1, -1).reshape(
            len(K), -1, *K.shape[2:]
        ),
    ],
    "rms_norm": [
        size_by_norm,
        size_by_module,
        lambda X, eps=1e-6: X * torch.rsqrt(X.pow(2).mean(-1, keepdim=True) + eps),
    ],
    "window_mask": [window_by_lists, window_by_distance, window_by_triangles],
    "pack_documents": [pack_by_hand, pack_by_equality, pack_for_all_heads],
    "keys_with_a_cache": [keys_from_there_on, keys_of_all, keys_one_by_one],
    "keys_of_a_longer_text": [turn_at_the_end, turn_anew_each_time, turn_by_complex_speeds],
    "scores_of_latents": [
        lambda Q, C, W_K: torch.einsum("nhtd,hld,nsl->nhts", Q, W_K, C) / math.sqrt(Q.shape[-1]),
        lambda Q, C, W_K: Q @ (C.unsqueeze(1) @ W_K / Q.shape[-1] ** 0.5).mT,
        lambda Q, C, W_K: (Q / Q.size(-1) ** 0.5 @ W_K.mT) @ C[:, None].transpose(-1, -2),
    ],
    "round_keys": [round_where_it_is_not_zero, round_with_a_floor, round_row_by_row],
    "loss_of_labels": [next_word_flat, next_word_of_all, next_word_by_hand],
    "log_probability_of_texts": [text_by_cross_entropy, text_by_loops, text_by_one_hot],
    "moved_from_the_reference": [
        moved_from_a_copy,
        moved_from_what_was_said,
        moved_from_cloned_weights,
    ],
    "loss_of_written_texts": [gain_of_all_tokens, gain_text_by_text, gain_by_einsum],
}  # fmt: skip

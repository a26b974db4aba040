"""One token at a time."""

import itertools

import torch
from torch import nn

from tutor.check.exercise import WRITE, Exercise


class _Writer(nn.Module):
    """A decoder that writes one path, if it is asked as it should be: its logits at a place
    depend on the place and on the token there."""

    def __init__(self, path, vocab_size=9, max_len=12):
        super().__init__()
        Z = torch.randn(max_len, vocab_size, vocab_size)  # place, token, next token
        for t, (token, following) in enumerate(itertools.pairwise(path)):
            Z[t, token, following] = 6.0
        self.register_buffer("Z", Z)

    def forward(self, ids):
        return self.Z[torch.arange(ids.shape[1]), ids]  # (N, T, V)


def _greedy(
    model, bos, eos, longest, row=-1, alone=False, stop=True, keep=True, wanted=torch.argmax
):
    """Greedy decoding, with switches for its mistakes."""
    ids = torch.tensor([[bos]])
    while ids.shape[1] < longest:
        Z = model(ids[:, -1:] if alone else ids)  # (1, T, vocab_size)
        best = wanted(Z[:, row], dim=-1)
        if best == eos and not keep:
            break
        ids = torch.cat([ids, best[:, None]], dim=1)
        if best == eos and stop:
            break
    return ids


def _best_but(*forbidden):
    return lambda Z, dim: Z.index_fill(dim, torch.tensor(forbidden), -torch.inf).argmax(dim)


def _write_greedily(model, bos, eos, longest):
    return _greedy(model, bos, eos, longest)


def _cases_of_writers():
    decoder = type("Decoder", (_Writer,), {})  # its name is for the messages
    for path, longest in [
        ([2, 3], 5),
        ([2, 5, 3], 6),
        ([2, 7, 4, 8, 6, 5], 4),
        ([2, 6, 6, 4, 3, 7, 8], 9),
        ([2, 4, 3], 3),
        ([2, 5, 7], 1),
        ([2, 8, 7, 6, 8, 5, 4, 7, 6], 8),
    ]:
        yield decoder(path), 2, 3, longest
    yield decoder([1, 6, 3, 4, 5, 2]), 1, 5, 7  # other marks
    yield decoder([2, 0, 1, 2, 8, 3]), 2, 3, 8  # no token is forbidden


write_greedily = Exercise(
    name="write_greedily",
    chapter="05",
    section="A loop that writes",
    kind=WRITE,
    title="One token at a time",
    goal="Let a model write a sentence from its own words.",
    difficulty=2,
    importance=4,
    minutes=3,
    text="""\
`model(ids)` returns the logits of the next token at every place, from (1, T) to
(1, T, vocab_size). The loop stands there: it begins with `bos`, appends a token in each round, and
stops behind `eos`, or when the sentence has `longest` tokens, `bos` included. Write the line that
chooses the token.""",
    hints=(
        "Ask the model about the whole beginning, `ids`. Which row of the logits answers the "
        "question of what comes next?",
        "The last row is `[:, -1]`, of shape (1, vocab_size). The most probable token has the "
        "largest logit.",
        "`model(ids)[:, -1].argmax(dim=-1)` has the shape (1,).",
    ),
    stub='''\
def write_greedily(model, bos, eos, longest):
    """model: from ids (1, T) to logits (1, T, V). Returns ids (1, T), from bos to eos."""
    ids = torch.tensor([[bos]])  # (1, T=1)
    while ids.shape[1] < longest:
        best = ...  # (1,), one line: the most probable next token
        ids = torch.cat([ids, best[:, None]], dim=1)
        if best == eos:
            break
    return ids
''',
    solution="""\
def write_greedily(model, bos, eos, longest):
    ids = torch.tensor([[bos]])  # (1, T=1)
    while ids.shape[1] < longest:
        best = model(ids)[:, -1].argmax(dim=-1)  # (1,)
        ids = torch.cat([ids, best[:, None]], dim=1)
        if best == eos:
            break
    return ids
""",
    reference=_write_greedily,
    cases=_cases_of_writers,
    mistakes=(
        (
            "You take the answer of row 0 each time; what comes next stands in the last row.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest, row=0),
        ),
        (
            "You hand the model the last token alone; it needs the whole beginning.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest, alone=True),
        ),
        (
            "Your loop goes on behind `eos`.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest, stop=False),
        ),
        (
            "Your sentence ends before `eos`; append it, then stop.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest, keep=False),
        ),
        (
            "Your sentences get one token too long: `longest` counts `bos` as well.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest + 1),
        ),
        (
            "Your loop stops one token too early: a sentence may have `longest` tokens.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest - 1),
        ),
        (
            "Your loop runs for `longest` rounds and does not look for `eos`; `bos` counts as a "
            "token, and `eos` ends the sentence.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest + 1, stop=False),
        ),
        (
            "You take the least probable token.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest, wanted=torch.argmin),
        ),
        *(
            (
                "You forbid a token: the most probable one is wanted, whatever its id.",
                lambda model, bos, eos, longest, wanted=wanted: _greedy(
                    model, bos, eos, longest, wanted=wanted
                ),
            )
            for wanted in (_best_but(0), _best_but(0, 1), _best_but(0, 1, 2), _best_but(2))
        ),
        (
            "`bos` is missing at the front of what you return.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest)[:, 1:],
        ),
        (
            "You return the sentence without its batch dimension.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest)[0],
        ),
        (
            "You return a list; a tensor of shape (1, T) is wanted.",
            lambda model, bos, eos, longest: _greedy(model, bos, eos, longest)[0].tolist(),
        ),
    ),
    wrong={
        """\
def write_greedily(model, bos, eos, longest):
    ids = [bos]
    while len(ids) < longest and (len(ids) == 1 or ids[-1] != eos):
        ids.append(model(torch.tensor([ids]))[0, 0].argmax().item())
    return torch.tensor([ids])
""": "row 0 each time",
        """\
def write_greedily(model, bos, eos, longest):
    ids = [bos]
    token = bos
    while len(ids) < longest:
        token = model(torch.tensor([[token]]))[0, -1].argmax().item()
        ids.append(token)
        if token == eos:
            break
    return torch.tensor([ids])
""": "last token alone",
        """\
def write_greedily(model, bos, eos, longest):
    ids = torch.full((1, 1), bos)
    for _ in range(longest - 1):
        p = model(ids)[:, -1].softmax(dim=-1)
        ids = torch.cat([ids, p.argmax(-1, keepdim=True)], dim=-1)
    return ids
""": "goes on behind",
        """\
def write_greedily(model, bos, eos, longest):
    ids = torch.full((1, 1), bos)
    for _ in range(longest - 1):
        token = model(ids)[0, -1].argmax()
        if token == eos:
            return ids
        ids = torch.cat([ids, token.view(1, 1)], dim=1)
    return ids
""": "ends before `eos`",
        """\
def write_greedily(model, bos, eos, longest):
    ids = torch.full((1, 1), bos)
    for _ in range(longest):
        token = model(ids)[0, -1].argmax()
        ids = torch.cat([ids, token.view(1, 1)], dim=1)
        if token == eos:
            break
    return ids
""": "one token too long",
        """\
def write_greedily(model, bos, eos, longest):
    ids = [bos]
    for _ in range(longest):
        ids += [int(model(torch.tensor([ids]))[0, -1].argmax())]
    return torch.tensor([ids])
""": "does not look for `eos`",
        """\
def write_greedily(model, bos, eos, longest):
    ids = [bos]
    while len(ids) < longest:
        ids += [int(model(torch.tensor([ids]))[0, -1].sort().indices[0])]
        if ids[-1] == eos:
            break
    return torch.tensor([ids])
""": "least probable",
        """\
def write_greedily(model, bos, eos, longest):
    ids, written = torch.tensor([[bos]]), []
    while len(written) < longest - 1:
        written.append(model(ids)[0, -1].argmax())
        ids = torch.cat([ids, written[-1].view(1, 1)], dim=1)
        if written[-1] == eos:
            break
    return torch.tensor([written], dtype=torch.int64)
""": "`bos` is missing",
        """\
def write_greedily(model, bos, eos, longest):
    ids = [bos]
    while len(ids) < longest:
        ids.append(model(torch.tensor([ids]))[0, -1].argmax().item())
        if ids[-1] == eos:
            break
    return ids
""": "a list",
        """\
def write_greedily(model, bos, eos, longest):
    ids = torch.tensor([[bos]])
    while ids.shape[1] < longest:
        best = model(ids)[:, -1].argmax(dim=-1)
        ids = torch.cat([ids, best], dim=1)
        if best == eos:
            break
    return ids
""": "RuntimeError",
        """\
def write_greedily(model, bos, eos, longest):
    ids = torch.tensor([[bos]])
    while ids.shape[1] < longest:
        z = model(ids)[:, -1].clone()
        z[:, 0] = float("-inf")
        ids = torch.cat([ids, z.argmax(dim=-1)[:, None]], dim=1)
        if ids[0, -1] == eos:
            break
    return ids
""": "You forbid a token",
    },
    right=(
        """\
def write_greedily(model, bos, eos, longest):
    ids = [bos]
    while len(ids) < longest:
        ids.append(model(torch.tensor([ids]))[0, -1].argmax().item())
        if ids[-1] == eos:
            break
    return torch.tensor([ids])
""",
        """\
@torch.no_grad()
def write_greedily(model, bos, eos, longest):
    ids = torch.full((1, 1), bos)
    for _ in range(longest - 1):
        log_p = model(ids)[:, -1:].log_softmax(dim=-1)
        ids = torch.cat([ids, log_p.topk(1).indices[..., 0]], dim=1)
        if (ids[:, -1] == eos).all():
            return ids
    return ids
""",
        """\
def write_greedily(model, bos, eos, longest):
    def go_on(ids):
        if ids.shape[1] >= longest:
            return ids
        ids = F.pad(ids, (0, 1), value=model(ids)[0, -1].argmax().item())
        return ids if ids[0, -1] == eos else go_on(ids)
    return go_on(torch.tensor([[bos]]))
""",
    ),
)

"""The three rules in tensors."""

import torch

from tutor import decoding
from tutor.check.exercise import WRITE, Exercise
from tutor.exercises.chapter_08.shared import one_child_each, step_of, step_with
from tutor.text.tokenizer import EOS, PAD


def _grow(total, log_p, ended):
    return step_with(total, step_of(log_p, ended))


def _grow_with(step_of_ended):
    """A step in which a finished beam's proposals, (V,), are made by a function of its own."""

    def grow(total, log_p, ended):
        rows = [step_of_ended(row) if e else row for row, e in zip(log_p, ended, strict=True)]
        return step_with(total, torch.stack(rows))

    return grow


def _itself(token, cost=0.0):
    """A finished beam proposes itself, by one token."""

    def propose(row):
        return torch.full_like(row, -torch.inf).index_fill(0, torch.tensor([token]), cost)

    return propose


def _numbers_exchanged(total, log_p, ended):
    best, parents, tokens = _grow(total, log_p, ended)
    return best, tokens, parents


def _one_child_chosen_first(total, log_p, ended):
    """Another token where the total is minus infinity."""
    step, tokens = step_of(log_p, ended).max(-1)
    best, parents = (total + step).sort(descending=True)
    return best, parents, tokens[parents]


def _divided_by_beams(total, log_p, ended):
    best, parents, tokens = _grow(total, log_p, ended)
    at = parents * log_p.shape[1] + tokens
    return best, at // len(total), at % len(total)


def _unfolded(beam_of, token_of):
    """The right proposals, unfolded by functions of (place, k, V)."""

    def answer(total, log_p, ended):
        best, parents, tokens = _grow(total, log_p, ended)
        k, V = log_p.shape
        at = parents * V + tokens
        return best, beam_of(at, k, V), token_of(at, k, V)

    return answer


def _finished_are_kept(total, log_p, ended):
    """All finished beams stay, and live ones compete for the places that are left."""
    k, V = log_p.shape
    done = ended.nonzero().flatten()
    live = (total[:, None] + log_p.masked_fill(ended[:, None], -torch.inf)).flatten()
    best, at = live.topk(k - len(done))
    best, order = torch.cat([best, total[done]]).sort(descending=True)
    parents = torch.cat([at // V, done])[order]
    return best, parents, torch.cat([at % V, torch.full_like(done, PAD)])[order]


def _steps_alone(total, log_p, ended):
    best, parents, tokens = _grow(total, log_p, ended)
    return best - total[parents], parents, tokens


def _cases_of_pools():
    words = torch.tensor([[-9.0, -9.0, -9.0, 0.7, 0.3], [-9.0, -9.0, -9.0, 0.4, 0.6]]).log()
    words = words.nan_to_num(nan=-torch.inf)  # [PAD], [UNK] and [BOS] are never written
    yield torch.tensor([0.5, 0.4]).log(), words, torch.tensor([False, False])
    yield torch.tensor([0.3, 0.4]).log(), words, torch.tensor([True, False])
    yield torch.tensor([-1.0, -5.0]), words, torch.tensor([False, True])  # the live one has both
    yield torch.tensor([0.0, -torch.inf]), words, torch.tensor([False, False])  # the first step
    for V, ended in [
        (6, [False]), (5, [True, False]), (9, [False, True, False]), (7, [True, False, True]),
        (8, [False, False, False, False]), (11, [False, True, False, True, False]),
    ]:  # fmt: skip
        logits = torch.randn(len(ended), V)
        logits[:, :EOS] = -torch.inf
        yield -2 - 2 * torch.rand(len(ended)), logits.log_softmax(-1), torch.tensor(ended)


def _silences_at_any_total(answer):
    """Whose children are chosen beside a live beam that is most improbable."""
    log_p = torch.tensor([[-torch.inf] * 3 + [-0.7, -0.7]] * 2)
    total, ended = torch.tensor([-1.0, -40_000.0]), torch.tensor([True, False])
    _, parents, _ = answer(total, log_p, ended)
    return parents


def _pad_too_late(total, log_p, ended):
    best, parents, tokens = step_with(total, log_p)
    return best, parents, tokens.masked_fill(ended[parents], PAD)


grow_beams = Exercise(
    name="grow_beams",
    chapter="08",
    section="The same in tensors",
    kind=WRITE,
    title="The three rules in tensors",
    goal="Grow live beams and keep finished ones, in one pool.",
    difficulty=4,
    importance=5,
    minutes=16,
    text="""\
Write one step of beam search for **one** sentence with $k$ beams, with $\\alpha = 0$, so that sums
are compared. The three rules:

1. Every live beam proposes itself with each token added. (The log-probabilities of `[PAD]`, `[UNK]`
   and `[BOS]` are $-\\infty$ already.)
2. A beam that has ended proposes itself, unchanged, at no cost. One more `[PAD]` (id 0) says so.
3. The best $k$ proposals stay, the best first.

The steps have names, but they are shuffled. Put them in order first:

- *choose*: the best $k$ of all $k \\cdot V$ proposals, laid out in one row;
- *silence*: all proposals of a finished beam become impossible;
- *unfold*: from each place in the row, find the beam and the token;
- *itself*: a finished beam's `[PAD]` costs nothing;
- *add*: a proposal's total is that of its parent and its own step.

Leave the arguments as they are: work on copies. No gradients are asked for.""",
    hints=(
        "The order is: silence, itself, add, choose, unfold. Each is one line.",
        "Work on a copy, `step = log_p.clone()`. `step[ended]` are the rows of finished beams, and "
        "`step[ended, PAD]` one entry of each. `total[:, None]` has the shape (k, 1).",
        "`best, at = (total[:, None] + step).flatten().topk(k)`. Place `at` of the row is token "
        "`at % V` of beam `at // V`.",
    ),
    setup="from tutor.text.tokenizer import EOS, PAD\n",
    stub='''\
def grow_beams(total, log_p, ended):
    """One step of beam search for one sentence, ranked by the sum.

    total: float tensor (k,), log-probabilities of the beams
    log_p: float tensor (k, V), log-probabilities of their next tokens
    ended: bool tensor (k,), True where a beam has finished
    Returns new totals: float tensor (k,), parents: int tensor (k,), tokens: int tensor (k,)
    """
    raise NotImplementedError
''',
    solution='''\
def grow_beams(total, log_p, ended):
    """One step of beam search for one sentence, ranked by the sum.

    total: float tensor (k,), log-probabilities of the beams
    log_p: float tensor (k, V), log-probabilities of their next tokens
    ended: bool tensor (k,), True where a beam has finished
    Returns new totals: float tensor (k,), parents: int tensor (k,), tokens: int tensor (k,)
    """
    k, V = log_p.shape
    step = log_p.clone()
    step[ended] = -torch.inf
    step[ended, PAD] = 0.0
    best, at = (total[:, None] + step).flatten().topk(k)  # (k,) each
    return best, at // V, at % V
''',
    reference=_grow,
    cases=_cases_of_pools,
    forbidden=(decoding.grow,),
    mistakes=(
        (
            "Finished beams go on: they are extended behind their [EOS].",
            lambda total, log_p, ended: step_with(total, log_p),
        ),
        (
            "Finished beams fall out of the pool. They propose themselves, unchanged.",
            _grow_with(lambda row: torch.full_like(row, -torch.inf)),
        ),
        (
            "A finished beam proposes itself once for every token of the vocabulary, and fills the "
            "pool with copies. One proposal is enough.",
            _grow_with(torch.zeros_like),
        ),
        (
            "A finished beam adds another [EOS]. It adds [PAD].",
            _grow_with(_itself(EOS)),
        ),
        (
            "A finished beam pays for its [PAD]: its total must stay as it is, so the step costs "
            "0, the logarithm of 1.",
            _grow_with(_itself(PAD, cost=-1.0)),
        ),
        (
            "A finished beam gains from its [PAD]: a probability of 1 is a logarithm of 0.",
            _grow_with(_itself(PAD, cost=1.0)),
        ),
        (
            "A finished beam's [PAD] costs nothing, but it may still be extended by other tokens.",
            _grow_with(lambda row: row.index_fill(0, torch.tensor([PAD]), 0.0)),
        ),
        (
            "Parents and tokens are exchanged: `//` gives the beam, `%` the token.",
            _numbers_exchanged,
        ),
        (
            "You divide by the number of beams. A row of proposals is V wide: divide by V.",
            _divided_by_beams,
        ),
        (
            "The tokens are right. But you find the beam with `// k`, as on the page, where a beam "
            "has k proposals. Here it has V.",
            _unfolded(lambda at, k, V: at // k, lambda at, k, V: at % V),
        ),
        (
            "The beams are right. But you find the token with `% k`: a beam has V proposals here.",
            _unfolded(lambda at, k, V: at // V, lambda at, k, V: at % k),
        ),
        (
            "You find beams with `% k` and tokens with `// k`, as if proposals lay column by "
            "column. Those of one beam lie side by side, V of them.",
            _unfolded(lambda at, k, V: at % k, lambda at, k, V: at // k),
        ),
        (
            "Finished beams always keep their place. But they compete: two better children of a "
            "live beam push a finished one out.",
            _finished_are_kept,
        ),
        (
            "You choose rightly, but return the steps without their parents' totals.",
            _steps_alone,
        ),
        (
            "Your order is turned over: the best comes first.",
            lambda *given: tuple(x.flip(0) for x in _grow(*given)),
        ),
        (
            "Each beam has one child here. Both survivors may come from one beam: choose among all "
            "k · V proposals.",
            one_child_each,
        ),
        (
            "Each beam has one child here. Both survivors may come from one beam: choose among all "
            "k · V proposals.",
            _one_child_chosen_first,
        ),
        (
            "The parent's total is missing: a proposal's total is that of its parent and its step.",
            lambda total, log_p, ended: _grow(torch.zeros_like(total), log_p, ended),
        ),
        (
            "The parent's total counts twice.",
            lambda total, log_p, ended: _grow(2 * total, log_p, ended),
        ),
        (
            "The parent's total counts twice: the score that was compared contains it.",
            lambda total, log_p, ended: (
                _grow(total, log_p, ended)[0] + total[_grow(total, log_p, ended)[1]],
                *_grow(total, log_p, ended)[1:],
            ),
        ),
        (
            "Totals are multiplied; logarithms are added.",
            lambda total, log_p, ended: step_with(
                torch.zeros_like(total), total[:, None] * step_of(log_p, ended)
            ),
        ),
        (
            "The token of a finished beam is overwritten with [PAD], but its total has paid for "
            "another. Make the step cost 0 before you choose.",
            _pad_too_late,
        ),
        (
            "0 and minus infinity are exchanged: [PAD] must cost nothing, and all other tokens "
            "must be impossible.",
            _grow_with(
                lambda row: torch.zeros_like(row).index_fill(0, torch.tensor([PAD]), -torch.inf)
            ),
        ),
        (
            "Those are probabilities. Add log-probabilities.",
            lambda total, log_p, ended: (
                _grow(total, log_p, ended)[0].exp(),
                *_grow(total, log_p, ended)[1:],
            ),
        ),
        (
            "You silence the live beams and let the finished ones go on. It is the other way "
            "round.",
            lambda total, log_p, ended: _grow(total, log_p, ~ended),
        ),
    ),
    properties=(
        (
            "With ordinary totals your answer is right. But totals can be lower than the number "
            "that silences a finished beam, and then it is extended: use minus infinity.",
            _silences_at_any_total,
        ),
    ),
    wrong={
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    best, at = torch.topk((total.unsqueeze(1) + log_p).view(-1), k)
    return best, at // V, at % V
""": "Finished beams go on",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    scores = total[:, None] + log_p
    scores = scores.masked_fill(ended[:, None], float("-inf"))
    best, at = scores.view(-1).topk(k)
    return best, at // V, at % V
""": "fall out of the pool",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = torch.where(ended[:, None], torch.tensor(0.0), log_p)
    best, at = (total[:, None] + step).view(-1).topk(k)
    return best, at // V, at % V
""": "with copies",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    for b in range(k):
        if ended[b]:
            step[b] = float("-inf")
            step[b, EOS] = 0
    best, at = (total[:, None] + step).view(-1).topk(k)
    return best, at // V, at % V
""": "another [EOS]",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[ended] = -torch.inf
    step[ended, PAD] = 1.0
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at // V, at % V
""": "gains from its [PAD]",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[ended, PAD] = 0.0
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at // V, at % V
""": "extended by other tokens",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    only_pad = torch.full((V,), -torch.inf)
    only_pad[PAD] = 0
    step = torch.where(ended[:, None], only_pad, log_p)
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at % V, at // V
""": "exchanged",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    only_pad = torch.full((V,), -torch.inf)
    only_pad[PAD] = 0
    step = torch.where(ended[:, None], only_pad, log_p)
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at // k, at % k
""": "divide by V",
        """\
def grow_beams(total, log_p, ended):
    step, tokens = log_p.max(dim=-1)
    step = torch.where(ended, torch.zeros_like(step), step)
    tokens = torch.where(ended, torch.full_like(tokens, PAD), tokens)
    best, parents = (total + step).topk(len(total))
    return best, parents, tokens[parents]
""": "one child",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[ended] = -torch.inf
    step[ended, PAD] = 0.0
    best, at = step.flatten().topk(k)
    return best, at // V, at % V
""": "total is missing",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[ended] = -torch.inf
    step[ended, PAD] = 0.0
    best, at = (total[:, None] + step).flatten().topk(k)
    return best + total[at // V], at // V, at % V
""": "counts twice",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    log_p[ended] = -torch.inf
    log_p[ended, PAD] = 0.0
    best, at = (total[:, None] + log_p).flatten().topk(k)
    return best, at // V, at % V
""": "changes its argument `log_p`",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.masked_fill(ended, -torch.inf)
    step[:, PAD] = step[:, PAD].masked_fill(ended, 0.0)
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at // V, at % V
""": "RuntimeError",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    best, at = (total[:, None] + log_p).flatten().topk(k)
    parents, tokens = at // V, at % V
    tokens[ended[parents]] = PAD
    return best, parents, tokens
""": "has paid for another",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[ended] = 0.0
    step[ended, PAD] = -torch.inf
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at // V, at % V
""": "0 and minus infinity",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    p = log_p.exp()
    p[ended] = 0.0
    p[ended, PAD] = 1.0
    best, at = (total.exp()[:, None] * p).flatten().topk(k)
    return best, at // V, at % V
""": "Those are probabilities",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[~ended] = -torch.inf
    step[~ended, PAD] = 0.0
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at // V, at % V
""": "silence the live beams",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[ended] = -torch.inf
    step[ended][:, PAD] = 0.0
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at // V, at % V
""": "fall out of the pool",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[ended] = -100.0
    step[ended, PAD] = 0.0
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at // V, at % V
""": "use minus infinity",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[ended] = -20.0
    step[ended, PAD] = 0.0
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at // V, at % V
""": "use minus infinity",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[ended] = -1e4
    step[ended, PAD] = 0.0
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at // V, at % V
""": "use minus infinity",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[ended] = -torch.inf
    step[ended, PAD] = 0.0
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at // k, at % V
""": "The tokens are right",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[ended] = -torch.inf
    step[ended, PAD] = 0.0
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at // V, at % k
""": "The beams are right",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[ended] = -torch.inf
    step[ended, PAD] = 0.0
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at % k, at // k
""": "column by column",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[ended] = -torch.inf
    step[ended, PAD] = 0.0
    best, at = (total[:, None] + step).flatten().topk(k)
    return step.flatten()[at], at // V, at % V
""": "without their parents",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[ended] = -torch.inf
    step[ended, PAD] = 0.0
    best, at = (total[:, None] + step).flatten().topk(k)
    return best.flip(0), (at // V).flip(0), (at % V).flip(0)
""": "turned over",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    done = ended.nonzero().flatten()
    scores = (total[:, None] + log_p).masked_fill(ended[:, None], -torch.inf)
    best, at = scores.flatten().topk(k - len(done))
    best = torch.cat([best, total[done]])
    parents = torch.cat([at // V, done])
    tokens = torch.cat([at % V, torch.full_like(done, PAD)])
    order = best.argsort(descending=True)
    return best[order], parents[order], tokens[order]
""": "always keep their place",
    },
    right=(
        """\
def grow_beams(total, log_p, ended):
    proposals = []
    for b in range(len(total)):
        if ended[b]:
            proposals.append((total[b].item(), b, PAD))
        else:
            for v in range(EOS, log_p.shape[1]):
                proposals.append(((total[b] + log_p[b, v]).item(), b, v))
    proposals.sort(reverse=True)
    best, parents, tokens = zip(*proposals[:len(total)])
    return torch.tensor(best), torch.tensor(parents), torch.tensor(tokens)
""",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    is_pad = torch.arange(V) == PAD
    itself = torch.zeros(V).masked_fill(~is_pad, -torch.inf)
    scores = total.unsqueeze(1) + torch.where(ended.unsqueeze(1), itself, log_p)
    best, at = scores.view(-1).sort(descending=True)
    at = at[:k]
    parents = torch.div(at, V, rounding_mode="floor")
    return best[:k], parents, at - parents * V
""",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    live = total[:, None] + log_p.masked_fill(ended[:, None], -torch.inf)
    done = total.masked_fill(~ended, -torch.inf)
    best, at = torch.cat([live.flatten(), done]).topk(k)
    parents = torch.where(at < k * V, at // V, at - k * V)
    tokens = torch.where(at < k * V, at % V, PAD)
    return best, parents, tokens
""",
    ),
)

"""Trained, and then ignored."""

from tutor.check.exercise import EXPLAIN, Exercise

why_the_adapter_is_gone = Exercise(
    name="why_the_adapter_is_gone",
    chapter="11",
    section="Where PyTorch surprises",
    kind=EXPLAIN,
    title="Trained, and then ignored",
    goal="Explain why a module may compute something else in use than in training.",
    difficulty=3,
    importance=3,
    minutes=10,
    text="""\
A colleague replaces `linear1` of every `nn.TransformerEncoderLayer` by a module of her own, a
linear layer with an adapter, and trains the adapters. The loss falls. Then she calls
`model.eval()`, translates inside `torch.no_grad()`, and gets the translations from before the
training, without any error. **Explain** in three to five sentences what happened, how she can show
it, and what she can do.""",
    hints=(
        "What differs between her training and her translating, apart from dropout?",
        "Under which conditions does an encoder layer not call its own parts?",
        "The chapter counts calls. It also names two things that switch the path off.",
    ),
    stub='''\
why_the_adapter_is_gone = """

"""
''',
    solution='''\
why_the_adapter_is_gone = """
In eval mode and without gradients a batch-first encoder layer takes PyTorch's fast path: it does
not call linear1, but hands linear1.weight and linear1.bias to one fused function. Her adapter is
code in forward, and nobody calls that, so only the old weights have a say. In training the layer
calls its parts, which is why the loss fell. She can show it by counting the calls of her module, or
by comparing the layer's results with and without gradients, both in eval mode. To mend it she can
switch the path off with torch.backends.mha.set_fastpath_enabled(False), or hang a forward hook on
any part of the layer.
"""
''',
    because="Nobody has judged it yet: compare it with the rubric beside the solution.",
    wrong={
        "why_the_adapter_is_gone = 'Dropout is off in eval mode.'": "at least 12 words",
        "why_the_adapter_is_gone = {'fast': 'path'}": "as a text in quotes",
        "why_the_adapter_is_gone = 5": "as a text in quotes",
    },
    rubric="""\
- 1 point: in `eval` mode and without gradients the layer takes another path and does not call its
  own parts.
- 1 point: it reads the parameters (`weight` and `bias` of `linear1`) and hands them to a fused
  function, so what the new module does in `forward` has no say; in training it has.
- 1 point: a test: count calls, or compare results with and without gradients (both in `eval` mode).
- 1 point: a remedy: `torch.backends.mha.set_fastpath_enabled(False)`, or a forward hook on a
  part. (A test of her own in `train` mode, or dropout as the reason, gets no point.)""",
)

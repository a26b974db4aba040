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
    minutes=8,
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
    wrong={
        "why_the_adapter_is_gone = 'Dropout is off in eval mode.'": "at least 12 words",
        "why_the_adapter_is_gone = {'fast': 'path'}": "as a text in quotes",
        "why_the_adapter_is_gone = 5": "as a text in quotes",
        '''\
why_the_adapter_is_gone = """
In training mode dropout is on and in eval mode it is off. Dropout is the reason, and she can show
it by translating in training mode, where the results are different.
"""
''': "cannot be the reason",
        '''\
why_the_adapter_is_gone = """
The adapters were not registered as parameters of the model, so the optimizer left them alone and
the translations stay the same as before.
"""
''': "were trained",
        '''\
why_the_adapter_is_gone = """
Calling model.eval() resets the weights to those of the pretrained layer. She has to save the
model after training and load it again before she translates.
"""
''': "change no parameter",
    },
    right=(
        '''\
why_the_adapter_is_gone = """
Dropout is not the reason, and the adapters were trained, since the loss fell. In eval mode
without gradients the layer does not call linear1; a fused function reads its weight and bias.
Compare eval results with and without no_grad. set_fastpath_enabled(False) mends it.
"""
''',
        '''\
why_the_adapter_is_gone = """
It looks as if the adapters were never saved, or as if eval reset the weights. Neither is so.
Without gradients an encoder layer in eval mode takes a fast path around its parts and uses
linear1.weight. Count the calls of her module: 0. A forward hook on a part keeps the layer off
that path.
"""
''',
    ),
    points=(
        "In `eval` mode and without gradients the layer takes the fast path and does not call "
        "its own parts.",
        "It hands the weight and bias of `linear1` to a fused function, so what her module "
        "does in `forward` has no say.",
        "In training the layer calls its parts, which is why the loss fell.",
        "A test: count the calls, or compare results with and without gradients, both in "
        "`eval` mode.",
        "A remedy: `torch.backends.mha.set_fastpath_enabled(False)`, or a forward hook on a part.",
    ),
    misconceptions=(
        (
            r"\b(reason|cause|culprit) is( that)?( the)? dropout\b|\bdropout (is|was) (the )"
            r"?(reason|cause|culprit|to blame)\b|\bdropout (removes?d?|switch(es|ed) off|"
            r"drops?|dropped|disables?d?) (her|the) adapters?\b",
            "Dropout cannot be the reason: without it, the trained adapters would only answer "
            "more steadily.",
        ),
        (
            r"\badapters? (was|were|is|are) (?P<own>(not|never)) (really )?(saved|trained|"
            r"registered|updated)\b",
            "The adapters were trained, as the loss shows, and they are still there. The fast "
            "path does not call them.",
        ),
        (
            r"\b(no_grad|eval)(\(\))? (mode )?(resets?|restores?|undoes|reverts?|deletes?|"
            r"throws? away)\b[^.;,]{0,30}\b(weights|parameters|training|adapters?)\b",
            "`eval` and `no_grad` change no parameter. They let the layer take a path that "
            "ignores her module.",
        ),
    ),
    rubric="""\
Each of the points above counts the same. A test of hers in `train` mode, or dropout as the
reason, gets no point.""",
)

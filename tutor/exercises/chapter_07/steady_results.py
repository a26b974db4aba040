"""Two translations of one sentence."""

import torch
import torch.nn.functional as F
from torch import nn

from tutor.check.exercise import MEND, Exercise
from tutor.decoding import evaluating
from tutor.museum import EXHIBITS


class _Noise(nn.Module):
    """Drops numbers as nn.Dropout does, by a function of its own."""

    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, X):
        return F.dropout(X, self.p, self.training)


class _Model(nn.Sequential):
    """Its parts one after the other, and a little of the result dropped by itself."""

    def forward(self, X):
        return F.dropout(super().forward(X), 0.1, self.training)


def _use_a_model(answer, dropout, training, X):
    """A model that is made here, so that an answer may change its mode."""
    inner = nn.Sequential(nn.Linear(5, 5), nn.Dropout(dropout))
    model = _Model(nn.Linear(X.shape[-1], 5), _Noise(dropout), inner).train(training)
    result = answer(model, X)
    modes = [module.training for module in model.modules()]
    learns = all(p.requires_grad for p in model.parameters())
    return result, modes, [model[1].p, inner[1].p], learns, getattr(result, "requires_grad", False)


def _detached(answer):
    return lambda model, X: answer(model, X).detach()


def _attached(answer):
    return lambda model, X: answer(model, X).detach().requires_grad_()


def _no_dropout(*kinds):
    def answer(model, X):
        for module in model.modules():
            if isinstance(module, kinds):
                module.p = 0.0
        return model(X)

    return answer


def _set(chosen, back):
    """Evaluate some modules, and set some of them back: both are model -> modules."""

    def answer(model, X):
        was_training = model.training
        for module in chosen(model):
            module.training = False
        Y = model(X)
        for module in back(model):
            module.training = was_training
        return Y

    return answer


def _dropouts(model):
    return [module for module in model.modules() if isinstance(module, nn.Dropout)]


def _without_gradients(model, X):
    Y = _set(nn.Module.modules, nn.Module.modules)(model, X)
    model.requires_grad_(False)
    return Y


def _other_mode(model, X):
    was_training = model.training
    Y = model.eval()(X)
    model.train(not was_training)
    return Y


def _with_a_seed(model, X):
    torch.manual_seed(0)
    return model(X)


def _leave(mode, first=True):
    """Evaluate, before or after the work, and leave the model in a mode."""

    def answer(model, X):
        if first:
            model.eval()
        Y = model(X)
        model.train(mode)
        return Y

    return answer


def _outermost(after):
    """Set the attribute of one module, and then to `after`, or to what it was."""

    def answer(model, X):
        was_training = model.training
        model.training = False
        Y = model(X)
        model.training = was_training if after is None else after
        return Y

    return answer


_MISTAKES = (
    (
        "As it was: a model in training mode gives two results in two calls.",
        EXHIBITS["translate_a_sentence"].wrong,
    ),
    (
        "The result is right, but the model stays in evaluation mode: a training that goes on "
        "has no dropout any more.",
        _leave(False),
    ),
    (
        "The result is right, but the model is always in training mode afterwards, also when "
        "it came in evaluation mode.",
        _leave(True),
    ),
    (
        "The result is right, but the model's mode is turned over: what came in training mode "
        "leaves in evaluation mode, and the other way round.",
        _other_mode,
    ),
    (
        "`eval()` comes too late: the result was computed with dropout before.",
        _leave(False, first=False),
    ),
    (
        "`train()` switches dropout on; `eval()` switches it off.",
        lambda model, X: model.train()(X),
    ),
    (
        "A seed makes two calls equal, but dropout is still at work: numbers are missing.",
        _with_a_seed,
    ),
    (
        "You set the dropout to 0 for good: a training that goes on has none any more. Change "
        "the mode instead.",
        _no_dropout(nn.Dropout),
    ),
    (
        "You set the dropout to 0 for good: a training that goes on has none any more. Change "
        "the mode instead.",
        _no_dropout(nn.Dropout, _Noise),
    ),
    (
        "The result is right, but only the outermost module is set back, and its parts stay in "
        "evaluation mode. `model.train(was_training)` reaches all of them.",
        _set(nn.Module.modules, lambda model: [model]),
    ),
    (
        "The result is right, but some parts stay in evaluation mode. "
        "`model.train(was_training)` reaches all of them.",
        _set(nn.Module.modules, lambda model: [model, *model.children()]),
    ),
    *(
        (
            "You look for modules of the class `nn.Dropout`, and a model may drop numbers "
            "elsewhere too. `model.eval()` reaches all that it is made of.",
            _set(_dropouts, back),
        )
        for back in (_dropouts, lambda model: [], nn.Module.modules)
    ),
    *(
        (
            "You set a module and its children, and not the children of these. `model.eval()` "
            "reaches all that a model is made of.",
            _set(chosen, chosen),
        )
        for chosen in (
            nn.Module.children,
            lambda model: [model, *model.children()],
        )
    ),
    (
        "The result is right, but `requires_grad_(False)` stays: the parameters no longer "
        "learn. `no_grad` was right, and does not last.",
        _without_gradients,
    ),
    (
        "Setting `training` reaches the outermost module alone; `eval()` also reaches the "
        "dropout within.",
        _outermost(None),
    ),
    (
        "Setting `training` reaches the outermost module alone; `eval()` also reaches the "
        "dropout within.",
        _outermost(True),
    ),
    (
        "Setting `training` reaches the outermost module alone; `eval()` also reaches the "
        "dropout within.",
        _outermost(False),
    ),
)


def _mean_of(calls):
    return lambda model, X: torch.stack([model(X) for _ in range(calls)]).mean(0)


_NOISY = [
    (
        "The mean of many calls is less noisy, and dropout is still at work. A model in evaluation "
        "mode needs one call.",
        _detached(_mean_of(calls)),
    )
    for calls in (10, 20, 50, 100)
]


def _with_and_without_graph():
    """Each mistake as it is made under `no_grad`, and without it."""
    for message, mistake in _MISTAKES:
        yield message, _detached(mistake)
    yield (
        "The mode is right. But the result carries the graph of its computation along, and with it "
        "memory: `no_grad` was no mistake.",
        lambda model, X: EXHIBITS["translate_a_sentence"].mended(model, X).requires_grad_(),
    )
    for message, mistake in _MISTAKES:
        yield message, _attached(mistake)


steady_results = Exercise(
    name="steady_results",
    chapter="07",
    section="What can go wrong",
    kind=MEND,
    title="Two translations of one sentence",
    goal="Switch dropout off for a result, and leave the model as it was.",
    difficulty=2,
    importance=5,
    minutes=4,
    text="""\
Asked twice, this model gives two answers, although `no_grad` is there. **Find the mistake and mend
it.** The function is called in the middle of a training, and also when the training is over: **the
model must leave it in the mode in which it came**, training or evaluation.

(The check looks at five things. Item 0 is the result. The others are what it finds afterwards: item
1 is `training` of the model and of all its parts, item 2 the shares of numbers that are dropped.
Item 3 says whether all parameters can still learn, item 4 whether the result still has a graph for
gradients, which it does not need. Write the steps without `evaluating` of the chapter.)""",
    hints=(
        "`no_grad` switches gradients off. What else does a model do in training that has no place "
        "here?",
        "`model.eval()` switches dropout off. `model.training` tells in which mode a model is.",
        "Keep `was_training = model.training`, call `model.eval()`, and afterwards "
        "`model.train(was_training)`.",
    ),
    stub='''\
def steady_results(model, X):
    """What a model makes of X. It has a mistake: find it and mend it.

    model: nn.Module with dropout, in training or evaluation mode
    X: float tensor (N, d)
    Returns Y: float tensor (N, d_out), without dropout
    """
    with torch.no_grad():
        return model(X)
''',
    solution='''\
def steady_results(model, X):
    """What a model makes of X, without dropout; its mode is then as it was.

    model: nn.Module with dropout, in training or evaluation mode
    X: float tensor (N, d)
    Returns Y: float tensor (N, d_out), without dropout
    """
    was_training = model.training
    model.eval()
    with torch.no_grad():
        Y = model(X)
    model.train(was_training)
    return Y
''',
    because="eval() changes the mode, no_grad() does not; and the training goes on with dropout.",
    reference=EXHIBITS["translate_a_sentence"].mended,
    call=_use_a_model,
    cases=lambda: [
        (dropout, training, torch.randn(N, d))
        for dropout, training, N, d in [
            (0.5, True, 1, 2),
            (0.5, False, 1, 2),
            (0.1, True, 3, 7),
            (0.9, False, 2, 1),
        ]
    ],  # fmt: skip
    draws=True,
    forbidden=(evaluating.__wrapped__,),
    mistakes=(*_with_and_without_graph(), *_NOISY),
    wrong={
        """\
def steady_results(model, X):
    was_training = model.training
    Y = model.eval()(X)
    model.train(was_training)
    return Y
""": "carries the graph",
        """\
def steady_results(model, X):
    model.eval()
    return model(X)
""": "stays in evaluation mode",
        """\
def steady_results(model, X):
    from tutor.decoding import evaluating

    with evaluating(model):
        return model(X)
""": "calls `evaluating`",
        """\
def steady_results(model, X):
    with torch.no_grad():
        return sum(model(X) for _ in range(100)) / 100
""": "mean of many calls",
        """\
def steady_results(model, X):
    with torch.inference_mode():
        return model.forward(X)
""": "As it was",
        """\
@torch.no_grad()
def steady_results(model, X):
    model.eval()
    return model(X)
""": "stays in evaluation mode",
        """\
def steady_results(model, X):
    model.eval()
    with torch.no_grad():
        Y = model(X)
    model.train()
    return Y
""": "always in training mode",
        """\
def steady_results(model, X):
    with torch.no_grad():
        Y = model(X)
    model.eval()
    return Y
""": "too late",
        """\
def steady_results(model, X):
    torch.manual_seed(0)
    with torch.no_grad():
        return model(X)
""": "A seed makes two calls equal",
        """\
def steady_results(model, X):
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0
    with torch.no_grad():
        return model(X)
""": "for good",
        """\
def steady_results(model, X):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        Y = model(X)
    if not was_training:
        model.train()
    return Y
""": "turned over",
        """\
def steady_results(model, X):
    torch.set_grad_enabled(False)
    was_training = model.training
    Y = model.eval()(X)
    model.train(was_training)
    return Y
""": "whether gradients are computed",
        """\
def steady_results(model, X):
    model.training = False
    with torch.no_grad():
        Y = model(X)
    model.training = True
    return Y
""": "outermost module",
        """\
def steady_results(model, X):
    model.eval
    with torch.no_grad():
        return model(X)
""": "As it was",
        """\
def steady_results(model, X):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        Y = model(X)
    model.training = was_training
    return Y
""": "only the outermost module is set back",
        """\
def steady_results(model, X):
    before = [module.training for module in model.children()]
    model.eval()
    with torch.no_grad():
        Y = model(X)
    model.training = before[0]
    for module, mode in zip(model.children(), before):
        module.training = mode
    return Y
""": "some parts stay in evaluation mode",
        """\
def steady_results(model, X):
    drops = [module for module in model.modules() if isinstance(module, nn.Dropout)]
    before = [drop.training for drop in drops]
    for drop in drops:
        drop.eval()
    with torch.no_grad():
        Y = model(X)
    for drop, mode in zip(drops, before):
        drop.train(mode)
    return Y
""": "of the class `nn.Dropout`",
        """\
def steady_results(model, X):
    was_training = model.training
    for child in model.children():
        child.training = False
    with torch.no_grad():
        Y = model(X)
    for child in model.children():
        child.training = was_training
    return Y
""": "not the children of these",
        """\
def steady_results(model, X):
    was_training = model.training
    model.eval()
    model.requires_grad_(False)
    Y = model(X)
    model.train(was_training)
    return Y
""": "the parameters no longer learn",
    },
    right=(
        """\
def steady_results(model, X):
    before = model.training
    model.train(False)
    Y = model(X).detach()
    if before:
        model.train()
    return Y
""",
        """\
def steady_results(model, X):
    import copy

    with torch.no_grad():
        return copy.deepcopy(model).eval()(X)
""",
        """\
def steady_results(model, X):
    was_training = model.training
    try:
        model.eval()
        with torch.inference_mode():
            return model(X)
    finally:
        model.train(was_training)
""",
        """\
def steady_results(model, X):
    before = {module: module.training for module in model.modules()}
    with torch.no_grad():
        Y = model.eval()(X)
    for module, mode in before.items():
        module.training = mode
    return Y
""",
    ),
)

"""Are two computations the same? The proofs of all chapters, in one call."""

import torch
from torch import nn
from torch.func import functional_call

ROUNDING_STEPS = 1000  # that two equal computations may be apart


def equal(a, b):
    """Have two tensors one shape and, but for rounding, the same numbers? Returns a bool.

    They may be 1,000 rounding steps of the coarser dtype apart (about 2e-13 of a double), measured
    on the largest number of `b`, or on 1 if all are smaller. NaN equals nothing.
    """
    if a.shape != b.shape:
        return False
    if not a.numel():
        return True
    distance, allowed = difference(a, b)
    return distance <= allowed


def difference(a, b):
    """The largest difference of two tensors of one shape, and how large it may be."""
    steps = [torch.finfo(x.dtype).eps for x in (a, b) if x.is_floating_point()]
    a, b = a.detach().double(), b.detach().double()
    same = a == b  # infinities too
    distance = torch.where(same, 0.0, (a - b).abs())
    size = b[b.isfinite()].abs().max().item() if b.isfinite().any() else 0.0
    return distance.max().item(), ROUNDING_STEPS * max(steps, default=0.0) * max(1.0, size)


def agree(ours, theirs, *inputs, module=None):
    """Assert that two functions give the same results and the same gradients, and say so.

    ours, theirs: called with the inputs; each returns a tensor or a tuple of tensors.
    inputs: tensors. Those of floats are copied in double precision and get gradients, from a random
    gradient of the results; others (ids, masks) are handed on as they are.
    module: both functions are called as (module, *inputs), and the gradients of all its parameters
    are compared too.

    Raises AssertionError, with a sentence that names the place, if anything differs. The random
    state is left alone.
    """
    parameters = [] if module is None else list(module.parameters())
    names = [f"input {i}" for i, x in enumerate(inputs) if _is_float(x)]
    if module is not None:
        names += [name for name, _ in module.named_parameters()]
        ours, theirs = (_of_parameters(module, f, len(inputs)) for f in (ours, theirs))
    inputs = (*inputs, *parameters)
    results, gradients = [], []
    for function in (ours, theirs):
        given = [_leaf(x) for x in inputs]
        found = function(*given)
        found = found if isinstance(found, tuple) else (found,)
        leaves = [x for x in given if isinstance(x, torch.Tensor) and x.requires_grad]
        results.append(found)
        gradients.append(_gradients(found, leaves))
    if len(results[0]) != len(results[1]):
        raise AssertionError(f"There are {len(results[0])} results and {len(results[1])}.")
    for number, pair in enumerate(zip(*results, strict=True)):
        _same(pair, f"Result {number}" if len(results[0]) > 1 else "The result")
    for name, pair in zip(names, zip(*gradients, strict=True), strict=True):
        _same(pair, f"The gradient of {name}")
    shapes = " and ".join(str(tuple(result.shape)) for result in results[0])
    what = f"a result of shape {shapes}" if len(results[0]) == 1 else f"results of shape {shapes}"
    counts = {"input": len(names) - len(parameters), "parameter": len(parameters)}
    of = [f"{n} {what}" + "s" * (n > 1) for what, n in counts.items() if n]
    said = f", and the gradients of {' and '.join(of)}" if of else ""
    print(f"Equal: {what}{said}.")


def kept_bytes(function, *inputs):
    """How many bytes a forward pass keeps for its backward pass.

    Autograd calls the hook with every tensor that it puts away. Tensors that share their memory
    count once.
    """
    found = {}

    def put_away(X):
        found[X.untyped_storage().data_ptr()] = X  # where its numbers begin in the memory
        return X

    with torch.autograd.graph.saved_tensors_hooks(put_away, lambda X: X):
        function(*inputs)
    return sum(X.untyped_storage().nbytes() for X in found.values())


class _Call(nn.Module):
    """A function of (module, *inputs) as a module, so that PyTorch can exchange parameters."""

    def __init__(self, module, function):
        super().__init__()
        self.module, self.function = module, function

    def forward(self, *inputs):
        return self.function(self.module, *inputs)


def _of_parameters(module, function, number):
    """The function of (module, *inputs) as one of (*inputs, *parameters)."""
    call = _Call(module, function)
    names = [f"module.{name}" for name, _ in module.named_parameters()]

    def run(*given):
        parameters = dict(zip(names, given[number:], strict=True))
        return functional_call(call, parameters, given[:number])

    return run


def _is_float(x):
    return isinstance(x, torch.Tensor) and x.is_floating_point()


def _leaf(x):
    return x.detach().double().requires_grad_() if _is_float(x) else x


def _gradients(results, leaves):
    """Of the leaves, from a gradient of the results that is random and always the same."""
    results = [result for result in results if result.requires_grad]
    if not leaves:
        return []
    if not results:
        return [torch.zeros_like(leaf) for leaf in leaves]
    generator = torch.Generator().manual_seed(0)
    from_above = [
        torch.randn(r.shape, generator=generator, dtype=r.dtype).to(r.device) for r in results
    ]
    found = torch.autograd.grad(results, leaves, from_above, allow_unused=True)
    return [
        torch.zeros_like(leaf) if g is None else g for leaf, g in zip(leaves, found, strict=True)
    ]


def _same(pair, what):
    ours, theirs = pair
    if ours.shape != theirs.shape:
        raise AssertionError(f"{what} has shape {tuple(ours.shape)}, not {tuple(theirs.shape)}.")
    if not equal(ours, theirs):
        raise AssertionError(f"{what} differs by up to {difference(ours, theirs)[0]:.2g}.")

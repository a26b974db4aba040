"""A GPU that nobody has here: the device "emulated", which computes on the CPU but is not the CPU.

As on CUDA, an operation whose tensors are on both is refused, unless those of the CPU are single
numbers, indices, or copied; so are `.numpy()` and the CPU's generators. A process that imports this
module, before `tutor`, has the device: `pytest -p emulated` does.

Each tensor holds one of the CPU, `raw`, with which PyTorch's operations are done. Random numbers
are those of the CPU's default generator. Tensors of such a kind know no inference mode, and modules
move only by swapping parameters: PyTorch's limits.
"""

from contextlib import nullcontext
from functools import partial

import torch
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_map
from torch.utils.backend_registration import (
    _DummyBackendModule,
    _setup_privateuseone_for_python_backend,
)

NAME, aten = "emulated", torch.ops.aten
COPIES = (aten._to_copy.default, aten.copy_.default)
INDEXED = (aten.index.Tensor, aten.index_put_.default, aten._index_put_impl_.default)


class Emulated(torch.Tensor):
    """A tensor on the device."""

    @staticmethod
    def __new__(cls, raw):
        return torch.Tensor._make_wrapper_subclass(
            cls, raw.size(), strides=raw.stride(), storage_offset=raw.storage_offset(),
            dtype=raw.dtype, device=torch.device(NAME, 0),
        )  # fmt: skip

    def __init__(self, raw):
        self.raw = raw

    def __repr__(self):
        return f"Emulated({self.raw!r})"

    def __format__(self, how):
        return format(self.raw, how)

    def tolist(self):
        return self.raw.tolist()

    def __deepcopy__(self, memo):
        twin = self.detach().clone()
        if isinstance(self, torch.nn.Parameter):
            twin = torch.nn.Parameter(twin, self.requires_grad)
        return memo.setdefault(id(self), twin)

    def data_ptr(self):
        return self.raw.data_ptr()

    def numpy(self, *args, **kwargs):
        raise TypeError(f"can't convert {NAME} tensor to numpy: use Tensor.cpu() first")

    __array__ = numpy

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        return compute(operation, *args, **kwargs or {})


def compute(operation, *args, **kwargs):
    """Do an operation on the CPU; what it returns is on the device unless it was to leave it."""
    ours, others = [], []

    def raw(x):
        if isinstance(x, Emulated):
            ours.append(x)
            return x.raw
        if isinstance(x, torch.Tensor) and x.dim():
            others.append(x)
        return x

    raw_args, raw_kwargs = tree_map(raw, (args, kwargs))
    if operation in INDEXED and isinstance(args[0], Emulated):  # an index may be the CPU's
        others = [x for x in others if any(x is value for value in args[2:])]
    if ours and others and operation not in COPIES:
        raise RuntimeError(f"Expected all tensors on one device, {NAME} or cpu: {operation}")
    if kwargs.get("generator") is not None:
        raise RuntimeError(f"Expected a generator of {NAME}, not of cpu: {operation}")
    leaves = operation is aten.copy_.default and not isinstance(args[0], Emulated)
    if kwargs.get("device") is not None:
        leaves = torch.device(kwargs["device"]).type != NAME
        raw_kwargs["device"] = kwargs["device"] if leaves else "cpu"
    if "pin_memory" in kwargs:
        raw_kwargs["pin_memory"] = False
    found = operation(*raw_args, **raw_kwargs)
    if leaves:
        return found
    found = tree_map(lambda x: Emulated(x) if isinstance(x, torch.Tensor) else x, found)
    return return_and_correct_aliasing(operation, args, kwargs, found)


def in_short(operation, *args, **kwargs):
    """What autocast does with a matrix product, as on the CPU."""
    kind = torch.get_autocast_dtype(NAME)
    args = tree_map(lambda x: x.to(kind) if getattr(x, "dtype", None) == torch.float32 else x, args)
    with torch.autocast(NAME, enabled=False):
        return operation(*args, **kwargs)


class Module(_DummyBackendModule):
    """What PyTorch asks of a device's module."""

    def get_amp_supported_dtype(self):
        return [torch.bfloat16, torch.float16]


_setup_privateuseone_for_python_backend(NAME, backend_module=Module())
libraries = [torch.library.Library(name, "IMPL") for name in ("_", "aten")]
libraries[0].fallback(compute, "PrivateUse1")  # what has no tensor yet, such as aten::empty
libraries[0].fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
# Of PyTorch's own ways for these, some resize an empty tensor, and some want to see memory.
OWN = "arange arange.start arange.start_step eye eye.m randperm copy_ _local_scalar_dense"
PRODUCTS = "mm bmm addmm baddbmm matmul linear"
for names, run, key in ((OWN, compute, "PrivateUse1"), (PRODUCTS, in_short, "AutocastPrivateUse1")):
    for name in names.split():
        packet, _, overload = name.partition(".")
        operation = getattr(getattr(aten, packet), overload or "default")
        libraries[1].impl(name, partial(run, operation), key)
torch.__future__.set_swap_module_params_on_conversion(True)
torch.inference_mode = lambda mode=True: torch.no_grad() if mode else nullcontext()

"""Several processes that train one model, as `torchrun` starts them (chapter 16b).

Each of them holds the whole model, reads its share of every batch, and gets the mean of all
gradients from PyTorch's DistributedDataParallel: gloo carries it between CPUs, NCCL between GPUs.
Without torchrun there is one process, and nothing here changes what it does.
"""

import os
from contextlib import contextmanager

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from tutor.attention import PAD
from tutor.devices import device


@contextmanager
def joined():
    """Join the processes that torchrun started, while this context lasts."""
    if not distributed.is_torchelastic_launched() or os.environ.get("WORLD_SIZE") == "1":
        yield
        return
    on_gpu = device().type == "cuda"
    if on_gpu:
        own, gpus = int(os.environ["LOCAL_RANK"]), torch.cuda.device_count()
        if own >= gpus:
            raise ValueError(f"There are {gpus} GPUs here: start at most so many processes.")
        torch.cuda.set_device(own)
    # What is said between the processors themselves needs no GPU to wait for.
    distributed.init_process_group("cpu:gloo,cuda:nccl" if on_gpu else "gloo")
    try:
        yield
    finally:
        distributed.destroy_process_group()


def world_size():
    """How many processes train together."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


def rank():
    """Which of them this is, counted from 0; number 0 speaks and writes for all."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def is_first():
    """Whether this process speaks for all: known before they have joined, and after."""
    return not distributed.is_torchelastic_launched() or os.environ.get("RANK") == "0"


def any_of(flag):
    """Whether `flag` is true in any process; all of them have to ask."""
    if world_size() == 1:
        return flag
    flags = torch.tensor([int(flag)])
    distributed.all_reduce(flags, distributed.ReduceOp.MAX)
    return bool(flags)


def from_first(number):
    """The whole number that process 0 has; all of them have to ask."""
    if world_size() == 1:
        return number
    numbers = torch.tensor([number if rank() == 0 else 0])
    distributed.broadcast(numbers, 0)
    return int(numbers)


def gather(tensor):
    """The CPU tensors of all processes, a list in order; all of one shape and dtype."""
    if world_size() == 1:
        return [tensor]
    tensors = [torch.empty_like(tensor) for _ in range(world_size())]
    distributed.all_gather(tensors, tensor)
    return tensors


class BatchLoss(torch.nn.Module):
    """The loss as a module: DistributedDataParallel averages gradients of what it calls itself."""

    def __init__(self, model, loss):
        super().__init__()
        self.model = model
        self.loss = loss

    def forward(self, batch, smoothing):
        return self.loss(self.model, batch, smoothing)


def share(model, loss):
    """`loss` as all processes compute it together; `loss` itself where there is one process."""
    return SharedLoss(model, loss) if world_size() > 1 else loss


class SharedLoss:
    """The mean loss of a batch over all processes, each of which reads every K-th sentence.

    Called as `loss` is, (model, batch, smoothing), with the whole batch in every process. The
    value is the loss of the whole batch. Its gradient is that of the own share, times K and the
    share of the target tokens in it: the mean over K processes is the gradient of the whole batch.
    """

    def __init__(self, model, loss):
        self.module = DistributedDataParallel(BatchLoss(model, loss))

    def __call__(self, model, batch, smoothing):
        share = type(batch)(*(ids[rank() :: world_size()] for ids in batch))
        tokens = (share.target_out != PAD).sum()
        if not len(share.source):  # fewer sentences than processes: read one, count nothing
            share = type(batch)(*(ids[:1] for ids in batch))
        loss = self.module(share, smoothing)
        part = loss * (tokens.to(loss.dtype) / (batch.target_out != PAD).sum())
        whole = part.detach().clone()
        distributed.all_reduce(whole)
        part = part * world_size()
        return part + (whole - part).detach()

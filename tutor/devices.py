"""Where a model works: on a GPU where there is one."""

import os

import torch


def device():
    """The torch.device that the environment variable TUTOR_DEVICE names, such as cpu or cuda:1.

    If it is unset or empty: a GPU with CUDA where PyTorch finds one, else the CPU. Raises
    ValueError for a device that is not there.
    """
    name = os.environ.get("TUTOR_DEVICE")
    if not name:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch.ones(1, device=name).item()
    except Exception:  # each kind of device has its own
        raise ValueError(
            f"TUTOR_DEVICE is {name!r}, but PyTorch finds no such device here: name one that it "
            "finds, such as cpu, or unset the variable."
        ) from None
    return torch.device(name)

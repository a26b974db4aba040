"""What a process has loaded before an answer runs in it, so that its time is the answer's own."""

import torch
from torch import nn

import course.grading.apart  # noqa: F401
import tutor.evaluation  # noqa: F401

torch.set_num_threads(1)  # more would not outlive a fork
layer = nn.TransformerEncoderLayer(2, 2, 2, batch_first=True)
nn.TransformerEncoder(layer, 1)(torch.zeros(1, 2, 2), None, torch.tensor([[False, True]]))
torch.optim.SGD(layer.parameters()).step()

"""The model in other people's forms: `pytorch.py` (chapter 11) and `onnx.py` (chapter 14)."""

from tutor.exchange.pytorch import PyTorchTransformer, from_pytorch, to_pytorch

__all__ = ["PyTorchTransformer", "from_pytorch", "to_pytorch"]

"""The model in other forms: `pytorch.py` (chapter 14), `onnx.py` and `huggingface.py` (15)."""

from tutor.exchange.pytorch import PyTorchTransformer, from_pytorch, to_pytorch

__all__ = ["PyTorchTransformer", "from_pytorch", "to_pytorch"]

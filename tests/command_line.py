"""The command line within a test's own process, and what several tests of it begin with."""

import io
import sys
import warnings

import torch

from tutor import Transformer, TransformerConfig, Translator
from tutor.__main__ import main
from tutor.text.tokenizer import Tokenizer

TWENTY = {  # for a toy: as many of each as there are words
    "en": "cat dog bird horse man woman girl boy child teacher".split(),
    "es": "gato perro pájaro caballo hombre señor niño chico bebé maestro".split(),
}
DOES = {"en": "eats runs sleeps sings jumps".split(), "es": "come corre duerme canta salta".split()}


def run_here(arguments, monkeypatch, text=b""):
    """The exit code of the command line in this process, which is left as it was."""
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    precision = torch.get_float32_matmul_precision()
    try:
        return main(list(map(str, arguments)))
    except SystemExit as end:
        return end.code
    finally:
        torch.set_float32_matmul_precision(precision)


def write_toy(folder, texts=(), size=260):
    """Write a model folder that translates into nonsense, quickly; returns `folder`."""
    torch.manual_seed(0)
    config = TransformerConfig(size, d_model=8, num_heads=2, d_ff=16, num_layers=1, max_len=40)
    Translator(Transformer(config), Tokenizer.train(texts, size)).save(folder)
    return folder

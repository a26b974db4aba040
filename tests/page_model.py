"""The model in a page beside the one in PyTorch: the same questions to both."""

import base64

import lab
import numpy as np
import torch

from tutor.exchange.page import bundle, weights
from tutor.text.tokenizer import BOS

ASK = "([method, ...args]) => model[method](...args)"
NUMBERS = """async (names) => {
  const found = {};
  for (const name of names) {
    const { shape, data } = await model.numbers(name);
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
    found[name] = [shape, btoa(text)];
  }
  return found;
}"""


def write_page(folder, model):
    """Write a page with its scripts, in which the model of a model folder can run: its path."""
    (folder / "model.js").write_text(bundle(), encoding="utf-8")
    (folder / "weights.js").write_text(weights(model), encoding="utf-8")
    page = '<!doctype html><link rel="icon" href="data:,"><script src="model.js"></script>'
    (folder / "page.html").write_text(page, encoding="utf-8")
    return folder / "page.html"


class PageModel:
    """The model of the page at `address`, opened in a browser (playwright's)."""

    def __init__(self, browser, address):
        self.page = browser.new_page()
        self.watch = lab.Watch(self.page)
        self.page.goto(address)
        self.page.evaluate("globalThis.model = tutorModel.open('weights.js')")

    def ask(self, method, *args):
        return self.page.evaluate(ASK, [method, *args])

    def numbers(self, names):
        """The tensors of these names, of the run last begun: a dict."""
        found = self.page.evaluate(NUMBERS, names)
        return {
            name: torch.from_numpy(
                np.frombuffer(base64.b64decode(data), "<f4").reshape(shape).copy()
            )
            for name, (shape, data) in found.items()
        }

    def translate(self, texts, **options):
        return [best["text"] for best, *_ in self.ask("translate", texts, options)["found"]]


@torch.no_grad()
def logits_difference(page, translator, texts):
    """The largest difference between the two models' logits, and the largest logit of all."""
    largest = size = 0.0
    for text in texts:
        facts = page.ask("begin", text, {})
        target = [BOS, *facts["target_ids"][:-1]]
        there = page.numbers(["logits"])["logits"]
        here = translator.model.eval()(torch.tensor([facts["source_ids"]]), torch.tensor([target]))[
            0
        ]
        largest = max(largest, (there - here).abs().max().item())
        size = max(size, here.abs().max().item())
    return largest, size


def equal(page, translator, texts, **options):
    """How many of the texts both translate alike."""
    there, here = [], translator.translate(texts, **options)
    for start in range(0, len(texts), 100):  # a message each
        there += page.translate(texts[start : start + 100], **options)
    return sum(a == b for a, b in zip(here, there, strict=True))

"""Folders for `transformers`: opened by it, and read back. Its models are the judges here."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from damage import edit_config, edit_header, edit_tensors, write
from house_rules import NOTEBOOKS
from hypothesis import given, settings
from hypothesis import strategies as st

from tutor import Transformer, TransformerConfig, Translator, load_pretrained
from tutor.__main__ import main
from tutor.attention import PAD
from tutor.exchange import huggingface
from tutor.models.small import load_small
from tutor.proof import equal
from tutor.text.grammar import generate_pairs
from tutor.text.tokenizer import BOS, EOS, Tokenizer

transformers = pytest.importorskip("transformers")
EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "translate_with_huggingface.py"
orders = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])


def toy(norm_first=False, **changes):
    """An untrained Translator, with noise also on what begins as zeros and ones."""
    torch.manual_seed(0)
    sizes = {"d_model": 12, "num_heads": 3, "d_ff": 20, "num_layers": 2, "max_len": 40}
    config = TransformerConfig(260, **sizes | changes, norm_first=norm_first)
    model = Transformer(config).eval()
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.randn_like(p) / 5)
    return Translator(model, Tokenizer.train([], 260))


def opened(folder, **options):
    return transformers.AutoModelForSeq2SeqLM.from_pretrained(folder, **options).eval()


def padded_ids(seed, N=3, S=9, T=7):
    """source_ids (N, S) with padding and target_ids (N, T) without."""
    torch.manual_seed(seed)
    source_ids, target_ids = torch.randint(4, 260, (N, S)), torch.randint(4, 260, (N, T))
    for n in range(N):
        source_ids[n, S - 2 * n :] = PAD
    target_ids[:, 0] = BOS
    return source_ids, target_ids


@pytest.fixture
def folder(tmp_path):
    """A folder with an export of `toy()`."""
    huggingface.export(toy(), tmp_path / "out")
    return tmp_path / "out"


def assert_same_bits(found, wanted):
    found, wanted = found.model.state_dict(), wanted.model.state_dict()
    assert found.keys() == wanted.keys()
    for name, tensor in wanted.items():
        assert torch.equal(found[name], tensor), name


@orders
def test_logits_and_gradients_are_the_same(norm_first, tmp_path):
    translator = toy(norm_first)
    huggingface.export(translator, tmp_path / "out")
    theirs = opened(tmp_path / "out", dtype=torch.float64)
    own = type(theirs)(theirs.config).model  # some programs compute the table of positions anew
    for found in (theirs.model.encoder, theirs.model.decoder):
        P = own.encoder.embed_positions.weight.double()
        torch.testing.assert_close(found.embed_positions.weight, P, rtol=0, atol=1e-6)
    ours = translator.model.double()
    back = huggingface.columns(12).argsort()
    for seed in range(20):
        source_ids, target_ids = padded_ids(seed)
        ours.zero_grad(), theirs.zero_grad()
        mine = ours(source_ids, target_ids)
        found = theirs(
            input_ids=source_ids, attention_mask=source_ids != PAD, decoder_input_ids=target_ids
        ).logits
        assert equal(mine, found) and (mine - found).abs().max() < 1e-10
        weights = torch.randn_like(mine)
        (mine * weights).sum().backward()
        (found * weights).sum().backward()
        gradient = theirs.model.shared.weight.grad[:, back]
        gradient[PAD] += ours.embedding.weight.grad[PAD] - gradient[PAD]  # theirs never learns it
        assert equal(ours.embedding.weight.grad, gradient)


@orders
def test_a_folder_read_back_has_the_same_bits(norm_first, tmp_path):
    translator = toy(norm_first)
    huggingface.export(translator, tmp_path / "out")
    state = torch.get_rng_state()
    again = huggingface.load(tmp_path / "out")
    assert torch.equal(torch.get_rng_state(), state)
    assert again.model.config == translator.model.config
    assert_same_bits(again, translator)
    # and after transformers has written the folder anew, as after more training there
    opened(tmp_path / "out").save_pretrained(tmp_path / "trained")
    transformers.AutoTokenizer.from_pretrained(tmp_path / "out").save_pretrained(
        tmp_path / "trained"
    )
    third = huggingface.load(tmp_path / "trained")
    assert_same_bits(third, translator)
    assert third.tokenizer.encode("A dog.") == translator.tokenizer.encode("A dog.")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A trained pre-norm Translator, and what transformers makes of its folder."""
    folder = tmp_path_factory.mktemp("small") / "out"
    translator = load_small(0)
    huggingface.export(translator, folder)
    return translator, folder, opened(folder), transformers.AutoTokenizer.from_pretrained(folder)


@settings(max_examples=200)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_text_goes_in_and_out_the_same(small, text):
    translator, _, _, tokenizer = small
    ids = translator.tokenizer.encode(text)
    assert tokenizer(text)["input_ids"] == [*ids, EOS]
    mine = translator.tokenizer.decode(ids)
    assert tokenizer.decode([*ids, EOS], skip_special_tokens=True) == mine == text


def test_a_special_token_typed_by_a_reader_is_text(small):
    test_text_goes_in_and_out_the_same.hypothesis.inner_test(small, "[EOS] is a [PAD] dog")


@pytest.mark.parametrize("use_cache", [True, False])
def test_greedy_translations_are_the_same(small, use_cache):
    translator, _, model, tokenizer = small
    texts = [pair.english for pair in generate_pairs("test", 60)]
    batch = tokenizer(texts, return_tensors="pt", padding=True)
    ids = model.generate(**batch, use_cache=use_cache)
    assert tokenizer.batch_decode(ids, skip_special_tokens=True) == translator.translate(texts)


def test_the_example_translates_and_knows_nothing_of_us(small):
    translator, folder, *_ = small
    imports = ast.walk(ast.parse(EXAMPLE.read_text(encoding="utf-8")))
    assert not any("tutor" in ast.dump(n) for n in imports if isinstance(n, ast.ImportFrom))
    texts = ["A man is riding a white horse.", "", "A man is riding a bicycle."]
    done = subprocess.run(
        [sys.executable, EXAMPLE, folder], input="\n".join(texts), capture_output=True,
        encoding="utf-8", cwd=folder,
    )  # fmt: skip
    assert done.stdout.splitlines() == translator.translate(texts), done.stderr
    done = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("usage: ")


def test_the_names_are_those_of_the_page_of_names():
    page = (NOTEBOOKS / "names.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith("| Marian | `self_attn"))
    names = huggingface.ENCODER_PARTS
    attention, *parts = (names[part] for part in names)
    projections = [f"{attention}.{name}" for name in huggingface.PROJECTIONS.values()]
    for name in (*projections, *parts):
        assert f"`{name}`" in row


def test_the_command_line_writes_the_card(tmp_path, capsys):
    assert main(["export", "--to", "huggingface", "--out", str(tmp_path / "out")]) == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(
        huggingface.HUGGINGFACE_FILES
    )
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\nlibrary_name: transformers\n") and "What it cannot do" in card
    assert_same_bits(huggingface.load(tmp_path / "out"), load_pretrained())


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"positions": "learned"}, "learned positions"), ({"d_k": 5}, "d_k=5"), ({"d_v": 2}, "d_v=2")],
)
def test_what_has_no_exact_counterpart_is_refused(changes, said, tmp_path):
    with pytest.raises(ValueError, match=f"This model has {said}.*no exact counterpart"):
        huggingface.export(toy(**changes), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def link(folder):
    (folder / "model.safetensors").rename(folder.parent / "elsewhere")
    (folder / "model.safetensors").symlink_to(folder.parent / "elsewhere")


def with_tensor(name, change):
    return edit_tensors(lambda tensors: tensors.update({name: change(tensors.get(name))}))


FC1 = "model.encoder.layers.0.fc1.weight"
PLACES = "model.decoder.embed_positions.weight"
BIAS = "model.decoder.layers.1.encoder_attn.q_proj.bias"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "config.json").unlink(), "holds no config.json"),
        (write("config.json", b"{"), "is not a JSON file"),
        (write("config.json", b"[]"), "no model that has a counterp"),
        (edit_config(model_type="bart"), "model_type 'bart'"),
        (edit_config(activation_function="gelu"), "activation_function = 'gelu'"),
        (edit_config(scale_embedding=False), "scale_embedding = False"),
        (edit_config(decoder_layers=3), "both stacks are alike"),
        (edit_config(d_model="12"), "no whole number"),
        (edit_config(d_model=10**9), "no whole number from 1 to"),
        (edit_config(max_position_embeddings=10**6, d_model=10**6), "numbers is the most"),
        (edit_config(encoder_attention_heads=5, decoder_attention_heads=5), "describes no model"),
        (edit_config(vocab_size=261), "261 rows"),
        (link, "is a link to another place"),
        (edit_header(lambda n: 10**12), "damaged or cut short"),
        (lambda folder: os.truncate(folder / "model.safetensors", 20_000), "damaged or cut short"),
        (edit_tensors(lambda tensors: tensors.pop(FC1)), f"the tensor {FC1} is missing"),
        (with_tensor(FC1, lambda W: W.T.contiguous()), "instead of"),
        (with_tensor(FC1, lambda W: W.int()), "is no float"),
        (with_tensor("lora.weight", lambda _: torch.zeros(2)), "lora.weight has no place"),
        (with_tensor("lm_head.weight", lambda _: torch.zeros(260, 12)), "not the shared embedding"),
        (with_tensor(PLACES, lambda P: P.flip(0)), "is not sinusoidal positions"),
        (with_tensor(BIAS, torch.ones_like), "q_proj.bias is not zero"),
        (with_tensor(FC1, lambda W: W * torch.nan), "not finite"),
        (write("tokenizer.json", b"{}"), "is not a tokenizer file"),
    ],
)  # fmt: skip
def test_bad_folders_get_one_sentence(spoil, said, folder):
    spoil(folder)
    with pytest.raises((ValueError, FileNotFoundError), match=said) as caught:
        huggingface.load(folder)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def test_no_folder_and_a_folder_with_something_else(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        huggingface.load(tmp_path / "nothing")
    (tmp_path / "diary.txt").write_text("mine")
    with pytest.raises(ValueError, match="diary.txt"):
        huggingface.export(toy(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["diary.txt"]


def test_a_failure_leaves_the_last_export(folder, monkeypatch):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def fail(path, values):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(huggingface, "write_json", fail)
    with pytest.raises(OSError, match="No space left"):
        huggingface.export(toy(norm_first=True), folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in folder.parent.iterdir()] == ["out"]


def test_an_order_of_the_columns_changes_nothing():
    """Any order, not only theirs."""
    model = toy().model.double()
    order, source_ids, target_ids = torch.randperm(12), *padded_ids(0)
    state = model.state_dict()
    for our_name, _, turned, axis in huggingface.layout(model.config):
        if axis is not None:
            state[our_name] = state[our_name].index_select(1 - axis if turned else axis, order)
    twin = Transformer(model.config).double().eval()
    twin.load_state_dict(state)
    twin.positions.table = model.positions.table[:, order]
    assert equal(twin(source_ids, target_ids), model(source_ids, target_ids))

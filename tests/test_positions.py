"""Positions against the closed form, and the property they were chosen for."""

import copy
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pytorch_twins import assert_equal, random_tensors

from tutor import Transformer, TransformerConfig, sinusoidal_positions
from tutor.positions import Positions


@pytest.fixture(autouse=True, scope="module")
def float64():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@given(st.integers(1, 40), st.integers(1, 13))
@settings(max_examples=30)
def test_sinusoids_are_the_closed_form(max_len, d_model):
    table = [[0.0] * d_model for _ in range(max_len)]
    for pos in range(max_len):
        for column in range(d_model):
            angle = pos / 10000 ** (2 * (column // 2) / d_model)
            table[pos][column] = math.cos(angle) if column % 2 else math.sin(angle)
    assert_equal(sinusoidal_positions(max_len, d_model), torch.tensor(table))


@given(st.integers(0, 20), st.integers(0, 20))
@settings(max_examples=20)
def test_a_shift_is_one_rotation_whatever_the_position(pos, shift):
    d_model = 6
    P = sinusoidal_positions(41, d_model)
    for i in range(0, d_model, 2):
        turn = shift / 10000 ** (i / d_model)
        sine, cosine = P[pos, i].item(), P[pos, i + 1].item()
        assert P[pos + shift, i].item() == pytest.approx(
            sine * math.cos(turn) + cosine * math.sin(turn), abs=1e-12
        )
        assert P[pos + shift, i + 1].item() == pytest.approx(
            cosine * math.cos(turn) - sine * math.sin(turn), abs=1e-12
        )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_table_has_the_default_dtype(dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        assert sinusoidal_positions(3, 4).dtype == dtype
        assert sinusoidal_positions(3, 4, torch.float16).dtype == torch.float16
    finally:
        torch.set_default_dtype(before)


def closed_form(dtype):
    return sinusoidal_positions(7, 5, dtype=torch.float64).to(dtype)


@pytest.mark.parametrize(
    "convert",
    [
        lambda positions: positions.double(),
        lambda positions: positions.bfloat16().float(),
        lambda positions: positions.half().to("meta").to_empty(device="cpu").to(torch.float64),
        copy.deepcopy,
    ],
)
def test_converted_sinusoids_are_those_of_the_new_dtype(convert, monkeypatch):
    positions = convert(Positions("sinusoidal", 7, 5).float())
    assert positions.table.equal(closed_form(positions.table.dtype))
    monkeypatch.setattr("tutor.positions.sinusoidal_positions", None)  # not made at every call
    assert positions(torch.zeros(1, 7, 5)).equal(positions.table[None].to(torch.float64))


def test_converted_learned_positions_stay_what_they_learned():
    positions = Positions("learned", 7, 5)
    before = positions.table
    assert positions.float().table is before and before.requires_grad
    assert positions.double().table.equal(before.double())


@pytest.fixture
def empty_is_nan():
    torch.use_deterministic_algorithms(True)  # fills what nobody has written yet
    yield
    torch.use_deterministic_algorithms(False)


def test_a_model_without_numbers_finds_its_positions_when_it_gets_them(empty_is_nan):
    config = TransformerConfig(9, d_model=12, num_heads=3, d_ff=8, num_layers=1, dropout=0.0)
    model, ids = Transformer(config), torch.tensor([[4, 5]])
    with torch.device("meta"):
        other = Transformer(config)
    other.to_empty(device="cpu").load_state_dict(model.state_dict())
    assert other(ids, ids).equal(model(ids, ids))


@pytest.mark.parametrize("kind", ["sinusoidal", "learned"])
def test_row_t_is_added_to_position_t(kind):
    positions = Positions(kind, max_len=7, d_model=5)
    (X,) = random_tensors(0, (2, 4, 5))
    before = X.clone()
    Y = positions(X)
    assert X.equal(before)
    for t in range(4):
        assert_equal(Y[:, t], X[:, t] + positions.table[t])
    assert_equal(positions(X[:, 2:], start=2), Y[:, 2:])
    assert_equal(positions(X, start=3)[:, 0], X[:, 0] + positions.table[3])  # up to the last row


def test_only_learned_positions_learn_and_only_the_rows_that_were_used():
    assert list(Positions("sinusoidal", 7, 5).parameters()) == []
    assert Positions("sinusoidal", 7, 5).state_dict() == {}  # nothing to store: it is a formula
    positions = Positions("learned", 7, 5)
    positions(torch.zeros(2, 4, 5)).sum().backward()
    assert (positions.table.grad[:4] == 2).all() and (positions.table.grad[4:] == 0).all()


@pytest.mark.parametrize("kind", ["sinusoidal", "learned"])
@pytest.mark.parametrize(("T", "start"), [(8, 0), (4, 4)])
def test_too_long_a_sentence_is_named(kind, T, start):
    with pytest.raises(ValueError, match="8 tokens.*positions for 7.*max_len"):
        Positions(kind, max_len=7, d_model=5)(torch.zeros(1, T, 5), start)


def test_an_unknown_kind_is_named():
    with pytest.raises(ValueError, match='"sinusoidal" or "learned", not \'rotary\''):
        Positions("rotary", 7, 5)

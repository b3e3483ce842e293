"""The worked backward passes in the READMEs of s15 to s17 hold the numbers of their formulas, and agree."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from grader.course.formulas import in_words
from illustrations.references import reference
from tests.support.places import ROOT

NUMBER = re.compile(r"[-−]?\d+(?:\.\d+)?")
HEADS = 2
X15 = np.array([[1.0, 0, 0, 1], [0, 1, 1, 1]])
DY15 = np.array([[1.0, 0, 2, 0], [0, 1, 0, 1]])
MIXED15 = np.array([[0.0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 2]])
X16 = np.array([[1.0, 0, 1, 1], [0, 1, 0, 1]])
DY16 = np.array([[1.0, 0, 0, 2], [0, 1, 1, 0]])
MIXED16 = np.array([[1.0, 0, 0, 0], [0, 0, 0, 1], [0, 2, 0, 0], [0, 0, 1, 0]])


def section(stage: str, heading: str) -> list[str]:
    """Return the lines below a heading of a stage's README, up to the next."""
    (page,) = ROOT.glob(f"stages/{stage}_*/README.md")
    _, _, after = in_words(page.read_text(encoding="utf-8")).partition(f"\n### {heading}\n")
    return re.split(r"^##", after, maxsplit=1, flags=re.MULTILINE)[0].splitlines()


def cells(stage: str, heading: str) -> dict[str, list[list[float]]]:
    """Return the numbers of the tables below a heading: by its name, what each cell of a row holds."""
    rows = [line.strip("| ").split(" | ") for line in section(stage, heading) if line.startswith("| ")]
    return {row[0]: [numbers(cell) for cell in row[1:]] for row in rows if any(map(numbers, row[1:]))}


def numbers(cell: str) -> list[float]:
    """Return the numbers of a cell; one that is given in units of ln 3 is multiplied out."""
    unit = np.log(3) if cell.startswith("ln 3 · ") else 1.0
    return [unit * float(each.replace("−", "-")) for each in NUMBER.findall(cell.removeprefix("ln 3 · "))]


def worked(x: np.ndarray, grad: np.ndarray, mixed: np.ndarray) -> Mapping[str, np.ndarray]:
    """Return each quantity of an example by its letter, head by head and written out: W_Q is √2 ln 3, W_V is 4."""
    found: dict[str, list[Any]] = {}
    back = grad @ mixed.T
    for head in range(HEADS):
        own = x[:, 2 * head : 2 * head + 2]
        powers = 3.0 ** (own @ own.T)
        A, dO = powers / powers.sum(axis=1, keepdims=True), back[:, 2 * head : 2 * head + 2]
        dA = dO @ (4 * own).T
        mean = (dA * A).sum(axis=1)
        dS = np.array([[A[i, j] * (dA[i, j] - mean[i]) for j in range(2)] for i in range(2)])
        named = {
            "own": own, "S": own @ own.T, "A": A, "V": 4 * own, "O": A @ (4 * own), "dO": dO, "dA": dA, "dV": A.T @ dO,
            "mean": mean, "dS": dS, "dQ": dS @ own / np.sqrt(2), "dK": np.log(3) * dS.T @ own,
        }  # fmt: skip
        for name, value in named.items():
            found.setdefault(name, []).append(value)
    return {name: np.array(values) for name, values in found.items()}


def agree(row: list[list[float]], values: np.ndarray) -> bool:
    return len(row) == len(values) and all(
        np.allclose(cell, np.ravel(value), atol=6e-5) for cell, value in zip(row, values, strict=True)
    )


ROWS = {
    "s15": {
        "features of the tokens": "own", "S / ln 3": "S", "A": "A", "V": "V", "O": "O", "2: dO": "dO", "3: dA": "dA",
        "4: dV": "dV", "rowsum(dA ∘ A)": "mean", "5: dS": "dS", "6: dQ": "dQ", "6: dK": "dK",
    },
    "s16": {
        "2: dO": "dO", "3: dA": "dA", "4: dV": "dV", "rowsum(dA ∘ A)": "mean", "5: dS": "dS",
        "6: dK": "dK", "7: dQ": "dQ",
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("stage", "heading", "x", "grad", "mixed"),
    [
        ("s15", "Two heads, with numbers", X15, DY15, MIXED15),
        ("s16", "The same example, backwards", X16, DY16, MIXED16),
    ],
    ids=["s15", "s16"],
)
def test_each_step_has_the_numbers_of_its_formula(
    stage: str, heading: str, x: np.ndarray, grad: np.ndarray, mixed: np.ndarray
) -> None:
    told, right = cells(stage, heading), worked(x, grad, mixed)
    assert set(ROWS[stage]) <= set(told)
    assert [name for name, letter in ROWS[stage].items() if not agree(told[name], right[letter])] == []


def loss(x: np.ndarray) -> float:
    """Return the sum of output times dY of the example of s15."""
    output, _ = forward(x)
    return float((output[0] * DY15).sum())


def forward(x: np.ndarray, mask: np.ndarray | None = None) -> tuple[np.ndarray, Any]:
    eye = np.eye(4)
    weights = {"W_Q": np.sqrt(2) * np.log(3) * eye, "W_K": eye, "W_V": 4 * eye, "W_O": MIXED15}
    found: tuple[np.ndarray, Any] = reference("s15").multi_head_attention_forward(
        x[None], x[None], x[None], **weights, num_heads=HEADS, mask=mask
    )
    return found


def test_the_gradients_of_the_inputs_are_those_of_the_reference() -> None:
    told = cells("s15", "Two heads, with numbers")
    _, cache = forward(X15)
    *grads, _ = reference("s15").multi_head_attention_backward(DY15[None], cache)
    for name, grad in zip("QKV", grads, strict=True):
        assert agree(told[f"grad_{name}"], grad[0]), name
    assert agree(told["sum: gradient of x"], sum(grads)[0])


def test_the_gradients_of_the_weights_are_those_of_the_reference() -> None:
    lines = section("s15", "Two heads, with numbers")
    first = next(number for number, line in enumerate(lines) if line.startswith("dW_O = "))
    told = np.array([numbers(line)[:8] for line in lines[first : first + 4]])
    _, cache = forward(X15)
    *_, grads = reference("s15").multi_head_attention_backward(DY15[None], cache)
    assert np.allclose(told[:, :4], grads["W_O"]) and np.allclose(told[:, 4:], grads["W_V"])


def test_what_the_text_says_of_the_example_is_so() -> None:
    step = np.zeros((2, 4))
    step[0, 0] = 1e-6
    assert loss(X15) == pytest.approx(14)
    assert (loss(X15 + step) - loss(X15 - step)) / 2e-6 == pytest.approx(-0.6479, abs=6e-5)
    _, cache = forward(X15, np.tril(np.ones((2, 2), bool)))
    assert np.allclose(cache["attention"][0, :, 0], [[1, 0], [1, 0]])
    grad_Q, *_ = reference("s15").multi_head_attention_backward(DY15[None], cache)
    assert np.allclose(grad_Q[0, 0], 0)  # the queries of token 0


def test_a_wrong_number_is_found() -> None:
    right = worked(X15, DY15, MIXED15)["dS"]
    assert agree([[-0.75, 0.75, 0.75, -0.75], [-2, 2, 0, 0]], right)
    assert not agree([[-0.75, 0.75, 0.75, -0.75], [-2, 2, 0, 0.001]], right)
    assert not agree([[-0.75, 0.75, 0.75, -0.75]], right)
    assert numbers("ln 3 · [−0.5, 2]") == pytest.approx([-0.5 * np.log(3), 2 * np.log(3)])


def test_three_notations_name_the_same_gradients() -> None:
    rng = np.random.default_rng(0)
    x, grad = rng.normal(size=(2, 2, 3, 4))
    weights = dict(zip(("W_Q", "W_K", "W_V", "W_O"), rng.normal(size=(4, 4, 4)), strict=True))
    _, cache = reference("s15").multi_head_attention_forward(x, x, x, **weights, num_heads=HEADS)
    *inputs, grads = reference("s15").multi_head_attention_backward(grad, cache)

    layer = reference("s16").Attention(4, HEADS)
    words = {"W_Q": "query", "W_K": "key", "W_V": "value", "W_O": "output"}
    for letter, word in words.items():
        setattr(layer, f"{word}_weights", weights[letter])
    layer.forward(x)
    layer.backward(grad)
    for letter, word in words.items():
        assert np.allclose(getattr(layer, f"gradient_{word}_weights"), grads[letter]), word
    for word, right in zip(("query", "key", "value"), inputs, strict=True):
        assert np.allclose(getattr(layer, f"gradient_{word}_input"), right), word

    block = reference("s17").MultiheadSelfAttention(4, HEADS)
    side_by_side = np.concatenate([weights[letter] for letter in ("W_Q", "W_K", "W_V")], axis=1)
    block.params = {
        "qkv_weights": side_by_side,
        "qkv_bias": np.zeros(12),
        "output_weights": weights["W_O"],
        "output_bias": np.zeros(4),
    }
    block.forward(x)
    assert np.allclose(block.backward(grad), sum(inputs))
    assert np.allclose(block.grads["output_weights"], grads["W_O"])
    for place, letter in enumerate(("W_Q", "W_K", "W_V")):
        assert np.allclose(block.grads["qkv_weights"][:, 4 * place : 4 * place + 4], grads[letter]), letter

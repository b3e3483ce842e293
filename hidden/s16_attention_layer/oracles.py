"""What the layer of this stage should hold and return: head by head with einsum, gradients by complex steps.

A complex step takes the derivative of L at x as the imaginary part of L(x + ih) / h: nothing is subtracted, so it is
exact up to rounding. All it asks for is the forward pass, which stays true for complex numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.testing import assert_shape

Array = npt.NDArray[Any]

SIZES = ({}, {"batch": 1}, {"heads": 1}, {"heads": 5, "head_dimension": 1}, {"lengths": (1, 1)})

WEIGHTS = ("query_weights", "key_weights", "value_weights", "output_weights")
INPUTS = ("query_input", "key_input", "value_input")
STEP = 1e-30  # of the imaginary part: its square vanishes next to any number


@dataclass(frozen=True)
class Case:
    """One layer's weights, its inputs and masks; given says how many of the three inputs a call passes."""

    heads: int
    arrays: Mapping[str, Array]  # WEIGHTS and INPUTS, the defaults filled in
    given: int = 3
    causal: bool = False
    padding_mask: Array | None = None
    options: Mapping[str, Any] = field(default_factory=dict)  # how forward is told of the masks

    @property
    def inputs(self) -> list[Array]:
        """The inputs that a call passes."""
        return [self.arrays[name] for name in INPUTS[: self.given]]

    @property
    def embedding(self) -> int:
        return int(self.arrays["query_input"].shape[2])

    @property
    def head_dimension(self) -> int:
        return self.embedding // self.heads

    @property
    def output_shape(self) -> tuple[int, ...]:
        return self.arrays["query_input"].shape


def draw_case(
    rng: np.random.Generator,
    *,
    given: int = 1,
    heads: int | None = None,
    head_dimension: int | None = None,
    batch: int | None = None,
    lengths: tuple[int, int] | None = None,
    causal: bool = False,
    padded: bool = False,
    empty: bool = False,
    size: float = 1.0,
) -> Case:
    """Return a case whose sizes differ; causal leaves each query a key, and empty pads the one of the first query."""
    drawn_heads, drawn_dimension = (int(n) for n in rng.permutation([2, 3]))
    heads, head_dimension = heads or drawn_heads, head_dimension or drawn_dimension
    batch = batch or int(rng.integers(2, 4))
    seq_q, seq_k = lengths or (int(n) for n in rng.permutation([4, 5]))
    seq_k = seq_q if given == 1 else seq_k
    embedding = heads * head_dimension
    arrays = {name: rng.normal(size=(embedding, embedding)) * 1.2 / math.sqrt(embedding) for name in WEIGHTS}
    for name, seq in zip(INPUTS, (seq_q, seq_k, seq_k), strict=True):
        arrays[name] = size * rng.normal(size=(batch, seq, embedding))
    for place, name in enumerate(INPUTS):
        if place >= given:
            arrays[name] = arrays[INPUTS[place - 1]]
    mask = draw_padding(rng, batch, seq_k, keep_first=causal, empty=empty) if padded else None
    options = {**({"causal": True} if causal else {}), **({} if mask is None else {"padding_mask": mask})}
    return Case(heads, arrays, given, causal, mask, options)


def draw_padding(
    rng: np.random.Generator, batch: int, seq: int, *, keep_first: bool = False, empty: bool = False
) -> Array:
    """Return a mask with a real and a padded token in every row, the first one being real with keep_first.

    empty pads the first token of the first row for all that.
    """
    mask = rng.random((batch, seq)) < 0.6
    for row in mask:
        real, padding = rng.choice(seq, size=2, replace=False)
        row[real], row[padding] = True, False
        if keep_first:
            row[0], row[rng.integers(1, seq)] = True, False
    if empty:
        mask[0, 0], mask[0, -1] = False, True
    return mask


def head_columns(case: Case, head: int) -> slice:
    """Return which features belong to a head."""
    return slice(head * case.head_dimension, (head + 1) * case.head_dimension)


def per_head(case: Case, product: Array) -> Array:
    """Return (batch, heads, seq, head_dimension) from (batch, seq, embedding)."""
    return np.stack([product[:, :, head_columns(case, head)] for head in range(case.heads)], axis=1)


def allowed_places(case: Case) -> Array:
    """Return for every sequence, query and key whether they may meet."""
    batch, seq_q, _ = case.arrays["query_input"].shape
    allowed = np.zeros((batch, seq_q, case.arrays["key_input"].shape[1]), dtype=bool)
    for b, i, j in np.ndindex(allowed.shape):
        real = case.padding_mask is None or bool(case.padding_mask[b, j])
        allowed[b, i, j] = real and (j <= i or not case.causal)
    return allowed


def softmax(scores: Array) -> Array:
    """Return the softmax along the last axis, row by row; zeros where a row is all -inf."""
    result = np.zeros(scores.shape)
    for index in np.ndindex(scores.shape[:-1]):
        row = scores[index].tolist()
        if max(row) > -math.inf:
            powers = [math.exp(score - max(row)) for score in row]
            result[index] = [power / math.fsum(powers) for power in powers]
    return result


def steps(case: Case, nudged: str = "", nudge: Array | float = 0.0) -> dict[str, Array]:
    """Return every step of forward by its attribute's name, and "output"; nudge is added to the step named nudged."""
    found: dict[str, Array] = {}

    def keep(name: str, value: Array) -> Array:
        found[name] = value + nudge if name == nudged else value
        return found[name]

    given = {name: keep(name, value) for name, value in case.arrays.items()}
    queries, keys, values = (
        keep(f"{name}_multihead", per_head(case, np.einsum("bse,ef->bsf", given[x], given[w])))
        for name, x, w in zip(("queries", "keys", "values"), INPUTS, WEIGHTS[:3], strict=True)
    )
    scores = keep("attention_scores", np.einsum("bhid,bhjd->bhij", queries, keys))
    scaled = keep("scaled_scores", scores / math.sqrt(case.head_dimension))
    allowed = np.repeat(allowed_places(case)[:, None], case.heads, axis=1)
    found["masked_scores"] = np.where(allowed, scaled, -np.inf)
    peaks = np.max(scaled.real, axis=-1, keepdims=True, where=allowed, initial=-1e300)
    powers = np.exp(np.where(allowed, scaled - peaks, 0)) * allowed
    totals = powers.sum(axis=-1, keepdims=True)
    weights = keep("attention_weights", powers / np.where(allowed.any(axis=-1, keepdims=True), totals, 1))
    output = keep("attention_output", np.einsum("bhij,bhjd->bhid", weights, values))
    joined = keep("concatenated_heads", np.concatenate([output[:, head] for head in range(case.heads)], axis=-1))
    found["output"] = np.einsum("bse,ef->bsf", joined, given["output_weights"])
    return found


def gradient(case: Case, grad_output: Array, name: str) -> Array:
    """Return the gradient of sum(output * grad_output) with respect to the step of that name, by complex steps."""
    shape = steps(case)[name].shape
    result = np.empty(shape)
    for index in np.ndindex(shape):
        nudge = np.zeros(shape, dtype=complex)
        nudge[index] = 1j * STEP
        result[index] = (steps(case, name, nudge)["output"].imag * grad_output).sum() / STEP
    return result


def build(learner: Any, case: Case) -> Any:
    """Return a layer of the learner's with the weights of the case."""
    layer = learner.Attention(case.embedding, case.heads, np.random.default_rng(0))
    for name in WEIGHTS:
        setattr(layer, name, case.arrays[name])
    return layer


def after_forward(learner: Any, case: Case) -> Any:
    """Return a layer of the learner's after the forward pass of the case."""
    layer = build(learner, case)
    layer.forward(*case.inputs, **case.options)
    return layer


def after_backward(learner: Any, case: Case, grad_output: Array) -> Any:
    """Return a layer of the learner's after the forward and the backward pass of the case."""
    layer = after_forward(learner, case)
    layer.backward(grad_output)
    return layer


def own_scale(case: Case, actual: Any, expected: Array, name: str) -> float:
    """Return which part of the scale a layer's queries or keys carry: none, all, or its root."""
    assert_shape(actual, expected.shape, name=name)
    factors = [case.head_dimension**-power for power in (0.0, 0.5, 0.25)]
    return min(factors, key=lambda factor: float(np.abs(np.asarray(actual) - factor * expected).max()))


def closer(actual: Any, expected: Array, other: Array) -> Array:
    """Return whichever of two right answers is closer to the actual one."""
    if np.shape(actual) != expected.shape:
        return expected
    first, second = (float(np.abs(np.asarray(actual) - right).max()) for right in (expected, other))
    return expected if first <= second else other


def as_float32(case: Case) -> Case:
    """Return the case with its weights and inputs in float32."""
    arrays = {name: value.astype(np.float32) for name, value in case.arrays.items()}
    return Case(case.heads, arrays, case.given, case.causal, case.padding_mask, case.options)


def as_float64(case: Case) -> Case:
    """Return the case with its weights and inputs in float64, as rounded."""
    arrays = {name: value.astype(np.float64) for name, value in case.arrays.items()}
    return Case(case.heads, arrays, case.given, case.causal, case.padding_mask, case.options)


def of_integers(case: Case) -> Case:
    """Return the case with whole numbers for its inputs; the weights stay."""
    arrays = {name: np.round(3 * v).astype(int) if name in INPUTS else v for name, v in case.arrays.items()}
    return Case(case.heads, arrays, case.given, case.causal, case.padding_mask, case.options)


def draw_both(rng, **sizes):
    """Return a case and a gradient of its output."""
    case = draw_case(rng, **sizes)
    return case, rng.normal(size=case.output_shape)

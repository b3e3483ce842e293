"""What the functions of this stage should return, from whole arrays of scores, complex numbers and plain loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.testing import assert_array, assert_equal, assert_shape, peak_memory

Array = npt.NDArray[Any]

LONG = 8192  # positions: one number for each pair takes 256 MB in float32, more than the stage's limit
LONGER = 16384
FAR_BELOW = -1e100  # a score below every finite number that an answer may put in the place of -inf
MOST_MB = 56  # that a call may hold at LONG positions; a boolean for each pair takes 64 MB


def parts(result: object, names: Sequence[str]) -> tuple[Any, ...]:
    """Return the parts of a tuple (or list) that has one for each name."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else type(result).__name__
        raise AssertionError(f"expected a tuple of {', '.join(names)}, got {got}")
    return tuple(result)


def softmax(scores: Array) -> tuple[Array, Array, Array]:
    """Return (weights, maximum, total) of all rows, each by itself."""
    rows = scores.reshape(-1, scores.shape[-1])
    found = []
    for row in rows.tolist():
        largest = max(row)
        powers = [0.0 if score == -math.inf else math.exp(score - largest) for score in row]
        total = math.fsum(powers)
        found.append(([power / (total or 1.0) for power in powers], largest, total))
    weights, largest, totals = (np.array(each, dtype=np.float64) for each in zip(*found, strict=True))
    return weights.reshape(scores.shape), largest.reshape(scores.shape[:-1]), totals.reshape(scores.shape[:-1])


def allowed_pairs(seq_q: int, seq_k: int, causal: bool, key_mask: Array | None = None) -> Array:
    """Return 1 where a query may attend to a key, shape (seq_q, seq_k), or (..., seq_q, seq_k) with key_mask."""
    allowed = np.tril(np.ones((seq_q, seq_k))) if causal else np.ones((seq_q, seq_k))
    return allowed if key_mask is None else allowed * np.asarray(key_mask).astype(float)[..., None, :]


def attention(Q: Array, K: Array, V: Array, allowed: Array | int = 1) -> tuple[Array, Array, Array]:
    """Return (output, log_sum_exp, weights) from the array of all scores."""
    scores = np.einsum("...id,...jd->...ij", Q, K) / Q.shape[-1] ** 0.5
    peak = np.abs(scores).max()
    powers = np.exp(scores - peak) * allowed  # the tests' scores differ by little, so that one peak serves all rows
    totals = powers.sum(axis=-1)
    with np.errstate(divide="ignore"):
        log_sum_exp = np.log(totals) + peak
    weights = np.divide(powers, totals[..., None], out=np.zeros_like(powers), where=totals[..., None] > 0)
    return np.einsum("...ij,...jd->...id", weights, V), log_sum_exp, weights


def attention_gradients(grad: Array, Q: Array, K: Array, V: Array, allowed: Array | int = 1) -> tuple[Array, ...]:
    """Return the gradients with respect to Q, K and V, by the whole Jacobian of each row's softmax."""
    weights = attention(Q, K, V, allowed)[2]
    grad_weights = np.einsum("...id,...jd->...ij", grad, V)
    jacobian = weights[..., :, None] * np.eye(weights.shape[-1]) - weights[..., :, None] * weights[..., None, :]
    grad_scores = np.einsum("...ij,...ijk->...ik", grad_weights, jacobian) / Q.shape[-1] ** 0.5
    return (
        np.einsum("...ij,...jd->...id", grad_scores, K),
        np.einsum("...ij,...id->...jd", grad_scores, Q),
        np.einsum("...ij,...id->...jd", weights, grad),
    )


def window(Q: Array, K: Array, V: Array, left: int, right: int) -> Array:
    """Return attention of each query to the keys from `left` before it to `right` after it."""
    allowed = np.zeros((Q.shape[-2], K.shape[-2]))
    for i in range(Q.shape[-2]):
        allowed[i, max(0, i - left) : i + right + 1] = 1
    return attention(Q, K, V, allowed)[0]


def grouped(Q: Array, K: Array, V: Array, allowed: Array | int = 1) -> Array:
    """Return attention head by head, each with the keys and values of its group."""
    heads, shared = Q.shape[-3], K.shape[-3]
    allowed = np.broadcast_to(allowed, (*Q.shape[:-1], K.shape[-2]))
    found = []
    for head in range(heads):
        own = head * shared // heads
        found.append(attention(Q[..., head, :, :], K[..., own, :, :], V[..., own, :, :], allowed[..., head, :, :])[0])
    return np.stack(found, axis=-3)


def rotary(x: Array, positions: Array, base: float, interleaved: bool) -> Array:
    """Return the pairs of features as complex numbers, multiplied by exp(i angle)."""
    half = x.shape[-1] // 2
    chosen = [(2 * i, 2 * i + 1) if interleaved else (i, i + half) for i in range(half)]
    positions = np.broadcast_to(positions, x.shape[:-1])
    turned = np.zeros(x.shape)
    for i, (first, second) in enumerate(chosen):
        points = (x[..., first] + 1j * x[..., second]) * np.exp(1j * positions / base ** (2 * i / (2 * half)))
        turned[..., first], turned[..., second] = points.real, points.imag
    return turned


def slopes(num_heads: int) -> list[float]:
    """Return the slopes as the paper's code has them: a geometric sequence, and for other numbers two of them."""
    exponent = math.log2(num_heads)
    if exponent.is_integer():
        start = 2 ** -(2 ** -(exponent - 3))
        return [start * start**i for i in range(num_heads)]
    closest = 2 ** math.floor(exponent)
    return slopes(closest) + slopes(2 * closest)[0::2][: num_heads - closest]


def bias(num_heads: int, seq_length: int, causal: bool) -> Array:
    """Return the bias of every head, entry by entry."""
    found = np.zeros((num_heads, seq_length, seq_length))
    for head, slope in enumerate(slopes(num_heads)):
        for i in range(seq_length):
            for j in range(seq_length):
                found[head, i, j] = -math.inf if causal and j > i else slope * min(i - j, j - i)
    return found


def rms(x: Array, gamma: Array, eps: float, outside: bool = False) -> Array:
    """Return gamma x / sqrt(mean(x^2) + eps), or with eps outside of the root."""
    size = np.linalg.norm(x, axis=-1, keepdims=True) / x.shape[-1] ** 0.5
    return np.asarray(x / (size + eps if outside else np.hypot(size, eps**0.5)) * gamma)


def linear(Q: Array, K: Array, V: Array, causal: bool, eps: float = 0.0) -> Array:
    """Return linear attention from the array of all products of phi(q) and phi(k)."""
    shapes = [np.where(x <= 0, np.expm1(np.minimum(x, 0)), x) + 1 for x in (Q, K)]
    products = np.einsum("...id,...jd->...ij", *shapes) * allowed_pairs(Q.shape[-2], K.shape[-2], causal)
    return np.asarray(np.einsum("...ij,...jd->...id", products, V) / (products.sum(axis=-1)[..., None] + eps))


def linear_far_below(Q: Array, K: Array, V: Array, causal: bool) -> Array:
    """Return linear attention of features below 0, whose phi is exp: from exponents that are shifted before exp."""
    exponents = Q[..., :, None, :] + K[..., None, :, :]
    products = np.exp(exponents - exponents.max()).sum(axis=-1) * allowed_pairs(Q.shape[-2], K.shape[-2], causal)
    return np.asarray(np.einsum("...ij,...jd->...id", products, V) / products.sum(axis=-1)[..., None])


def draw_far_below(rng: np.random.Generator, seq_q: int, seq_k: int) -> tuple[Array, Array]:
    """Return Q and K of one feature whose scores are far below 0, and far from each other."""
    keys = -np.sqrt(-FAR_BELOW) * (1.0 + rng.permutation(seq_k) / seq_k)
    return np.sqrt(-FAR_BELOW) * rng.uniform(1.0, 2.0, size=(seq_q, 1)), keys[:, None]


def assert_either(result: object, first: Array, second: Array, **options: Any) -> None:
    """Assert that the result is one of two arrays, those of two conventions."""
    __tracebackhide__ = True
    assert_shape(result, first.shape)
    distances = [float(np.nan_to_num(np.abs(np.asarray(result) - each), nan=np.inf).max()) for each in (first, second)]
    assert_array(result, second if distances[1] < distances[0] else first, **options)


def draw(rng: np.random.Generator, leading: tuple[int, ...], seq_q: int, seq_k: int, d: int, d_v: int) -> list[Array]:
    """Return Q, K and V of these sizes."""
    return [rng.normal(size=(*leading, *shape)) for shape in ((seq_q, d), (seq_k, d), (seq_k, d_v))]


def draw_key_mask(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Return a mask of keys with an allowed and a masked key in every row."""
    mask = rng.random(shape) < 0.6
    for row in np.ndindex(shape[:-1]):
        first, second = rng.choice(shape[-1], size=2, replace=False)
        mask[(*row, first)], mask[(*row, second)] = True, False
    return mask


def held(function: Any, *args: Any, what: str, most_mb: float = MOST_MB, **options: Any) -> Any:
    """Return what a call returns, which has to hold no more than most_mb at once."""
    result, peak = peak_memory(function, *args, **options)
    found = peak / 2**20
    if found > most_mb:
        said = f"{what} held {found:.0f} MB at once; {most_mb:g} MB are more than enough for what the contract allows"
        raise AssertionError(f"{said}. Is there an array with an entry for each query and key, a mask perhaps?")
    return result


def some_rows(rng: np.random.Generator, length: int, *chosen: int) -> Array:
    """Return the chosen places, the last one, and some that nobody knows before, of so many."""
    return np.unique([*chosen, length - 1, *rng.integers(length, size=4)])


def assert_rows(
    result: object, expected: Array, places: Array, shape: tuple[int, ...], *, name: str, rtol: float | None = None
) -> None:
    """Assert that the result has a shape and, at some places along its first axis, the rows that are expected."""
    __tracebackhide__ = True
    assert_shape(result, shape, name=name)
    assert_equal(isinstance(result, np.ndarray), True, name=f"whether {name} is an array")
    assert_array(np.asarray(result)[places], expected, name=f"{name} at some positions", terms=shape[0], rtol=rtol)

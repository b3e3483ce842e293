"""What convolution and pooling should return, worked out place by place, and a LeNet made of that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.testing import assert_array

Array = npt.NDArray[Any]

SHAPES = [(6, 1, 5, 5), (16, 6, 5, 5), (400, 120), (120, 84), (84, 3)]  # the weights of a LeNet with three classes
TRAINED = ["the first Conv2D", "the second Conv2D", *(f"the {nth} dense layer" for nth in ("first", "second", "third"))]
SETTINGS = [(1, 0), (2, 1), (3, 2), (1, 2), (2, 0)]  # stride and padding


def padded(x: Array, padding: int) -> Array:
    """Return x in the middle of zeros."""
    batch, channels, height, width = x.shape
    result = np.zeros((batch, channels, height + 2 * padding, width + 2 * padding), x.dtype)
    result[:, :, padding : height + padding, padding : width + padding] = x
    return result


def places(size: int, kernel: int, stride: int = 1, padding: int = 0) -> list[int]:
    """Return where along a padded axis a kernel begins, counted by trying every pixel."""
    return [start for start in range(0, size + 2 * padding, stride) if start + kernel <= size + 2 * padding]


def columns_of(x: Array, kernel: tuple[int, int], stride: int, padding: int) -> Array:
    """Return the windows as rows, one number after the other."""
    wide = padded(x, padding)
    rows = [
        [wide[n, c, i + p, j + q] for c in range(x.shape[1]) for p in range(kernel[0]) for q in range(kernel[1])]
        for n in range(x.shape[0])
        for i in places(x.shape[2], kernel[0], stride, padding)
        for j in places(x.shape[3], kernel[1], stride, padding)
    ]
    return np.array(rows, dtype=x.dtype)


def images_of(columns: Array, shape: tuple[int, ...], kernel: tuple[int, int], stride: int, padding: int) -> Array:
    """Return the images to which rows of windows add up, using columns of pixel numbers instead of pixels."""
    numbers = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
    sources = columns_of(numbers, kernel, stride, padding).astype(int)
    sums = np.bincount(sources.ravel(), weights=columns.ravel().astype(np.float64), minlength=1 + numbers.size)
    return np.asarray(sums[1:].reshape(shape))


def convolve(x: Array, W: Array, b: Array, stride: int = 1, padding: int = 0) -> Array:
    """Return the convolution, place by place."""
    wide, (height, width) = padded(x, padding), W.shape[2:]
    lines = [
        [np.einsum("nchw,fchw->nf", wide[:, :, i : i + height, j : j + width], W) + b for j in starts]
        for starts in [places(x.shape[3], width, stride, padding)]
        for i in places(x.shape[2], height, stride, padding)
    ]
    return np.moveaxis(np.array(lines), (0, 1), (2, 3))


def convolve_gradients(
    grad: Array, x: Array, W: Array, stride: int = 1, padding: int = 0
) -> tuple[Array, Array, Array]:
    """Return the gradients of x, W and b, place by place."""
    wide, (height, width) = padded(x, padding), W.shape[2:]
    grad_wide, grad_W = np.zeros_like(wide), np.zeros_like(W)
    for line, i in enumerate(places(x.shape[2], height, stride, padding)):
        for place, j in enumerate(places(x.shape[3], width, stride, padding)):
            here = grad[:, :, line, place]
            grad_wide[:, :, i : i + height, j : j + width] += np.einsum("nf,fchw->nchw", here, W)
            grad_W += np.einsum("nf,nchw->fchw", here, wide[:, :, i : i + height, j : j + width])
    inside = (slice(padding, padding + x.shape[2]), slice(padding, padding + x.shape[3]))
    return grad_wide[:, :, *inside], grad_W, np.einsum("nfij->f", grad)


def pool(x: Array, size: int, stride: int, reduce: Callable[..., Any]) -> Array:
    """Return reduce of each window of each channel."""
    rows, columns = places(x.shape[2], size, stride), places(x.shape[3], size, stride)
    windows = [[reduce(x[:, :, i : i + size, j : j + size], axis=(2, 3)) for j in columns] for i in rows]
    return np.moveaxis(np.array(windows), (0, 1), (2, 3))


def max_pool_gradient(grad: Array, x: Array, size: int, stride: int) -> Array:
    """Return the gradient of x, looking for each window's largest number by hand."""
    result = np.zeros_like(x, dtype=np.result_type(x, grad))
    for n, c, line, place in np.ndindex(grad.shape):
        window = [(line * stride + p, place * stride + q) for p in range(size) for q in range(size)]
        best = max(window, key=lambda at: x[n, c, *at])  # the first of equals
        result[n, c, *best] += grad[n, c, line, place]
    return result


def avg_pool_gradient(grad: Array, x: Array, size: int, stride: int) -> Array:
    """Return the gradient of x, each window's shared out."""
    result = np.zeros_like(x, dtype=np.result_type(x, grad))
    for line, place in np.ndindex(grad.shape[2:]):
        i, j = line * stride, place * stride
        result[:, :, i : i + size, j : j + size] += grad[:, :, line, place, None, None] / (size * size)
    return result


def lenet(x: Array, weights: list[Array], biases: list[Array]) -> tuple[Array, list[Array]]:
    """Return a LeNet's scores, and what its backward pass needs."""
    first = convolve(x, weights[0], biases[0], padding=2)
    pooled = pool(first.clip(0), 2, 2, np.max)
    second = convolve(pooled, weights[1], biases[1])
    features = pool(second.clip(0), 2, 2, np.max).reshape(len(x), 400)
    third = features @ weights[2] + biases[2]
    fourth = third.clip(0) @ weights[3] + biases[3]
    return fourth.clip(0) @ weights[4] + biases[4], [x, first, pooled, second, features, third, fourth]


def lenet_gradients(grad: Array, kept: list[Array], weights: list[Array]) -> tuple[Array, list[Array], list[Array]]:
    """Return the gradients of the images, the weights and the biases of a LeNet."""
    x, first, pooled, second, features, third, fourth = kept
    of_weights: list[Array] = [fourth.clip(0).T @ grad]
    of_biases: list[Array] = [grad.sum(axis=0)]
    grad = grad @ weights[4].T * (fourth > 0)
    of_weights.insert(0, third.clip(0).T @ grad)
    of_biases.insert(0, grad.sum(axis=0))
    grad = grad @ weights[3].T * (third > 0)
    of_weights.insert(0, features.T @ grad)
    of_biases.insert(0, grad.sum(axis=0))
    grad = (grad @ weights[2].T).reshape(-1, 16, 5, 5)
    grad = max_pool_gradient(grad, second.clip(0), 2, 2) * (second > 0)
    grad, of_W, of_b = convolve_gradients(grad, pooled, weights[1])
    of_weights.insert(0, of_W)
    of_biases.insert(0, of_b)
    grad = max_pool_gradient(grad, first.clip(0), 2, 2) * (first > 0)
    grad, of_W, of_b = convolve_gradients(grad, x, weights[0], padding=2)
    return grad, [of_W, *of_weights], [of_b, *of_biases]


def draw_sizes(rng: np.random.Generator, count: int, least: int = 2) -> list[int]:
    """Return that many different sizes, so that no two axes of a shape can be confused."""
    return [int(size) for size in rng.choice(np.arange(least, least + count + 1), size=count, replace=False)]


def draw_convolution(rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return images, kernels and biases; no two axes that could be confused are of one size."""
    batch, channels, filters = draw_sizes(rng, 3)
    kernel_height, kernel_width = draw_sizes(rng, 2, least=1)
    height, width = draw_sizes(rng, 2, least=6)
    x = rng.normal(size=(batch, channels, height, width))
    return x, rng.normal(size=(filters, channels, kernel_height, kernel_width)), rng.normal(size=filters)


def draw_distinct(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Return numbers of both signs of which no two come closer than 0.1, so that a small step changes no maximum."""
    count = int(np.prod(shape))
    return np.asarray((rng.permutation(count).reshape(shape) - count / 2 + 0.3) / 10)


def draw_lenet(rng: np.random.Generator) -> tuple[list[Array], list[Array]]:
    """Return weights of the size that keeps signals alive, and biases that are not zero."""
    weights = [
        rng.normal(size=shape) * (2 / max(25 * shape[1] * (len(shape) == 4), shape[0])) ** 0.5 for shape in SHAPES
    ]
    return weights, [rng.normal(size=shape[0] if len(shape) == 4 else shape[1]) / 4 for shape in SHAPES]


def with_parameters(layers: Any) -> list[Any]:
    """Return the layers of a learner's network that have parameters, and check how many they are."""
    found = [layer for layer in layers if layer.params]
    if len(found) != len(SHAPES):
        raise AssertionError(f"expected {len(SHAPES)} layers with parameters, got {len(found)}")
    return found


def load_lenet(layers: Any, weights: list[Array], biases: list[Array]) -> None:
    """Give a learner's network these parameters."""
    for layer, each, bias in zip(with_parameters(layers), weights, biases, strict=True):
        layer.params = {"weights": each, "bias": bias}


def apply(layers: Any, x: Any) -> Any:
    """Return what the layers make of x, one after the other."""
    for layer in layers:
        x = layer.forward(x)
    return x


def back(layers: Any, grad: Any) -> Any:
    """Return what the layers make of a gradient, the last one first."""
    for layer in reversed(list(layers)):
        grad = layer.backward(grad)
    return grad


def unpack(result: Any, *names: str) -> Any:
    """Return the values of a tuple; AssertionError naming them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


def assert_grads(actual: Any, expected: Mapping[str, Array], of: str = "", **options: Any) -> None:
    """Assert that a dict of gradients has these keys and values; of says what layer's it is."""
    grads = f"grads of {of}" if of else "grads"
    if not isinstance(actual, Mapping) or set(actual) != set(expected):
        got = sorted(map(str, actual)) if isinstance(actual, Mapping) else type(actual).__name__
        raise AssertionError(f"expected {grads} to be a dict with the keys {sorted(expected)}, got {got}")
    for name, value in expected.items():
        assert_array(actual[name], value, name=f"{grads}, {name!r}" if of else f"grads[{name!r}]", **options)

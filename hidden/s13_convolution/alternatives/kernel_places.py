"""Convolution and pooling by shifted slices: one loop over the places inside of the kernel, no matrix of windows."""

import numpy as np


def _check_axes(x):
    if np.ndim(x) != 4:
        raise ValueError(f"x has {np.ndim(x)} axes, not the four of (batch, channels, height, width)")


def _check_grad(grad_output, shape):
    if np.shape(grad_output) != tuple(shape):
        raise ValueError(f"grad_output has the shape {np.shape(grad_output)}, not {tuple(shape)}")


def pad2d(x, padding):
    _check_axes(x)
    if padding < 0:
        raise ValueError(f"padding is {padding}, not at least 0")
    batch, channels, height, width = x.shape
    result = np.zeros((batch, channels, height + 2 * padding, width + 2 * padding), dtype=x.dtype)
    result[:, :, padding : padding + height, padding : padding + width] = x
    return result


def output_size(size, kernel_size, stride=1, padding=0):
    if kernel_size < 1 or stride < 1 or padding < 0:
        raise ValueError(f"kernel_size {kernel_size}, stride {stride}, padding {padding} are not 1, 1, 0 or more")
    count = len(range(0, size + 2 * padding - kernel_size + 1, stride))
    if count == 0:
        raise ValueError(f"a kernel of {kernel_size} does not fit into {size} pixels with padding {padding}")
    return count


def _slices(kernel, counts, stride):
    for p in range(kernel[0]):
        for q in range(kernel[1]):
            rows = slice(p, p + stride * (counts[0] - 1) + 1, stride)
            columns = slice(q, q + stride * (counts[1] - 1) + 1, stride)
            yield p, q, (slice(None), slice(None), rows, columns)


def _counts(shape, kernel, stride, padding):
    return [output_size(size, side, stride, padding) for size, side in zip(shape[2:], kernel)]


def im2col(x, kernel_height, kernel_width, stride=1, padding=0):
    wide = pad2d(x, padding)
    kernel = (kernel_height, kernel_width)
    counts = _counts(x.shape, kernel, stride, padding)
    result = np.empty((x.shape[0], *counts, x.shape[1], kernel_height, kernel_width), dtype=x.dtype)
    for p, q, where in _slices(kernel, counts, stride):
        result[..., p, q] = np.moveaxis(wide[where], 1, 3)
    return result.reshape(x.shape[0] * counts[0] * counts[1], -1)


def col2im(columns, x_shape, kernel_height, kernel_width, stride=1, padding=0):
    kernel = (kernel_height, kernel_width)
    counts = _counts(x_shape, kernel, stride, padding)
    if columns.shape != (x_shape[0] * counts[0] * counts[1], x_shape[1] * kernel_height * kernel_width):
        raise ValueError(f"columns has the shape {columns.shape}, which is not that of the windows of {x_shape}")
    parts = columns.reshape(x_shape[0], *counts, x_shape[1], *kernel)
    wide = pad2d(np.zeros(x_shape, dtype=columns.dtype), padding)
    for p, q, where in _slices(kernel, counts, stride):
        wide[where] += np.moveaxis(parts[..., p, q], 3, 1)
    return wide[:, :, padding : wide.shape[2] - padding, padding : wide.shape[3] - padding]


def conv2d_forward(x, W, b, stride=1, padding=0):
    if W.ndim != 4 or b.ndim != 1 or len(b) != len(W):
        raise ValueError(f"W and b have the shapes {W.shape} and {b.shape}; four axes and one number a filter are due")
    wide = pad2d(x, padding)
    if x.shape[1] != W.shape[1]:
        raise ValueError(f"x has {x.shape[1]} channels, W is for {W.shape[1]}")
    counts = _counts(x.shape, W.shape[2:], stride, padding)
    out = np.zeros((len(x), len(W), *counts), dtype=np.result_type(x, W, b))
    for p, q, where in _slices(W.shape[2:], counts, stride):
        out += np.moveaxis(np.tensordot(W[:, :, p, q], wide[where], axes=(1, 1)), 0, 1)
    out += b[:, None, None]
    return out, {"wide": wide, "W": W, "counts": counts, "stride": stride, "padding": padding}


def conv2d_backward(grad_output, cache):
    wide, W, padding = cache["wide"], cache["W"], cache["padding"]
    _check_grad(grad_output, (len(wide), len(W), *cache["counts"]))
    grad_wide, grad_W = np.zeros_like(wide), np.zeros_like(W)
    for p, q, where in _slices(W.shape[2:], cache["counts"], cache["stride"]):
        grad_W[:, :, p, q] = np.tensordot(grad_output, wide[where], axes=((0, 2, 3), (0, 2, 3)))
        grad_wide[where] += np.moveaxis(np.tensordot(W[:, :, p, q], grad_output, axes=(0, 1)), 0, 1)
    grad_x = grad_wide[:, :, padding : wide.shape[2] - padding, padding : wide.shape[3] - padding]
    return grad_x, grad_W, grad_output.sum(axis=(0, 2, 3))


def max_pool2d_forward(x, pool_size=2, stride=None):
    _check_axes(x)
    step = pool_size if stride is None else stride
    kernel = (pool_size, pool_size)
    counts = _counts(x.shape, kernel, step, 0)
    best = np.full((*x.shape[:2], *counts), -np.inf, dtype=x.dtype)
    winner = np.zeros(best.shape, dtype=int)
    for p, q, where in _slices(kernel, counts, step):
        better = x[where] > best
        best[better] = x[where][better]
        winner[better] = p * pool_size + q
    return best, [winner, list(x.shape), pool_size, step]


def max_pool2d_backward(grad_output, cache):
    winner, shape, pool_size, step = cache
    _check_grad(grad_output, winner.shape)
    grad_x = np.zeros(shape, dtype=grad_output.dtype)
    for p, q, where in _slices((pool_size, pool_size), winner.shape[2:], step):
        grad_x[where] += np.where(winner == p * pool_size + q, grad_output, 0)
    return grad_x


def avg_pool2d_forward(x, pool_size=2, stride=None):
    _check_axes(x)
    step = pool_size if stride is None else stride
    counts = _counts(x.shape, (pool_size, pool_size), step, 0)
    total = sum(x[where] for _, _, where in _slices((pool_size, pool_size), counts, step))
    return total / pool_size**2, [list(x.shape), counts, pool_size, step]


def avg_pool2d_backward(grad_output, cache):
    shape, counts, pool_size, step = cache
    _check_grad(grad_output, (*shape[:2], *counts))
    grad_x = np.zeros(shape, dtype=grad_output.dtype)
    for _, _, where in _slices((pool_size, pool_size), counts, step):
        grad_x[where] += grad_output / pool_size**2
    return grad_x


class Conv2D:
    def __init__(self, num_channels, num_filters, kernel_size, stride=1, padding=0, rng=None):
        generator = np.random.default_rng() if rng is None else rng
        shape = (num_filters, num_channels, kernel_size, kernel_size)
        deviation = np.sqrt(2 / (num_channels * kernel_size * kernel_size))
        self.params = {"bias": np.zeros(num_filters), "weights": generator.normal(0, deviation, size=shape)}
        self.grads = {}
        self.steps = (stride, padding)
        self.cache = None

    def forward(self, x):
        out, self.cache = conv2d_forward(x, self.params["weights"], self.params["bias"], *self.steps)
        return out

    def backward(self, grad_output):
        if self.cache is None:
            raise RuntimeError("call forward first")
        grad_x, self.grads["weights"], self.grads["bias"] = conv2d_backward(grad_output, self.cache)
        return grad_x


class MaxPool2D:
    def __init__(self, pool_size=2, stride=None):
        self.params, self.grads = {}, {}
        self.arguments = (pool_size, stride)
        self.cache = None

    def forward(self, x):
        out, self.cache = max_pool2d_forward(x, *self.arguments)
        return out

    def backward(self, grad_output):
        if self.cache is None:
            raise RuntimeError("call forward first")
        return max_pool2d_backward(grad_output, self.cache)


class Flatten:
    def __init__(self):
        self.params, self.grads = {}, {}
        self.shape = None

    def forward(self, x):
        self.shape = x.shape
        return x.reshape(x.shape[0], int(np.prod(x.shape[1:])))

    def backward(self, grad_output):
        if self.shape is None:
            raise RuntimeError("call forward first")
        _check_grad(grad_output, (self.shape[0], int(np.prod(self.shape[1:]))))
        return np.reshape(grad_output, self.shape)


class Dense:
    """A dense layer with ReLU, if it is asked for."""

    def __init__(self, sizes, rng, relu):
        self.params = {"weights": rng.normal(0, np.sqrt(2 / sizes[0]), size=sizes), "bias": np.zeros(sizes[1])}
        self.grads = {}
        self.relu = relu

    def forward(self, x):
        self.x = x
        out = x @ self.params["weights"] + self.params["bias"]
        self.slope = (out > 0).astype(out.dtype) if self.relu else np.ones_like(out)
        return out * self.slope

    def backward(self, grad_output):
        grad = grad_output * self.slope
        self.grads = {"weights": self.x.T @ grad, "bias": grad.sum(axis=0)}
        return grad @ self.params["weights"].T


class ConvolutionWithReLU(Conv2D):
    """A convolution and ReLU in one layer."""

    def forward(self, x):
        self.out = np.maximum(super().forward(x), 0)
        return self.out

    def backward(self, grad_output):
        return super().backward(grad_output * (self.out > 0))


def build_lenet(num_classes, rng):
    dense = [Dense(sizes, rng, relu) for sizes, relu in (((400, 120), 1), ((120, 84), 1), ((84, num_classes), 0))]
    first, second = ConvolutionWithReLU(1, 6, 5, 1, 2, rng), ConvolutionWithReLU(6, 16, 5, rng=rng)
    return [first, MaxPool2D(), second, MaxPool2D(), Flatten(), *dense]

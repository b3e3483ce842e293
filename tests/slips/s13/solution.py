"""A student's answer to stage s13, written from its README and stub alone; the slips of slips.toml are made in it."""

import numpy as np


def check_images(x):
    if x.ndim != 4:
        raise ValueError(f"x: shape {x.shape}, expected (batch, channels, height, width)")


def check_gradient(grad_output, shape):
    if grad_output.shape != shape:
        raise ValueError(f"grad_output: shape {grad_output.shape}, expected {shape}")


def pad2d(x, padding):
    check_images(x)
    if padding < 0:
        raise ValueError(f"padding: {padding}, expected at least 0")
    n, c, h, w = x.shape
    padded = np.zeros((n, c, h + 2 * padding, w + 2 * padding), dtype=x.dtype)
    padded[:, :, padding : padding + h, padding : padding + w] = x
    return padded


def output_size(size, kernel_size, stride=1, padding=0):
    if kernel_size < 1:
        raise ValueError(f"kernel_size: {kernel_size}, expected at least 1")
    if stride < 1:
        raise ValueError(f"stride: {stride}, expected at least 1")
    if padding < 0:
        raise ValueError(f"padding: {padding}, expected at least 0")
    room = size + 2 * padding - kernel_size
    if room < 0:
        raise ValueError(f"kernel_size: {kernel_size}, expected at most {size + 2 * padding}")
    return int(room // stride) + 1


def im2col(x, kernel_height, kernel_width, stride=1, padding=0):
    check_images(x)
    n, c, h, w = x.shape
    oh = output_size(h, kernel_height, stride, padding)
    ow = output_size(w, kernel_width, stride, padding)
    padded = pad2d(x, padding)
    windows = np.empty((n, oh, ow, c, kernel_height, kernel_width), dtype=x.dtype)
    for p in range(kernel_height):
        for q in range(kernel_width):
            pixels = padded[:, :, p : p + stride * oh : stride, q : q + stride * ow : stride]
            windows[:, :, :, :, p, q] = pixels.transpose(0, 2, 3, 1)
    return windows.reshape(n * oh * ow, c * kernel_height * kernel_width)


def col2im(columns, x_shape, kernel_height, kernel_width, stride=1, padding=0):
    n, c, h, w = x_shape
    oh = output_size(h, kernel_height, stride, padding)
    ow = output_size(w, kernel_width, stride, padding)
    expected = (n * oh * ow, c * kernel_height * kernel_width)
    if columns.shape != expected:
        raise ValueError(f"columns: shape {columns.shape}, expected {expected}")
    windows = columns.reshape(n, oh, ow, c, kernel_height, kernel_width)
    padded = np.zeros((n, c, h + 2 * padding, w + 2 * padding), dtype=columns.dtype)
    for p in range(kernel_height):
        for q in range(kernel_width):
            target = padded[:, :, p : p + stride * oh : stride, q : q + stride * ow : stride]
            target += windows[:, :, :, :, p, q].transpose(0, 3, 1, 2)
    return padded[:, :, padding : padding + h, padding : padding + w]


def conv2d_forward(x, W, b, stride=1, padding=0):
    check_images(x)
    if W.ndim != 4 or W.shape[1] != x.shape[1]:
        raise ValueError(f"W: shape {W.shape}, expected (filters, {x.shape[1]}, kernel_height, kernel_width)")
    if b.shape != (W.shape[0],):
        raise ValueError(f"b: shape {b.shape}, expected ({W.shape[0]},)")
    n, _, h, w = x.shape
    f, _, kh, kw = W.shape
    oh = output_size(h, kh, stride, padding)
    ow = output_size(w, kw, stride, padding)
    columns = im2col(x, kh, kw, stride, padding)
    W_rows = W.reshape(f, -1)
    out = columns @ W_rows.T + b
    out = out.reshape(n, oh, ow, f).transpose(0, 3, 1, 2)
    return out, (columns, W.copy(), x.shape, stride, padding, out.shape)


def conv2d_backward(grad_output, cache):
    columns, W, x_shape, stride, padding, out_shape = cache
    check_gradient(grad_output, tuple(out_shape))
    f, _, kh, kw = W.shape
    G = grad_output.transpose(0, 2, 3, 1).reshape(-1, f)
    grad_W = (G.T @ columns).reshape(W.shape)
    grad_b = G.sum(axis=0)
    grad_columns = G @ W.reshape(f, -1)
    grad_x = col2im(grad_columns, x_shape, kh, kw, stride, padding)
    return grad_x, grad_W, grad_b


def pool_windows(x, pool_size, stride):
    check_images(x)
    n, c, h, w = x.shape
    if stride is None:
        stride = pool_size
    oh = output_size(h, pool_size, stride)
    ow = output_size(w, pool_size, stride)
    rows = im2col(x.reshape(n * c, 1, h, w), pool_size, pool_size, stride)
    return rows, (n, c, oh, ow), stride


def max_pool2d_forward(x, pool_size=2, stride=None):
    rows, out_shape, stride = pool_windows(x, pool_size, stride)
    winners = rows.argmax(axis=1)
    out = rows.max(axis=1).reshape(out_shape)
    return out, (winners, x.shape, out_shape, pool_size, stride)


def max_pool2d_backward(grad_output, cache):
    winners, x_shape, out_shape, pool_size, stride = cache
    check_gradient(grad_output, tuple(out_shape))
    rows = np.zeros((len(winners), pool_size * pool_size), dtype=grad_output.dtype)
    rows[np.arange(len(winners)), winners] = grad_output.reshape(-1)
    n, c, h, w = x_shape
    grad_x = col2im(rows, (n * c, 1, h, w), pool_size, pool_size, stride)
    return grad_x.reshape(x_shape)


def avg_pool2d_forward(x, pool_size=2, stride=None):
    rows, out_shape, stride = pool_windows(x, pool_size, stride)
    out = rows.mean(axis=1).reshape(out_shape)
    return out, (x.shape, out_shape, pool_size, stride)


def avg_pool2d_backward(grad_output, cache):
    x_shape, out_shape, pool_size, stride = cache
    check_gradient(grad_output, tuple(out_shape))
    share = grad_output.reshape(-1, 1) / (pool_size * pool_size)
    rows = np.repeat(share, pool_size * pool_size, axis=1)
    n, c, h, w = x_shape
    grad_x = col2im(rows, (n * c, 1, h, w), pool_size, pool_size, stride)
    return grad_x.reshape(x_shape)


class Conv2D:
    def __init__(self, num_channels, num_filters, kernel_size, stride=1, padding=0, rng=None):
        if rng is None:
            rng = np.random.default_rng()
        std = np.sqrt(2.0 / (num_channels * kernel_size**2))
        weights = rng.normal(0.0, std, (num_filters, num_channels, kernel_size, kernel_size))
        self.params = {"weights": weights, "bias": np.zeros(num_filters)}
        self.grads = {}
        self.stride = stride
        self.padding = padding
        self.cache = None

    def forward(self, x):
        out, self.cache = conv2d_forward(x, self.params["weights"], self.params["bias"], self.stride, self.padding)
        return out

    def backward(self, grad_output):
        if self.cache is None:
            raise RuntimeError("Conv2D.backward was called before forward")
        grad_x, grad_W, grad_b = conv2d_backward(grad_output, self.cache)
        self.grads = {"weights": grad_W, "bias": grad_b}
        return grad_x


class MaxPool2D:
    def __init__(self, pool_size=2, stride=None):
        self.params, self.grads = {}, {}
        self.pool_size, self.stride = pool_size, stride
        self.cache = None

    def forward(self, x):
        out, self.cache = max_pool2d_forward(x, self.pool_size, self.stride)
        return out

    def backward(self, grad_output):
        if self.cache is None:
            raise RuntimeError("MaxPool2D.backward was called before forward")
        return max_pool2d_backward(grad_output, self.cache)


class Flatten:
    def __init__(self):
        self.params, self.grads = {}, {}
        self.shape = None

    def forward(self, x):
        self.shape = x.shape
        return x.reshape(len(x), -1)

    def backward(self, grad_output):
        if self.shape is None:
            raise RuntimeError("Flatten.backward was called before forward")
        check_gradient(grad_output, (self.shape[0], int(np.prod(self.shape[1:]))))
        return grad_output.reshape(self.shape)


class Linear:
    def __init__(self, num_inputs, num_outputs, rng):
        std = np.sqrt(2.0 / num_inputs)
        self.params = {"weights": rng.normal(0.0, std, (num_inputs, num_outputs)), "bias": np.zeros(num_outputs)}
        self.grads = {}

    def forward(self, x):
        self.x = x
        return x @ self.params["weights"] + self.params["bias"]

    def backward(self, grad_output):
        self.grads = {"weights": self.x.T @ grad_output, "bias": grad_output.sum(axis=0)}
        return grad_output @ self.params["weights"].T


class ReLU:
    def __init__(self):
        self.params, self.grads = {}, {}

    def forward(self, x):
        self.positive = x > 0
        return np.maximum(x, 0)

    def backward(self, grad_output):
        return grad_output * self.positive


def build_lenet(num_classes, rng):
    return [
        Conv2D(1, 6, 5, padding=2, rng=rng),
        ReLU(),
        MaxPool2D(2),
        Conv2D(6, 16, 5, rng=rng),
        ReLU(),
        MaxPool2D(2),
        Flatten(),
        Linear(400, 120, rng),
        ReLU(),
        Linear(120, 84, rng),
        ReLU(),
        Linear(84, num_classes, rng),
    ]

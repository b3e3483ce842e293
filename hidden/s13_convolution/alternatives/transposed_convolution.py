"""Gradients as convolutions: grad_x is a convolution of the stretched gradient with kernels turned over."""

import numpy as np
from numpy.lib.stride_tricks import as_strided


def pad2d(x, padding):
    if x.ndim != 4 or padding < 0:
        raise ValueError(f"expected four axes and no negative padding, got {x.shape} and {padding}")
    return np.pad(x, [(0, 0)] * 2 + [(padding, padding)] * 2)


def output_size(size, kernel_size, stride=1, padding=0):
    if kernel_size <= 0 or stride <= 0 or padding < 0:
        raise ValueError(f"{kernel_size}, {stride}, {padding}: kernel and stride start at 1, padding at 0")
    last = size + 2 * padding - kernel_size
    if last < 0:
        raise ValueError(f"{kernel_size} pixels are too many for {size} and padding {padding}")
    places = 1
    while places * stride <= last:
        places += 1
    return places


def _windows(x, kernel, stride):
    """A view of all windows, (batch, channels, down, across, kernel_height, kernel_width)."""
    if x.ndim != 4:
        raise ValueError(f"expected four axes, got {x.shape}")
    x = np.ascontiguousarray(x)
    places = [output_size(size, side, stride) for size, side in zip(x.shape[2:], kernel)]
    batch, channels, line, pixel = x.strides
    strides = (batch, channels, stride * line, stride * pixel, line, pixel)
    return as_strided(x, (*x.shape[:2], *places, *kernel), strides, writeable=False)


def im2col(x, kernel_height, kernel_width, stride=1, padding=0):
    windows = _windows(pad2d(x, padding), (kernel_height, kernel_width), stride)
    return np.concatenate([np.moveaxis(image, 0, 2).reshape(-1, image[:, 0, 0].size) for image in windows])


def col2im(columns, x_shape, kernel_height, kernel_width, stride=1, padding=0):
    batch, channels, height, width = x_shape
    down, across = (output_size(n, k, stride, padding) for n, k in ((height, kernel_height), (width, kernel_width)))
    if columns.shape != (batch * down * across, channels * kernel_height * kernel_width):
        raise ValueError(f"columns of shape {columns.shape} are not windows of images {x_shape}")
    grads = columns.reshape(batch, down * across, channels, kernel_height, kernel_width)
    rows = stride * np.repeat(np.arange(down), across)[:, None, None] + np.arange(kernel_height)[:, None]
    lines = stride * np.tile(np.arange(across), down)[:, None, None] + np.arange(kernel_width)
    padded = np.zeros((height + 2 * padding, width + 2 * padding, batch, channels), columns.dtype)
    np.add.at(padded, (rows, lines), grads.transpose(1, 3, 4, 0, 2))
    return padded[padding : padding + height, padding : padding + width].transpose(2, 3, 0, 1)


def conv2d_forward(x, W, b, stride=1, padding=0):
    wide = pad2d(x, padding)
    if W.ndim != 4 or W.shape[1] != x.shape[1] or b.shape != (W.shape[0],):
        raise ValueError(f"expected kernels and biases for {x.shape[1]} channels, got {W.shape} and {b.shape}")
    windows = _windows(wide, W.shape[2:], stride)
    out = np.tensordot(windows, W, axes=((1, 4, 5), (1, 2, 3))) + b
    return np.moveaxis(out, 3, 1), (wide, W, out.shape, stride, padding)


def conv2d_backward(grad_output, cache):
    wide, W, (batch, down, across, filters), stride, padding = cache
    if grad_output.shape != (batch, filters, down, across):
        raise ValueError(f"expected a gradient of shape {(batch, filters, down, across)}, got {grad_output.shape}")
    windows = _windows(wide, W.shape[2:], stride)
    grad_W = np.tensordot(grad_output, windows, axes=((0, 2, 3), (0, 2, 3)))
    kernel_height, kernel_width = W.shape[2:]
    tall, broad = wide.shape[2:]
    stretched = np.zeros((batch, filters, tall + kernel_height - 1, broad + kernel_width - 1), grad_output.dtype)
    top, left = kernel_height - 1, kernel_width - 1
    stretched[:, :, top : top + stride * down : stride, left : left + stride * across : stride] = grad_output
    turned = W[:, :, ::-1, ::-1]
    grad_wide = np.tensordot(_windows(stretched, (kernel_height, kernel_width), 1), turned, axes=((1, 4, 5), (0, 2, 3)))
    grad_x = np.moveaxis(grad_wide, 3, 1)[:, :, padding : tall - padding, padding : broad - padding]
    return grad_x, grad_W, np.einsum("nfij->f", grad_output)


def max_pool2d_forward(x, pool_size=2, stride=None):
    stride = pool_size if stride is None else stride
    windows = _windows(x, (pool_size, pool_size), stride)
    out = np.amax(windows, axis=(4, 5))
    return out, (x.copy(), out, pool_size, stride)


def max_pool2d_backward(grad_output, cache):
    x, out, pool_size, stride = cache
    if grad_output.shape != out.shape:
        raise ValueError(f"expected a gradient of shape {out.shape}, got {grad_output.shape}")
    grad_x = np.zeros(x.shape, grad_output.dtype)
    taken = np.zeros(out.shape, bool)
    for p in range(pool_size):
        for q in range(pool_size):
            down, across = out.shape[2:]
            part = np.s_[:, :, p : p + stride * down : stride, q : q + stride * across : stride]
            wins = (x[part][:, :, :down, :across] == out) & ~taken
            grad_x[part] += grad_output * wins
            taken |= wins
    return grad_x


def avg_pool2d_forward(x, pool_size=2, stride=None):
    """Each channel is convolved with a kernel of equal numbers."""
    stride = pool_size if stride is None else stride
    if x.ndim != 4 or pool_size < 1:
        raise ValueError(f"expected four axes and pool_size of 1 or more, got {x.shape} and {pool_size}")
    dtype = np.result_type(x, 1.0)  # of whole numbers: float64
    kernel = np.full((1, 1, pool_size, pool_size), 1 / pool_size**2, dtype=dtype)
    maps = x.reshape(-1, 1, *x.shape[2:])
    out, kept = conv2d_forward(maps, kernel, np.zeros(1, dtype=dtype), stride)
    return out.reshape(*x.shape[:2], *out.shape[2:]), (kept, x.shape)


def avg_pool2d_backward(grad_output, cache):
    kept, shape = cache
    if grad_output.ndim != 4 or grad_output.shape[:2] != shape[:2]:
        raise ValueError(f"expected a gradient for images {shape}, got {grad_output.shape}")
    maps = grad_output.reshape(-1, 1, *grad_output.shape[2:])
    return conv2d_backward(maps, kept)[0].reshape(shape)


class Conv2D:
    def __init__(self, num_channels, num_filters, kernel_size, stride=1, padding=0, rng=None):
        if rng is None:
            rng = np.random.default_rng()
        size = (num_filters, num_channels, kernel_size, kernel_size)
        self.params = {"weights": rng.normal(scale=(num_channels * kernel_size**2 / 2) ** -0.5, size=size)}
        self.params["bias"] = 0.0 * self.params["weights"][:, 0, 0, 0]
        self.grads = {}
        self.settings = stride, padding

    def forward(self, x):
        out, self.cache = conv2d_forward(x, *(self.params[key] for key in ("weights", "bias")), *self.settings)
        return out

    def backward(self, grad_output):
        if not hasattr(self, "cache"):
            raise RuntimeError("there was no forward pass yet")
        grad_x, grad_W, grad_b = conv2d_backward(grad_output, self.cache)
        self.grads.update(weights=grad_W, bias=grad_b)
        return grad_x


class MaxPool2D:
    params: dict = {}
    grads: dict = {}

    def __init__(self, pool_size=2, stride=None):
        self.pool = lambda x: max_pool2d_forward(x, pool_size, stride)

    def forward(self, x):
        out, self.cache = self.pool(x)
        return out

    def backward(self, grad_output):
        if not hasattr(self, "cache"):
            raise RuntimeError("there was no forward pass yet")
        return max_pool2d_backward(grad_output, self.cache)


class Flatten:
    params: dict = {}
    grads: dict = {}

    def forward(self, x):
        self.shape = x.shape
        return x.copy().reshape((x.shape[0], -1))

    def backward(self, grad_output):
        if not hasattr(self, "shape"):
            raise RuntimeError("there was no forward pass yet")
        count = int(np.prod(self.shape))
        if grad_output.ndim != 2 or len(grad_output) != self.shape[0] or grad_output.size != count:
            raise ValueError(
                f"expected the gradient of {count} numbers for images {self.shape}, got {grad_output.shape}"
            )
        return grad_output.reshape(self.shape).copy()


class PointwiseConvolution:
    """A dense layer, computed as a convolution of images of one pixel, and ReLU of its input if that is asked for."""

    def __init__(self, inputs, outputs, rng, relu):
        self.params = {"weights": rng.normal(size=(inputs, outputs)) * (2 / inputs) ** 0.5, "bias": np.zeros(outputs)}
        self.grads = {}
        self.relu = relu

    def forward(self, x):
        self.open = x > 0 if self.relu else np.ones(x.shape, bool)
        pixels = np.where(self.open, x, 0)[:, :, None, None]
        out, self.cache = conv2d_forward(pixels, self.params["weights"].T[:, :, None, None], self.params["bias"])
        return out[:, :, 0, 0]

    def backward(self, grad_output):
        grad_x, grad_W, grad_b = conv2d_backward(grad_output[:, :, None, None], self.cache)
        self.grads = {"weights": grad_W[:, :, 0, 0].T, "bias": grad_b}
        return grad_x[:, :, 0, 0] * self.open


class PoolAndReLU(MaxPool2D):
    """ReLU behind the maximum: the same as in front of it."""

    def forward(self, x):
        self.out = super().forward(x)
        return self.out * (self.out > 0)

    def backward(self, grad_output):
        return super().backward(grad_output * (self.out > 0))


def build_lenet(num_classes, rng):
    layers = [Conv2D(1, 6, 5, padding=2, rng=rng), PoolAndReLU(2), Conv2D(6, 16, 5, rng=rng), PoolAndReLU(2), Flatten()]
    layers.append(PointwiseConvolution(400, 120, rng, relu=False))
    layers.append(PointwiseConvolution(120, 84, rng, relu=True))
    return [*layers, PointwiseConvolution(84, num_classes, rng, relu=True)]

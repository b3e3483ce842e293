"""Windows by indices: an array says for each number of each window which pixel it is; ways back are np.bincount."""

import numpy as np


class Kept:
    """What a forward function keeps for its backward."""

    def __init__(self, **values):
        self.__dict__.update(values)


def pad2d(x, padding):
    if len(x.shape) != 4:
        raise ValueError("x must have four axes")
    if padding < 0:
        raise ValueError("padding must not be negative")
    strip = np.zeros((*x.shape[:3], padding), x.dtype)
    x = np.concatenate([strip, x, strip], axis=3)
    strip = np.zeros((*x.shape[:2], padding, x.shape[3]), x.dtype)
    return np.concatenate([strip, x, strip], axis=2)


def output_size(size, kernel_size, stride=1, padding=0):
    if min(kernel_size, stride) <= 0 or padding < 0 or kernel_size - size > 2 * padding:
        raise ValueError(
            f"no place for a kernel of {kernel_size}, stride {stride}, on {size} pixels and {padding} more"
        )
    return 1 + int(np.floor((size - kernel_size + 2 * padding) / stride))


def _pixels(shape, kernel_height, kernel_width, stride, padding):
    """The number of the padded image's pixel for each place and each number of a window, and the padded shape."""
    _, channels, height, width = shape
    down = output_size(height, kernel_height, stride, padding)
    across = output_size(width, kernel_width, stride, padding)
    tall, wide = height + 2 * padding, width + 2 * padding
    corners = (stride * wide * np.arange(down)[:, None] + stride * np.arange(across)).reshape(-1, 1)
    inside = np.arange(channels)[:, None, None] * tall * wide
    inside = inside + np.arange(kernel_height)[:, None] * wide + np.arange(kernel_width)
    return corners + inside.reshape(1, -1), (channels, tall, wide), (down, across)


def im2col(x, kernel_height, kernel_width, stride=1, padding=0):
    wide = pad2d(x, padding)
    pixels, _, _ = _pixels(x.shape, kernel_height, kernel_width, stride, padding)
    return wide.reshape(len(x), -1)[:, pixels].reshape(-1, pixels.shape[1])


def col2im(columns, x_shape, kernel_height, kernel_width, stride=1, padding=0):
    pixels, (channels, tall, wide), _ = _pixels(x_shape, kernel_height, kernel_width, stride, padding)
    if columns.shape != (x_shape[0] * len(pixels), pixels.shape[1]):
        raise ValueError(f"columns {columns.shape} do not belong to images {x_shape}")
    size = channels * tall * wide
    everywhere = pixels + size * np.arange(x_shape[0])[:, None, None]
    sums = np.bincount(everywhere.ravel(), columns.ravel(), minlength=size * x_shape[0])
    images = sums.reshape(x_shape[0], channels, tall, wide).astype(columns.dtype)
    return images[:, :, padding : tall - padding, padding : wide - padding]


def conv2d_forward(x, W, b, stride=1, padding=0):
    if x.ndim != 4 or W.ndim != 4 or x.shape[1] != W.shape[1] or b.shape != W.shape[:1]:
        raise ValueError(f"x {x.shape}, W {W.shape} and b {b.shape} do not go together")
    pixels, _, places = _pixels(x.shape, *W.shape[2:], stride, padding)
    windows = pad2d(x, padding).reshape(len(x), -1)[:, pixels]
    out = np.matmul(W.reshape(len(W), -1), windows.transpose(0, 2, 1)).reshape(len(x), len(W), *places)
    shape = out.shape
    return out + b.reshape(-1, 1, 1), Kept(windows=windows, W=W, shape=x.shape, out=shape, steps=(stride, padding))


def conv2d_backward(grad_output, cache):
    if grad_output.shape != cache.out:
        raise ValueError(f"grad_output {grad_output.shape}, but the output was {cache.out}")
    rows = np.ascontiguousarray(grad_output).reshape(*grad_output.shape[:2], -1)
    grad_W = np.matmul(rows, cache.windows).sum(axis=0).reshape(cache.W.shape)
    columns = np.matmul(rows.transpose(0, 2, 1), cache.W.reshape(len(cache.W), -1))
    grad_x = col2im(columns.reshape(-1, columns.shape[2]), cache.shape, *cache.W.shape[2:], *cache.steps)
    return grad_x, grad_W, rows.sum(axis=2).sum(axis=0)


def _maps(x, pool_size, stride):
    if x.ndim != 4:
        raise ValueError(f"x {x.shape} are no images")
    step = pool_size if stride is None else stride
    pixels, _, places = _pixels((1, 1, *x.shape[2:]), pool_size, pool_size, step, 0)
    return x.reshape(-1, x.shape[2] * x.shape[3])[:, pixels], pixels, (*x.shape[:2], *places)


def max_pool2d_forward(x, pool_size=2, stride=None):
    windows, pixels, out_shape = _maps(x, pool_size, stride)
    winners = np.argmax(windows, axis=2)[:, :, None]
    out = np.take_along_axis(windows, winners, axis=2).reshape(out_shape)
    sources = np.take_along_axis(np.broadcast_to(pixels, windows.shape), winners, axis=2)[:, :, 0]
    return out, Kept(sources=sources, shape=x.shape, out=out_shape)


def _scatter(values, sources, shape):
    size = shape[2] * shape[3]
    numbers = sources + size * np.arange(shape[0] * shape[1]).reshape(-1, *[1] * (sources.ndim - 1))
    return np.bincount(numbers.ravel(), values.ravel(), minlength=int(np.prod(shape))).reshape(shape)


def max_pool2d_backward(grad_output, cache):
    if grad_output.shape != cache.out:
        raise ValueError(f"grad_output {grad_output.shape}, but the output was {cache.out}")
    return _scatter(grad_output, cache.sources, cache.shape).astype(grad_output.dtype)


def avg_pool2d_forward(x, pool_size=2, stride=None):
    windows, pixels, out_shape = _maps(x, pool_size, stride)
    return np.average(windows, axis=2).reshape(out_shape), Kept(pixels=pixels, shape=x.shape, out=out_shape)


def avg_pool2d_backward(grad_output, cache):
    if grad_output.shape != cache.out:
        raise ValueError(f"grad_output {grad_output.shape}, but the output was {cache.out}")
    maps = cache.shape[0] * cache.shape[1]
    shares = (grad_output / cache.pixels.shape[1]).reshape(maps, -1, 1) * np.ones(cache.pixels.shape[1])
    everywhere = np.broadcast_to(cache.pixels, shares.shape)
    return _scatter(shares, everywhere, cache.shape).astype(grad_output.dtype)


class _Layer:
    def __init__(self):
        self.params = {}
        self.grads = {}
        self.kept = None

    def back(self):
        if self.kept is None:
            raise RuntimeError("forward comes first")
        return self.kept


class Conv2D(_Layer):
    def __init__(self, num_channels, num_filters, kernel_size, stride=1, padding=0, rng=None):
        super().__init__()
        inputs = num_channels * kernel_size**2
        weights = np.random.default_rng(rng).standard_normal((inputs, num_filters)).T * (2 / inputs) ** 0.5
        self.params["weights"] = weights.reshape(num_filters, num_channels, kernel_size, kernel_size)
        self.params["bias"] = np.zeros((num_filters,))
        self.stride, self.padding = stride, padding

    def forward(self, x):
        W, b = (self.params[name] for name in ("weights", "bias"))
        out, self.kept = conv2d_forward(x, W, b, stride=self.stride, padding=self.padding)
        return out

    def backward(self, grad_output):
        grad_x, *grads = conv2d_backward(grad_output, self.back())
        self.grads = dict(zip(("weights", "bias"), grads))
        return grad_x


class MaxPool2D(_Layer):
    def __init__(self, pool_size=2, stride=None):
        super().__init__()
        self.options = {"pool_size": pool_size, "stride": stride}

    def forward(self, x):
        out, self.kept = max_pool2d_forward(x, **self.options)
        return out

    def backward(self, grad_output):
        return max_pool2d_backward(grad_output, self.back())


class Flatten(_Layer):
    def forward(self, x):
        out = np.stack([image.ravel() for image in x])
        self.kept = x.shape, out.shape
        return out

    def backward(self, grad_output):
        shape, flat = self.back()
        if grad_output.shape != flat:
            raise ValueError(f"grad_output {grad_output.shape}, but the output was {flat}")
        return grad_output.reshape(shape)


class Affine(_Layer):
    """x weights + bias."""

    def __init__(self, inputs, outputs, rng):
        super().__init__()
        self.params = {
            "weights": (2 / inputs) ** 0.5 * rng.standard_normal((inputs, outputs)),
            "bias": np.zeros(outputs),
        }

    def forward(self, x):
        self.kept = x
        return np.einsum("ni,io->no", x, self.params["weights"]) + self.params["bias"]

    def backward(self, grad_output):
        self.grads = {
            "weights": np.einsum("ni,no->io", self.back(), grad_output),
            "bias": np.einsum("no->o", grad_output),
        }
        return np.einsum("no,io->ni", grad_output, self.params["weights"])


class Rectifier(_Layer):
    """0 for what is negative."""

    def forward(self, x):
        self.kept = x
        return np.where(x > 0, x, 0)

    def backward(self, grad_output):
        return np.where(self.back() > 0, grad_output, 0)


def build_lenet(num_classes, rng):
    head = [Affine(400, 120, rng), Rectifier(), Affine(120, 84, rng), Rectifier(), Affine(84, num_classes, rng)]
    body = [Conv2D(1, 6, 5, padding=2, rng=rng), Rectifier(), MaxPool2D(), Conv2D(6, 16, 5, rng=rng), Rectifier()]
    return (*body, MaxPool2D(), Flatten(), *head)

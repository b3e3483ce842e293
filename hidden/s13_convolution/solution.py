"""Convolution: padding, im2col, convolution and pooling, forward and backward, and a LeNet made of them.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. In short:
images are (batch, channels, height, width), kernels (filters, channels, kernel_height, kernel_width); inputs are never
changed; float32 in gives float32 out; every layer has forward and backward, `params` and `grads`.
"""

import math

import numpy as np


def pad2d(x, padding):
    """Return the images with a border of zeros on all four sides.

    Args:
        x: shape (batch, channels, height, width).
        padding: width of the border in pixels, at least 0.

    Returns:
        Shape (batch, channels, height + 2 * padding, width + 2 * padding), of x's dtype.

    Raises:
        ValueError: x has not four axes, or padding is negative.

    Example:
        >>> pad2d(np.array([[[[1, 2]]]]), 1)[0, 0]
        array([[0, 0, 0, 0],
               [0, 1, 2, 0],
               [0, 0, 0, 0]])
    """
    _require_images(x)
    _require_at_least("padding", padding, 0)
    return np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))


def output_size(size, kernel_size, stride=1, padding=0):
    """Return in how many places a kernel fits along one axis: floor((size + 2 * padding - kernel_size) / stride) + 1.

    Args:
        size: number of pixels along the axis, without padding.
        kernel_size: number of pixels that the kernel covers, at least 1.
        stride: how many pixels the kernel moves from one place to the next, at least 1.
        padding: how many zeros are added at either end, at least 0.

    Returns:
        A Python int, at least 1. Pixels at the end that no further place covers are left out.

    Raises:
        ValueError: kernel_size or stride is below 1, padding is negative, or the kernel is larger than the padded axis.

    Source: Dumoulin and Visin 2016, relationship 6.

    Example:
        >>> output_size(28, 5), output_size(28, 5, padding=2), output_size(7, 3, stride=2)
        (24, 28, 3)
    """
    _require_at_least("kernel_size", kernel_size, 1)
    _require_at_least("stride", stride, 1)
    _require_at_least("padding", padding, 0)
    room = size + 2 * padding - kernel_size
    if room < 0:
        raise ValueError(f"kernel_size: {kernel_size}, expected at most {size + 2 * padding}, the padded size")
    return room // stride + 1


def im2col(x, kernel_height, kernel_width, stride=1, padding=0):
    """Return every window that a kernel sees as one row of a matrix.

    Args:
        x: shape (batch, channels, height, width).
        kernel_height, kernel_width: size of the windows.
        stride: how many pixels lie between neighbouring windows, down as well as across.
        padding: width of the border of zeros that x is given first.

    Returns:
        Shape (batch * out_height * out_width, channels * kernel_height * kernel_width), of x's dtype. Rows go through
        the images, in each through the windows from top to bottom, and in each line of windows from left to right; a
        row holds its window's first channel line by line, then the second, and so on.

    Raises:
        ValueError: x has not four axes, or what output_size refuses.

    Example:
        >>> im2col(np.arange(9).reshape(1, 1, 3, 3), 2, 2)
        array([[0, 1, 3, 4],
               [1, 2, 4, 5],
               [3, 4, 6, 7],
               [4, 5, 7, 8]])
    """
    padded = pad2d(x, padding)
    batch, channels, height, width = x.shape
    out_height = output_size(height, kernel_height, stride, padding)
    out_width = output_size(width, kernel_width, stride, padding)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (kernel_height, kernel_width), axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride].transpose(0, 2, 3, 1, 4, 5)
    return windows.reshape(batch * out_height * out_width, channels * kernel_height * kernel_width)


def col2im(columns, x_shape, kernel_height, kernel_width, stride=1, padding=0):
    """Return images in which every window's numbers are added where im2col took them from.

    It is the transpose of im2col, not its inverse: a pixel that several windows share gets the sum of what they hold
    for it, a pixel in no window gets 0, and what falls on the padding is dropped.

    Args:
        columns: shape (batch * out_height * out_width, channels * kernel_height * kernel_width), as im2col lays it out.
        x_shape: (batch, channels, height, width), the shape of the images without padding.
        kernel_height, kernel_width, stride, padding: as for im2col.

    Returns:
        Shape x_shape, of the dtype of columns.

    Raises:
        ValueError: columns has another shape than im2col gives for images of x_shape, or what output_size refuses.

    Example:
        >>> col2im(np.ones((4, 4)), (1, 1, 3, 3), 2, 2)[0, 0]
        array([[1., 2., 1.],
               [2., 4., 2.],
               [1., 2., 1.]])
    """
    batch, channels, height, width = x_shape
    out_height = output_size(height, kernel_height, stride, padding)
    out_width = output_size(width, kernel_width, stride, padding)
    rows, numbers = batch * out_height * out_width, channels * kernel_height * kernel_width
    _require_shape("columns", columns, (rows, numbers))
    windows = columns.reshape(batch, out_height, out_width, channels, kernel_height, kernel_width)
    windows = windows.transpose(0, 3, 4, 5, 1, 2)
    padded = pad2d(np.zeros(x_shape, columns.dtype), padding)
    for row in range(kernel_height):
        for column in range(kernel_width):
            below, right = row + stride * out_height, column + stride * out_width
            padded[:, :, row:below:stride, column:right:stride] += windows[:, :, row, column]
    return padded[:, :, padding : padding + height, padding : padding + width]


def conv2d_forward(x, W, b, stride=1, padding=0):
    """Return each filter's answer at each place of each image, and what the backward pass needs.

    out[n, f, i, j] = b[f] + the sum over c, p, q of W[f, c, p, q] * padded[n, c, i * stride + p, j * stride + q]. The
    kernel is not turned over: in mathematics this is a cross-correlation, which is what deep learning calls
    convolution.

    Args:
        x: images, shape (batch, channels, height, width).
        W: kernels, shape (filters, channels, kernel_height, kernel_width).
        b: one bias for each filter, shape (filters,).
        stride: how many pixels the kernels move from one place to the next, at least 1.
        padding: width of the border of zeros around each image, at least 0.

    Returns:
        (out, cache): out of shape (batch, filters, out_height, out_width), with output_size for both axes; cache is
        whatever conv2d_backward needs, of arrays, numbers, tuples, lists and dicts. float32 for float32 x, W and b.
        There is no Python loop over pixels: an image of 400 by 400 takes at most a quarter as long as a loop over its
        pixels with one matrix product each, and conv2d_backward a quarter of a loop that adds to two gradients.

    Raises:
        ValueError: x or W has not four axes, their numbers of channels differ, b is not (filters,), or what output_size
            refuses.

    Source: LeCun et al. 1998, section II.A; Chellapilla, Puri and Simard 2006 for the matrix product.

    Example:
        >>> x = np.arange(9.0).reshape(1, 1, 3, 3)
        >>> W = np.array([[[[-1.0, 0.0], [0.0, 1.0]]]])
        >>> out, cache = conv2d_forward(x, W, np.array([10.0]))
        >>> out[0, 0]
        array([[14., 14.],
               [14., 14.]])
    """
    _require_images(x)
    if W.ndim != 4 or W.shape[1] != x.shape[1]:
        raise ValueError(f"W: shape {W.shape}, expected (filters, {x.shape[1]}, kernel_height, kernel_width)")
    batch, _, height, width = x.shape
    filters, _, kernel_height, kernel_width = W.shape
    _require_shape("b", b, (filters,))
    columns = im2col(x, kernel_height, kernel_width, stride, padding)
    out_height = output_size(height, kernel_height, stride, padding)
    out_width = output_size(width, kernel_width, stride, padding)
    out = columns @ W.reshape(filters, columns.shape[1]).T + b
    out = out.reshape(batch, out_height, out_width, filters).transpose(0, 3, 1, 2)
    return out, (columns, W, x.shape, out.shape, stride, padding)


def conv2d_backward(grad_output, cache):
    """Return the gradients with respect to the images, the kernels and the biases.

    Args:
        grad_output: gradient of the loss with respect to the output, shape (batch, filters, out_height, out_width).
        cache: the cache that a forward call returned; it need not be the last call.

    Returns:
        (grad_x, grad_W, grad_b), each of the shape of its input. grad_W and grad_b are sums over the images and places.

    Raises:
        ValueError: grad_output has not the shape of the output.

    Example:
        >>> x, W = np.arange(9.0).reshape(1, 1, 3, 3), np.array([[[[-1.0, 0.0], [0.0, 1.0]]]])
        >>> out, cache = conv2d_forward(x, W, np.array([10.0]))
        >>> grad_x, grad_W, grad_b = conv2d_backward(np.ones((1, 1, 2, 2)), cache)
        >>> grad_x[0, 0]
        array([[-1., -1.,  0.],
               [-1.,  0.,  1.],
               [ 0.,  1.,  1.]])
        >>> grad_W[0, 0], grad_b
        (array([[ 8., 12.],
               [20., 24.]]), array([4.]))
    """
    columns, W, x_shape, out_shape, stride, padding = cache
    _require_shape("grad_output", grad_output, out_shape)
    filters, _, kernel_height, kernel_width = W.shape
    grad_rows = grad_output.transpose(0, 2, 3, 1).reshape(len(columns), filters)
    grad_W = (grad_rows.T @ columns).reshape(W.shape)
    grad_columns = grad_rows @ W.reshape(filters, columns.shape[1])
    grad_x = col2im(grad_columns, x_shape, kernel_height, kernel_width, stride, padding)
    return grad_x, grad_W, grad_rows.sum(axis=0)


def max_pool2d_forward(x, pool_size=2, stride=None):
    """Return the largest number of each window of each channel, and what the backward pass needs.

    Args:
        x: shape (batch, channels, height, width).
        pool_size: height and width of the windows.
        stride: how many pixels lie between neighbouring windows; None means pool_size, windows side by side.

    Returns:
        (out, cache): out of shape (batch, channels, out_height, out_width), with output_size for both axes and no
        padding; cache is whatever max_pool2d_backward needs. Pixels that no window covers are left out. float32 for
        float32 x.

    Raises:
        ValueError: x has not four axes, or what output_size refuses.

    Example:
        >>> out, cache = max_pool2d_forward(np.arange(16.0).reshape(1, 1, 4, 4))
        >>> out[0, 0]
        array([[ 5.,  7.],
               [13., 15.]])
    """
    windows, out_shape, stride = _pool_windows(x, pool_size, stride)
    winners = np.arange(pool_size**2) == windows.argmax(axis=1)[:, None]
    return windows.max(axis=1).reshape(out_shape), (winners, x.shape, out_shape, pool_size, stride)


def max_pool2d_backward(grad_output, cache):
    """Return the gradient with respect to the images: each window's goes to its largest number.

    Args:
        grad_output: gradient of the loss with respect to the output, of its shape.
        cache: the cache that a forward call returned; it need not be the last call.

    Returns:
        The shape of x. Where several numbers of a window are the largest, the first of them gets the gradient, in the
        order of reading: the topmost, of one line the leftmost. A pixel that is the largest in several windows gets the
        sum, all others get 0.

    Raises:
        ValueError: grad_output has not the shape of the output.

    Example:
        >>> out, cache = max_pool2d_forward(np.array([[[[1.0, 4.0], [4.0, 2.0]]]]))
        >>> max_pool2d_backward(np.array([[[[3.0]]]]), cache)[0, 0]
        array([[0., 3.],
               [0., 0.]])
    """
    winners, x_shape, out_shape, pool_size, stride = cache
    _require_shape("grad_output", grad_output, out_shape)
    return _from_pool_windows(winners * grad_output.reshape(len(winners), 1), x_shape, pool_size, stride)


def avg_pool2d_forward(x, pool_size=2, stride=None):
    """Return the mean of each window of each channel, and what the backward pass needs.

    Args:
        x: shape (batch, channels, height, width).
        pool_size: height and width of the windows.
        stride: how many pixels lie between neighbouring windows; None means pool_size, windows side by side.

    Returns:
        (out, cache): out of shape (batch, channels, out_height, out_width), with output_size for both axes and no
        padding; cache is whatever avg_pool2d_backward needs. Pixels that no window covers are left out. float32 for
        float32 x.

    Raises:
        ValueError: x has not four axes, or what output_size refuses.

    Example:
        >>> out, cache = avg_pool2d_forward(np.arange(16.0).reshape(1, 1, 4, 4))
        >>> out[0, 0]
        array([[ 2.5,  4.5],
               [10.5, 12.5]])
    """
    windows, out_shape, stride = _pool_windows(x, pool_size, stride)
    return windows.mean(axis=1).reshape(out_shape), (x.shape, out_shape, pool_size, stride)


def avg_pool2d_backward(grad_output, cache):
    """Return the gradient with respect to the images: each window's is shared out equally among its pixels.

    Args:
        grad_output: gradient of the loss with respect to the output, of its shape.
        cache: the cache that a forward call returned; it need not be the last call.

    Returns:
        The shape of x. A pixel of several windows gets the sum of its shares, a pixel of none gets 0.

    Raises:
        ValueError: grad_output has not the shape of the output.

    Example:
        >>> out, cache = avg_pool2d_forward(np.zeros((1, 1, 2, 2)))
        >>> avg_pool2d_backward(np.array([[[[8.0]]]]), cache)[0, 0]
        array([[2., 2.],
               [2., 2.]])
    """
    x_shape, out_shape, pool_size, stride = cache
    _require_shape("grad_output", grad_output, out_shape)
    shares = grad_output.reshape(grad_output.size, 1) / pool_size**2
    return _from_pool_windows(np.repeat(shares, pool_size**2, axis=1), x_shape, pool_size, stride)


class Conv2D:
    """A convolutional layer with square kernels: conv2d_forward with parameters of its own.

    Args:
        num_channels: number of channels of the input.
        num_filters: number of filters, which is the number of channels of the output.
        kernel_size: height and width of the kernels.
        stride, padding: as for conv2d_forward.
        rng: np.random.Generator that draws the weights; None draws a fresh one. Generators of the same seed give the
            same weights.

    Attributes:
        params: dict of "weights" (num_filters, num_channels, kernel_size, kernel_size) and "bias" (num_filters,). At
            first the weights are normally distributed with mean 0 and standard deviation
            sqrt(2 / (num_channels * kernel_size**2)), the biases zero. forward reads the dict at each call, so it may
            be replaced whole.
        grads: dict with the keys and shapes of params, filled by backward; empty until then.

    Source: LeCun et al. 1998; He et al. 2015, equation 10, for the standard deviation.

    Example:
        >>> layer = Conv2D(3, 8, 5, padding=2, rng=np.random.default_rng(0))
        >>> layer.forward(np.ones((2, 3, 28, 28))).shape, layer.params["weights"].shape
        ((2, 8, 28, 28), (8, 3, 5, 5))
    """

    def __init__(self, num_channels, num_filters, kernel_size, stride=1, padding=0, rng=None):
        self._stride = stride
        self._padding = padding
        shape = (num_filters, num_channels, kernel_size, kernel_size)
        self.params = {"weights": _he_normal(rng, shape, num_channels * kernel_size**2), "bias": np.zeros(num_filters)}
        self.grads = {}
        self._cache = None

    def forward(self, x):
        """Return the convolution of the images with the layer's weights, plus its biases.

        Args:
            x: shape (batch, num_channels, height, width).

        Returns:
            Shape (batch, num_filters, out_height, out_width). float32 for float32 x and parameters.

        Raises:
            ValueError: what conv2d_forward refuses.
        """
        weights, bias = self.params["weights"], self.params["bias"]
        out, self._cache = conv2d_forward(x, weights, bias, self._stride, self._padding)
        return out

    def backward(self, grad_output):
        """Return the gradient with respect to the last forward call's x, and put those of the parameters in grads.

        Args:
            grad_output: gradient of the loss with respect to the last output, of its shape.

        Returns:
            The shape of x. grads is replaced, not added to.

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last output.
        """
        grad_x, grad_weights, grad_bias = conv2d_backward(grad_output, _last_forward(self._cache))
        self.grads = {"weights": grad_weights, "bias": grad_bias}
        return grad_x


class MaxPool2D:
    """A max-pooling layer: max_pool2d_forward and max_pool2d_backward as an object.

    Args:
        pool_size, stride: as for max_pool2d_forward.

    Attributes:
        params, grads: empty dicts, so that all layers can be treated alike.

    Example:
        >>> MaxPool2D().forward(np.arange(16.0).reshape(1, 1, 4, 4))[0, 0]
        array([[ 5.,  7.],
               [13., 15.]])
    """

    def __init__(self, pool_size=2, stride=None):
        self._pool_size = pool_size
        self._stride = stride
        self.params = {}
        self.grads = {}
        self._cache = None

    def forward(self, x):
        """Return the largest number of each window of each channel.

        Args:
            x: shape (batch, channels, height, width).

        Returns:
            Shape (batch, channels, out_height, out_width).

        Raises:
            ValueError: what max_pool2d_forward refuses.
        """
        out, self._cache = max_pool2d_forward(x, self._pool_size, self._stride)
        return out

    def backward(self, grad_output):
        """Return the gradient with respect to the last forward call's x.

        Args:
            grad_output: gradient of the loss with respect to the last output, of its shape.

        Returns:
            The shape of x.

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last output.
        """
        return max_pool2d_backward(grad_output, _last_forward(self._cache))


class Flatten:
    """A layer that makes one row of features of each image, channel by channel and line by line.

    Attributes:
        params, grads: empty dicts, so that all layers can be treated alike.

    Example:
        >>> Flatten().forward(np.arange(12.0).reshape(2, 3, 1, 2))
        array([[ 0.,  1.,  2.,  3.,  4.,  5.],
               [ 6.,  7.,  8.,  9., 10., 11.]])
    """

    def __init__(self):
        self.params = {}
        self.grads = {}
        self._shape = None

    def forward(self, x):
        """Return x with all axes but the first made into one.

        Args:
            x: shape (batch, ...), of at least two axes.

        Returns:
            Shape (batch, features).
        """
        self._shape = x.shape
        return x.reshape(len(x), math.prod(x.shape[1:]))

    def backward(self, grad_output):
        """Return the gradient in the shape of the last forward call's x.

        Args:
            grad_output: gradient of the loss with respect to the last output, shape (batch, features).

        Returns:
            The shape of x.

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last output.
        """
        shape = _last_forward(self._shape)
        _require_shape("grad_output", grad_output, (shape[0], math.prod(shape[1:])))
        return grad_output.reshape(shape)


def build_lenet(num_classes, rng):
    """Return a new LeNet for images of 28 by 28 pixels with one channel, as a list of layers.

    Applied one after the other, the layers compute from images (batch, 1, 28, 28):

    - Conv2D(1, 6, 5, padding=2), ReLU, MaxPool2D(2): (batch, 6, 14, 14)
    - Conv2D(6, 16, 5), ReLU, MaxPool2D(2): (batch, 16, 5, 5)
    - Flatten(): (batch, 400)
    - dense layer of 120 outputs, ReLU; dense layer of 84 outputs, ReLU: (batch, 84)
    - dense layer of num_classes outputs: scores (batch, num_classes), without activation or softmax

    Dense layer and ReLU are classes of your own, in this file, for which the README gives the formulas. A dense layer
    computes x @ weights + bias. ReLU may be a layer of its own or part of the layer before it.

    Args:
        num_classes: number of scores for each image.
        rng: np.random.Generator that draws all weights. Generators of the same seed give the same network.

    Returns:
        A list of layers in the order in which they are applied. Each has forward(x), backward(grad_output) and the
        dicts params and grads, as Conv2D has them; both are empty in a layer without parameters. A dense layer's params
        are "weights" (inputs, outputs), at first normally distributed with mean 0 and standard deviation
        sqrt(2 / inputs), and "bias" (outputs,), at first zeros. float32 images, parameters and gradients give float32.

    Source: LeCun et al. 1998, figure 2, with ReLU and max pooling in place of tanh and trainable averages.

    Example:
        >>> layers = build_lenet(10, np.random.default_rng(0))
        >>> x = np.zeros((2, 1, 28, 28))
        >>> for layer in layers:
        ...     x = layer.forward(x)
        >>> x.shape, sum(array.size for layer in layers for array in layer.params.values())
        ((2, 10), 61706)
    """
    return [
        Conv2D(1, 6, 5, padding=2, rng=rng),
        _ReLU(),
        MaxPool2D(2),
        Conv2D(6, 16, 5, rng=rng),
        _ReLU(),
        MaxPool2D(2),
        Flatten(),
        _Dense(400, 120, rng),
        _ReLU(),
        _Dense(120, 84, rng),
        _ReLU(),
        _Dense(84, num_classes, rng),
    ]


class _ReLU:
    """max(x, 0), number by number."""

    def __init__(self):
        self.params = {}
        self.grads = {}

    def forward(self, x):
        self._positive = x > 0
        return np.maximum(x, 0)

    def backward(self, grad_output):
        return grad_output * self._positive


class _Dense:
    """x @ weights + bias."""

    def __init__(self, num_inputs, num_outputs, rng):
        self.params = {"weights": _he_normal(rng, (num_inputs, num_outputs), num_inputs), "bias": np.zeros(num_outputs)}
        self.grads = {}

    def forward(self, x):
        self._x = x
        return x @ self.params["weights"] + self.params["bias"]

    def backward(self, grad_output):
        self.grads = {"weights": self._x.T @ grad_output, "bias": grad_output.sum(axis=0)}
        return grad_output @ self.params["weights"].T


def _he_normal(rng, shape, num_inputs):
    """Weights that keep the size of numbers through a layer with ReLU."""
    return np.random.default_rng(rng).standard_normal(shape) * math.sqrt(2 / num_inputs)


def _pool_windows(x, pool_size, stride):
    """Every channel's windows as rows, the shape of what pooling makes of them, and the stride that None means."""
    _require_images(x)
    batch, channels, height, width = x.shape
    stride = pool_size if stride is None else stride
    windows = im2col(x.reshape(batch * channels, 1, height, width), pool_size, pool_size, stride)
    out_height, out_width = (output_size(size, pool_size, stride) for size in (height, width))
    return windows, (batch, channels, out_height, out_width), stride


def _from_pool_windows(windows, x_shape, pool_size, stride):
    """Images of x_shape from the rows of _pool_windows, overlaps added."""
    batch, channels, height, width = x_shape
    images = col2im(windows, (batch * channels, 1, height, width), pool_size, pool_size, stride)
    return images.reshape(x_shape)


def _require_images(x):
    if x.ndim != 4:
        raise ValueError(f"x: shape {x.shape}, expected (batch, channels, height, width)")


def _require_at_least(name, value, least):
    if value < least:
        raise ValueError(f"{name}: {value}, expected at least {least}")


def _require_shape(name, array, shape):
    if array.shape != shape:
        raise ValueError(f"{name}: shape {array.shape}, expected {shape}")


def _last_forward(kept):
    if kept is None:
        raise RuntimeError("backward: nothing to go back through, expected a call of forward first")
    return kept

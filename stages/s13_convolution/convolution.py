"""Convolution: padding, im2col, convolution and pooling, forward and backward, and a LeNet made of them.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. In short:
images are (batch, channels, height, width), kernels (filters, channels, kernel_height, kernel_width); inputs are never
changed; float32 in gives float32 out; every layer has forward and backward, `params` and `grads`.
"""

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
    raise NotImplementedError("pad2d")


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
    raise NotImplementedError("output_size")


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
    raise NotImplementedError("im2col")


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
    raise NotImplementedError("col2im")


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
    raise NotImplementedError("conv2d_forward")


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
    raise NotImplementedError("conv2d_backward")


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
    raise NotImplementedError("max_pool2d_forward")


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
    raise NotImplementedError("max_pool2d_backward")


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
    raise NotImplementedError("avg_pool2d_forward")


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
    raise NotImplementedError("avg_pool2d_backward")


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
        raise NotImplementedError("Conv2D.__init__")

    def forward(self, x):
        """Return the convolution of the images with the layer's weights, plus its biases.

        Args:
            x: shape (batch, num_channels, height, width).

        Returns:
            Shape (batch, num_filters, out_height, out_width). float32 for float32 x and parameters.

        Raises:
            ValueError: what conv2d_forward refuses.
        """
        raise NotImplementedError("Conv2D.forward")

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
        raise NotImplementedError("Conv2D.backward")


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
        raise NotImplementedError("MaxPool2D.__init__")

    def forward(self, x):
        """Return the largest number of each window of each channel.

        Args:
            x: shape (batch, channels, height, width).

        Returns:
            Shape (batch, channels, out_height, out_width).

        Raises:
            ValueError: what max_pool2d_forward refuses.
        """
        raise NotImplementedError("MaxPool2D.forward")

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
        raise NotImplementedError("MaxPool2D.backward")


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
        raise NotImplementedError("Flatten.__init__")

    def forward(self, x):
        """Return x with all axes but the first made into one.

        Args:
            x: shape (batch, ...), of at least two axes.

        Returns:
            Shape (batch, features).
        """
        raise NotImplementedError("Flatten.forward")

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
        raise NotImplementedError("Flatten.backward")


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
    raise NotImplementedError("build_lenet")

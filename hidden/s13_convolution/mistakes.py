"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own function as the default of `right`.
"""

import math

import numpy as np

from grader.course.answers import mistake
from hidden.s13_convolution.solution import (
    Conv2D,
    Flatten,
    MaxPool2D,
    _Dense,
    _from_pool_windows,
    _he_normal,
    _last_forward,
    _pool_windows,
    _ReLU,
    _require_shape,
    avg_pool2d_backward,
    avg_pool2d_forward,
    build_lenet,
    col2im,
    conv2d_backward,
    conv2d_forward,
    im2col,
    max_pool2d_backward,
    max_pool2d_forward,
    output_size,
    pad2d,
)


@mistake(
    criterion="pad",
    replaces="pad2d",
    text="The zeros stand below and to the right of the image only.",
    fix="Put padding lines above as well as below, and padding columns left as well as right.",
)
def padded_at_the_end_only(x, padding, right=pad2d):
    return right(x, padding)[:, :, padding:, padding:]


@mistake(
    criterion="pad",
    replaces="pad2d",
    text="All four axes were padded: there are new images and new channels of zeros.",
    fix="Give np.pad one pair for each axis, ((0, 0), (0, 0), (padding, padding), (padding, padding)).",
)
def all_axes_padded(x, padding):
    return np.pad(x, padding)


@mistake(
    criterion="pad",
    replaces="pad2d",
    text="The border repeats the pixels at the edge of the image.",
    fix='Fill the border with zeros: mode="constant" of np.pad, which is its default.',
)
def edge_pixels_repeated(x, padding):
    return np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)), mode="edge")


@mistake(
    criterion="pad",
    replaces="pad2d",
    text="Padding was shared between the two sides, so that each axis grew by padding in all.",
    fix="padding counts for each side: height and width grow by 2 * padding.",
)
def padding_shared_by_both_sides(x, padding):
    before, after = padding // 2, padding - padding // 2
    return np.pad(x, ((0, 0), (0, 0), (before, after), (before, after)))


@mistake(
    criterion="pad",
    replaces="pad2d",
    text="The border was filled in an array of float64, whatever the dtype of x.",
    fix="Make the array of zeros with x's dtype, np.zeros(shape, x.dtype), or use np.pad.",
)
def dtype_of_x_lost(x, padding, right=pad2d):
    return right(x, padding).astype(np.float64)


@mistake(
    criterion="output-size",
    replaces="output_size",
    text="The steps were counted, and the place where the kernel starts was forgotten.",
    fix="Add 1 to the number of steps.",
)
def steps_instead_of_places(size, kernel_size, stride=1, padding=0, right=output_size):
    return right(size, kernel_size, stride, padding) - 1


@mistake(
    criterion="output-size",
    replaces="output_size",
    text="Padding was added once, but it stands at both ends of the axis.",
    fix="The padded axis has size + 2 * padding pixels.",
)
def padding_counted_once(size, kernel_size, stride=1, padding=0):
    return (size + padding - kernel_size) // stride + 1


@mistake(
    criterion="output-size",
    replaces="output_size",
    text="An incomplete last step was counted: the number of steps was rounded up.",
    fix="Round down, with //: the kernel must lie inside of the padded axis as a whole.",
)
def incomplete_step_counted(size, kernel_size, stride=1, padding=0):
    return -(-(size + 2 * padding - kernel_size) // stride) + 1


@mistake(
    criterion="output-size",
    replaces="output_size",
    text="The result is a float, since / was used to divide.",
    fix="Divide with //, which rounds down and gives an int for ints.",
)
def true_division(size, kernel_size, stride=1, padding=0):
    return (size + 2 * padding - kernel_size) / stride + 1


@mistake(
    criterion="output-size",
    replaces="output_size",
    text="A kernel that is larger than the padded axis was not refused.",
    fix="Raise ValueError if size + 2 * padding - kernel_size is negative.",
)
def large_kernel_accepted(size, kernel_size, stride=1, padding=0):
    return (size + 2 * padding - kernel_size) // stride + 1


@mistake(
    criterion="im2col",
    replaces="im2col",
    text="The numbers of a row go pixel by pixel, each with all its channels.",
    fix="Channels come first in a row: transpose the six axes with (0, 2, 3, 1, 4, 5) before the reshape.",
)
def channels_last_in_a_row(x, kernel_height, kernel_width, stride=1, padding=0, right=im2col):
    columns = right(x, kernel_height, kernel_width, stride, padding)
    split = columns.reshape(len(columns), x.shape[1], kernel_height * kernel_width)
    return split.transpose(0, 2, 1).reshape(columns.shape)


@mistake(
    criterion="im2col",
    replaces="im2col",
    text="The windows were reshaped while channels still stood before the places: rows mix pixels of several windows.",
    fix="Move the channels behind the two axes of places, transpose(0, 2, 3, 1, 4, 5), and reshape then.",
)
def channels_not_moved(x, kernel_height, kernel_width, stride=1, padding=0, right=im2col):
    columns = right(x, kernel_height, kernel_width, stride, padding)
    split = columns.reshape(len(x), -1, x.shape[1], kernel_height * kernel_width)
    return split.transpose(0, 2, 1, 3).reshape(columns.shape)


@mistake(
    criterion="im2col",
    replaces="im2col",
    text="The matrix lies on its side: each window is a column.",
    fix="Make each window a row: (batch * out_height * out_width, channels * kernel_height * kernel_width).",
)
def windows_as_columns(x, kernel_height, kernel_width, stride=1, padding=0, right=im2col):
    return right(x, kernel_height, kernel_width, stride, padding).T


@mistake(
    criterion="im2col",
    replaces="im2col",
    text="Rows go through the places first and through the images last.",
    fix="Keep the batch axis in front: all windows of the first image, then all of the second.",
)
def places_before_images(x, kernel_height, kernel_width, stride=1, padding=0, right=im2col):
    columns = right(x, kernel_height, kernel_width, stride, padding)
    return columns.reshape(len(x), -1, columns.shape[1]).transpose(1, 0, 2).reshape(columns.shape)


@mistake(
    criterion="im2col",
    replaces="im2col",
    text="Height and width of the kernel changed places.",
    fix="kernel_height goes with axis 2 of x, kernel_width with axis 3.",
)
def kernel_sides_swapped(x, kernel_height, kernel_width, stride=1, padding=0, right=im2col):
    return right(x, kernel_width, kernel_height, stride, padding)


@mistake(
    criterion="im2col",
    replaces="im2col",
    text="The windows lie one pixel apart, whatever the stride.",
    fix="Take every stride-th place in both directions, [:, :, ::stride, ::stride].",
)
def stride_ignored_in_im2col(x, kernel_height, kernel_width, stride=1, padding=0, right=im2col):
    return right(x, kernel_height, kernel_width, 1, padding)


@mistake(
    criterion="im2col",
    replaces="im2col",
    text="There are as many windows as the stride leaves, but they lie one pixel apart: the slices have no step.",
    fix="Window number i begins at line i * stride, and likewise across: slice with stride as the step.",
)
def stride_counted_and_not_stepped(x, kernel_height, kernel_width, stride=1, padding=0, right=im2col):
    wide = pad2d(x, padding)
    down = output_size(x.shape[2], kernel_height, stride, padding) + kernel_height - 1
    across = output_size(x.shape[3], kernel_width, stride, padding) + kernel_width - 1
    return right(wide[:, :, :down, :across], kernel_height, kernel_width)


@mistake(
    criterion="col2im",
    replaces="col2im",
    text="The border was cut off by [padding:-padding], which leaves nothing where padding is 0.",
    fix="Return [:, :, padding : padding + height, padding : padding + width]: -0 is the start, not the end.",
)
def border_cut_with_minus_padding(columns, x_shape, kernel_height, kernel_width, stride=1, padding=0, right=col2im):
    images = right(columns, x_shape, kernel_height, kernel_width, stride, padding)
    return images if padding else images[:, :, :0, :0]


@mistake(
    criterion="col2im",
    replaces="col2im",
    text="The windows were put back one pixel apart, whatever the stride.",
    fix="Window number i begins at line i * stride, and likewise across: slice with stride as the step.",
)
def stride_counted_and_not_stepped_back(
    columns, x_shape, kernel_height, kernel_width, stride=1, padding=0, right=col2im
):
    batch, channels, height, width = x_shape
    down = output_size(height, kernel_height, stride, padding) + kernel_height - 1
    across = output_size(width, kernel_width, stride, padding) + kernel_width - 1
    right(columns, x_shape, kernel_height, kernel_width, stride, padding)
    sums = np.zeros((batch, channels, height + 2 * padding, width + 2 * padding), dtype=columns.dtype)
    sums[:, :, :down, :across] = right(columns, (batch, channels, down, across), kernel_height, kernel_width)
    return sums[:, :, padding : padding + height, padding : padding + width]


@mistake(
    criterion="col2im",
    replaces="col2im",
    text="Where windows overlap, the last one written has replaced the others.",
    fix="Add to the pixels, with +=, and start from zeros.",
)
def overlaps_overwritten(columns, x_shape, kernel_height, kernel_width, stride=1, padding=0):
    batch, channels, height, width = x_shape
    down, across = (
        output_size(height, kernel_height, stride, padding),
        output_size(width, kernel_width, stride, padding),
    )
    _require_shape("columns", columns, (batch * down * across, channels * kernel_height * kernel_width))
    windows = columns.reshape(batch, down, across, channels, kernel_height, kernel_width).transpose(0, 3, 4, 5, 1, 2)
    padded = np.zeros((batch, channels, height + 2 * padding, width + 2 * padding), columns.dtype)
    for p in range(kernel_height):
        for q in range(kernel_width):
            padded[:, :, p : p + stride * down : stride, q : q + stride * across : stride] = windows[:, :, p, q]
    return padded[:, :, padding : padding + height, padding : padding + width]


@mistake(
    criterion="col2im",
    replaces="col2im",
    text="Each pixel counts one of its windows only: `pixels[indices] += columns` adds once for an index that repeats.",
    fix="Use np.add.at(pixels, indices, columns), or loop over the places inside of the kernel and add with slices.",
)
def repeated_indices_count_once(columns, x_shape, kernel_height, kernel_width, stride=1, padding=0, right=col2im):
    right(columns, x_shape, kernel_height, kernel_width, stride, padding)
    pixels = np.zeros(math.prod(x_shape) + 1, columns.dtype)
    numbers = np.arange(1, len(pixels)).reshape(x_shape)
    pixels[im2col(numbers, kernel_height, kernel_width, stride, padding).ravel()] += columns.ravel()
    return pixels[1:].reshape(x_shape)


@mistake(
    criterion="col2im",
    replaces="col2im",
    text="Each pixel got the mean of what its windows hold: im2col was inverted.",
    fix="Add without dividing. The gradient of a copy that was made several times is the sum of its gradients.",
)
def mean_over_windows(columns, x_shape, kernel_height, kernel_width, stride=1, padding=0, right=col2im):
    sums = right(columns, x_shape, kernel_height, kernel_width, stride, padding)
    counts = right(np.ones_like(columns), x_shape, kernel_height, kernel_width, stride, padding)
    return sums / np.maximum(counts, 1)


@mistake(
    criterion="col2im",
    replaces="col2im",
    text="The border of the padding was not cut off.",
    fix="Return [:, :, padding : padding + height, padding : padding + width] of the padded sums.",
)
def border_kept(columns, x_shape, kernel_height, kernel_width, stride=1, padding=0, right=col2im):
    batch, channels, height, width = x_shape
    wide = (batch, channels, height + 2 * padding, width + 2 * padding)
    return right(columns, wide, kernel_height, kernel_width, stride)


@mistake(
    criterion="col2im",
    replaces="col2im",
    text="Rows were read as if channels came last in them.",
    fix="Reshape to (batch, out_height, out_width, channels, kernel_height, kernel_width), as im2col lays them out.",
)
def channels_read_last(columns, x_shape, kernel_height, kernel_width, stride=1, padding=0, right=col2im):
    right(columns, x_shape, kernel_height, kernel_width, stride, padding)
    split = columns.reshape(len(columns), kernel_height * kernel_width, x_shape[1])
    columns = split.transpose(0, 2, 1).reshape(columns.shape)
    return right(columns, x_shape, kernel_height, kernel_width, stride, padding)


@mistake(
    criterion="conv-forward",
    replaces="conv2d_forward",
    text="The kernels were turned over, as in the convolution of mathematics.",
    fix="Leave the kernels as they are: W[f, c, 0, 0] multiplies the window's upper left pixel.",
)
def kernel_turned_over(x, W, b, stride=1, padding=0, right=conv2d_forward):
    return right(x, W[:, :, ::-1, ::-1], b, stride, padding)


@mistake(
    criterion="conv-forward",
    replaces="conv2d_forward",
    text="The product was reshaped straight to (batch, filters, out_height, out_width): filters and places are mixed.",
    fix="Its columns are the filters: reshape to (batch, out_height, out_width, filters), then transpose(0, 3, 1, 2).",
)
def product_reshaped_without_transpose(x, W, b, stride=1, padding=0, right=conv2d_forward):
    out, cache = right(x, W, b, stride, padding)
    return out.transpose(0, 2, 3, 1).reshape(out.shape), cache


@mistake(
    criterion="conv-forward",
    replaces="conv2d_forward",
    text="The biases were left out.",
    fix="Add b to the product of columns and kernels, one number for each filter.",
)
def biases_left_out(x, W, b, stride=1, padding=0, right=conv2d_forward):
    return right(x, W, np.zeros_like(b), stride, padding)


@mistake(
    criterion="conv-forward",
    replaces="conv2d_forward",
    text="The kernels moved one pixel at a time, whatever the stride.",
    fix="Hand stride on to im2col and output_size.",
)
def stride_not_handed_on(x, W, b, stride=1, padding=0, right=conv2d_forward):
    return right(x, W, b, 1, padding)


@mistake(
    criterion="conv-forward",
    replaces="conv2d_forward",
    text="The images were not padded.",
    fix="Hand padding on to im2col and output_size.",
)
def padding_not_handed_on(x, W, b, stride=1, padding=0, right=conv2d_forward):
    return right(x, W, b, stride)


@mistake(
    criterion="conv-forward",
    replaces="conv2d_forward",
    text="The mean over the channels was taken in place of the sum.",
    fix="Add up over channels as well as over the kernel's pixels, without dividing.",
)
def mean_over_channels(x, W, b, stride=1, padding=0, right=conv2d_forward):
    out, cache = right(x, W, b, stride, padding)
    b = b[:, None, None]
    return (out - b) / x.shape[1] + b, cache


@mistake(
    criterion="conv-forward",
    replaces="conv2d_forward",
    text="The output came back alone.",
    fix="Return two values, out and a cache of what conv2d_backward will need.",
)
def cache_not_returned(x, W, b, stride=1, padding=0, right=conv2d_forward):
    return right(x, W, b, stride, padding)[0]


@mistake(
    criterion="conv-gradients",
    replaces="conv2d_backward",
    text="The gradients of kernels and biases were divided by the number of images.",
    fix="Leave them as sums: the loss is a mean already, and grad_output carries its division.",
)
def parameter_gradients_averaged(grad_output, cache, right=conv2d_backward):
    grad_x, grad_W, grad_b = right(grad_output, cache)
    return grad_x, grad_W / len(grad_output), grad_b / len(grad_output)


@mistake(
    criterion="conv-gradients",
    replaces="conv2d_backward",
    text="grad_output was reshaped to (places, filters) while its filters stood in front of the places.",
    fix="Undo forward's last step first: transpose(0, 2, 3, 1), and reshape to (-1, filters) then.",
)
def gradient_reshaped_without_transpose(grad_output, cache, right=conv2d_backward):
    _require_shape("grad_output", grad_output, cache[3])
    batch, filters, down, across = grad_output.shape
    return right(grad_output.reshape(batch, down, across, filters).transpose(0, 3, 1, 2), cache)


@mistake(
    criterion="conv-gradients",
    replaces="conv2d_backward",
    text="grad_x was computed with kernels that are upside down.",
    fix="Multiply by W as it is before col2im. The kernel is turned over only if you write grad_x as a convolution.",
)
def kernel_turned_over_in_backward(grad_output, cache, right=conv2d_backward):
    columns, W, x_shape, out_shape, stride, padding = cache
    turned = (columns, W[:, :, ::-1, ::-1], x_shape, out_shape, stride, padding)
    return right(grad_output, turned)


@mistake(
    criterion="conv-gradients",
    replaces="conv2d_backward",
    text="grad_b adds up the gradients of the first image only.",
    fix="Sum grad_output over images and places, its axes 0, 2 and 3.",
)
def bias_gradient_of_one_image(grad_output, cache, right=conv2d_backward):
    grad_x, grad_W, _ = right(grad_output, cache)
    return grad_x, grad_W, grad_output[0].sum(axis=(1, 2))


@mistake(
    criterion="conv-gradients",
    replaces="conv2d_backward",
    text="grad_b was left out, or set to zeros.",
    fix="A bias is added at every place of every image: its gradient is grad_output summed over axes 0, 2 and 3.",
)
def bias_gradient_zero(grad_output, cache, right=conv2d_backward):
    grad_x, grad_W, grad_b = right(grad_output, cache)
    return grad_x, grad_W, np.zeros_like(grad_b)


@mistake(
    criterion="conv-speed",
    replaces="conv2d_forward",
    text="The product was computed in float32: it is faster, and nine digits are lost.",
    fix="Keep the dtype of the inputs. The time goes into Python loops, not into float64.",
)
def computed_in_single_precision(x, W, b, stride=1, padding=0, right=conv2d_forward):
    out, cache = right(x, W, b, stride, padding)
    return out.astype(np.float32).astype(np.float64), cache


@mistake(
    criterion="conv-speed",
    replaces="conv2d_forward",
    text="Lines and columns of the kernel changed places in the product.",
    fix='Both sides of the product name the kernel\'s axes in one order: windows "nchwij" with kernels "fcij".',
)
def kernel_axes_swapped(x, W, b, stride=1, padding=0, right=conv2d_forward):
    out, cache = right(x, W, b, stride, padding)
    windows = cache[0].reshape(len(cache[0]), x.shape[1], *W.shape[2:])
    swapped = np.einsum("rcij,fcji->rf", windows, W) + b
    return swapped.reshape(out.shape[0], *out.shape[2:], len(W)).transpose(0, 3, 1, 2), cache


@mistake(
    criterion="conv-speed",
    replaces="conv2d_forward",
    text="Only the last place inside of the kernel counts: the loop over the places replaced the sum each time.",
    fix="Start from zeros, or from the biases, and add with +=.",
)
def only_the_last_place_counts(x, W, b, stride=1, padding=0, right=conv2d_forward):
    last = np.zeros_like(W)
    last[:, :, -1, -1] = W[:, :, -1, -1]
    return right(x, last, b, stride, padding)


@mistake(
    criterion="conv-speed",
    replaces="conv2d_forward",
    text="The border holds the pixels of the opposite side: np.roll, and the Fourier transform, go round in a circle.",
    fix="Pad with zeros before you shift, and shift with slices.",
)
def wrapped_around(x, W, b, stride=1, padding=0, right=conv2d_forward):
    sides = (padding, padding)
    return right(np.pad(x, ((0, 0), (0, 0), sides, sides), mode="wrap"), W, b, stride)


@mistake(
    criterion="max-pool",
    replaces="max_pool2d_forward",
    text="The search for the largest started from -1e9, so that windows of lower numbers give -1e9.",
    fix="Take the maximum of the window's own numbers, or start from -np.inf.",
)
def search_from_a_finite_number(x, pool_size=2, stride=None, right=max_pool2d_forward):
    out, cache = right(x, pool_size, stride)
    return np.maximum(out, out.dtype.type(-1e9)), cache


@mistake(
    criterion="max-pool",
    replaces="max_pool2d_forward",
    text="The search for the largest started from 0, so that windows of negative numbers give 0.",
    fix="Take the maximum of the window's own numbers.",
)
def search_from_zero(x, pool_size=2, stride=None, right=max_pool2d_forward):
    out, cache = right(x, pool_size, stride)
    return np.maximum(out, 0), cache


@mistake(
    criterion="max-pool",
    replaces="max_pool2d_forward",
    text="These are the means of the windows.",
    fix="Take the largest number of each window.",
)
def mean_in_place_of_maximum(x, pool_size=2, stride=None, right=max_pool2d_forward):
    windows, shape, _ = _pool_windows(x, pool_size, stride)
    return windows.mean(axis=1).reshape(shape), right(x, pool_size, stride)[1]


@mistake(
    criterion="max-pool",
    replaces="max_pool2d_forward",
    text="The windows lie side by side, whatever the stride.",
    fix="pool_size stands in for the stride only where stride is None.",
)
def stride_of_pooling_ignored(x, pool_size=2, stride=None, right=max_pool2d_forward):
    return right(x, pool_size)


@mistake(
    criterion="max-pool",
    replaces="max_pool2d_forward",
    text="Windows that stick out of the image were pooled too.",
    fix="Leave them out: output_size, which rounds down, says how many windows there are.",
)
def incomplete_windows_pooled(x, pool_size=2, stride=None, right=max_pool2d_forward):
    right(x, pool_size, stride)
    step = pool_size if stride is None else stride
    more = [-(size - pool_size) % step for size in x.shape[2:]]
    wide = np.pad(x, ((0, 0), (0, 0), (0, more[0]), (0, more[1])), constant_values=-np.inf)
    return right(wide, pool_size, stride)


@mistake(
    criterion="max-pool",
    replaces="max_pool2d_forward",
    text="The channels were pooled together: each window's largest number of all channels.",
    fix="Every channel is pooled by itself: (batch * channels, 1, height, width) for im2col.",
)
def channels_pooled_together(x, pool_size=2, stride=None, right=max_pool2d_forward):
    out, cache = right(x, pool_size, stride)
    return out.max(axis=1, keepdims=True) + np.zeros_like(out), cache


@mistake(
    criterion="max-pool-gradients",
    replaces="max_pool2d_forward",
    text="All the numbers that equal the largest got the whole gradient.",
    fix="One number gets it, the first in reading order: use argmax, not a comparison with the maximum.",
)
def every_equal_gets_it_all(x, pool_size=2, stride=None, right=max_pool2d_forward):
    windows, _, _ = _pool_windows(x, pool_size, stride)
    out, cache = right(x, pool_size, stride)
    return out, (windows == windows.max(axis=1, keepdims=True), *cache[1:])


@mistake(
    criterion="max-pool-gradients",
    replaces="max_pool2d_forward",
    text="The numbers that equal the largest share the gradient.",
    fix="One number gets it all, the first in reading order: argmax finds that one.",
)
def equals_share(x, pool_size=2, stride=None, right=max_pool2d_forward):
    windows, _, _ = _pool_windows(x, pool_size, stride)
    out, cache = right(x, pool_size, stride)
    equal = (windows == windows.max(axis=1, keepdims=True)).astype(x.dtype)
    return out, (equal / equal.sum(axis=1, keepdims=True), *cache[1:])


@mistake(
    criterion="max-pool-gradients",
    replaces="max_pool2d_forward",
    text="Of several numbers that equal the largest, the last got the gradient.",
    fix="Take the first in reading order: compare with > and not with >= where you search by hand.",
)
def last_of_equals(x, pool_size=2, stride=None, right=max_pool2d_forward):
    windows, _, _ = _pool_windows(x, pool_size, stride)
    out, cache = right(x, pool_size, stride)
    last = pool_size**2 - 1 - windows[:, ::-1].argmax(axis=1)
    return out, (np.arange(pool_size**2) == last[:, None], *cache[1:])


@mistake(
    criterion="max-pool-gradients",
    replaces="max_pool2d_backward",
    text="A pixel that is the largest of several windows got the gradient of the last of them only.",
    fix="Add the gradients of overlapping windows up, with col2im or +=.",
)
def last_window_wins(grad_output, cache):
    winners, x_shape, out_shape, pool_size, stride = cache
    _require_shape("grad_output", grad_output, out_shape)
    grad_x = np.zeros(x_shape, grad_output.dtype)
    for place, (n, c, i, j) in zip(winners.argmax(axis=1), np.ndindex(out_shape), strict=True):
        grad_x[n, c, i * stride + place // pool_size, j * stride + place % pool_size] = grad_output[n, c, i, j]
    return grad_x


@mistake(
    criterion="max-pool-gradients",
    replaces="max_pool2d_backward",
    text="Every pixel of a window got the window's whole gradient.",
    fix="Only the pixel that won changes the output: remember in forward which it was, all others get 0.",
)
def everyone_gets_it_all(grad_output, cache, right=max_pool2d_backward):
    return right(grad_output, (np.ones_like(cache[0]), *cache[1:]))


@mistake(
    criterion="max-pool-gradients",
    replaces="max_pool2d_backward",
    text="Line and column of the largest number changed places inside of the window.",
    fix="argmax counts line by line: // pool_size gives the line, % pool_size the column.",
)
def line_and_column_swapped(grad_output, cache, right=max_pool2d_backward):
    winners, pool_size = cache[0], cache[3]
    turned = winners.reshape(-1, pool_size, pool_size).transpose(0, 2, 1).reshape(winners.shape)
    return right(grad_output, (turned, *cache[1:]))


@mistake(
    criterion="average-pool",
    replaces="avg_pool2d_forward",
    text="These are the sums of the windows.",
    fix="Divide by the number of pixels of a window, pool_size**2.",
)
def sum_in_place_of_mean(x, pool_size=2, stride=None, right=avg_pool2d_forward):
    out, cache = right(x, pool_size, stride)
    return out * pool_size**2, cache


@mistake(
    criterion="average-pool",
    replaces="avg_pool2d_backward",
    text="Every pixel of a window got the window's whole gradient in average pooling.",
    fix="Divide by pool_size**2: each pixel counts for that share of the mean.",
)
def gradient_not_shared(grad_output, cache, right=avg_pool2d_backward):
    return right(grad_output, cache) * cache[2] ** 2


@mistake(
    criterion="average-pool",
    replaces="avg_pool2d_backward",
    text="The gradient was divided by pool_size.",
    fix="A window has pool_size**2 pixels: divide by that.",
)
def divided_by_one_side(grad_output, cache, right=avg_pool2d_backward):
    return right(grad_output, cache) * cache[2]


@mistake(
    criterion="conv-layer",
    replaces="Conv2D.forward",
    text="forward went on with the parameters of its first call.",
    fix='Read self.params["weights"] and self.params["bias"] in forward, each time.',
)
def parameters_of_the_first_call(self, x):
    self._first = getattr(self, "_first", None) or self.params
    weights, bias = self._first["weights"], self._first["bias"]
    out, self._cache = conv2d_forward(x, weights, bias, self._stride, self._padding)
    return out


@mistake(
    criterion="conv-layer",
    replaces="Conv2D.backward",
    text="The gradients were added to those of the call before.",
    fix="Put a new dict into self.grads at each call of backward.",
)
def gradients_accumulated(self, grad_output, right=Conv2D.backward):
    before = self.grads
    grad_x = right(self, grad_output)
    self.grads = {key: value + before.get(key, 0) for key, value in self.grads.items()}
    return grad_x


@mistake(
    criterion="conv-layer",
    replaces="Conv2D.backward",
    text="backward returned the gradients of x, weights and bias together.",
    fix="Return the gradient of x alone, and put the other two into self.grads.",
)
def all_gradients_returned(self, grad_output, right=Conv2D.backward):
    return right(self, grad_output), self.grads["weights"], self.grads["bias"]


@mistake(
    criterion="conv-layer",
    replaces="Conv2D.__init__",
    text="The new weights have standard deviation 1.",
    fix="Multiply the standard normal numbers by sqrt(2 / (num_channels * kernel_size**2)).",
)
def weights_not_scaled(
    self, num_channels, num_filters, kernel_size, stride=1, padding=0, rng=None, right=Conv2D.__init__
):
    right(self, num_channels, num_filters, kernel_size, stride, padding, rng)
    self.params["weights"] = self.params["weights"] * math.sqrt(num_channels * kernel_size**2 / 2)


@mistake(
    criterion="conv-layer",
    replaces="Conv2D.__init__",
    text="The standard deviation of the new weights counts the channels and forgets the kernel's pixels.",
    fix="A number of the output has num_channels * kernel_size**2 inputs: sqrt(2 / that).",
)
def kernel_not_counted(
    self, num_channels, num_filters, kernel_size, stride=1, padding=0, rng=None, right=Conv2D.__init__
):
    right(self, num_channels, num_filters, kernel_size, stride, padding, rng)
    self.params["weights"] = self.params["weights"] * kernel_size


@mistake(
    criterion="conv-layer",
    replaces="Conv2D.__init__",
    text="The weights do not depend on rng: they come from a generator of the layer's own with a fixed seed.",
    fix="Draw from rng, and only where it is None from np.random.default_rng().",
)
def rng_not_used(self, num_channels, num_filters, kernel_size, stride=1, padding=0, rng=None, right=Conv2D.__init__):
    right(self, num_channels, num_filters, kernel_size, stride, padding, np.random.default_rng(42))


@mistake(
    criterion="conv-layer",
    replaces="Conv2D.__init__",
    text="Stride and padding had no effect.",
    fix="Keep both in __init__ and hand them to conv2d_forward.",
)
def stride_and_padding_forgotten(
    self, num_channels, num_filters, kernel_size, stride=1, padding=0, rng=None, right=Conv2D.__init__
):
    right(self, num_channels, num_filters, kernel_size, rng=rng)


@mistake(
    criterion="other-layers",
    replaces="Flatten.forward",
    text="The batch was flattened too: all images became one row.",
    fix="Keep the first axis, x.reshape(len(x), -1).",
)
def batch_flattened(self, x):
    self._shape = x.shape
    return x.reshape(-1)


@mistake(
    criterion="other-layers",
    replaces="Flatten.forward",
    text="The features go pixel by pixel, each with all its channels.",
    fix="Reshape without moving axes: channel by channel, line by line.",
)
def features_channels_last(self, x):
    self._shape = x.shape
    return np.moveaxis(x, 1, -1).reshape(len(x), -1)


@mistake(
    criterion="other-layers",
    replaces="Flatten.backward",
    text="The gradient came back as it was, one row for each image.",
    fix="Give it the shape of forward's x, which forward has to remember.",
)
def gradient_left_flat(self, grad_output, right=Flatten.backward):
    right(self, grad_output)
    return grad_output


@mistake(
    criterion="other-layers",
    replaces="MaxPool2D.forward",
    text="The layer's windows are 2 by 2, whatever its pool_size.",
    fix="Keep pool_size in __init__ and hand it to max_pool2d_forward.",
)
def pool_size_of_layer_forgotten(self, x):
    out, self._cache = max_pool2d_forward(x, stride=self._stride)
    return out


@mistake(
    criterion="other-layers",
    replaces="MaxPool2D.backward",
    text="The gradient was shared out among all pixels of a window, as in average pooling.",
    fix="Call max_pool2d_backward with the cache of the last forward.",
)
def shared_out_among_all(self, grad_output):
    _, x_shape, out_shape, pool_size, stride = _last_forward(self._cache)
    return avg_pool2d_backward(grad_output, (x_shape, out_shape, pool_size, stride))


@mistake(
    criterion="lenet",
    replaces="build_lenet",
    text="The first convolution has no padding: 28 by 28 became 24 by 24, and the maps end at 4 by 4.",
    fix="Conv2D(1, 6, 5, padding=2), so that 400 features reach the first dense layer.",
)
def first_padding_forgotten(num_classes, rng, right=build_lenet):
    layers = right(num_classes, rng)
    return [Conv2D(1, 6, 5, rng=rng), *layers[1:7], _Dense(256, 120, rng), *layers[8:]]


@mistake(
    criterion="lenet",
    replaces="build_lenet",
    text="There is no ReLU: without it the dense layers, and the convolutions, add up to linear maps.",
    fix="Put ReLU behind both convolutions and behind the first two dense layers.",
)
def relu_forgotten(num_classes, rng, right=build_lenet):
    return [layer for layer in right(num_classes, rng) if not isinstance(layer, _ReLU)]


@mistake(
    criterion="lenet",
    replaces="build_lenet",
    text="The scores went through ReLU too, so that none is negative.",
    fix="End with the last dense layer: scores may have either sign.",
)
def relu_behind_the_scores(num_classes, rng, right=build_lenet):
    return [*right(num_classes, rng), _ReLU()]


@mistake(
    criterion="lenet",
    replaces="build_lenet",
    text="The convolutions have no ReLU behind them.",
    fix="Each convolution is followed by ReLU, and that by pooling.",
)
def relu_behind_dense_layers_only(num_classes, rng, right=build_lenet):
    layers = right(num_classes, rng)
    return [layers[0], *layers[2:4], *layers[5:]]


@mistake(
    criterion="lenet",
    replaces="_Dense.__init__",
    text="The new weights of the dense layers have standard deviation 1.",
    fix="Multiply by sqrt(2 / num_inputs).",
)
def dense_weights_not_scaled(self, num_inputs, num_outputs, rng, right=_Dense.__init__):
    right(self, num_inputs, num_outputs, rng)
    self.params["weights"] = self.params["weights"] * math.sqrt(num_inputs / 2)


@mistake(
    criterion="lenet",
    replaces="_Dense.forward",
    text="The dense layers have no bias in their outputs.",
    fix="x @ weights + bias.",
)
def dense_bias_left_out(self, x):
    self._x = x
    return x @ self.params["weights"]


@mistake(
    criterion="lenet-learns",
    replaces="_ReLU.backward",
    text="ReLU passed every gradient on.",
    fix="Where the input of ReLU was not positive the gradient is 0: multiply by the mask x > 0 of forward.",
)
def relu_passes_everything(self, grad_output):
    return grad_output


@mistake(
    criterion="lenet-learns",
    replaces="_ReLU.forward",
    text="ReLU let the gradient pass where its input was exactly 0.",
    fix="Compare with x > 0, not x >= 0. Zeros are no rarity: black pixels make them wherever biases are 0.",
)
def relu_passes_at_zero(self, x):
    self._positive = x >= 0
    return np.maximum(x, 0)


@mistake(
    criterion="lenet-learns",
    replaces="_ReLU.backward",
    text="ReLU was applied to the gradient: what was negative in it became 0.",
    fix="What decides is the sign of forward's input, not that of the gradient.",
)
def relu_of_the_gradient(self, grad_output):
    return np.maximum(grad_output, 0)


@mistake(
    criterion="lenet-learns",
    replaces="_Dense.backward",
    text="The dense layers' gradients were divided by the number of images.",
    fix="Leave them as sums over the batch: grad_output carries the division of a mean loss.",
)
def dense_gradients_averaged(self, grad_output, right=_Dense.backward):
    grad_x = right(self, grad_output)
    self.grads = {key: value / len(grad_output) for key, value in self.grads.items()}
    return grad_x


@mistake(
    criterion="lenet-learns",
    replaces="_Dense.backward",
    text="The dense layers add their gradients to those of the call before.",
    fix="Put a new dict into self.grads at each call of backward.",
)
def dense_gradients_accumulated(self, grad_output, right=_Dense.backward):
    before = self.grads
    grad_x = right(self, grad_output)
    self.grads = {key: value + before.get(key, 0) for key, value in self.grads.items()}
    return grad_x


@mistake(
    criterion="lenet-learns",
    replaces="_Dense.backward",
    text="The bias gradient of the dense layers is zero.",
    fix="Sum grad_output over the batch.",
)
def dense_bias_gradient_zero(self, grad_output, right=_Dense.backward):
    grad_x = right(self, grad_output)
    self.grads["bias"] = np.zeros_like(self.grads["bias"])
    return grad_x


@mistake(
    criterion="average-pool",
    replaces="avg_pool2d_forward",
    text="The averages were put into an array of the dtype of x: of whole numbers, every fraction is cut off.",
    fix="np.zeros(shape, x.dtype) holds integers where x does: let np.mean choose the dtype.",
)
def averages_in_the_dtype_of_x(x, pool_size=2, stride=None, right=avg_pool2d_forward):
    out, cache = right(x, pool_size, stride)
    return out.astype(x.dtype), cache

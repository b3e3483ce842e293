"""Hidden tests of stage s13: padding, sizes, and windows as rows of a matrix."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, plain_array, unchanged
from hidden.s13_convolution import oracles
from hidden.s13_convolution.oracles import SETTINGS

pytestmark = pytest.mark.values


@pytest.mark.criterion("pad")
class TestPad2d:
    @pytest.mark.parametrize("padding", [0, 1, 2, 3])
    def test_any_images(self, learner, rng, padding):
        x = rng.normal(size=oracles.draw_sizes(rng, 4, least=1))
        with unchanged(x):
            assert_array(learner.pad2d(x, padding), oracles.padded(x, padding))

    @pytest.mark.parametrize("dtype", [np.float32, np.int64])
    @pytest.mark.dtype
    def test_dtype_stays(self, learner, rng, dtype):
        x = (rng.normal(size=(2, 3, 4, 5)) * 10).astype(dtype)
        assert_array(learner.pad2d(x, 2), oracles.padded(x, 2), dtype=dtype)

    @pytest.mark.refusals
    def test_other_numbers_of_axes_are_refused(self, learner):
        for shape in [(4,), (3, 4), (2, 3, 4), (1, 2, 3, 4, 5)]:
            with pytest.raises(ValueError):
                learner.pad2d(np.ones(shape), 1)

    @pytest.mark.refusals
    def test_negative_padding_is_refused(self, learner, rng):
        with pytest.raises(ValueError):
            learner.pad2d(np.ones((2, 3, 9, 8)), -int(rng.integers(1, 4)))


@pytest.mark.criterion("output-size")
class TestOutputSize:
    def test_every_place_is_counted(self, learner, rng):
        for _ in range(40):
            size, kernel = (int(value) for value in rng.integers(1, 12, size=2))
            stride, padding = int(rng.integers(1, 5)), int(rng.integers(0, 4))
            if kernel <= size + 2 * padding:
                expected = len(oracles.places(size, kernel, stride, padding))
                assert_equal(learner.output_size(size, kernel, stride, padding), expected)

    def test_stride_is_1_and_padding_0_unless_given(self, learner, rng):
        size, kernel = int(rng.integers(8, 20)), int(rng.integers(1, 8))
        assert_equal(learner.output_size(size, kernel), len(oracles.places(size, kernel)))
        assert_equal(learner.output_size(size, kernel, padding=3), len(oracles.places(size, kernel, 1, 3)))

    @pytest.mark.edges
    def test_a_kernel_may_fill_the_padded_axis(self, learner):
        assert_equal(learner.output_size(5, 9, 3, 2), 1)
        assert_equal(learner.output_size(1, 1), 1)

    @pytest.mark.refusals
    def test_larger_kernels_are_refused(self, learner):
        for arguments in [(5, 10, 2, 2), (5, 6), (5, 10, 1, 2), (1, 2, 4)]:
            with pytest.raises(ValueError):
                learner.output_size(*arguments)

    @pytest.mark.refusals
    def test_kernel_stride_and_padding_out_of_range_are_refused(self, learner):
        for arguments in [(5, 0), (5, -1), (5, 3, 0), (5, 3, -1), (5, 3, 1, -1), (5, 3, 2, -2)]:
            with pytest.raises(ValueError):
                learner.output_size(*arguments)


@pytest.mark.criterion("im2col")
class TestIm2col:
    @pytest.mark.parametrize("stride, padding", SETTINGS)
    def test_any_windows(self, learner, rng, stride, padding):
        x, W, _ = oracles.draw_convolution(rng)
        kernel = W.shape[2:]
        with unchanged(x):
            columns = learner.im2col(x, *kernel, stride, padding)
        assert_array(columns, oracles.columns_of(x, kernel, stride, padding))

    def test_stride_is_1_and_padding_0_in_im2col_unless_given(self, learner, rng):
        x = rng.normal(size=(2, 3, 5, 4))
        assert_array(learner.im2col(x, 2, 3), oracles.columns_of(x, (2, 3), 1, 0))

    @pytest.mark.dtype
    def test_single_precision_stays_in_im2col(self, learner, rng):
        x = rng.normal(size=(2, 1, 4, 5)).astype(np.float32)
        assert_array(learner.im2col(x, 3, 2, 1, 1), oracles.columns_of(x, (3, 2), 1, 1), dtype=np.float32)

    @pytest.mark.refusals
    def test_windows_and_steps_that_do_not_fit_are_refused(self, learner):
        for arguments in [(6, 2), (2, 5), (0, 2), (2, 0), (2, 2, 0), (2, 2, 1, -1), (2, 9, 1, 2)]:
            with pytest.raises(ValueError):
                learner.im2col(np.ones((2, 3, 5, 4)), *arguments)

    @pytest.mark.refusals
    def test_an_image_without_batch_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.im2col(np.ones((3, 5, 4)), 2, 2)


@pytest.mark.criterion("col2im")
class TestCol2im:
    @pytest.mark.parametrize("stride, padding", SETTINGS)
    def test_any_columns(self, learner, rng, stride, padding):
        x, W, _ = oracles.draw_convolution(rng)
        kernel = W.shape[2:]
        columns = rng.normal(size=oracles.columns_of(x, kernel, stride, padding).shape)
        with unchanged(columns):
            images = learner.col2im(columns, x.shape, *kernel, stride, padding)
        assert_array(images, oracles.images_of(columns, x.shape, kernel, stride, padding))

    def test_it_is_the_transpose_of_im2col(self, learner, rng):
        x = rng.normal(size=(2, 3, 6, 5))
        windows = learner.im2col(x, 3, 2, 2, 1)
        columns = rng.normal(size=plain_array(windows).shape)
        images = learner.col2im(columns, x.shape, 3, 2, 2, 1)
        assert_array(
            np.sum(plain_array(images) * x), np.sum(columns * windows), terms=500, name="sum of col2im(columns) * x"
        )

    def test_stride_is_1_and_padding_0_in_col2im_unless_given(self, learner, rng):
        columns = rng.normal(size=(2 * 4 * 2, 3 * 2 * 3))
        assert_array(
            learner.col2im(columns, (2, 3, 5, 4), 2, 3), oracles.images_of(columns, (2, 3, 5, 4), (2, 3), 1, 0)
        )

    @pytest.mark.dtype
    def test_single_precision_stays_in_col2im(self, learner, rng):
        columns = rng.normal(size=(2 * 4 * 3, 6)).astype(np.float32)
        images = learner.col2im(columns, (2, 1, 5, 5), 2, 3)
        assert_array(
            images, oracles.images_of(columns, (2, 1, 5, 5), (2, 3), 1, 0).astype(np.float32), dtype=np.float32
        )

    @pytest.mark.refusals
    def test_columns_that_are_not_of_these_windows_are_refused(self, learner):
        for shape in [(18, 16), (16, 17), (18, 16, 1), (8, 36), (288,), (1, 18), (16, 1)]:
            with pytest.raises(ValueError):
                learner.col2im(np.ones(shape), (2, 3, 5, 4), 2, 3)

    @pytest.mark.refusals
    def test_steps_that_do_not_fit_are_refused_in_col2im(self, learner):
        for arguments in [(2, 2, 0), (0, 2), (2, 0), (6, 2), (2, 5), (2, 2, 1, -1)]:
            with pytest.raises(ValueError):
                learner.col2im(np.ones((24, 12)), (2, 3, 5, 4), *arguments)

"""Hidden tests of stage s23: rotary positions, forward and backward, and positions that are squeezed."""

import numpy as np
import pytest

from grader.testing import assert_array, plain_array, unchanged
from hidden.s23_modern_decoder import oracles

pytestmark = pytest.mark.values

# onnx 1.23.2, RotaryEmbedding by the reference evaluator in float32, of sin(0), ..., sin(15) at positions 3 and 17
ONNX = [
    [-0.118748, -0.83305, 0.826981, 0.403533, -0.727699, -0.981194, -0.281385, 0.656145],
    [0.123975, -1.064566, 1.061749, -0.410643, -0.599923, 0.323332, 0.97941, 0.667033],
]


def draw_positions(rng, leading, seq):
    """Return positions of all forms for (..., seq, d)."""
    return [
        np.arange(seq) + 5,
        rng.integers(-40, 400, size=seq),
        rng.integers(0, 50, size=(*leading, seq)),
        rng.uniform(0, 9, size=seq),
    ]


@pytest.mark.criterion("rotary")
class TestRotary:
    def test_pairs_of_neighbours(self, learner, rng):
        for leading, d in (((), 8), ((3,), 2), ((2, 3), 6)):
            x = rng.normal(size=(*leading, 7, d))
            for positions in draw_positions(rng, leading, 7):
                assert_array(learner.rotary_forward(x, positions), oracles.rotary(x, positions), rtol=1e-8)
            result = learner.rotary_forward(x, np.arange(7) + 2, base=50.0)
            assert_array(result, oracles.rotary(x, np.arange(7) + 2, 50.0), rtol=1e-8)

    def test_another_implementation(self, learner):
        x = np.sin(np.arange(16.0)).reshape(2, 8)
        assert_array(learner.rotary_forward(x, np.array([3, 17])), ONNX, atol=2e-6)

    def test_only_distance_counts(self, learner, rng):
        q, k = rng.normal(size=(2, 1, 6))
        first, shift = rng.integers(0, 30, size=2)
        products = []
        for offset in (0, 11, 200):
            turned = [
                plain_array(learner.rotary_forward(x, np.array([place + offset])))
                for x, place in ((q, first), (k, first + shift))
            ]
            products.append(float(np.ravel(turned[0]) @ np.ravel(turned[1])))
        expected = float(q[0] @ oracles.rotary(k, np.array([shift]))[0])
        assert_array(np.array(products), np.full(3, expected), rtol=1e-8, atol=1e-8, name="dot products")

    @pytest.mark.dtype
    @pytest.mark.parametrize("positions", [[0, 1, 2], [4000, 4001, 65000]], ids=str)
    def test_float32_stays_float32_and_its_angles_are_exact(self, learner, rng, positions):
        x = rng.normal(size=(3, 64)).astype("f4")
        expected = oracles.rotary(x.astype(float), np.array(positions)).astype("f4")
        assert_array(learner.rotary_forward(x, np.array(positions)), expected, dtype="float32")

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner, rng):
        x, positions = rng.normal(size=(3, 6)), rng.integers(0, 9, size=3)
        with unchanged(x, positions):
            learner.rotary_forward(x, positions)

    @pytest.mark.refusals
    def test_shapes_and_positions_that_do_not_fit(self, learner, rng):
        for shape, positions in (((3, 5), 3), ((2, 3, 1), 3), ((3, 6), 4), ((4,), 1)):
            with pytest.raises(ValueError):
                learner.rotary_forward(rng.normal(size=shape), np.arange(positions))
        for shape, positions in (
            ((3, 6), np.zeros((2, 3), dtype=int)),
            ((3, 6), np.zeros((1, 3))),
            ((4,), np.array(1)),
        ):
            with pytest.raises(ValueError):
                learner.rotary_forward(rng.normal(size=shape), positions)


@pytest.mark.criterion("rotary-gradients")
class TestRotaryGradients:
    def test_turning_back(self, learner, rng):
        for leading, d in (((), 8), ((2, 3), 6)):
            grad_output = rng.normal(size=(*leading, 5, d))
            for positions in draw_positions(rng, leading, 5):
                result = learner.rotary_backward(grad_output, positions)
                assert_array(result, oracles.rotary(grad_output, -positions), rtol=1e-8)
            result = learner.rotary_backward(grad_output, np.arange(5), base=50.0)
            assert_array(result, oracles.rotary(grad_output, -np.arange(5), 50.0), rtol=1e-8)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        grad = rng.normal(size=(3, 6)).astype("f4")
        expected = oracles.rotary(grad.astype(float), -np.arange(3)).astype("f4")
        assert_array(learner.rotary_backward(grad, np.arange(3)), expected, dtype="float32")

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner, rng):
        grad_output, positions = rng.normal(size=(3, 6)), rng.integers(0, 9, size=3)
        with unchanged(grad_output, positions):
            learner.rotary_backward(grad_output, positions)

    @pytest.mark.refusals
    def test_shapes_and_positions_that_do_not_fit(self, learner, rng):
        for shape, positions in (((3, 5), 3), ((3, 6), 4), ((4,), 1)):
            with pytest.raises(ValueError):
                learner.rotary_backward(rng.normal(size=shape), np.arange(positions))


@pytest.mark.criterion("scale-positions")
class TestScalePositions:
    def test_long_and_short_sequences(self, learner, rng):
        for length, trained in ((12, 4), (9, 8), (8, 8), (5, 8), (1, 1), *rng.integers(2, 40, size=(4, 2)).tolist()):
            expected = np.array([place * min(1, trained / length) for place in range(length)], dtype=float)
            assert_array(plain_array(learner.scale_positions(np.arange(length), trained)) * 1.0, expected)

    def test_positions_of_any_shape_and_order(self, learner, rng):
        positions = rng.permutation(24).reshape(2, 12)
        assert_array(learner.scale_positions(positions, 10), positions * 10 / 24)
        later = positions[:, :1] + 8
        assert_array(learner.scale_positions(later, 5), later * 5 / (later.max() + 1))

    @pytest.mark.refusals
    def test_lengths_that_are_none(self, learner):
        for trained in (0, -3, 2.0):
            with pytest.raises(ValueError):
                learner.scale_positions(np.arange(4), trained)

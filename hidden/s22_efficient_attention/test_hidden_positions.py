"""Hidden tests of stage s22: rotations, biases and RMS norm."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_gradient, numerical_gradient, unchanged
from hidden.s22_efficient_attention import oracles

pytestmark = pytest.mark.values

# onnx 1.23.2, RotaryEmbedding by the reference evaluator in float32, of sin(0), ..., sin(15) at positions 3 and 17
ONNX = {
    True: [
        [-0.118748, -0.83305, 0.826981, 0.403533, -0.727699, -0.981194, -0.281385, 0.656145],
        [0.123975, -1.064566, 1.061749, -0.410643, -0.599923, 0.323332, 0.97941, 0.667033],
    ],
    False: [
        [0.1068, 1.087269, 0.917269, 0.139148, 0.749229, -0.667424, -0.252015, 0.657407],
        [-0.788095, -0.469764, -0.703772, -1.0109, -0.803521, 0.354547, 0.884289, 0.633195],
    ],
}


def check_rotary(learner, rng, interleaved):
    """Compare with the oracle: any leading axes, positions of all forms, another base."""
    for leading, d in (((), 8), ((3,), 2), ((2, 3), 6)):
        x = rng.normal(size=(*leading, 7, d))
        forms = [None, np.arange(7) + 5, rng.integers(-40, 400, size=7), rng.integers(0, 50, size=(*leading, 7))]
        for positions in forms:
            places = np.arange(7) if positions is None else positions
            result = learner.rotary_embedding(x, positions, interleaved=interleaved)
            assert_array(result, oracles.rotary(x, places, 10000.0, interleaved), rtol=1e-8)
        result = learner.rotary_embedding(x, np.arange(7) + 2, base=50.0, interleaved=interleaved)
        assert_array(result, oracles.rotary(x, np.arange(7) + 2, 50.0, interleaved), rtol=1e-8)


@pytest.mark.criterion("rotary")
class TestRotary:
    def test_pairs_of_neighbours(self, learner, rng):
        check_rotary(learner, rng, True)

    def test_neighbours_are_the_default(self, learner, rng):
        x = rng.normal(size=(5, 6))
        assert_array(learner.rotary_embedding(x), oracles.rotary(x, np.arange(5), 10000.0, True), rtol=1e-8)

    def test_another_implementation(self, learner):
        x = np.sin(np.arange(16.0)).reshape(2, 8)
        assert_array(learner.rotary_embedding(x, np.array([3, 17])), ONNX[True], atol=2e-6)

    def test_only_distance_counts(self, learner, rng):
        q, k = rng.normal(size=(2, 1, 6))
        first, shift = rng.integers(0, 30, size=2)
        products = []
        for offset in (0, 11, 200):
            turned_q = learner.rotary_embedding(q, np.array([first + offset]))
            turned_k = learner.rotary_embedding(k, np.array([first + shift + offset]))
            products.append(float(np.asarray(turned_q).ravel() @ np.asarray(turned_k).ravel()))
        expected = float(oracles.rotary(q, np.array([0]), 1e4, True)[0] @ oracles.rotary(k, shift, 1e4, True)[0])
        assert_array(np.array(products), np.full(3, expected), rtol=1e-8, atol=1e-8, name="dot products")

    def test_negative_positions_undo(self, learner, rng):
        x, positions = rng.normal(size=(4, 6)), rng.integers(1, 100, size=4)
        there = learner.rotary_embedding(x, positions)
        assert_array(learner.rotary_embedding(there, -positions), x, rtol=1e-8, name="what was turned back")

    @pytest.mark.dtype
    @pytest.mark.parametrize("positions", [None, np.array([4000, 4001, 65000])])
    def test_float32_stays_float32_and_its_angles_are_exact(self, learner, rng, positions):
        x = rng.normal(size=(3, 6)).astype(np.float32)
        places = np.arange(3) if positions is None else positions
        expected = oracles.rotary(x.astype(np.float64), places, 10000.0, True).astype(np.float32)
        assert_array(learner.rotary_embedding(x, positions), expected, dtype=np.float32)

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner, rng):
        x, positions = rng.normal(size=(3, 6)), rng.integers(0, 9, size=3)
        with unchanged(x, positions):
            learner.rotary_embedding(x, positions)

    @pytest.mark.refusals
    def test_shapes_and_positions_that_do_not_fit(self, learner, rng):
        for shape in ((3, 5), (2, 3, 1), (4,)):
            with pytest.raises(ValueError):
                learner.rotary_embedding(rng.normal(size=shape))
        for positions in (np.arange(4), np.zeros((2, 3), dtype=int)):
            with pytest.raises(ValueError):
                learner.rotary_embedding(rng.normal(size=(3, 6)), positions)


@pytest.mark.criterion("rotary-halves")
class TestRotaryHalves:
    def test_pairs_of_halves(self, learner, rng):
        check_rotary(learner, rng, False)

    def test_another_implementation(self, learner):
        x = np.sin(np.arange(16.0)).reshape(2, 8)
        result = learner.rotary_embedding(x, np.array([3, 17]), interleaved=False)
        assert_array(result, ONNX[False], atol=2e-6)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        x = rng.normal(size=(3, 6)).astype(np.float32)
        expected = oracles.rotary(x.astype(np.float64), np.arange(3), 10000.0, False).astype(np.float32)
        assert_array(learner.rotary_embedding(x, interleaved=False), expected, dtype=np.float32)

    @pytest.mark.purity
    def test_x_stays_as_it_is(self, learner, rng):
        x = rng.normal(size=(3, 6))
        with unchanged(x):
            learner.rotary_embedding(x, interleaved=False)


@pytest.mark.criterion("alibi-slopes")
class TestAlibiSlopes:
    def test_numbers_of_heads(self, learner, rng):
        for num_heads in (1, 2, 4, 16, 32, 12, 5, 7, *rng.integers(3, 100, size=4).tolist(), np.int64(24)):
            assert_array(learner.alibi_slopes(num_heads), oracles.slopes(int(num_heads)), name=f"slopes of {num_heads}")

    @pytest.mark.refusals
    def test_numbers_that_are_none(self, learner):
        for num_heads in (0, -1, -8, 8.0, 0.5):
            with pytest.raises(ValueError):
                learner.alibi_slopes(num_heads)


@pytest.mark.criterion("alibi-bias")
class TestAlibiBias:
    @pytest.mark.parametrize("causal", [True, False])
    def test_all_entries(self, learner, rng, causal):
        for num_heads in (1, 8, *rng.integers(2, 14, size=2).tolist()):
            length = int(rng.integers(4, 9))
            result = learner.alibi_bias(num_heads, length, causal=causal)
            assert_array(result, oracles.bias(num_heads, length, causal), axes="head seq_q seq_k")

    def test_causal_is_the_default(self, learner, rng):
        num_heads, length = (int(number) for number in rng.integers(2, 6, size=2))
        assert_array(learner.alibi_bias(num_heads, length), oracles.bias(num_heads, length, True))

    @pytest.mark.edges
    def test_one_position(self, learner):
        assert_array(learner.alibi_bias(3, 1), np.zeros((3, 1, 1)))

    @pytest.mark.refusals
    def test_numbers_that_are_none(self, learner):
        for num_heads, length in ((0, 3), (4, 0), (4, -2), (2.0, 3), (4, 2.5)):
            with pytest.raises(ValueError):
                learner.alibi_bias(num_heads, length)


def draw_vectors(rng, shape):
    """Return vectors, some of them nearly zero, where it shows what eps is and where it stands; and a gamma."""
    x = rng.normal(size=shape) * rng.choice([1e-3, 1.0, 30.0], size=(*shape[:-1], 1))
    return x, rng.uniform(0.5, 2, size=shape[-1]) * rng.choice([-1.0, 1.0], size=shape[-1])


@pytest.mark.criterion("rms-norm")
class TestRmsNorm:
    def test_any_leading_axes(self, learner, rng):
        for shape in ((4, 5), (2, 3, 6), (7,), (3, 1)):
            x, gamma = draw_vectors(rng, shape)
            for options in ({}, {"eps": 1e-5}, {"eps": 1e-2}):
                eps = options.get("eps", 1e-6)
                exact, outside = oracles.rms(x, gamma, eps), oracles.rms(x, gamma, eps, outside=True)
                oracles.assert_either(learner.rms_norm(x, gamma, **options), exact, outside)

    def test_the_mean_is_not_subtracted(self, learner, rng):
        x, gamma = rng.normal(size=(4, 5)) + 3, rng.normal(size=5)
        exact, outside = oracles.rms(x, gamma, 1e-6), oracles.rms(x, gamma, 1e-6, outside=True)
        oracles.assert_either(learner.rms_norm(x, gamma), exact, outside)

    @pytest.mark.edges
    def test_vectors_of_zeros_and_of_large_numbers(self, learner, rng):
        gamma = rng.normal(size=3)
        assert_array(learner.rms_norm(np.zeros((2, 3)), gamma), np.zeros((2, 3)))
        x = 1e100 * rng.normal(size=(2, 3))
        assert_array(learner.rms_norm(x, gamma), oracles.rms(x, gamma, 0.0))

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        x, gamma = rng.normal(size=(4, 5)), rng.normal(size=5)
        result = learner.rms_norm(x.astype(np.float32), gamma.astype(np.float32))
        assert_array(result, oracles.rms(x, gamma, 1e-6).astype(np.float32), dtype=np.float32)

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner, rng):
        x, gamma = rng.normal(size=(4, 5)), rng.normal(size=5)
        with unchanged(x, gamma):
            learner.rms_norm(x, gamma)

    @pytest.mark.refusals
    def test_a_gamma_of_another_size(self, learner):
        for shape in ((3,), (1,), (5,), (2, 4), ()):
            with pytest.raises(ValueError):
                learner.rms_norm(np.ones((5, 4)), np.ones(shape))


@pytest.mark.criterion("rms-norm-gradients")
class TestRmsNormGradients:
    def test_finite_differences(self, learner, rng):
        for shape in ((3, 4), (2, 2, 3), (5,)):
            x, gamma, grad = rng.normal(size=shape), rng.normal(size=shape[-1]), rng.normal(size=shape)
            for eps in (1e-6, 0.3):
                self.check(learner, grad, x, gamma, eps, (eps,))

    def test_eps_is_a_millionth_by_default(self, learner, rng):
        x = 2e-3 * rng.choice([-1.0, 1.0], size=(3, 4)) * rng.uniform(0.5, 2, size=(3, 4))
        self.check(learner, 1e-3 * rng.normal(size=(3, 4)), x, rng.normal(size=4), 1e-6, ())

    def check(self, learner, grad, x, gamma, eps, given):
        """Compare both gradients with finite differences of the convention that comes closer."""
        result = learner.rms_norm_backward(grad, x, gamma, *given)
        grad_x, grad_gamma = oracles.parts(result, ("grad_x", "grad_gamma"))
        ways = [
            numerical_gradient(lambda x, outside=outside: (oracles.rms(x, gamma, eps, outside) * grad).sum(), x)
            for outside in (False, True)
        ]
        distances = [np.abs(np.asarray(grad_x) - way).max() if np.shape(grad_x) == x.shape else 0 for way in ways]
        outside = bool(distances[1] < distances[0])
        assert_gradient(grad_x, ways[outside], name="grad_x")
        of_gamma = numerical_gradient(lambda gamma: (oracles.rms(x, gamma, eps, outside) * grad).sum(), gamma)
        assert_gradient(grad_gamma, of_gamma, name="grad_gamma")

    def test_another_framework(self, learner):
        """Frozen values: torch 2.13.0, RMSNorm(3, eps=1e-5) in float64, of sin and cos of small numbers."""
        x, grad = np.sin(np.arange(6.0)).reshape(2, 3), np.cos(np.arange(6.0)).reshape(2, 3)
        found = learner.rms_norm_backward(grad, x, np.array([1.5, -0.5, 2.0]), 1e-5)
        grad_x, grad_gamma = oracles.parts(found, ("grad_x", "grad_gamma"))
        right = [[2.0970475, 0.3765783, -0.3485181], [-1.9600218, -0.2452087, -0.0948936]]
        assert_array(grad_x, right, rtol=1e-4, name="grad_x")  # eps may stand outside of the root
        assert_array(grad_gamma, [-0.1967760, 1.3323604, -0.9121392], rtol=1e-4, name="grad_gamma")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        grad, x, gamma = (rng.normal(size=shape).astype(np.float32) for shape in ((4, 5), (4, 5), (5,)))
        for name, value in zip(("grad_x", "grad_gamma"), learner.rms_norm_backward(grad, x, gamma), strict=True):
            assert_array(value, np.asarray(value, dtype=np.float64), name=name, dtype=np.float32)

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner, rng):
        grad_output, x, gamma = (rng.normal(size=shape) for shape in ((4, 5), (4, 5), (5,)))
        with unchanged(grad_output, x, gamma):
            learner.rms_norm_backward(grad_output, x, gamma)

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit(self, learner):
        for shape in ((4, 4), (3, 5), (5,), (1, 5)):
            with pytest.raises(ValueError):
                learner.rms_norm_backward(np.ones(shape), np.ones((4, 5)), np.ones(5))
        for shape in ((4,), (1,), (), (4, 5)):
            with pytest.raises(ValueError):
                learner.rms_norm_backward(np.ones((4, 5)), np.ones((4, 5)), np.ones(shape))

"""Hidden tests of stage s22: rotations and biases."""

import numpy as np
import pytest

from grader.testing import assert_array, plain_array, unchanged
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
            products.append(
                float(np.asarray(plain_array(turned_q)).ravel() @ np.asarray(plain_array(turned_k)).ravel())
            )
        expected = float(oracles.rotary(q, np.array([0]), 1e4, True)[0] @ oracles.rotary(k, shift, 1e4, True)[0])
        assert_array(np.array(products), np.full(3, expected), rtol=1e-8, atol=1e-8, name="dot products")

    def test_negative_positions_undo(self, learner, rng):
        x, positions = rng.normal(size=(4, 6)), rng.integers(1, 100, size=4)
        there = learner.rotary_embedding(x, positions)
        assert_array(learner.rotary_embedding(there, -positions), x, rtol=1e-8, name="what was turned back")

    @pytest.mark.dtype
    def test_integers_are_numbers_too(self, learner, rng):
        x = rng.integers(-9, 10, size=(4, 6))
        expected = oracles.rotary(x, np.arange(4), 10000.0, True)
        assert_array(learner.rotary_embedding(x), expected, rtol=1e-8)

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
    def test_integers_are_numbers_too(self, learner, rng):
        x = rng.integers(-9, 10, size=(4, 6))
        expected = oracles.rotary(x, np.arange(4), 10000.0, False)
        assert_array(learner.rotary_embedding(x, interleaved=False), expected, rtol=1e-8)

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

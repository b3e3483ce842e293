"""Hidden tests of stage s21: how much room experts have, who finds it, and the two losses of the router."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, plain_array, unchanged
from hidden.s21_mixture_of_experts import oracles

pytestmark = pytest.mark.values


@pytest.mark.criterion("expert-capacity")
class TestExpertCapacity:
    def test_equal_shares_are_rounded_up(self, learner, rng):
        for _ in range(20):
            num_tokens, num_experts, k = (int(rng.integers(1, most)) for most in (200, 20, 5))
            wanted = int(rng.integers(1, 50))  # seats: half a seat less is rounded up to it, half a seat more is not
            for seats, expected in ((wanted - 0.5, wanted), (wanted + 0.5, wanted + 1)):
                factor = seats * num_experts / (k * num_tokens)
                assert_equal(learner.expert_capacity(num_tokens, num_experts, k, factor), expected)

    def test_whole_numbers_stay_as_they_are(self, learner, rng):
        num_experts, k, share = 2 ** int(rng.integers(0, 6)), int(rng.integers(1, 4)), 4 * int(rng.integers(1, 30))
        for factor in (0.25, 1.0, 1.25, 2.0):
            result = learner.expert_capacity(share * num_experts, num_experts, k, factor)
            assert_equal(result, int(factor * k * share))

    @pytest.mark.edges
    def test_integers_are_factors_too(self, learner, rng):
        share = int(rng.integers(1, 9))
        assert_equal(learner.expert_capacity(np.int64(8 * share), np.int64(8), np.int64(2), 2), 4 * share)

    @pytest.mark.refusals
    @pytest.mark.parametrize("place", [0, 1, 2])
    @pytest.mark.parametrize("value", [0, -1, 2.0])
    def test_counts_that_are_none_are_refused(self, learner, place, value):
        counts = [8, 4, 2]
        counts[place] = value
        with pytest.raises(ValueError):
            learner.expert_capacity(*counts, 1.0)

    @pytest.mark.refusals
    @pytest.mark.parametrize("factor", [0, 0.0, -1.25, float("nan")])
    def test_factors_without_room_are_refused(self, learner, factor):
        with pytest.raises(ValueError):
            learner.expert_capacity(8, 4, 2, factor)


@pytest.mark.criterion("dispatch")
class TestDispatch:
    @pytest.mark.parametrize("k", [1, 2, 3])
    def test_seats_are_given_out_in_order(self, learner, rng, k):
        for _ in range(4):
            num_experts, tokens = int(rng.integers(3, 7)), int(rng.integers(8, 20))
            indices, capacity = oracles.draw_choices(rng, tokens, num_experts, k), int(rng.integers(1, 6))
            positions, kept = learner.dispatch(indices, num_experts, capacity)
            expected = oracles.seats(indices, num_experts)
            assert_array(positions, expected, name="positions")
            assert_array(kept, expected < capacity, name="kept")

    @pytest.mark.edges
    def test_room_for_all_and_experts_that_nobody_chose(self, learner, rng):
        indices = oracles.draw_choices(rng, 6, 3, 2)
        positions, kept = learner.dispatch(indices, 50, np.int64(6))
        assert_array(positions, oracles.seats(indices, 50), name="positions")
        assert_array(kept, np.full((6, 2), True), name="kept")

    @pytest.mark.purity
    def test_indices_stay_as_they_are(self, learner, rng):
        indices = oracles.draw_choices(rng, 9, 4, 2)
        with unchanged(indices):
            learner.dispatch(indices, 4, 2)

    @pytest.mark.refusals
    @pytest.mark.parametrize(
        ("indices", "num_experts", "capacity"),
        [
            ([[0, 1], [2, 0]], 2, 3),
            ([[0, 1], [-1, 0]], 3, 3),
            ([0, 1, 2], 3, 3),
            ([[[0, 1]]], 3, 3),
            ([[0, 1]], 3, 0),
            ([[0, 1]], 3, -2),
            ([[0, 1]], 3, 1.5),
            ([[0, 1]], 3.0, 2),
            ([[0, 0]], 0, 2),
        ],
    )
    def test_what_cannot_be_seated_is_refused(self, learner, indices, num_experts, capacity):
        with pytest.raises(ValueError):
            learner.dispatch(np.array(indices), num_experts, capacity)


# (shape of probabilities, indices) that do not go together.
MISFITS = [
    ((3, 4), [[0], [1]]),
    ((3, 4), [[0], [1], [2], [3]]),
    ((3, 4), [0, 1, 2]),
    ((3, 4), [[[0]], [[1]], [[2]]]),
    ((12,), [[0], [1], [2]]),
    ((3, 4, 1), [[0], [0], [0]]),
    ((3, 4), [[0], [1], [4]]),
    ((3, 4), [[0], [1], [-1]]),
]


def expected_balance(probabilities, indices):
    """Return the balancing loss by the oracle."""
    return float(oracles.balance(probabilities, oracles.shares(indices, probabilities.shape[1])))


@pytest.mark.criterion("load-balancing-loss")
class TestLoadBalancingLoss:
    @pytest.mark.parametrize("k", [1, 2, 3])
    def test_shares_times_mean_probabilities(self, learner, rng, k):
        tokens, num_experts = int(rng.integers(6, 12)), int(rng.integers(4, 6))
        probabilities = oracles.softmax(rng.normal(size=(tokens, num_experts)))
        indices = oracles.choose(probabilities, k)
        result = learner.load_balancing_loss(probabilities, indices)
        assert_array(result, expected_balance(probabilities, indices))

    def test_the_choices_count_and_not_the_probabilities(self, learner, rng):
        probabilities, indices = oracles.draw_probabilities(rng, 8, 5), oracles.draw_choices(rng, 8, 5, 2)
        assert_array(learner.load_balancing_loss(probabilities, indices), expected_balance(probabilities, indices))

    @pytest.mark.edges
    def test_even_probabilities_cost_one_whatever_is_chosen(self, learner, rng):
        indices = oracles.draw_choices(rng, 10, 4, 1)
        assert_array(learner.load_balancing_loss(np.full((10, 4), 0.25), indices), 1.0)

    @pytest.mark.purity
    def test_inputs_stay_as_they_are(self, learner, rng):
        probabilities, indices = oracles.draw_probabilities(rng, 8, 5), oracles.draw_choices(rng, 8, 5, 2)
        with unchanged(probabilities, indices):
            learner.load_balancing_loss(probabilities, indices)

    @pytest.mark.refusals
    @pytest.mark.parametrize(("shape", "indices"), MISFITS)
    def test_what_does_not_go_together_is_refused(self, learner, shape, indices):
        with pytest.raises(ValueError):
            learner.load_balancing_loss(np.full(shape, 0.25), np.array(indices))


@pytest.mark.criterion("load-balancing-gradient")
class TestLoadBalancingLossGradient:
    @pytest.mark.parametrize("k", [1, 2, 3])
    def test_finite_differences_with_the_counts_held(self, learner, rng, k):
        tokens, num_experts = int(rng.integers(6, 12)), int(rng.integers(4, 6))
        probabilities = oracles.draw_probabilities(rng, tokens, num_experts)
        indices = oracles.draw_choices(rng, tokens, num_experts, k)
        share = oracles.shares(indices, num_experts)
        expected, _ = oracles.numerical_gradients(lambda p, _: oracles.balance(p, share), probabilities, {})
        assert_gradient(learner.load_balancing_loss_gradient(probabilities, indices), expected, name="result")

    @pytest.mark.edges
    def test_one_token_alone(self, learner, rng):
        num_experts, k = int(rng.integers(4, 8)), int(rng.integers(1, 4))
        probabilities = oracles.draw_probabilities(rng, 1, num_experts)
        indices = oracles.draw_choices(rng, 1, num_experts, k)
        expected = num_experts * oracles.shares(indices, num_experts)[None]
        assert_array(learner.load_balancing_loss_gradient(probabilities, indices), expected)

    @pytest.mark.purity
    def test_inputs_stay_as_they_are(self, learner, rng):
        probabilities, indices = oracles.draw_probabilities(rng, 8, 5), oracles.draw_choices(rng, 8, 5, 2)
        with unchanged(probabilities, indices):
            learner.load_balancing_loss_gradient(probabilities, indices)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        probabilities = oracles.draw_probabilities(rng, 8, 5).astype(np.float32)
        result = learner.load_balancing_loss_gradient(probabilities, oracles.draw_choices(rng, 8, 5, 2))
        assert_array(result, np.asarray(plain_array(result), dtype=np.float64), dtype="float32")

    @pytest.mark.dtype
    def test_gradient_of_whole_probabilities_has_fractions(self, learner, rng):
        probabilities, indices = np.eye(4, dtype=int)[rng.integers(0, 4, size=7)], oracles.draw_choices(rng, 7, 4, 2)
        expected = np.tile(4 * oracles.shares(indices, 4) / 7, (7, 1))
        assert_array(learner.load_balancing_loss_gradient(probabilities, indices), expected)

    @pytest.mark.refusals
    @pytest.mark.parametrize(("shape", "indices"), MISFITS)
    def test_what_does_not_go_together_is_refused(self, learner, shape, indices):
        with pytest.raises(ValueError):
            learner.load_balancing_loss_gradient(np.full(shape, 0.25), np.array(indices))


@pytest.mark.criterion("z-loss")
class TestRouterZLoss:
    def test_mean_square_of_the_log_sum_exp(self, learner, rng):
        logits = rng.normal(scale=2, size=(int(rng.integers(3, 9)), int(rng.integers(2, 6))))
        assert_array(learner.router_z_loss(logits), float(oracles.z_loss(logits)))

    @pytest.mark.edges
    @pytest.mark.parametrize("size", [1e3, 2e9])
    def test_logits_of_any_size(self, learner, rng, size):
        logits = rng.integers(-3, 4, size=(5, 4)) + size * rng.permuted([-1, -1, 1, 1, 1])[:, None]
        assert_array(learner.router_z_loss(logits), float(oracles.z_loss(logits)))

    @pytest.mark.purity
    def test_logits_stay_as_they_are(self, learner, rng):
        logits = rng.normal(size=(5, 4))
        with unchanged(logits):
            learner.router_z_loss(logits)

    @pytest.mark.refusals
    @pytest.mark.parametrize("shape", [(4,), (2, 3, 4)])
    def test_another_number_of_axes_is_refused(self, learner, shape):
        with pytest.raises(ValueError):
            learner.router_z_loss(np.ones(shape))


@pytest.mark.criterion("z-loss-gradient")
class TestRouterZLossGradient:
    def test_finite_differences(self, learner, rng):
        logits = rng.normal(scale=2, size=(int(rng.integers(3, 9)), int(rng.integers(2, 6))))
        expected, _ = oracles.numerical_gradients(lambda logits, _: oracles.z_loss(logits), logits, {})
        assert_gradient(learner.router_z_loss_gradient(logits), expected, name="result")

    @pytest.mark.edges
    @pytest.mark.parametrize("size", [1e3, 2e9])
    def test_logits_of_any_size(self, learner, rng, size):
        logits = rng.integers(-3, 4, size=(5, 4)) + size * rng.permuted([-1, -1, 1, 1, 1])[:, None]
        sums = np.logaddexp.reduce(logits, axis=1)
        expected = 2 * sums[:, None] * oracles.softmax(logits) / 5
        assert_gradient(learner.router_z_loss_gradient(logits), expected, name="result")

    @pytest.mark.purity
    def test_logits_stay_as_they_are(self, learner, rng):
        logits = rng.normal(size=(5, 4))
        with unchanged(logits):
            learner.router_z_loss_gradient(logits)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        result = learner.router_z_loss_gradient(rng.normal(size=(5, 4)).astype(np.float32))
        assert_array(result, np.asarray(plain_array(result), dtype=np.float64), dtype="float32")

    @pytest.mark.refusals
    @pytest.mark.parametrize("shape", [(4,), (2, 3, 4)])
    def test_another_number_of_axes_is_refused(self, learner, shape):
        with pytest.raises(ValueError):
            learner.router_z_loss_gradient(np.ones(shape))

"""Hidden tests of stage s21: the router, and the gates of the experts that are chosen."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_gradient, plain_array, unchanged
from hidden.s21_mixture_of_experts import oracles

pytestmark = pytest.mark.values


def draw_router(rng, *leading):
    """Return tokens with these leading axes, and the weights of a router, of sizes that are all different."""
    dim, num_experts = (int(size) for size in rng.choice([3, 4, 5, 6], size=2, replace=False))
    return rng.normal(size=(*leading, dim)), rng.normal(size=(dim, num_experts))


@pytest.mark.criterion("router")
class TestRouter:
    @pytest.mark.parametrize("leading", [(7,), (2, 7), (), (2, 1, 3)])
    def test_any_leading_axes(self, learner, rng, leading):
        x, router_weights = draw_router(rng, *leading)
        logits, probabilities = learner.router(x, router_weights)
        assert_array(logits, x @ router_weights, name="logits")
        assert_array(probabilities, oracles.softmax(x @ router_weights), name="probabilities")

    @pytest.mark.edges
    def test_logits_of_any_size(self, learner, rng):
        x, router_weights = draw_router(rng, 7)
        for size in (-2000.0, 2000.0):
            _, probabilities = learner.router(size * x, router_weights)
            assert_array(probabilities, oracles.softmax(size * x @ router_weights), atol=1e-9, name="probabilities")

    @pytest.mark.edges
    def test_logits_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        x, router_weights = rng.uniform(1.0, 2.0, size=(4, 3)), -1e100 * rng.uniform(1.0, 2.0, size=(3, 5))
        logits, probabilities = learner.router(x, router_weights)
        assert_array(logits, x @ router_weights, name="logits")
        assert_array(probabilities, oracles.softmax(x @ router_weights), name="probabilities")

    @pytest.mark.purity
    def test_inputs_stay_as_they_are(self, learner, rng):
        x, router_weights = draw_router(rng, 4)
        with unchanged(x, router_weights):
            learner.router(x, router_weights)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        x, router_weights = (array.astype(np.float32) for array in draw_router(rng, 4))
        for result, name in zip(learner.router(x, router_weights), ("logits", "probabilities"), strict=True):
            expected = x @ router_weights if name == "logits" else oracles.softmax(x @ router_weights)
            assert_array(result, expected, dtype="float32", rtol=1e-4, name=name)

    @pytest.mark.dtype
    def test_probabilities_of_integers_have_fractions(self, learner, rng):
        x, router_weights = rng.integers(-2, 3, size=(6, 3)), rng.integers(-2, 3, size=(3, 4))
        logits, probabilities = learner.router(x, router_weights)
        assert_array(logits, (x @ router_weights).astype(float), name="logits")
        assert_array(probabilities, oracles.softmax((x @ router_weights).astype(float)), name="probabilities")

    @pytest.mark.refusals
    @pytest.mark.parametrize(
        ("shape", "router_shape"),
        [((2, 5), (4, 3)), ((4,), (4,)), ((4, 4), (4,)), ((3, 4), (1, 4, 3)), ((4, 1), (4, 3))],
    )
    def test_shapes_that_do_not_fit_are_refused(self, learner, shape, router_shape):
        with pytest.raises(ValueError):
            learner.router(np.ones(shape), np.ones(router_shape))


@pytest.mark.criterion("router-gradients")
class TestRouterBackward:
    @pytest.mark.parametrize("leading", [(7,), (2, 7), (), (2, 1, 3)])
    def test_both_gradients_come_back(self, learner, rng, leading):
        x, router_weights = draw_router(rng, *leading)
        shape = (*leading, router_weights.shape[1])
        grad_logits, grad_probabilities = rng.normal(size=shape), rng.normal(size=shape)
        grad_x, grad_router_weights = learner.router_backward(grad_logits, grad_probabilities, x, router_weights)

        def loss(x, p):
            logits = x @ p["router_weights"]
            values = logits * grad_logits.reshape(-1, shape[-1])
            values = values + oracles.softmax(logits) * grad_probabilities.reshape(-1, shape[-1])
            return values.sum(axis=(1, 2))

        flat = x.reshape(-1, x.shape[-1])
        of_x, of_p = oracles.numerical_gradients(loss, flat, {"router_weights": router_weights})
        assert_gradient(grad_x, of_x.reshape(x.shape), name="grad_x")
        assert_gradient(grad_router_weights, of_p["router_weights"], name="grad_router_weights")

    @pytest.mark.purity
    def test_inputs_stay_as_they_are(self, learner, rng):
        x, router_weights = draw_router(rng, 4)
        grad_logits = rng.normal(size=(4, router_weights.shape[1]))
        grad_probabilities = rng.normal(size=grad_logits.shape)
        with unchanged(grad_logits, grad_probabilities, x, router_weights):
            learner.router_backward(grad_logits, grad_probabilities, x, router_weights)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        x, router_weights = (array.astype(np.float32) for array in draw_router(rng, 4))
        grad = rng.normal(size=(4, router_weights.shape[1])).astype(np.float32)
        for result in learner.router_backward(grad, grad, x, router_weights):
            assert_array(result, np.asarray(plain_array(result), dtype=np.float64), dtype="float32")

    @pytest.mark.refusals
    @pytest.mark.parametrize("shape", [(4,), (3, 4), (4, 1), (1, 4, 3), (1, 3)])
    def test_gradients_of_another_shape_are_refused(self, learner, rng, shape):
        x, router_weights, right = rng.normal(size=(4, 5)), rng.normal(size=(5, 3)), np.ones((4, 3))
        for gradients in ((np.ones(shape), right), (right, np.ones(shape))):
            with pytest.raises(ValueError):
                learner.router_backward(*gradients, x, router_weights)

    @pytest.mark.refusals
    def test_what_router_refuses_is_refused(self, learner, rng):
        with pytest.raises(ValueError):
            learner.router_backward(np.ones((4, 3)), np.ones((4, 3)), rng.normal(size=(4, 6)), rng.normal(size=(5, 3)))
        with pytest.raises(ValueError):
            learner.router_backward(np.ones(4), np.ones(4), rng.normal(size=(4, 5)), rng.normal(size=5))


@pytest.mark.criterion("top-k-gating")
class TestTopKGating:
    @pytest.mark.parametrize("renormalize", [True, False])
    @pytest.mark.parametrize("k", [1, 2, 3, 5])
    def test_the_most_probable_come_first(self, learner, rng, k, renormalize):
        probabilities = oracles.draw_probabilities(rng, 9, 5)
        indices, gates = learner.top_k_gating(probabilities, k, renormalize=renormalize)
        chosen = oracles.choose(probabilities, k)
        assert_array(indices, chosen, name="indices")
        values = np.array([row[experts] for row, experts in zip(probabilities, chosen, strict=True)])
        assert_array(gates, values / values.sum(axis=1)[:, None] if renormalize else values, name="gates")

    def test_it_is_renormalised_by_default(self, learner, rng):
        _, gates = learner.top_k_gating(oracles.draw_probabilities(rng, 6, 4), 2)
        assert_array(np.asarray(plain_array(gates)).sum(axis=1), np.ones(6), name="sums of the gates")

    @pytest.mark.edges
    def test_ties_go_to_the_lower_index(self, learner, rng):
        counts = rng.integers(1, 4, size=(40, 20)).astype(float)  # so many that a sort which is not stable shows
        indices, _ = learner.top_k_gating(counts / 64, 7)
        assert_array(indices, oracles.choose(counts, 7), name="indices")

    @pytest.mark.edges
    def test_numpy_integers_count(self, learner, rng):
        probabilities = oracles.draw_probabilities(rng, 3, 4)
        indices, _ = learner.top_k_gating(probabilities, np.int64(2))
        assert_array(indices, oracles.choose(probabilities, 2), name="indices")

    @pytest.mark.purity
    def test_probabilities_stay_as_they_are(self, learner, rng):
        probabilities = oracles.draw_probabilities(rng, 6, 4)
        with unchanged(probabilities):
            learner.top_k_gating(probabilities, 2)

    @pytest.mark.dtype
    @pytest.mark.parametrize("renormalize", [True, False])
    def test_float32_stays_float32(self, learner, rng, renormalize):
        probabilities = oracles.draw_probabilities(rng, 6, 4).astype(np.float32)
        _, gates = learner.top_k_gating(probabilities, 2, renormalize)
        assert_array(gates, np.asarray(plain_array(gates), dtype=np.float64), dtype="float32", name="gates")

    @pytest.mark.refusals
    @pytest.mark.parametrize(
        ("shape", "k"), [((6, 4), 0), ((6, 4), 5), ((6, 4), -1), ((6, 4), 2.0), ((4,), 2), ((2, 3, 4), 2)]
    )
    def test_what_cannot_be_chosen_is_refused(self, learner, shape, k):
        with pytest.raises(ValueError):
            learner.top_k_gating(np.full(shape, 0.25), k)


@pytest.mark.criterion("gating-gradients")
class TestTopKGatingBackward:
    @pytest.mark.parametrize("renormalize", [True, False])
    @pytest.mark.parametrize("k", [1, 2, 3, 5])
    def test_finite_differences(self, learner, rng, k, renormalize):
        probabilities = oracles.draw_probabilities(rng, 6, 5)
        indices, grad_gates = oracles.choose(probabilities, k), rng.normal(size=(6, k))
        grad = learner.top_k_gating_backward(grad_gates, probabilities, indices, renormalize)
        chosen, of_gates = (oracles.scattered(indices, values, 5) for values in (np.ones((6, k)), grad_gates))

        def loss(probabilities, _):
            return (oracles.gates(probabilities, chosen, renormalize) * of_gates).sum(axis=(1, 2))

        expected, _ = oracles.numerical_gradients(loss, probabilities, {})
        assert_gradient(grad, expected, name="result")

    def test_it_is_renormalised_by_default(self, learner, rng):
        probabilities, grad_gates = oracles.draw_probabilities(rng, 6, 4), rng.normal(size=(6, 2))
        indices = oracles.choose(probabilities, 2)
        result = learner.top_k_gating_backward(grad_gates, probabilities, indices)
        assert_array(
            np.sum(plain_array(result) * probabilities, axis=1), np.zeros(6), name="sums of gradient times probability"
        )

    def test_the_indices_decide_and_not_the_probabilities(self, learner, rng):
        probabilities, grad_gates = oracles.draw_probabilities(rng, 4, 5), rng.normal(size=(4, 2))
        indices = oracles.draw_choices(rng, 4, 5, 2)
        result = learner.top_k_gating_backward(grad_gates, probabilities, indices, False)
        assert_gradient(result, oracles.scattered(indices, grad_gates, 5), name="result")

    @pytest.mark.purity
    def test_inputs_stay_as_they_are(self, learner, rng):
        probabilities, grad_gates = oracles.draw_probabilities(rng, 6, 4), rng.normal(size=(6, 2))
        indices = oracles.choose(probabilities, 2)
        for renormalize in (True, False):
            with unchanged(grad_gates, probabilities, indices):
                learner.top_k_gating_backward(grad_gates, probabilities, indices, renormalize)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        probabilities = oracles.draw_probabilities(rng, 6, 4).astype(np.float32)
        indices, grad_gates = oracles.choose(probabilities, 2), rng.normal(size=(6, 2)).astype(np.float32)
        result = learner.top_k_gating_backward(grad_gates, probabilities, indices)
        assert_array(result, np.asarray(plain_array(result), dtype=np.float64), dtype="float32")

    @pytest.mark.dtype
    def test_gradient_of_whole_probabilities_has_fractions(self, learner, rng):
        probabilities, grad_gates = np.eye(4, dtype=int)[rng.integers(0, 4, size=6)], rng.normal(size=(6, 2))
        indices = oracles.choose(probabilities, 2)
        result = learner.top_k_gating_backward(grad_gates, probabilities, indices, False)
        assert_array(result, oracles.scattered(indices, grad_gates, 4))

    @pytest.mark.refusals
    @pytest.mark.parametrize(
        ("of_gates", "of_probabilities", "of_indices"),
        [
            ((6, 3), (6, 4), (6, 2)),
            ((5, 2), (6, 4), (6, 2)),
            ((6, 1), (6, 4), (6, 2)),
            ((1, 2), (6, 4), (6, 2)),
            ((5, 2), (6, 4), (5, 2)),
            ((6,), (6, 4), (6,)),
            ((6, 2), (4,), (6, 2)),
            ((6, 2), (6, 4, 1), (6, 2)),
        ],
    )
    def test_shapes_that_do_not_fit_are_refused(self, learner, of_gates, of_probabilities, of_indices):
        indices = np.zeros(of_indices, dtype=int) + np.arange(of_indices[-1])
        with pytest.raises(ValueError):
            learner.top_k_gating_backward(np.ones(of_gates), np.full(of_probabilities, 0.25), indices)

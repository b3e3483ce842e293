"""Public tests of stage s21, with small numbers that can be followed by hand; most are the worked example's."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, assert_shape, plain_array

pytestmark = pytest.mark.values

LINEAR = 30.0  # GELU of this and of anything near is the number itself, in both of its forms and to the last digit

# Four tokens A, B, C, D of two features, and the weights of a router of three experts.
TOKENS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.0]])
ROUTER_WEIGHTS = np.log([[4.0, 2.0, 2.0], [1.0, 2.0, 1.0]])
PROBABILITIES = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.4, 0.4, 0.2], [0.2, 0.4, 0.4]])
INDICES = np.array([[0, 1], [1, 0], [0, 1], [1, 2]])
MATRICES = ([[2.0, 0.0], [0.0, 2.0]], [[0.0, 1.0], [1.0, 0.0]], [[-1.0, 0.0], [0.0, -1.0]])


def linear(matrix):
    """Return parameters with which an expert multiplies by the matrix: GELU is far out where it is a straight line."""
    matrix = np.array(matrix)
    size = len(matrix)
    return {"W1": np.eye(size), "b1": np.full(size, LINEAR), "W2": matrix, "b2": -LINEAR * matrix.sum(axis=0)}


def worked_example(learner, **options):
    """Return a layer of three linear experts: the first doubles, the second swaps the features, the third negates."""
    layer = learner.MoELayer(2, 2, 3, **options)
    layer.router_weights = ROUTER_WEIGHTS
    for expert, matrix in zip(layer.experts, MATRICES, strict=True):
        expert.params = linear(matrix)
    return layer


@pytest.mark.criterion("router")
class TestRouter:
    def test_logits_and_probabilities(self, learner):
        logits, probabilities = learner.router(TOKENS, ROUTER_WEIGHTS)
        assert_array(logits, TOKENS @ ROUTER_WEIGHTS, name="logits")
        assert_array(probabilities, PROBABILITIES, name="probabilities")

    def test_sequences_keep_their_axes(self, learner):
        _, probabilities = learner.router(TOKENS.reshape(2, 2, 2), ROUTER_WEIGHTS)
        assert_array(probabilities, PROBABILITIES.reshape(2, 2, 3), name="probabilities")

    @pytest.mark.edges
    def test_large_logits_do_not_overflow(self, learner):
        _, probabilities = learner.router(np.array([[1000.0]]), np.array([[1.0, 1.0, -1.0]]))
        assert_array(probabilities, [[0.5, 0.5, 0.0]], name="probabilities")

    @pytest.mark.refusals
    def test_features_that_do_not_fit_are_refused(self, learner):
        with pytest.raises(ValueError):
            learner.router(np.ones((4, 3)), ROUTER_WEIGHTS)


@pytest.mark.criterion("router-gradients")
class TestRouterBackward:
    def test_a_gradient_of_the_probabilities(self, learner):
        nothing, grad = np.zeros((1, 3)), np.array([[8.0, 0.0, 0.0]])
        grad_x, grad_router_weights = learner.router_backward(nothing, grad, TOKENS[:1], ROUTER_WEIGHTS)
        assert_gradient(grad_x, [[2 * np.log(2), -np.log(2)]], name="grad_x")
        assert_gradient(grad_router_weights, [[2.0, -1.0, -1.0], [0.0, 0.0, 0.0]], name="grad_router_weights")

    def test_a_gradient_of_the_logits_is_added(self, learner):
        grad_logits, grad = np.array([[1.0, 0.0, 3.0]]), np.array([[8.0, 0.0, 0.0]])
        _, grad_router_weights = learner.router_backward(grad_logits, grad, 2 * TOKENS[:1], 0 * ROUTER_WEIGHTS)
        expected = 2 * (grad_logits + np.array([[16 / 9, -8 / 9, -8 / 9]]))
        assert_gradient(grad_router_weights, [expected[0], [0.0, 0.0, 0.0]], name="grad_router_weights")

    @pytest.mark.refusals
    def test_a_gradient_of_another_shape_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.router_backward(np.zeros((4, 3)), np.zeros((1, 3)), TOKENS, ROUTER_WEIGHTS)


@pytest.mark.criterion("top-k-gating")
class TestTopKGating:
    def test_two_of_three_are_renormalised(self, learner):
        indices, gates = learner.top_k_gating(PROBABILITIES, 2)
        assert_array(indices, INDICES, name="indices")
        assert_array(gates, [[2 / 3, 1 / 3], [2 / 3, 1 / 3], [0.5, 0.5], [0.5, 0.5]], name="gates")

    def test_they_can_be_left_as_they_are(self, learner):
        indices, gates = learner.top_k_gating(PROBABILITIES, 1, renormalize=False)
        assert_array(indices, [[0], [1], [0], [1]], name="indices")
        assert_array(gates, [[0.5], [0.5], [0.4], [0.4]], name="gates")

    @pytest.mark.edges
    def test_equal_experts_come_in_the_order_of_their_numbers(self, learner):
        indices, gates = learner.top_k_gating(np.full((1, 5), 0.2), 3)
        assert_array(indices, [[0, 1, 2]], name="indices")
        assert_array(gates, [[1 / 3, 1 / 3, 1 / 3]], name="gates")

    @pytest.mark.refusals
    def test_more_than_all_experts_are_refused(self, learner):
        with pytest.raises(ValueError):
            learner.top_k_gating(PROBABILITIES, 4)


@pytest.mark.criterion("gating-gradients")
class TestTopKGatingBackward:
    def test_a_chosen_expert_gains_from_the_other(self, learner):
        result = learner.top_k_gating_backward(np.array([[6.0, 0.0]]), PROBABILITIES[:1], INDICES[:1])
        assert_gradient(result, [[8 / 3, -16 / 3, 0.0]], name="result")

    def test_without_renormalising_each_stands_alone(self, learner):
        result = learner.top_k_gating_backward(
            np.array([[6.0, 1.0]]), PROBABILITIES[1:2], INDICES[1:2], renormalize=False
        )
        assert_gradient(result, [[1.0, 6.0, 0.0]], name="result")

    @pytest.mark.refusals
    def test_a_gradient_of_another_shape_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.top_k_gating_backward(np.ones((1, 3)), PROBABILITIES[:1], INDICES[:1])


@pytest.mark.criterion("expert-capacity")
class TestExpertCapacity:
    @pytest.mark.parametrize(
        ("num_tokens", "num_experts", "k", "capacity_factor", "capacity"),
        [(4, 3, 2, 1.0, 3), (4, 3, 2, 0.75, 2), (64, 8, 1, 1.0, 8), (64, 8, 1, 1.25, 10), (64, 8, 2, 1.25, 20)],
    )
    def test_an_equal_share_times_the_factor(self, learner, num_tokens, num_experts, k, capacity_factor, capacity):
        assert_equal(learner.expert_capacity(num_tokens, num_experts, k, capacity_factor), capacity)

    @pytest.mark.edges
    def test_there_is_always_room_for_one(self, learner):
        assert_equal(learner.expert_capacity(1, 64, 1, 0.5), 1)

    @pytest.mark.refusals
    def test_no_room_at_all_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.expert_capacity(8, 4, 1, 0.0)


@pytest.mark.criterion("dispatch")
class TestDispatch:
    def test_first_choices_are_seated_before_second_choices(self, learner):
        positions, kept = learner.dispatch(INDICES, 3, 3)
        assert_array(positions, [[0, 2], [0, 2], [1, 3], [1, 0]], name="positions")
        assert_array(kept, [[True, True], [True, True], [True, False], [True, True]], name="kept")

    def test_with_less_room_more_is_dropped(self, learner):
        _, kept = learner.dispatch(INDICES, 3, 2)
        assert_array(kept, [[True, False], [True, False], [True, False], [True, True]], name="kept")

    @pytest.mark.refusals
    def test_an_expert_that_is_not_there_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.dispatch(INDICES, 2, 3)


@pytest.mark.criterion("load-balancing-loss")
class TestLoadBalancingLoss:
    def test_an_even_load_costs_one(self, learner):
        loss = learner.load_balancing_loss(np.full((4, 4), 0.25), np.array([[0, 1], [2, 3], [0, 1], [2, 3]]))
        assert_array(loss, 1.0)

    def test_all_to_one_expert_costs_as_much_as_there_are_experts(self, learner):
        loss = learner.load_balancing_loss(np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), np.array([[0], [0]]))
        assert_array(loss, 3.0)

    def test_the_worked_example(self, learner):
        # 3 * (3/8 * 0.3375 + 4/8 * 0.3875 + 1/8 * 0.275)
        assert_array(learner.load_balancing_loss(PROBABILITIES, INDICES), 1.0640625)

    @pytest.mark.refusals
    def test_choices_of_other_tokens_are_refused(self, learner):
        with pytest.raises(ValueError):
            learner.load_balancing_loss(PROBABILITIES, INDICES[:3])


@pytest.mark.criterion("load-balancing-gradient")
class TestLoadBalancingLossGradient:
    def test_every_token_gets_the_same_row(self, learner):
        result = learner.load_balancing_loss_gradient(PROBABILITIES, INDICES)
        assert_gradient(result, [[0.28125, 0.375, 0.09375]] * 4, name="result")

    @pytest.mark.refusals
    def test_choices_of_other_tokens_are_refused(self, learner):
        with pytest.raises(ValueError):
            learner.load_balancing_loss_gradient(PROBABILITIES, INDICES[:3])


@pytest.mark.criterion("z-loss")
class TestRouterZLoss:
    def test_the_worked_example(self, learner):
        sums = np.log([8.0, 4.0, 10.0, 1.25])
        assert_array(learner.router_z_loss(TOKENS @ ROUTER_WEIGHTS), (sums**2).mean())

    @pytest.mark.edges
    def test_large_logits_do_not_overflow(self, learner):
        assert_array(learner.router_z_loss(np.array([[1000.0, 0.0], [-1000.0, -1000.0]])), 999307.0934959, rtol=1e-9)

    @pytest.mark.refusals
    def test_one_axis_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.router_z_loss(np.zeros(3))


@pytest.mark.criterion("z-loss-gradient")
class TestRouterZLossGradient:
    def test_the_worked_example(self, learner):
        sums = np.log([[8.0], [4.0], [10.0], [1.25]])
        result = learner.router_z_loss_gradient(TOKENS @ ROUTER_WEIGHTS)
        assert_gradient(result, 2 * sums * PROBABILITIES / 4, name="result")

    @pytest.mark.refusals
    def test_one_axis_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.router_z_loss_gradient(np.zeros(3))


@pytest.mark.criterion("moe-forward")
class TestMoEForward:
    def test_the_worked_example(self, learner):
        layer = worked_example(learner)
        output = layer.forward(TOKENS.reshape(2, 2, 2))
        expected = [[4 / 3, 1 / 3], [2 / 3, 2 / 3], [1.5, 1.5], [0.5, -0.5]]
        assert_array(output, np.reshape(expected, (2, 2, 2)))
        assert_array(layer.probabilities, PROBABILITIES, name="probabilities")
        assert_array(layer.indices, INDICES, name="indices")
        assert_array(layer.gates, [[2 / 3, 1 / 3], [2 / 3, 1 / 3], [0.5, 0.5], [0.5, 0.5]], name="gates")
        assert_array(layer.kept, np.full((4, 2), True), name="kept")

    def test_one_expert_with_its_probability(self, learner):
        output = worked_example(learner, k=1, renormalize=False).forward(TOKENS)
        assert_array(output, [[1.0, 0.0], [0.5, 0.0], [0.8, 0.8], [0.0, -0.4]])

    def test_the_losses_are_weighed(self, learner):
        layer = worked_example(learner, balance_weight=2.0, z_weight=1.0)
        layer.forward(TOKENS)
        z = (np.log([8.0, 4.0, 10.0, 1.25]) ** 2).mean()
        assert_array(layer.auxiliary_loss, 2 * 1.0640625 + z, name="auxiliary_loss")

    def test_a_new_layer_has_a_router_and_experts(self, learner):
        layer = learner.MoELayer(4, 6, 3, rng=np.random.default_rng(0))
        params = layer.params
        assert_equal(len(layer.experts), 3, name="number of experts")
        assert_equal(len(params), 13, name="number of parameters")
        assert_shape(params["router_weights"], (4, 3), name="router_weights")
        assert_shape(params["experts.2.W1"], (4, 6), name="experts.2.W1")

    @pytest.mark.refusals
    def test_more_choices_than_experts_are_refused(self, learner):
        with pytest.raises(ValueError):
            learner.MoELayer(4, 6, 3, k=4)


@pytest.mark.criterion("dense-sum")
class TestDenseSum:
    def test_all_experts_are_weighed_by_their_probabilities(self, learner):
        output = worked_example(learner, k=3).forward(TOKENS)
        # A: 0.5 [2, 0] + 0.25 [0, 1] + 0.25 [-1, 0]
        assert_array(output, [[0.75, 0.25], [0.5, 0.25], [1.0, 1.0], [0.0, -0.4]])


@pytest.mark.criterion("moe-capacity")
class TestMoECapacity:
    def test_one_choice_finds_no_room(self, learner):
        layer = worked_example(learner, capacity_factor=1.0)  # three seats each
        output = layer.forward(TOKENS)
        assert_array(layer.kept, [[True, True], [True, True], [True, False], [True, True]], name="kept")
        assert_array(output, [[4 / 3, 1 / 3], [2 / 3, 2 / 3], [1.0, 1.0], [0.5, -0.5]])

    @pytest.mark.edges
    def test_a_token_without_any_seat_gives_zero(self, learner):
        layer = worked_example(learner, k=1, capacity_factor=0.75)  # one seat each
        output = layer.forward(TOKENS)
        assert_array(layer.kept, [[True], [True], [False], [False]], name="kept")
        assert_array(output, [[2.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])

    @pytest.mark.refusals
    def test_a_factor_of_zero_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.MoELayer(2, 2, 3, capacity_factor=0.0)


@pytest.mark.criterion("moe-gradients")
class TestMoEGradients:
    def test_the_worked_example(self, learner):
        layer = worked_example(learner)
        layer.forward(TOKENS)
        grad_x = layer.backward(np.array([[3.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]))
        grads = layer.grads
        expected = [[4 / 3, -4 / 3, 0.0], [0.0, 0.0, 0.0]]
        assert_gradient(grads["router_weights"], expected, name="grads['router_weights']")
        assert_gradient(grads["experts.0.b2"], [2.0, 0.0], name="grads['experts.0.b2']")
        assert_gradient(grads["experts.1.b2"], [1.0, 0.0], name="grads['experts.1.b2']")
        assert_gradient(grads["experts.2.b2"], [0.0, 0.0], name="grads['experts.2.b2']")
        router = 4 / 3 * np.log(2)
        assert_gradient(grad_x, [[4 + router, 1 - router], [0, 0], [0, 0], [0, 0]], name="grad_x")

    def test_an_expert_without_tokens_has_gradients_of_zero(self, learner):
        layer = worked_example(learner, k=1)
        layer.forward(np.array([[-1.0, -1.0]]))  # goes to expert 2
        layer.backward(np.ones((1, 2)))
        layer.forward(TOKENS)  # leaves expert 2 idle
        layer.backward(np.ones((4, 2)))
        for key, shape in (("W1", (2, 2)), ("b1", (2,)), ("W2", (2, 2)), ("b2", (2,))):
            name = f"experts.2.{key}"
            assert_gradient(layer.grads[name], np.zeros(shape), name=f"grads[{name!r}]")

    @pytest.mark.refusals
    def test_backward_needs_a_forward(self, learner):
        with pytest.raises(RuntimeError) as caught:
            learner.MoELayer(2, 2, 3).backward(np.ones((4, 2)))
        if isinstance(caught.value, NotImplementedError):
            raise caught.value


@pytest.mark.criterion("auxiliary-gradients")
class TestAuxiliaryGradients:
    def test_a_balancing_loss_moves_the_router_alone(self, learner):
        layer = worked_example(learner, k=1, balance_weight=1.0)
        layer.forward(TOKENS)
        layer.backward(np.zeros((4, 2)))
        # f = [1/2, 1/2, 0]: each token's logits get 3/8 * p * ([1, 1, 0] - (p_0 + p_1))
        rest = 1 - PROBABILITIES[:, 2:]
        of_logits = 3 / 8 * PROBABILITIES * ([1, 1, 0] - rest)
        assert_gradient(layer.grads["router_weights"], TOKENS.T @ of_logits, name="grads['router_weights']")
        assert_gradient(layer.grads["experts.0.W2"], np.zeros((2, 2)), name="grads['experts.0.W2']")

    def test_a_z_loss_reaches_x_too(self, learner):
        layer = worked_example(learner, z_weight=0.5)
        layer.forward(TOKENS)
        grad_x = layer.backward(np.zeros((4, 2)))
        of_logits = np.log([[8.0], [4.0], [10.0], [1.25]]) * PROBABILITIES / 4
        assert_gradient(grad_x, of_logits @ ROUTER_WEIGHTS.T, name="grad_x")


@pytest.mark.criterion("trains")
class TestTraining:
    def test_a_step_lowers_the_loss(self, learner):
        rng = np.random.default_rng(7)
        layer = learner.MoELayer(3, 4, 4, balance_weight=0.1, rng=rng)
        x, target = rng.normal(size=(12, 3)), rng.normal(size=(12, 3))
        losses = []
        for _ in range(20):
            off = plain_array(layer.forward(x)) - target
            losses.append((off**2).mean() + plain_array(layer.auxiliary_loss))
            layer.backward(2 * off / off.size)
            params, grads = layer.params, layer.grads
            layer.router_weights = params["router_weights"] - 0.2 * grads["router_weights"]
            for number, expert in enumerate(layer.experts):
                names = {key: f"experts.{number}.{key}" for key in ("W1", "b1", "W2", "b2")}
                expert.params = {key: params[name] - 0.2 * grads[name] for key, name in names.items()}
        assert_equal(bool(losses[-1] < 0.9 * losses[0]), True, name="whether twenty steps lower the loss by a tenth")

"""Hidden tests of stage s21: the layer forward, without and with a capacity, and as a dense sum."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_differ, assert_equal, assert_shape, unchanged
from hidden.s21_mixture_of_experts import oracles
from hidden.s21_mixture_of_experts.oracles import assert_output

pytestmark = pytest.mark.values

SIZES = (3, 5, 4)  # dim, hidden_dim, num_experts


@pytest.mark.criterion("moe-forward")
class TestForward:
    @pytest.mark.parametrize("renormalize", [True, False])
    @pytest.mark.parametrize("k", [1, 2, 3])
    def test_chosen_experts_are_added_up(self, learner, rng, k, renormalize):
        case = oracles.draw_case(rng, SIZES, 8, k, renormalize=renormalize)
        layer = case.new_layer(learner)
        with unchanged(case.x):
            result = layer.forward(case.x)
        assert_output(result, case.output)

    @pytest.mark.parametrize("leading", [(2, 4), (2, 1, 3), (), (1,)])
    def test_any_leading_axes(self, learner, rng, leading):
        case = oracles.draw_case(rng, SIZES, int(np.prod(leading)), 2)
        result = case.new_layer(learner).forward(case.x.reshape(*leading, 3))
        assert_output(result, lambda tanh: case.output(tanh).reshape(*leading, 3))

    def test_what_the_router_did_is_kept(self, learner, rng):
        layer = None
        for tokens in (9, 4):
            case = oracles.draw_case(rng, SIZES, tokens, 2)
            layer = case.new_layer(learner) if layer is None else layer
            oracles.load(layer, case.p)
            layer.forward(case.x)
            probabilities = oracles.softmax(case.x @ case.p["router_weights"])
            assert_array(layer.probabilities, probabilities, name="probabilities")
            assert_array(layer.indices, case.indices, name="indices")
            values = np.take_along_axis(probabilities, case.indices, axis=1)
            assert_array(layer.gates, values / values.sum(axis=1)[:, None], name="gates")
            assert_array(layer.kept, np.full((tokens, 2), True), name="kept")

    @pytest.mark.parametrize(("balance_weight", "z_weight"), [(0.0, 0.0), (0.5, 0.0), (0.0, 0.25), (0.5, 0.25)])
    def test_the_losses_are_weighed(self, learner, rng, balance_weight, z_weight):
        case = oracles.draw_case(rng, SIZES, 8, 2, balance_weight=balance_weight, z_weight=z_weight)
        layer = case.new_layer(learner)
        layer.forward(case.x)
        assert_array(layer.auxiliary_loss, float(case.auxiliary()), name="auxiliary_loss")

    def test_two_choices_nothing_dropped_and_no_losses_by_default(self, learner, rng):
        case = oracles.draw_case(rng, SIZES, 8, 2)
        layer = learner.MoELayer(*SIZES)
        oracles.load(layer, case.p)
        assert_output(layer.forward(case.x), case.output)
        assert_array(layer.auxiliary_loss, 0.0, name="auxiliary_loss")

    def test_the_latest_parameters_are_used(self, learner, rng):
        first = oracles.draw_case(rng, SIZES, 6, 2)
        layer = first.new_layer(learner)
        for _ in range(2):
            case = oracles.Case(first.x, oracles.draw_params(rng, *SIZES), 2)
            oracles.load(layer, case.p)
            assert_output(layer.forward(case.x), case.output)
            params = layer.params
            assert_equal(sorted(params), sorted(case.p), name="names of params")
            for name, value in case.p.items():
                assert_array(params[name], value, name=f"params[{name!r}]")

    def test_new_parameters(self, learner, seed):
        first, again = (learner.MoELayer(100, 8, 20, rng=np.random.default_rng(seed)).params for _ in range(2))
        shapes = {"W1": (100, 8), "b1": (8,), "W2": (8, 100), "b2": (100,)}
        named = {f"experts.{number}.{key}": shape for number in range(20) for key, shape in shapes.items()}
        assert_equal(sorted(first), sorted(["router_weights", *named]), name="names of the parameters")
        for name, shape in {"router_weights": (100, 20), **named}.items():
            assert_shape(first[name], shape, name=name)
            assert_array(again[name], first[name], name=f"{name} of a second layer from an equal generator")
        assert_array(
            np.std(first["router_weights"]), 0.1, rtol=0.1, atol=0, name="standard deviation of router_weights"
        )
        assert_array(np.mean(first["router_weights"]), 0.0, atol=0.02, name="mean of router_weights")
        assert_differ(*(first[f"experts.{n}.W1"] for n in range(2)), shape=(100, 8), name="W1 of two experts")

    @pytest.mark.purity
    def test_without_a_generator_every_layer_is_another(self, learner):
        first, second = (learner.MoELayer(*SIZES).params["router_weights"] for _ in range(2))
        assert_differ(first, second, shape=(3, 4), name="router_weights of two new layers")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        case = oracles.draw_case(rng, SIZES, 8, 2)
        layer = case.new_layer(learner)
        oracles.load(layer, {name: value.astype(np.float32) for name, value in case.p.items()})
        assert_output(layer.forward(case.x.astype(np.float32)), case.output, dtype="float32", rtol=1e-4)

    @pytest.mark.dtype
    def test_integers_have_outputs_with_fractions(self, learner, rng):
        drawn = oracles.draw_case(rng, SIZES, 8, 2)
        case = oracles.Case(rng.integers(-2, 3, size=(8, 3)), drawn.p, 2)
        assert_output(case.new_layer(learner).forward(case.x), case.output)

    @pytest.mark.refusals
    @pytest.mark.parametrize("shape", [(8, 4), (3, 8), (8, 1), (1,), (2, 3, 2)])
    def test_x_of_another_size_is_refused(self, learner, shape):
        with pytest.raises(ValueError):
            learner.MoELayer(*SIZES).forward(np.ones(shape))

    @pytest.mark.refusals
    @pytest.mark.parametrize(("num_experts", "k"), [(0, 1), (4, 0), (4, 5), (4, 2.0), (4.0, 2), (-2, 1)])
    def test_counts_that_do_not_fit_are_refused(self, learner, num_experts, k):
        with pytest.raises(ValueError):
            learner.MoELayer(3, 5, num_experts, k=k)


@pytest.mark.criterion("dense-sum")
class TestDenseSum:
    @pytest.mark.parametrize("renormalize", [True, False])
    def test_every_expert_is_weighed_by_its_probability(self, learner, rng, renormalize):
        sizes = 4, 3, int(rng.integers(3, 7))
        case = oracles.draw_case(rng, sizes, 6, sizes[2], renormalize=renormalize)
        probabilities = oracles.softmax(case.x @ case.p["router_weights"])

        def dense(tanh):
            outputs = []
            for number in range(sizes[2]):
                W1, b1, W2, b2 = (case.p[f"experts.{number}.{key}"] for key in oracles.KEYS)
                outputs.append(oracles.gelu(case.x @ W1 + b1, tanh) @ W2 + b2)
            return np.einsum("tn,ntd->td", probabilities, np.stack(outputs))

        layer = case.new_layer(learner)
        output = layer.forward(case.x)
        assert_array(layer.gates, np.take_along_axis(probabilities, case.indices, axis=1), name="gates")
        assert_output(output, dense)

    def test_equal_experts_are_one_mlp(self, learner, rng):
        case = oracles.draw_case(rng, SIZES, 6, 2)
        p = {
            name: value if name == "router_weights" else case.p[f"experts.1.{name[10:]}"]
            for name, value in case.p.items()
        }
        same = oracles.Case(case.x, p, int(rng.integers(1, 5)))

        def mlp(tanh):
            W1, b1, W2, b2 = (p[f"experts.1.{key}"] for key in oracles.KEYS)
            return oracles.gelu(case.x @ W1 + b1, tanh) @ W2 + b2

        assert_output(same.new_layer(learner).forward(case.x), mlp)


@pytest.mark.criterion("moe-capacity")
class TestCapacity:
    @pytest.mark.parametrize("renormalize", [True, False])
    @pytest.mark.parametrize(("k", "capacity"), [(1, 2), (2, 4), (2, 3), (3, 5)])
    def test_who_comes_late_is_dropped(self, learner, rng, k, capacity, renormalize):
        case = oracles.draw_case(rng, SIZES, 10, k, capacity, renormalize=renormalize)
        layer = case.new_layer(learner)
        assert_output(layer.forward(case.x.reshape(2, 5, 3)), lambda tanh: case.output(tanh).reshape(2, 5, 3))
        assert_array(layer.kept, case.kept, name="kept")

    def test_the_losses_count_what_was_dropped(self, learner, rng):
        case = oracles.draw_case(rng, SIZES, 10, 2, 3, balance_weight=1.0)
        layer = case.new_layer(learner)
        layer.forward(case.x)
        assert_array(layer.auxiliary_loss, float(case.auxiliary()), name="auxiliary_loss")

    def test_each_call_counts_its_own_tokens(self, learner, rng):
        case = oracles.draw_case(rng, SIZES, 8, 1, 2)
        layer = case.new_layer(learner)
        layer.forward(np.concatenate([case.x, case.x]))
        assert_output(layer.forward(case.x), case.output)
        assert_array(layer.kept, case.kept, name="kept")

    @pytest.mark.edges
    def test_all_tokens_alike(self, learner, rng):
        case = oracles.draw_case(rng, SIZES, 1, 2)
        alike = oracles.Case(np.repeat(case.x, 6, axis=0), case.p, 2, 2)
        layer = alike.new_layer(learner)
        assert_output(layer.forward(alike.x), alike.output)
        assert_array(layer.kept, [[True, True]] * 2 + [[False, False]] * 4, name="kept")

    @pytest.mark.edges
    def test_room_for_all_drops_nothing(self, learner, rng):
        case = oracles.draw_case(rng, SIZES, 8, 2)
        layer = case.new_layer(learner, capacity_factor=2)
        assert_output(layer.forward(case.x), case.output)
        assert_array(layer.kept, np.full((8, 2), True), name="kept")

    @pytest.mark.refusals
    @pytest.mark.parametrize("factor", [0, -1.0])
    def test_factors_without_room_are_refused(self, learner, factor):
        with pytest.raises(ValueError):
            learner.MoELayer(*SIZES, capacity_factor=factor)

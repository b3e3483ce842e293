"""Hidden tests of stage s21: the layer backward, through the experts, the gates and the losses of the router."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, unchanged
from hidden.s21_mixture_of_experts import oracles

pytestmark = pytest.mark.values

SIZES = (3, 4, 4)  # dim, hidden_dim, num_experts


def check(layer, case, grad_output):
    """Compare the gradients after forward and backward with numerical ones."""
    tanh = oracles.assert_output(layer.forward(case.x), case.output)
    with unchanged(grad_output):
        grad_x = layer.backward(grad_output)
    of_x, of_p = case.gradients(grad_output, tanh)
    oracles.assert_gradients(layer.grads, of_p)
    assert_gradient(grad_x, of_x, name="grad_x")


@pytest.mark.criterion("moe-gradients")
class TestBackward:
    @pytest.mark.parametrize("renormalize", [True, False])
    @pytest.mark.parametrize(("k", "capacity"), [(1, None), (2, None), (4, None), (2, 3)])
    def test_finite_differences(self, learner, rng, k, capacity, renormalize):
        case = oracles.draw_case(rng, SIZES, 7, k, capacity, renormalize=renormalize)
        check(case.new_layer(learner), case, rng.normal(size=(7, 3)))

    def test_last_forward_and_last_backward_count(self, learner, rng):
        first = oracles.draw_case(rng, SIZES, 7, 2)
        layer = first.new_layer(learner)
        assert_equal(layer.grads, {}, name="grads before backward")
        layer.forward(first.x)
        layer.backward(rng.normal(size=(7, 3)))
        layer.backward(rng.normal(size=(7, 3)))
        check(layer, oracles.Case(rng.normal(size=(2, 3)), first.p, 2), rng.normal(size=(2, 3)))

    def test_experts_without_tokens_have_gradients_of_zero(self, learner, rng):
        first = oracles.draw_case(rng, SIZES, 7, 4)  # every expert has tokens, and so gradients
        layer = first.new_layer(learner, k=1)
        layer.forward(first.x)
        layer.backward(rng.normal(size=(7, 3)))
        check(layer, oracles.Case(first.x[:1], first.p, 1), rng.normal(size=(1, 3)))

    def test_leading_axes_come_back(self, learner, rng):
        case = oracles.draw_case(rng, SIZES, 6, 2)
        layer, grad_output = case.new_layer(learner), rng.normal(size=(2, 3, 3))
        tanh = oracles.assert_output(
            layer.forward(case.x.reshape(2, 3, 3)), lambda tanh: case.output(tanh).reshape(2, 3, 3)
        )
        grad_x = layer.backward(grad_output)
        of_x, of_p = case.gradients(grad_output.reshape(6, 3), tanh)
        oracles.assert_gradients(layer.grads, of_p)
        assert_gradient(grad_x, of_x.reshape(2, 3, 3), name="grad_x")

    @pytest.mark.purity
    def test_twice_backward_is_as_good_as_once(self, learner, rng):
        case = oracles.draw_case(rng, SIZES, 7, 2, 3, balance_weight=0.5, z_weight=0.25)
        layer, grad_output = case.new_layer(learner), rng.normal(size=(7, 3))
        layer.forward(case.x)
        once, grads = layer.backward(grad_output), layer.grads
        assert_array(layer.backward(grad_output), once, name="second grad_x")
        assert_equal(sorted(grads), sorted(case.p), name="names of grads")
        oracles.assert_gradients(layer.grads, grads)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        case = oracles.draw_case(rng, SIZES, 7, 2, 3, balance_weight=0.5, z_weight=0.25)
        layer = case.new_layer(learner)
        oracles.load(layer, {name: value.astype(np.float32) for name, value in case.p.items()})
        output, grad_output = layer.forward(case.x.astype(np.float32)), rng.normal(size=(7, 3))
        of_x, of_p = case.gradients(grad_output, oracles.assert_output(output, case.output, rtol=1e-4))
        grad_x, grads = layer.backward(grad_output.astype(np.float32)), layer.grads
        assert_array(grad_x, of_x, dtype="float32", rtol=1e-3, name="grad_x")
        oracles.assert_gradients(grads, of_p)
        for name in ("router_weights", "experts.0.W1"):
            assert_array(grads[name], of_p[name], dtype="float32", rtol=1e-3, name=f"grads[{name!r}]")

    @pytest.mark.dtype
    def test_integers_have_gradients_with_fractions(self, learner, rng):
        drawn = oracles.draw_case(rng, SIZES, 7, 2)
        x = rng.integers(-2, 3, size=(7, 3))
        case, grad_output = oracles.Case(x.astype(float), drawn.p, 2), rng.normal(size=(7, 3))
        layer = case.new_layer(learner)
        of_x, of_p = case.gradients(grad_output, oracles.assert_output(layer.forward(x), case.output))
        assert_gradient(layer.backward(grad_output), of_x, name="grad_x")
        oracles.assert_gradients(layer.grads, of_p)

    @pytest.mark.refusals
    def test_backward_needs_a_forward(self, learner):
        with pytest.raises(RuntimeError):
            learner.MoELayer(*SIZES).backward(np.ones((7, 3)))

    @pytest.mark.refusals
    def test_grad_output_of_another_shape_is_refused(self, learner, rng):
        layer = learner.MoELayer(*SIZES)
        layer.forward(rng.normal(size=(2, 3, 3)))
        for shape in ((6, 3), (3, 3), (3, 2, 3), (2, 3, 1), (1, 2, 3, 3), (2, 3, 4)):
            with pytest.raises(ValueError):
                layer.backward(rng.normal(size=shape))


@pytest.mark.criterion("auxiliary-gradients")
class TestAuxiliary:
    @pytest.mark.parametrize(("balance_weight", "z_weight"), [(0.5, 0.0), (0.0, 0.25), (1.5, 0.5)])
    @pytest.mark.parametrize(("k", "capacity"), [(1, None), (2, 3)])
    def test_finite_differences(self, learner, rng, k, capacity, balance_weight, z_weight):
        weights = {"balance_weight": balance_weight, "z_weight": z_weight}
        case = oracles.draw_case(rng, SIZES, 7, k, capacity, **weights)
        check(case.new_layer(learner), case, rng.normal(size=(7, 3)))

    def test_without_another_loss_only_the_router_learns(self, learner, rng):
        case = oracles.draw_case(rng, SIZES, 7, 2, renormalize=False, balance_weight=1.0, z_weight=1.0)
        check(case.new_layer(learner), case, np.zeros((7, 3)))

"""Hidden tests of stage s16: the ten steps of backward, and update."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient
from hidden.s16_attention_layer import oracles
from hidden.s16_attention_layer.oracles import (
    WEIGHTS,
    after_backward,
    after_forward,
    allowed_places,
    draw_both,
    gradient,
    own_scale,
    steps,
)

pytestmark = pytest.mark.values
CASES = (
    {},
    {"given": 3, "causal": True, "padded": True},
    {"given": 2, "heads": 1, "batch": 1},
)
KEYLESS = ({"given": 3, "causal": True, "padded": True, "empty": True},)  # a query may attend to nothing


def check_gradient(learner, rng, name, step, cases=CASES):
    """Compare the attribute of that name with the gradient of a step, without masks, with them, and with one head."""
    for sizes in cases:
        case, grad_output = draw_both(rng, **sizes)
        actual = getattr(after_backward(learner, case, grad_output), name)
        assert_gradient(actual, gradient(case, grad_output, step), name=name)


def check_replaced(learner, rng, name, step):
    """See that a second backward replaces the gradient of the first."""
    case, grad_output = draw_both(rng)
    layer = after_backward(learner, case, grad_output)
    layer.backward(2.0 * grad_output)
    assert_gradient(getattr(layer, name), gradient(case, 2.0 * grad_output, step), name=f"{name} of a second backward")


@pytest.mark.criterion("gradient-output-weights")
class TestOutputWeights:
    def test_any_case(self, learner, rng):
        check_gradient(learner, rng, "gradient_output_weights", "output_weights")

    @pytest.mark.edges
    def test_queries_without_any_key(self, learner, rng):
        check_gradient(learner, rng, "gradient_output_weights", "output_weights", KEYLESS)

    @pytest.mark.purity
    def test_a_second_backward_replaces_it(self, learner, rng):
        check_replaced(learner, rng, "gradient_output_weights", "output_weights")

    @pytest.mark.refusals
    def test_backward_needs_a_forward(self, learner, rng):
        with pytest.raises(RuntimeError) as caught:
            learner.Attention(6, 3, rng).backward(rng.normal(size=(2, 4, 6)))
        if isinstance(caught.value, NotImplementedError):  # a RuntimeError too, but the stub's
            raise caught.value

    @pytest.mark.purity
    def test_layers_share_nothing(self, learner, rng):
        (case, grad_output), (other, other_grad) = draw_both(rng), draw_both(rng)
        layer = after_forward(learner, case)
        after_backward(learner, other, other_grad)
        layer.backward(grad_output)
        expected = gradient(case, grad_output, "output_weights")
        assert_gradient(layer.gradient_output_weights, expected, name="gradient_output_weights")

    @pytest.mark.refusals
    def test_gradients_of_other_shapes_are_refused(self, learner, rng):
        layer = learner.Attention(6, 3, rng)
        layer.forward(rng.normal(size=(2, 4, 6)), rng.normal(size=(2, 5, 6)))
        for shape in ((2, 5, 6), (4, 6), (1, 4, 6), (2, 1, 6), (2, 4, 1), (2, 4, 3), (2, 4, 6, 1), ()):
            with pytest.raises(ValueError):
                layer.backward(rng.normal(size=shape) if shape else np.array(1.0))


@pytest.mark.criterion("gradient-attention-output")
def test_attention_output(learner, rng):
    check_gradient(learner, rng, "gradient_attention_output", "attention_output")


@pytest.mark.criterion("gradient-attention-weights")
def test_attention_weights(learner, rng):
    for sizes in CASES:
        case, grad_output = draw_both(rng, **sizes)
        actual = after_backward(learner, case, grad_output).gradient_attention_weights
        expected = gradient(case, grad_output, "attention_weights")
        allowed = np.broadcast_to(allowed_places(case)[:, None], expected.shape)
        if np.shape(actual) == expected.shape:  # what stands at forbidden places is left open
            actual = np.where(allowed, actual, 0.0)
        assert_gradient(actual, np.where(allowed, expected, 0.0), name="gradient_attention_weights")


@pytest.mark.criterion("gradient-value")
def test_value(learner, rng):
    check_gradient(learner, rng, "gradient_value", "values_multihead")


@pytest.mark.criterion("gradient-value")
@pytest.mark.edges
def test_value_of_queries_without_any_key(learner, rng):
    check_gradient(learner, rng, "gradient_value", "values_multihead", KEYLESS)


@pytest.mark.criterion("gradient-attention-scores")
class TestAttentionScores:
    def check(self, learner, rng, cases):
        for sizes in cases:
            case, grad_output = draw_both(rng, **sizes)
            actual = after_backward(learner, case, grad_output).gradient_attention_scores
            expected = gradient(case, grad_output, "scaled_scores")
            before_scale = expected / np.sqrt(case.head_dimension)
            expected = oracles.closer(actual, expected, before_scale)
            assert_gradient(actual, expected, name="gradient_attention_scores")

    def test_any_case(self, learner, rng):
        self.check(learner, rng, (*CASES, {"heads": 5, "head_dimension": 1}))

    @pytest.mark.edges
    def test_queries_without_any_key(self, learner, rng):
        self.check(learner, rng, KEYLESS)

    def test_forbidden_places_get_none(self, learner, rng):
        case, grad_output = draw_both(rng, given=3, causal=True, padded=True)
        actual = np.asarray(after_backward(learner, case, grad_output).gradient_attention_scores)
        forbidden = ~np.broadcast_to(allowed_places(case)[:, None], steps(case)["scaled_scores"].shape)
        assert_equal(actual.shape, forbidden.shape, name="shape of gradient_attention_scores")
        assert_array(actual[forbidden], np.zeros(forbidden.sum()), name="gradient_attention_scores at forbidden places")


def check_own_gradient(learner, rng, name, step):
    """Compare the gradient of queries or keys, for the part of the scale that the learner's carry."""
    for sizes in (*CASES, {"heads": 5, "head_dimension": 1}):
        case, grad_output = draw_both(rng, **sizes)
        layer = after_backward(learner, case, grad_output)
        scale = own_scale(case, getattr(layer, step), steps(case)[step], step)
        assert_gradient(getattr(layer, name), gradient(case, grad_output, step) / scale, name=name)


@pytest.mark.criterion("gradient-key")
def test_key(learner, rng):
    check_own_gradient(learner, rng, "gradient_key", "keys_multihead")


@pytest.mark.criterion("gradient-query")
def test_query(learner, rng):
    check_own_gradient(learner, rng, "gradient_query", "queries_multihead")


@pytest.mark.criterion("gradient-projection-weights")
class TestProjectionWeights:
    @pytest.mark.parametrize("name", WEIGHTS[:3])
    def test_any_case(self, learner, rng, name):
        check_gradient(learner, rng, f"gradient_{name}", name)

    @pytest.mark.parametrize("name", WEIGHTS[:3])
    @pytest.mark.edges
    def test_queries_without_any_key(self, learner, rng, name):
        check_gradient(learner, rng, f"gradient_{name}", name, KEYLESS)

    @pytest.mark.parametrize("name", WEIGHTS[:3])
    @pytest.mark.purity
    def test_a_second_backward_replaces_it(self, learner, rng, name):
        check_replaced(learner, rng, f"gradient_{name}", name)


@pytest.mark.criterion("update")
class TestUpdate:
    @pytest.mark.parametrize("name", WEIGHTS)
    def test_every_weight(self, learner, rng, name):
        case, grad_output = draw_both(rng, given=3)
        layer = after_backward(learner, case, grad_output)
        rate = float(rng.uniform(0.1, 0.4))
        assert_equal(layer.update(rate), None, name="what update returns")
        expected = case.arrays[name] - rate * gradient(case, grad_output, name)
        assert_array(getattr(layer, name), expected, name=f"{name} after update", rtol=1e-7)

    @pytest.mark.parametrize("name", WEIGHTS)
    def test_gradients_stay(self, learner, rng, name):
        case, grad_output = draw_both(rng)
        layer = after_backward(learner, case, grad_output)
        layer.update(0.3)
        expected = gradient(case, grad_output, name)
        assert_gradient(getattr(layer, f"gradient_{name}"), expected, name=f"gradient_{name} after update")

    @pytest.mark.purity
    def test_arrays_that_were_assigned_stay(self, learner, rng):
        """They can only be read, so that a step inside of them fails."""
        case, grad_output = draw_both(rng)
        for name in WEIGHTS:
            case.arrays[name].flags.writeable = False
        layer = after_backward(learner, case, grad_output)
        layer.update(0.3)
        for name in WEIGHTS:
            expected = case.arrays[name] - 0.3 * gradient(case, grad_output, name)
            assert_array(getattr(layer, name), expected, name=f"{name} after update", rtol=1e-7)

    def test_forward_uses_the_new_weights(self, learner, rng):
        case, grad_output = draw_both(rng)
        layer = after_backward(learner, case, grad_output)
        layer.update(0.2)
        arrays = {name: case.arrays[name] - 0.2 * gradient(case, grad_output, name) for name in WEIGHTS}
        expected = steps(oracles.Case(case.heads, {**case.arrays, **arrays}))["output"]
        assert_array(layer.forward(*case.inputs), expected, name="output after update", rtol=1e-7)

    def test_the_second_backward_counts(self, learner, rng):
        case, grad_output = draw_both(rng)
        layer = after_backward(learner, case, grad_output)
        layer.backward(-2.7 * grad_output)  # not -2, which is -1 divided by a batch of 2, and -1 what both add up to
        layer.update(0.2)
        for name in WEIGHTS:
            expected = case.arrays[name] + 0.54 * gradient(case, grad_output, name)
            assert_array(getattr(layer, name), expected, name=f"{name} after a second backward and update", rtol=1e-7)

    @pytest.mark.refusals
    def test_update_needs_a_backward(self, learner, rng):
        for forward in (False, True):
            layer = learner.Attention(6, 3, rng)
            if forward:
                layer.forward(rng.normal(size=(2, 4, 6)))
            with pytest.raises(RuntimeError) as caught:
                layer.update(0.1)
            if isinstance(caught.value, NotImplementedError):
                raise caught.value

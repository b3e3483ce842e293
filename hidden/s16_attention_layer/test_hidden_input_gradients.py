"""Hidden tests of stage s16: the gradients of the inputs, alone and where one input is used twice or three times."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, unchanged
from hidden.s16_attention_layer import oracles
from hidden.s16_attention_layer.oracles import (
    INPUTS,
    WEIGHTS,
    after_backward,
    after_forward,
    draw_both,
    draw_case,
    gradient,
)

pytestmark = pytest.mark.values


def three(returned):
    """Return the gradients that backward returned; AssertionError if they are not three."""
    count = len(returned) if isinstance(returned, (tuple, list)) else type(returned).__name__
    assert_equal(count, 3, name="number of gradients returned")
    return returned


@pytest.mark.criterion("input-gradients")
class TestInputs:
    @pytest.mark.parametrize(
        "masks",
        [
            {},
            {"causal": True, "padded": True},
            pytest.param({"causal": True, "padded": True, "empty": True}, marks=pytest.mark.edges),
        ],
        ids=len,
    )
    def test_three_inputs(self, learner, rng, masks):
        case, grad_output = draw_both(rng, given=3, **masks)
        layer = after_forward(learner, case)
        with unchanged(grad_output):
            returned = three(layer.backward(grad_output))
        for actual, name in zip(returned, INPUTS, strict=True):
            assert_gradient(actual, gradient(case, grad_output, name), name=f"grad_{name}")

    @pytest.mark.parametrize("name", INPUTS)
    def test_they_can_be_read_as_well(self, learner, rng, name):
        case, grad_output = draw_both(rng, given=3, heads=1)
        actual = getattr(after_backward(learner, case, grad_output), f"gradient_{name}")
        assert_gradient(actual, gradient(case, grad_output, name), name=f"gradient_{name}")

    def test_the_last_forward_counts(self, learner, rng):
        first, case = (draw_case(rng, given=3, heads=2, head_dimension=3, batch=batch) for batch in (2, 3))
        layer = after_backward(learner, first, rng.normal(size=first.output_shape))
        for name in WEIGHTS:
            setattr(layer, name, case.arrays[name])
        layer.forward(*case.inputs)
        grad_output = rng.normal(size=case.output_shape)
        for actual, name in zip(three(layer.backward(grad_output)), INPUTS, strict=True):
            assert_gradient(actual, gradient(case, grad_output, name), name=f"grad_{name} of a second forward")

    def test_backward_changes_no_weights(self, learner, rng):
        case, grad_output = draw_both(rng, given=3)
        layer = after_backward(learner, case, grad_output)
        for name in WEIGHTS:
            assert_array(getattr(layer, name), case.arrays[name], name=f"{name} after backward")

    @pytest.mark.edges
    def test_large_inputs(self, learner, rng):
        case, grad_output = draw_both(rng, given=3, size=1e4)
        arrays = {name: value * (0.02 if name in WEIGHTS else 1.0) for name, value in case.arrays.items()}
        case = oracles.Case(case.heads, arrays)
        layer = oracles.build(learner, case)
        layer.forward(*(arrays[name] for name in INPUTS))
        for actual, name in zip(three(layer.backward(grad_output)), INPUTS, strict=True):
            assert_gradient(actual, gradient(case, grad_output, name), name=f"grad_{name}")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        case, grad_output = draw_both(rng, given=3, causal=True, padded=True)
        case = oracles.as_float32(case)
        returned = after_forward(learner, case).backward(grad_output.astype(np.float32))
        for actual, name in zip(three(returned), INPUTS, strict=True):
            expected = gradient(oracles.as_float64(case), grad_output, name)
            assert_array(actual, expected, name=f"grad_{name}", dtype="float32", rtol=1e-3)

    @pytest.mark.dtype
    def test_integers_have_gradients_with_fractions(self, learner, rng):
        case, grad_output = draw_both(rng, given=3, causal=True)
        case, whole = oracles.of_integers(case), rng.integers(-3, 4, size=grad_output.shape)
        returned = three(after_forward(learner, case).backward(whole))
        for actual, name in zip(returned, INPUTS, strict=True):
            expected = gradient(oracles.as_float64(case), whole.astype(float), name)
            assert_gradient(actual, expected, name=f"grad_{name}")


def numerical(layer, inputs, grad_output, place, index, step=1e-5):
    """Return the derivative of sum(output * grad_output) with respect to one entry of an input, of the layer itself."""
    sums = []
    for side in (step, -step):
        moved = [x.copy() for x in inputs]
        moved[place][index] += side
        output = np.asarray(layer.forward(*moved))
        assert_equal(output.shape, grad_output.shape, name="shape of the output")
        sums.append(float((output * grad_output).sum()))
    return (sums[0] - sums[1]) / (2 * step)


@pytest.mark.criterion("self-attention-gradient")
class TestSharedInputs:
    def test_three_gradients_of_one_input(self, learner, rng):
        case, grad_output = draw_both(rng)
        returned = three(after_forward(learner, case).backward(grad_output))
        for actual, name in zip(returned, INPUTS, strict=True):
            assert_gradient(actual, gradient(case, grad_output, name), name=f"grad_{name}")

    def test_keys_that_are_values_too(self, learner, rng):
        case, grad_output = draw_both(rng, given=2)
        returned = three(after_forward(learner, case).backward(grad_output))
        for actual, name in zip(returned, INPUTS, strict=True):
            assert_gradient(actual, gradient(case, grad_output, name), name=f"grad_{name}")

    def test_sum_of_the_three_agrees_with_finite_differences(self, learner, rng):
        case, grad_output = draw_both(rng)
        layer = after_forward(learner, case)
        total = sum(np.asarray(each) for each in three(layer.backward(grad_output)))
        assert_equal(np.shape(total), case.output_shape, name="shape of the sum of the three gradients")
        places = [tuple(int(rng.integers(size)) for size in case.output_shape) for _ in range(4)]
        expected = [numerical(layer, case.inputs, grad_output, 0, index) for index in places]
        actual = np.array([total[index] for index in places])
        scale = float(np.abs(total).max()) or 1.0
        assert_array(actual, np.array(expected), atol=1e-6 * scale, name="sum of the three gradients at four places")

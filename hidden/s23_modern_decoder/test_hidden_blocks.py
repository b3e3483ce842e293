"""Hidden tests of stage s23: the block, forward and backward."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_differ, assert_equal, assert_gradient, assert_shape, unchanged
from hidden.s23_modern_decoder import oracles
from hidden.s23_modern_decoder.oracles import (
    Sizes,
    assert_grads,
    assert_output,
    block,
    block_shapes,
    check_params,
    check_params_refusals,
)

pytestmark = pytest.mark.values

SEVERAL = [
    Sizes(dim=8, num_heads=4, num_kv_heads=2),
    Sizes(dim=8, num_heads=2, num_kv_heads=1, hidden=11, base=20.0),
    Sizes(dim=12, num_heads=3, num_kv_heads=3, hidden=4, window=2),
    Sizes(dim=4, num_heads=1, num_kv_heads=1, hidden=3, window=3),
]
# Shapes of x where (batch, seq, 8) is expected, and of grad_output where (2, 3, 8) is.
REFUSED = [(8,), (3, 8), (1, 2, 3, 8), (2, 3, 9), (2, 3, 1)]
OTHER_SHAPES = [(3, 8), (1, 3, 8), (2, 4, 8), (2, 3, 1), (1, 2, 3, 8)]


def draw_block(learner, rng, sizes):
    """Return a learner's block, and its parameters, of both signs and no two alike."""
    made, p = learner.ModernBlock(*sizes.of_block, rng, **sizes.options), oracles.draw(rng, block_shapes(sizes))
    made.params = p
    return made, p


@pytest.mark.criterion("block")
class TestForward:
    @pytest.mark.parametrize("sizes", SEVERAL, ids=str)
    def test_any_parameters(self, learner, rng, sizes):
        made, p = draw_block(learner, rng, sizes)
        for batch, seq in ((2, 5), (3, 1)):
            x = rng.normal(size=(batch, seq, sizes.dim))
            axes = "batch seq dim"
            assert_output(made.forward(x), lambda outside, x=x: block(x, p, sizes, outside), axes=axes)

    def test_no_window_and_base_10000_by_default(self, learner, rng):
        sizes = Sizes(dim=8, num_heads=2, num_kv_heads=1)
        made, p = learner.ModernBlock(*sizes.of_block, rng), oracles.draw(rng, block_shapes(sizes))
        made.params = p
        x = rng.normal(size=(1, 30, 8))
        assert_output(made.forward(x), lambda outside: block(x, p, sizes, outside))

    @pytest.mark.purity
    def test_x_and_parameters_stay_as_they_are(self, learner, rng):
        made, p = draw_block(learner, rng, SEVERAL[0])
        x = rng.normal(size=(2, 3, 8))
        with unchanged(x, *p.values()):
            made.forward(x)
        held = made.params
        for name, value in p.items():
            assert_array(held[name], value, name=f"params[{name!r}]")

    def test_new_blocks(self, learner, seed):
        sizes = Sizes(dim=24, num_heads=6, num_kv_heads=2, hidden=40)
        made = [learner.ModernBlock(*sizes.of_block, np.random.default_rng(seed)) for _ in range(2)]
        first, again = (each.params for each in made)
        shapes = block_shapes(sizes)
        assert_equal(sorted(first), sorted(shapes), name="names of params")
        for name, shape in shapes.items():
            assert_shape(first[name], shape, name=name)
            assert_array(again[name], first[name], name=f"{name} of a second block from an equal generator")
            if len(shape) == 1:
                assert_array(first[name], np.ones(shape), name=name)
            else:
                assert_array(np.std(first[name]), shape[0] ** -0.5, rtol=0.3, name=f"standard deviation of {name}")
        one, other = (learner.ModernBlock(8, 2, 1, 3).params["mlp.up_weights"] for _ in range(2))
        assert_differ(one, other, shape=(8, 3), name="mlp.up_weights of two blocks without a generator")
        gate, up = first["mlp.gate_weights"], first["mlp.up_weights"]
        assert_differ(gate, up, shape=(24, 40), name="mlp.gate_weights and mlp.up_weights")

    def test_params_are_read_and_set(self, learner, rng):
        check_params(learner.ModernBlock(*SEVERAL[0].of_block, rng), block_shapes(SEVERAL[0]), rng)

    @pytest.mark.dtype
    def test_float32(self, learner, rng):
        sizes = SEVERAL[0]
        made, p = learner.ModernBlock(*sizes.of_block, rng), oracles.draw(rng, block_shapes(sizes))
        p = {name: value.astype("f4") for name, value in p.items()}
        made.params = p
        x = rng.normal(size=(2, 4, 8)).astype("f4")
        exact = {name: value.astype(float) for name, value in p.items()}
        assert_array(made.forward(x), block(x.astype(float), exact, sizes), dtype="float32", rtol=1e-3)

    @pytest.mark.refusals
    def test_wrong_arguments_are_refused(self, learner, rng):
        made = learner.ModernBlock(*SEVERAL[0].of_block, rng)
        for shape in REFUSED:
            with pytest.raises(ValueError):
                made.forward(rng.normal(size=shape))
        heads = [(8, 3, 1, 5), (8, 8, 1, 5), (8, 4, 3, 5), (8, 4, 8, 5)]
        for wrong in [*heads, (0, 4, 2, 5), (8, 0, 1, 5), (8, 4, 0, 5), (8, 4, 2, 0), (8.0, 4, 2, 5)]:
            with pytest.raises(ValueError):
                learner.ModernBlock(*wrong)
        for window in (0, 2.5):
            with pytest.raises(ValueError):
                learner.ModernBlock(8, 4, 2, 5, window=window)
        check_params_refusals(made, block_shapes(SEVERAL[0]), rng)


@pytest.mark.criterion("block-gradients")
class TestBackward:
    @pytest.mark.parametrize("sizes", SEVERAL, ids=str)
    def test_last_forward_and_last_backward_count(self, learner, rng, sizes):
        made, p = draw_block(learner, rng, sizes)
        for batch, seq in ((1, 2), (2, 4)):
            x, grad_output = rng.normal(size=(batch, seq, sizes.dim)), rng.normal(size=(batch, seq, sizes.dim))
            outside = oracles.closest(made.forward(x), lambda outside, x=x: block(x, p, sizes, outside))
            with unchanged(grad_output):
                grad_x = made.backward(grad_output)
            names = ["x", *p] if seq == 4 else ["x"]
            expected = oracles.numerical_gradients(
                lambda p, outside=outside: block(p["x"], p, sizes, outside), grad_output, {"x": x, **p}, names
            )
            assert_gradient(grad_x, expected.pop("x"), name="grad_x")
        assert_grads(made.grads, expected)

    @pytest.mark.dtype
    def test_float32(self, learner, rng):
        sizes = SEVERAL[0]
        made, p = learner.ModernBlock(*sizes.of_block, rng), oracles.draw(rng, block_shapes(sizes))
        made.params = {name: value.astype("f4") for name, value in p.items()}
        x, grad_output = rng.normal(size=(2, 1, 3, 8))
        made.forward(x.astype("f4"))
        grad_x = made.backward(grad_output.astype("f4"))
        expected = oracles.numerical_gradients(lambda p: block(p["x"], p, sizes), grad_output, {"x": x, **p}, ["x", *p])
        assert_array(grad_x, expected.pop("x"), dtype="float32", rtol=1e-2, name="grad_x")
        grads = made.grads
        assert_equal(sorted(grads), sorted(p), name="names of grads")
        for name, value in expected.items():
            assert_array(grads[name], value, dtype="float32", rtol=1e-2, name=f"grads[{name!r}]")

    @pytest.mark.refusals
    def test_wrong_calls_are_refused(self, learner, rng):
        made = learner.ModernBlock(*SEVERAL[0].of_block, rng)
        oracles.too_early(lambda: made.backward(rng.normal(size=(2, 3, 8))))
        made.forward(rng.normal(size=(2, 3, 8)))
        for shape in OTHER_SHAPES:
            with pytest.raises(ValueError):
                made.backward(rng.normal(size=shape))

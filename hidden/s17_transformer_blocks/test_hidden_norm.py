"""Hidden tests of stage s17: layer normalisation, forward and backward."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, unchanged
from hidden.s17_transformer_blocks import checks, oracles
from hidden.s17_transformer_blocks.checks import OTHER_SHAPES, assert_output

pytestmark = pytest.mark.values


def new_norm(learner, p, **options):
    """Return a learner's LayerNorm with these parameters."""
    layer = learner.LayerNorm(len(p["gamma"]), **options)
    layer.params = p
    return layer


@pytest.mark.criterion("layer-norm")
class TestLayerNorm:
    def test_any_leading_axes(self, learner, rng):
        dim = int(rng.integers(4, 9))
        p = oracles.draw_layer_norm(rng, dim)
        layer = new_norm(learner, p)
        for leading in ((2, 3), (dim,), (2, 1, 3), ()):
            x = oracles.draw_rows(rng, (*leading, dim))
            with unchanged(x):
                result = layer.forward(x)
            assert_output(result, lambda variant, x=x: oracles.layer_norm(x, p, variant))

    def test_eps_is_one_in_a_hundred_thousand(self, learner, rng):
        x, p = oracles.draw_rows(rng, (3, 6)) / 300, oracles.draw_layer_norm(rng, 6)
        assert_output(new_norm(learner, p).forward(x), lambda variant: oracles.layer_norm(x, p, variant))

    def test_eps_is_used(self, learner, rng):
        x, p = oracles.draw_rows(rng, (3, 6)), oracles.draw_layer_norm(rng, 6)
        result = new_norm(learner, p, eps=0.5).forward(x)
        assert_output(result, lambda variant: oracles.layer_norm(x, p, variant, eps=0.5))

    @pytest.mark.edges
    def test_constant_token_among_others_gives_beta(self, learner, rng):
        x, p = oracles.draw_rows(rng, (3, 6)), oracles.draw_layer_norm(rng, 6)
        x[1] = rng.integers(1, 20) / 4
        assert_output(new_norm(learner, p).forward(x), lambda variant: oracles.layer_norm(x, p, variant))

    def test_the_latest_parameters_are_used(self, learner, rng):
        layer, x = learner.LayerNorm(5), oracles.draw_rows(rng, (2, 5))
        for p in (layer.params, oracles.draw_layer_norm(rng, 5), oracles.draw_layer_norm(rng, 5)):
            layer.params = p
            assert_output(layer.forward(x), lambda variant, p=p: oracles.layer_norm(x, p, variant))

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        x, p = oracles.draw_rows(rng, (2, 3, 6)), oracles.draw_layer_norm(rng, 6)
        layer = new_norm(learner, {name: value.astype(np.float32) for name, value in p.items()})
        assert_array(layer.forward(x.astype(np.float32)), oracles.layer_norm(x, p), dtype="float32", rtol=1e-4)

    @pytest.mark.dtype
    def test_integers_have_norms_with_fractions(self, learner, rng):
        x, p = rng.integers(-9, 10, size=(2, 3, 6)), oracles.draw_layer_norm(rng, 6)
        x[..., 0] += 20
        assert_output(new_norm(learner, p).forward(x), lambda variant: oracles.layer_norm(x, p, variant))

    @pytest.mark.refusals
    def test_x_of_another_size_is_refused(self, learner, rng):
        for shape in ((2, 3, 5), (2, 3, 1), (4, 3), (1,)):
            with pytest.raises(ValueError):
                learner.LayerNorm(4).forward(rng.normal(size=shape))


@pytest.mark.criterion("layer-norm-gradients")
class TestLayerNormBackward:
    def test_last_forward_and_last_backward_count(self, learner, rng):
        p = oracles.draw_layer_norm(rng, 5)
        layer = new_norm(learner, p)
        assert_equal(layer.grads, {}, name="grads before backward")
        for leading in ((2, 3), (4,), (), (2, 1, 3)):
            x, grad_output = oracles.draw_rows(rng, (*leading, 5)), rng.normal(size=(*leading, 5))
            variant = assert_output(layer.forward(x), lambda variant, x=x: oracles.layer_norm(x, p, variant))
            with unchanged(grad_output):
                grad_x = layer.backward(grad_output)
            of_x, of_p = checks.numerical_gradients(
                lambda x, p, variant=variant: oracles.layer_norm(x, p, variant), grad_output, x, p
            )
            assert_gradient(grad_x, of_x, name="grad_x")
            checks.assert_gradients(layer.grads, of_p)

    def test_eps_counts_in_the_gradient(self, learner, rng):
        x, grad_output = oracles.draw_rows(rng, (3, 4)), rng.normal(size=(3, 4))
        p = oracles.draw_layer_norm(rng, 4)
        layer = new_norm(learner, p, eps=0.5)
        variant = assert_output(layer.forward(x), lambda variant: oracles.layer_norm(x, p, variant, 0.5))
        grad_x = layer.backward(grad_output)
        of_x, of_p = checks.numerical_gradients(lambda x, p: oracles.layer_norm(x, p, variant, 0.5), grad_output, x, p)
        assert_gradient(grad_x, of_x, name="grad_x")
        checks.assert_gradients(layer.grads, of_p)

    @pytest.mark.purity
    def test_twice_backward_is_as_good_as_once(self, learner, rng):
        x, grad_output = oracles.draw_rows(rng, (2, 3, 4)), rng.normal(size=(2, 3, 4))
        p = oracles.draw_layer_norm(rng, 4)
        layer = new_norm(learner, p)
        layer.forward(x)
        once, grads = layer.backward(grad_output), layer.grads
        assert_array(layer.backward(grad_output), once, name="second grad_x")
        assert_equal(sorted(grads), sorted(p), name="names of grads")
        checks.assert_gradients(layer.grads, grads)

    @pytest.mark.dtype
    def test_integers_have_gradients_with_fractions(self, learner, rng):
        x, grad_output = rng.integers(-9, 10, size=(3, 4)), rng.integers(-3, 4, size=(3, 4))
        x[..., 0] += 20
        p = oracles.draw_layer_norm(rng, 4)
        layer = new_norm(learner, p)
        variant = assert_output(layer.forward(x), lambda variant: oracles.layer_norm(x, p, variant))
        grad_x = layer.backward(grad_output)
        of_x, of_p = checks.numerical_gradients(
            lambda x, p: oracles.layer_norm(x, p, variant), grad_output, x.astype(float), p
        )
        assert_gradient(grad_x, of_x, name="grad_x")
        checks.assert_gradients(layer.grads, of_p)

    @pytest.mark.refusals
    def test_grad_output_of_another_shape_is_refused(self, learner, rng):
        layer = learner.LayerNorm(4)
        layer.forward(oracles.draw_rows(rng, (2, 3, 4)))
        for shape in OTHER_SHAPES:
            with pytest.raises(ValueError):
                layer.backward(rng.normal(size=shape))
        layer.forward(rng.normal(size=4))
        with pytest.raises(ValueError):
            layer.backward(rng.normal(size=(1, 4)))

"""Hidden tests of stage s17: the MLP with GELU and dropout, forward and backward."""

import numpy as np
import pytest

from grader.testing import (
    assert_array,
    assert_differ,
    assert_equal,
    assert_gradient,
    assert_shape,
    plain_array,
    unchanged,
)
from hidden.s17_transformer_blocks import checks, oracles
from hidden.s17_transformer_blocks.checks import OTHER_SHAPES, assert_output
from hidden.s17_transformer_blocks.oracles import Variant

pytestmark = pytest.mark.values


def new_mlp(learner, p, *options, **named):
    """Return a learner's MLP with these parameters."""
    mlp = learner.MLP(*p["W1"].shape, *options, **named)
    mlp.params = p
    return mlp


@pytest.mark.criterion("mlp")
class TestMLP:
    def test_any_leading_axes(self, learner, rng):
        dim, hidden_dim = oracles.draw_sizes(rng, 2)
        p = oracles.draw_mlp(rng, dim, hidden_dim)
        mlp = new_mlp(learner, p)
        for leading in ((2, 3), (4,), (2, 1, 3), ()):
            x = rng.normal(size=(*leading, dim))
            with unchanged(x):
                result = mlp.forward(x)
            assert_output(result, lambda variant, x=x: oracles.mlp(x, p, variant))

    @pytest.mark.edges
    def test_gelu_far_from_zero(self, learner, rng):
        p = {"W1": np.eye(1), "b1": np.zeros(1), "W2": np.eye(1), "b2": np.zeros(1)}
        x = np.array([[-30.0], [-8.0], [-3.0], [3.0], [8.0], [30.0]])
        assert_output(new_mlp(learner, p).forward(x), lambda variant: oracles.mlp(x, p, variant))

    def test_the_latest_parameters_are_used(self, learner, rng):
        mlp, x = learner.MLP(3, 5, rng=rng), rng.normal(size=(2, 3))
        for p in (mlp.params, oracles.draw_mlp(rng, 3, 5), oracles.draw_mlp(rng, 3, 5)):
            mlp.params = p
            assert_output(mlp.forward(x), lambda variant, p=p: oracles.mlp(x, p, variant))

    def test_new_parameters(self, learner, rng, seed):
        mlp = learner.MLP(64, 100, rng=np.random.default_rng(seed))
        first, again = mlp.params, learner.MLP(64, 100, rng=np.random.default_rng(seed)).params
        for name, shape in (("W1", (64, 100)), ("W2", (100, 64))):
            assert_shape(first[name], shape, name=name)
            assert_array(again[name], first[name], name=f"{name} of a second MLP from an equal generator")
            assert_array(np.std(first[name]), shape[0] ** -0.5, rtol=0.1, atol=0, name=f"standard deviation of {name}")
            assert_array(np.mean(first[name]), 0.0, atol=0.02, name=f"mean of {name}")
        assert_array(first["b1"], np.zeros(100), name="b1")
        assert_array(first["b2"], np.zeros(64), name="b2")
        assert_equal(len(first), 4, name="number of parameters")
        x = rng.normal(size=(2, 64))
        assert_output(mlp.forward(x), lambda variant: oracles.mlp(x, first, variant), name="result of a new MLP")

    @pytest.mark.purity
    def test_without_a_generator_every_mlp_is_another(self, learner):
        first, second = (learner.MLP(3, 4).params["W1"] for _ in range(2))
        assert_differ(first, second, shape=(3, 4), name="W1 of two new MLPs")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        x, p = rng.normal(size=(2, 3, 4)), oracles.draw_mlp(rng, 4, 7)
        mlp = new_mlp(learner, {name: value.astype(np.float32) for name, value in p.items()})
        result = mlp.forward(x.astype(np.float32))
        variant = checks.closest(
            np.asarray(plain_array(result), dtype=np.float64), lambda variant: oracles.mlp(x, p, variant)
        )
        assert_array(result, oracles.mlp(x, p, variant), dtype="float32", rtol=1e-4)

    @pytest.mark.dtype
    def test_integers_have_outputs_with_fractions(self, learner, rng):
        x, p = rng.integers(-2, 3, size=(2, 3, 4)), oracles.draw_mlp(rng, 4, 7)
        assert_output(new_mlp(learner, p).forward(x), lambda variant: oracles.mlp(x, p, variant))

    @pytest.mark.refusals
    def test_x_of_another_size_is_refused(self, learner, rng):
        for shape in ((2, 3, 5), (2, 3, 1), (4, 3), (1,)):
            with pytest.raises(ValueError):
                learner.MLP(4, 6, rng=rng).forward(rng.normal(size=shape))


def dropped_pair(learner, seed, p, shape, dropout):
    """Return an MLP that drops, and what its first training pass will keep, as told by another from an equal seed."""
    other = learner.MLP(*p["W1"].shape, dropout, rng=np.random.default_rng(seed))
    kept = oracles.what_dropout_keeps(other, shape, p["W1"].shape[1], dropout)
    return new_mlp(learner, p, dropout=dropout, rng=np.random.default_rng(seed)), kept


@pytest.mark.criterion("dropout")
class TestDropout:
    @pytest.mark.parametrize("dropout", [0.25, 0.5, 0.75])
    def test_hidden_numbers_and_outputs_are_dropped(self, learner, rng, seed, dropout):
        for leading in ((4, 5), (), (30,)):
            x, p = rng.normal(size=(*leading, 3)), oracles.draw_mlp(rng, 3, 6)
            mlp, kept = dropped_pair(learner, seed, p, x.shape, dropout)
            with unchanged(x):
                result = mlp.forward(x, training=True)
            assert_output(result, lambda variant, x=x, p=p, kept=kept: oracles.mlp(x, p, variant, kept))

    def test_every_number_is_dropped_by_itself(self, learner, seed):
        other = learner.MLP(20, 10, 0.3, rng=np.random.default_rng(seed))
        hidden, output = oracles.what_dropout_keeps(other, (30, 4, 20), 10, 0.3)
        for name, kept in (("hidden numbers", hidden > 0), ("outputs", output > 0)):
            assert_array(np.mean(kept), 0.7, atol=0.1, name=f"share of the {name} that are kept")
            for axis, of in enumerate(("sequences", "positions", "features")):
                shares = np.mean(kept, axis=axis)
                alike = bool(np.all((shares == 0) | (shares == 1)))
                assert_equal(alike, False, name=f"whether all {of} drop the same {name}")

    def test_every_call_drops_anew_and_equal_seeds_drop_alike(self, learner, rng, seed):
        x, p = rng.normal(size=(6, 5)), oracles.draw_mlp(rng, 5, 4)
        first, again = (new_mlp(learner, p, 0.5, np.random.default_rng(seed)) for _ in range(2))
        results = [first.forward(x, True) for _ in range(2)]
        assert_differ(*results, shape=(6, 5), name="results of two calls in training")
        for result in results:
            assert_array(again.forward(x, True), result, name="result of a second MLP from an equal generator")
        drawn = [new_mlp(learner, p, 0.5).forward(x, True) for _ in range(2)]
        assert_differ(*drawn, shape=(6, 5), name="results in training of two MLPs without a generator")

    def test_evaluation_drops_nothing_also_after_training(self, learner, rng):
        x, p = rng.normal(size=(4, 3)), oracles.draw_mlp(rng, 3, 5)
        mlp = new_mlp(learner, p, 0.5, rng)
        mlp.forward(x, training=True)
        assert_output(mlp.forward(x), lambda variant: oracles.mlp(x, p, variant))
        assert_output(mlp.forward(x, training=False), lambda variant: oracles.mlp(x, p, variant))
        nothing = new_mlp(learner, p, 0.0).forward(x, training=True)
        assert_output(nothing, lambda variant: oracles.mlp(x, p, variant), name="result of training at rate 0")
        nothing = new_mlp(learner, p).forward(x, training=True)
        assert_output(nothing, lambda variant: oracles.mlp(x, p, variant), name="result of training by default")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        p = {name: value.astype(np.float32) for name, value in oracles.draw_mlp(rng, 4, 7).items()}
        result = new_mlp(learner, p, 0.5, rng).forward(rng.normal(size=(2, 4)).astype(np.float32), training=True)
        assert_array(result, np.asarray(plain_array(result), dtype=np.float64), dtype="float32")

    @pytest.mark.refusals
    def test_rates_outside_of_zero_to_one_are_refused(self, learner):
        for dropout in (-0.1, 1.0, 1.5):
            with pytest.raises(ValueError):
                learner.MLP(3, 4, dropout)


def check_mlp_backward(mlp, x, p, training, kept):
    """Compare the gradients after forward and backward with numerical ones."""
    result = mlp.forward(x, training)
    variant = assert_output(result, lambda variant: oracles.mlp(x, p, variant, kept))
    grad_output = np.cos(np.arange(x.size) ** 1.5).reshape(x.shape)
    with unchanged(grad_output):
        grad_x = mlp.backward(grad_output)

    def output(x, p):
        return oracles.mlp(x, p, Variant(variant.tanh), kept)

    of_x, of_p = checks.numerical_gradients(output, grad_output, x, p)
    assert_gradient(grad_x, of_x, name="grad_x")
    checks.assert_gradients(mlp.grads, of_p)


@pytest.mark.criterion("mlp-gradients")
class TestMLPBackward:
    def test_last_forward_and_last_backward_count(self, learner, rng):
        p = oracles.draw_mlp(rng, 3, 5)
        mlp = new_mlp(learner, p)
        assert_equal(mlp.grads, {}, name="grads before backward")
        for leading in ((2, 4), (3,), (), (2, 1, 2)):
            check_mlp_backward(mlp, rng.normal(size=(*leading, 3)), p, False, (1, 1))

    @pytest.mark.parametrize("dropout", [0.25, 0.5])
    def test_what_the_last_forward_dropped_counts(self, learner, rng, seed, dropout):
        p = oracles.draw_mlp(rng, 3, 5)
        mlp, kept = dropped_pair(learner, seed, p, (4, 2, 3), dropout)
        x = rng.normal(size=(4, 2, 3))
        check_mlp_backward(mlp, x, p, True, kept)
        check_mlp_backward(mlp, x, p, False, (1, 1))

    @pytest.mark.purity
    def test_backward_draws_nothing(self, learner, rng, seed):
        x, p = rng.normal(size=(6, 5)), oracles.draw_mlp(rng, 5, 4)
        first, again = (new_mlp(learner, p, 0.5, np.random.default_rng(seed)) for _ in range(2))
        first.forward(x, True)
        once, grads = first.backward(x), first.grads
        assert_array(first.backward(x), once, name="second grad_x")
        assert_equal(sorted(grads), sorted(p), name="names of grads")
        checks.assert_gradients(first.grads, grads)
        again.forward(x, True)
        assert_array(
            again.forward(x, True), first.forward(x, True), name="second result, with and without backward between"
        )

    @pytest.mark.refusals
    def test_grad_output_of_another_shape_is_refused(self, learner, rng):
        mlp = learner.MLP(4, 5, rng=rng)
        mlp.forward(rng.normal(size=(2, 3, 4)))
        for shape in OTHER_SHAPES:
            with pytest.raises(ValueError):
                mlp.backward(rng.normal(size=shape))
        mlp.forward(rng.normal(size=4))
        with pytest.raises(ValueError):
            mlp.backward(rng.normal(size=(1, 4)))

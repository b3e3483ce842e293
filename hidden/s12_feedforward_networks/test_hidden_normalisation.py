"""Hidden tests of stage s12: batch normalisation, in training and in evaluation, forward and backward."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, plain_array, unchanged
from hidden.s12_feedforward_networks import checks, oracles
from hidden.s12_feedforward_networks.checks import assert_either

pytestmark = pytest.mark.values

NAMES = ("gamma", "beta", "running_mean", "running_var")


def normalise(learner, x, p, fixed, training, **options):
    """Call a learner's batch_norm_forward and see that nothing it was given has changed."""
    vectors = [{**p, **fixed}[name] for name in NAMES]
    with unchanged(x, *vectors):
        return learner.batch_norm_forward(x, *vectors, training, **options)


def single(arrays):
    """Return a dict of arrays in float32."""
    return {name: value.astype(np.float32) for name, value in arrays.items()}


@pytest.mark.criterion("batch-norm-training")
class TestBatchNormTraining:
    def test_batches_of_several_sizes(self, learner, rng):
        batch, features = oracles.draw_sizes(rng, 2, least=3)
        p, fixed = oracles.draw_norm(rng, features)
        for size in (batch, 2, features):
            x = oracles.draw_batch(rng, size, features)
            output = normalise(learner, x, p, fixed, True)[0]
            assert_either(output, lambda variant, x=x: oracles.batch_norm(x, p, None, variant))

    def test_eps_is_one_in_a_hundred_thousand(self, learner, rng):
        x, (p, fixed) = oracles.draw_batch(rng, 6, 3) / 300, oracles.draw_norm(rng, 3)
        output = normalise(learner, x, p, fixed, True)[0]
        assert_either(output, lambda variant: oracles.batch_norm(x, p, None, variant))

    def test_eps_is_used(self, learner, rng):
        x, (p, fixed) = oracles.draw_batch(rng, 6, 3), oracles.draw_norm(rng, 3)
        output = normalise(learner, x, p, fixed, True, eps=0.5)[0]
        assert_either(output, lambda variant: oracles.batch_norm(x, p, None, variant, eps=0.5))

    @pytest.mark.edges
    def test_a_large_mean_does_not_spoil_the_variance(self, learner, rng):
        """x carries 1e8 with a spacing of 1.5e-8, so the output has 7 digits; E[x^2] - E[x]^2 has none."""
        x, (p, fixed) = oracles.draw_batch(rng, 6, 3) + 1e8, oracles.draw_norm(rng, 3)
        output = normalise(learner, x, p, fixed, True)[0]
        exact = x - 1e8  # without rounding
        assert_either(output, lambda variant: oracles.batch_norm(exact, p, None, variant), rtol=1e-5)

    @pytest.mark.edges
    def test_a_constant_feature_gives_beta(self, learner, rng):
        x, (p, fixed) = oracles.draw_batch(rng, 5, 3), oracles.draw_norm(rng, 3)
        x[:, 1] = rng.integers(1, 20) / 4
        output = normalise(learner, x, p, fixed, True)[0]
        assert_either(output, lambda variant: oracles.batch_norm(x, p, None, variant))

    @pytest.mark.dtype
    def test_whole_numbers_keep_their_fractions(self, learner, rng):
        x, (p, fixed) = rng.integers(-20, 21, size=(6, 3)), oracles.draw_norm(rng, 3)
        x[:2] = [[0, 1, 2], [5, 7, 9]]  # no feature is constant
        output, mean, var, _ = normalise(learner, x, p, fixed, True)
        assert_either(output, lambda variant: oracles.batch_norm(x, p, None, variant))
        for name, value in (("running_mean", mean), ("running_var", var)):
            assert_either(value, lambda v, name=name: oracles.running(x, fixed, v)[name], name=name)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        x, (p, fixed) = oracles.draw_batch(rng, 6, 3), oracles.draw_norm(rng, 3)
        output, mean, var, _ = normalise(learner, x.astype(np.float32), single(p), single(fixed), True)
        assert_array(output, oracles.batch_norm(x, p, None), dtype="float32", rtol=1e-4)
        for name, value in (("running_mean", mean), ("running_var", var)):
            assert_equal(str(plain_array(value, name=name).dtype), "float32", name=f"dtype of {name}")
            assert_either(value, lambda v, name=name: oracles.running(x, fixed, v)[name], name=name, rtol=1e-4)

    @pytest.mark.refusals
    def test_other_shapes_are_refused(self, learner, rng):
        p, fixed = oracles.draw_norm(rng, 4)
        vectors = [{**p, **fixed}[name] for name in NAMES]
        for shape in ((4,), (2, 4, 4), (3, 4, 4), (2, 3), (2, 1), (1, 4), (0, 4)):
            with pytest.raises(ValueError):
                learner.batch_norm_forward(rng.normal(size=shape), *vectors, True)
        with pytest.raises(ValueError):
            learner.batch_norm_forward(rng.normal(size=(3, 4, 4)), *[np.ones((4, 4))] * 4, True)
        for place in range(4):
            for shape in ((1,), (3,), (1, 4), ()):
                wrong = [*vectors[:place], np.ones(shape), *vectors[place + 1 :]]
                with pytest.raises(ValueError):
                    learner.batch_norm_forward(rng.normal(size=(3, 4)), *wrong, True)


@pytest.mark.criterion("batch-norm-running")
class TestBatchNormRunning:
    @pytest.mark.parametrize("momentum", [None, 0.99, 0.6, 0.0])
    def test_running_statistics_after_a_batch(self, learner, rng, momentum):
        batch, features = oracles.draw_sizes(rng, 2, least=3)
        x, (p, fixed) = oracles.draw_batch(rng, batch, features), oracles.draw_norm(rng, features)
        options, share = ({}, 0.9) if momentum is None else ({"momentum": momentum}, momentum)
        output, mean, var, _ = normalise(learner, x, p, fixed, True, **options)
        assert_either(output, lambda variant: oracles.batch_norm(x, p, None, variant))
        for name, value in (("running_mean", mean), ("running_var", var)):
            assert_either(value, lambda variant, name=name: oracles.running(x, fixed, variant, share)[name], name=name)

    def test_evaluation_uses_them_and_leaves_them(self, learner, rng):
        features = int(rng.integers(3, 7))
        p, fixed = oracles.draw_norm(rng, features)
        for size in (1, 4, features):
            x = oracles.draw_batch(rng, max(size, 2), features)[:size]
            output, mean, var, _ = normalise(learner, x, p, fixed, False)
            assert_either(output, lambda variant, x=x: oracles.batch_norm(x, p, fixed, variant))
            assert_array(mean, fixed["running_mean"], name="running_mean")
            assert_array(var, fixed["running_var"], name="running_var")

    def test_eps_counts_in_evaluation(self, learner, rng):
        x, (p, fixed) = oracles.draw_batch(rng, 4, 3), oracles.draw_norm(rng, 3)
        for options, eps in (({"eps": 0.5}, 0.5), ({}, 1e-5)):
            fixed = {**fixed, "running_var": fixed["running_var"] / 300}
            output = normalise(learner, x, p, fixed, False, **options)[0]
            assert_either(output, lambda variant, p=p, f=fixed, eps=eps: oracles.batch_norm(x, p, f, variant, eps))

    def test_many_batches_lead_to_what_they_have_in_common(self, learner, rng):
        """After 60 batches with momentum 0.5 the start counts 2^-60; mean and variance stay those of the one batch."""
        x, (p, fixed) = oracles.draw_batch(rng, 40, 2), oracles.draw_norm(rng, 2)
        for _ in range(60):
            _, mean, var, _ = normalise(learner, x, p, fixed, True, momentum=0.5)
            fixed = {"running_mean": np.array(plain_array(mean)), "running_var": np.array(plain_array(var))}
        assert_array(mean, x.mean(axis=0), name="running_mean")
        assert_either(var, lambda variant: x.var(axis=0, ddof=int(variant.unbiased)), name="running_var")


def check_backward(learner, rng, x, p, fixed, training, eps=1e-5):
    """Compare the gradients after a forward pass with numerical ones."""
    output, *_, cache = normalise(learner, x, p, fixed, training, eps=eps)
    used, grad_output = None if training else fixed, rng.normal(size=x.shape)
    variant = assert_either(output, lambda variant: oracles.batch_norm(x, p, used, variant, eps))
    with unchanged(grad_output):
        grad_x, grad_gamma, grad_beta = learner.batch_norm_backward(grad_output, cache)
    of_x, of_p = checks.numerical_gradients(
        lambda x, p: oracles.batch_norm(x, p, used, variant, eps), grad_output, x, p
    )
    assert_gradient(grad_x, of_x, name="grad_x")
    assert_gradient(grad_gamma, of_p["gamma"], name="grad_gamma")
    assert_gradient(grad_beta, of_p["beta"], name="grad_beta")


@pytest.mark.criterion("batch-norm-backward")
class TestBatchNormBackward:
    @pytest.mark.parametrize("training", [True, False])
    def test_batches_of_several_sizes_in_both_modes(self, learner, rng, training):
        batch, features = oracles.draw_sizes(rng, 2, least=3)
        p, fixed = oracles.draw_norm(rng, features)
        for size in (batch, features, 3):
            check_backward(learner, rng, oracles.draw_batch(rng, size, features), p, fixed, training)

    @pytest.mark.parametrize("training", [True, False])
    def test_eps_counts_in_the_gradient(self, learner, rng, training):
        p, fixed = oracles.draw_norm(rng, 3)
        check_backward(learner, rng, oracles.draw_batch(rng, 5, 3), p, fixed, training, eps=0.5)

    @pytest.mark.purity
    def test_each_cache_belongs_to_its_call(self, learner, rng):
        p, fixed = oracles.draw_norm(rng, 3)
        first, second = (oracles.draw_batch(rng, 5, 3) for _ in range(2))
        *_, cache = normalise(learner, first, p, fixed, True)
        grad_output = rng.normal(size=(5, 3))
        before = learner.batch_norm_backward(grad_output, cache)
        normalise(learner, second, p, fixed, False)
        for name, one, other in zip(
            ("grad_x", "grad_gamma", "grad_beta"), learner.batch_norm_backward(grad_output, cache), before, strict=True
        ):
            assert_array(one, other, name=f"{name}, with another forward between")

    @pytest.mark.parametrize("training", [True, False])
    @pytest.mark.dtype
    def test_single_precision_is_kept(self, learner, rng, training):
        x, (p, fixed) = oracles.draw_batch(rng, 6, 3), oracles.draw_norm(rng, 3)
        grad_output, used = rng.normal(size=(6, 3)), None if training else fixed
        output, *_, cache = normalise(learner, x.astype(np.float32), single(p), single(fixed), training)
        variant = assert_either(output, lambda variant: oracles.batch_norm(x, p, used, variant), rtol=1e-4)
        gradients = learner.batch_norm_backward(grad_output.astype(np.float32), cache)
        of_x, of_p = checks.numerical_gradients(lambda x, p: oracles.batch_norm(x, p, used, variant), grad_output, x, p)
        expected = {"grad_x": of_x, "grad_gamma": of_p["gamma"], "grad_beta": of_p["beta"]}
        for (name, right), value in zip(expected.items(), gradients, strict=True):
            assert_array(value, right, dtype="float32", rtol=1e-3, name=name)

    @pytest.mark.parametrize("training", [True, False])
    @pytest.mark.refusals
    def test_grad_output_of_another_shape_is_refused(self, learner, rng, training):
        p, fixed = oracles.draw_norm(rng, 3)
        *_, cache = normalise(learner, oracles.draw_batch(rng, 4, 3), p, fixed, training)
        for shape in ((3,), (1, 3), (4, 1), (3, 4), (4, 2), (2, 4, 3)):
            with pytest.raises(ValueError):
                learner.batch_norm_backward(rng.normal(size=shape), cache)

"""Hidden tests of stage s14: clipping, windows of a series, and the loss of padded sequences."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, unchanged
from hidden.s14_recurrent_networks import oracles
from hidden.s14_recurrent_networks.oracles import unpack

pytestmark = pytest.mark.values

EPS = 2e-6  # relative tolerance that accepts max_norm / (norm + 1e-6) for norms of 1 and more


def draw_grads(rng, norm):
    """Return three arrays of that global norm, of different sizes."""
    grads = {"W": rng.normal(size=(3, 4)), "b": 5 * rng.normal(size=4), "table": 0.1 * rng.normal(size=(2, 3, 2))}
    return {name: grad * (norm / oracles.global_norm(grads)) for name, grad in grads.items()}


@pytest.mark.criterion("clip-gradients")
class TestClippedGradients:
    def test_long_gradients(self, learner, rng):
        for long in (3.0, 700.0):
            grads, limit = draw_grads(rng, long), rng.uniform(0.2, 2.5)
            with unchanged(*grads.values()):
                clipped, norm = unpack(learner.clip_gradients(grads, limit), "clipped", "norm")
            assert_array(norm, long, name="norm")
            assert_equal(set(clipped) == set(grads), True, name="whether clipped has the keys of grads")
            for name, grad in grads.items():
                assert_array(clipped[name], grad * (limit / long), rtol=EPS, name=f"clipped['{name}']")

    def test_gradients_within_the_limit(self, learner, rng):
        for norm in (0.01, 0.6, 1.9):
            grads = draw_grads(rng, norm)
            clipped, found = unpack(learner.clip_gradients(grads, 2.0), "clipped", "norm")
            assert_array(found, norm, name="norm")
            for name, grad in grads.items():
                assert_array(clipped[name], grad, name=f"clipped['{name}']")

    @pytest.mark.edges
    def test_gradients_of_zero(self, learner):
        clipped, norm = unpack(learner.clip_gradients({"W": np.zeros((2, 3))}, 1.0), "clipped", "norm")
        assert_array(norm, 0.0, name="norm")
        assert_array(clipped["W"], np.zeros((2, 3)), name="clipped['W']")

    @pytest.mark.dtype
    def test_float32_of_any_size(self, learner, rng):
        for size in (7.0, 1e30):
            grads = {name: grad.astype(np.float32) for name, grad in draw_grads(rng, size).items()}
            clipped, norm = unpack(learner.clip_gradients(grads, 1.5), "clipped", "norm")
            assert_array(norm, size, rtol=1e-5, name="norm")
            for name, grad in grads.items():
                expected = grad.astype(np.float64) * (1.5 / size)
                assert_array(clipped[name], expected, rtol=1e-4, name=f"clipped['{name}']", dtype="float32")

    @pytest.mark.dtype
    def test_integers_are_shortened_to_fractions(self, learner, rng):
        grads = {"W": rng.permutation([-3, -1, 2, 5]), "b": rng.permutation([1, 2])}
        clipped, norm = unpack(learner.clip_gradients(grads, 1.5), "clipped", "norm")
        assert_array(norm, 44**0.5, name="norm")
        for name, grad in grads.items():
            assert_array(clipped[name], grad * (1.5 / 44**0.5), rtol=EPS, name=f"clipped['{name}']")

    @pytest.mark.refusals
    def test_limits_that_are_not_positive_are_refused(self, learner, rng):
        for limit in (0.0, -1.0):
            with pytest.raises(ValueError):
                learner.clip_gradients(draw_grads(rng, 3.0), limit)


@pytest.mark.criterion("create-sequences")
class TestWindows:
    def test_any_length_and_stride(self, learner, rng):
        for steps, length, stride in ((11, 3, 1), (11, 3, 2), (12, 3, 3), (9, 2, 5), (6, 1, 1), (7, 4, 2), (8, 2, 3)):
            data = rng.integers(0, 1000, size=steps)
            with unchanged(data):
                inputs, targets = unpack(learner.create_sequences(data, length, stride), "inputs", "targets")
            expected = oracles.windows(data, length, stride)
            for name, value, right in zip(("inputs", "targets"), (inputs, targets), expected, strict=True):
                assert_array(value, right, name=f"{name} of {steps} steps, length {length}, stride {stride}")

    @pytest.mark.edges
    def test_data_with_exactly_one_window(self, learner, rng):
        length = int(rng.integers(1, 6))
        data = rng.normal(size=length + 1)
        inputs, targets = unpack(learner.create_sequences(data, length, 4), "inputs", "targets")
        assert_array(inputs, data[None, :-1], name="inputs")
        assert_array(targets, data[None, 1:], name="targets")

    @pytest.mark.dtype
    def test_feature_vectors_keep_their_dtype(self, learner, rng):
        data = rng.normal(size=(9, 2, 3)).astype(np.float32)
        inputs, targets = unpack(learner.create_sequences(data, 4, 2), "inputs", "targets")
        expected = oracles.windows(data, 4, 2)
        for name, value, right in zip(("inputs", "targets"), (inputs, targets), expected, strict=True):
            assert_array(value, right, name=name, dtype="float32")

    @pytest.mark.refusals
    def test_impossible_windows_are_refused(self, learner, rng):
        data = rng.normal(size=5)
        for length, stride in ((5, 1), (8, 1), (0, 1), (-1, 1), (2.0, 1), (2, 0), (2, -1), (2, 1.0)):
            with pytest.raises(ValueError):
                learner.create_sequences(data, length, stride)

    @pytest.mark.dtype
    def test_numpy_integers_are_integers(self, learner, rng):
        data = rng.normal(size=6)
        inputs, _ = unpack(learner.create_sequences(data, np.int64(2), np.int32(2)), "inputs", "targets")
        assert_array(inputs, oracles.windows(data, 2, 2)[0], name="inputs")


def draw_scores(rng, batch=4, time=5, classes=3):
    """Return logits, and targets of which each is a class."""
    return 2 * rng.normal(size=(batch, time, classes)), rng.integers(0, classes, size=(batch, time))


def draw_mask(rng, batch=4, time=5):
    """Return a mask of sequences of different lengths, all of them padded at the end but one."""
    lengths = rng.permutation([1, 2, 4, 5])[:, None]
    return np.arange(time) < lengths


def check_loss(learner, logits, targets, mask, dtype=None, of=""):
    """Compare loss and gradient with the oracle; a loss of float32 logits may have been summed in float32."""
    loss, grad_logits = unpack(learner.sequence_loss(logits, targets, mask), "loss", "grad_logits")
    right, gradient = oracles.loss_and_gradient(logits, targets, mask)
    assert_array(loss, right, rtol=1e-4 if dtype else None, name=f"loss{of}")
    assert_array(grad_logits, gradient, name=f"grad_logits{of}", dtype=dtype)
    return grad_logits


@pytest.mark.criterion("sequence-loss")
class TestLossOfSequences:
    def test_sequences_of_different_lengths(self, learner, rng):
        (logits, targets), mask = draw_scores(rng), draw_mask(rng)
        with unchanged(logits, targets, mask):
            grad_logits = check_loss(learner, logits, targets, mask)
        padding = np.asarray(grad_logits)[~mask]
        assert_array(padding, np.zeros(padding.shape), rtol=0, atol=0, name="grad_logits at the padding")

    def test_without_a_mask_all_tokens_count(self, learner, rng):
        check_loss(learner, *draw_scores(rng), None)

    @pytest.mark.edges
    def test_masks_that_broadcast(self, learner, rng):
        logits, targets = draw_scores(rng)
        real = rng.permutation([0, 0, 1, 1, 1])
        for mask in (real, real == 1, rng.permutation([0, 1, 1, 1])[:, None], np.array(True)):
            check_loss(learner, logits, targets, mask)

    @pytest.mark.edges
    def test_targets_of_padding_may_be_anything(self, learner, rng):
        logits, targets = draw_scores(rng)
        mask = draw_mask(rng)
        fillers = rng.choice([-100, -1, 3, 999], size=targets.shape)
        check_loss(learner, logits, np.where(mask, targets, fillers), mask)

    @pytest.mark.dtype
    def test_masks_of_integers_are_masks(self, learner, rng):
        logits, targets = draw_scores(rng)
        mask = draw_mask(rng).astype(np.int64)
        check_loss(learner, logits, np.where(mask == 1, targets, -100), mask, of=" with a mask of 0 and 1")

    @pytest.mark.dtype
    def test_logits_of_integers_have_gradients_with_fractions(self, learner, rng):
        (_, targets), mask = draw_scores(rng), draw_mask(rng)
        check_loss(learner, rng.integers(-3, 4, size=(4, 5, 3)), targets, mask)

    @pytest.mark.refusals
    def test_real_tokens_of_a_mask_of_integers_need_a_class(self, learner, rng):
        logits, targets = draw_scores(rng)
        mask = draw_mask(rng).astype(np.int64)
        targets[int(rng.integers(4)), 0] = 3
        with pytest.raises(ValueError):
            learner.sequence_loss(logits, targets, mask)

    @pytest.mark.edges
    def test_large_logits(self, learner, rng):
        logits, targets = draw_scores(rng)
        logits = logits + 1000.0 * rng.choice([-1, 0, 1], size=logits.shape)
        check_loss(learner, logits, targets, draw_mask(rng), of=" of logits of size 1000")
        check_loss(learner, logits - 2000, targets, None, of=" of logits of size -2000")

    @pytest.mark.edges
    def test_logits_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        logits, targets = draw_scores(rng)
        check_loss(learner, -1e100 * (1 + np.abs(logits)), targets, draw_mask(rng))

    @pytest.mark.dtype
    def test_floats_are_classes_where_they_are_whole(self, learner, rng):
        logits, targets = draw_scores(rng)
        mask = draw_mask(rng)
        check_loss(learner, logits, np.where(mask, targets, 0.5), mask, of=" of targets that are floats")

    @pytest.mark.refusals
    def test_floats_between_two_classes_are_refused(self, learner, rng):
        logits, targets = draw_scores(rng)
        mask = draw_mask(rng)
        with pytest.raises(ValueError):
            learner.sequence_loss(logits, np.where(mask, 0.5, targets), mask)

    @pytest.mark.edges
    def test_nothing_but_padding(self, learner, rng):
        logits, targets = draw_scores(rng)
        check_loss(learner, logits, targets, np.zeros(targets.shape, dtype=bool))

    @pytest.mark.edges
    def test_a_single_real_token(self, learner, rng):
        logits, targets = draw_scores(rng)
        mask = np.zeros(targets.shape, dtype=bool)
        mask[rng.integers(4), rng.integers(5)] = True
        check_loss(learner, logits, targets, mask)

    def test_small_steps_change_the_loss_as_the_gradient_says(self, learner, rng):
        (logits, targets), mask = draw_scores(rng), draw_mask(rng)
        _, grad_logits = unpack(learner.sequence_loss(logits, targets, mask), "loss", "grad_logits")

        def losses(arguments):
            return (np.asarray(unpack(learner.sequence_loss(arguments["logits"], targets, mask), "loss", "grad")[0]),)

        for _ in range(3):
            along = rng.normal(size=logits.shape)
            expected = oracles.slope(losses, (np.ones(()),), {"logits": logits}, "logits", along)
            assert_gradient(float(np.sum(grad_logits * along)), expected, name="change along logits")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        logits, targets = draw_scores(rng)
        check_loss(learner, logits.astype(np.float32), targets, draw_mask(rng), dtype="float32")

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit_are_refused(self, learner, rng):
        (logits, targets), mask = draw_scores(rng), draw_mask(rng)
        for other in (logits[0], logits[None], logits[:1], logits[:, :1], logits[..., 0], logits[..., None]):
            with pytest.raises(ValueError):
                learner.sequence_loss(other, targets, mask)
        for other in (targets[:1], targets[:, :1], targets[0], targets[..., None]):
            with pytest.raises(ValueError):
                learner.sequence_loss(logits, other, None)
        for other in (mask[:, :-1], mask[:3], mask[None], mask[..., None]):
            with pytest.raises(ValueError):
                learner.sequence_loss(logits, targets, other)

    @pytest.mark.refusals
    def test_real_tokens_without_a_class_are_refused(self, learner, rng):
        (logits, targets), mask = draw_scores(rng), draw_mask(rng)
        for wrong in (-1, 3):
            targets[int(rng.integers(4)), 0] = wrong  # the first token of every sequence is real
            with pytest.raises(ValueError):
                learner.sequence_loss(logits, targets, mask)
            targets[:, 0] = 0

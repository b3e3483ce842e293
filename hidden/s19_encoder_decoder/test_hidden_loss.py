"""Hidden tests of stage s19: what the decoder reads in training, and the smoothed loss with its gradient."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, numerical_gradient, plain_array, unchanged
from hidden.s19_encoder_decoder import counts

pytestmark = pytest.mark.values


@pytest.mark.criterion("teacher-forcing")
class TestShiftRight:
    def test_any_targets(self, learner, rng):
        for batch, length in ((3, 5), (1, 4), (4, 1), (2, 2)):
            targets = rng.integers(0, 20, size=(batch, length))
            expected = [[21, *row[:-1]] for row in targets.tolist()]
            assert_array(learner.shift_right(targets, 21), np.array(expected))

    @pytest.mark.purity
    def test_targets_stay_as_they_are(self, learner, rng):
        targets = rng.integers(0, 20, size=(3, 5))
        with unchanged(targets):
            learner.shift_right(targets, 1)

    @pytest.mark.dtype
    def test_ids_stay_integers(self, learner, rng):
        for dtype in (np.int32, np.int64):
            targets = rng.integers(0, 20, size=(2, 3)).astype(dtype)
            assert_equal(str(plain_array(learner.shift_right(targets, 1)).dtype), str(np.dtype(dtype)), name="dtype")

    @pytest.mark.refusals
    def test_other_axes_are_refused(self, learner, rng):
        for shape in ((4,), (2, 3, 4)):
            with pytest.raises(ValueError):
                learner.shift_right(rng.integers(0, 20, size=shape), 1)


# The values of PyTorch 2.13 in float64: nn.functional.cross_entropy(logits, targets, label_smoothing=0.1,
# ignore_index=3) and the gradient of logits, for the inputs of the test, its leading axes flattened.
TORCH_LOSS = 2.9779325062755264
TORCH_GRADIENT = [
    [
        [-0.21293927, -0.00371096, 0.00023213, 0.22066249, -0.00424439],
        [0.16941174, -0.00434231, 0.02172556, 0.04271534, -0.22951034],
        [0.00111046, 0.16786035, -0.16382865, -0.00085893, -0.00428323],
    ],
    [
        [0.02912141, -0.18451596, 0.05604276, 0.05697559, 0.0423762],
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0],
    ],
]


@pytest.fixture
def torch_inputs():
    """Logits and targets of the frozen values."""
    logits = 3 * np.sin(600 + np.arange(30) ** 1.5).reshape(2, 3, 5)
    return logits, np.array([[0, 4, 2], [1, 3, 3]])


def draw(rng, batch=2, length=4, size=5, padding_id=None):
    """Return logits and targets; with padding_id, a target here and there is padding."""
    logits, targets = 2 * rng.normal(size=(batch, length, size)), rng.integers(0, size, size=(batch, length))
    if padding_id is not None:
        places = rng.permutation(batch * length)[: batch * length // 2]
        targets[targets == padding_id] = (padding_id + 1) % size
        targets.ravel()[places] = padding_id
    return logits, targets


@pytest.mark.criterion("label-smoothing")
class TestLoss:
    @pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.6])
    def test_any_targets(self, learner, rng, smoothing):
        for batch, length, size in ((2, 3, 4), (3, 1, 6), (1, 2, 2)):
            logits, targets = draw(rng, batch, length, size)
            expected = counts.smoothed_loss(logits, targets, smoothing)
            assert_array(learner.label_smoothing_loss(logits, targets, smoothing), expected)

    @pytest.mark.parametrize("padding_id", [0, 3, -100, 99])
    def test_padding(self, learner, rng, padding_id):
        logits, targets = draw(rng, padding_id=padding_id)
        expected = counts.smoothed_loss(logits, targets, 0.2, padding_id)
        assert_array(learner.label_smoothing_loss(logits, targets, 0.2, padding_id), expected)

    def test_another_framework(self, learner, torch_inputs):
        assert_array(learner.label_smoothing_loss(*torch_inputs, 0.1, 3), TORCH_LOSS)

    def test_a_tenth_by_default(self, learner, rng):
        logits, targets = draw(rng)
        assert_array(learner.label_smoothing_loss(logits, targets), counts.smoothed_loss(logits, targets, 0.1))

    @pytest.mark.edges
    def test_nothing_but_padding_costs_nothing(self, learner, rng):
        logits, targets = draw(rng)
        assert_array(learner.label_smoothing_loss(logits, np.full_like(targets, 2), 0.1, 2), 0.0)

    @pytest.mark.edges
    @pytest.mark.parametrize("shift", [1e4, -1e4])
    def test_logits_of_any_size(self, learner, rng, shift):
        logits, targets = draw(rng)
        expected = counts.smoothed_loss(1000 * logits, targets, 0.1)
        assert_array(learner.label_smoothing_loss(1000 * logits, targets, 0.1), expected)
        shifted = learner.label_smoothing_loss(logits + shift, targets, 0.1)
        assert_array(shifted, counts.smoothed_loss(logits, targets, 0.1), rtol=1e-8)

    @pytest.mark.edges
    def test_logits_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        (logits, targets), far = draw(rng), -1e100
        logits = far * (1 + np.abs(logits))
        expected = counts.smoothed_loss(logits, targets, 0.1)
        assert_array(learner.label_smoothing_loss(logits, targets, 0.1), expected)

    @pytest.mark.purity
    def test_inputs_stay_as_they_are(self, learner, rng):
        logits, targets = draw(rng, padding_id=-100)
        with unchanged(logits, targets):
            learner.label_smoothing_loss(logits, targets, 0.1, -100)
            learner.label_smoothing_gradient(logits, targets, 0.1, -100)

    @pytest.mark.refusals
    def test_what_does_not_fit_is_refused(self, learner, rng):
        check_refusals(learner.label_smoothing_loss, rng)


def check_refusals(function, rng):
    """Check the errors that loss and gradient share."""
    logits, targets = draw(rng)
    for wrong in (targets[0], targets[:, :3], targets[:1], targets[..., None], targets.T):
        with pytest.raises(ValueError):
            function(logits, wrong)
    with pytest.raises(ValueError):
        function(logits[0], targets[0])
    for smoothing in (-0.1, 1.0, 1.5):
        with pytest.raises(ValueError):
            function(logits, targets, smoothing)
    for wrong_id in (-1, 5, -100):
        with pytest.raises(ValueError):
            function(logits, np.where(np.arange(4) == 1, wrong_id, targets))
        with pytest.raises(ValueError):
            function(logits, np.where(np.arange(4) == 1, wrong_id, targets), 0.1, 2)
    with pytest.raises(ValueError):
        function(logits, targets.astype(float))


@pytest.mark.criterion("label-smoothing-gradient")
class TestGradient:
    @pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.6])
    def test_finite_differences(self, learner, rng, smoothing):
        for padding_id in (None, 1, -100):
            logits, targets = draw(rng, padding_id=padding_id)
            expected = numerical_gradient(lambda x: counts.smoothed_loss(x, targets, smoothing, padding_id), logits)  # noqa: B023
            result = learner.label_smoothing_gradient(logits, targets, smoothing, padding_id)
            assert_gradient(result, expected, name="gradient")

    def test_another_framework(self, learner, torch_inputs):
        assert_array(learner.label_smoothing_gradient(*torch_inputs, 0.1, 3), TORCH_GRADIENT, rtol=1e-5)

    def test_a_tenth_by_default(self, learner, rng):
        logits, targets = draw(rng)
        expected = numerical_gradient(lambda x: counts.smoothed_loss(x, targets, 0.1), logits)
        assert_gradient(learner.label_smoothing_gradient(logits, targets), expected, name="gradient")

    @pytest.mark.edges
    def test_nothing_but_padding_gives_zeros(self, learner, rng):
        logits, targets = draw(rng)
        result = learner.label_smoothing_gradient(logits, np.full_like(targets, -100), 0.1, -100)
        assert_array(result, np.zeros_like(logits))

    @pytest.mark.edges
    def test_large_logits(self, learner):
        result = learner.label_smoothing_gradient(np.array([[[1000.0, 0.0], [-2000.0, 0.0]]]), np.array([[1, 1]]), 0.2)
        assert_array(result, [[[0.45, -0.45], [-0.05, 0.05]]])

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        logits, targets = draw(rng, padding_id=1)
        expected = numerical_gradient(lambda x: counts.smoothed_loss(x, targets, 0.1, 1), logits)
        result = learner.label_smoothing_gradient(logits.astype(np.float32), targets, 0.1, 1)
        assert_array(result, expected, dtype="float32", rtol=1e-4)

    @pytest.mark.refusals
    def test_what_does_not_fit_is_refused(self, learner, rng):
        check_refusals(learner.label_smoothing_gradient, rng)

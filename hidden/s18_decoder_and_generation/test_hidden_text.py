"""Hidden tests of stage s18: the loss, perplexity and what is generated."""

import math

import numpy as np
import pytest

from grader.testing import (
    assert_array,
    assert_equal,
    assert_gradient,
    assert_shape,
    numerical_gradient,
    unchanged,
)
from hidden.s18_decoder_and_generation import oracles
from hidden.s18_decoder_and_generation.oracles import gpt, model_shapes

pytestmark = pytest.mark.values

LENGTH, TOKENS = 4, 7


def new_model(learner, rng, depth=1):
    """Return a learner's model of four positions and two heads, and its parameters."""
    p = oracles.draw(rng, model_shapes(TOKENS, LENGTH, depth, 4))
    model = learner.GPT(TOKENS, LENGTH, depth, 4, 2, rng)
    model.params = p
    return model, p


def variant_of(model, p):
    """Return the convention that the model follows, after one sequence."""
    ids = np.arange(LENGTH)[None]
    return oracles.closest(model.forward(ids), lambda variant: gpt(ids, p, 2, variant))


@pytest.mark.criterion("cross-entropy")
class TestCrossEntropy:
    @pytest.mark.parametrize("shape", [(3,), (2, 5), (2, 3, 2)], ids=str)
    def test_loss_and_gradient(self, learner, rng, shape):
        logits, targets = 2 * rng.normal(size=(*shape, 6)), rng.integers(0, 6, size=shape)
        with unchanged(logits, targets):
            loss, grad = learner.cross_entropy_loss(logits, targets)
        expected = oracles.cross_entropy(logits, targets)
        assert_array(loss, expected[0], name="loss")
        assert_array(grad, expected[1], name="grad_logits")

    @pytest.mark.parametrize("kind", [bool, int])
    def test_mask(self, learner, rng, kind):
        logits, targets = rng.normal(size=(3, 5, 6)), rng.integers(0, 6, size=(3, 5))
        mask = rng.random((3, 5)) < 0.5
        mask[0, :2] = True, False
        expected = oracles.cross_entropy(logits, targets, mask)
        targets[~mask] = rng.choice([-100, 6, 99], size=(~mask).sum())
        targets[0, 1] = rng.integers(0, 6)  # padding may well be a token
        with unchanged(logits, targets, mask):
            loss, grad = learner.cross_entropy_loss(logits, targets, mask.astype(kind))
        assert_array(loss, expected[0], name="loss")
        assert_array(grad, expected[1], name="grad_logits")

    def test_gradient_agrees_with_finite_differences(self, learner, rng):
        logits, targets = rng.normal(size=(2, 4)), rng.integers(0, 4, size=2)
        grad = learner.cross_entropy_loss(logits, targets)[1]
        numerical = numerical_gradient(lambda x: learner.cross_entropy_loss(x, targets)[0], logits)
        assert_gradient(grad, numerical, name="grad_logits")

    @pytest.mark.edges
    def test_a_row_below_any_number_to_begin_with(self, learner, rng):
        logits = rng.integers(-3, 4, size=(2, 5)) + 2e9 * rng.permuted([-1, 1])[:, None]
        targets = rng.integers(0, 5, size=2)
        loss, grad = learner.cross_entropy_loss(logits, targets)
        expected = oracles.cross_entropy(logits, targets)
        assert_array(loss, expected[0], rtol=1e-6, name="loss")  # 2e9 + log(sum) keeps seven digits of the logarithm
        assert_array(grad, expected[1], rtol=1e-6, name="grad_logits")

    @pytest.mark.edges
    def test_extremes(self, learner, rng):
        logits = rng.normal(size=(2, 5)) + 1e4 * rng.choice([-1, 1], size=(2, 1))
        logits[0, 0] -= 3e3
        targets = np.array([0, 3])
        loss, grad = learner.cross_entropy_loss(logits, targets)
        expected = oracles.cross_entropy(logits, targets)
        assert_array(loss, expected[0], name="loss")
        assert_array(grad, expected[1], name="grad_logits")
        loss, grad = learner.cross_entropy_loss(logits, targets - 9, np.zeros(2, dtype=bool))
        assert_array(loss, 0.0, name="loss without any target that counts")
        assert_array(grad, np.zeros((2, 5)), name="grad_logits without any target that counts")

    @pytest.mark.dtype
    def test_float32(self, learner, rng):
        logits, targets = rng.normal(size=(2, 5)).astype(np.float32), np.array([4, 0])
        for mask in (None, np.array([True, False])):
            grad = learner.cross_entropy_loss(logits, targets, mask)[1]
            expected = oracles.cross_entropy(logits.astype(float), targets, mask)[1]
            assert_array(grad, expected, dtype="float32", rtol=1e-4, name="grad_logits")

    @pytest.mark.refusals
    def test_what_does_not_fit_is_refused(self, learner, rng):
        logits, targets = rng.normal(size=(2, 3, 4)), rng.integers(0, 4, size=(2, 3))
        for wrong in (targets + 4, targets - 4, targets[:, :2], targets[0], targets[..., None], targets + 0.5):
            with pytest.raises(ValueError):
                learner.cross_entropy_loss(logits, wrong)
        with pytest.raises(ValueError):
            learner.cross_entropy_loss(logits, targets, np.ones((2, 2), dtype=bool))
        with pytest.raises(ValueError):
            learner.cross_entropy_loss(logits, targets[0], np.ones(targets[0].shape, dtype=bool))

    @pytest.mark.refusals
    def test_shapes_count_although_no_target_does(self, learner, rng):
        logits, targets = rng.normal(size=(2, 3, 4)), rng.integers(0, 4, size=(2, 3))
        for wrong, mask in ((targets, (2, 2)), (targets[:, :2], (2, 3)), (targets[0], (3,))):
            with pytest.raises(ValueError):
                learner.cross_entropy_loss(logits, wrong, np.zeros(mask, dtype=bool))


@pytest.mark.criterion("perplexity")
class TestPerplexity:
    @pytest.mark.parametrize("shape", [(1, 5), (4, 3), (3, 2)], ids=str)
    def test_any_model(self, learner, rng, shape):
        model, p = new_model(learner, rng)
        variant, ids = variant_of(model, p), rng.integers(0, TOKENS, size=shape)
        with unchanged(ids):
            result = learner.perplexity(model, ids)
        loss, _ = oracles.cross_entropy(gpt(ids[:, :-1], p, 2, variant), ids[:, 1:])
        assert_array(result, math.exp(loss), name="perplexity")

    @pytest.mark.edges
    def test_a_sure_model(self, learner, rng):
        model, p = new_model(learner, rng)
        table = np.full((TOKENS, 4), 0.5)
        table[0], table[1] = 1.0, -1.0  # token 0 scores 4 * 5 after every token, token 1 as much less
        flat = {name: 0 * value for name, value in p.items()}
        model.params = {**flat, "token_embedding": table, "norm.beta": np.full(4, 5.0)}
        sure = math.log1p((TOKENS - 2) * math.exp(-10) + math.exp(-40))
        for ids, expected in (([[2, 0, 0, 0]], math.exp(sure)), ([[0, 1]], math.exp(40 + sure))):
            assert_array(learner.perplexity(model, np.array(ids)), expected, name="perplexity")

    @pytest.mark.edges
    def test_a_model_that_no_float_can_measure(self, learner, rng):
        model, p = new_model(learner, rng)
        table = np.full((TOKENS, 4), 0.5)
        table[0], table[1] = 1.0, -1.0
        flat, right, wrong = {name: 0 * value for name, value in p.items()}, np.array([[2, 0]]), np.array([[2, 1]])
        for size, expected in ((80.0, math.exp(640.0)), (90.0, math.inf), (5000.0, math.inf)):
            model.params = {**flat, "token_embedding": table, "norm.beta": np.full(4, size)}
            assert_array(learner.perplexity(model, wrong), expected, name="perplexity")
            assert_array(learner.perplexity(model, right), 1.0, name="perplexity")

    @pytest.mark.refusals
    def test_what_does_not_fit_is_refused(self, learner, rng):
        model, _ = new_model(learner, rng)
        for wrong in ([[1]], [[1, 2, 3, 4, 5, 6]], [1, 2, 3], [[1, TOKENS, 2]], [[1, 2, TOKENS]], [[1, 2, -1]]):
            with pytest.raises(ValueError):
                learner.perplexity(model, np.array(wrong))


@pytest.mark.criterion("generate")
class TestGenerate:
    @pytest.mark.parametrize("seq, steps", [(1, 3), (2, 5), (3, 1), (4, 2), (6, 4)])
    def test_scores_and_tokens(self, learner, rng, seq, steps):
        model, p = new_model(learner, rng, depth=2)
        variant, ids = variant_of(model, p), rng.integers(0, TOKENS, size=(3, seq))
        seen = []

        def choose(logits):
            seen.append(np.array(logits))
            return np.argsort(logits)[:, 2]

        with unchanged(ids):
            result = learner.generate(model, ids, steps, choose)
        assert_shape(result, (3, seq + steps), name="tokens")
        assert_array(result[:, :seq], ids, name="prompt")
        assert_equal(len(seen), steps, name="how often choose was called")
        for step, logits in enumerate(seen):
            window = result[:, max(seq + step - LENGTH, 0) : seq + step]
            assert_array(logits, gpt(window, p, 2, variant)[:, -1], name=f"logits given to choose in step {step}")
            assert_array(result[:, seq + step], np.argsort(logits)[:, 2], name=f"what choose returned in step {step}")

    def test_greedy_by_default(self, learner, rng):
        model, p = new_model(learner, rng)
        variant, ids = variant_of(model, p), rng.integers(0, TOKENS, size=(2, 2))
        result = learner.generate(model, ids, 5)
        assert_shape(result, (2, 7), name="tokens")
        assert_array(result[:, :2], ids, name="prompt")
        for place in range(2, 7):
            scores = gpt(result[:, max(place - LENGTH, 0) : place], p, 2, variant)[:, -1]
            chosen = np.take_along_axis(scores, result[:, place, None], axis=-1)[:, 0]
            assert_array(chosen, scores.max(axis=-1), name=f"score of the token at place {place}, against the highest")

    @pytest.mark.edges
    def test_no_steps(self, learner, rng):
        ids = rng.integers(0, TOKENS, size=(2, 3))
        assert_array(learner.generate(new_model(learner, rng)[0], ids, 0), ids, name="prompt")

    @pytest.mark.refusals
    def test_what_does_not_fit_is_refused(self, learner, rng):
        model, _ = new_model(learner, rng)
        for wrong, steps in (([[1, 2]], -1), ([[1, TOKENS]], 2), ([[1, -1]], 2)):
            with pytest.raises(ValueError):
                learner.generate(model, np.array(wrong), steps)

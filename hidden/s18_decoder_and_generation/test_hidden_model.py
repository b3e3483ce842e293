"""Hidden tests of stage s18: the model, its parameters, forward and backward, and token by token."""

import itertools

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
from hidden.s18_decoder_and_generation import oracles
from hidden.s18_decoder_and_generation.oracles import (
    assert_output,
    check_params,
    check_params_refusals,
    gpt,
    model_shapes,
)

pytestmark = pytest.mark.values

WRONG_IDS = [[[0, 7]], [[0, -1]], [[0.0, 1.0]], [[True, False]], [0, 1], [[[0, 1]]], [[0] * 6], [[]]]


def new_model(learner, p, num_heads):
    """Return a learner's model with these parameters."""
    (tokens, dim), length = p["token_embedding"].shape, len(p["position_embedding"])
    model = learner.GPT(tokens, length, oracles.depth_of(p), dim, num_heads, np.random.default_rng(0))
    model.params = p
    return model


def draw_model(learner, rng, tokens=7, length=5, depth=2, dim=4, num_heads=2):
    """Return a learner's model, and its parameters, of both signs and no two alike."""
    p = oracles.draw(rng, model_shapes(tokens, length, depth, dim))
    return new_model(learner, p, num_heads), p


@pytest.mark.criterion("gpt-params")
class TestParams:
    @pytest.mark.parametrize("sizes", [(7, 5, 2, 4), (3, 6, 1, 2)], ids=str)
    def test_params_are_read_and_set(self, learner, rng, sizes):
        model = learner.GPT(*sizes, 2, rng)
        assert_equal(model.context_length, sizes[1], name="context_length")
        assert_equal(len(model.blocks), sizes[2], name="number of blocks")
        check_params(model, model_shapes(*sizes), rng)

    def test_blocks_get_theirs(self, learner, rng):
        model, p = draw_model(learner, rng, depth=3)
        for number in range(3):
            held = model.blocks[number].params
            for name, value in oracles.below(p, f"blocks.{number}").items():
                assert_array(held[name], value, name=f"blocks[{number}].params[{name!r}]")

    def test_new_models(self, learner, seed):
        first, again = (learner.GPT(40, 30, 2, 24, 3, np.random.default_rng(seed)).params for _ in range(2))
        for name, shape in model_shapes(40, 30, 2, 24).items():
            assert_shape(first[name], shape, name=name)
            assert_array(again[name], first[name], name=f"{name} of a second model from an equal generator")
            if len(shape) == 1:
                assert_array(first[name], np.full(shape, float(name.endswith("gamma"))), name=name)
            else:
                inputs = 24 if name.endswith("embedding") else shape[0]
                assert_array(np.std(first[name]), inputs**-0.5, rtol=0.3, name=f"standard deviation of {name}")
        one, other = (first[f"blocks.{number}.mlp.W1"] for number in range(2))
        assert_differ(one, other, shape=(24, 96), name="mlp.W1 of the two blocks")
        one, other = (learner.GPT(4, 3, 1, 4, 2).params["token_embedding"] for _ in range(2))
        assert_differ(one, other, shape=(4, 4), name="token_embedding of two models without a generator")

    @pytest.mark.refusals
    def test_what_does_not_fit_is_refused(self, learner, rng):
        check_params_refusals(learner.GPT(7, 5, 2, 4, 2, rng), model_shapes(7, 5, 2, 4), rng)
        for sizes in ((0, 5, 2, 4, 2), (7, 0, 2, 4, 2), (7, 5, 0, 4, 2), (7, 5, 2, 4, 3), (-1, 5, 2, 4, 2)):
            with pytest.raises(ValueError):
                learner.GPT(*sizes)


@pytest.mark.criterion("gpt-forward")
class TestForward:
    @pytest.mark.parametrize("depth, dim, num_heads", [(1, 6, 3), (3, 4, 2)])
    def test_any_parameters(self, learner, rng, depth, dim, num_heads):
        model, p = draw_model(learner, rng, depth=depth, dim=dim, num_heads=num_heads)
        for batch, seq in ((3, 4), (1, 5), (2, 1)):
            ids = rng.integers(0, 7, size=(batch, seq))
            logits = model.forward(ids)
            assert_output(logits, lambda variant, ids=ids: gpt(ids, p, num_heads, variant), name="logits")

    def test_parameters_that_are_set_later(self, learner, rng):
        model, ids = draw_model(learner, rng)[0], rng.integers(0, 7, size=(2, 3))
        model.forward(ids)
        p = oracles.draw(rng, model_shapes(7, 5, 2, 4))
        model.params = p
        assert_output(model.forward(ids), lambda variant: gpt(ids, p, 2, variant), name="logits")

    @pytest.mark.purity
    def test_ids_and_parameters_stay_as_they_are(self, learner, rng):
        model, p = draw_model(learner, rng)
        ids = rng.integers(0, 7, size=(2, 3))
        with unchanged(ids, *p.values()):
            model.forward(ids)
        for name, value in p.items():
            assert_array(model.params[name], value, name=f"params[{name!r}]")

    @pytest.mark.dtype
    @pytest.mark.parametrize("kind", ["int32", "uint8"])
    def test_float32_and_other_integers(self, learner, rng, kind):
        drawn = oracles.draw(rng, model_shapes(7, 5, 2, 4))
        p = {name: value.astype(np.float32) for name, value in drawn.items()}
        ids = rng.integers(0, 7, size=(2, 3)).astype(kind)
        logits = new_model(learner, p, 2).forward(ids)
        assert_equal(str(plain_array(logits).dtype), "float32", name="dtype of logits")
        exact = {name: value.astype(float) for name, value in p.items()}
        assert_output(logits, lambda variant: gpt(ids, exact, 2, variant), name="logits")

    @pytest.mark.refusals
    @pytest.mark.parametrize("wrong", WRONG_IDS, ids=str)
    def test_wrong_ids_are_refused(self, learner, rng, wrong):
        with pytest.raises(ValueError):
            learner.GPT(7, 5, 2, 4, 2, rng).forward(np.array(wrong))

    @pytest.mark.refusals
    @pytest.mark.parametrize("length, seq", [(1, 2), (3, 0), (2, 5)])
    def test_sequences_of_a_wrong_length_are_refused(self, learner, rng, length, seq):
        with pytest.raises(ValueError):
            learner.GPT(7, length, 1, 4, 2, rng).forward(np.zeros((2, seq), dtype=int))


def check_gradients(learner, rng, names, depth=2):
    """Compare gradients after two forwards and backwards with numerical ones, those whose names begin so."""
    model, p = draw_model(learner, rng, depth=depth)
    for shape in ((1, 5), (2, 4)):
        ids = rng.integers(0, 7, size=shape)
        ids[:, -1] = ids[:, 0]  # a token that stands twice
        variant = oracles.closest(model.forward(ids), lambda variant, ids=ids: gpt(ids, p, 2, variant))
        grad_logits = rng.normal(size=(*shape, 7))
        with unchanged(grad_logits):
            model.backward(grad_logits)
    chosen = [name for name in p if name.startswith(names)]
    expected = oracles.numerical_gradients(lambda p: gpt(ids, p, 2, variant), grad_logits, p, chosen)
    grads = model.grads
    assert_equal(sorted(grads), sorted(p), name="names of grads")
    for name, value in expected.items():
        assert_gradient(grads[name], value, name=f"grads[{name!r}]")


@pytest.mark.criterion("gpt-gradients")
class TestBackward:
    @pytest.mark.parametrize("depth", [1, 2])
    def test_norm_and_blocks(self, learner, rng, depth):
        check_gradients(learner, rng, ("norm", "blocks"), depth)

    @pytest.mark.refusals
    def test_wrong_calls_are_refused(self, learner, rng):
        model = learner.GPT(7, 5, 2, 4, 2, rng)
        with pytest.raises(RuntimeError) as caught:
            model.backward(rng.normal(size=(2, 3, 7)))
        if isinstance(caught.value, NotImplementedError):  # a RuntimeError too, but the stub's
            raise caught.value
        model.forward(rng.integers(0, 7, size=(2, 3)))
        for shape in ((3, 7), (1, 3, 7), (2, 4, 7), (2, 3, 1), (2, 3, 4)):
            with pytest.raises(ValueError):
                model.backward(rng.normal(size=shape))


@pytest.mark.criterion("embedding-gradients")
class TestEmbeddingGradients:
    def test_token_embedding(self, learner, rng):
        check_gradients(learner, rng, "token_embedding")

    def test_position_embedding(self, learner, rng):
        check_gradients(learner, rng, "position_embedding")

    @pytest.mark.dtype
    def test_float32(self, learner, rng):
        p, names = oracles.draw(rng, model_shapes(7, 5, 1, 4)), ("token_embedding", "position_embedding")
        model = new_model(learner, {name: value.astype(np.float32) for name, value in p.items()}, 2)
        ids, grad_logits = rng.integers(0, 7, size=(2, 3)), rng.normal(size=(2, 3, 7))
        variant = oracles.closest(model.forward(ids), lambda variant: gpt(ids, p, 2, variant))
        model.backward(grad_logits.astype(np.float32))
        grads = model.grads
        assert_equal(sorted(grads), sorted(p), name="names of grads")
        expected = oracles.numerical_gradients(lambda p: gpt(ids, p, 2, variant), grad_logits, p, names)
        for name, value in expected.items():
            assert_array(grads[name], value, dtype="float32", rtol=1e-3, name=f"grads[{name!r}]")


def draw_pieces(rng, length):
    """Return the ends of pieces that a sequence of this length falls into, at least two."""
    cuts = rng.choice(np.arange(1, length), size=int(rng.integers(1, length)), replace=False)
    return [0, *sorted(int(cut) for cut in cuts), length]


@pytest.mark.criterion("gpt-cache")
class TestCache:
    @pytest.mark.parametrize("depth", [1, 3])
    def test_pieces_of_a_sequence(self, learner, rng, depth):
        model, p = draw_model(learner, rng, depth=depth)
        ids, ends, cache = rng.integers(0, 7, size=(3, 5)), draw_pieces(rng, 5), None
        variant = oracles.closest(model.forward(ids), lambda variant: gpt(ids, p, 2, variant))
        expected = gpt(ids, p, 2, variant)
        for start, end in itertools.pairwise(ends):
            logits, cache = model.forward_with_cache(ids[:, start:end], cache)
            assert_array(logits, expected[:, start:end], name=f"logits of tokens {start} to {end - 1}")
            assert_equal(len(cache), depth, name="length of the cache")
            for array in (array for pair in cache for array in pair):
                assert_shape(array, (3, 2, end, 2), name="keys or values in the cache")

    def test_any_past(self, learner, rng):
        model, p = draw_model(learner, rng)
        ids = rng.integers(0, 7, size=(2, 2))
        past = [tuple(rng.normal(size=(2, 2, 3, 2)) for _ in range(2)) for _ in range(2)]

        def output(variant):
            x = p["token_embedding"][ids] + p["position_embedding"][3:]
            for number, pair in enumerate(past):
                x = oracles.decoder_block(x, oracles.below(p, f"blocks.{number}"), 2, variant, pair)[0]
            return oracles.layer_norm(x, p["norm.gamma"], p["norm.beta"], variant) @ p["token_embedding"].T

        with unchanged(ids, *(array for pair in past for array in pair)):
            logits, _ = model.forward_with_cache(ids, past)
        assert_output(logits, output, name="logits")

    @pytest.mark.purity
    def test_a_cache_is_continued_in_two_ways(self, learner, rng):
        model, _ = draw_model(learner, rng)
        _, cache = model.forward_with_cache(rng.integers(0, 7, size=(2, 2)))
        for number in (1, 2):
            model.forward_with_cache(rng.integers(0, 7, size=(2, number)), cache)
            for keys in (pair[0] for pair in cache):
                assert_shape(keys, (2, 2, 2, 2), name="keys in the cache that was passed in")

    @pytest.mark.refusals
    def test_what_does_not_fit_is_refused(self, learner, rng):
        model, _ = draw_model(learner, rng)
        for wrong in WRONG_IDS:
            with pytest.raises(ValueError):
                model.forward_with_cache(np.array(wrong))
        _, cache = model.forward_with_cache(np.array([[1, 2, 3]]))
        for wrong in ([[4, 5, 6]], [[4, 7]], [[4, -1]], [[]]):
            with pytest.raises(ValueError):
                model.forward_with_cache(np.array(wrong, dtype=int), cache)
        _, cache = model.forward_with_cache(np.array([[4]]), cache)  # one place is left
        with pytest.raises(ValueError):
            model.forward_with_cache(np.array([[5, 6]]), cache)

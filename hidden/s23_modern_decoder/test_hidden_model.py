"""Hidden tests of stage s23: the model, its parameters, forward and backward."""

import sys

import numpy as np
import pytest

from grader.testing import assert_array, assert_differ, assert_equal, assert_shape, unchanged
from hidden.s23_modern_decoder import oracles
from hidden.s23_modern_decoder.oracles import (
    WRONG_IDS,
    Sizes,
    assert_grads,
    assert_output,
    check_params,
    check_params_refusals,
    draw_model,
    gpt,
    model_shapes,
    new_model,
)
from stages.s18_decoder_and_generation.decoder import perplexity

pytestmark = pytest.mark.values

SEVERAL = [
    Sizes(),
    Sizes(depth=1, dim=12, num_heads=3, num_kv_heads=1, hidden=4, base=30.0),
    Sizes(depth=3, dim=4, num_heads=2, num_kv_heads=2, hidden=6, window=2),
]


@pytest.mark.criterion("model-params")
class TestParams:
    @pytest.mark.parametrize("sizes", SEVERAL, ids=str)
    def test_params_are_read_and_set(self, learner, rng, sizes):
        model = new_model(learner, rng, sizes)
        assert_equal(model.context_length, sys.maxsize, name="context_length")
        assert_equal(len(model.blocks), sizes.depth, name="number of blocks")
        check_params(model, model_shapes(sizes), rng)

    def test_blocks_get_theirs(self, learner, rng):
        model, p = draw_model(learner, rng, SEVERAL[2])
        for number in range(3):
            held = model.blocks[number].params
            for name, value in oracles.below(p, f"blocks.{number}").items():
                assert_array(held[name], value, name=f"blocks[{number}].params[{name!r}]")

    def test_new_models(self, learner, seed):
        sizes = Sizes(2, 24, 6, 2, 40, tokens=40)
        made = [new_model(learner, np.random.default_rng(seed), sizes) for _ in range(2)]
        first, again = (each.params for each in made)
        shapes = model_shapes(sizes)
        assert_equal(sorted(first), sorted(shapes), name="names of params")
        for name, shape in shapes.items():
            assert_shape(first[name], shape, name=name)
            assert_array(again[name], first[name], name=f"{name} of a second model from an equal generator")
        embedding = first["token_embedding"]
        assert_array(np.std(embedding), 24**-0.5, rtol=0.3, name="standard deviation of token_embedding")
        assert_array(first["norm.gamma"], np.ones(24), name="norm.gamma")
        one, other = (first[f"blocks.{number}.mlp.up_weights"] for number in range(2))
        assert_differ(one, other, shape=(24, 40), name="mlp.up_weights of the two blocks")
        one, other = (learner.ModernGPT(4, 1, 4, 2, 1, 3).params["token_embedding"] for _ in range(2))
        assert_differ(one, other, shape=(4, 4), name="token_embedding of two models without a generator")

    @pytest.mark.refusals
    def test_what_does_not_fit_is_refused(self, learner, rng):
        check_params_refusals(new_model(learner, rng, SEVERAL[0]), model_shapes(SEVERAL[0]), rng)
        for wrong in (
            (0, 2, 8, 4, 2, 5),
            (7, 0, 8, 4, 2, 5),
            (7, 2, 8, 3, 1, 5),
            (7, 2, 8, 4, 3, 5),
            (7, 2, 8, 4, 2, 0),
        ):
            with pytest.raises(ValueError):
                learner.ModernGPT(*wrong)


@pytest.mark.criterion("model-forward")
class TestForward:
    @pytest.mark.parametrize("sizes", SEVERAL, ids=str)
    def test_any_parameters(self, learner, rng, sizes):
        model, p = draw_model(learner, rng, sizes)
        for batch, seq in ((3, 4), (1, 9), (2, 1)):
            ids = rng.integers(0, 7, size=(batch, seq))
            logits = model.forward(ids)
            axes = "batch seq token"
            assert_output(logits, lambda outside, ids=ids: gpt(ids, p, sizes, outside), name="logits", axes=axes)

    def test_no_window_and_base_10000_by_default(self, learner, rng):
        sizes = Sizes(1, 8, 2, 1)
        model, p = learner.ModernGPT(7, 1, 8, 2, 1, 5, rng), oracles.draw(rng, model_shapes(sizes))
        model.params = p
        ids = rng.integers(0, 7, size=(1, 30))
        assert_output(model.forward(ids), lambda outside: gpt(ids, p, sizes, outside), name="logits")

    def test_parameters_that_are_set_later(self, learner, rng):
        model, ids = draw_model(learner, rng, SEVERAL[0])[0], rng.integers(0, 7, size=(2, 3))
        model.forward(ids)
        p = oracles.draw(rng, model_shapes(SEVERAL[0]))
        model.params = p
        assert_output(model.forward(ids), lambda outside: gpt(ids, p, SEVERAL[0], outside), name="logits")

    def test_perplexity_of_s18_takes_the_model(self, learner, rng):
        model, p = draw_model(learner, rng, SEVERAL[0])
        ids = rng.integers(0, 7, size=(2, 6))
        expected = np.exp(oracles.loss(gpt(ids[:, :-1], p, SEVERAL[0]), ids[:, 1:])[0])
        assert_array(perplexity(model, ids), float(expected), rtol=1e-4, name="s18's perplexity of the model")

    @pytest.mark.purity
    def test_ids_and_parameters_stay_as_they_are(self, learner, rng):
        model, p = draw_model(learner, rng, SEVERAL[0])
        ids = rng.integers(0, 7, size=(2, 3))
        with unchanged(ids, *p.values()):
            model.forward(ids)
        held = model.params
        for name, value in p.items():
            assert_array(held[name], value, name=f"params[{name!r}]")

    @pytest.mark.dtype
    @pytest.mark.parametrize("kind", ["int32", "uint8"])
    def test_float32_and_other_integers(self, learner, rng, kind):
        model, p = draw_model(learner, rng, SEVERAL[0])
        p = {name: value.astype("f4") for name, value in p.items()}
        model.params = p
        ids, exact = (
            rng.integers(0, 7, size=(2, 3)).astype(kind),
            {name: each.astype(float) for name, each in p.items()},
        )
        logits = model.forward(ids)
        assert_array(logits, gpt(ids, exact, SEVERAL[0]), dtype="float32", rtol=1e-3, name="logits")

    @pytest.mark.refusals
    @pytest.mark.parametrize("wrong", WRONG_IDS, ids=str)
    def test_wrong_ids_are_refused(self, learner, rng, wrong):
        with pytest.raises(ValueError):
            new_model(learner, rng, SEVERAL[0]).forward(np.array(wrong))

    @pytest.mark.refusals
    def test_a_sequence_without_tokens_is_refused(self, learner, rng):
        with pytest.raises(ValueError):
            new_model(learner, rng, SEVERAL[0]).forward(np.zeros((2, 0), dtype=int))


@pytest.mark.criterion("model-gradients")
class TestBackward:
    @pytest.mark.parametrize("sizes", SEVERAL, ids=str)
    def test_every_parameter(self, learner, rng, sizes):
        model, p = draw_model(learner, rng, sizes)
        for shape in ((1, 5), (2, 4)):
            ids = rng.integers(0, 7, size=shape)
            ids[:, -1] = ids[:, 0]  # a token that stands twice
            outside = oracles.closest(model.forward(ids), lambda outside, ids=ids: gpt(ids, p, sizes, outside))
            grad_logits = rng.normal(size=(*shape, 7))
            with unchanged(grad_logits):
                model.backward(grad_logits)
        some = [name for name in p if sizes.depth < 3 or not name.startswith("blocks.1")]
        expected = oracles.numerical_gradients(lambda p: gpt(ids, p, sizes, outside), grad_logits, p, some)
        assert_grads(model.grads, expected, list(p))

    @pytest.mark.dtype
    def test_float32(self, learner, rng):
        sizes = SEVERAL[1]
        model, p = draw_model(learner, rng, sizes)
        model.params = {name: value.astype("f4") for name, value in p.items()}
        ids, grad_logits = rng.integers(0, 7, size=(2, 3)), rng.normal(size=(2, 3, 7))
        model.forward(ids)
        model.backward(grad_logits.astype("f4"))
        names, grads = ["token_embedding", "norm.gamma"], model.grads
        assert_equal(sorted(grads), sorted(p), name="names of grads")
        expected = oracles.numerical_gradients(lambda p: gpt(ids, p, sizes), grad_logits, p, names)
        for name, value in expected.items():
            assert_array(grads[name], value, dtype="float32", rtol=1e-2, name=f"grads[{name!r}]")

    @pytest.mark.refusals
    def test_wrong_calls_are_refused(self, learner, rng):
        model = new_model(learner, rng, SEVERAL[0])
        oracles.too_early(lambda: model.backward(rng.normal(size=(2, 3, 7))))
        model.forward(rng.integers(0, 7, size=(2, 3)))
        for shape in ((3, 7), (1, 3, 7), (2, 4, 7), (2, 3, 1), (2, 3, 8)):
            with pytest.raises(ValueError):
                model.backward(rng.normal(size=shape))

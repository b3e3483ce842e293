"""Hidden tests of stage s23: the loss before training, and how parameters are drawn for it."""

import math

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_shape, plain_array
from hidden.s23_modern_decoder import oracles
from hidden.s23_modern_decoder.oracles import Sizes, model_shapes, new_model

pytestmark = pytest.mark.values

DEEP = Sizes(8, 32, 4, 2, 40, tokens=60)


@pytest.mark.criterion("initial-loss")
class TestInitialLoss:
    def test_any_vocabulary(self, learner, rng):
        for size in (1, 2, 26, 50257, np.int64(7), *rng.integers(2, 10000, size=3).tolist()):
            assert_array(learner.initial_loss(size), math.log(size))

    def test_it_is_the_loss_of_equal_scores(self, learner, rng):
        tokens = int(rng.integers(3, 30))
        targets, logits = rng.integers(0, tokens, size=5), np.full((5, tokens), rng.normal())
        assert_array(learner.initial_loss(tokens), float(oracles.loss(logits, targets)[0]))

    @pytest.mark.refusals
    def test_sizes_that_are_none(self, learner):
        for size in (0, -3, 2.5):
            with pytest.raises(ValueError):
                learner.initial_loss(size)


def drawn(learner, rng, sizes):
    """Return a new model, its parameters drawn anew by scaled_initialisation, and these."""
    model = new_model(learner, np.random.default_rng(0), sizes)
    model.params = {name: np.full(shape, 7.0) for name, shape in model_shapes(sizes).items()}
    learner.scaled_initialisation(model, sizes.depth, rng)
    return model, model.params


@pytest.mark.criterion("scaled-initialisation")
class TestScaledInitialisation:
    @pytest.mark.parametrize("depth", [1, 2, 6])
    def test_standard_deviations(self, learner, rng, depth):
        sizes = Sizes(depth, 32, 4, 2, 72, tokens=60)
        _, p = drawn(learner, rng, sizes)
        shapes = model_shapes(sizes)
        assert_equal(sorted(p), sorted(shapes), name="names of params")
        for name, shape in shapes.items():
            value = p[name]
            assert_shape(value, shape, name=name)
            if len(shape) == 1:
                assert_array(value, np.full(shape, 32**-0.5 if name == "norm.gamma" else 1.0), name=name)
                continue
            variance = 1 / 32 if name == "token_embedding" else 1 / shape[0]
            if name.endswith(("output_weights", "down_weights")):
                variance /= 2 * depth
            values = np.asarray(plain_array(value))
            assert_array(values.std(), variance**0.5, rtol=0.15, name=f"standard deviation of {name}")
            assert_array(values.mean(), 0.0, atol=5 * (variance / values.size) ** 0.5, name=f"mean of {name}")

    def test_the_first_loss_is_near_that_of_a_guess(self, learner, rng):
        model, _ = drawn(learner, rng, DEEP)
        ids = rng.integers(0, 60, size=(4, 30))
        found = oracles.loss(plain_array(model.forward(ids[:, :-1])), ids[:, 1:])[0]
        assert_array(float(found), math.log(60), atol=0.15, name="loss of a new model")

    def test_depth_does_not_make_the_stream_grow(self, learner, rng):
        """The squares of what 8 blocks add to the stream have a mean near that of 1 block."""
        found = []
        for depth in (1, 8):
            sizes = DEEP._replace(depth=depth)
            _, p = drawn(learner, rng, sizes)
            x = rng.normal(size=(4, 12, 32)) * 32**-0.5
            for number in range(depth):
                held = {
                    name: np.asarray(plain_array(each)) for name, each in oracles.below(p, f"blocks.{number}").items()
                }
                x = oracles.block(x, held, sizes)
            found.append(float(np.mean(x**2)))
        assert_equal(
            found[1] < 2 * found[0], True, name="whether 8 blocks leave the stream less than twice as large as 1"
        )

    def test_equal_generators_and_blocks_of_their_own(self, learner, seed):
        sizes = Sizes(2, 8, 2, 1, 5)
        first, again = (drawn(learner, np.random.default_rng(seed), sizes)[1] for _ in range(2))
        for name, shape in model_shapes(sizes).items():
            assert_shape(first[name], shape, name=name)
            assert_array(again[name], first[name], name=f"{name} by an equal generator")
        one, other = (np.asarray(plain_array(first[f"blocks.{i}.mlp.up_weights"])) for i in range(2))
        assert_equal(bool(np.any(one != other)), True, name="whether mlp.up_weights of the two blocks differ")

    @pytest.mark.refusals
    def test_another_depth_than_the_models(self, learner, rng):
        model = new_model(learner, rng, Sizes())
        for depth in (1, 3):
            with pytest.raises(ValueError):
                learner.scaled_initialisation(model, depth, rng)

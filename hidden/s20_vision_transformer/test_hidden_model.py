"""Hidden tests of stage s20: the vision Transformer, forward and backward."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_differ, assert_equal, assert_gradient, assert_shape, unchanged
from hidden.s20_vision_transformer import oracles
from hidden.s20_vision_transformer.oracles import Sizes, assert_output

pytestmark = pytest.mark.values
MODELS = [
    Sizes((2, 4, 6), 2, 3, 4, 2, 2, 1.5),
    Sizes((1, 6, 3), 3, 2, 6, 1, 3, 0.5),
    Sizes((3, 2, 2), 2, 4, 3, 3, 1, 2.0),
]
SMALL = MODELS[0]
REFUSED = [
    (2, 4, 6),
    (1, 1, 2, 4, 6),
    (1, 1, 4, 6),
    (1, 2, 6, 4),
    (1, 2, 4, 8),
    (1, 2, 8, 6),
    (1, 2, 2, 6),
    (1, 2, 2, 12),
]


def new_model(learner, rng, sizes):
    """Return a learner's model with parameters that are drawn, and these."""
    p = oracles.draw(rng, sizes)
    vit = learner.ViT(*sizes, rng=np.random.default_rng(0))
    vit.load(p)
    return vit, p


@pytest.mark.criterion("vit-parameters")
class TestParameters:
    @pytest.mark.parametrize("sizes", MODELS, ids=["three blocks", "one block", "one patch"])
    def test_new_parameters(self, learner, seed, sizes):
        first, again = (learner.ViT(*sizes, rng=np.random.default_rng(seed)).params for _ in range(2))
        expected = oracles.shapes(sizes)
        oracles.assert_keys(first, expected, "params")
        for name, shape in expected.items():
            assert_shape(first[name], shape, name=f"params[{name!r}]")
            assert_array(again[name], first[name], name=f"{name} of a second model from an equal generator")
            if name.endswith(("bias", "beta")):
                assert_array(first[name], np.zeros(shape), name=f"params[{name!r}]")
            if name.endswith("gamma"):
                assert_array(first[name], np.ones(shape), name=f"params[{name!r}]")

    def test_sizes_of_new_parameters(self, learner, seed):
        vit = learner.ViT((1, 20, 20), 2, 50, 60, 1, 3, rng=np.random.default_rng(seed))
        params = vit.params
        deviations = {"class_token": 0.02, "positions": 0.02, "head_weights": 60**-0.5, "embedding.weights": 4**-0.5}
        for name, deviation in deviations.items():
            few = params[name].size < 1000
            assert_array(
                np.std(params[name]), deviation, rtol=0.5 if few else 0.15, name=f"standard deviation of {name}"
            )
        assert_shape(params["encoder.blocks.0.mlp.W1"], (60, 240), name="W1 of a model without a mlp_ratio")
        sizes = Sizes((1, 2, 2), 2, 2, 4, 1, 2, 4.0)
        one, other = (learner.ViT(*sizes[:6]).params for _ in range(2))
        shapes = oracles.shapes(sizes)
        for name in ("class_token", "positions", "head_weights", "embedding.weights", "encoder.blocks.0.mlp.W1"):
            assert_differ(one[name], other[name], shape=shapes[name], name=f"{name} of two new models")

    @pytest.mark.parametrize("sizes", MODELS, ids=["three blocks", "one block", "one patch"])
    def test_load_reaches_every_part(self, learner, rng, sizes):
        vit = learner.ViT(*sizes, rng=np.random.default_rng(0))
        for _ in range(2):
            p = oracles.draw(rng, sizes)
            vit.load(p)
            params = vit.params
            oracles.assert_keys(params, p, "params")
            for name, value in p.items():
                assert_array(params[name], value, name=f"params[{name!r}]")
            for name in ("weights", "bias"):
                assert_array(vit.embedding.params[name], p[f"embedding.{name}"], name=f"embedding.params[{name!r}]")
            last = f"blocks.{sizes.depth - 1}.attention.qkv_bias"
            assert_array(vit.encoder.params[last], p[f"encoder.{last}"], name=f"encoder.params[{last!r}]")

    def test_parts_may_be_set_alone(self, learner, rng):
        vit, p = new_model(learner, rng, SMALL)
        bias = rng.normal(size=4)
        vit.embedding.params = {"weights": p["embedding.weights"], "bias": bias}
        assert_array(vit.params["embedding.bias"], bias, name="params['embedding.bias']")

    @pytest.mark.purity
    def test_params_loaded_stay_as_they_are(self, learner, rng):
        p, vit = oracles.draw(rng, SMALL), learner.ViT(*SMALL, rng=np.random.default_rng(0))
        with unchanged(*p.values()):
            vit.load(p)
        oracles.assert_keys(p, oracles.shapes(SMALL), "the dict that was loaded")

    @pytest.mark.refusals
    def test_other_parameters_are_refused_and_none_is_replaced(self, learner, rng):
        vit, p = new_model(learner, rng, SMALL)
        other = oracles.draw(rng, SMALL)
        wrong = [{name: value for name, value in other.items() if name != missing} for missing in
                 ("head_bias", "encoder.norm.beta", "embedding.weights", "encoder.blocks.1.mlp.W2")]  # fmt: skip
        wrong.append({**other, "head.bias": other["head_bias"]})
        wrong.append({**other, "encoder.blocks.2.mlp.b2": other["encoder.blocks.1.mlp.b2"]})
        shapes = [("class_token", (1, 4)), ("positions", (6, 4)), ("head_weights", (3, 4)), ("embedding.bias", (1,)),
                  ("encoder.blocks.0.mlp.W1", (6, 4)), ("encoder.norm.gamma", (3,))]  # fmt: skip
        wrong.extend({**other, name: rng.normal(size=shape)} for name, shape in shapes)
        for params in wrong:
            with pytest.raises(ValueError):
                vit.load(params)
        now = vit.params
        for name, value in p.items():
            assert_array(now[name], value, name=f"params[{name!r}] after params that were refused")

    @pytest.mark.refusals
    def test_sizes_that_do_not_fit_are_refused(self, learner):
        for image_shape, patch_size, depth, num_heads in (
            ((1, 4, 6), 4, 1, 2),
            ((1, 6, 4), 4, 1, 2),
            ((1, 4, 4), 0, 1, 2),
            ((1, 4, 4), 8, 1, 2),
            ((1, 4, 4), 2, 1, 3),
            ((1, 4, 4), 2, 0, 2),
        ):
            with pytest.raises(ValueError):
                learner.ViT(image_shape, patch_size, 3, 4, depth, num_heads)


@pytest.mark.criterion("vit-forward")
class TestForward:
    @pytest.mark.parametrize("sizes", MODELS, ids=["three blocks", "one block", "one patch"])
    def test_any_parameters(self, learner, rng, sizes):
        vit, p = new_model(learner, rng, sizes)
        for batch in (2, 1):
            images = rng.normal(size=(batch, *sizes.image_shape))
            logits = vit.forward(images)
            variant = assert_output(logits, lambda variant, x=images: oracles.model(x, p, sizes, variant)[0])
            _, weights = oracles.model(images, p, sizes, variant)
            assert_array(vit.attention_weights, weights, name="attention_weights")

    def test_params_are_read_at_each_call(self, learner, rng):
        vit, p = new_model(learner, rng, SMALL)
        images = rng.normal(size=(2, *SMALL.image_shape))
        vit.forward(images)
        for name in ("class_token", "positions", "head_weights", "head_bias", "embedding.weights"):
            p = {**p, name: rng.normal(size=p[name].shape)}
            vit.load(p)
            logits = vit.forward(images)
            assert_output(
                logits, lambda variant, p=p: oracles.model(images, p, SMALL, variant)[0], name=f"result with new {name}"
            )

    @pytest.mark.dtype
    def test_single_precision_stays(self, learner, rng):
        p = oracles.draw(rng, SMALL)
        images = rng.normal(size=(2, *SMALL.image_shape)).astype(np.float32)
        vit = learner.ViT(*SMALL, rng=np.random.default_rng(0))
        vit.load({name: value.astype(np.float32) for name, value in p.items()})
        logits = vit.forward(images)
        expected, _ = oracles.model(images, p, SMALL)
        assert_array(logits, expected.astype(np.float32), rtol=1e-2, dtype=np.float32)  # of any form of GELU

    @pytest.mark.purity
    def test_images_stay_as_they_are(self, learner, rng):
        vit, _ = new_model(learner, rng, SMALL)
        images = rng.normal(size=(2, *SMALL.image_shape))
        with unchanged(images):
            first = vit.forward(images)
        assert_array(vit.forward(images), first, name="logits of the same images again")

    @pytest.mark.refusals
    def test_other_images_are_refused(self, learner, rng):
        vit, _ = new_model(learner, rng, SMALL)
        for shape in REFUSED:
            with pytest.raises(ValueError):
                vit.forward(rng.normal(size=shape))


@pytest.mark.criterion("vit-gradients")
class TestBackward:
    @pytest.mark.parametrize("sizes", MODELS, ids=["three blocks", "one block", "one patch"])
    def test_last_forward_and_last_backward_count(self, learner, rng, sizes):
        vit, p = new_model(learner, rng, sizes)
        for batch in (1, 2):
            images = rng.normal(size=(batch, *sizes.image_shape))
            grad_output = rng.normal(size=(batch, sizes.num_classes))
            logits = vit.forward(images)
            variant = assert_output(logits, lambda variant, x=images: oracles.model(x, p, sizes, variant)[0])
            grad_images = vit.backward(grad_output)

        def output(x, p):
            return oracles.model(x, p, sizes, variant)[0]

        of_images, of_p = oracles.numerical_gradients(output, grad_output, images, p)
        assert_gradient(grad_images, of_images, name="grad_images")
        oracles.assert_gradients(vit.grads, of_p)

    @pytest.mark.purity
    def test_gradients_are_replaced_and_arguments_kept(self, learner, rng):
        vit, _ = new_model(learner, rng, SMALL)
        assert_equal(vit.grads, {}, name="grads before backward")
        vit.forward(rng.normal(size=(2, *SMALL.image_shape)))
        grad_output = rng.normal(size=(2, 3))
        with unchanged(grad_output):
            vit.backward(rng.normal(size=(2, 3)))
            vit.backward(grad_output)
        assert_gradient(vit.grads["head_bias"], grad_output.sum(axis=0), name="grads['head_bias']")

    @pytest.mark.refusals
    def test_wrong_backward_calls_are_refused(self, learner, rng):
        vit, _ = new_model(learner, rng, SMALL)
        with pytest.raises(RuntimeError) as caught:
            vit.backward(rng.normal(size=(2, 3)))
        if isinstance(caught.value, NotImplementedError):  # a RuntimeError too, but the stub's
            raise caught.value
        vit.forward(rng.normal(size=(2, *SMALL.image_shape)))
        for shape in ((2,), (3,), (1, 3), (3, 3), (3, 2), (2, 4), (2, 1), (1, 2, 3)):
            with pytest.raises(ValueError):
                vit.backward(rng.normal(size=shape))

"""Hidden tests of stage s19: the whole Transformer, forward and backward."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_shape, unchanged
from hidden.s19_encoder_decoder import checks, oracles
from hidden.s19_encoder_decoder.checks import assert_output

pytestmark = pytest.mark.values

SIZES, MAX_LENGTH, DIM, HIDDEN = (7, 5), 6, 4, 6


def draw_params(rng, depth):
    """Return parameters of a model."""
    return oracles.draw(rng, oracles.model_shapes(SIZES, MAX_LENGTH, depth, DIM, HIDDEN))


def new_model(learner, p, depth, num_heads=2):
    """Return a learner's model with these parameters."""
    model = learner.Transformer(*SIZES, MAX_LENGTH, depth, DIM, num_heads, mlp_ratio=HIDDEN / DIM)
    model.set_params(p)
    return model


def draw_ids(rng, batch, source, target):
    """Return ids of both sides and a padding mask of the source."""
    ids = (rng.integers(0, size, size=(batch, length)) for size, length in zip(SIZES, (source, target), strict=True))
    return (*ids, oracles.draw_mask(rng, batch, source))


def check_forward(model, p, source, target, mask=None, num_heads=2):
    """Compare logits with the oracle's; return the convention that they keep to."""
    result = model.forward(source, target) if mask is None else model.forward(source, target, mask)
    return assert_output(result, lambda variant: oracles.transformer(source, target, p, num_heads, mask, variant))


@pytest.mark.criterion("transformer")
class TestForward:
    def test_any_shapes(self, learner, rng):
        for depth, heads in ((1, 2), (2, 1), (3, 4)):
            p = draw_params(rng, depth)
            model = new_model(learner, p, depth, heads)
            source, target, mask = draw_ids(rng, *oracles.draw_sizes(rng, 3))
            check_forward(model, p, source, target, mask, heads)
            check_forward(model, p, source, target, mask.astype(int), heads)
            check_forward(model, p, source, target, None, heads)

    @pytest.mark.edges
    def test_the_longest_and_the_shortest(self, learner, rng):
        p = draw_params(rng, 1)
        model = new_model(learner, p, 1)
        for source, target in ((MAX_LENGTH, MAX_LENGTH), (1, MAX_LENGTH), (MAX_LENGTH, 1), (1, 1)):
            check_forward(model, p, *(rng.integers(0, 5, size=(2, length)) for length in (source, target)))

    def test_encode_and_decode_are_forward(self, learner, rng):
        p = draw_params(rng, 2)
        model, (source, target, mask) = new_model(learner, p, 2), draw_ids(rng, 2, 4, 3)
        memory = model.encode(source, mask)
        variant = assert_output(memory, lambda each: oracles.encode(source, p, 2, mask, each), name="memory")
        for length in (1, 2, 3):
            expected = oracles.transformer(source, target[:, :length], p, 2, mask, variant)
            assert_array(model.decode(target[:, :length], memory, mask), expected, name="logits of decode")
        plain = oracles.transformer(source, target, p, 2, None, variant)
        assert_array(model.decode(target, model.encode(source)), plain, name="logits of decode without a mask")

    def test_its_decoder_blocks_are_layers_of_their_own(self, learner, rng):
        p, mask = draw_params(rng, 2), oracles.draw_mask(rng, 2, 4)
        x, memory = rng.normal(size=(2, 3, DIM)), rng.normal(size=(2, 4, DIM))
        for number, block in enumerate(new_model(learner, p, 2).decoder_blocks):
            own, result = oracles.below(p, f"decoder.{number}"), block.forward(x, memory, mask)
            assert_output(result, lambda each, own=own: oracles.decoder_block(x, memory, own, 2, mask, each))
            expected = oracles.cross_attention(x, memory, oracles.below(own, "cross_attention"), 2, mask)[0]
            assert_array(block.cross_attention.forward(x, memory, mask), expected, name="output of cross_attention")

    def test_decode_takes_any_memory(self, learner, rng):
        model, p = new_model(learner, draw_params(rng, 1), 1), rng.normal(size=(2, 4, DIM))
        target = rng.integers(0, SIZES[1], size=(2, 3))
        first = model.decode(target, p)
        model.encode(rng.integers(0, SIZES[0], size=(2, 4)))
        assert_array(model.decode(target, p), first, name="logits of the same memory after another encode")

    def test_new_parameters(self, learner, seed):
        first, again = (learner.Transformer(40, 30, 50, 2, 24, 3, rng=np.random.default_rng(seed)) for _ in range(2))
        first, again = first.params, again.params
        shapes = oracles.model_shapes((40, 30), 50, 2, 24, 96)
        assert_equal(sorted(first), sorted(shapes), name="names of params")
        for name, shape in shapes.items():
            assert_shape(first[name], shape, name=name)
            assert_array(again[name], first[name], name=f"{name} of a second model from an equal generator")
        for name in oracles.TABLES:
            assert_array(np.std(first[name]), 1.0, rtol=0.15, atol=0, name=f"standard deviation of {name}")
        assert_array(np.std(first["readout_weights"]), 24**-0.5, rtol=0.2, atol=0, name="that of readout_weights")
        assert_array(first["readout_bias"], np.zeros(30), name="readout_bias")
        blocks = [f"{side}.mlp.W1" for side in ("encoder.blocks.0", "encoder.blocks.1", "decoder.0", "decoder.1")]
        assert_equal(
            len({float(first[name][0, 0]) for name in blocks}), 4, name="number of different W1 in four blocks"
        )

    def test_some_parameters_are_set(self, learner, rng):
        p, other = draw_params(rng, 2), draw_params(rng, 2)
        model, ids = new_model(learner, p, 2), draw_ids(rng, 2, 4, 3)
        chosen = ("decoder.1.mlp.b2", "encoder.blocks.0.attention.output_bias", "target_positions", "decoder_norm.beta")
        for name in chosen:
            p = {**p, name: other[name]}
            model.set_params({name: other[name]})
            check_forward(model, p, *ids)
            assert_array(model.params[name], p[name], name=f"params[{name!r}]")

    @pytest.mark.purity
    def test_inputs_stay_as_they_are(self, learner, rng):
        model, (source, target, mask) = new_model(learner, draw_params(rng, 1), 1), draw_ids(rng, 2, 4, 3)
        grad = rng.normal(size=(2, 3, SIZES[1]))
        with unchanged(source, target, mask, grad):
            model.forward(source, target, mask)
            model.backward(grad)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        p, (source, target, mask) = draw_params(rng, 1), draw_ids(rng, 2, 4, 3)
        model = new_model(learner, {name: value.astype(np.float32) for name, value in p.items()}, 1)
        variant = check_forward(new_model(learner, p, 1), p, source, target, mask)
        expected = oracles.transformer(source, target, p, 2, mask, variant)
        assert_array(model.forward(source, target, mask), expected, dtype="float32", rtol=1e-3)

    @pytest.mark.refusals
    def test_ids_outside_of_the_vocabulary_are_refused(self, learner, rng):
        model, (source, target, _) = learner.Transformer(*SIZES, MAX_LENGTH, 1, DIM, 2), draw_ids(rng, 2, 4, 3)
        for wrong in (-1, 7):
            with pytest.raises(ValueError):
                model.forward(np.where(np.arange(4) == 2, wrong, source), target)
        for wrong in (-1, 5):
            with pytest.raises(ValueError):
                model.forward(source, np.where(np.arange(3) == 2, wrong, target))

    @pytest.mark.refusals
    def test_ids_that_are_no_integers_are_refused(self, learner, rng):
        model, (source, target, _) = learner.Transformer(*SIZES, MAX_LENGTH, 1, DIM, 2), draw_ids(rng, 2, 4, 3)
        for given in ((source.astype(float), target), (source, target.astype(np.float32)), (source, target + 0.5)):
            with pytest.raises(ValueError):
                model.forward(*given)

    @pytest.mark.refusals
    def test_what_does_not_fit_is_refused(self, learner, rng):
        model = learner.Transformer(*SIZES, MAX_LENGTH, 1, DIM, 2)
        for source, target in (((3,), (1, 3)), ((1, 3), (3,)), ((1, 7), (1, 3)), ((1, 3), (1, 7)), ((2, 3), (1, 3))):
            with pytest.raises(ValueError):
                model.forward(rng.integers(0, 5, size=source), rng.integers(0, 5, size=target))
        source = rng.integers(0, 5, size=(2, 4))
        for shape in ((2, 3), (1, 3), (4, 4)):
            with pytest.raises(ValueError):
                model.encode(source, np.ones(shape, dtype=bool))
        for sizes in ((0, 5, 6, 1), (7, 0, 6, 1), (7, 5, 0, 1), (7, 5, 6, 0)):
            with pytest.raises(ValueError):
                learner.Transformer(*sizes, DIM, 2)
        with pytest.raises(ValueError):
            model.set_params({"decoder_norm.gamma": np.ones(DIM + 1)})
        with pytest.raises(ValueError):
            model.set_params({"decoder_norm.delta": np.ones(DIM)})


def check_backward(model, p, source, target, grad_logits, mask=None, num_heads=2, names=None):
    """Compare the gradients after forward and backward with numerical ones, all or those of these names."""
    variant = check_forward(model, p, source, target, mask, num_heads)
    model.backward(grad_logits)

    def output(arrays):
        return oracles.transformer(source, target, arrays, num_heads, mask, variant)

    grads = model.grads
    assert_equal(sorted(grads), sorted(p), name="names of grads")
    expected = checks.numerical_gradients(output, grad_logits, p, names=names)
    checks.assert_gradients({name: grads[name] for name in expected}, expected)


@pytest.mark.criterion("transformer-gradients")
class TestBackward:
    def test_every_parameter(self, learner, rng):
        p = draw_params(rng, 2)
        model = new_model(learner, p, 2)
        assert_equal(model.grads, {}, name="grads before backward")
        source, target, mask = draw_ids(rng, 2, 3, 3)
        check_backward(model, p, source, target, rng.normal(size=(2, 3, SIZES[1])), mask)

    def test_last_forward_and_last_backward_count(self, learner, rng):
        p = draw_params(rng, 1)
        model = new_model(learner, p, 1)
        model.forward(*draw_ids(rng, 2, 4, 2))
        model.backward(rng.normal(size=(2, 2, SIZES[1])))
        check_backward(model, p, *draw_ids(rng, 2, 2, 3)[:2], rng.normal(size=(2, 3, SIZES[1])))

    def test_repeated_ids_add_up(self, learner, rng):
        p = draw_params(rng, 1)
        source, target = np.full((2, 3), rng.integers(SIZES[0])), np.full((2, 4), rng.integers(SIZES[1]))
        model, grad_logits = new_model(learner, p, 1), rng.normal(size=(2, 4, SIZES[1]))
        check_backward(model, p, source, target, grad_logits, names=oracles.TABLES)

    @pytest.mark.purity
    def test_twice_backward_is_as_good_as_once(self, learner, rng):
        model, (source, target, mask) = new_model(learner, draw_params(rng, 2), 2), draw_ids(rng, 2, 4, 3)
        model.forward(source, target, mask)
        grad_logits = rng.normal(size=(2, 3, SIZES[1]))
        with unchanged(grad_logits):
            model.backward(grad_logits)
        grads = model.grads
        assert_equal(sorted(grads), sorted(model.params), name="names of grads")
        model.backward(grad_logits)
        checks.assert_gradients(model.grads, grads)

    @pytest.mark.refusals
    def test_grad_logits_of_another_shape_are_refused(self, learner, rng):
        model, (source, target, _) = learner.Transformer(*SIZES, MAX_LENGTH, 1, DIM, 2), draw_ids(rng, 2, 4, 3)
        model.forward(source, target)
        for shape in ((3, 5), (2, 3, 4), (2, 4, 5), (1, 3, 5), (2, 3, 1), (2, 3)):
            with pytest.raises(ValueError):
                model.backward(rng.normal(size=shape))

"""Hidden tests of stage s16: what forward leaves to be read, step by step, and the masks."""

import warnings

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_shape, unchanged
from hidden.s16_attention_layer import oracles
from hidden.s16_attention_layer.oracles import after_forward, allowed_places, build, draw_case, own_scale, steps

pytestmark = pytest.mark.values

SIZES = ({}, {"batch": 1}, {"heads": 1}, {"heads": 5, "head_dimension": 1}, {"lengths": (1, 1)})


def check_step(learner, rng, name):
    """Compare one attribute with the oracle's, for layers of several sizes."""
    for sizes in SIZES:
        case = draw_case(rng, **sizes)
        assert_array(getattr(after_forward(learner, case), name), steps(case)[name], name=name)


def check_last(learner, rng, name):
    """See that an attribute is that of the latest forward call."""
    layer = build(learner, draw_case(rng, heads=2, head_dimension=3))
    for batch, seq in ((3, 4), (2, 5)):
        case = draw_case(rng, heads=2, head_dimension=3, batch=batch, lengths=(seq, seq))
        for weights in oracles.WEIGHTS:
            setattr(layer, weights, case.arrays[weights])
        layer.forward(*case.inputs)
    assert_array(getattr(layer, name), steps(case)[name], name=f"{name} after a second forward")


def check_scaled_step(learner, rng, name):
    """Compare queries or keys with the oracle's, up to the part of the scale that they may carry."""
    for sizes in SIZES:
        case = draw_case(rng, **sizes)
        actual, expected = getattr(after_forward(learner, case), name), steps(case)[name]
        assert_array(actual, own_scale(case, actual, expected, name) * expected, name=name)


@pytest.mark.criterion("queries-multihead")
def test_queries(learner, rng):
    check_scaled_step(learner, rng, "queries_multihead")


@pytest.mark.criterion("keys-multihead")
def test_keys(learner, rng):
    check_scaled_step(learner, rng, "keys_multihead")


@pytest.mark.criterion("values-multihead")
def test_values(learner, rng):
    check_step(learner, rng, "values_multihead")


@pytest.mark.criterion("values-multihead")
def test_values_of_the_last_forward(learner, rng):
    check_last(learner, rng, "values_multihead")


@pytest.mark.criterion("attention-scores")
def test_scores_are_the_product_of_queries_and_keys(learner, rng):
    for sizes in SIZES:
        case = draw_case(rng, **sizes)
        layer = after_forward(learner, case)
        queries, keys = np.asarray(layer.queries_multihead), np.asarray(layer.keys_multihead)
        shape = steps(case)["queries_multihead"].shape
        assert_shape(queries, shape, name="queries_multihead")
        assert_shape(keys, shape, name="keys_multihead")
        expected = np.einsum("bhid,bhjd->bhij", queries, keys)
        assert_array(layer.attention_scores, expected, name="attention_scores")


@pytest.mark.criterion("attention-scores")
def test_scores_carry_the_scale_once_at_most(learner, rng):
    for sizes in SIZES:
        case = draw_case(rng, **sizes)
        actual, expected = after_forward(learner, case).attention_scores, steps(case)["attention_scores"]
        scaled = expected / np.sqrt(case.head_dimension)
        assert_array(actual, oracles.closer(actual, expected, scaled), name="attention_scores")


@pytest.mark.criterion("attention-scores")
def test_scores_where_every_axis_has_the_same_size(learner, rng):
    case = draw_case(rng, heads=3, head_dimension=3, batch=3, lengths=(3, 3))
    actual, expected = after_forward(learner, case).attention_scores, steps(case)["attention_scores"]
    scaled = expected / np.sqrt(case.head_dimension)
    assert_array(actual, oracles.closer(actual, expected, scaled), name="attention_scores")


@pytest.mark.criterion("scaled-scores")
def test_scaled_scores(learner, rng):
    check_step(learner, rng, "scaled_scores")


@pytest.mark.criterion("scaled-scores")
def test_scaled_scores_next_to_the_scores(learner, rng):
    case = draw_case(rng)
    layer = after_forward(learner, case)
    scores, scaled, expected = layer.attention_scores, layer.scaled_scores, steps(case)
    assert_array(scaled, expected["scaled_scores"], name="scaled_scores")
    right = oracles.closer(scores, expected["attention_scores"], expected["scaled_scores"])
    assert_array(scores, right, name="attention_scores")


@pytest.mark.criterion("scaled-scores")
def test_scaled_scores_carry_no_mask(learner, rng):
    case = draw_case(rng, causal=True, padded=True)
    assert_array(after_forward(learner, case).scaled_scores, steps(case)["scaled_scores"], name="scaled_scores")


@pytest.mark.criterion("scaled-scores")
def test_scaled_scores_of_the_last_forward(learner, rng):
    check_last(learner, rng, "scaled_scores")


@pytest.mark.criterion("masked-scores")
@pytest.mark.parametrize(
    "masks", [{"causal": True}, {"padded": True}, {"causal": True, "padded": True, "empty": True}], ids=len
)
def test_forbidden_places_are_marked(learner, rng, masks):
    for sizes in SIZES[:3]:
        case = draw_case(rng, **sizes, **masks)
        masked = after_forward(learner, case).masked_scores
        expected = steps(case)["scaled_scores"]
        assert_shape(masked, expected.shape, name="masked_scores", axes="batch heads seq_q seq_k")
        allowed = np.broadcast_to(allowed_places(case)[:, None], expected.shape)
        assert_array(masked <= -1e8, ~allowed, name="masked_scores <= -1e8")
        assert_array(masked[allowed], expected[allowed], name="allowed places of masked_scores")


@pytest.mark.criterion("masked-scores")
def test_allowed_places_hold_the_scaled_scores(learner, rng):
    case = draw_case(rng, causal=True)
    layer = after_forward(learner, case)
    scaled, masked = layer.scaled_scores, layer.masked_scores
    allowed = np.broadcast_to(allowed_places(case)[:, None], steps(case)["scaled_scores"].shape)
    assert_shape(scaled, allowed.shape, name="scaled_scores")
    assert_shape(masked, allowed.shape, name="masked_scores")
    assert_array(masked[allowed], scaled[allowed], name="allowed places of masked_scores")


@pytest.mark.criterion("masked-scores")
def test_without_a_mask_nothing_is_marked(learner, rng):
    check_step(learner, rng, "masked_scores")


@pytest.mark.criterion("masked-scores")
def test_a_mask_is_gone_with_the_next_forward(learner, rng):
    case, masked = draw_case(rng), draw_case(rng, causal=True, padded=True)
    layer = after_forward(learner, masked)
    case = oracles.Case(masked.heads, masked.arrays)
    layer.forward(*case.inputs)
    assert_array(layer.masked_scores, steps(case)["scaled_scores"], name="masked_scores after a forward without masks")


@pytest.mark.criterion("attention-weights")
def test_weights(learner, rng):
    check_step(learner, rng, "attention_weights")


@pytest.mark.criterion("attention-weights")
def test_weights_of_the_last_forward(learner, rng):
    check_last(learner, rng, "attention_weights")


@pytest.mark.criterion("attention-weights")
@pytest.mark.parametrize("empty", [False, pytest.param(True, marks=pytest.mark.edges)], ids=["", "empty"])
def test_weights_behind_masks(learner, rng, empty):
    for sizes in SIZES[:3]:
        case = draw_case(rng, causal=True, padded=True, empty=empty, **sizes)
        actual = after_forward(learner, case).attention_weights
        assert_array(actual, steps(case)["attention_weights"], name="attention_weights")


@pytest.mark.criterion("attention-output")
def test_attention_output(learner, rng):
    check_step(learner, rng, "attention_output")


@pytest.mark.criterion("attention-output")
def test_attention_output_is_the_product_of_weights_and_values(learner, rng):
    case = draw_case(rng)
    layer = after_forward(learner, case)
    weights, values = layer.attention_weights, layer.values_multihead
    assert_shape(weights, steps(case)["attention_weights"].shape, name="attention_weights")
    assert_shape(values, steps(case)["values_multihead"].shape, name="values_multihead")
    assert_array(layer.attention_output, np.einsum("bhij,bhjd->bhid", weights, values), name="attention_output")


@pytest.mark.criterion("attention-output")
def test_attention_output_of_the_last_forward(learner, rng):
    check_last(learner, rng, "attention_output")


@pytest.mark.criterion("concatenated-heads")
def test_concatenated_heads(learner, rng):
    check_step(learner, rng, "concatenated_heads")


@pytest.mark.criterion("concatenated-heads")
def test_concatenated_heads_split_again_are_the_attention_output(learner, rng):
    case = draw_case(rng)
    layer = after_forward(learner, case)
    joined, expected = layer.concatenated_heads, steps(case)
    assert_shape(joined, expected["concatenated_heads"].shape, name="concatenated_heads")
    assert_array(layer.split_heads(np.asarray(joined)), expected["attention_output"], name="concatenated_heads, split")


@pytest.mark.criterion("concatenated-heads")
def test_concatenated_heads_of_the_last_forward(learner, rng):
    check_last(learner, rng, "concatenated_heads")


def check_output(learner, case):
    """Compare forward's output with the oracle's, and see that the inputs stay as they are."""
    layer = build(learner, case)
    arrays = case.inputs if case.padding_mask is None else [*case.inputs, case.padding_mask]
    with unchanged(*arrays):
        output = layer.forward(*case.inputs, **case.options)
    assert_array(output, steps(case)["output"], axes="batch seq_q embedding")


@pytest.mark.criterion("causal-mask")
class TestCausalMask:
    def test_any_sizes(self, learner, rng):
        for sizes in SIZES:
            check_output(learner, draw_case(rng, causal=True, **sizes))

    @pytest.mark.parametrize("lengths", [(3, 5), (5, 3), (1, 4), (4, 1)], ids=str)
    def test_queries_and_keys_of_different_number(self, learner, rng, lengths):
        check_output(learner, draw_case(rng, given=3, causal=True, lengths=lengths))

    @pytest.mark.parametrize("empty", [False, pytest.param(True, marks=pytest.mark.edges)], ids=["", "empty"])
    def test_together_with_a_padding_mask(self, learner, rng, empty):
        check_output(learner, draw_case(rng, causal=True, padded=True, empty=empty))

    def test_only_if_asked_for(self, learner, rng):
        case = draw_case(rng)
        output = build(learner, case).forward(*case.inputs, causal=False)
        assert_array(output, steps(case)["output"], axes="batch seq_q embedding")


@pytest.mark.criterion("padding-mask")
class TestPaddingMask:
    def test_any_sizes(self, learner, rng):
        for sizes in SIZES[:4]:
            check_output(learner, draw_case(rng, padded=True, **sizes))

    def test_keys_of_another_sequence(self, learner, rng):
        check_output(learner, draw_case(rng, given=2, padded=True))

    def test_as_many_sequences_as_heads_and_queries(self, learner, rng):
        check_output(learner, draw_case(rng, heads=3, head_dimension=3, batch=3, lengths=(3, 3), padded=True))

    def test_zeros_and_ones_will_do(self, learner, rng):
        case = draw_case(rng, padded=True)
        layer = build(learner, case)
        output = layer.forward(*case.inputs, padding_mask=case.padding_mask.astype(int))
        assert_array(output, steps(case)["output"], axes="batch seq_q embedding")

    def test_together_with_causal(self, learner, rng):
        check_output(learner, draw_case(rng, causal=True, padded=True))

    @pytest.mark.edges
    def test_queries_without_any_key(self, learner, rng):
        check_output(learner, draw_case(rng, causal=True, padded=True, empty=True))
        case = draw_case(rng, padded=True)
        case.padding_mask[-1] = False
        check_output(learner, case)

    @pytest.mark.refusals
    def test_masks_of_other_shapes_are_refused(self, learner, rng):
        x, memory, layer = rng.normal(size=(2, 4, 6)), rng.normal(size=(2, 5, 6)), learner.Attention(6, 3, rng)
        for shape in ((5,), (1, 5), (2, 1), (2, 4), (2, 4, 5), (2, 1, 5), (2, 1, 1, 5)):
            with pytest.raises(ValueError):
                layer.forward(x, memory, padding_mask=np.ones(shape, dtype=bool))


@pytest.mark.criterion("cross-attention")
class TestCrossAttention:
    @pytest.mark.parametrize("given", [2, 3])
    def test_any_sizes(self, learner, rng, given):
        for sizes in ({}, {"batch": 1}, {"heads": 1}, {"lengths": (1, 4)}, {"lengths": (4, 1)}):
            check_output(learner, draw_case(rng, given=given, **sizes))

    @pytest.mark.parametrize("given", [2, 3])
    def test_inputs_of_one_length(self, learner, rng, given):
        check_output(learner, draw_case(rng, given=given, lengths=(4, 4)))

    def test_values_without_keys_belong_to_the_queries(self, learner, rng):
        case = draw_case(rng, given=3, lengths=(4, 4))
        arrays = {**case.arrays, "key_input": case.arrays["query_input"]}
        expected = steps(oracles.Case(case.heads, arrays))["output"]
        output = build(learner, case).forward(case.arrays["query_input"], value_input=case.arrays["value_input"])
        assert_array(output, expected, axes="batch seq_q embedding")

    @pytest.mark.parametrize("name", ["queries_multihead", "keys_multihead", "values_multihead"])
    def test_each_projection_has_its_input(self, learner, rng, name):
        case = draw_case(rng, given=3)
        actual, expected = getattr(after_forward(learner, case), name), steps(case)[name]
        scale = 1.0 if name == "values_multihead" else own_scale(case, actual, expected, name)
        assert_array(actual, scale * expected, name=name)

    @pytest.mark.parametrize("name", ["scaled_scores", "attention_weights", "attention_output"])
    def test_rows_belong_to_queries(self, learner, rng, name):
        case = draw_case(rng, given=3, causal=True, padded=True)
        assert_array(getattr(after_forward(learner, case), name), steps(case)[name], name=name)

    @pytest.mark.refusals
    def test_inputs_that_do_not_go_together_are_refused(self, learner, rng):
        layer, x = learner.Attention(6, 3, rng), rng.normal(size=(2, 4, 6))
        for key_shape, value_shape in (
            ((2, 5, 6), (2, 4, 6)),
            ((2, 5, 6), (2, 1, 6)),
            ((2, 1, 6), (2, 5, 6)),
            ((1, 5, 6), (1, 5, 6)),
            ((2, 5, 6), (1, 5, 6)),
            ((1, 5, 6), (2, 5, 6)),
            ((3, 5, 6), (3, 5, 6)),
            ((2, 5, 3), (2, 5, 6)),
            ((2, 5, 6), (2, 5, 3)),
            ((5, 6), (5, 6)),
            ((2, 5, 6), (5, 6)),
        ):
            with pytest.raises(ValueError):
                layer.forward(x, rng.normal(size=key_shape), rng.normal(size=value_shape))
        with pytest.raises(ValueError):
            layer.forward(x[:1], rng.normal(size=(2, 5, 6)))


@pytest.mark.criterion("large-inputs")
@pytest.mark.edges
class TestLargeInputs:
    @pytest.mark.parametrize("masks", [{}, {"causal": True, "padded": True, "empty": True}], ids=len)
    def test_inputs_of_size_1e4(self, learner, rng, masks):
        case = draw_case(rng, heads=1, size=1e4, **masks)
        arrays = {name: value * (0.02 if name in oracles.WEIGHTS else 1.0) for name, value in case.arrays.items()}
        case = oracles.Case(1, arrays, case.given, case.causal, case.padding_mask, case.options)
        output = build(learner, case).forward(*case.inputs, **case.options)
        assert_array(output, steps(case)["output"], rtol=1e-6, axes="batch seq embedding")

    @pytest.mark.parametrize("size", [1.0, 1e4])
    def test_none_of_the_masks_makes_forward_warn(self, learner, rng, size):
        case = draw_case(rng, given=3, size=size, causal=True, padded=True, empty=True)
        layer = build(learner, case)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            layer.forward(*case.inputs, **case.options)
            layer.forward(*case.inputs)
        assert_equal(sorted({str(warned.message) for warned in told}), [], name="warnings of forward")

    def test_equal_large_scores_share_equally(self, learner, rng):
        case = draw_case(rng, heads=1, given=3)
        arrays = {**case.arrays, "key_input": np.full_like(case.arrays["key_input"], 1e4)}
        expected = np.mean(arrays["value_input"] @ arrays["value_weights"], axis=1) @ arrays["output_weights"]
        output = build(learner, case).forward(*(arrays[name] for name in oracles.INPUTS))
        assert_array(output, np.repeat(expected[:, None], output.shape[1], axis=1), axes="batch seq embedding")

    def test_low_scores_are_not_forbidden(self, learner, rng):
        case = draw_case(rng, heads=1, head_dimension=4, given=3, padded=True)
        signs = {"query_weights": np.eye(4), "key_weights": -np.eye(4)}
        x = {name: 1e3 * rng.integers(1, 4, size=case.arrays[name].shape) for name in oracles.INPUTS[:2]}
        case = oracles.Case(1, {**case.arrays, **signs, **x}, 3, False, case.padding_mask, case.options)
        output = build(learner, case).forward(*case.inputs, **case.options)  # scores from -1.8e7 to -2e6
        assert_array(output, steps(case)["output"], rtol=1e-6, axes="batch seq_q embedding")

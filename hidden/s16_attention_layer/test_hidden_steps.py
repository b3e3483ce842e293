"""Hidden tests of stage s16: what forward leaves to be read, step by step."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_shape
from hidden.s16_attention_layer import oracles
from hidden.s16_attention_layer.oracles import SIZES, after_forward, allowed_places, build, draw_case, own_scale, steps

pytestmark = pytest.mark.values


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

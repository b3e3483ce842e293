"""Hidden tests of stage s16: forward of masks, of keys of another length and of large numbers."""

import warnings

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, unchanged
from hidden.s16_attention_layer import oracles
from hidden.s16_attention_layer.oracles import SIZES, after_forward, build, draw_case, own_scale, steps

pytestmark = pytest.mark.values


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

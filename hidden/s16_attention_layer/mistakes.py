"""Wrong answers that learners of this stage give and that no small change of the reference is.

Each takes the solution's own method as the default of `right`.
"""

import numpy as np

from grader.course.answers import mistake
from hidden.s16_attention_layer.solution import Attention


@mistake(
    criterion="padding-mask",
    replaces="Attention.forward",
    text="The rows of padded queries were masked as well; all their scores are the same mark, so "
    "they attend to everything evenly.",
    fix="Mask the keys only, that is the columns.",
)
def padded_queries_attend_evenly(
    self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None, right=Attention.forward
):
    output = right(self, query_input, key_input, value_input, causal, padding_mask)
    if padding_mask is None or query_input.shape[1] != self.keys_multihead.shape[2]:
        return output
    padded = (padding_mask == 0)[:, None, :, None] & self.attention_weights.any(axis=-1, keepdims=True)
    self.attention_weights = np.where(padded, 1 / padding_mask.shape[1], self.attention_weights)
    self.attention_output = self.attention_weights @ self.values_multihead
    self.concatenated_heads = self.concatenate_heads(self.attention_output)
    return self.concatenated_heads @ self.output_weights


@mistake(
    criterion="padding-mask",
    replaces="Attention.forward",
    text="Queries, keys and values of padded tokens were set to zero; a score of zero still gets "
    "weight in the softmax.",
    fix="Leave them, and set the scores of padded keys to -inf, or a number like -1e9.",
)
def padded_tokens_set_to_zero(
    self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None, right=Attention.forward
):
    if padding_mask is None:
        return right(self, query_input, key_input, value_input, causal, padding_mask)
    right(self, query_input, key_input, value_input, causal, padding_mask)
    real = (padding_mask == 1)[:, :, None]
    key_input = query_input if key_input is None else key_input
    value_input = key_input if value_input is None else value_input
    if query_input.shape == key_input.shape:
        query_input = query_input * real
    return right(self, query_input, key_input * real, value_input * real, causal)

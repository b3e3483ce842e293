"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own method as the default of `right`.
The layer keeps each step of forward and backward as an attribute: a mistake in one step replaces `__setattr__`, and so
the value at the moment when it is kept; what comes after follows from it.
"""

import numpy as np

from grader.course.answers import mistake
from hidden.s16_attention_layer.solution import Attention, _allowed, _transposed, _weight_gradient


@mistake(
    criterion="initial-weights",
    replaces="Attention.__init__",
    text="The weights have a standard deviation of 1: they were drawn from the normal distribution "
    "and not made smaller.",
    fix="Multiply the drawn numbers by 0.02.",
)
def weights_of_deviation_one(self, embedding_dimension=512, number_of_heads=8, rng=None, right=Attention.__init__):
    right(self, embedding_dimension, number_of_heads, rng)
    for name in ("query_weights", "key_weights", "value_weights", "output_weights"):
        setattr(self, name, getattr(self, name) / 0.02)


@mistake(
    criterion="initial-weights",
    replaces="Attention.__init__",
    text="0.02 became the variance of the weights: their standard deviation is the root of it, about 0.14.",
    fix="Multiply standard normal numbers by 0.02 itself, or pass scale=0.02 to rng.normal.",
)
def weights_of_variance_two_hundredths(
    self, embedding_dimension=512, number_of_heads=8, rng=None, right=Attention.__init__
):
    right(self, embedding_dimension, number_of_heads, rng)
    for name in ("query_weights", "key_weights", "value_weights", "output_weights"):
        setattr(self, name, getattr(self, name) / 0.02**0.5)


@mistake(
    criterion="initial-weights",
    replaces="Attention.__init__",
    text="The weights are spread evenly between -0.02 and 0.02.",
    fix="Draw them from a normal distribution: rng.standard_normal(shape) times 0.02.",
)
def weights_uniform(self, embedding_dimension=512, number_of_heads=8, rng=None, right=Attention.__init__):
    right(self, embedding_dimension, number_of_heads)
    rng = np.random.default_rng() if rng is None else rng
    for name in ("query_weights", "key_weights", "value_weights", "output_weights"):
        setattr(self, name, rng.uniform(-0.02, 0.02, (embedding_dimension, embedding_dimension)))


@mistake(
    criterion="initial-weights",
    replaces="Attention.__init__",
    text="The four weight matrices are one and the same: it was drawn once.",
    fix="Draw each of the four for itself, one after the other from the same rng.",
)
def one_matrix_for_all_weights(self, embedding_dimension=512, number_of_heads=8, rng=None, right=Attention.__init__):
    right(self, embedding_dimension, number_of_heads, rng)
    self.key_weights = self.value_weights = self.output_weights = self.query_weights


@mistake(
    criterion="initial-weights",
    replaces="Attention.__init__",
    text="The weights do not come from rng: a generator with a fixed seed was made inside, so every layer is alike.",
    fix="Draw from the rng that was passed, and make np.random.default_rng() without a seed only where it is None.",
)
def rng_replaced_by_a_fixed_seed(self, embedding_dimension=512, number_of_heads=8, rng=None, right=Attention.__init__):
    right(self, embedding_dimension, number_of_heads, np.random.default_rng(0))


@mistake(
    criterion="initial-weights",
    replaces="Attention.__init__",
    text="A number of heads that does not divide embedding_dimension was accepted, and the remainder thrown away.",
    fix="Raise ValueError where embedding_dimension % number_of_heads is not 0.",
)
def indivisible_embedding_accepted(
    self, embedding_dimension=512, number_of_heads=8, rng=None, right=Attention.__init__
):
    right(self, embedding_dimension, min(number_of_heads, 1), rng)
    self.number_of_heads = number_of_heads
    self.head_dimension = embedding_dimension // number_of_heads
    self.scale_factor = float(self.head_dimension) ** -0.5


@mistake(
    criterion="initial-weights",
    replaces="Attention.__init__",
    text="A number of heads that is zero or negative was accepted.",
    fix="Raise ValueError where number_of_heads is below 1, before anything is divided by it.",
)
def number_of_heads_not_checked(self, embedding_dimension=512, number_of_heads=8, rng=None, right=Attention.__init__):
    right(self, embedding_dimension, abs(number_of_heads) or 1, rng)
    self.number_of_heads = number_of_heads


@mistake(
    criterion="initial-weights",
    replaces="Attention.__init__",
    text="scale_factor is the square root of head_dimension.",
    fix="Scores are multiplied with it, so it is 1 over that root.",
)
def scale_factor_not_inverted(self, embedding_dimension=512, number_of_heads=8, rng=None, right=Attention.__init__):
    right(self, embedding_dimension, number_of_heads, rng)
    self.scale_factor = float(self.head_dimension) ** 0.5


@mistake(
    criterion="softmax",
    replaces="Attention.softmax",
    text="The exponentials of the scores themselves were taken; for a large score that is infinite, "
    "and infinite by infinite is NaN.",
    fix="Subtract each row's maximum from its scores before np.exp: the quotient stays the same.",
)
def maximum_not_subtracted(self, scores):
    exponentials = np.exp(scores)
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


@mistake(
    criterion="softmax",
    replaces="Attention.softmax",
    text="The softmax was taken along the last axis but one: the columns sum to 1 and not the rows.",
    fix="Take maximum and sum along axis=-1, where the keys are.",
)
def softmax_along_the_queries(self, scores, right=Attention.softmax):
    return np.swapaxes(right(self, np.swapaxes(scores, -1, -2)), -1, -2)


@mistake(
    criterion="softmax",
    replaces="Attention.softmax",
    text="The sums of the rows were taken without keepdims=True: they line up with the columns, or "
    "with nothing at all.",
    fix="Pass keepdims=True to sum, so that the axis stays with size 1 and each row is divided by its own sum.",
)
def sum_without_keepdims(self, scores):
    peak = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(peak == -np.inf, 0, peak))
    return exponentials / np.maximum(exponentials.sum(axis=-1), 1)


@mistake(
    criterion="softmax",
    replaces="Attention.softmax",
    text="All scores share one sum: the whole array adds up to 1, not each row.",
    fix="Sum along axis=-1 with keepdims=True, so that every row has its own sum.",
)
def softmax_over_everything(self, scores):
    exponentials = np.exp(scores - scores.max(initial=-1e300))
    return exponentials / np.maximum(exponentials.sum(), 1)


@mistake(
    criterion="softmax",
    replaces="Attention.softmax",
    text="The largest of all scores was subtracted in every row; a row far below it comes to nothing but zeros.",
    fix="Take the maximum of each row: scores.max(axis=-1, keepdims=True).",
)
def one_maximum_for_all_rows(self, scores):
    exponentials = np.exp(scores - scores.max(initial=-1e300))
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


@mistake(
    criterion="softmax",
    replaces="Attention.softmax",
    text="The maximum was looked for from -1e12 on: rows whose scores are all lower came to nothing but zeros.",
    fix="Take the maximum of each row itself, and 0 instead where that is -inf.",
)
def maximum_from_a_finite_number(self, scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True, initial=-1e12))
    return exponentials / np.maximum(exponentials.sum(axis=-1, keepdims=True), 1)


@mistake(
    criterion="softmax",
    replaces="Attention.softmax",
    text="A row of nothing but -inf became NaN: its maximum is -inf too, and -inf minus -inf is not a number.",
    fix="Subtract 0 instead of the maximum where that is -inf, and divide by 1 where the sum is 0.",
)
def row_of_minus_infinity_gives_nan(self, scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


@mistake(
    criterion="softmax",
    replaces="Attention.softmax",
    text="float64 scores were rounded to float32 before the softmax: only seven digits are right.",
    fix="Stay in the precision of the inputs.",
)
def softmax_in_single_precision(self, scores, right=Attention.softmax):
    return right(self, scores.astype(np.float32)).astype(scores.dtype)


@mistake(
    criterion="single-head-attention",
    replaces="Attention.forward",
    text="The inputs were multiplied with the transposed weights of queries, keys and values.",
    fix="Multiply with the weights as they are, from the right: x @ query_weights.",
)
def projection_weights_transposed(
    self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None, right=Attention.forward
):
    held = self.query_weights, self.key_weights, self.value_weights
    self.query_weights, self.key_weights, self.value_weights = (weights.T for weights in held)
    try:
        return right(self, query_input, key_input, value_input, causal, padding_mask)
    finally:
        self.query_weights, self.key_weights, self.value_weights = held


@mistake(
    criterion="single-head-attention",
    replaces="Attention.forward",
    text="The input itself served as queries, keys and values: none of the three weights was used.",
    fix="Multiply it with query_weights, key_weights and value_weights first.",
)
def inputs_not_projected(
    self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None, right=Attention.forward
):
    held = self.query_weights, self.key_weights, self.value_weights
    self.query_weights = self.key_weights = self.value_weights = np.eye(self.embedding_dimension)
    try:
        return right(self, query_input, key_input, value_input, causal, padding_mask)
    finally:
        self.query_weights, self.key_weights, self.value_weights = held


@mistake(
    criterion="single-head-attention",
    replaces="Attention.forward",
    text="Queries, keys and values were all made with query_weights.",
    fix="Use key_weights for the keys and value_weights for the values.",
)
def one_projection_for_all(
    self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None, right=Attention.forward
):
    held = self.key_weights, self.value_weights
    self.key_weights = self.value_weights = self.query_weights
    try:
        return right(self, query_input, key_input, value_input, causal, padding_mask)
    finally:
        self.key_weights, self.value_weights = held


@mistake(
    criterion="single-head-attention",
    replaces="Attention.__setattr__",
    text="The values were multiplied with the scores: there is no softmax in between.",
    fix="Turn the scores into weights with self.softmax; only then multiply with the values.",
)
def softmax_forgotten(self, name, value):
    if name == "attention_weights":
        value = np.where(self.masked_scores > -1e8, self.masked_scores, 0)
    object.__setattr__(self, name, value)


@mistake(
    criterion="split-heads",
    replaces="Attention.split_heads",
    text="The array was reshaped straight to (batch, heads, seq, head_dimension): that mixes tokens across heads.",
    fix="Cut the last axis in two, (batch, seq, heads, head_dimension), and only then move the "
    "heads: transpose(0, 2, 1, 3).",
)
def reshape_without_transpose(self, x, right=Attention.split_heads):
    return x.reshape(right(self, x).shape)


@mistake(
    criterion="split-heads",
    replaces="Attention.split_heads",
    text="The shape is (batch, seq, heads, head_dimension): the heads were not brought in front of the sequence.",
    fix="Exchange axes 1 and 2 after the reshape: transpose(0, 2, 1, 3).",
)
def heads_left_behind_the_sequence(self, x, right=Attention.split_heads):
    return right(self, x).transpose(0, 2, 1, 3)


@mistake(
    criterion="split-heads",
    replaces="Attention.split_heads",
    text="The features were dealt to the heads in turn, like cards.",
    fix="Head h gets neighbouring features, h * head_dimension to (h + 1) * head_dimension: "
    "reshape to (…, heads, head_dimension).",
)
def features_dealt_in_turn(self, x, right=Attention.split_heads):
    batch, heads, seq, size = right(self, x).shape
    return x.reshape(batch, seq, size, heads).transpose(0, 3, 1, 2)


@mistake(
    criterion="split-heads",
    replaces="Attention.split_heads",
    text="The heads were split in reverse order: head 0 holds the last features of every token.",
    fix="Leave the heads in the order of the features: head 0 holds the first head_dimension of them.",
)
def heads_split_in_reverse(self, x, right=Attention.split_heads):
    return right(self, x)[:, ::-1]


@mistake(
    criterion="split-heads",
    replaces="Attention.split_heads",
    text="An array with another number of features was split, into heads of another size.",
    fix="Raise ValueError where the last axis is not embedding_dimension.",
)
def other_feature_sizes_accepted(self, x, right=Attention.split_heads):
    if x.ndim == 3 and x.shape[2] % self.number_of_heads == 0:
        return x.reshape(len(x), x.shape[1], self.number_of_heads, -1).transpose(0, 2, 1, 3)
    return right(self, x)


@mistake(
    criterion="concatenate-heads",
    replaces="Attention.concatenate_heads",
    text="The array was reshaped straight to (batch, seq, embedding), so parts of different tokens stand in one row.",
    fix="Exchange axes 1 and 2 first, then reshape.",
)
def heads_reshaped_without_transpose(self, x, right=Attention.concatenate_heads):
    return x.reshape(right(self, x).shape)


@mistake(
    criterion="concatenate-heads",
    replaces="Attention.concatenate_heads",
    text="The features of the heads were interleaved: first the first feature of every head, then the second.",
    fix="Keep the features of one head together: transpose with (0, 2, 1, 3) before the reshape.",
)
def features_of_the_heads_interleaved(self, x, right=Attention.concatenate_heads):
    return x.transpose(0, 2, 3, 1).reshape(right(self, x).shape)


@mistake(
    criterion="concatenate-heads",
    replaces="Attention.concatenate_heads",
    text="An array with another number of heads was joined, to another number of features.",
    fix="Raise ValueError unless axis 1 has number_of_heads entries and the last one head_dimension.",
)
def any_number_of_heads_accepted(self, x, right=Attention.concatenate_heads):
    if x.ndim == 4 and x.shape[1] * x.shape[3] % self.head_dimension == 0:
        return x.transpose(0, 2, 1, 3).reshape(len(x), x.shape[2], -1)
    return right(self, x)


@mistake(
    criterion="queries-multihead",
    replaces="Attention.__setattr__",
    text="The queries were made with key_weights.",
    fix="Multiply query_input with query_weights.",
)
def queries_with_the_key_weights(self, name, value):
    if name == "queries_multihead":
        value = self.split_heads(self._inputs[0] @ self.key_weights)
    object.__setattr__(self, name, value)


@mistake(
    criterion="queries-multihead",
    replaces="Attention.__setattr__",
    text="query_weights were transposed before query_input was multiplied with them.",
    fix="Multiply with the weights as they are: query_input @ query_weights.",
)
def queries_with_transposed_weights(self, name, value):
    if name == "queries_multihead":
        value = self.split_heads(self._inputs[0] @ self.query_weights.T)
    object.__setattr__(self, name, value)


@mistake(
    criterion="queries-multihead",
    replaces="Attention.__setattr__",
    text="The queries are query_input itself, split into heads: query_weights were not used.",
    fix="Multiply query_input with query_weights, then split.",
)
def queries_not_projected(self, name, value):
    if name == "queries_multihead":
        value = self.split_heads(self._inputs[0])
    object.__setattr__(self, name, value)


@mistake(
    criterion="keys-multihead",
    replaces="Attention.__setattr__",
    text="The keys were made with query_weights.",
    fix="Multiply key_input with key_weights.",
)
def keys_with_the_query_weights(self, name, value):
    if name == "keys_multihead":
        value = self.split_heads(self._inputs[1] @ self.query_weights)
    object.__setattr__(self, name, value)


@mistake(
    criterion="keys-multihead",
    replaces="Attention.__setattr__",
    text="key_weights were transposed before key_input was multiplied with them.",
    fix="Multiply with the weights as they are: key_input @ key_weights.",
)
def keys_with_transposed_weights(self, name, value):
    if name == "keys_multihead":
        value = self.split_heads(self._inputs[1] @ self.key_weights.T)
    object.__setattr__(self, name, value)


@mistake(
    criterion="values-multihead",
    replaces="Attention.__setattr__",
    text="The values were made with key_weights.",
    fix="Multiply value_input with value_weights.",
)
def values_with_the_key_weights(self, name, value):
    if name == "values_multihead":
        value = self.split_heads(self._inputs[2] @ self.key_weights)
    object.__setattr__(self, name, value)


@mistake(
    criterion="values-multihead",
    replaces="Attention.__setattr__",
    text="The values are value_input itself, split into heads: value_weights were not used.",
    fix="Multiply value_input with value_weights, then split.",
)
def values_not_projected(self, name, value):
    if name == "values_multihead":
        value = self.split_heads(self._inputs[2])
    object.__setattr__(self, name, value)


@mistake(
    criterion="keys-multihead",
    replaces="Attention.forward",
    text="keys_multihead was kept transposed, (batch, heads, head_dimension, seq_k).",
    fix="Keep the keys as split_heads returns them, and transpose them within the product with the queries.",
)
def keys_kept_transposed(
    self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None, right=Attention.forward
):
    output = right(self, query_input, key_input, value_input, causal, padding_mask)
    self.keys_multihead = _transposed(self.keys_multihead)
    return output


@mistake(
    criterion="values-multihead",
    replaces="Attention.__setattr__",
    text="The values were multiplied with scale_factor.",
    fix="The scale belongs to the scores; leave the values without it.",
)
def values_scaled_too(self, name, value):
    if name == "values_multihead":
        value = value * self.scale_factor
    object.__setattr__(self, name, value)


@mistake(
    criterion="attention-scores",
    replaces="Attention.__setattr__",
    text="keys_multihead.T turns over all four axes, batch and heads as well.",
    fix="Exchange the last two axes only: np.swapaxes(keys_multihead, -1, -2).",
)
def all_axes_of_the_keys_transposed(self, name, value):
    if name == "attention_scores":
        value = self.queries_multihead @ self.keys_multihead.T
    object.__setattr__(self, name, value)


@mistake(
    criterion="attention-scores",
    replaces="Attention.__setattr__",
    text="The keys were brought to (batch, heads, head_dimension, seq_k) by a reshape, which tears the keys apart.",
    fix="A reshape keeps the order of the numbers; exchange the last two axes with np.swapaxes.",
)
def keys_reshaped_instead_of_transposed(self, name, value):
    if name == "attention_scores":
        batch, heads, seq, size = self.keys_multihead.shape
        value = self.queries_multihead @ self.keys_multihead.reshape(batch, heads, size, seq)
    object.__setattr__(self, name, value)


@mistake(
    criterion="attention-scores",
    replaces="Attention.__setattr__",
    text="The table is turned over: it has a row for each key and a column for each query.",
    fix="Put the queries on the left and the transposed keys on the right.",
)
def scores_of_keys_against_queries(self, name, value):
    if name == "attention_scores":
        value = self.keys_multihead @ _transposed(self.queries_multihead)
    object.__setattr__(self, name, value)


@mistake(
    criterion="attention-scores",
    replaces="Attention.__setattr__",
    text="All heads have the same scores: whole tokens were compared, before the split into heads.",
    fix="Multiply queries_multihead with keys_multihead, so that each head compares its own features.",
)
def heads_not_split_for_the_scores(self, name, value):
    if name == "attention_scores":
        value = np.broadcast_to(value.sum(axis=1, keepdims=True), value.shape)
    object.__setattr__(self, name, value)


@mistake(
    criterion="attention-scores",
    replaces="Attention.__setattr__",
    text="attention_scores holds the scores after the scale.",
    fix="Keep the product of queries_multihead and transposed keys_multihead as it is, and its "
    "scaled form as scaled_scores.",
)
def attention_scores_scaled_already(self, name, value):
    if name == "attention_scores":
        value = value * self.scale_factor
    if name == "scaled_scores":
        value = self.attention_scores
    object.__setattr__(self, name, value)


@mistake(
    criterion="scaled-scores",
    replaces="Attention.__setattr__",
    text="The scores were not scaled.",
    fix="Multiply attention_scores with scale_factor.",
)
def scores_not_scaled(self, name, value):
    if name == "scaled_scores":
        value = self.attention_scores
    object.__setattr__(self, name, value)


@mistake(
    criterion="scaled-scores",
    replaces="Attention.__setattr__",
    text="The scores were divided by head_dimension itself.",
    fix="Divide by its square root, which is the same as multiplying with scale_factor once.",
)
def scores_divided_by_head_dimension(self, name, value):
    if name == "scaled_scores":
        value = value * self.scale_factor
    object.__setattr__(self, name, value)


@mistake(
    criterion="scaled-scores",
    replaces="Attention.__init__",
    text="The scale is that of the whole embedding: 1 over the root of embedding_dimension.",
    fix="One head multiplies vectors of head_dimension numbers: use the root of that.",
)
def scale_of_the_whole_embedding(self, embedding_dimension=512, number_of_heads=8, rng=None, right=Attention.__init__):
    right(self, embedding_dimension, number_of_heads, rng)
    self.scale_factor = float(embedding_dimension) ** -0.5


@mistake(
    criterion="scaled-scores",
    replaces="Attention.__setattr__",
    text="Queries and keys were both multiplied with scale_factor, so the scores are divided by head_dimension.",
    fix="Scale one of them, or both with the square root of scale_factor, or the product: once in all.",
)
def scale_applied_twice(self, name, value):
    if name in ("queries_multihead", "keys_multihead"):
        value = value * self.scale_factor
    if name == "scaled_scores":
        value = self.attention_scores
    object.__setattr__(self, name, value)


@mistake(
    criterion="scaled-scores",
    replaces="Attention.__setattr__",
    text="The queries carry scale_factor already, and the scores were multiplied with it again.",
    fix="Apply the scale in one of the two places only.",
)
def scale_on_queries_and_on_scores(self, name, value):
    if name == "queries_multihead":
        value = value * self.scale_factor
    object.__setattr__(self, name, value)


@mistake(
    criterion="scaled-scores",
    replaces="Attention.__setattr__",
    text="The square root of scale_factor was applied to the queries and not to the keys: half of "
    "the scale is missing.",
    fix="Apply the root to both, or the whole factor once.",
)
def root_of_the_scale_on_queries_only(self, name, value):
    if name == "queries_multihead":
        value = value * self.scale_factor**0.5
    if name == "scaled_scores":
        value = self.attention_scores
    object.__setattr__(self, name, value)


@mistake(
    criterion="masked-scores",
    replaces="Attention.__setattr__",
    text="Forbidden scores were set to 0, as if by multiplying with the mask; exp(0) is 1, so they still get weight.",
    fix="Put -inf, or a number like -1e9, where attending is forbidden.",
)
def forbidden_scores_set_to_zero(self, name, value):
    if name == "masked_scores":
        value = np.where(value == -np.inf, 0, value)
    object.__setattr__(self, name, value)


@mistake(
    criterion="masked-scores",
    replaces="Attention.__setattr__",
    text="-inf was multiplied with the mask and added: at the allowed places that is -inf times 0, which is NaN.",
    fix="Choose instead of multiplying: np.where(allowed, scaled_scores, -np.inf).",
)
def minus_infinity_times_zero(self, name, value):
    if name == "masked_scores":
        value = np.where(value == -np.inf, value, np.nan if (value == -np.inf).any() else value)
    object.__setattr__(self, name, value)


@mistake(
    criterion="masked-scores",
    replaces="Attention.__setattr__",
    text="Forbidden scores are +inf: the sign of the mark is wrong, and the softmax of Inf is NaN.",
    fix="The mark is -inf: its exponential is 0.",
)
def forbidden_scores_plus_infinity(self, name, value):
    if name == "masked_scores":
        value = np.where(value == -np.inf, np.inf, value)
    object.__setattr__(self, name, value)


@mistake(
    criterion="masked-scores",
    replaces="Attention.forward",
    text="Without a mask masked_scores is None.",
    fix="Keep scaled_scores as masked_scores where nothing is forbidden.",
)
def no_masked_scores_without_a_mask(
    self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None, right=Attention.forward
):
    output = right(self, query_input, key_input, value_input, causal, padding_mask)
    if not causal and padding_mask is None:
        self.masked_scores = None
    return output


@mistake(
    criterion="masked-scores",
    replaces="Attention.__setattr__",
    text="The mask was put on attention_scores, so what goes on to the softmax is not scaled.",
    fix="Mask scaled_scores.",
)
def mask_put_on_the_unscaled_scores(self, name, value):
    if name == "masked_scores":
        value = np.where(value == -np.inf, value, self.attention_scores)
    object.__setattr__(self, name, value)


@mistake(
    criterion="attention-weights",
    replaces="Attention.__setattr__",
    text="The softmax was taken of scaled_scores, so the mask has no effect on the weights.",
    fix="Take the softmax of masked_scores.",
)
def weights_of_the_unmasked_scores(self, name, value):
    if name == "attention_weights":
        value = self.softmax(self.scaled_scores)
    object.__setattr__(self, name, value)


@mistake(
    criterion="attention-weights",
    replaces="Attention.__setattr__",
    text="The mask was applied after the softmax: the rest of such a row no longer sums to 1.",
    fix="Mask the scores before the softmax, which then shares out the whole weight among the allowed keys.",
)
def mask_after_the_softmax(self, name, value):
    if name == "attention_weights":
        value = self.softmax(self.scaled_scores) * (self.masked_scores > -1e8)
    object.__setattr__(self, name, value)


@mistake(
    criterion="attention-weights",
    replaces="Attention.__setattr__",
    text="The softmax was applied twice: its result went through it again.",
    fix="Apply it once, to masked_scores.",
)
def softmax_applied_twice(self, name, value):
    if name == "attention_weights":
        value = self.softmax(value)
    object.__setattr__(self, name, value)


@mistake(
    criterion="attention-weights",
    replaces="Attention.__setattr__",
    text="A query that may attend to nothing got equal weights: in its row all scores are the same mark.",
    fix="Set the weights of such a row to 0.",
)
def queries_without_keys_attend_evenly(self, name, value):
    if name == "attention_weights":
        value = np.where((self.masked_scores > -1e8).any(axis=-1, keepdims=True), value, 1 / value.shape[-1])
    object.__setattr__(self, name, value)


@mistake(
    criterion="attention-output",
    replaces="Attention.__setattr__",
    text="The weights were transposed: each output is put together by a column of weights, which does not sum to 1.",
    fix="Multiply attention_weights as they are with values_multihead.",
)
def weights_transposed_before_the_values(self, name, value):
    if name == "attention_output":
        value = _transposed(self.attention_weights) @ self.values_multihead
    object.__setattr__(self, name, value)


@mistake(
    criterion="attention-output",
    replaces="Attention.__setattr__",
    text="The weights were multiplied with the keys.",
    fix="Keys decide how much to take, values are what is taken: multiply with values_multihead.",
)
def keys_averaged_instead_of_values(self, name, value):
    if name == "attention_output":
        value = self.attention_weights @ self.keys_multihead
    object.__setattr__(self, name, value)


@mistake(
    criterion="attention-output",
    replaces="Attention.__setattr__",
    text="Every head has the mean of all heads' outputs.",
    fix="Leave the heads apart: axis 1 stays, and output_weights mixes them later.",
)
def outputs_of_the_heads_averaged(self, name, value):
    if name == "attention_output":
        value = np.broadcast_to(value.mean(axis=1, keepdims=True), value.shape)
    object.__setattr__(self, name, value)


@mistake(
    criterion="concatenated-heads",
    replaces="Attention.__setattr__",
    text="The heads were joined from the last to the first.",
    fix="Begin with head 0: its features come first.",
)
def heads_joined_in_reverse(self, name, value):
    if name == "concatenated_heads":
        value = self.concatenate_heads(self.attention_output[:, ::-1])
    object.__setattr__(self, name, value)


@mistake(
    criterion="concatenated-heads",
    replaces="Attention.__setattr__",
    text="Head 0 stands in the place of every head.",
    fix="Join all heads: concatenate_heads takes attention_output as a whole.",
)
def first_head_repeated(self, name, value):
    if name == "concatenated_heads":
        value = np.tile(self.attention_output[:, 0], self.number_of_heads)
    object.__setattr__(self, name, value)


@mistake(
    criterion="concatenated-heads",
    replaces="Attention.forward",
    text="concatenated_heads holds the output after the projection.",
    fix="Keep the joined heads before they are multiplied with output_weights: backward needs them.",
)
def output_kept_as_concatenated_heads(
    self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None, right=Attention.forward
):
    output = right(self, query_input, key_input, value_input, causal, padding_mask)
    self.concatenated_heads = output
    return output


@mistake(
    criterion="output-projection",
    replaces="Attention.forward",
    text="The joined heads were returned: output_weights was not used.",
    fix="Multiply concatenated_heads with output_weights.",
)
def output_not_projected(
    self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None, right=Attention.forward
):
    right(self, query_input, key_input, value_input, causal, padding_mask)
    return self.concatenated_heads


@mistake(
    criterion="output-projection",
    replaces="Attention.forward",
    text="The joined heads were multiplied with output_weights transposed.",
    fix="Multiply with the weights as they are: concatenated_heads @ output_weights.",
)
def output_weights_transposed(
    self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None, right=Attention.forward
):
    right(self, query_input, key_input, value_input, causal, padding_mask)
    return self.concatenated_heads @ self.output_weights.T


@mistake(
    criterion="output-projection",
    replaces="Attention.forward",
    text="An input of two axes was taken for a batch of one sequence.",
    fix="Raise ValueError unless query_input has exactly three axes.",
)
def single_sequence_accepted(
    self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None, right=Attention.forward
):
    if query_input.ndim == 2:
        return right(self, query_input[None])[0]
    return right(self, query_input, key_input, value_input, causal, padding_mask)


@mistake(
    criterion="output-projection",
    replaces="Attention.forward",
    text="float32 inputs and weights gave a float64 result: scale_factor is a NumPy number, whose "
    "float64 is carried over.",
    fix="Make scale_factor a Python float: float(...) around it.",
)
def scale_of_another_precision(
    self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None, right=Attention.forward
):
    self.scale_factor = np.float64(self.scale_factor)
    return right(self, query_input, key_input, value_input, causal, padding_mask)


@mistake(
    criterion="causal-mask",
    replaces="_allowed",
    text="No query sees its own position: the diagonal was hidden too, and the first query sees nothing.",
    fix="Allow the keys j <= i, with the diagonal.",
)
def causal_mask_hides_the_token_itself(shape, causal, padding_mask, right=_allowed):
    allowed = right(shape, False, padding_mask)
    return allowed & (np.tri(*shape[2:], -1) == 1) if causal else allowed


@mistake(
    criterion="causal-mask",
    replaces="_allowed",
    text="The triangle is the wrong one: queries see themselves and what comes later.",
    fix="Allow the keys up to the query's own position: the lower triangle.",
)
def causal_mask_upside_down(shape, causal, padding_mask, right=_allowed):
    allowed = right(shape, False, padding_mask)
    return allowed & (np.tri(*shape[:1:-1]).T == 1) if causal else allowed


@mistake(
    criterion="causal-mask",
    replaces="_allowed",
    text="Each query also sees the next position.",
    fix="The lower triangle ends with the diagonal: np.tri(seq_q, seq_k) without an offset.",
)
def causal_mask_one_step_too_far(shape, causal, padding_mask, right=_allowed):
    allowed = right(shape, False, padding_mask)
    return allowed & (np.tri(*shape[2:], 1) == 1) if causal else allowed


@mistake(
    criterion="causal-mask",
    replaces="_allowed",
    text="The last query was lined up with the last key, as if the queries were the end of the keys' sequence.",
    fix="In this stage query i sees the keys j <= i, both counted from the start.",
)
def causal_mask_aligned_at_the_end(shape, causal, padding_mask, right=_allowed):
    allowed = right(shape, False, padding_mask)
    return allowed & (np.tri(*shape[2:], shape[3] - shape[2]) == 1) if causal else allowed


@mistake(
    criterion="causal-mask",
    replaces="_allowed",
    text="causal=True changed nothing: later positions are visible.",
    fix="Hide the keys after the query's own position where causal is true.",
)
def causal_ignored(shape, causal, padding_mask, right=_allowed):
    return right(shape, False, padding_mask)


@mistake(
    criterion="padding-mask",
    replaces="_allowed",
    text="The padding mask was laid along the queries: padded queries see nothing, padded keys are seen by all.",
    fix="Give it new axes for heads and queries: padding_mask[:, None, None, :].",
)
def padding_hides_queries_instead_of_keys(shape, causal, padding_mask, right=_allowed):
    allowed = right(shape, causal, padding_mask)
    if padding_mask is None or shape[2] != shape[3]:
        return allowed
    return right(shape, causal, None) & (padding_mask == 1)[:, None, :, None]


@mistake(
    criterion="padding-mask",
    replaces="_allowed",
    text="The padding mask was read the other way round: real tokens were hidden and padding was seen.",
    fix="True, or 1, means a real token, which may be attended to.",
)
def padding_mask_inverted(shape, causal, padding_mask, right=_allowed):
    return right(shape, causal, None if padding_mask is None else 1 - np.asarray(padding_mask, dtype=int))


@mistake(
    criterion="padding-mask",
    replaces="_allowed",
    text="The rows of padded queries were masked as well, so their outputs are zero.",
    fix="Mask the keys only; what a padded query gets is ignored later.",
)
def padded_queries_hidden_too(shape, causal, padding_mask, right=_allowed):
    allowed = right(shape, causal, padding_mask)
    if padding_mask is None or shape[2] != shape[3]:
        return allowed
    return allowed & (padding_mask == 1)[:, None, :, None]


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


@mistake(
    criterion="padding-mask",
    replaces="_allowed",
    text="With causal and padding_mask together a key was allowed if one of the two allows it.",
    fix="Combine them by and: a key has to be a real token and not later than the query.",
)
def one_of_two_masks_is_enough(shape, causal, padding_mask, right=_allowed):
    if not causal or padding_mask is None:
        return right(shape, causal, padding_mask)
    return right(shape, True, None) | right(shape, False, padding_mask)


@mistake(
    criterion="padding-mask",
    replaces="_allowed",
    text="With causal=True the padding mask was not used.",
    fix="Combine the two: allowed where the causal table and the padding mask both say so.",
)
def padding_forgotten_beside_causal(shape, causal, padding_mask, right=_allowed):
    allowed = right(shape, causal, padding_mask)
    return right(shape, True, None) if causal else allowed


@mistake(
    criterion="cross-attention",
    replaces="Attention.forward",
    text="value_input was not used: the values were made from key_input.",
    fix="Multiply value_input with value_weights; key_input stands in only where it is None.",
)
def values_made_from_key_input(
    self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None, right=Attention.forward
):
    return right(self, query_input, key_input, None, causal, padding_mask)


@mistake(
    criterion="cross-attention",
    replaces="Attention.forward",
    text="A missing value_input was replaced by query_input.",
    fix="Replace it by key_input: a key and its value belong to the same token.",
)
def missing_value_input_taken_from_the_queries(
    self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None, right=Attention.forward
):
    value_input = query_input if value_input is None else value_input
    return right(self, query_input, key_input, value_input, causal, padding_mask)


@mistake(
    criterion="cross-attention",
    replaces="Attention.forward",
    text="key_input was not used: the keys were made from query_input.",
    fix="Multiply key_input with key_weights; query_input stands in only where it is None.",
)
def keys_made_from_query_input(
    self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None, right=Attention.forward
):
    value_input = key_input if value_input is None else value_input
    return right(self, query_input, None, value_input, causal, padding_mask)


@mistake(
    criterion="cross-attention",
    replaces="Attention.forward",
    text="key_input and value_input changed places.",
    fix="Keys come from key_input, values from value_input.",
)
def keys_and_values_exchanged(
    self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None, right=Attention.forward
):
    if key_input is not None and value_input is not None:
        key_input, value_input = value_input, key_input
    return right(self, query_input, key_input, value_input, causal, padding_mask)


@mistake(
    criterion="cross-attention",
    replaces="Attention.forward",
    text="Keys and values of a single sequence were used for a whole batch of queries.",
    fix="Raise ValueError where the batch sizes differ; broadcasting would hide it.",
)
def batch_of_one_stretched(
    self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None, right=Attention.forward
):
    if key_input is not None and len(key_input) == 1:
        key_input = np.repeat(key_input, len(query_input), axis=0)
    if value_input is not None and len(value_input) == 1:
        value_input = np.repeat(value_input, len(query_input), axis=0)
    return right(self, query_input, key_input, value_input, causal, padding_mask)


@mistake(
    criterion="large-inputs",
    replaces="Attention.softmax",
    text="The scores were clipped before np.exp: large ones are all alike then, whatever the difference between them.",
    fix="Subtract each row's maximum instead of clipping.",
)
def scores_clipped(self, scores):
    exponentials = np.where(scores == -np.inf, 0, np.exp(np.clip(scores, -700, 700)))
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


@mistake(
    criterion="large-inputs",
    replaces="Attention.softmax",
    text="The exponentials became infinite, and the NaN that came of it was replaced by 0.",
    fix="Subtract each row's maximum before np.exp: then there is nothing to replace.",
)
def nan_replaced_by_zero(self, scores):
    exponentials = np.exp(scores)
    return np.nan_to_num(exponentials / exponentials.sum(axis=-1, keepdims=True))


@mistake(
    criterion="large-inputs",
    replaces="Attention.softmax",
    text="The largest absolute value of each row was subtracted; where the scores are far below "
    "zero, all exponentials vanish.",
    fix="Subtract the maximum with its sign: scores.max, without np.abs.",
)
def largest_size_subtracted(self, scores):
    finite = np.where(scores == -np.inf, 0, scores)
    exponentials = np.exp(scores - np.abs(finite).max(axis=-1, keepdims=True))
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


@mistake(
    criterion="large-inputs",
    replaces="Attention.__setattr__",
    text="Forbidden scores were set to -1e4; for inputs of this size allowed scores are lower, and "
    "the forbidden keys win.",
    fix="Use -inf as the mark: no score is lower.",
)
def mark_within_reach_of_the_scores(self, name, value):
    if name == "masked_scores":
        value = np.where(value == -np.inf, -1e4, value)
    if name == "attention_weights":
        value = value * (self.masked_scores != -1e4).any(axis=-1, keepdims=True)
    object.__setattr__(self, name, value)


@mistake(
    criterion="gradient-output-weights",
    replaces="Attention.backward",
    text="The gradient is transposed: grad_output stood on the left.",
    fix="The input of the product comes first: concatenated_heads transposed, times grad_output.",
)
def output_weight_gradient_transposed(self, grad_output, right=Attention.backward):
    gradients = right(self, grad_output)
    self.gradient_output_weights = self.gradient_output_weights.T
    return gradients


@mistake(
    criterion="gradient-output-weights",
    replaces="Attention.backward",
    text="The gradient was averaged over the batch.",
    fix="Add up the sequences: whether to average is decided by the loss, and is in grad_output already.",
)
def output_weight_gradient_averaged(self, grad_output, right=Attention.backward):
    gradients = right(self, grad_output)
    self.gradient_output_weights = self.gradient_output_weights / len(grad_output)
    return gradients


@mistake(
    criterion="gradient-output-weights",
    replaces="Attention.backward",
    text="There is one gradient for each sequence: the batch axis is still there.",
    fix="All sequences used the same matrix: sum over the batch.",
)
def output_weight_gradient_not_summed(self, grad_output, right=Attention.backward):
    gradients = right(self, grad_output)
    self.gradient_output_weights = _transposed(self.concatenated_heads) @ grad_output
    return gradients


@mistake(
    criterion="gradient-output-weights",
    replaces="Attention.backward",
    text="query_input stood in the place of the joined heads.",
    fix="output_weights was multiplied with concatenated_heads: use these.",
)
def output_weight_gradient_from_the_input(self, grad_output, right=Attention.backward):
    gradients = right(self, grad_output)
    self.gradient_output_weights = _weight_gradient(self._inputs[0], grad_output)
    return gradients


@mistake(
    criterion="gradient-output-weights",
    replaces="Attention.backward",
    text="Before the first forward backward fails because an attribute is missing.",
    fix="See for yourself whether forward has been called, and raise RuntimeError where it has not.",
)
def backward_without_forward_fails_by_accident(self, grad_output, right=Attention.backward):
    if self._inputs is None:
        raise AttributeError("concatenated_heads")
    return right(self, grad_output)


@mistake(
    criterion="gradient-attention-output",
    replaces="Attention.backward",
    text="grad_output was multiplied with output_weights as they are.",
    fix="Going back through a product with W is a product with W transposed.",
)
def output_weights_not_transposed_going_back(self, grad_output, right=Attention.backward):
    held = self.output_weights
    self.output_weights = held.T
    try:
        return right(self, grad_output)
    finally:
        self.output_weights = held


@mistake(
    criterion="gradient-attention-output",
    replaces="Attention.backward",
    text="grad_output was split into heads without going back through the output projection.",
    fix="Multiply grad_output with output_weights transposed before you split it.",
)
def output_weights_left_out_going_back(self, grad_output, right=Attention.backward):
    held = self.output_weights
    self.output_weights = np.eye(self.embedding_dimension)
    try:
        return right(self, grad_output)
    finally:
        self.output_weights = held


@mistake(
    criterion="gradient-attention-output",
    replaces="Attention.__setattr__",
    text="The gradient was reshaped straight to (batch, heads, seq, head_dimension): that mixes tokens across heads.",
    fix="Use split_heads, for gradients as for values.",
)
def gradient_split_by_reshape_alone(self, name, value):
    if name == "gradient_attention_output":
        value = self.concatenate_heads(value).reshape(value.shape)
    object.__setattr__(self, name, value)


@mistake(
    criterion="gradient-attention-weights",
    replaces="Attention.__setattr__",
    text="The gradient was multiplied with the keys.",
    fix="attention_output is weights times values: multiply with values_multihead transposed.",
)
def keys_instead_of_values_going_back(self, name, value):
    if name == "gradient_attention_weights":
        value = self.gradient_attention_output @ _transposed(self.keys_multihead)
    object.__setattr__(self, name, value)


@mistake(
    criterion="gradient-attention-weights",
    replaces="Attention.__setattr__",
    text="The weights were multiplied in already.",
    fix="That belongs to the softmax, step 5; this step is the product with the transposed values alone.",
)
def weights_multiplied_in_too_early(self, name, value):
    if name == "gradient_attention_weights":
        value = value * self.attention_weights
    object.__setattr__(self, name, value)


@mistake(
    criterion="gradient-attention-weights",
    replaces="Attention.__setattr__",
    text="The table is turned over: values times transposed gradient.",
    fix="The gradient of the output stands on the left, so that the rows belong to queries as in attention_weights.",
)
def gradient_of_the_weights_transposed(self, name, value):
    if name == "gradient_attention_weights":
        value = _transposed(value)
    object.__setattr__(self, name, value)


@mistake(
    criterion="gradient-value",
    replaces="Attention.__setattr__",
    text="The weights were not transposed: the sum runs over the keys.",
    fix="Transpose the weights, so that each value collects from all queries that looked at it.",
)
def weights_not_transposed_for_the_values(self, name, value):
    if name == "gradient_value":
        value = self.attention_weights @ self.gradient_attention_output
    object.__setattr__(self, name, value)


@mistake(
    criterion="gradient-value",
    replaces="Attention.__setattr__",
    text="The scores stood in the place of the weights.",
    fix="The values were multiplied with attention_weights: use these, transposed.",
)
def scores_instead_of_weights_for_the_values(self, name, value):
    if name == "gradient_value":
        value = _transposed(self.scaled_scores) @ self.gradient_attention_output
    object.__setattr__(self, name, value)


@mistake(
    criterion="gradient-value",
    replaces="Attention.__setattr__",
    text="The gradient was averaged over the queries.",
    fix="Add up what comes from all queries.",
)
def value_gradient_averaged_over_the_queries(self, name, value):
    if name == "gradient_value":
        value = value / self.attention_weights.shape[2]
    object.__setattr__(self, name, value)


@mistake(
    criterion="gradient-attention-scores",
    replaces="_softmax_backward",
    text="Only the diagonal of the softmax's derivative was used, w (1 - w), as if the weights of a "
    "row did not depend on each other.",
    fix="Subtract the row's sum: weights times (gradient minus the sum of gradient times weights).",
)
def softmax_gradient_by_the_diagonal_only(weights, gradient):
    return gradient * weights * (1 - weights)


@mistake(
    criterion="gradient-attention-scores",
    replaces="_softmax_backward",
    text="The gradient was multiplied with the weights, and the sum over the row is missing.",
    fix="Subtract from the gradient the sum over its row of gradient times weights before you multiply.",
)
def softmax_gradient_without_the_sum(weights, gradient):
    return weights * gradient


@mistake(
    criterion="gradient-attention-scores",
    replaces="_softmax_backward",
    text="The sum over the row was subtracted, but the result was not multiplied with the weights.",
    fix="Multiply the difference with attention_weights.",
)
def softmax_gradient_without_the_weights(weights, gradient):
    return gradient - (gradient * weights).sum(axis=-1, keepdims=True)


@mistake(
    criterion="gradient-attention-scores",
    replaces="_softmax_backward",
    text="The sum runs over the queries.",
    fix="Sum along the axis that the softmax ran along, the keys: axis=-1.",
)
def softmax_gradient_summed_over_the_queries(weights, gradient):
    return weights * (gradient - (gradient * weights).sum(axis=-2, keepdims=True))


@mistake(
    criterion="gradient-key",
    replaces="Attention.__setattr__",
    text="The gradient of the scores was not transposed.",
    fix="Transpose it, so that its rows belong to the keys, and multiply with the queries.",
)
def key_gradient_not_transposed(self, name, value):
    if name == "gradient_key":
        value = self.gradient_attention_scores @ self.queries_multihead * self.scale_factor
    object.__setattr__(self, name, value)


@mistake(
    criterion="gradient-key",
    replaces="Attention.__setattr__",
    text="The scale is missing in the gradient of the keys.",
    fix="Multiply with scale_factor once, as forward did.",
)
def key_gradient_without_the_scale(self, name, value):
    if name == "gradient_key":
        value = value / self.scale_factor
    object.__setattr__(self, name, value)


@mistake(
    criterion="gradient-key",
    replaces="Attention.__setattr__",
    text="The gradient of the keys was multiplied with scale_factor twice.",
    fix="The scale counts once: either in the gradient of the scores or here.",
)
def key_gradient_scaled_twice(self, name, value):
    if name == "gradient_key":
        value = value * self.scale_factor
    object.__setattr__(self, name, value)


@mistake(
    criterion="gradient-query",
    replaces="Attention.__setattr__",
    text="The gradient of the scores was transposed before it was multiplied with the keys.",
    fix="Its rows belong to the queries already: multiply it with the keys as it is.",
)
def query_gradient_with_transposed_scores(self, name, value):
    if name == "gradient_query":
        value = _transposed(self.gradient_attention_scores) @ self.keys_multihead * self.scale_factor
    object.__setattr__(self, name, value)


@mistake(
    criterion="gradient-query",
    replaces="Attention.__setattr__",
    text="The scale is missing in the gradient of the queries.",
    fix="Multiply with scale_factor once, as forward did.",
)
def query_gradient_without_the_scale(self, name, value):
    if name == "gradient_query":
        value = value / self.scale_factor
    object.__setattr__(self, name, value)


@mistake(
    criterion="gradient-query",
    replaces="Attention.__setattr__",
    text="The gradient of the queries was multiplied with scale_factor twice.",
    fix="The scale counts once: either in the gradient of the scores or here.",
)
def query_gradient_scaled_twice(self, name, value):
    if name == "gradient_query":
        value = value * self.scale_factor
    object.__setattr__(self, name, value)


@mistake(
    criterion="gradient-projection-weights",
    replaces="Attention.backward",
    text="All three gradients are transposed: the gradient of the product stood on the left.",
    fix="Put the input on the left: its transpose times the joined gradient.",
)
def projection_gradients_transposed(self, grad_output, right=Attention.backward):
    gradients = right(self, grad_output)
    for name, given in zip(("query", "key", "value"), self._inputs, strict=True):
        gradient = getattr(self, f"gradient_{name}")
        setattr(self, f"gradient_{name}_weights", _weight_gradient(given, self.concatenate_heads(gradient)).T)
    return gradients


@mistake(
    criterion="gradient-projection-weights",
    replaces="Attention.backward",
    text="All three gradients were divided by the number of sequences.",
    fix="Add up the sequences; whether to average is decided by the loss.",
)
def projection_gradients_averaged(self, grad_output, right=Attention.backward):
    gradients = right(self, grad_output)
    for name, given in zip(("query", "key", "value"), self._inputs, strict=True):
        gradient = getattr(self, f"gradient_{name}")
        setattr(
            self, f"gradient_{name}_weights", _weight_gradient(given, self.concatenate_heads(gradient)) / len(given)
        )
    return gradients


@mistake(
    criterion="gradient-projection-weights",
    replaces="Attention.backward",
    text="There is one gradient for each sequence: the batch axis is still there.",
    fix="All sequences used the same weights: sum over the batch.",
)
def projection_gradients_not_summed(self, grad_output, right=Attention.backward):
    gradients = right(self, grad_output)
    for name, given in zip(("query", "key", "value"), self._inputs, strict=True):
        gradient = getattr(self, f"gradient_{name}")
        setattr(self, f"gradient_{name}_weights", _transposed(given) @ self.concatenate_heads(gradient))
    return gradients


@mistake(
    criterion="gradient-projection-weights",
    replaces="Attention.backward",
    text="query_input was used for the gradients of all three weights.",
    fix="Use the input that each matrix was multiplied with: key_input for the keys, value_input for the values.",
)
def query_input_for_all_projection_gradients(self, grad_output, right=Attention.backward):
    gradients = right(self, grad_output)
    for name, given in zip(("query", "key", "value"), self._inputs, strict=True):
        gradient = getattr(self, f"gradient_{name}")
        setattr(self, f"gradient_{name}_weights", _weight_gradient(self._inputs[0], self.concatenate_heads(gradient)))
    return gradients


@mistake(
    criterion="gradient-projection-weights",
    replaces="Attention.backward",
    text="The heads of the gradients were joined by a reshape alone, which mixes tokens.",
    fix="Join them with concatenate_heads.",
)
def projection_gradients_joined_by_reshape(self, grad_output, right=Attention.backward):
    gradients = right(self, grad_output)
    for name, given in zip(("query", "key", "value"), self._inputs, strict=True):
        gradient = getattr(self, f"gradient_{name}")
        setattr(self, f"gradient_{name}_weights", _weight_gradient(given, gradient.reshape(given.shape)))
    return gradients


@mistake(
    criterion="input-gradients",
    replaces="Attention.backward",
    text="The joined gradients were multiplied with the weights as they are.",
    fix="Going back through a product with W is a product with W transposed.",
)
def input_gradients_with_untransposed_weights(self, grad_output, right=Attention.backward):
    right(self, grad_output)
    for name, given in zip(("query", "key", "value"), self._inputs, strict=True):
        gradient = getattr(self, f"gradient_{name}")
        setattr(self, f"gradient_{name}_input", self.concatenate_heads(gradient) @ getattr(self, f"{name}_weights"))
    return self.gradient_query_input, self.gradient_key_input, self.gradient_value_input


@mistake(
    criterion="input-gradients",
    replaces="Attention.backward",
    text="backward took a step with the weights first, and the input gradients went back through the new ones.",
    fix="Change no weights in backward: the inputs met the weights of forward, and update comes later.",
)
def weights_updated_before_the_input_gradients(self, grad_output, right=Attention.backward):
    right(self, grad_output)
    for name in ("query", "key", "value"):
        weights = getattr(self, f"{name}_weights") - 0.01 * getattr(self, f"gradient_{name}_weights")
        setattr(self, f"{name}_weights", weights)
        setattr(self, f"gradient_{name}_input", self.concatenate_heads(getattr(self, f"gradient_{name}")) @ weights.T)
    return self.gradient_query_input, self.gradient_key_input, self.gradient_value_input


@mistake(
    criterion="input-gradients",
    replaces="Attention.backward",
    text="The three gradients were returned in the order value, key, query.",
    fix="Return them in the order of forward's inputs: query, key, value.",
)
def input_gradients_in_the_order_of_the_steps(self, grad_output, right=Attention.backward):
    return right(self, grad_output)[::-1]


@mistake(
    criterion="self-attention-gradient",
    replaces="Attention.backward",
    text="Each of the three gradients is the sum of all: added up they count three times.",
    fix="Return each path's own gradient, and leave adding them up to the caller.",
)
def sum_returned_three_times(self, grad_output, right=Attention.backward):
    gradients = right(self, grad_output)
    if self._inputs[0] is not self._inputs[1]:
        return gradients
    total = sum(gradients)
    self.gradient_query_input, self.gradient_key_input, self.gradient_value_input = total, total, total
    return total, total, total


@mistake(
    criterion="self-attention-gradient",
    replaces="Attention.backward",
    text="The first gradient is the sum of all three already, and the others were returned once more.",
    fix="Return each path's own gradient, and leave adding them up to the caller.",
)
def sum_returned_beside_its_parts(self, grad_output, right=Attention.backward):
    gradients = right(self, grad_output)
    if self._inputs[0] is not self._inputs[1]:
        return gradients
    self.gradient_query_input = sum(gradients)
    return self.gradient_query_input, *gradients[1:]


@mistake(
    criterion="self-attention-gradient",
    replaces="Attention.backward",
    text="In self-attention the gradients by way of keys and values are zero.",
    fix="The one input reaches the output in three ways: return the gradients of all three.",
)
def paths_of_keys_and_values_dropped(self, grad_output, right=Attention.backward):
    gradients = right(self, grad_output)
    if self._inputs[0] is not self._inputs[1]:
        return gradients
    self.gradient_key_input = self.gradient_value_input = np.zeros_like(gradients[0])
    return gradients[0], self.gradient_key_input, self.gradient_value_input


@mistake(
    criterion="update",
    replaces="Attention.update",
    text="output_weights stayed as they were.",
    fix="Update all four weights: output_weights has a gradient too.",
)
def output_weights_never_updated(self, learning_rate, right=Attention.update):
    held = self.output_weights
    right(self, learning_rate)
    self.output_weights = held


@mistake(
    criterion="update",
    replaces="Attention.update",
    text="The step was added, so the loss grows.",
    fix="Subtract learning_rate times the gradient.",
)
def step_uphill(self, learning_rate, right=Attention.update):
    return right(self, -learning_rate)


@mistake(
    criterion="update",
    replaces="Attention.update",
    text="update multiplied the stored gradients with learning_rate.",
    fix="Leave the gradients as they are and work with a product of its own.",
)
def gradients_scaled_by_the_update(self, learning_rate, right=Attention.update):
    right(self, learning_rate)
    for name in ("query_weights", "key_weights", "value_weights", "output_weights"):
        setattr(self, f"gradient_{name}", learning_rate * getattr(self, f"gradient_{name}"))


@mistake(
    criterion="update",
    replaces="Attention.update",
    text="The step was taken inside the arrays that were assigned as weights: whoever holds them finds them changed, "
    "and one array that was assigned to several weights takes all of their steps.",
    fix="Make a new array and assign it: self.query_weights = self.query_weights - ..., not -=.",
)
def assigned_arrays_written_into(self, learning_rate, right=Attention.update):
    names = ("query_weights", "key_weights", "value_weights", "output_weights")
    held = [getattr(self, name) for name in names]
    right(self, learning_rate)
    for name, array in zip(names, held, strict=True):
        array[...] = getattr(self, name)
        setattr(self, name, array)


@mistake(
    criterion="update",
    replaces="Attention.backward",
    text="A second backward added its gradients to the first one's, so update takes both steps at once.",
    fix="Let each backward assign its gradients: the old ones are gone with it.",
)
def gradients_added_to_those_before(self, grad_output, right=Attention.backward):
    names = ("query_weights", "key_weights", "value_weights", "output_weights")
    before = [getattr(self, f"gradient_{name}", None) for name in names]
    gradients = right(self, grad_output)
    for name, old in zip(names, before, strict=True):
        if old is not None:
            setattr(self, f"gradient_{name}", getattr(self, f"gradient_{name}") + old)
    return gradients


@mistake(
    criterion="update",
    replaces="Attention.update",
    text="Before the first backward update fails because an attribute is missing.",
    fix="See for yourself whether there are gradients, and raise RuntimeError where there are none.",
)
def update_without_gradients_fails_by_accident(self, learning_rate, right=Attention.update):
    if self.gradient_query_weights is None:
        raise AttributeError("gradient_query_weights")
    right(self, learning_rate)

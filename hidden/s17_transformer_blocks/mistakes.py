"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own method as the default of `right`.
"""

import math

import numpy as np

from grader.course.answers import mistake
from hidden.s17_transformer_blocks.solution import (
    _PARTS,
    MLP,
    Block,
    Encoder,
    LayerNorm,
    MultiheadSelfAttention,
    PostNormBlock,
    SelfAttention,
    _attend,
    _attend_backward,
    _features,
    _gelu,
    _gelu_slope,
    _last_forward,
    _linear_gradients,
    _normal_cdf,
    _of_shape,
    _sequences,
    _softmax,
)


@mistake(
    criterion="self-attention",
    replaces="SelfAttention.forward",
    text="The scores were not divided: these are softmax weights of the plain dot products.",
    fix="Divide queries times keys by the square root of dim before the softmax.",
)
def scores_not_scaled(self, x, mask=None):
    x = _sequences(x, self._dim)
    projected = [x @ self.params[f"{part}_weights"] + self.params[f"{part}_bias"] for part in _PARTS]
    self._cache = x, projected
    output, self.attention_weights = _attend(projected[0] * math.sqrt(self._dim), *projected[1:], mask)
    return output


@mistake(
    criterion="self-attention",
    replaces="SelfAttention.forward",
    text="The scores were divided by dim itself.",
    fix="Divide by the square root of dim: math.sqrt(dim).",
)
def scores_divided_by_dim(self, x, mask=None):
    x = _sequences(x, self._dim)
    projected = [x @ self.params[f"{part}_weights"] + self.params[f"{part}_bias"] for part in _PARTS]
    self._cache = x, projected
    output, self.attention_weights = _attend(projected[0] / math.sqrt(self._dim), *projected[1:], mask)
    return output


@mistake(
    criterion="self-attention",
    replaces="SelfAttention.forward",
    text="The three projections were made without their biases.",
    fix="Add query_bias, key_bias and value_bias to the products of x with the weights.",
)
def biases_left_out(self, x, mask=None):
    x = _sequences(x, self._dim)
    projected = [x @ self.params[f"{part}_weights"] for part in _PARTS]
    self._cache = x, projected
    output, self.attention_weights = _attend(*projected, mask)
    return output


@mistake(
    criterion="self-attention",
    replaces="SelfAttention.forward",
    text="The softmax ran along the queries: each column of the attention weights sums to 1, and the rows do not.",
    fix="Let the softmax run along the last axis, that of the keys.",
)
def softmax_over_queries(self, x, mask=None):
    x = _sequences(x, self._dim)
    queries, keys, values = (x @ self.params[f"{part}_weights"] + self.params[f"{part}_bias"] for part in _PARTS)
    scores = queries @ np.swapaxes(keys, -1, -2) / math.sqrt(self._dim)
    scores = scores if mask is None else np.where(np.broadcast_to(mask, scores.shape), scores, -np.inf)
    self.attention_weights = np.swapaxes(_softmax(np.swapaxes(scores, -1, -2)), -1, -2)
    self._cache = x, [queries, keys, values]
    return self.attention_weights @ values


@mistake(
    criterion="self-attention",
    replaces="SelfAttention.forward",
    text="x was multiplied by the transposed weights.",
    fix="Use the matrices as they are, x @ W: row i of W belongs to feature i of x.",
)
def weights_transposed(self, x, mask=None):
    x = _sequences(x, self._dim)
    projected = [x @ self.params[f"{part}_weights"].T + self.params[f"{part}_bias"] for part in _PARTS]
    self._cache = x, projected
    output, self.attention_weights = _attend(*projected, mask)
    return output


@mistake(
    criterion="self-attention-masks",
    replaces="SelfAttention.forward",
    text="The mask was read the wrong way round: positions with True were shut out.",
    fix="True means that a position may be attended to: put -inf where the mask is False.",
)
def mask_inverted(self, x, mask=None, right=SelfAttention.forward):
    return right(self, x, None if mask is None else np.logical_not(mask))


@mistake(
    criterion="self-attention-masks",
    replaces="SelfAttention.forward",
    text="The mask had no effect.",
    fix="Where the mask is False, put -inf for the score before the softmax.",
)
def mask_ignored(self, x, mask=None, right=SelfAttention.forward):
    return right(self, x)


@mistake(
    criterion="self-attention-masks",
    replaces="SelfAttention.forward",
    text="The mask was multiplied into the weights after the softmax, so that a masked row no longer sums to 1.",
    fix="Mask the scores, before the softmax shares out the weight among the positions that are left.",
)
def mask_after_softmax(self, x, mask=None, right=SelfAttention.forward):
    output = right(self, x)
    if mask is None:
        return output
    weights = self.attention_weights
    self.attention_weights = weights * np.broadcast_to(mask, weights.shape).astype(weights.dtype)
    return self.attention_weights @ self._cache[1][2]


@mistake(
    criterion="self-attention-masks",
    replaces="SelfAttention.forward",
    text="Masked positions got the score -1e9. Where the others score lower still, masked positions have the weight.",
    fix="Put -np.inf where the mask is False, and take 0 for a maximum of -inf.",
)
def masked_scores_are_finite(self, x, mask=None, right=SelfAttention.forward):
    output = right(self, x, mask)
    if mask is None:
        return output
    queries, keys, values = self._cache[1]
    scores = queries @ np.swapaxes(keys, -1, -2) / math.sqrt(queries.shape[-1])
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    weights = _softmax(np.where(allowed, scores, scores.dtype.type(-1e9)))
    self.attention_weights = np.where(allowed.any(axis=-1, keepdims=True), weights, 0).astype(scores.dtype)
    return self.attention_weights @ values


@mistake(
    criterion="self-attention-masks",
    replaces="SelfAttention.forward",
    text="A query that may attend to nothing got NaN: -inf minus the row's maximum -inf is not a number.",
    fix="Take 0 for a maximum of -inf, and do not divide by a sum of 0: such a row's weights are zeros.",
)
def masked_row_is_nan(self, x, mask=None, right=SelfAttention.forward):
    output = right(self, x, mask)
    empty = self.attention_weights.sum(axis=-1) == 0
    self.attention_weights[empty] = output[empty] = np.nan
    return output


@mistake(
    criterion="self-attention-masks",
    replaces="SelfAttention.forward",
    text="A query that may attend to nothing divides its attention evenly: all its scores are the same large number.",
    fix="Such a query's weights are 0: mask with -inf, and divide by 1 where the exponentials sum to 0.",
)
def masked_row_is_uniform(self, x, mask=None, right=SelfAttention.forward):
    output = right(self, x, mask)
    empty = self.attention_weights.sum(axis=-1) == 0
    self.attention_weights[empty] = 1 / x.shape[1]
    output[empty] = (self.attention_weights @ self._cache[1][2])[empty]
    return output


@mistake(
    criterion="self-attention-gradients",
    replaces="SelfAttention.backward",
    text="The division by the square root of dim is missing on the way back.",
    fix="Divide the gradient of the scores by sqrt(dim), as the scores were divided in forward.",
)
def scale_forgotten_on_the_way_back(self, grad_output):
    x, projected = _last_forward(self._cache)
    grads = list(_attend_backward(_of_shape(grad_output, x.shape), *projected, self.attention_weights))
    grads[:2] = (grad * math.sqrt(self._dim) for grad in grads[:2])
    self.grads, grad_x = {}, 0
    for part, grad in zip(_PARTS, grads, strict=True):
        self.grads[f"{part}_weights"], self.grads[f"{part}_bias"] = _linear_gradients(x, grad)
        grad_x = grad_x + grad @ self.params[f"{part}_weights"].T
    return grad_x


@mistake(
    criterion="self-attention-gradients",
    replaces="SelfAttention.backward",
    text="The softmax was taken back like a sigmoid, weight by weight: w (1 - w). Each weight depends on all scores.",
    fix="Use weights * (grad - sum of grad * weights over the row): a score also lowers the other weights of its row.",
)
def softmax_taken_back_elementwise(self, grad_output):
    x, (queries, keys, values) = _last_forward(self._cache)
    weights, grad_output = self.attention_weights, _of_shape(grad_output, x.shape)
    grad_scores = grad_output @ np.swapaxes(values, -1, -2) * weights * (1 - weights) / math.sqrt(self._dim)
    turned = np.swapaxes(grad_scores, -1, -2)
    grads = grad_scores @ keys, turned @ queries, np.swapaxes(weights, -1, -2) @ grad_output
    self.grads, grad_x = {}, 0
    for part, grad in zip(_PARTS, grads, strict=True):
        self.grads[f"{part}_weights"], self.grads[f"{part}_bias"] = _linear_gradients(x, grad)
        grad_x = grad_x + grad @ self.params[f"{part}_weights"].T
    return grad_x


@mistake(
    criterion="self-attention-gradients",
    replaces="SelfAttention.backward",
    text="The gradients of the queries and of the keys changed places.",
    fix="The queries get grad_scores @ keys, the keys get the transposed grad_scores @ queries.",
)
def query_and_key_gradients_swapped(self, grad_output):
    x, projected = _last_forward(self._cache)
    grads = _attend_backward(_of_shape(grad_output, x.shape), *projected, self.attention_weights)
    self.grads, grad_x = {}, 0
    for part, grad in zip(("key", "query", "value"), grads, strict=True):
        self.grads[f"{part}_weights"], self.grads[f"{part}_bias"] = _linear_gradients(x, grad)
        grad_x = grad_x + grad @ self.params[f"{part}_weights"].T
    return grad_x


@mistake(
    criterion="self-attention-gradients",
    replaces="SelfAttention.backward",
    text="The second call of backward added its gradients to those of the first.",
    fix="Fill grads with a new dict at each call of backward.",
)
def gradients_accumulated(self, grad_output, right=SelfAttention.backward):
    before = self.grads
    grad_x = right(self, grad_output)
    self.grads = {name: value + before.get(name, 0) for name, value in self.grads.items()}
    return grad_x


@mistake(
    criterion="fused-projection",
    replaces="MultiheadSelfAttention.forward",
    text="The first third of the projected features was taken for the keys and the second for the queries.",
    fix="The order is queries, keys, values.",
)
def keys_before_queries(self, x, mask=None):
    x = _sequences(x, self._dim)
    qkv = x @ self.params["qkv_weights"] + self.params["qkv_bias"]
    heads = qkv.reshape(*x.shape[:2], 3, self._num_heads, -1).transpose(2, 0, 3, 1, 4)[[1, 0, 2]]
    head_outputs, self.attention_weights = _attend(*heads, mask)
    joined = head_outputs.transpose(0, 2, 1, 3).reshape(x.shape)
    self._cache = x, heads, joined
    return joined @ self.params["output_weights"] + self.params["output_bias"]


@mistake(
    criterion="fused-projection",
    replaces="MultiheadSelfAttention.forward",
    text="The projected features were read as (num_heads, 3, head_dim): all of head 0 first, then all of head 1.",
    fix="Reshape to (batch, seq, 3, num_heads, head_dim): first the queries of all heads, then keys, then values.",
)
def heads_outside_of_qkv(self, x, mask=None):
    x = _sequences(x, self._dim)
    qkv = x @ self.params["qkv_weights"] + self.params["qkv_bias"]
    heads = qkv.reshape(*x.shape[:2], self._num_heads, 3, -1).transpose(3, 0, 2, 1, 4)
    head_outputs, self.attention_weights = _attend(*heads, mask)
    joined = head_outputs.transpose(0, 2, 1, 3).reshape(x.shape)
    self._cache = x, heads, joined
    return joined @ self.params["output_weights"] + self.params["output_bias"]


@mistake(
    criterion="fused-projection",
    replaces="MultiheadSelfAttention.forward",
    text="The features were dealt out to the heads in turn, as (3, head_dim, num_heads).",
    fix="Reshape to (batch, seq, 3, num_heads, head_dim): a head's features stand side by side.",
)
def heads_take_turns(self, x, mask=None):
    x = _sequences(x, self._dim)
    qkv = x @ self.params["qkv_weights"] + self.params["qkv_bias"]
    heads = qkv.reshape(*x.shape[:2], 3, -1, self._num_heads).transpose(2, 0, 4, 1, 3)
    head_outputs, self.attention_weights = _attend(*heads, mask)
    joined = head_outputs.transpose(0, 2, 1, 3).reshape(x.shape)
    self._cache = x, heads, joined
    return joined @ self.params["output_weights"] + self.params["output_bias"]


@mistake(
    criterion="fused-projection",
    replaces="MultiheadSelfAttention.__init__",
    text="The initial weights have a standard deviation of 1.",
    fix="Divide what the generator draws by sqrt(dim), so that a projection keeps the size of its input.",
)
def initial_weights_of_size_one(self, dim, num_heads, rng=None, right=MultiheadSelfAttention.__init__):
    right(self, dim, num_heads, rng)
    for name in ("qkv_weights", "output_weights"):
        self.params[name] = self.params[name] * math.sqrt(dim)


@mistake(
    criterion="fused-projection",
    replaces="MultiheadSelfAttention.forward",
    text="attention_weights holds the average over the heads.",
    fix="Keep the weights of every head: shape (batch, num_heads, seq, seq).",
)
def weights_averaged_over_heads(self, x, mask=None, right=MultiheadSelfAttention.forward):
    output = right(self, x, mask)
    self.attention_weights = self.attention_weights.mean(axis=1)
    return output


@mistake(
    criterion="multihead-attention",
    replaces="MultiheadSelfAttention.forward",
    text="The heads' outputs were reshaped to (batch, seq, dim) at once, which mixes heads with positions.",
    fix="Swap the axes of heads and positions first, (batch, seq, num_heads, head_dim), then reshape.",
)
def heads_joined_without_transposing(self, x, mask=None, right=MultiheadSelfAttention.forward):
    right(self, x, mask)
    x, heads, _ = self._cache
    joined = (self.attention_weights @ heads[2]).reshape(x.shape)
    self._cache = x, heads, joined
    return joined @ self.params["output_weights"] + self.params["output_bias"]


@mistake(
    criterion="multihead-attention",
    replaces="MultiheadSelfAttention.forward",
    text="The scores were divided by sqrt(dim), but the queries and keys of a head have dim / num_heads features.",
    fix="Divide by the square root of head_dim.",
)
def scaled_by_whole_dim(self, x, mask=None, right=MultiheadSelfAttention.forward):
    right(self, x, mask)
    x, (queries, keys, values), _ = self._cache
    head_outputs, self.attention_weights = _attend(queries / math.sqrt(self._num_heads), keys, values, mask)
    joined = head_outputs.transpose(0, 2, 1, 3).reshape(x.shape)
    self._cache = *self._cache[:2], joined
    return joined @ self.params["output_weights"] + self.params["output_bias"]


@mistake(
    criterion="multihead-attention",
    replaces="MultiheadSelfAttention.forward",
    text="The scores of the heads were not divided by sqrt(head_dim).",
    fix="Divide queries times keys by the square root of head_dim before the softmax.",
)
def head_scores_not_scaled(self, x, mask=None, right=MultiheadSelfAttention.forward):
    right(self, x, mask)
    x, (queries, keys, values), _ = self._cache
    head_outputs, self.attention_weights = _attend(queries * math.sqrt(queries.shape[-1]), keys, values, mask)
    joined = head_outputs.transpose(0, 2, 1, 3).reshape(x.shape)
    self._cache = *self._cache[:2], joined
    return joined @ self.params["output_weights"] + self.params["output_bias"]


@mistake(
    criterion="multihead-attention",
    replaces="MultiheadSelfAttention.forward",
    text="The output projection was made without its bias.",
    fix="Add output_bias after the product with output_weights.",
)
def output_bias_forgotten(self, x, mask=None, right=MultiheadSelfAttention.forward):
    right(self, x, mask)
    return self._cache[2] @ self.params["output_weights"]


@mistake(
    criterion="multihead-masks",
    replaces="MultiheadSelfAttention.forward",
    text="The mask was read the wrong way round: every head looked at what it must not see.",
    fix="True means that a position may be attended to: put -inf where the mask is False.",
)
def head_mask_inverted(self, x, mask=None, right=MultiheadSelfAttention.forward):
    return right(self, x, None if mask is None else np.logical_not(mask))


@mistake(
    criterion="multihead-masks",
    replaces="MultiheadSelfAttention.forward",
    text="The heads did not heed the mask.",
    fix="Hand the mask on to the scores of the heads, (batch, num_heads, seq, seq), before the softmax.",
)
def head_mask_ignored(self, x, mask=None, right=MultiheadSelfAttention.forward):
    return right(self, x)


@mistake(
    criterion="multihead-masks",
    replaces="MultiheadSelfAttention.forward",
    text="All heads were given the mask of the first.",
    fix="Broadcast the mask to (batch, num_heads, seq, seq): it may differ from head to head.",
)
def first_heads_mask_for_all(self, x, mask=None, right=MultiheadSelfAttention.forward):
    if mask is None:
        return right(self, x)
    mask = np.broadcast_to(mask, (x.shape[0], self._num_heads, x.shape[1], x.shape[1]))
    return right(self, x, mask[:, :1])


@mistake(
    criterion="multihead-masks",
    replaces="MultiheadSelfAttention.forward",
    text="A position at which some head may attend to nothing became NaN.",
    fix="Take 0 for a maximum of -inf and 1 for a sum of 0: the weights of such a row are zeros.",
)
def masked_head_is_nan(self, x, mask=None, right=MultiheadSelfAttention.forward):
    output = right(self, x, mask)
    empty = self.attention_weights.sum(axis=-1) == 0
    self.attention_weights[empty] = np.nan
    output[empty.any(axis=1)] = np.nan
    return output


@mistake(
    criterion="multihead-gradients",
    replaces="MultiheadSelfAttention.backward",
    text="The gradients of queries and keys were not divided by sqrt(head_dim).",
    fix="Divide the gradient of the scores by sqrt(head_dim), as forward divided the scores.",
)
def head_scale_forgotten_on_the_way_back(self, grad_output, right=MultiheadSelfAttention.backward):
    right(self, grad_output)
    x, heads, _ = self._cache
    grad_joined = grad_output @ self.params["output_weights"].T
    grad_heads = grad_joined.reshape(*x.shape[:2], self._num_heads, -1).transpose(0, 2, 1, 3)
    grad_qkv = np.stack(_attend_backward(grad_heads, *heads, self.attention_weights))
    grad_qkv[:2] *= math.sqrt(heads.shape[-1])
    grad_qkv = grad_qkv.transpose(1, 3, 0, 2, 4).reshape(*x.shape[:2], -1)
    self.grads["qkv_weights"], self.grads["qkv_bias"] = _linear_gradients(x, grad_qkv)
    return grad_qkv @ self.params["qkv_weights"].T


@mistake(
    criterion="multihead-gradients",
    replaces="MultiheadSelfAttention.backward",
    text="The heads' gradients were reshaped to (batch, seq, 3 dim) at once, which mixes heads with positions.",
    fix="Bring the axes to (batch, seq, 3, num_heads, head_dim) first, then reshape.",
)
def head_gradients_joined_without_transposing(self, grad_output, right=MultiheadSelfAttention.backward):
    right(self, grad_output)
    x, heads, _ = self._cache
    grad_joined = grad_output @ self.params["output_weights"].T
    grad_heads = grad_joined.reshape(*x.shape[:2], self._num_heads, -1).transpose(0, 2, 1, 3)
    grads = [grad.reshape(x.shape) for grad in _attend_backward(grad_heads, *heads, self.attention_weights)]
    grad_qkv = np.concatenate(grads, axis=-1)
    self.grads["qkv_weights"], self.grads["qkv_bias"] = _linear_gradients(x, grad_qkv)
    return grad_qkv @ self.params["qkv_weights"].T


@mistake(
    criterion="multihead-gradients",
    replaces="MultiheadSelfAttention.backward",
    text="The gradients of the heads were put together as keys, queries, values.",
    fix="Use the order of forward: queries, keys, values.",
)
def fused_gradients_in_another_order(self, grad_output, right=MultiheadSelfAttention.backward):
    right(self, grad_output)
    x, heads, _ = self._cache
    grad_joined = grad_output @ self.params["output_weights"].T
    grad_heads = grad_joined.reshape(*x.shape[:2], self._num_heads, -1).transpose(0, 2, 1, 3)
    grad_qkv = np.stack(_attend_backward(grad_heads, *heads, self.attention_weights))[[1, 0, 2]]
    grad_qkv = grad_qkv.transpose(1, 3, 0, 2, 4).reshape(*x.shape[:2], -1)
    self.grads["qkv_weights"], self.grads["qkv_bias"] = _linear_gradients(x, grad_qkv)
    return grad_qkv @ self.params["qkv_weights"].T


@mistake(
    criterion="multihead-gradients",
    replaces="MultiheadSelfAttention.backward",
    text="The gradient of output_weights was taken with the layer's input; what they multiplied are the joined heads.",
    fix="Keep the joined heads in forward and use joined^T grad_output.",
)
def output_gradient_from_layer_input(self, grad_output, right=MultiheadSelfAttention.backward):
    grad_x = right(self, grad_output)
    self.grads["output_weights"] = _linear_gradients(self._cache[0], np.asarray(grad_output))[0]
    return grad_x


@mistake(
    criterion="layer-norm",
    replaces="LayerNorm.forward",
    text="Mean and variance were taken over the positions, the last axis but one.",
    fix="Take them over the last axis: every position is normalised by itself.",
)
def normalised_over_positions(self, x):
    x = _features(x, self._dim)
    centered = x - x.mean(axis=-2, keepdims=True)
    deviation = np.sqrt((centered**2).mean(axis=-2, keepdims=True) + self._eps)
    self._cache = centered / deviation, deviation
    return self.params["gamma"] * centered / deviation + self.params["beta"]


@mistake(
    criterion="layer-norm",
    replaces="LayerNorm.forward",
    text="The variance was divided by dim - 1.",
    fix="Divide the sum of squares by dim: np.var as it is, without ddof=1.",
)
def variance_divided_by_one_less(self, x):
    x = _features(x, self._dim)
    centered = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centered**2).sum(axis=-1, keepdims=True) / (self._dim - 1) + self._eps)
    self._cache = centered / deviation, deviation
    return self.params["gamma"] * centered / deviation + self.params["beta"]


@mistake(
    criterion="layer-norm",
    replaces="LayerNorm.forward",
    text="One mean and one variance served all positions of a sequence.",
    fix="Take them over the last axis only, so that each position has its own.",
)
def normalised_over_whole_sequence(self, x):
    x = _features(x, self._dim)
    axes = tuple(range(1, x.ndim)) or -1
    centered = x - x.mean(axis=axes, keepdims=True)
    deviation = np.sqrt((centered**2).mean(axis=axes, keepdims=True) + self._eps)
    self._cache = centered / deviation, deviation
    return self.params["gamma"] * centered / deviation + self.params["beta"]


@mistake(
    criterion="layer-norm",
    replaces="LayerNorm.forward",
    text="eps was left out, and a constant vector became 0 / 0 = NaN.",
    fix="Add eps to the variance before the square root.",
)
def eps_left_out(self, x):
    x = _features(x, self._dim)
    centered = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centered**2).mean(axis=-1, keepdims=True))
    self._cache = centered / deviation, deviation
    return self.params["gamma"] * centered / deviation + self.params["beta"]


@mistake(
    criterion="layer-norm",
    replaces="LayerNorm.forward",
    text="x was divided by the variance.",
    fix="Divide by the standard deviation, the square root of the variance plus eps.",
)
def divided_by_variance(self, x):
    x = _features(x, self._dim)
    centered = x - x.mean(axis=-1, keepdims=True)
    deviation = (centered**2).mean(axis=-1, keepdims=True) + self._eps
    self._cache = centered / deviation, deviation
    return self.params["gamma"] * centered / deviation + self.params["beta"]


@mistake(
    criterion="layer-norm-gradients",
    replaces="LayerNorm.backward",
    text="Mean and deviation were treated as constants: the gradient of x is grad * gamma / deviation alone.",
    fix="Both depend on x: with g = grad * gamma, subtract the mean of g and normalized * (mean of g * normalized).",
)
def statistics_as_constants(self, grad_output, right=LayerNorm.backward):
    right(self, grad_output)
    return grad_output * self.params["gamma"] / self._cache[1]


@mistake(
    criterion="layer-norm-gradients",
    replaces="LayerNorm.backward",
    text="The gradient of x leaves out that the variance depends on x.",
    fix="Subtract normalized times the mean of grad * gamma * normalized as well, before dividing.",
)
def variance_path_left_out(self, grad_output, right=LayerNorm.backward):
    right(self, grad_output)
    grad = grad_output * self.params["gamma"]
    return (grad - grad.mean(axis=-1, keepdims=True)) / self._cache[1]


@mistake(
    criterion="layer-norm-gradients",
    replaces="LayerNorm.backward",
    text="The gradient of x leaves out that the mean depends on x: the mean of grad * gamma was not subtracted.",
    fix="With g = grad * gamma, subtract the mean of g as well as normalized times the mean of g * normalized.",
)
def mean_path_left_out(self, grad_output, right=LayerNorm.backward):
    right(self, grad_output)
    normalized, deviation = self._cache
    grad = grad_output * self.params["gamma"]
    return (grad - normalized * (grad * normalized).mean(axis=-1, keepdims=True)) / deviation


@mistake(
    criterion="layer-norm-gradients",
    replaces="LayerNorm.backward",
    text="The gradient of x was computed as if gamma were 1.",
    fix="Multiply grad_output by gamma first.",
)
def gamma_forgotten_on_the_way_back(self, grad_output, right=LayerNorm.backward):
    right(self, grad_output)
    normalized, deviation = self._cache
    along = normalized * (grad_output * normalized).mean(axis=-1, keepdims=True)
    return (grad_output - np.mean(grad_output, axis=-1, keepdims=True) - along) / deviation


@mistake(
    criterion="layer-norm-gradients",
    replaces="LayerNorm.backward",
    text="The gradients of gamma and beta were averaged over the positions.",
    fix="Sum them: each position was scaled and shifted by the same gamma and beta.",
)
def norm_gradients_averaged(self, grad_output, right=LayerNorm.backward):
    grad_x = right(self, grad_output)
    positions = grad_x.size / self._dim
    self.grads = {name: value / positions for name, value in self.grads.items()}
    return grad_x


@mistake(
    criterion="mlp",
    replaces="MLP.forward",
    text="The hidden units went through ReLU.",
    fix="Use GELU, x/2 * (1 + erf(x / sqrt(2))): it is smooth, and slightly negative below zero.",
)
def relu_for_gelu(self, x, training=False, right=MLP.forward):
    right(self, x, training)
    x, before, hidden_scale, _, output_scale = self._cache
    hidden = np.maximum(before, 0) * hidden_scale
    self._cache = x, before, hidden_scale, hidden, output_scale
    return (hidden @ self.params["W2"] + self.params["b2"]) * output_scale


@mistake(
    criterion="mlp",
    replaces="MLP.forward",
    text="GELU was replaced by x * sigmoid(1.702 x), which is too rough an approximation of it.",
    fix="Use math.erf, or the approximation by tanh: x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))).",
)
def gelu_by_sigmoid(self, x, training=False, right=MLP.forward):
    right(self, x, training)
    x, before, hidden_scale, _, output_scale = self._cache
    hidden = before / (1 + np.exp(-1.702 * before)) * hidden_scale
    self._cache = x, before, hidden_scale, hidden, output_scale
    return (hidden @ self.params["W2"] + self.params["b2"]) * output_scale


@mistake(
    criterion="mlp",
    replaces="MLP.forward",
    text="GELU was computed with erf(x), without dividing x by sqrt(2).",
    fix="The normal distribution function is (1 + erf(x / sqrt(2))) / 2.",
)
def erf_without_root_two(self, x, training=False, right=MLP.forward):
    right(self, x, training)
    x, before, hidden_scale, _, output_scale = self._cache
    hidden = before * _normal_cdf(before * math.sqrt(2)) * hidden_scale
    self._cache = x, before, hidden_scale, hidden, output_scale
    return (hidden @ self.params["W2"] + self.params["b2"]) * output_scale


@mistake(
    criterion="mlp",
    replaces="MLP.__init__",
    text="Without a generator W1 and W2 are NaN: arrays were made for them, and never filled.",
    fix="Draw them from np.random.default_rng() where rng is None.",
)
def weights_never_drawn_without_a_generator(self, dim, hidden_dim, dropout=0.0, rng=None, right=MLP.__init__):
    right(self, dim, hidden_dim, dropout, rng)
    if rng is None:
        self.params = {
            **self.params,
            "W1": np.full((dim, hidden_dim), np.nan),
            "W2": np.full((hidden_dim, dim), np.nan),
        }


@mistake(
    criterion="mlp",
    replaces="MLP.forward",
    text="The output was computed without b2.",
    fix="Add b2 after the product with W2.",
)
def second_bias_forgotten(self, x, training=False, right=MLP.forward):
    kept = self.params
    self.params = {**kept, "b2": np.zeros_like(kept["b2"])}
    try:
        return right(self, x, training)
    finally:
        self.params = kept


@mistake(
    criterion="dropout",
    replaces="MLP.forward",
    text="What dropout left was not made larger, so that the expected value shrinks with the rate.",
    fix="Divide what is kept by 1 - dropout (inverted dropout).",
)
def dropout_not_inverted(self, x, training=False):
    x = _features(x, self._dim)
    rate = self._dropout if training else 0
    before = x @ self.params["W1"] + self.params["b1"]
    hidden_scale = (self._rng.random(before.shape) >= rate).astype(x.dtype)
    hidden = _gelu(before) * hidden_scale
    output = hidden @ self.params["W2"] + self.params["b2"]
    output_scale = (self._rng.random(x.shape) >= rate).astype(x.dtype)
    self._cache = x, before, hidden_scale, hidden, output_scale
    return output * output_scale


@mistake(
    criterion="dropout",
    replaces="MLP.forward",
    text="Numbers were dropped outside of training.",
    fix="Drop only where training is True; otherwise dropout changes nothing.",
)
def dropout_in_evaluation(self, x, training=False, right=MLP.forward):
    return right(self, x, True)


@mistake(
    criterion="dropout",
    replaces="MLP.forward",
    text="One mask was drawn for a single position and used for all: the same features vanish everywhere.",
    fix="Draw a number for each element: rng.random(x.shape).",
)
def one_mask_for_all_positions(self, x, training=False):
    x = _features(x, self._dim)
    rate = self._dropout if training else 0
    before = x @ self.params["W1"] + self.params["b1"]
    hidden_scale = (self._rng.random(before.shape[-1:]) >= rate).astype(x.dtype) / (1 - rate)
    hidden = _gelu(before) * hidden_scale
    output = hidden @ self.params["W2"] + self.params["b2"]
    output_scale = (self._rng.random(x.shape[-1:]) >= rate).astype(x.dtype) / (1 - rate)
    self._cache = x, before, hidden_scale, hidden, output_scale
    return output * output_scale


@mistake(
    criterion="dropout",
    replaces="MLP.forward",
    text="dropout was taken for the probability of keeping a number.",
    fix="Drop with probability dropout, and divide what is kept by 1 - dropout.",
)
def rate_taken_as_keep_probability(self, x, training=False):
    x = _features(x, self._dim)
    keep = self._dropout if training and self._dropout else 1
    before = x @ self.params["W1"] + self.params["b1"]
    hidden_scale = (self._rng.random(before.shape) < keep).astype(x.dtype) / keep
    hidden = _gelu(before) * hidden_scale
    output = hidden @ self.params["W2"] + self.params["b2"]
    output_scale = (self._rng.random(x.shape) < keep).astype(x.dtype) / keep
    self._cache = x, before, hidden_scale, hidden, output_scale
    return output * output_scale


@mistake(
    criterion="dropout",
    replaces="MLP.forward",
    text="Dropout follows GELU only; the output was not dropped from.",
    fix="Apply dropout twice: after GELU and after the second linear layer.",
)
def output_dropout_left_out(self, x, training=False):
    x = _features(x, self._dim)
    before = x @ self.params["W1"] + self.params["b1"]
    hidden_scale = self._draw_scale(before, training)
    hidden = _gelu(before) * hidden_scale
    self._cache = x, before, hidden_scale, hidden, 1
    return hidden @ self.params["W2"] + self.params["b2"]


@mistake(
    criterion="mlp-gradients",
    replaces="MLP.backward",
    text="The slope of GELU was taken as Phi(x); the product rule gives a second term.",
    fix="Use Phi(x) + x * phi(x), with phi(x) = exp(-x^2 / 2) / sqrt(2 pi).",
)
def gelu_slope_without_second_term(self, grad_output):
    x, before, hidden_scale, hidden, output_scale = _last_forward(self._cache)
    grad = _of_shape(grad_output, x.shape) * output_scale
    grad_before = grad @ self.params["W2"].T * hidden_scale * _normal_cdf(before)
    self.grads = {}
    self.grads["W1"], self.grads["b1"] = _linear_gradients(x, grad_before)
    self.grads["W2"], self.grads["b2"] = _linear_gradients(hidden, grad)
    return grad_before @ self.params["W1"].T


@mistake(
    criterion="mlp-gradients",
    replaces="MLP.backward",
    text="The slope of GELU was taken at the hidden values, after GELU.",
    fix="Take it at x W1 + b1, what GELU was applied to: keep that in forward.",
)
def slope_at_activated_values(self, grad_output):
    x, before, hidden_scale, hidden, output_scale = _last_forward(self._cache)
    grad = _of_shape(grad_output, x.shape) * output_scale
    grad_before = grad @ self.params["W2"].T * hidden_scale * _gelu_slope(hidden)
    self.grads = {}
    self.grads["W1"], self.grads["b1"] = _linear_gradients(x, grad_before)
    self.grads["W2"], self.grads["b2"] = _linear_gradients(hidden, grad)
    return grad_before @ self.params["W1"].T


@mistake(
    criterion="mlp-gradients",
    replaces="MLP.backward",
    text="backward drew new dropout masks.",
    fix="Keep the masks of the last forward call and multiply by these.",
)
def new_masks_in_backward(self, grad_output, right=MLP.backward):
    x, before, hidden_scale, hidden, output_scale = _last_forward(self._cache)
    dropped = not np.isscalar(hidden_scale) and self._dropout > 0
    scales = [self._draw_scale(values, dropped) for values in (before, x)]
    self._cache = x, before, scales[0], hidden, scales[1]
    return right(self, grad_output)


@mistake(
    criterion="mlp-gradients",
    replaces="MLP.backward",
    text="The gradient went back as if nothing had been dropped.",
    fix="Multiply by the masks of the last forward call, the output's first and then that of the hidden units.",
)
def dropout_forgotten_on_the_way_back(self, grad_output, right=MLP.backward):
    x, before, _, hidden, _ = _last_forward(self._cache)
    self._cache = x, before, 1, hidden, 1
    return right(self, grad_output)


@mistake(
    criterion="pre-norm-block",
    replaces="Block.forward",
    text="The sums were normalised, as in a post-LN block.",
    fix="Normalise what goes into the attention and into the MLP: x + attention(norm1(x)), then x + mlp(norm2(x)).",
)
def post_norm_in_block(self, x, mask=None, training=False):
    h = self.norm1.forward(x + self.attention.forward(x, mask))
    return self.norm2.forward(h + self.mlp.forward(h, training))


@mistake(
    criterion="pre-norm-block",
    replaces="Block.forward",
    text="Both residual connections are missing: x itself was not added.",
    fix="Add x to what the attention returns, and that sum to what the MLP returns.",
)
def no_residuals(self, x, mask=None, training=False):
    x = self.attention.forward(self.norm1.forward(x), mask)
    return self.mlp.forward(self.norm2.forward(x), training)


@mistake(
    criterion="pre-norm-block",
    replaces="Block.forward",
    text="The normalised input was added in the residual connections, in place of x.",
    fix="Add x as it was before the normalisation, so that it passes through the block untouched.",
)
def residual_from_normalised_input(self, x, mask=None, training=False):
    normalized = self.norm1.forward(x)
    x = normalized + self.attention.forward(normalized, mask)
    normalized = self.norm2.forward(x)
    return normalized + self.mlp.forward(normalized, training)


@mistake(
    criterion="pre-norm-block",
    replaces="Block.forward",
    text="norm1 was used in both places.",
    fix="Normalise with norm2 before the MLP: it has parameters of its own.",
)
def first_norm_twice(self, x, mask=None, training=False):
    x = x + self.attention.forward(self.norm1.forward(x), mask)
    self.norm2.forward(x)
    return x + self.mlp.forward(self.norm1.forward(x), training)


@mistake(
    criterion="pre-norm-block",
    replaces="Block.forward",
    text="The MLP's output was added to the block's input, so that the attention's contribution got lost.",
    fix="Add it to the sum of the first half, x + attention(norm1(x)).",
)
def second_residual_from_input(self, x, mask=None, training=False):
    h = x + self.attention.forward(self.norm1.forward(x), mask)
    return x + self.mlp.forward(self.norm2.forward(h), training)


@mistake(
    criterion="pre-norm-block",
    replaces="Block.forward",
    text="training was not passed on to the MLP, which therefore never drops.",
    fix="Call self.mlp.forward(..., training).",
)
def training_not_passed_on(self, x, mask=None, training=False, right=Block.forward):
    return right(self, x, mask)


@mistake(
    criterion="pre-norm-block-gradients",
    replaces="Block.backward",
    text="The gradient went through attention and MLP only; the residual connections carry it as well.",
    fix="Add the gradient that arrives at each sum to what comes out of its branch.",
)
def residual_gradients_forgotten(self, grad_output):
    grad = self.norm2.backward(self.mlp.backward(grad_output))
    return self.norm1.backward(self.attention.backward(grad))


@mistake(
    criterion="pre-norm-block-gradients",
    replaces="Block.backward",
    text="The residual connection around the attention was forgotten on the way back.",
    fix="Return the gradient that arrives at the first sum plus what came through attention and norm1.",
)
def attention_residual_gradient_forgotten(self, grad_output):
    grad = grad_output + self.norm2.backward(self.mlp.backward(grad_output))
    return self.norm1.backward(self.attention.backward(grad))


@mistake(
    criterion="pre-norm-block-gradients",
    replaces="Block.backward",
    text="The normalisations were passed over on the way back.",
    fix="Send what comes out of mlp through norm2.backward, and what comes out of attention through norm1.backward.",
)
def norms_skipped_on_the_way_back(self, grad_output, right=Block.backward):
    right(self, grad_output)
    grad = grad_output + self.mlp.backward(grad_output)
    return grad + self.attention.backward(grad)


@mistake(
    criterion="pre-norm-block-gradients",
    replaces="Block.backward",
    text="The first residual connection carried grad_output, without what the MLP's half had added to it.",
    fix="Add the gradient at the sum between the halves, grad_output + norm2.backward(mlp.backward(grad_output)).",
)
def first_residual_carries_grad_output(self, grad_output):
    grad = grad_output + self.norm2.backward(self.mlp.backward(grad_output))
    return grad_output + self.norm1.backward(self.attention.backward(grad))


@mistake(
    criterion="post-norm-block",
    replaces="PostNormBlock.forward",
    text="The inputs of attention and MLP were normalised, as in a pre-LN block.",
    fix="Normalise the sums: norm1(x + attention(x)), then norm2(h + mlp(h)).",
)
def pre_norm_in_post_norm_block(self, x, mask=None, training=False):
    x = x + self.attention.forward(self.norm1.forward(x), mask)
    return x + self.mlp.forward(self.norm2.forward(x), training)


@mistake(
    criterion="post-norm-block",
    replaces="PostNormBlock.forward",
    text="The outputs of attention and MLP were normalised before the addition: x + norm1(attention(x)).",
    fix="Add first and normalise the sum: norm1(x + attention(x)).",
)
def normalised_before_addition(self, x, mask=None, training=False):
    h = x + self.norm1.forward(self.attention.forward(x, mask))
    return h + self.norm2.forward(self.mlp.forward(h, training))


@mistake(
    criterion="post-norm-block",
    replaces="PostNormBlock.forward",
    text="The MLP's output was added to the block's input.",
    fix="Add it to h, the normalised sum of the first half.",
)
def second_sum_starts_from_input(self, x, mask=None, training=False):
    h = self.norm1.forward(x + self.attention.forward(x, mask))
    return self.norm2.forward(x + self.mlp.forward(h, training))


@mistake(
    criterion="post-norm-block",
    replaces="PostNormBlock.forward",
    text="The second sum was returned without normalising it.",
    fix="Return norm2 of h + mlp(h).",
)
def last_norm_of_block_forgotten(self, x, mask=None, training=False):
    h = self.norm1.forward(x + self.attention.forward(x, mask))
    output = h + self.mlp.forward(h, training)
    self.norm2.forward(output)
    return output


@mistake(
    criterion="post-norm-block-gradients",
    replaces="PostNormBlock.backward",
    text="The gradient went through attention and MLP only; a sum passes it on to both of its terms.",
    fix="Add the gradient that left each normalisation to what came back through the MLP or the attention.",
)
def post_norm_residual_gradients_forgotten(self, grad_output):
    grad = self.norm1.backward(self.mlp.backward(self.norm2.backward(grad_output)))
    return self.attention.backward(grad)


@mistake(
    criterion="post-norm-block-gradients",
    replaces="PostNormBlock.backward",
    text="The residual connection around the MLP is missing on the way back.",
    fix="Give norm1 the gradient that left norm2 plus what came back through the MLP.",
)
def post_norm_mlp_residual_forgotten(self, grad_output):
    grad = self.norm1.backward(self.mlp.backward(self.norm2.backward(grad_output)))
    return grad + self.attention.backward(grad)


@mistake(
    criterion="post-norm-block-gradients",
    replaces="PostNormBlock.backward",
    text="The residual connections carried the gradient past the normalisations.",
    fix="Go through norm2.backward first, and add its result; the same for norm1.",
)
def residual_gradient_past_the_norm(self, grad_output):
    grad = grad_output + self.mlp.backward(self.norm2.backward(grad_output))
    return grad + self.attention.backward(self.norm1.backward(grad))


@mistake(
    criterion="post-norm-block-gradients",
    replaces="PostNormBlock.backward",
    text="The backward of a pre-LN block was used, with the normalisations inside of the branches.",
    fix="Here the normalisation came last in each half, so it is the first to go back through.",
)
def pre_norm_backward_in_post_norm_block(self, grad_output):
    grad = grad_output + self.norm2.backward(self.mlp.backward(grad_output))
    return grad + self.norm1.backward(self.attention.backward(grad))


@mistake(
    criterion="encoder",
    replaces="Encoder.forward",
    text="The final normalisation is missing: this is what the last block returned.",
    fix="Return norm of the last block's output.",
)
def final_norm_forgotten(self, x, mask=None, training=False):
    for block in self.blocks:
        x = block.forward(x, mask, training)
    self.norm.forward(x)
    return x


@mistake(
    criterion="encoder",
    replaces="Encoder.__init__",
    text="The list holds one block several times over: all of them share their parameters.",
    fix="Make a new Block for each place, [Block(...) for _ in range(depth)]; [Block(...)] * depth repeats one.",
)
def one_block_repeated(self, depth, dim, num_heads, mlp_ratio=4.0, dropout=0.0, rng=None, right=Encoder.__init__):
    right(self, depth, dim, num_heads, mlp_ratio, dropout, rng)
    self.blocks = self.blocks[:1] * depth


@mistake(
    criterion="encoder",
    replaces="Encoder.forward",
    text="The final normalisation was applied after every block.",
    fix="Apply it once, after the last block.",
)
def final_norm_after_every_block(self, x, mask=None, training=False):
    for block in self.blocks:
        x = self.norm.forward(block.forward(x, mask, training))
    return x


@mistake(
    criterion="encoder",
    replaces="Encoder.forward",
    text="Only the first block got the mask.",
    fix="Pass the mask to every block.",
)
def mask_for_first_block_only(self, x, mask=None, training=False):
    for i, block in enumerate(self.blocks):
        x = block.forward(x, mask if i == 0 else None, training)
    return self.norm.forward(x)


@mistake(
    criterion="encoder",
    replaces="Encoder.forward",
    text="Every block was applied to the encoder's input, and only the last one's output was used.",
    fix="Apply each block to the output of the one before.",
)
def every_block_on_the_input(self, x, mask=None, training=False):
    outputs = [block.forward(x, mask, training) for block in self.blocks]
    return self.norm.forward(outputs[-1])


@mistake(
    criterion="encoder-gradients",
    replaces="Encoder.backward",
    text="The blocks were taken back from the first to the last.",
    fix="Go backwards: the last block first.",
)
def blocks_taken_back_first_to_last(self, grad_output):
    grad = self.norm.backward(grad_output)
    for block in self.blocks:
        grad = block.backward(grad)
    return grad


@mistake(
    criterion="encoder-gradients",
    replaces="Encoder.backward",
    text="The final normalisation was passed over on the way back.",
    fix="Send grad_output through norm.backward before the blocks.",
)
def final_norm_skipped_on_the_way_back(self, grad_output):
    self.norm.backward(grad_output)
    for block in reversed(self.blocks):
        grad_output = block.backward(grad_output)
    return grad_output


@mistake(
    criterion="encoder-gradients",
    replaces="Encoder.backward",
    text="Every block was given the gradient that left the final normalisation.",
    fix="Hand each block the gradient that the block after it returned.",
)
def same_gradient_for_every_block(self, grad_output):
    grad = self.norm.backward(grad_output)
    return [block.backward(grad) for block in reversed(self.blocks)][-1]


@mistake(
    criterion="encoder-gradients",
    replaces="Encoder.backward",
    text="The gradient stopped after the last block: the others were not taken back through.",
    fix="Loop over all blocks, last to first.",
)
def only_last_block_taken_back(self, grad_output):
    return self.blocks[-1].backward(self.norm.backward(grad_output))


@mistake(
    criterion="independent-layer",
    replaces="Block.__init__",
    text="The block's attention has a single head: num_heads was not passed on.",
    fix="Build it with MultiheadSelfAttention(dim, num_heads, rng).",
)
def single_head_in_block(self, dim, num_heads, mlp_ratio=4.0, dropout=0.0, rng=None, right=Block.__init__):
    right(self, dim, 1, mlp_ratio, dropout, rng)


@mistake(
    criterion="independent-layer",
    replaces="Block.forward",
    text="norm2 was applied once more to the block's output.",
    fix="Return x + mlp(norm2(x)) as it is: in a pre-LN block the sum is not normalised.",
)
def block_output_normalised_again(self, x, mask=None, training=False, right=Block.forward):
    return self.norm2.forward(right(self, x, mask, training))


@mistake(
    criterion="independent-layer",
    replaces="Block.forward",
    text="The MLP has no residual connection: its output replaced the sum of the first half.",
    fix="Return x + mlp(norm2(x)), with x the sum of the first half.",
)
def mlp_without_residual(self, x, mask=None, training=False):
    x = x + self.attention.forward(self.norm1.forward(x), mask)
    return self.mlp.forward(self.norm2.forward(x), training)


@mistake(
    criterion="independent-layer",
    replaces="MultiheadSelfAttention.backward",
    text="The attention weights were treated as constants on the way back, so queries and keys got no gradient.",
    fix="Send the gradient through the softmax to the scores, and from there to queries and keys.",
)
def weights_as_constants(self, grad_output, right=MultiheadSelfAttention.backward):
    right(self, grad_output)
    x, heads, _ = self._cache
    grad_joined = grad_output @ self.params["output_weights"].T
    grad_heads = grad_joined.reshape(*x.shape[:2], self._num_heads, -1).transpose(0, 2, 1, 3)
    grad_qkv = np.stack(_attend_backward(grad_heads, *heads, self.attention_weights))
    grad_qkv[:2] = 0
    grad_qkv = grad_qkv.transpose(1, 3, 0, 2, 4).reshape(*x.shape[:2], -1)
    self.grads["qkv_weights"], self.grads["qkv_bias"] = _linear_gradients(x, grad_qkv)
    return grad_qkv @ self.params["qkv_weights"].T


@mistake(
    criterion="trains-to-sort",
    replaces="Encoder.backward",
    text="backward returned grad_output itself, so what lies before the encoder learns from a wrong gradient.",
    fix="Return what the first block's backward gives.",
)
def grad_output_returned(self, grad_output, right=Encoder.backward):
    right(self, grad_output)
    return np.array(grad_output)


@mistake(
    criterion="trains-to-sort",
    replaces="Encoder.backward",
    text="backward returned zeros: nothing before the encoder can learn.",
    fix="Return what the first block's backward gives.",
)
def zero_gradient_returned(self, grad_output, right=Encoder.backward):
    return np.zeros_like(right(self, grad_output))


@mistake(
    criterion="trains-to-sort",
    replaces="Encoder.forward",
    text="The encoder went on with the parameters of its first call: what an optimiser sets has no effect.",
    fix="Read params at each call of forward; keep no copy of them.",
)
def parameters_of_first_call_kept(self, x, mask=None, training=False, right=Encoder.forward):
    leaves = [getattr(block, name) for block in self.blocks for name in ("norm1", "attention", "norm2", "mlp")]
    leaves.append(self.norm)
    if not hasattr(self, "_first"):
        self._first = [leaf.params for leaf in leaves]
    now = [leaf.params for leaf in leaves]
    for leaf, first in zip(leaves, self._first, strict=True):
        leaf.params = first
    try:
        return right(self, x, mask, training)
    finally:
        for leaf, params in zip(leaves, now, strict=True):
            leaf.params = params


@mistake(
    criterion="trains-to-sort",
    replaces="Encoder.forward",
    text="Batch and positions were exchanged: every token attended to tokens of other sequences at its own position.",
    fix="x is (batch, seq, dim): attend along axis 1, and keep the sequences of a batch apart.",
)
def attends_across_the_batch(self, x, mask=None, training=False, right=Encoder.forward):
    return right(self, np.swapaxes(np.asarray(x), 0, 1), None, training).swapaxes(0, 1)

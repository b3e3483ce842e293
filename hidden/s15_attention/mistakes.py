"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own function as the default of `right`.
"""

import numpy as np

from grader.course.answers import mistake
from hidden.s15_attention.solution import (
    MultiHeadAttention,
    TransformerEncoderBlock,
    _mask_for,
    _normalize,
    _of_shape,
    _require_heads_divide,
    _sum_leading_axes,
    _weighted_values,
    add_positional_encoding,
    additive_attention,
    apply_attention_mask,
    attention_weights,
    compute_attention_scores,
    create_causal_mask,
    create_padding_mask,
    feed_forward,
    feed_forward_backward,
    layer_norm,
    layer_norm_backward,
    learned_positional_encoding,
    merge_heads,
    multi_head_attention_backward,
    multi_head_attention_forward,
    scaled_dot_product_attention,
    sinusoidal_encoding,
    split_heads,
)


@mistake(
    criterion="attention-scores",
    replaces="compute_attention_scores",
    text="Q was transposed instead of K, so that positions are summed up and features are compared with features.",
    fix="Leave Q as it is and swap the last two axes of K: queries give the rows, keys the columns.",
)
def query_transposed_instead_of_key(Q, K, scale=True):
    return np.swapaxes(Q, -1, -2) @ K / (Q.shape[-1] ** 0.5 if scale else 1.0)


@mistake(
    criterion="attention-scores",
    replaces="compute_attention_scores",
    text="This is the table turned over: keys multiplied by transposed queries, with one row for each key.",
    fix="Put Q on the left and transpose K, so that each row belongs to a query.",
)
def keys_times_queries(Q, K, scale=True, right=compute_attention_scores):
    return right(K, Q, scale)


@mistake(
    criterion="attention-scores",
    replaces="compute_attention_scores",
    text="These are the plain dot products: they were not divided by the square root of d_k.",
    fix="Divide by the square root of the size of Q's last axis, unless scale is False.",
)
def forgot_scaling(Q, K, scale=True, right=compute_attention_scores):
    return right(Q, K, scale=False)


@mistake(
    criterion="attention-scores",
    replaces="compute_attention_scores",
    text="The dot products were divided by d_k itself.",
    fix="Divide by the square root of d_k: that is the standard deviation of such a dot product, d_k is its variance.",
)
def scaled_by_d_k(Q, K, scale=True, right=compute_attention_scores):
    return right(Q, K, scale=False) / (Q.shape[-1] if scale else 1)


@mistake(
    criterion="attention-scores",
    replaces="compute_attention_scores",
    text="The dot products were multiplied by the square root of d_k.",
    fix="Divide by it instead: scaling is there to keep the scores small when d_k is large.",
)
def multiplied_by_root_d_k(Q, K, scale=True, right=compute_attention_scores):
    return right(Q, K, scale=False) * (Q.shape[-1] ** 0.5 if scale else 1.0)


@mistake(
    criterion="attention-weights",
    replaces="attention_weights",
    text="The softmax ran along the queries: each column sums to 1, and the rows do not.",
    fix="Let it run along the last axis by default, the axis of the keys, so that each query's weights sum to 1.",
)
def wrong_softmax_axis(scores, axis=-2, right=attention_weights):
    return right(scores, axis)


@mistake(
    criterion="attention-weights",
    replaces="attention_weights",
    text="One softmax went over the whole array: all its weights together sum to 1, instead of those of each query.",
    fix="Take the maximum and the sum along axis only, and keep that axis so that both broadcast.",
)
def softmax_over_whole_array(scores, axis=-1):
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


@mistake(
    criterion="attention-weights",
    replaces="attention_weights",
    text="The largest of all scores was subtracted from every row: in rows far below it, all exponentials are 0.",
    fix="Take the maximum along axis, with keepdims=True, so that each row has its own largest score subtracted.",
)
def one_maximum_and_rows_of_zeros(scores, axis=-1):
    powers = np.exp(scores - np.nan_to_num(scores.max()))
    total = powers.sum(axis=axis, keepdims=True)
    return powers / np.where(total == 0, 1, total)


@mistake(
    criterion="attention-weights",
    replaces="attention_weights",
    text="These are the exponentials before normalising: they were not divided by their sum.",
    fix="Divide by the sum of the exponentials along axis.",
)
def exponentials_not_normalised(scores, axis=-1):
    peak = scores.max(axis=axis, keepdims=True)
    return np.exp(scores - np.where(peak == -np.inf, 0, peak))


@mistake(
    criterion="attention-weights",
    replaces="attention_weights",
    text="The exponential of a large score overflowed to infinity, and infinity divided by infinity is NaN.",
    fix="Subtract the maximum along axis from the scores before the exponential: the weights stay the same.",
)
def unstable_softmax(scores, axis=-1):
    powers = np.exp(scores)
    empty = np.isneginf(scores).all(axis=axis, keepdims=True)
    return np.where(empty, 0, powers / powers.sum(axis=axis, keepdims=True)).astype(scores.dtype)


@mistake(
    criterion="attention-weights",
    replaces="attention_weights",
    text="Each row had the maximum of the whole array subtracted; in a row far below it, all exponentials are 0.",
    fix="Subtract from each row its own maximum, taken along axis and kept as an axis.",
)
def one_maximum_for_all_rows(scores, axis=-1):
    powers = np.exp(scores - scores.max())
    empty = np.isneginf(scores).all(axis=axis, keepdims=True)
    return np.where(empty, 0, powers / powers.sum(axis=axis, keepdims=True)).astype(scores.dtype)


@mistake(
    criterion="attention-weights",
    replaces="attention_weights",
    text="A row of nothing but -inf became NaN, since -inf minus its maximum -inf is not a number.",
    fix="Give such a row weights of 0: put 0 for a maximum of -inf, and do not divide where the sum is 0.",
)
def fully_masked_row_nan(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


@mistake(
    criterion="scaled-dot-product",
    replaces="scaled_dot_product_attention",
    text="Keys and values changed places: the values were compared with the queries, and the keys were averaged.",
    fix="Compute the scores from Q and K, and multiply the weights by V.",
)
def keys_and_values_swapped(Q, K, V, mask=None, right=scaled_dot_product_attention):
    return right(Q, V, K, mask)


@mistake(
    criterion="scaled-dot-product",
    replaces="scaled_dot_product_attention",
    text="The values were multiplied by the scores themselves: the softmax is missing.",
    fix="Turn the scores into weights first, and use these for the output and as the second result.",
)
def softmax_forgotten(Q, K, V, mask=None):
    scores = compute_attention_scores(Q, K)
    scores = scores if mask is None else apply_attention_mask(scores, mask)
    return scores @ V, scores


@mistake(
    criterion="scaled-dot-product",
    replaces="scaled_dot_product_attention",
    text="The mask was multiplied into the weights after the softmax, so a masked row no longer sums to 1.",
    fix="Apply the mask to the scores, before the softmax shares out the weight among the keys that are left.",
)
def mask_after_softmax(Q, K, V, mask=None):
    weights = attention_weights(compute_attention_scores(Q, K))
    weights = weights if mask is None else weights * np.asarray(mask).astype(weights.dtype)
    return weights @ V, weights


@mistake(
    criterion="scaled-dot-product",
    replaces="scaled_dot_product_attention",
    text="Hidden keys got the score -1e9. Where the others score lower still, hidden keys have all of the weight.",
    fix="Hide keys with -np.inf: apply_attention_mask(scores, mask, mask_value=-np.inf).",
)
def hidden_scores_are_finite(Q, K, V, mask=None, right=scaled_dot_product_attention):
    if mask is None:
        return right(Q, K, V)
    weights = attention_weights(apply_attention_mask(compute_attention_scores(Q, K), mask))
    weights = weights * np.asarray(mask).astype(bool)
    return weights @ V, weights


@mistake(
    criterion="scaled-dot-product",
    replaces="scaled_dot_product_attention",
    text="A query with all its keys masked spreads its attention evenly over them: every score became the same number.",
    fix="Give such a query weights and output of 0: mask with -inf, which your softmax turns into zeros.",
)
def fully_masked_row_uniform(Q, K, V, mask=None):
    scores = compute_attention_scores(Q, K)
    weights = attention_weights(scores if mask is None else apply_attention_mask(scores, mask))
    return weights @ V, weights


@mistake(
    criterion="scaled-dot-product",
    replaces="scaled_dot_product_attention",
    text="A query with all its keys masked attends as if there were no mask: its scores were lowered all alike.",
    fix="Give such a query weights and output of 0: mask with -inf, or set its weights to 0 after the softmax.",
)
def fully_masked_row_attends(Q, K, V, mask=None):
    scores = compute_attention_scores(Q, K)
    if mask is not None:
        scores = scores + ((1 - np.asarray(mask).astype(int)) * -1e9).astype(scores.dtype)
    weights = attention_weights(scores)
    return weights @ V, weights


@mistake(
    criterion="attention-mask",
    replaces="apply_attention_mask",
    text="The mask was read the wrong way round: the positions that may be attended to were masked.",
    fix="Keep the scores where the mask is True (or 1), and put mask_value where it is False (or 0).",
)
def mask_inverted(scores, mask, mask_value=-1e9):
    return np.where(_mask_for("scores", mask, scores.shape), mask_value, scores)


@mistake(
    criterion="attention-mask",
    replaces="apply_attention_mask",
    text="The mask was multiplied into the scores: a masked score is 0, which softmax still gives weight to.",
    fix="Put mask_value in its place, a score so low that its exponential is 0.",
)
def mask_multiplied_into_scores(scores, mask, mask_value=-1e9):
    return scores * _mask_for("scores", mask, scores.shape)


@mistake(
    criterion="attention-mask",
    replaces="apply_attention_mask",
    text="With a mask_value of -inf this is 0 times infinity, which is NaN, at each position that is not masked.",
    fix="Choose between the score and mask_value at each position instead of multiplying the mask by mask_value.",
)
def zero_times_infinity(scores, mask, mask_value=-1e9):
    return scores + (1 - _mask_for("scores", mask, scores.shape)) * mask_value


@mistake(
    criterion="attention-mask",
    replaces="apply_attention_mask",
    text="A mask with more axes than the scores went through, and broadcasting repeated the scores to its shape.",
    fix="Broadcast the mask to the shape of scores, never the other way, and raise ValueError if it does not fit.",
)
def mask_enlarges_scores(scores, mask, mask_value=-1e9):
    return np.where(mask, scores, scores.dtype.type(mask_value))


@mistake(
    criterion="attention-mask",
    replaces="apply_attention_mask",
    text="The masked values were written into the caller's own array of scores.",
    fix="Work on a copy, or let a function that makes a new array choose the values.",
)
def scores_changed_in_place(scores, mask, mask_value=-1e9):
    scores[~_mask_for("scores", mask, scores.shape)] = mask_value
    return scores


@mistake(
    criterion="split-heads",
    replaces="split_heads",
    text="This is what you get by reshaping straight to (batch, heads, seq, d_k): tokens are mixed across heads.",
    fix="Reshape to (batch, seq, heads, d_k) first, then swap axes 1 and 2.",
)
def reshape_without_transpose(x, num_heads):
    batch, seq, d_model = x.shape
    _require_heads_divide(num_heads, d_model)
    return x.reshape(batch, num_heads, seq, d_model // num_heads)


@mistake(
    criterion="split-heads",
    replaces="split_heads",
    text="The features were dealt out to the heads in turn: the last axis was cut into (d_k, heads).",
    fix="Cut it into (heads, d_k), so that each head gets neighbouring features.",
)
def heads_interleaved(x, num_heads):
    batch, seq, d_model = x.shape
    _require_heads_divide(num_heads, d_model)
    return x.reshape(batch, seq, d_model // num_heads, num_heads).transpose(0, 3, 1, 2)


@mistake(
    criterion="split-heads",
    replaces="split_heads",
    text="The features are cut into heads, but the heads still stand behind the sequence: (batch, seq, heads, d_k).",
    fix="Swap axes 1 and 2 after the reshape.",
)
def heads_left_behind_the_sequence(x, num_heads):
    batch, seq, d_model = x.shape
    _require_heads_divide(num_heads, d_model)
    return x.reshape(batch, seq, num_heads, d_model // num_heads)


@mistake(
    criterion="split-heads",
    replaces="split_heads",
    text="num_heads does not divide d_model, and the features left over by the floor division were dropped.",
    fix="Raise ValueError unless d_model is a multiple of num_heads.",
)
def leftover_features_dropped(x, num_heads):
    batch, seq, d_model = x.shape
    d_k = d_model // num_heads
    return x[:, :, : num_heads * d_k].reshape(batch, seq, num_heads, d_k).transpose(0, 2, 1, 3)


@mistake(
    criterion="merge-heads",
    replaces="merge_heads",
    text="This is what you get by reshaping straight to (batch, seq, heads * d_k): each row mixes tokens of one head.",
    fix="Swap the axes of heads and sequence first, then reshape.",
)
def merge_without_transpose(x):
    batch, heads, seq, d_k = x.shape
    return x.reshape(batch, seq, heads * d_k)


@mistake(
    criterion="merge-heads",
    replaces="merge_heads",
    text="The features of the heads were interleaved: the last two axes were (d_k, heads) when they became one.",
    fix="Bring the axes into the order (batch, seq, heads, d_k) before the reshape.",
)
def heads_interleaved_by_merging(x):
    batch, heads, seq, d_k = x.shape
    return x.transpose(0, 2, 3, 1).reshape(batch, seq, d_k * heads)


@mistake(
    criterion="merge-heads",
    replaces="merge_heads",
    text="The heads were added up, so that only d_k features are left of each token.",
    fix="Put the features of the heads next to each other; nothing is added.",
)
def heads_added_up(x):
    return x.sum(axis=1)


@mistake(
    criterion="multi-head-forward",
    replaces="multi_head_attention_forward",
    text="This is the merged output of the heads: the output projection W_O is missing.",
    fix="Multiply the merged heads by W_O from the right.",
)
def output_projection_forgotten(Q, K, V, W_Q, W_K, W_V, W_O, num_heads, mask=None, right=multi_head_attention_forward):
    return right(Q, K, V, W_Q, W_K, W_V, np.eye(len(W_O)), num_heads, mask)


@mistake(
    criterion="multi-head-forward",
    replaces="multi_head_attention_forward",
    text="The keys were projected with W_V and the values with W_K.",
    fix="Project each of Q, K and V with the matrix of its own name.",
)
def key_and_value_weights_swapped(
    Q, K, V, W_Q, W_K, W_V, W_O, num_heads, mask=None, right=multi_head_attention_forward
):
    return right(Q, K, V, W_Q, W_V, W_K, W_O, num_heads, mask)


@mistake(
    criterion="multi-head-forward",
    replaces="multi_head_attention_forward",
    text="All four projections used the transposed matrices.",
    fix="Multiply by each matrix as it is, from the right; its columns are the features that come out.",
)
def weights_used_transposed(Q, K, V, W_Q, W_K, W_V, W_O, num_heads, mask=None, right=multi_head_attention_forward):
    return right(Q, K, V, W_Q.T, W_K.T, W_V.T, W_O.T, num_heads, mask)


@mistake(
    criterion="multi-head-forward",
    replaces="multi_head_attention_forward",
    text="The scores of each head were divided by the square root of d_model.",
    fix="Divide by the square root of d_k, the number of features that one head compares.",
)
def scaled_by_root_d_model(Q, K, V, W_Q, W_K, W_V, W_O, num_heads, mask=None, right=multi_head_attention_forward):
    return right(Q / num_heads**0.5, K, V, W_Q, W_K, W_V, W_O, num_heads, mask)


@mistake(
    criterion="multi-head-forward",
    replaces="multi_head_attention_forward",
    text="The heads were never split: one attention compared all features, whatever num_heads says.",
    fix="Split the projected queries, keys and values, let each head attend by itself, and merge the results.",
)
def heads_never_split(Q, K, V, W_Q, W_K, W_V, W_O, num_heads, mask=None, right=multi_head_attention_forward):
    _require_heads_divide(num_heads, Q.shape[-1])
    return right(Q, K, V, W_Q, W_K, W_V, W_O, 1, mask)


@mistake(
    criterion="multi-head-forward",
    replaces="multi_head_attention_forward",
    text="A mask (batch, seq_q, seq_k) got no axis for the heads, so that its batch axis was lined up with them.",
    fix="Insert an axis of size 1 at position 1 into a mask of three axes, before it meets the scores of the heads.",
)
def mask_without_heads_axis(Q, K, V, W_Q, W_K, W_V, W_O, num_heads, mask=None, right=multi_head_attention_forward):
    if np.ndim(mask) == 3:
        mask = np.asarray(mask)[None]
    return right(Q, K, V, W_Q, W_K, W_V, W_O, num_heads, mask)


@mistake(
    criterion="sinusoidal-encoding",
    replaces="sinusoidal_encoding",
    text="Sine and cosine changed places: the even columns hold the cosines.",
    fix="Put the sines into columns 0, 2, 4 and so on, the cosines into columns 1, 3, 5.",
)
def sine_and_cosine_swapped(max_length, d_model):
    angles = np.arange(max_length)[:, None] / 10000.0 ** (np.arange(0, d_model, 2) / d_model)
    encoding = np.empty((max_length, d_model))
    encoding[:, 0::2], encoding[:, 1::2] = np.cos(angles), np.sin(angles[:, : d_model // 2])
    return encoding


@mistake(
    criterion="sinusoidal-encoding",
    replaces="sinusoidal_encoding",
    text="All sines stand in the first half of the columns and all cosines in the second.",
    fix="Let them take turns: each sine is followed by the cosine of the same angle.",
)
def sines_then_cosines(max_length, d_model, right=sinusoidal_encoding):
    encoding = right(max_length, d_model)
    return np.concatenate([encoding[:, 0::2], encoding[:, 1::2]], axis=1)


@mistake(
    criterion="sinusoidal-encoding",
    replaces="sinusoidal_encoding",
    text="The exponent is half of what it should be: the number of the pair, i, stands where 2i belongs.",
    fix="Use the exponents 0, 2/d_model, 4/d_model and so on: the number of the even column over d_model.",
)
def exponent_without_the_two(max_length, d_model):
    angles = np.arange(max_length)[:, None] / 10000.0 ** (np.arange(0, d_model, 2) / 2 / d_model)
    encoding = np.empty((max_length, d_model))
    encoding[:, 0::2], encoding[:, 1::2] = np.sin(angles), np.cos(angles[:, : d_model // 2])
    return encoding


@mistake(
    criterion="sinusoidal-encoding",
    replaces="sinusoidal_encoding",
    text="Each column has a frequency of its own: the cosine does not use the angle of the sine before it.",
    fix="Give columns 2i and 2i+1 the same exponent, 2i/d_model.",
)
def columns_do_not_share_a_frequency(max_length, d_model):
    columns = np.arange(d_model)
    angles = np.arange(max_length)[:, None] / 10000.0 ** (columns / d_model)
    return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))


@mistake(
    criterion="sinusoidal-encoding",
    replaces="sinusoidal_encoding",
    text="The frequencies are powers of e, not of 10000.",
    fix="Divide the position by 10000 to the power 2i/d_model; with exp, the exponent needs the factor log(10000).",
)
def base_e_instead_of_10000(max_length, d_model):
    angles = np.arange(max_length)[:, None] * np.exp(-np.arange(0, d_model, 2) / d_model)
    encoding = np.empty((max_length, d_model))
    encoding[:, 0::2], encoding[:, 1::2] = np.sin(angles), np.cos(angles[:, : d_model // 2])
    return encoding


@mistake(
    criterion="sinusoidal-encoding",
    replaces="sinusoidal_encoding",
    text="The positions were counted from 1, so each row is the one that belongs after it.",
    fix="Begin with position 0, whose row is 0, 1, 0, 1 and so on.",
)
def positions_from_one(max_length, d_model, right=sinusoidal_encoding):
    return right(max_length + 1, d_model)[1:]


@mistake(
    criterion="sinusoidal-encoding",
    replaces="sinusoidal_encoding",
    text="An odd d_model has one column fewer for cosines than for sines, and the angles do not fit into them.",
    fix="Leave the last angle out when you fill the odd columns and d_model is odd.",
)
def odd_d_model_crashes(max_length, d_model, right=sinusoidal_encoding):
    if d_model % 2:
        raise ValueError("the cosines do not fit into the odd columns")
    return right(max_length, d_model)


@mistake(
    criterion="layer-norm",
    replaces="layer_norm",
    text="Mean and variance were taken over the first axis, across the batch, as in batch normalisation.",
    fix="Take them over the last axis, so that each token is normalised by its own features.",
)
def normalised_over_the_batch(x, gamma, beta, eps=1e-6):
    return gamma * (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + eps) + beta


@mistake(
    criterion="layer-norm",
    replaces="layer_norm",
    text="One mean and one variance were taken over the whole array.",
    fix="Take them over the last axis and keep it as an axis of size 1, so that each token has its own.",
)
def normalised_over_the_whole_array(x, gamma, beta, eps=1e-6):
    return gamma * (x - x.mean()) / np.sqrt(x.var() + eps) + beta


@mistake(
    criterion="layer-norm",
    replaces="layer_norm",
    text="The variance was divided by d_model - 1, as for a sample.",
    fix="Divide by d_model: layer norm uses the population variance.",
)
def sample_variance(x, gamma, beta, eps=1e-6):
    centered = x - x.mean(axis=-1, keepdims=True)
    return gamma * centered / np.sqrt(x.var(axis=-1, ddof=1, keepdims=True) + eps) + beta


@mistake(
    criterion="layer-norm",
    replaces="layer_norm",
    text="The features were divided by their variance.",
    fix="Divide by the square root of the variance, so that the result has variance 1.",
)
def divided_by_the_variance(x, gamma, beta, eps=1e-6):
    return gamma * (x - x.mean(axis=-1, keepdims=True)) / (x.var(axis=-1, keepdims=True) + eps) + beta


@mistake(
    criterion="layer-norm",
    replaces="layer_norm",
    text="eps is not used, so a token whose features are all alike is 0 divided by 0.",
    fix="Add eps to the variance before you take the root.",
)
def eps_forgotten(x, gamma, beta, eps=1e-6):
    return gamma * (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True) + beta


@mistake(
    criterion="layer-norm",
    replaces="layer_norm",
    text="The features were normalised and shifted, but not scaled by gamma.",
    fix="Multiply the normalised features by gamma before you add beta.",
)
def gamma_forgotten(x, gamma, beta, eps=1e-6, right=layer_norm):
    return right(x, np.ones_like(gamma), beta, eps)


@mistake(
    criterion="layer-norm",
    replaces="layer_norm",
    text="The features were normalised and scaled, but beta was not added.",
    fix="Add beta at the end.",
)
def beta_forgotten(x, gamma, beta, eps=1e-6, right=layer_norm):
    return right(x, gamma, np.zeros_like(beta), eps)


@mistake(
    criterion="encoder-block",
    replaces="feed_forward",
    text="The two dense layers follow each other directly: the ReLU between them is missing.",
    fix="Set what is below 0 to 0 after the first layer.",
)
def relu_missing(x, W1, b1, W2, b2):
    return (x @ W1 + b1) @ W2 + b2


@mistake(
    criterion="encoder-block",
    replaces="feed_forward",
    text="The activation between the layers is GELU.",
    fix="Use ReLU here, as the first Transformer did: what is below 0 becomes 0, the rest stays.",
)
def gelu_instead_of_relu(x, W1, b1, W2, b2):
    hidden = x @ W1 + b1
    hidden = 0.5 * hidden * (1 + np.tanh((2 / np.pi) ** 0.5 * (hidden + 0.044715 * hidden**3)))
    return hidden @ W2 + b2


@mistake(
    criterion="encoder-block",
    replaces="TransformerEncoderBlock.forward",
    text="This is a pre-LN block: each sublayer's input was normalised, and the sum was not.",
    fix="Normalise after the residual sum: norm(x + sublayer(x)).",
)
def pre_norm_block(self, x, mask=None):
    h = layer_norm(x, self.gamma1, self.beta1)
    h = x + self.attention.forward(h, h, h, mask)
    return h + feed_forward(layer_norm(h, self.gamma2, self.beta2), self.W1, self.b1, self.W2, self.b2)


@mistake(
    criterion="encoder-block",
    replaces="TransformerEncoderBlock.forward",
    text="The residual connections are missing: only the outputs of the sublayers were normalised.",
    fix="Add each sublayer's input to its output before the layer norm.",
)
def residuals_forgotten(self, x, mask=None):
    h = layer_norm(self.attention.forward(x, x, x, mask), self.gamma1, self.beta1)
    return layer_norm(feed_forward(h, self.W1, self.b1, self.W2, self.b2), self.gamma2, self.beta2)


@mistake(
    criterion="encoder-block",
    replaces="TransformerEncoderBlock.forward",
    text="The second residual connection adds the block's input instead of what the first half made of it.",
    fix="Add the result of the first layer norm, which is also the input of the feed-forward network.",
)
def second_residual_adds_the_input(self, x, mask=None):
    h = layer_norm(x + self.attention.forward(x, x, x, mask), self.gamma1, self.beta1)
    return layer_norm(x + feed_forward(h, self.W1, self.b1, self.W2, self.b2), self.gamma2, self.beta2)


@mistake(
    criterion="encoder-block",
    replaces="TransformerEncoderBlock.forward",
    text="The second layer norm is missing: the block ends with the second residual sum.",
    fix="Normalise that sum with gamma2 and beta2.",
)
def second_norm_missing(self, x, mask=None):
    h = layer_norm(x + self.attention.forward(x, x, x, mask), self.gamma1, self.beta1)
    return h + feed_forward(h, self.W1, self.b1, self.W2, self.b2)


@mistake(
    criterion="encoder-block",
    replaces="TransformerEncoderBlock.forward",
    text="The mask did not reach the attention: the output is the same as without it.",
    fix="Pass mask on from the block's forward to its attention's.",
)
def mask_not_passed_on(self, x, mask=None, right=TransformerEncoderBlock.forward):
    return right(self, x)


@mistake(
    criterion="encoder-block",
    replaces="stack_encoder_blocks",
    text="The first block was applied again and again, as if all blocks were the same.",
    fix="Apply each block of the list once, in order.",
)
def first_block_repeated(x, blocks, mask=None):
    x = x.copy()
    for _ in blocks:
        x = blocks[0].forward(x, mask)
    return x


@mistake(
    criterion="multi-head-backward",
    replaces="multi_head_attention_backward",
    text="The gradients of queries and keys lack the division by the square root of d_k that the scores went through.",
    fix="Divide the gradient of the scores by it once, before it goes on to queries and keys.",
)
def gradient_scale_missing(grad_output, cache, right=multi_head_attention_backward):
    grad_Q, grad_K, grad_V, grads = right(grad_output, cache)
    root = cache["heads"][0].shape[-1] ** 0.5
    return grad_Q * root, grad_K * root, grad_V, {**grads, "W_Q": grads["W_Q"] * root, "W_K": grads["W_K"] * root}


@mistake(
    criterion="multi-head-backward",
    replaces="multi_head_attention_backward",
    text="The gradient of the softmax is only weights times gradient: the sum over the row was not subtracted.",
    fix="Each weight depends on all scores of its row: subtract the row's sum of gradient times weights first.",
)
def softmax_gradient_without_the_sum(grad_output, cache):
    Q, K, V = cache["heads"]
    weights = cache["attention"]
    grad_heads = split_heads(grad_output @ cache["W_O"].T, Q.shape[1])
    grad_scores = weights * (grad_heads @ V.swapaxes(-1, -2)) / Q.shape[-1] ** 0.5
    by_head = grad_scores @ K, grad_scores.swapaxes(-1, -2) @ Q, weights.swapaxes(-1, -2) @ grad_heads
    merged = [merge_heads(grad) for grad in by_head]
    grads = {name: np.einsum("bsi,bsj->ij", x, g) for name, x, g in zip(("W_Q", "W_K", "W_V"), cache["inputs"], merged)}
    grads["W_O"] = np.einsum("bsi,bsj->ij", cache["joined"], grad_output)
    return *(grad @ cache[name].T for grad, name in zip(merged, ("W_Q", "W_K", "W_V"))), grads


@mistake(
    criterion="multi-head-backward",
    replaces="multi_head_attention_backward",
    text="The gradients of K and V were returned in each other's place.",
    fix="Return them in the order of the forward pass: Q, K, V, then the weights.",
)
def key_and_value_gradients_swapped(grad_output, cache, right=multi_head_attention_backward):
    grad_Q, grad_K, grad_V, grads = right(grad_output, cache)
    return grad_Q, grad_V, grad_K, grads


@mistake(
    criterion="multi-head-backward",
    replaces="multi_head_attention_backward",
    text="The gradients of the weight matrices are transposed.",
    fix="For Y = X W the gradient of W is X transposed times the gradient of Y, in this order.",
)
def weight_gradients_transposed(grad_output, cache, right=multi_head_attention_backward):
    *grad_inputs, grads = right(grad_output, cache)
    return *grad_inputs, {name: grad.T for name, grad in grads.items()}


@mistake(
    criterion="multi-head-backward",
    replaces="multi_head_attention_backward",
    text="The gradients of the weight matrices were averaged over the batch.",
    fix="Add up what the sequences of the batch contribute; a mean belongs to the loss, if anywhere.",
)
def weight_gradients_averaged(grad_output, cache, right=multi_head_attention_backward):
    *grad_inputs, grads = right(grad_output, cache)
    return *grad_inputs, {name: grad / len(grad_output) for name, grad in grads.items()}


@mistake(
    criterion="multi-head-backward",
    replaces="multi_head_attention_backward",
    text="The gradients of Q, K and V went back through the projections as they are, not through their transposes.",
    fix="For Y = X W the gradient of X is the gradient of Y times W transposed.",
)
def projections_not_transposed_on_the_way_back(grad_output, cache, right=multi_head_attention_backward):
    turned = {name: cache[name].T for name in ("W_Q", "W_K", "W_V")}
    return right(grad_output, {**cache, **turned})


@mistake(
    criterion="layer-norm-backward",
    replaces="layer_norm_backward",
    text="Mean and deviation were treated as constants, though both depend on x.",
    fix="Subtract from gamma times the gradient its mean, and the normalised x times the mean of their product.",
)
def layer_norm_statistics_constant(grad_output, x, gamma, eps=1e-6, right=layer_norm_backward):
    _, grad_gamma, grad_beta = right(grad_output, x, gamma, eps)
    return gamma * grad_output / _normalize(x, eps)[1], grad_gamma, grad_beta


@mistake(
    criterion="layer-norm-backward",
    replaces="layer_norm_backward",
    text="The gradient of x is right for a gamma of ones: the gradient was not multiplied by gamma on its way back.",
    fix="Multiply the gradient by gamma before the means are subtracted.",
)
def layer_norm_gradient_without_gamma(grad_output, x, gamma, eps=1e-6, right=layer_norm_backward):
    return right(grad_output, x, np.ones_like(gamma), eps)


@mistake(
    criterion="layer-norm-backward",
    replaces="layer_norm_backward",
    text="The gradient of gamma was made with x itself, not with the normalised x that gamma is multiplied with.",
    fix="Multiply the gradient by (x - mean) / deviation and add up over all leading axes.",
)
def gamma_gradient_with_plain_x(grad_output, x, gamma, eps=1e-6, right=layer_norm_backward):
    grad_x, _, grad_beta = right(grad_output, x, gamma, eps)
    return grad_x, _sum_leading_axes(grad_output * x), grad_beta


@mistake(
    criterion="feed-forward-backward",
    replaces="feed_forward_backward",
    text="The gradient went back through the hidden layer as if there were no ReLU.",
    fix="Set the gradient of each hidden unit to 0 where its input was below 0.",
)
def relu_gradient_missing(grad_output, x, W1, b1, W2, b2, right=feed_forward_backward):
    grad_hidden = grad_output @ W2.T
    rows, grads = x.reshape(-1, x.shape[-1]), grad_hidden.reshape(-1, b1.size)
    return grad_hidden @ W1.T, rows.T @ grads, grads.sum(axis=0), *right(grad_output, x, W1, b1, W2, b2)[3:]


@mistake(
    criterion="feed-forward-backward",
    replaces="feed_forward_backward",
    text="The ReLU was applied to the gradient, which was stopped where it is negative, not where the unit was off.",
    fix="Let the gradient, of either sign, pass where the unit's input was above 0 in the forward pass.",
)
def relu_applied_to_the_gradient(grad_output, x, W1, b1, W2, b2, right=feed_forward_backward):
    grad_hidden = np.maximum(grad_output @ W2.T, 0)
    rows, grads = x.reshape(-1, x.shape[-1]), grad_hidden.reshape(-1, b1.size)
    return grad_hidden @ W1.T, rows.T @ grads, grads.sum(axis=0), *right(grad_output, x, W1, b1, W2, b2)[3:]


@mistake(
    criterion="feed-forward-backward",
    replaces="feed_forward_backward",
    text="The gradients of the biases were averaged over the positions.",
    fix="Add up what the positions contribute: each of them uses the same bias.",
)
def bias_gradients_averaged(grad_output, x, W1, b1, W2, b2, right=feed_forward_backward):
    grad_x, grad_W1, grad_b1, grad_W2, grad_b2 = right(grad_output, x, W1, b1, W2, b2)
    count = max(x.size // x.shape[-1], 1)
    return grad_x, grad_W1, grad_b1 / count, grad_W2, grad_b2 / count


@mistake(
    criterion="multi-head-backward",
    replaces="MultiHeadAttention.backward",
    text="The gradients of the weights were added to those of the backward pass before.",
    fix="Replace the stored gradients in each backward pass.",
)
def gradients_accumulated(self, grad_output, right=MultiHeadAttention.backward):
    before = self._gradients
    grad_inputs = right(self, grad_output)
    if before is not None:
        self._gradients = {name: grad + before[name] for name, grad in self._gradients.items()}
    return grad_inputs


@mistake(
    criterion="encoder-block-backward",
    replaces="TransformerEncoderBlock.backward",
    text="The gradients went through the sublayers only: those of the residual branches are missing.",
    fix="Where an input went into the sublayer and into the sum, add up the gradients of both branches.",
)
def residual_gradients_missing(self, grad_output):
    if self._cache is None:
        raise RuntimeError("backward: forward has not been called")
    after_attention, h, after_feed_forward = self._cache
    grad, self.grad_gamma2, self.grad_beta2 = layer_norm_backward(grad_output, after_feed_forward, self.gamma2)
    grad, self.grad_W1, self.grad_b1, self.grad_W2, self.grad_b2 = feed_forward_backward(
        grad, h, self.W1, self.b1, self.W2, self.b2
    )
    grad, self.grad_gamma1, self.grad_beta1 = layer_norm_backward(grad, after_attention, self.gamma1)
    inputs = self.attention.backward(grad)
    self.grad_attention = self.attention.get_gradients()
    return sum(inputs)


@mistake(
    criterion="encoder-block-backward",
    replaces="TransformerEncoderBlock.backward",
    text="Of what the attention passes back, only the gradient of the queries was added.",
    fix="The block's input is queries, keys and values at once: add up all three gradients and that of the residual.",
)
def only_the_query_gradient_added(self, grad_output):
    if self._cache is None:
        raise RuntimeError("backward: forward has not been called")
    after_attention, h, after_feed_forward = self._cache
    grad, self.grad_gamma2, self.grad_beta2 = layer_norm_backward(grad_output, after_feed_forward, self.gamma2)
    grad_h, self.grad_W1, self.grad_b1, self.grad_W2, self.grad_b2 = feed_forward_backward(
        grad, h, self.W1, self.b1, self.W2, self.b2
    )
    grad, self.grad_gamma1, self.grad_beta1 = layer_norm_backward(grad + grad_h, after_attention, self.gamma1)
    grad_query = self.attention.backward(grad)[0]
    self.grad_attention = self.attention.get_gradients()
    return grad + grad_query


@mistake(
    criterion="encoder-block-backward",
    replaces="TransformerEncoderBlock.backward",
    text="The residual of the second half took the gradient of the block's output, not that of the sum below the norm.",
    fix="Go back through the second norm first; the residual and the network both start from its gradient.",
)
def residual_around_the_norm(self, grad_output):
    if self._cache is None:
        raise RuntimeError("backward: forward has not been called")
    after_attention, h, after_feed_forward = self._cache
    grad_output = _of_shape("grad_output", grad_output, h.shape)
    grad, self.grad_gamma2, self.grad_beta2 = layer_norm_backward(grad_output, after_feed_forward, self.gamma2)
    grad_h, self.grad_W1, self.grad_b1, self.grad_W2, self.grad_b2 = feed_forward_backward(
        grad, h, self.W1, self.b1, self.W2, self.b2
    )
    h_grad = grad_output + grad_h
    grad, self.grad_gamma1, self.grad_beta1 = layer_norm_backward(h_grad, after_attention, self.gamma1)
    inputs = self.attention.backward(grad)
    self.grad_attention = self.attention.get_gradients()
    return h_grad + sum(inputs)


@mistake(
    criterion="positions-added",
    replaces="add_positional_encoding",
    text="The last rows of the encoding were added, those of the highest positions.",
    fix="Add the first seq rows: a sequence begins at position 0.",
)
def last_rows_added(x, pe, right=add_positional_encoding):
    right(x, pe)
    return x + pe[len(pe) - x.shape[1] :]


@mistake(
    criterion="positions-added",
    replaces="add_positional_encoding",
    text="Each sequence got one row of the encoding for all its tokens: positions were counted along the batch.",
    fix="Count them along axis 1, so that each token of a sequence gets the row of its own position.",
)
def positions_counted_along_the_batch(x, pe, right=add_positional_encoding):
    right(x, pe)
    return x + pe[: len(x)][:, None]


@mistake(
    criterion="positions-added",
    replaces="add_positional_encoding",
    text="An encoding of another d_model went through: broadcasting repeated its one column for all features.",
    fix="Compare the last axes of x and pe, and raise ValueError if they differ.",
)
def d_model_not_compared(x, pe):
    return x + pe[: x.shape[1]]


@mistake(
    criterion="positions-learned",
    replaces="learned_positional_encoding",
    text="The random numbers have a standard deviation of 1, as large as the embeddings themselves.",
    fix="Multiply them by 0.02, so that the table begins small.",
)
def learned_encoding_not_scaled(max_length, d_model, rng=None, right=learned_positional_encoding):
    return right(max_length, d_model, rng) / 0.02


@mistake(
    criterion="positions-learned",
    replaces="learned_positional_encoding",
    text="0.02 is the variance of these random numbers; it should be their standard deviation.",
    fix="Multiply standard normal numbers by 0.02, without a square root.",
)
def learned_encoding_of_that_variance(max_length, d_model, rng=None, right=learned_positional_encoding):
    return right(max_length, d_model, rng) / 0.02**0.5


@mistake(
    criterion="positions-learned",
    replaces="learned_positional_encoding",
    text="The numbers came from a generator with a fixed seed: the table is the same whichever rng is given.",
    fix="Draw from rng, and make a generator without a seed where rng is None.",
)
def learned_encoding_with_a_fixed_seed(max_length, d_model, rng=None, right=learned_positional_encoding):
    return right(max_length, d_model, np.random.default_rng(0))


@mistake(
    criterion="mask-builders",
    replaces="create_causal_mask",
    text="The diagonal is False: a position may not attend to itself, and the first one to nothing at all.",
    fix="Let each position see itself and those before it.",
)
def causal_mask_without_the_diagonal(seq_length, right=create_causal_mask):
    return right(seq_length) & ~np.eye(seq_length, dtype=bool)


@mistake(
    criterion="mask-builders",
    replaces="create_causal_mask",
    text="This is the upper triangle: each position sees itself and the future, not the past.",
    fix="Let row i be True from column 0 to column i.",
)
def causal_mask_upside_down(seq_length, right=create_causal_mask):
    return right(seq_length).T


@mistake(
    criterion="mask-builders",
    replaces="create_causal_mask",
    text="True marks what is forbidden here: the future positions.",
    fix="Turn it round: in this course True means that a position may be attended to.",
)
def causal_mask_marks_the_future(seq_length, right=create_causal_mask):
    return ~right(seq_length)


@mistake(
    criterion="mask-builders",
    replaces="create_padding_mask",
    text="True marks the padding here.",
    fix="Turn it round: in this course True means a real token.",
)
def padding_mask_marks_the_padding(lengths, max_length, right=create_padding_mask):
    return ~right(lengths, max_length)


@mistake(
    criterion="mask-builders",
    replaces="create_padding_mask",
    text="Each sequence has one real token too many: position n was counted in, for a sequence of length n.",
    fix="Compare with less than: the positions of n tokens are 0 to n - 1.",
)
def padding_mask_off_by_one(lengths, max_length, right=create_padding_mask):
    right(lengths, max_length)
    return np.arange(max_length) <= np.asarray(lengths)[:, None]


@mistake(
    criterion="mask-builders",
    replaces="create_padding_mask",
    text="A length below 0 or above max_length went through.",
    fix="Raise ValueError for it before you build the mask.",
)
def lengths_not_checked(lengths, max_length):
    return np.arange(max_length) < np.asarray(lengths)[:, None]


@mistake(
    criterion="additive-attention",
    replaces="additive_attention",
    text="The scores are linear in queries and keys: the tanh is missing.",
    fix="Take tanh of the sum of the two projections before you multiply by v.",
)
def tanh_missing(Q, K, V, W_q, W_k, v, mask=None):
    hidden = (Q @ W_q)[..., :, None, :] + (K @ W_k)[..., None, :, :]
    return _weighted_values(hidden @ v, K, V, mask)


@mistake(
    criterion="additive-attention",
    replaces="additive_attention",
    text="tanh was taken of each projection by itself, and the results were added.",
    fix="Add the projections first, then take tanh of the sum.",
)
def tanh_before_the_sum(Q, K, V, W_q, W_k, v, mask=None):
    hidden = np.tanh(Q @ W_q)[..., :, None, :] + np.tanh(K @ W_k)[..., None, :, :]
    return _weighted_values(hidden @ v, K, V, mask)


@mistake(
    criterion="additive-attention",
    replaces="additive_attention",
    text="The hidden units were added up with equal weight: v is missing.",
    fix="Multiply the hidden units by v and add them up over the last axis.",
)
def v_forgotten(Q, K, V, W_q, W_k, v, mask=None):
    hidden = np.tanh((Q @ W_q)[..., :, None, :] + (K @ W_k)[..., None, :, :])
    return _weighted_values(hidden.sum(axis=-1), K, V, mask)


@mistake(
    criterion="additive-attention",
    replaces="additive_attention",
    text="The scores were divided by the square root of the number of hidden units.",
    fix="Leave them as they are: only dot-product attention scales.",
)
def additive_scores_scaled(Q, K, V, W_q, W_k, v, mask=None, right=additive_attention):
    return right(Q, K, V, W_q, W_k, v / v.size**0.5, mask)


@mistake(
    criterion="additive-attention",
    replaces="additive_attention",
    text="The projections were compared by a dot product, as in scaled dot-product attention without the scaling.",
    fix="Add each projected query to each projected key, take tanh, and multiply by v.",
)
def dot_product_of_projections(Q, K, V, W_q, W_k, v, mask=None):
    return _weighted_values(compute_attention_scores(Q @ W_q, K @ W_k, scale=False), K, V, mask)


@mistake(
    criterion="layer-norm",
    replaces="layer_norm",
    text="The result was put into an array of the dtype of x: of integers, every fraction is cut off.",
    fix="np.zeros_like(x) and np.empty_like(x) hold integers where x does: calculate with whole arrays instead.",
)
def normalised_in_the_dtype_of_x(x, gamma, beta, eps=1e-6, right=layer_norm):
    return right(x, gamma, beta, eps).astype(x.dtype)

"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own function as the default of `right`.
"""

import math
from collections import Counter

import numpy as np

from grader.course.answers import mistake
from hidden.s19_encoder_decoder.solution import (
    CrossAttention,
    DecoderBlock,
    Transformer,
    _closest_length,
    _leaves,
    _linear_gradients,
    _ngrams,
    _smoothing_inputs,
    _softmax,
    beam_search,
    bleu,
    clipped_matches,
    label_smoothing_gradient,
    label_smoothing_loss,
    length_penalty,
    shift_right,
)


@mistake(
    criterion="cross-attention",
    replaces="CrossAttention.forward",
    text="Keys and values were made of x, like the queries: this is self-attention, and memory is never read.",
    fix="Make the keys and the values of memory.",
)
def looks_at_itself(self, x, memory, source_mask=None, right=CrossAttention.forward):
    return right(self, x, x)


@mistake(
    criterion="cross-attention",
    replaces="CrossAttention.forward",
    text="The roles are exchanged: memory asks, and x answers. There is a row for each source token.",
    fix="Make the queries of x, and keys and values of memory: the output has a row for each target position.",
)
def memory_asks(self, x, memory, source_mask=None, right=CrossAttention.forward):
    return right(self, memory, x)


@mistake(
    criterion="cross-attention",
    replaces="CrossAttention.forward",
    text="The scores of the heads were divided by sqrt(dim); a head has dim / num_heads features.",
    fix="Divide by the square root of head_dim.",
)
def cross_scaled_by_whole_dim(self, x, memory, source_mask=None, right=CrossAttention.forward):
    params = self.params
    smaller = {name: params[name] / math.sqrt(self._num_heads) for name in ("query_weights", "query_bias")}
    self.params = {**params, **smaller}
    output = right(self, x, memory, source_mask)
    self.params = params
    return output


@mistake(
    criterion="cross-attention",
    replaces="CrossAttention.forward",
    text="The scores were not divided by sqrt(head_dim).",
    fix="Divide queries times keys by the square root of head_dim before the softmax.",
)
def cross_scores_not_scaled(self, x, memory, source_mask=None, right=CrossAttention.forward):
    params, factor = self.params, math.sqrt(self._dim // self._num_heads)
    self.params = {**params, **{name: params[name] * factor for name in ("query_weights", "query_bias")}}
    output = right(self, x, memory, source_mask)
    self.params = params
    return output


@mistake(
    criterion="cross-attention",
    replaces="CrossAttention.forward",
    text="The heads' outputs were reshaped to (batch, target, dim) at once, which mixes heads with positions.",
    fix="Swap the axes of heads and positions first, (batch, target, num_heads, head_dim), then reshape.",
)
def cross_heads_joined_without_transposing(self, x, memory, source_mask=None, right=CrossAttention.forward):
    right(self, x, memory, source_mask)
    joined = (self.attention_weights @ self._cache[4]).reshape(x.shape)
    self._cache = (*self._cache[:5], joined)
    return joined @ self.params["output_weights"] + self.params["output_bias"]


@mistake(
    criterion="cross-attention",
    replaces="CrossAttention.forward",
    text="The output projection was made without its bias.",
    fix="Add output_bias after the product with output_weights.",
)
def cross_output_bias_forgotten(self, x, memory, source_mask=None, right=CrossAttention.forward):
    return right(self, x, memory, source_mask) - self.params["output_bias"]


@mistake(
    criterion="cross-attention",
    replaces="CrossAttention.forward",
    text="The values were made of x: they come from memory, as the keys do.",
    fix="Make the values of memory: memory @ value_weights + value_bias.",
)
def values_made_of_x(self, x, memory, source_mask=None, right=CrossAttention.forward):
    right(self, x, memory, source_mask)
    values = self._split(x @ self.params["value_weights"] + self.params["value_bias"])
    joined = self._join(self.attention_weights @ values)
    self._cache = (*self._cache[:4], values, joined)
    return joined @ self.params["output_weights"] + self.params["output_bias"]


@mistake(
    criterion="source-padding",
    replaces="CrossAttention.forward",
    text="The mask was read the wrong way round: real tokens were shut out, and padding was attended to.",
    fix="True means a real token: put -inf where source_mask is False.",
)
def source_mask_inverted(self, x, memory, source_mask=None, right=CrossAttention.forward):
    return right(self, x, memory, None if source_mask is None else np.logical_not(source_mask))


@mistake(
    criterion="source-padding",
    replaces="CrossAttention.forward",
    text="source_mask had no effect: padding was attended to.",
    fix="Where source_mask is False, put -inf for the scores of that key before the softmax.",
)
def source_mask_ignored(self, x, memory, source_mask=None, right=CrossAttention.forward):
    return right(self, x, memory)


@mistake(
    criterion="source-padding",
    replaces="CrossAttention.forward",
    text="The mask was multiplied into the weights after the softmax, so that their rows no longer sum to 1.",
    fix="Mask the scores, before the softmax shares out the weight among the real tokens.",
)
def source_mask_after_softmax(self, x, memory, source_mask=None, right=CrossAttention.forward):
    output = right(self, x, memory)
    if source_mask is None:
        return output
    self.attention_weights = self.attention_weights * np.asarray(source_mask)[:, None, None, :].astype(output.dtype)
    joined = self._join(self.attention_weights @ self._cache[4])
    self._cache = (*self._cache[:5], joined)
    return joined @ self.params["output_weights"] + self.params["output_bias"]


@mistake(
    criterion="source-padding",
    replaces="CrossAttention.forward",
    text="A source that is all padding gave NaN: -inf minus the row's maximum -inf is not a number.",
    fix="Take 0 for a maximum of -inf, and do not divide by a sum of 0: the weights are zeros then.",
)
def source_of_padding_is_nan(self, x, memory, source_mask=None, right=CrossAttention.forward):
    output = right(self, x, memory, source_mask)
    empty = self.attention_weights.sum(axis=-1) == 0
    self.attention_weights[empty] = output[empty[:, 0]] = np.nan
    return output


@mistake(
    criterion="source-padding",
    replaces="CrossAttention.forward",
    text="Where a source is all padding, the weights are even: all its scores are the same large number.",
    fix="Such weights are 0: mask with -inf, and divide by 1 where the exponentials sum to 0.",
)
def source_of_padding_is_even(self, x, memory, source_mask=None, right=CrossAttention.forward):
    right(self, x, memory, source_mask)
    empty = self.attention_weights.sum(axis=-1, keepdims=True) == 0
    self.attention_weights = np.where(empty, 1 / memory.shape[1], self.attention_weights).astype(x.dtype)
    joined = self._join(self.attention_weights @ self._cache[4])
    self._cache = (*self._cache[:5], joined)
    return joined @ self.params["output_weights"] + self.params["output_bias"]


@mistake(
    criterion="source-padding",
    replaces="CrossAttention.forward",
    text="Padding got the score 0, which is a score like any other: it was attended to.",
    fix="Give padding the score -inf before the softmax: exp(-inf) is 0.",
)
def padding_scored_zero(self, x, memory, source_mask=None, right=CrossAttention.forward):
    output = right(self, x, memory, source_mask)
    if source_mask is None:
        return output
    _, _, queries, keys, values, _ = self._cache
    scores = queries @ np.swapaxes(keys, -1, -2) / math.sqrt(queries.shape[-1])
    scores = np.where(np.asarray(source_mask)[:, None, None, :] != 0, scores, 0)
    self.attention_weights = _softmax(scores)
    return self._join(self.attention_weights @ values) @ self.params["output_weights"] + self.params["output_bias"]


@mistake(
    criterion="source-padding",
    replaces="CrossAttention.forward",
    text="Padding got the score -1e9. Where real tokens have a lower score still, padding has all of the weight.",
    fix="Give padding the score -np.inf, and take 0 for a maximum of -inf.",
)
def padding_scored_by_a_finite_number(self, x, memory, source_mask=None, right=CrossAttention.forward):
    output = right(self, x, memory, source_mask)
    if source_mask is None:
        return output
    _, _, queries, keys, values, _ = self._cache
    scores = queries @ np.swapaxes(keys, -1, -2) / math.sqrt(queries.shape[-1])
    real = np.asarray(source_mask)[:, None, None, :] != 0
    weights = _softmax(np.where(real, scores, np.array(-1e9, dtype=scores.dtype)))
    self.attention_weights = np.where(real.any(axis=-1, keepdims=True), weights, 0).astype(scores.dtype)
    return self._join(self.attention_weights @ values) @ self.params["output_weights"] + self.params["output_bias"]


@mistake(
    criterion="cross-attention-gradients",
    replaces="CrossAttention.backward",
    text="grad_memory is what comes back through the values only: the way through the keys is missing.",
    fix="Add grad_keys @ key_weights.T to it.",
)
def memory_gradient_of_values_only(self, grad_output, right=CrossAttention.backward):
    grad_x, _ = right(self, grad_output)
    weights = self.attention_weights
    grad_heads = self._split(grad_output @ self.params["output_weights"].T)
    return grad_x, self._join(np.swapaxes(weights, -1, -2) @ grad_heads) @ self.params["value_weights"].T


@mistake(
    criterion="cross-attention-gradients",
    replaces="CrossAttention.backward",
    text="grad_memory is what comes back through the keys only: the way through the values is missing.",
    fix="Add grad_values @ value_weights.T to it.",
)
def memory_gradient_of_keys_only(self, grad_output, right=CrossAttention.backward):
    grad_x, grad_memory = right(self, grad_output)
    grad_heads = self._split(grad_output @ self.params["output_weights"].T)
    through_values = self._join(np.swapaxes(self.attention_weights, -1, -2) @ grad_heads)
    return grad_x, grad_memory - through_values @ self.params["value_weights"].T


@mistake(
    criterion="cross-attention-gradients",
    replaces="CrossAttention.backward",
    text="The division by sqrt(head_dim) is missing on the way back.",
    fix="Divide the gradient of the scores by sqrt(head_dim), as the scores were divided in forward.",
)
def cross_scale_forgotten_on_the_way_back(self, grad_output, right=CrossAttention.backward):
    grad_x, grad_memory = right(self, grad_output)
    factor = math.sqrt(self._dim // self._num_heads)
    for name in ("query_weights", "query_bias", "key_weights", "key_bias"):
        self.grads[name] = self.grads[name] * factor
    grad_heads = self._split(grad_output @ self.params["output_weights"].T)
    grad_values = self._join(np.swapaxes(self.attention_weights, -1, -2) @ grad_heads)
    through_values = grad_values @ self.params["value_weights"].T
    return grad_x * factor, (grad_memory - through_values) * factor + through_values


@mistake(
    criterion="cross-attention-gradients",
    replaces="CrossAttention.backward",
    text="The softmax was taken back like a sigmoid, weight by weight: w (1 - w). Each weight depends on all scores.",
    fix="Use weights * (grad - sum of grad * weights over the row): a score also lowers the other weights of its row.",
)
def cross_softmax_taken_back_elementwise(self, grad_output, right=CrossAttention.backward):
    right(self, grad_output)
    x, memory, queries, keys, values, _ = self._cache
    weights, p = self.attention_weights, self.params
    grad_heads = self._split(grad_output @ p["output_weights"].T)
    grad_scores = grad_heads @ np.swapaxes(values, -1, -2) * weights * (1 - weights) / math.sqrt(queries.shape[-1])
    grad_queries = self._join(grad_scores @ keys)
    grad_keys = self._join(np.swapaxes(grad_scores, -1, -2) @ queries)
    grad_values = self._join(np.swapaxes(weights, -1, -2) @ grad_heads)
    for part, source, grad in (("query", x, grad_queries), ("key", memory, grad_keys)):
        self.grads[f"{part}_weights"], self.grads[f"{part}_bias"] = _linear_gradients(source, grad)
    return grad_queries @ p["query_weights"].T, grad_keys @ p["key_weights"].T + grad_values @ p["value_weights"].T


@mistake(
    criterion="cross-attention-gradients",
    replaces="CrossAttention.backward",
    text="The second call of backward added its gradients to those of the first.",
    fix="Fill grads with a new dict at each call of backward.",
)
def cross_gradients_accumulated(self, grad_output, right=CrossAttention.backward):
    before = self.grads
    gradients = right(self, grad_output)
    self.grads = {name: value + before.get(name, 0) for name, value in self.grads.items()}
    return gradients


@mistake(
    criterion="cross-attention-gradients",
    replaces="CrossAttention.backward",
    text="What a softmax row shares, the sum of grad_weights * weights, was not subtracted.",
    fix="grad_scores = weights * (grad_weights - (grad_weights * weights).sum(axis=-1, keepdims=True)).",
)
def cross_row_sum_forgotten(self, grad_output, right=CrossAttention.backward):
    right(self, grad_output)
    x, memory, queries, keys, values, _ = self._cache
    weights, p = self.attention_weights, self.params
    grad_heads = self._split(grad_output @ p["output_weights"].T)
    grad_scores = grad_heads @ np.swapaxes(values, -1, -2) * weights / math.sqrt(queries.shape[-1])
    grad_queries = self._join(grad_scores @ keys)
    grad_keys = self._join(np.swapaxes(grad_scores, -1, -2) @ queries)
    grad_values = self._join(np.swapaxes(weights, -1, -2) @ grad_heads)
    for part, source, grad in (("query", x, grad_queries), ("key", memory, grad_keys)):
        self.grads[f"{part}_weights"], self.grads[f"{part}_bias"] = _linear_gradients(source, grad)
    return grad_queries @ p["query_weights"].T, grad_keys @ p["key_weights"].T + grad_values @ p["value_weights"].T


@mistake(
    criterion="decoder-block",
    replaces="DecoderBlock.forward",
    text="The self-attention has no causal mask: every position sees what comes after it.",
    fix="Give it np.tri(target, dtype=bool) as its mask.",
)
def decoder_sees_the_future(self, x, memory, source_mask=None, right=DecoderBlock.forward):
    right(self, x, memory, source_mask)
    x = x + self.self_attention.forward(self.norm1.forward(x))
    x = x + self.cross_attention.forward(self.norm2.forward(x), memory, source_mask)
    return x + self.mlp.forward(self.norm3.forward(x))


@mistake(
    criterion="decoder-block",
    replaces="DecoderBlock.forward",
    text="memory went through norm2 as well.",
    fix="Give the cross-attention memory as it is; only its queries come from norm2(x).",
)
def memory_normalised_again(self, x, memory, source_mask=None, right=DecoderBlock.forward):
    right(self, x, memory, source_mask)
    return right(self, x, self.norm2.forward(memory), source_mask)


@mistake(
    criterion="decoder-block",
    replaces="DecoderBlock.forward",
    text="The cross-attention has no residual connection: its output replaced the sum before it.",
    fix="x = x + cross_attention(norm2(x), memory).",
)
def cross_attention_without_residual(self, x, memory, source_mask=None, right=DecoderBlock.forward):
    right(self, x, memory, source_mask)
    x = x + self.self_attention.forward(self.norm1.forward(x), np.tri(x.shape[1], dtype=bool))
    x = self.cross_attention.forward(self.norm2.forward(x), memory, source_mask)
    return x + self.mlp.forward(self.norm3.forward(x))


@mistake(
    criterion="decoder-block",
    replaces="DecoderBlock.forward",
    text="The queries of the cross-attention were not normalised: norm2 is not used.",
    fix="Give the cross-attention norm2(x), not x itself.",
)
def queries_not_normalised(self, x, memory, source_mask=None, right=DecoderBlock.forward):
    right(self, x, memory, source_mask)
    x = x + self.self_attention.forward(self.norm1.forward(x), np.tri(x.shape[1], dtype=bool))
    x = x + self.cross_attention.forward(x, memory, source_mask)
    return x + self.mlp.forward(self.norm3.forward(x))


@mistake(
    criterion="decoder-block",
    replaces="DecoderBlock.forward",
    text="The cross-attention came first, and the self-attention after it.",
    fix="The order is self-attention, cross-attention, MLP.",
)
def cross_attention_first(self, x, memory, source_mask=None, right=DecoderBlock.forward):
    right(self, x, memory, source_mask)
    x = x + self.cross_attention.forward(self.norm2.forward(x), memory, source_mask)
    x = x + self.self_attention.forward(self.norm1.forward(x), np.tri(x.shape[1], dtype=bool))
    return x + self.mlp.forward(self.norm3.forward(x))


@mistake(
    criterion="decoder-block",
    replaces="DecoderBlock.forward",
    text="norm3 came after the residual: norm3(x + mlp(x)), as in Vaswani et al. 2017.",
    fix="Here each norm comes before its sublayer, and the sum stays as it is: x + mlp(norm3(x)).",
)
def norm3_after_the_residual(self, x, memory, source_mask=None, right=DecoderBlock.forward):
    right(self, x, memory, source_mask)
    x = x + self.self_attention.forward(self.norm1.forward(x), np.tri(x.shape[1], dtype=bool))
    x = x + self.cross_attention.forward(self.norm2.forward(x), memory, source_mask)
    return self.norm3.forward(x + self.mlp.forward(x))


@mistake(
    criterion="decoder-block",
    replaces="DecoderBlock.forward",
    text="norm3 was given the MLP's output: x + norm3(mlp(x)).",
    fix="Normalise what goes into the MLP: x + mlp(norm3(x)).",
)
def norm3_after_the_mlp(self, x, memory, source_mask=None, right=DecoderBlock.forward):
    right(self, x, memory, source_mask)
    x = x + self.self_attention.forward(self.norm1.forward(x), np.tri(x.shape[1], dtype=bool))
    x = x + self.cross_attention.forward(self.norm2.forward(x), memory, source_mask)
    return x + self.norm3.forward(self.mlp.forward(x))


@mistake(
    criterion="decoder-block",
    replaces="DecoderBlock.forward",
    text="The MLP's output was added to the sum before the cross-attention: what that gave is lost.",
    fix="Add it to the sum that norm3 normalises, with what both attentions gave.",
)
def mlp_added_to_the_sum_before(self, x, memory, source_mask=None, right=DecoderBlock.forward):
    output = right(self, x, memory, source_mask)
    x = x + self.self_attention.forward(self.norm1.forward(x), np.tri(x.shape[1], dtype=bool))
    return output - self.cross_attention.forward(self.norm2.forward(x), memory, source_mask)


@mistake(
    criterion="decoder-block-gradients",
    replaces="DecoderBlock.backward",
    text="The cross-attention was given grad_output, without what comes back through the MLP.",
    fix="Give it grad_output + norm3.backward(mlp.backward(grad_output)).",
)
def cross_attention_before_the_mlp(self, grad_output):
    grad = grad_output + self.norm3.backward(self.mlp.backward(grad_output))
    grad_queries, grad_memory = self.cross_attention.backward(grad_output)
    grad = grad + self.norm2.backward(grad_queries)
    return grad + self.norm1.backward(self.self_attention.backward(grad)), grad_memory


@mistake(
    criterion="decoder-block-gradients",
    replaces="DecoderBlock.backward",
    text="What comes back through the cross-attention's queries did not go through norm2.",
    fix="Add norm2.backward(grad_queries).",
)
def norm2_skipped_on_the_way_back(self, grad_output):
    grad = grad_output + self.norm3.backward(self.mlp.backward(grad_output))
    grad_queries, grad_memory = self.cross_attention.backward(grad)
    self.norm2.backward(grad_queries)
    grad = grad + grad_queries
    return grad + self.norm1.backward(self.self_attention.backward(grad)), grad_memory


@mistake(
    criterion="decoder-block-gradients",
    replaces="DecoderBlock.backward",
    text="At the cross-attention the gradient was replaced: what passes it by, on the residual path, is lost.",
    fix="Add: grad = grad + norm2.backward(grad_queries).",
)
def residual_gradient_replaced(self, grad_output):
    grad = grad_output + self.norm3.backward(self.mlp.backward(grad_output))
    grad_queries, grad_memory = self.cross_attention.backward(grad)
    grad = self.norm2.backward(grad_queries)
    return grad + self.norm1.backward(self.self_attention.backward(grad)), grad_memory


@mistake(
    criterion="transformer",
    replaces="Transformer.encode",
    text="The encoder does not heed source_mask: real tokens attend to padding.",
    fix="Give the encoder source_mask[:, None, None, :] as its mask.",
)
def encoder_sees_padding(self, source, source_mask=None, right=Transformer.encode):
    right(self, source, source_mask)
    return right(self, source)


@mistake(
    criterion="transformer",
    replaces="Transformer.decode",
    text="The decoder's blocks do not heed source_mask: they attend to the padding in memory.",
    fix="Hand source_mask to every block's forward.",
)
def decoder_sees_padding(self, target, memory, source_mask=None, right=Transformer.decode):
    return right(self, target, memory)


@mistake(
    criterion="transformer",
    replaces="Transformer.decode",
    text="decoder_norm is missing between the last block and the readout.",
    fix="Read the logits out of decoder_norm.forward(x).",
)
def decoder_norm_skipped(self, target, memory, source_mask=None, right=Transformer.decode):
    right(self, target, memory, source_mask)
    x = self._embed("target", target)
    for block in self.decoder_blocks:
        x = block.forward(x, memory, source_mask)
    return x @ self.tables["readout_weights"] + self.tables["readout_bias"]


@mistake(
    criterion="transformer",
    replaces="Transformer._embed",
    text="The positions are missing: the model is given the embeddings alone, and cannot tell the order of tokens.",
    fix="Add the first rows of the position table to the embeddings.",
)
def positions_left_out(self, side, ids, right=Transformer._embed):
    return right(self, side, ids) - self.tables[f"{side}_positions"][: ids.shape[1]]


@mistake(
    criterion="transformer",
    replaces="Transformer._embed",
    text="Both sides use the positions of the source.",
    fix="Add target_positions to the embeddings of the target.",
)
def positions_of_the_source_for_both(self, side, ids, right=Transformer._embed):
    x, length = right(self, side, ids), ids.shape[1]
    return x - self.tables[f"{side}_positions"][:length] + self.tables["source_positions"][:length]


@mistake(
    criterion="transformer",
    replaces="Transformer.decode",
    text="The readout was made without its bias.",
    fix="Add readout_bias to the product with readout_weights.",
)
def readout_without_bias(self, target, memory, source_mask=None, right=Transformer.decode):
    return right(self, target, memory, source_mask) - self.tables["readout_bias"]


@mistake(
    criterion="transformer-gradients",
    replaces="Transformer.backward",
    text="The encoder was given the memory gradient of one decoder block, the first: those of the others are lost.",
    fix="Add up the grad_memory of all decoder blocks.",
)
def memory_gradient_of_the_first_block(self, grad_logits, right=Transformer.backward):
    right(self, grad_logits)
    grad, found = self.decoder_norm.backward(grad_logits @ self.tables["readout_weights"].T), []
    for block in reversed(self.decoder_blocks):
        grad, of_memory = block.backward(grad)
        found.insert(0, of_memory)
    grad_x = self.encoder.backward(found[0])
    self._grads = {**self._grads, **self._table_gradients("source", self._cache[0], grad_x)}


@mistake(
    criterion="transformer-gradients",
    replaces="Transformer.backward",
    text="The encoder was given the memory gradient of one decoder block, the last: those of the others are lost.",
    fix="Add up the grad_memory of all decoder blocks.",
)
def memory_gradient_of_the_last_block(self, grad_logits, right=Transformer.backward):
    right(self, grad_logits)
    grad, found = self.decoder_norm.backward(grad_logits @ self.tables["readout_weights"].T), []
    for block in reversed(self.decoder_blocks):
        grad, of_memory = block.backward(grad)
        found.insert(0, of_memory)
    grad_x = self.encoder.backward(found[-1])
    self._grads = {**self._grads, **self._table_gradients("source", self._cache[0], grad_x)}


@mistake(
    criterion="transformer-gradients",
    replaces="Transformer.backward",
    text="An id that occurs more than once got the gradient of one occurrence: table[ids] += grad adds only one.",
    fix="Use np.add.at(table, ids, grad), which adds up all of them.",
)
def repeated_ids_counted_once(self, grad_logits, right=Transformer.backward):
    right(self, grad_logits)
    grad, grad_memory = self.decoder_norm.backward(grad_logits @ self.tables["readout_weights"].T), 0
    for block in reversed(self.decoder_blocks):
        grad, of_memory = block.backward(grad)
        grad_memory = grad_memory + of_memory
    source, target = self._cache
    for side, ids, grad_x in (("target", target, grad), ("source", source, self.encoder.backward(grad_memory))):
        table = np.zeros_like(self.tables[f"{side}_embedding"])
        table[ids] += grad_x
        self._grads = {**self._grads, f"{side}_embedding": table}


@mistake(
    criterion="transformer-gradients",
    replaces="Transformer.backward",
    text="The gradients of the positions are a mean over the batch.",
    fix="Sum them over the batch: if the loss is a mean, that is in grad_logits already.",
)
def position_gradients_averaged(self, grad_logits, right=Transformer.backward):
    right(self, grad_logits)
    names = ("source_positions", "target_positions")
    self._grads = {**self._grads, **{name: self._grads[name] / len(grad_logits) for name in names}}


@mistake(
    criterion="independent-transformer",
    replaces="Transformer._embed",
    text="The embeddings were multiplied by sqrt(dim) before the positions were added.",
    fix="Add embedding and position as they are; nothing is scaled in this model.",
)
def embeddings_scaled(self, side, ids, right=Transformer._embed):
    x, positions = right(self, side, ids), self.tables[f"{side}_positions"][: ids.shape[1]]
    return (x - positions) * math.sqrt(x.shape[-1]) + positions


@mistake(
    criterion="independent-transformer",
    replaces="Transformer.encode",
    text="The memory was taken before the encoder's last norm.",
    fix="The memory is what Encoder.forward returns, its norm included.",
)
def memory_before_the_norm(self, source, source_mask=None, right=Transformer.encode):
    right(self, source, source_mask)
    x = self._embed("source", source)
    mask = None if source_mask is None else np.asarray(source_mask).astype(bool)[:, None, None, :]
    for block in self.encoder.blocks:
        x = block.forward(x, mask)
    return x


@mistake(
    criterion="independent-transformer",
    replaces="Transformer.__init__",
    text="The decoder's blocks have a single head: num_heads was not passed on.",
    fix="Build them with DecoderBlock(dim, num_heads, mlp_ratio, rng).",
)
def single_head_in_the_decoder(
    self,
    source_size,
    target_size,
    max_length,
    depth,
    dim,
    num_heads,
    mlp_ratio=4.0,
    rng=None,
    right=Transformer.__init__,
):
    right(self, source_size, target_size, max_length, depth, dim, num_heads, mlp_ratio, rng)
    self.decoder_blocks = [DecoderBlock(dim, 1, mlp_ratio, rng) for _ in range(depth)]


@mistake(
    criterion="teacher-forcing",
    replaces="shift_right",
    text="The rows were shifted to the left: position i holds the token after the one that is asked for.",
    fix="Put start_id in front and drop the last token of each row.",
)
def shifted_to_the_left(targets, start_id, right=shift_right):
    right(targets, start_id)
    return np.concatenate([targets[:, 1:], np.full_like(targets[:, :1], start_id)], axis=1)


@mistake(
    criterion="teacher-forcing",
    replaces="shift_right",
    text="The last token of each row came back in front, where start_id belongs.",
    fix="After rolling the rows by one, set their first tokens to start_id.",
)
def last_token_rolled_to_the_front(targets, start_id, right=shift_right):
    right(targets, start_id)
    return np.roll(targets, 1, axis=1)


@mistake(
    criterion="teacher-forcing",
    replaces="shift_right",
    text="start_id stands in front, but the last token was not dropped: the rows are one token too long.",
    fix="Leave out the last token of each row.",
)
def last_token_kept(targets, start_id, right=shift_right):
    right(targets, start_id)
    return np.concatenate([np.full_like(targets[:, :1], start_id), targets], axis=1)


@mistake(
    criterion="teacher-forcing",
    replaces="shift_right",
    text="The first token of each row was replaced by start_id, and nothing was shifted.",
    fix="Keep all tokens but the last, one place later: shifted[:, 1:] = targets[:, :-1].",
)
def first_token_replaced(targets, start_id, right=shift_right):
    right(targets, start_id)
    return np.concatenate([np.full_like(targets[:, :1], start_id), targets[:, 1:]], axis=1)


@mistake(
    criterion="label-smoothing",
    replaces="label_smoothing_loss",
    text="The smoothing was divided among the K - 1 wrong tokens: the right one has 1 - smoothing and no share.",
    fix="Give smoothing / K to each of the K tokens, and 1 - smoothing besides to the right one.",
)
def smoothing_for_wrong_tokens_only(logits, targets, smoothing=0.1, padding_id=None):
    log_p, targets, counts = _smoothing_inputs(logits, targets, smoothing, padding_id)
    plain = -np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
    cost = (1 - smoothing) * plain + smoothing * (-log_p.sum(axis=-1) - plain) / (log_p.shape[-1] - 1)
    return float(cost[counts].sum() / max(1, counts.sum()))


@mistake(
    criterion="label-smoothing",
    replaces="label_smoothing_loss",
    text="The sum of the costs was divided by all positions, padding included.",
    fix="Divide by the number of positions whose target is not padding_id.",
)
def loss_averaged_over_padding_too(logits, targets, smoothing=0.1, padding_id=None):
    log_p, targets, counts = _smoothing_inputs(logits, targets, smoothing, padding_id)
    plain = -np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
    cost = (1 - smoothing) * plain - smoothing * log_p.mean(axis=-1)
    return float((cost * counts).sum() / counts.size)


@mistake(
    criterion="label-smoothing",
    replaces="label_smoothing_loss",
    text="The loss is a mean of the rows' means: tokens of short sequences count more than those of long ones.",
    fix="Sum the costs over the whole batch, then divide by the number of positions that count.",
)
def loss_averaged_row_by_row(logits, targets, smoothing=0.1, padding_id=None):
    log_p, targets, counts = _smoothing_inputs(logits, targets, smoothing, padding_id)
    plain = -np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
    cost = (1 - smoothing) * plain - smoothing * log_p.mean(axis=-1)
    return float(((cost * counts).sum(axis=1) / np.maximum(1, counts.sum(axis=1))).mean())


@mistake(
    criterion="label-smoothing",
    replaces="label_smoothing_loss",
    text="The costs were summed up, not averaged.",
    fix="Divide by the number of positions that count.",
)
def loss_summed(logits, targets, smoothing=0.1, padding_id=None):
    log_p, targets, counts = _smoothing_inputs(logits, targets, smoothing, padding_id)
    plain = -np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
    cost = (1 - smoothing) * plain - smoothing * log_p.mean(axis=-1)
    return float((cost * counts).sum())


@mistake(
    criterion="label-smoothing",
    replaces="label_smoothing_loss",
    text="The targets were not softened: this is the plain cross-entropy.",
    fix="Weigh the right token's cost by 1 - smoothing, and add smoothing times the mean of -log p over all tokens.",
)
def loss_not_smoothed(logits, targets, smoothing=0.1, padding_id=None, right=label_smoothing_loss):
    right(logits, targets, smoothing, padding_id)
    return right(logits, targets, 0.0, padding_id)


@mistake(
    criterion="label-smoothing",
    replaces="label_smoothing_loss",
    text="smoothing and 1 - smoothing changed places: the right token got the small share.",
    fix="The right token's -log p counts 1 - smoothing, the mean of all tokens' -log p counts smoothing.",
)
def shares_exchanged(logits, targets, smoothing=0.1, padding_id=None):
    log_p, targets, counts = _smoothing_inputs(logits, targets, smoothing, padding_id)
    right = np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
    cost = -smoothing * right - (1 - smoothing) * log_p.mean(axis=-1)
    return float(cost[counts].sum() / max(1, counts.sum()))


@mistake(
    criterion="label-smoothing",
    replaces="label_smoothing_loss",
    text="Each of the K tokens got the whole smoothing: it was not divided by K.",
    fix="Give each token smoothing / K: take the mean of -log p over the tokens, not the sum.",
)
def smoothing_for_each_token(logits, targets, smoothing=0.1, padding_id=None):
    log_p, targets, counts = _smoothing_inputs(logits, targets, smoothing, padding_id)
    right = np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
    cost = -(1 - smoothing) * right - smoothing * log_p.sum(axis=-1)
    return float(cost[counts].sum() / max(1, counts.sum()))


@mistake(
    criterion="label-smoothing",
    replaces="label_smoothing_loss",
    text="The smoothing was divided by K - 1, and the right token got a share as well: all sum to more than 1.",
    fix="Divide by K, the number of all tokens: each of them gets smoothing / K.",
)
def smoothing_over_one_token_less(logits, targets, smoothing=0.1, padding_id=None):
    log_p, targets, counts = _smoothing_inputs(logits, targets, smoothing, padding_id)
    right = np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
    cost = -(1 - smoothing) * right - smoothing * log_p.sum(axis=-1) / (log_p.shape[-1] - 1)
    return float(cost[counts].sum() / max(1, counts.sum()))


@mistake(
    criterion="label-smoothing",
    replaces="label_smoothing_loss",
    text="The right token got 1 - smoothing alone: its share smoothing / K is missing, and all sum to less than 1.",
    fix="Give smoothing / K to each of the K tokens, and 1 - smoothing more to the right one.",
)
def right_token_without_its_share(logits, targets, smoothing=0.1, padding_id=None):
    log_p, targets, counts = _smoothing_inputs(logits, targets, smoothing, padding_id)
    right = np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
    cost = -(1 - smoothing) * right - smoothing * (log_p.mean(axis=-1) - right / log_p.shape[-1])
    return float(cost[counts].sum() / max(1, counts.sum()))


@mistake(
    criterion="label-smoothing",
    replaces="label_smoothing_loss",
    text="The right token got 1 beside its share of the smoothing: that is 1 - smoothing.",
    fix="The targets are smoothing / K for each token and 1 - smoothing more for the right one: they sum to 1.",
)
def one_beside_the_share(logits, targets, smoothing=0.1, padding_id=None):
    log_p, targets, counts = _smoothing_inputs(logits, targets, smoothing, padding_id)
    right = np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
    cost = -right - smoothing * log_p.mean(axis=-1)
    return float(cost[counts].sum() / max(1, counts.sum()))


@mistake(
    criterion="label-smoothing-gradient",
    replaces="label_smoothing_gradient",
    text="The gradient was not divided by the number of positions.",
    fix="Divide by the number of positions that count: the loss is their mean.",
)
def gradient_not_divided(logits, targets, smoothing=0.1, padding_id=None, right=label_smoothing_gradient):
    counts = np.full(targets.shape, True) if padding_id is None else targets != padding_id
    return right(logits, targets, smoothing, padding_id) * max(1, int(counts.sum()))


@mistake(
    criterion="label-smoothing-gradient",
    replaces="label_smoothing_gradient",
    text="The gradient was divided by all positions, padding included.",
    fix="Divide by the number of positions whose target is not padding_id.",
)
def gradient_divided_by_padding_too(logits, targets, smoothing=0.1, padding_id=None, right=label_smoothing_gradient):
    counts = np.full(targets.shape, True) if padding_id is None else targets != padding_id
    return right(logits, targets, smoothing, padding_id) * (max(1, int(counts.sum())) / counts.size)


@mistake(
    criterion="label-smoothing-gradient",
    replaces="label_smoothing_gradient",
    text="This is the gradient of the plain cross-entropy: 1 was subtracted at the right token.",
    fix="Subtract smoothing / K everywhere, and 1 - smoothing at the right token.",
)
def gradient_of_plain_cross_entropy(logits, targets, smoothing=0.1, padding_id=None, right=label_smoothing_gradient):
    right(logits, targets, smoothing, padding_id)
    return right(logits, targets, 0.0, padding_id)


@mistake(
    criterion="label-smoothing-gradient",
    replaces="label_smoothing_gradient",
    text="Padding got a gradient.",
    fix="Put zeros where targets is padding_id.",
)
def padding_gets_a_gradient(logits, targets, smoothing=0.1, padding_id=None, right=label_smoothing_gradient):
    gradient = right(logits, targets, smoothing, padding_id)
    log_p, indices, counts = _smoothing_inputs(logits, targets, smoothing, padding_id)
    wanted = smoothing / log_p.shape[-1] + (1 - smoothing) * np.eye(log_p.shape[-1])[indices]
    plain = (np.exp(log_p) - wanted) / max(1, int(counts.sum()))
    return np.where(counts[..., None], gradient, plain).astype(gradient.dtype)


@mistake(
    criterion="label-smoothing-gradient",
    replaces="label_smoothing_gradient",
    text="The smoothing was divided among the K - 1 wrong tokens in the gradient: the right one has no share of it.",
    fix="Subtract smoothing / K at every token, and 1 - smoothing more at the right one.",
)
def gradient_of_wrong_tokens_only(logits, targets, smoothing=0.1, padding_id=None):
    log_p, targets, counts = _smoothing_inputs(logits, targets, smoothing, padding_id)
    grad = np.exp(log_p) - smoothing / (log_p.shape[-1] - 1)
    right = np.take_along_axis(np.exp(log_p), targets[..., None], axis=-1)
    np.put_along_axis(grad, targets[..., None], right - (1 - smoothing), axis=-1)
    return np.where(counts[..., None], grad, 0) / max(1, int(counts.sum()))


@mistake(
    criterion="label-smoothing-gradient",
    replaces="label_smoothing_gradient",
    text="At the right token 1 - smoothing was subtracted alone: its share smoothing / K is missing in the gradient.",
    fix="Subtract smoothing / K at every token, and 1 - smoothing more at the right one.",
)
def gradient_without_the_share_of_the_right_token(logits, targets, smoothing=0.1, padding_id=None):
    log_p, targets, counts = _smoothing_inputs(logits, targets, smoothing, padding_id)
    wanted = np.full(log_p.shape, smoothing / log_p.shape[-1], dtype=log_p.dtype)
    np.put_along_axis(wanted, targets[..., None], 1 - smoothing, axis=-1)
    return np.where(counts[..., None], np.exp(log_p) - wanted, 0) / max(1, int(counts.sum()))


@mistake(
    criterion="label-smoothing-gradient",
    replaces="label_smoothing_gradient",
    text="The whole smoothing was subtracted at each of the K tokens of the gradient: it was not divided by K.",
    fix="Subtract smoothing / K at every token, and 1 - smoothing more at the right one.",
)
def gradient_of_smoothing_for_each_token(logits, targets, smoothing=0.1, padding_id=None):
    log_p, targets, counts = _smoothing_inputs(logits, targets, smoothing, padding_id)
    grad = np.exp(log_p) - smoothing
    right = np.take_along_axis(grad, targets[..., None], axis=-1)
    np.put_along_axis(grad, targets[..., None], right - (1 - smoothing), axis=-1)
    return np.where(counts[..., None], grad, 0) / max(1, int(counts.sum()))


@mistake(
    criterion="label-smoothing-gradient",
    replaces="label_smoothing_gradient",
    text="1 was subtracted at the right token beside its share of the smoothing: that is 1 - smoothing, not 1.",
    fix="Subtract smoothing / K at every token, and 1 - smoothing more at the right one.",
)
def one_subtracted_beside_the_share(logits, targets, smoothing=0.1, padding_id=None):
    log_p, targets, counts = _smoothing_inputs(logits, targets, smoothing, padding_id)
    grad = np.exp(log_p) - smoothing / log_p.shape[-1]
    right = np.take_along_axis(grad, targets[..., None], axis=-1)
    np.put_along_axis(grad, targets[..., None], right - 1, axis=-1)
    return np.where(counts[..., None], grad, 0) / max(1, int(counts.sum()))


@mistake(
    criterion="length-penalty",
    replaces="length_penalty",
    text="This is length ** alpha: the 5 that is added and the 6 that divides are missing.",
    fix="Return ((5 + length) / 6) ** alpha.",
)
def power_of_the_length(length, alpha=0.6, right=length_penalty):
    return right(length, alpha) * 0 + np.asarray(length, dtype=float) ** alpha


@mistake(
    criterion="length-penalty",
    replaces="length_penalty",
    text="alpha was multiplied, not used as the exponent.",
    fix="Return ((5 + length) / 6) ** alpha.",
)
def alpha_as_factor(length, alpha=0.6, right=length_penalty):
    return right(length, 1.0) * alpha


@mistake(
    criterion="length-penalty",
    replaces="length_penalty",
    text="The power was taken of 5 + length only: it was divided by 6 afterwards, without the exponent.",
    fix="Take the power of the whole fraction: ((5 + length) / 6) ** alpha.",
)
def six_outside_of_the_power(length, alpha=0.6, right=length_penalty):
    return right(length, alpha) * 6**alpha / 6


@mistake(
    criterion="length-penalty",
    replaces="length_penalty",
    text="This is (length / 6) ** alpha: the 5 that is added to the length is missing.",
    fix="Add 5 to the length first: ((5 + length) / 6) ** alpha.",
)
def length_without_the_five(length, alpha=0.6, right=length_penalty):
    return right(length, alpha) * 0 + (np.asarray(length, dtype=float) / 6) ** alpha


@mistake(
    criterion="beam-search",
    replaces="beam_search",
    text="Answers whose log-probability is below -1e9 were taken for impossible ones.",
    fix="Only -inf is impossible: compare with -math.inf.",
)
def unlikely_taken_for_impossible(next_log_probs, start_id, end_id, beam_size=4, max_length=20, alpha=0.6):
    if beam_size < 1 or max_length < 1:
        raise ValueError("beam_size, max_length: expected at least 1")
    beam, finished = [(0.0, [start_id])], []
    for _ in range(max_length):
        extensions = []
        for total, prefix in beam:
            for token, log_prob in enumerate(next_log_probs(np.array(prefix))):
                extensions.append((total + float(log_prob), [*prefix, token]))
        kept = sorted(extensions, key=lambda answer: answer[0], reverse=True)[:beam_size]
        kept = [answer for answer in kept if answer[0] > -1e9]
        finished += [answer for answer in kept if answer[1][-1] == end_id]
        beam = [answer for answer in kept if answer[1][-1] != end_id]
    scored = [(total / length_penalty(len(tokens) - 1, alpha), tokens) for total, tokens in finished + beam]
    if not scored:
        raise ValueError("next_log_probs: no token may come next")
    score, tokens = max(scored, key=lambda answer: answer[0])
    return (tokens[1:-1] if tokens[-1] == end_id else tokens[1:]), score


@mistake(
    criterion="beam-search",
    replaces="beam_search",
    text="The length counts start_id as well.",
    fix="Count the generated tokens only: one less than the prefix has.",
)
def start_counted_in_the_length(next_log_probs, start_id, end_id, beam_size=4, max_length=20, alpha=0.6):
    if beam_size < 1 or max_length < 1:
        raise ValueError("beam_size, max_length: expected at least 1")
    beam, finished = [(0.0, [start_id])], []
    for _ in range(max_length):
        extensions = []
        for total, prefix in beam:
            for token, log_prob in enumerate(next_log_probs(np.array(prefix))):
                extensions.append((total + float(log_prob), [*prefix, token]))
        kept = sorted(extensions, key=lambda answer: answer[0], reverse=True)[:beam_size]
        kept = [answer for answer in kept if answer[0] > -math.inf]
        finished += [answer for answer in kept if answer[1][-1] == end_id]
        beam = [answer for answer in kept if answer[1][-1] != end_id]
    score, tokens = max((total / length_penalty(len(tokens), alpha), tokens) for total, tokens in finished + beam)
    return (tokens[1:-1] if tokens[-1] == end_id else tokens[1:]), score


@mistake(
    criterion="beam-search",
    replaces="beam_search",
    text="The length does not count end_id.",
    fix="Count all generated tokens, end_id included.",
)
def end_not_counted_in_the_length(next_log_probs, start_id, end_id, beam_size=4, max_length=20, alpha=0.6):
    if beam_size < 1 or max_length < 1:
        raise ValueError("beam_size, max_length: expected at least 1")
    beam, finished = [(0.0, [start_id])], []
    for _ in range(max_length):
        extensions = []
        for total, prefix in beam:
            for token, log_prob in enumerate(next_log_probs(np.array(prefix))):
                extensions.append((total + float(log_prob), [*prefix, token]))
        kept = sorted(extensions, key=lambda answer: answer[0], reverse=True)[:beam_size]
        kept = [answer for answer in kept if answer[0] > -math.inf]
        finished += [answer for answer in kept if answer[1][-1] == end_id]
        beam = [answer for answer in kept if answer[1][-1] != end_id]
    score, tokens = max(
        (total / length_penalty(len(tokens) - 1 - (tokens[-1] == end_id), alpha), tokens)
        for total, tokens in finished + beam
    )
    return (tokens[1:-1] if tokens[-1] == end_id else tokens[1:]), score


@mistake(
    criterion="beam-search",
    replaces="beam_search",
    text="The log-probabilities of finished answers were not divided by the length penalty.",
    fix="Compare finished answers by log-probability / length_penalty(length, alpha).",
)
def score_without_penalty(next_log_probs, start_id, end_id, beam_size=4, max_length=20, alpha=0.6):
    if beam_size < 1 or max_length < 1:
        raise ValueError("beam_size, max_length: expected at least 1")
    beam, finished = [(0.0, [start_id])], []
    for _ in range(max_length):
        extensions = []
        for total, prefix in beam:
            for token, log_prob in enumerate(next_log_probs(np.array(prefix))):
                extensions.append((total + float(log_prob), [*prefix, token]))
        kept = sorted(extensions, key=lambda answer: answer[0], reverse=True)[:beam_size]
        kept = [answer for answer in kept if answer[0] > -math.inf]
        finished += [answer for answer in kept if answer[1][-1] == end_id]
        beam = [answer for answer in kept if answer[1][-1] != end_id]
    score, tokens = max((total, tokens) for total, tokens in finished + beam)
    return (tokens[1:-1] if tokens[-1] == end_id else tokens[1:]), score


@mistake(
    criterion="beam-search",
    replaces="beam_search",
    text="The log-probability was multiplied by the length penalty, which makes long answers worse.",
    fix="Divide by it: log-probabilities are negative.",
)
def score_times_penalty(next_log_probs, start_id, end_id, beam_size=4, max_length=20, alpha=0.6):
    if beam_size < 1 or max_length < 1:
        raise ValueError("beam_size, max_length: expected at least 1")
    beam, finished = [(0.0, [start_id])], []
    for _ in range(max_length):
        extensions = []
        for total, prefix in beam:
            for token, log_prob in enumerate(next_log_probs(np.array(prefix))):
                extensions.append((total + float(log_prob), [*prefix, token]))
        kept = sorted(extensions, key=lambda answer: answer[0], reverse=True)[:beam_size]
        kept = [answer for answer in kept if answer[0] > -math.inf]
        finished += [answer for answer in kept if answer[1][-1] == end_id]
        beam = [answer for answer in kept if answer[1][-1] != end_id]
    score, tokens = max((total * length_penalty(len(tokens) - 1, alpha), tokens) for total, tokens in finished + beam)
    return (tokens[1:-1] if tokens[-1] == end_id else tokens[1:]), score


@mistake(
    criterion="beam-search",
    replaces="beam_search",
    text="The beam has one prefix, whatever beam_size is: this is greedy search.",
    fix="Keep the beam_size best of all extensions at each step.",
)
def always_greedy(next_log_probs, start_id, end_id, beam_size=4, max_length=20, alpha=0.6, right=beam_search):
    return right(next_log_probs, start_id, end_id, min(beam_size, 1), max_length, alpha)


@mistake(
    criterion="beam-search",
    replaces="beam_search",
    text="end_id is still among the tokens.",
    fix="Return the tokens between start_id and end_id.",
)
def end_returned(next_log_probs, start_id, end_id, beam_size=4, max_length=20, alpha=0.6, right=beam_search):
    asked = []

    def noted(prefix):
        asked.append((tuple(int(token) for token in prefix), next_log_probs(prefix)))
        return asked[-1][1]

    tokens, score = right(noted, start_id, end_id, beam_size, max_length, alpha)
    total = 0.0
    for place, token in enumerate(tokens):
        total += float(dict(asked)[(start_id, *tokens[:place])][token])
    unfinished = len(tokens) == max_length and math.isclose(score, total / length_penalty(len(tokens), alpha))
    return (tokens if unfinished else [*tokens, end_id]), score


@mistake(
    criterion="beam-search",
    replaces="beam_search",
    text="The first answer that was finished came back: the search went no further.",
    fix="Put finished answers aside and go on; the one with the highest score wins when the beam is empty.",
)
def first_finished_answer(next_log_probs, start_id, end_id, beam_size=4, max_length=20, alpha=0.6):
    if beam_size < 1 or max_length < 1:
        raise ValueError("beam_size, max_length: expected at least 1")
    beam, finished = [(0.0, [start_id])], []
    for _ in range(max_length):
        extensions = []
        for total, prefix in beam:
            for token, log_prob in enumerate(next_log_probs(np.array(prefix))):
                extensions.append((total + float(log_prob), [*prefix, token]))
        kept = sorted(extensions, key=lambda answer: answer[0], reverse=True)[:beam_size]
        kept = [answer for answer in kept if answer[0] > -math.inf]
        finished += [answer for answer in kept if answer[1][-1] == end_id]
        beam = [answer for answer in kept if answer[1][-1] != end_id]
        if finished:
            break
    scored = [(total / length_penalty(len(tokens) - 1, alpha), tokens) for total, tokens in finished or beam]
    if not scored:
        raise ValueError("next_log_probs: -inf for every token, expected one that may come next")
    score, tokens = max(scored, key=lambda answer: answer[0])
    return (tokens[1:-1] if tokens[-1] == end_id else tokens[1:]), score


@mistake(
    criterion="beam-search",
    replaces="beam_search",
    text="The log-probability was divided by the number of tokens, not by the length penalty.",
    fix="Divide by length_penalty(length, alpha).",
)
def score_over_the_length(next_log_probs, start_id, end_id, beam_size=4, max_length=20, alpha=0.6):
    if beam_size < 1 or max_length < 1:
        raise ValueError("beam_size, max_length: expected at least 1")
    beam, finished = [(0.0, [start_id])], []
    for _ in range(max_length):
        extensions = []
        for total, prefix in beam:
            for token, log_prob in enumerate(next_log_probs(np.array(prefix))):
                extensions.append((total + float(log_prob), [*prefix, token]))
        kept = sorted(extensions, key=lambda answer: answer[0], reverse=True)[:beam_size]
        kept = [answer for answer in kept if answer[0] > -math.inf]
        finished += [answer for answer in kept if answer[1][-1] == end_id]
        beam = [answer for answer in kept if answer[1][-1] != end_id]
    scored = [(total / (len(tokens) - 1), tokens) for total, tokens in finished + beam]
    if not scored:
        raise ValueError("next_log_probs: -inf for every token, expected one that may come next")
    score, tokens = max(scored, key=lambda answer: answer[0])
    return (tokens[1:-1] if tokens[-1] == end_id else tokens[1:]), score


@mistake(
    criterion="clipped-matches",
    replaces="clipped_matches",
    text="The matches were not clipped: an n-gram counts as often as the candidate repeats it.",
    fix="Count it at most as often as in the reference which has it most often.",
)
def matches_not_clipped(candidates, references, n, right=clipped_matches):
    _, total = right(candidates, references, n)
    found = 0
    for candidate, answers in zip(candidates, references, strict=True):
        known = set().union(*(_ngrams(answer, n) for answer in answers))
        found += sum(count for gram, count in _ngrams(candidate, n).items() if gram in known)
    return found, total


@mistake(
    criterion="clipped-matches",
    replaces="clipped_matches",
    text="The counts of all references were added up before clipping.",
    fix="Clip by the largest count in a single reference: the maximum, not the sum.",
)
def references_pooled(candidates, references, n, right=clipped_matches):
    _, total = right(candidates, references, n)
    found = 0
    for candidate, answers in zip(candidates, references, strict=True):
        pooled = sum((_ngrams(answer, n) for answer in answers), Counter())
        found += (_ngrams(candidate, n) & pooled).total()
    return found, total


@mistake(
    criterion="clipped-matches",
    replaces="clipped_matches",
    text="Only the first reference of each candidate was used.",
    fix="Take for each n-gram the largest of its counts in all of the candidate's references.",
)
def first_reference_only(candidates, references, n, right=clipped_matches):
    right(candidates, references, n)
    return right(candidates, [answers[:1] for answers in references], n)


@mistake(
    criterion="clipped-matches",
    replaces="clipped_matches",
    text="Each n-gram was counted once, however often it occurs.",
    fix="Count occurrences, with collections.Counter, not different n-grams.",
)
def different_n_grams_counted(candidates, references, n, right=clipped_matches):
    right(candidates, references, n)
    found = total = 0
    for candidate, answers in zip(candidates, references, strict=True):
        own = set(_ngrams(candidate, n))
        found += len(own & set().union(*(_ngrams(answer, n) for answer in answers)))
        total += len(own)
    return found, total


@mistake(
    criterion="clipped-matches",
    replaces="clipped_matches",
    text="Of several references the last one that has an n-gram limits it, not the one that has it most often.",
    fix="Take the largest count among the references for each n-gram.",
)
def limits_of_the_last_reference(candidates, references, n, right=clipped_matches):
    _, total = right(candidates, references, n)
    found = 0
    for candidate, answers in zip(candidates, references, strict=True):
        limits = {}
        for answer in answers:
            limits.update(_ngrams(answer, n))
        found += sum(min(count, limits.get(gram, 0)) for gram, count in _ngrams(candidate, n).items())
    return found, total


@mistake(
    criterion="bleu",
    replaces="bleu",
    text="The precisions were averaged: this is their arithmetic mean.",
    fix="Take the geometric mean, exp(mean of the logarithms).",
)
def arithmetic_mean(candidates, references, max_n=4, right=bleu):
    if right(candidates, references, max_n) == 0:
        return 0.0
    counted = [clipped_matches(candidates, references, n) for n in range(1, max_n + 1)]
    precisions = [matches / total for matches, total in counted]
    c, pairs = sum(map(len, candidates)), zip(candidates, references, strict=True)
    r = sum(_closest_length(len(candidate), answers) for candidate, answers in pairs)
    return sum(precisions) / max_n * math.exp(min(0.0, 1 - r / c))


@mistake(
    criterion="bleu",
    replaces="bleu",
    text="The precisions were multiplied without taking the root.",
    fix="Take the max_n-th root of their product.",
)
def product_without_root(candidates, references, max_n=4, right=bleu):
    if right(candidates, references, max_n) == 0:
        return 0.0
    counted = [clipped_matches(candidates, references, n) for n in range(1, max_n + 1)]
    precisions = [matches / total for matches, total in counted]
    c, pairs = sum(map(len, candidates)), zip(candidates, references, strict=True)
    r = sum(_closest_length(len(candidate), answers) for candidate, answers in pairs)
    return math.prod(precisions) * math.exp(min(0.0, 1 - r / c))


@mistake(
    criterion="bleu",
    replaces="bleu",
    text="There is no brevity penalty.",
    fix="Multiply by exp(1 - r / c) where the candidates are shorter in all than the references, c < r.",
)
def no_brevity_penalty(candidates, references, max_n=4, right=bleu):
    if right(candidates, references, max_n) == 0:
        return 0.0
    counted = [clipped_matches(candidates, references, n) for n in range(1, max_n + 1)]
    return math.exp(sum(math.log(matches / total) for matches, total in counted) / max_n)


@mistake(
    criterion="bleu",
    replaces="bleu",
    text="Candidates that are longer than the references got more than 1: the penalty is exp(1 - r / c) throughout.",
    fix="The penalty is 1 where c >= r.",
)
def long_candidates_rewarded(candidates, references, max_n=4, right=bleu):
    if right(candidates, references, max_n) == 0:
        return 0.0
    counted = [clipped_matches(candidates, references, n) for n in range(1, max_n + 1)]
    precisions = [matches / total for matches, total in counted]
    c, pairs = sum(map(len, candidates)), zip(candidates, references, strict=True)
    r = sum(_closest_length(len(candidate), answers) for candidate, answers in pairs)
    return math.exp(sum(map(math.log, precisions)) / max_n) * math.exp(1 - r / c)


@mistake(
    criterion="bleu",
    replaces="bleu",
    text="The reference length is that of the shortest reference.",
    fix="Take the reference whose length is closest to the candidate's.",
)
def shortest_reference(candidates, references, max_n=4, right=bleu):
    if right(candidates, references, max_n) == 0:
        return 0.0
    counted = [clipped_matches(candidates, references, n) for n in range(1, max_n + 1)]
    precisions = [matches / total for matches, total in counted]
    c, pairs = sum(map(len, candidates)), zip(candidates, references, strict=True)
    r = sum(min(map(len, answers)) for candidate, answers in pairs)
    return math.exp(sum(map(math.log, precisions)) / max_n) * math.exp(min(0.0, 1 - r / c))


@mistake(
    criterion="bleu",
    replaces="bleu",
    text="The reference length is that of the first reference.",
    fix="Take the reference whose length is closest to the candidate's.",
)
def first_references_length(candidates, references, max_n=4, right=bleu):
    if right(candidates, references, max_n) == 0:
        return 0.0
    counted = [clipped_matches(candidates, references, n) for n in range(1, max_n + 1)]
    precisions = [matches / total for matches, total in counted]
    c, pairs = sum(map(len, candidates)), zip(candidates, references, strict=True)
    r = sum(len(answers[0]) for candidate, answers in pairs)
    return math.exp(sum(map(math.log, precisions)) / max_n) * math.exp(min(0.0, 1 - r / c))


@mistake(
    criterion="bleu",
    replaces="bleu",
    text="This is the mean of the sentences' own scores.",
    fix="Count the matches, totals and lengths of the whole corpus, and make one score of them.",
)
def sentences_averaged(candidates, references, max_n=4, right=bleu):
    right(candidates, references, max_n)
    pairs = zip(candidates, references, strict=True)
    return sum(right([candidate], [answers], max_n) for candidate, answers in pairs) / len(candidates)


@mistake(
    criterion="bleu",
    replaces="bleu",
    text="The reference length is that of the longest reference.",
    fix="Take the length that is closest to the candidate's; of two equally close ones the shorter.",
)
def longest_reference(candidates, references, max_n=4, right=bleu):
    if right(candidates, references, max_n) == 0:
        return 0.0
    counted = [clipped_matches(candidates, references, n) for n in range(1, max_n + 1)]
    precisions = [matches / total for matches, total in counted]
    c, pairs = sum(map(len, candidates)), zip(candidates, references, strict=True)
    r = sum(max(map(len, answers)) for candidate, answers in pairs)
    return math.exp(sum(map(math.log, precisions)) / max_n) * math.exp(min(0.0, 1 - r / c))


@mistake(
    criterion="bleu",
    replaces="bleu",
    text="c and r changed places in the brevity penalty: long candidates were punished, short ones were not.",
    fix="The penalty is exp(1 - r / c) where c < r: r is the length of the references, c that of the candidates.",
)
def lengths_exchanged(candidates, references, max_n=4, right=bleu):
    if right(candidates, references, max_n) == 0:
        return 0.0
    counted = [clipped_matches(candidates, references, n) for n in range(1, max_n + 1)]
    precisions = [matches / total for matches, total in counted]
    c, pairs = sum(map(len, candidates)), zip(candidates, references, strict=True)
    r = sum(_closest_length(len(candidate), answers) for candidate, answers in pairs)
    return math.exp(sum(map(math.log, precisions)) / max_n) * math.exp(min(0.0, 1 - c / r))


@mistake(
    criterion="bleu",
    replaces="bleu",
    text="The brevity penalty is c / r: the exponential is missing.",
    fix="Multiply by exp(1 - r / c) where c < r.",
)
def penalty_without_the_exponential(candidates, references, max_n=4, right=bleu):
    if right(candidates, references, max_n) == 0:
        return 0.0
    counted = [clipped_matches(candidates, references, n) for n in range(1, max_n + 1)]
    precisions = [matches / total for matches, total in counted]
    c, pairs = sum(map(len, candidates)), zip(candidates, references, strict=True)
    r = sum(_closest_length(len(candidate), answers) for candidate, answers in pairs)
    return math.exp(sum(map(math.log, precisions)) / max_n) * min(1.0, c / r)


@mistake(
    criterion="reverses-sequences",
    replaces="Transformer.forward",
    text="The model went on with the parameters of its first call: what an optimiser sets has no effect.",
    fix="Read the tables and the params of the parts at each call of forward; keep no copy of them.",
)
def parameters_of_the_first_call(self, source, target, source_mask=None, right=Transformer.forward):
    now = {**self.params}
    if not hasattr(self, "_first"):
        self._first = now
    self.set_params(self._first)
    logits = right(self, source, target, source_mask)
    self.set_params(now)
    return logits


@mistake(
    criterion="reverses-sequences",
    replaces="Transformer.backward",
    text="The encoder got no gradient: it stays as it was drawn.",
    fix="Call encoder.backward with the sum of the decoder blocks' grad_memory.",
)
def encoder_without_gradient(self, grad_logits, right=Transformer.backward):
    right(self, grad_logits)
    for name, leaf in _leaves(self).items():
        if name.startswith("encoder."):
            leaf.grads = {key: np.zeros_like(value) for key, value in leaf.grads.items()}
    names = ("source_embedding", "source_positions")
    self._grads = {**self._grads, **{name: np.zeros_like(self.tables[name]) for name in names}}


@mistake(
    criterion="reverses-sequences",
    replaces="Transformer.set_params",
    text="set_params changed the tables only: the parts kept their parameters.",
    fix="Hand each part those whose names begin with its own.",
)
def only_tables_set(self, params, right=Transformer.set_params):
    right(self, {**self.params, **{name: value for name, value in params.items() if name in self.tables}})


@mistake(
    criterion="reverses-sequences",
    replaces="Transformer.backward",
    text="The gradients of the tables added up over the calls of backward.",
    fix="Begin each backward with tables of zeros.",
)
def table_gradients_accumulated(self, grad_logits, right=Transformer.backward):
    before = self._grads
    right(self, grad_logits)
    self._grads = {name: value + before.get(name, 0) for name, value in self._grads.items()}

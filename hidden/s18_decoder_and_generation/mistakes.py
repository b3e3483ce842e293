"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own function as the default of `right`.
"""

import math

import numpy as np

from grader.course.answers import mistake
from hidden.s18_decoder_and_generation.solution import (
    GPT,
    DecoderBlock,
    LayerNorm,
    _below,
    _check_params,
    _dotted,
    _drawn,
    _generator,
    _joined,
    _ranked,
    _sequences,
    _softmax,
    cross_entropy_loss,
    generate,
    perplexity,
    sample,
)


@mistake(
    criterion="decoder-block",
    replaces="DecoderBlock.forward",
    text="Every position attended to all others, later ones too: the block was called without a mask.",
    fix="Give s17's block the mask np.tri(seq, dtype=bool).",
)
def no_mask(self, x):
    x = _sequences(x, self._dim)
    output = self._block.forward(x)
    self.attention_weights = self._block.attention.attention_weights
    return output


@mistake(
    criterion="decoder-block",
    replaces="DecoderBlock.forward",
    text="The mask lies on the wrong side of the diagonal: each position saw itself and those after it.",
    fix="True stands where the key is not later than the query: np.tri(seq, dtype=bool), not np.triu.",
)
def mask_of_later_positions(self, x):
    x = _sequences(x, self._dim)
    output = self._block.forward(x, np.tri(x.shape[1], dtype=bool).T)
    self.attention_weights = self._block.attention.attention_weights
    return output


@mistake(
    criterion="decoder-block",
    replaces="DecoderBlock.forward",
    text="A position may not see itself: the diagonal of the mask is False.",
    fix="Position i attends to the positions 0 to i, i among them: np.tri(seq, dtype=bool).",
)
def diagonal_masked(self, x):
    x = _sequences(x, self._dim)
    output = self._block.forward(x, np.tri(x.shape[1], k=-1, dtype=bool))
    self.attention_weights = self._block.attention.attention_weights
    return output


@mistake(
    criterion="decoder-block",
    replaces="DecoderBlock.forward",
    text="attention_weights holds the average over the heads.",
    fix="Keep the weights of every head: shape (batch, num_heads, seq, seq).",
)
def weights_averaged_over_heads(self, x, right=DecoderBlock.forward):
    output = right(self, x)
    self.attention_weights = self.attention_weights.mean(axis=1)
    return output


@mistake(
    criterion="decoder-block",
    replaces="DecoderBlock",
    text="Setting params reached the attention and the MLP only: the norms kept what they had.",
    fix="Give norm1 and norm2 the entries that begin with their names, too.",
)
class norms_not_set(DecoderBlock):
    @property
    def params(self):
        return self._block.params

    @params.setter
    def params(self, given):
        _check_params(given, self.params)
        for name in ("attention", "mlp"):
            getattr(self._block, name).params = _below(given, name)


@mistake(
    criterion="decoder-block",
    replaces="DecoderBlock",
    text="Setting params gave norm2 what belongs to norm1.",
    fix="Give norm2 the entries that begin with norm2.",
)
class norm2_set_as_norm1(DecoderBlock):
    @property
    def params(self):
        return self._block.params

    @params.setter
    def params(self, given):
        _check_params(given, self.params)
        for name, source in (("norm1", "norm1"), ("attention", "attention"), ("norm2", "norm1"), ("mlp", "mlp")):
            getattr(self._block, name).params = _below(given, source)


@mistake(
    criterion="decoder-block",
    replaces="DecoderBlock",
    text="Setting params did not reach the MLP: it kept what it had.",
    fix="Give mlp the entries that begin with its name, too.",
)
class mlp_not_set(DecoderBlock):
    @property
    def params(self):
        return self._block.params

    @params.setter
    def params(self, given):
        _check_params(given, self.params)
        for name in ("norm1", "attention", "norm2"):
            getattr(self._block, name).params = _below(given, name)


@mistake(
    criterion="decoder-block-gradients",
    replaces="DecoderBlock.backward",
    text="The residual path past the attention is missing: x reaches the sum directly as well.",
    fix="Add the gradient of the sum to what norm1.backward(attention.backward(...)) returns.",
)
def first_residual_forgotten(self, grad_output):
    parts = self._block
    grad = grad_output + parts.norm2.backward(parts.mlp.backward(grad_output))
    return parts.norm1.backward(parts.attention.backward(grad))


@mistake(
    criterion="decoder-block-gradients",
    replaces="DecoderBlock.backward",
    text="The residual path past the MLP is missing: what the attention gets is too small.",
    fix="Add grad_output to what norm2.backward(mlp.backward(grad_output)) returns.",
)
def second_residual_forgotten(self, grad_output):
    parts = self._block
    grad = parts.norm2.backward(parts.mlp.backward(grad_output))
    return grad + parts.norm1.backward(parts.attention.backward(grad))


@mistake(
    criterion="decoder-block-gradients",
    replaces="DecoderBlock.backward",
    text="The sublayers were walked in forward's order: first the attention, then the MLP.",
    fix="Begin at the end: norm2 and MLP first, then norm1 and attention.",
)
def sublayers_in_forward_order(self, grad_output):
    parts = self._block
    grad = grad_output + parts.norm1.backward(parts.attention.backward(grad_output))
    return grad + parts.norm2.backward(parts.mlp.backward(grad))


@mistake(
    criterion="gpt-params",
    replaces="GPT",
    text="Setting params reached the blocks and the norm only: both embeddings kept what they had.",
    fix="Keep given['token_embedding'] and given['position_embedding'] in the setter, too.",
)
class embeddings_not_set(GPT):
    @property
    def params(self):
        return {**self._embeddings, **_dotted(self._parts(), "params")}

    @params.setter
    def params(self, given):
        _check_params(given, self.params)
        for name, part in self._parts().items():
            part.params = _below(given, name)


@mistake(
    criterion="gpt-params",
    replaces="GPT.__init__",
    text="The list of blocks holds one block depth times, so that all depths share their parameters.",
    fix="Make a new block for each: [DecoderBlock(...) for _ in range(depth)].",
)
def one_block_for_all(self, vocabulary_size, context_length, depth, dim, num_heads, rng=None, right=GPT.__init__):
    right(self, vocabulary_size, context_length, depth, dim, num_heads, rng)
    self.blocks = self.blocks[:1] * depth


@mistake(
    criterion="gpt-params",
    replaces="GPT.__init__",
    text="The new embeddings have a standard deviation of 1.",
    fix="Divide what the generator draws by sqrt(dim).",
)
def embeddings_of_size_one(self, vocabulary_size, context_length, depth, dim, num_heads, rng=None, right=GPT.__init__):
    right(self, vocabulary_size, context_length, depth, dim, num_heads, rng)
    self._embeddings = {name: value * math.sqrt(dim) for name, value in self._embeddings.items()}


@mistake(
    criterion="gpt-params",
    replaces="GPT",
    text="params has a readout of its own beside token_embedding.",
    fix="Use token_embedding at both ends: logits = hidden @ token_embedding.T. There is no other matrix.",
)
class readout_of_its_own(GPT):
    @property
    def params(self):
        return {**self._embeddings, "readout": self._embeddings["token_embedding"], **_dotted(self._parts(), "params")}

    @params.setter
    def params(self, given):
        kept = {name: value for name, value in given.items() if name != "readout"}
        _check_params(kept, {name: value for name, value in self.params.items() if name != "readout"})
        self._embeddings = {name: given[name] for name in self._embeddings}
        for name, part in self._parts().items():
            part.params = _below(given, name)


@mistake(
    criterion="gpt-params",
    replaces="GPT",
    text="Setting params did not reach position_embedding: the positions stayed as they were.",
    fix="Keep given['position_embedding'] in the setter, too.",
)
class positions_not_set(GPT):
    @property
    def params(self):
        return {**self._embeddings, **_dotted(self._parts(), "params")}

    @params.setter
    def params(self, given):
        _check_params(given, self.params)
        self._embeddings = {**self._embeddings, "token_embedding": given["token_embedding"]}
        for name, part in self._parts().items():
            part.params = _below(given, name)


@mistake(
    criterion="gpt-params",
    replaces="GPT",
    text="Setting params did not reach the norm at the end: it kept what it had.",
    fix="Give the norm the entries 'norm.gamma' and 'norm.beta', too.",
)
class final_norm_not_set(GPT):
    @property
    def params(self):
        return {**self._embeddings, **_dotted(self._parts(), "params")}

    @params.setter
    def params(self, given):
        _check_params(given, self.params)
        self._embeddings = {name: given[name] for name in self._embeddings}
        for name, part in self._parts().items():
            if name != "norm":
                part.params = _below(given, name)


@mistake(
    criterion="gpt-params",
    replaces="GPT",
    text="Setting params gave every block the parameters of block 0.",
    fix="Give block i the entries that begin with blocks.i.",
)
class parameters_of_block_0_for_all(GPT):
    @property
    def params(self):
        return {**self._embeddings, **_dotted(self._parts(), "params")}

    @params.setter
    def params(self, given):
        _check_params(given, self.params)
        self._embeddings = {name: given[name] for name in self._embeddings}
        for name, part in self._parts().items():
            part.params = _below(given, "norm" if name == "norm" else "blocks.0")


@mistake(
    criterion="gpt-forward",
    replaces="GPT.forward",
    text="The position embeddings were not added: the model cannot tell the order of what it sees, save by the mask.",
    fix="Add position_embedding[:seq] to token_embedding[ids].",
)
def positions_forgotten(self, ids):
    tokens = self._embeddings["token_embedding"]
    self._run(ids, 0, None)
    x = tokens[ids]
    for block in self.blocks:
        x = block.forward(x)
    self._last = ids, self._norm.forward(x)
    return self._last[1] @ tokens.T


@mistake(
    criterion="gpt-forward",
    replaces="GPT.forward",
    text="The norm at the end is missing: what leaves the last block was compared with the embeddings as it was.",
    fix="Apply norm to the output of the last block, before the product with token_embedding.",
)
def final_norm_forgotten(self, ids):
    tokens, positions = self._embeddings["token_embedding"], self._embeddings["position_embedding"]
    self._last = ids, self._run(ids, 0, None)[0]
    x = tokens[ids] + positions[: ids.shape[1]]
    for block in self.blocks:
        x = block.forward(x)
    return x @ tokens.T


@mistake(
    criterion="gpt-forward",
    replaces="GPT.forward",
    text="Probabilities came back, where scores are asked for.",
    fix="Return the logits as they are; the softmax belongs to the loss and to sampling.",
)
def softmax_taken(self, ids, right=GPT.forward):
    return _softmax(right(self, ids))


@mistake(
    criterion="gpt-forward",
    replaces="GPT.forward",
    text="The token embeddings were multiplied by sqrt(dim) before the positions were added.",
    fix="Add the two embeddings as they are: this model does not scale them.",
)
def embeddings_scaled(self, ids):
    tokens, positions = self._embeddings["token_embedding"], self._embeddings["position_embedding"]
    self._run(ids, 0, None)
    x = tokens[ids] * math.sqrt(tokens.shape[1]) + positions[: ids.shape[1]]
    for block in self.blocks:
        x = block.forward(x)
    self._last = ids, self._norm.forward(x)
    return self._last[1] @ tokens.T


@mistake(
    criterion="gpt-forward",
    replaces="GPT.forward",
    text="The scores were divided by sqrt(dim), as scores of attention are.",
    fix="Return hidden @ token_embedding.T as it is.",
)
def logits_scaled(self, ids, right=GPT.forward):
    return right(self, ids) / math.sqrt(self._embeddings["token_embedding"].shape[1])


@mistake(
    criterion="gpt-forward",
    replaces="GPT.forward",
    text="Every token got the embedding of position 0, wherever it stands.",
    fix="Add position_embedding[:seq], a row for each place: a single row goes to all of them.",
)
def position_zero_for_all(self, ids):
    tokens, positions = self._embeddings["token_embedding"], self._embeddings["position_embedding"]
    self._run(ids, 0, None)
    x = tokens[ids] + positions[:1]
    for block in self.blocks:
        x = block.forward(x)
    self._last = ids, self._norm.forward(x)
    return self._last[1] @ tokens.T


@mistake(
    criterion="gpt-forward",
    replaces="GPT.forward",
    text="The positions were counted from the end of the sequence: the last token got row 0.",
    fix="The first token of ids gets row 0 of position_embedding, the next one row 1.",
)
def positions_from_the_end(self, ids):
    tokens, positions = self._embeddings["token_embedding"], self._embeddings["position_embedding"]
    self._run(ids, 0, None)
    x = tokens[ids] + positions[: ids.shape[1]][::-1]
    for block in self.blocks:
        x = block.forward(x)
    self._last = ids, self._norm.forward(x)
    return self._last[1] @ tokens.T


@mistake(
    criterion="cross-entropy",
    replaces="cross_entropy_loss",
    text="Where no target counts the answer is 0 before the shapes are looked at: a mask of another shape passes.",
    fix="Compare the shapes of targets and mask with that of logits first.",
)
def nothing_counts_before_the_shapes(logits, targets, mask=None, right=cross_entropy_loss):
    if mask is not None and not mask.any():
        return 0.0, np.zeros_like(logits)
    return right(logits, targets, mask)


@mistake(
    criterion="cross-entropy",
    replaces="cross_entropy_loss",
    text="A probability that underflowed to 0 gave an infinite loss: the logarithm was taken after the softmax.",
    fix="Take both at once: log softmax = z - max - log(sum of exp(z - max)).",
)
def logarithm_of_an_underflowed_probability(logits, targets, mask=None, right=cross_entropy_loss):
    _, gradient = right(logits, targets, mask)
    counts = np.broadcast_to(True, logits.shape[:-1]) if mask is None else mask.astype(bool)
    chosen = np.take_along_axis(_softmax(logits), np.where(counts, targets, 0)[..., None].astype(int), axis=-1)[..., 0]
    with np.errstate(divide="ignore"):
        return -np.log(chosen[counts]).sum() / max(int(counts.sum()), 1), gradient


@mistake(
    criterion="cross-entropy",
    replaces="cross_entropy_loss",
    text="The losses and their gradients were added up, where the mean is asked for.",
    fix="Divide both by the number of targets that count.",
)
def sum_of_losses(logits, targets, mask=None, right=cross_entropy_loss):
    loss, grad = right(logits, targets, mask)
    count = max(targets.size if mask is None else int(np.sum(mask)), 1)
    return loss * count, grad * count


@mistake(
    criterion="cross-entropy",
    replaces="cross_entropy_loss",
    text="The sum was divided by the number of all targets, masked ones too.",
    fix="Divide loss and gradient by the number of targets that count: mask.sum().",
)
def mean_over_padding(logits, targets, mask=None, right=cross_entropy_loss):
    loss, grad = right(logits, targets, mask)
    share = 1 if mask is None else float(np.mean(mask))
    return loss * share, (grad * share).astype(logits.dtype)


@mistake(
    criterion="cross-entropy",
    replaces="cross_entropy_loss",
    text="The gradient is that of the sum: it was not divided by the number of targets, as the loss was.",
    fix="Divide the gradient by the number of targets that count, too.",
)
def gradient_not_divided(logits, targets, mask=None, right=cross_entropy_loss):
    loss, grad = right(logits, targets, mask)
    return loss, grad * max(targets.size if mask is None else int(np.sum(mask)), 1)


@mistake(
    criterion="cross-entropy",
    replaces="cross_entropy_loss",
    text="The gradient is the softmax alone: 1 was not subtracted at the target.",
    fix="grad = softmax(logits), minus 1 at the target, divided by the number of targets that count.",
)
def target_not_subtracted(logits, targets, mask=None, right=cross_entropy_loss):
    loss, grad = right(logits, targets, mask)
    counts = np.ones(targets.shape) if mask is None else np.asarray(mask).astype(float)
    return loss, (_softmax(logits) * counts[..., None] / max(counts.sum(), 1)).astype(grad.dtype)


@mistake(
    criterion="cross-entropy",
    replaces="cross_entropy_loss",
    text="The mask had no effect on the gradient: padding pulls at the model.",
    fix="Set the gradient to 0 where the mask is False.",
)
def padding_has_a_gradient(logits, targets, mask=None, right=cross_entropy_loss):
    loss, grad = right(logits, targets, mask)
    if mask is None:
        return loss, grad
    off = np.logical_not(np.asarray(mask))
    count = max(int(np.sum(mask)), 1)
    hits = np.asarray(targets)[..., None] == np.arange(logits.shape[-1])
    return loss, np.where(off[..., None], _softmax(logits) - hits, grad * count) / count


@mistake(
    criterion="cross-entropy",
    replaces="cross_entropy_loss",
    text="The mask had no effect on the sum of the losses: padding that is a token costs as well.",
    fix="Add up the losses where the mask is True only; the gradient leaves the others out already.",
)
def padding_has_a_loss(logits, targets, mask=None, right=cross_entropy_loss):
    loss, grad = right(logits, targets, mask)
    if mask is None or not mask.any():
        return loss, grad
    hits = np.asarray(targets)[..., None] == np.arange(logits.shape[-1])
    return -np.log(_softmax(logits)[hits]).sum() / np.sum(mask), grad


@mistake(
    criterion="cross-entropy",
    replaces="cross_entropy_loss",
    text="The logarithm has base 2.",
    fix="Use the natural logarithm, np.log.",
)
def logarithm_of_base_two(logits, targets, mask=None, right=cross_entropy_loss):
    loss, grad = right(logits, targets, mask)
    return loss / math.log(2), (grad / math.log(2)).astype(grad.dtype)


@mistake(
    criterion="cross-entropy",
    replaces="cross_entropy_loss",
    text="The loss was divided by the number of all targets, masked ones too. Its gradient is right.",
    fix="Divide the loss by the number of targets that count, as the gradient is: mask.sum().",
)
def loss_alone_over_padding(logits, targets, mask=None, right=cross_entropy_loss):
    loss, grad = right(logits, targets, mask)
    return loss * (1 if mask is None else float(np.mean(mask))), grad


@mistake(
    criterion="cross-entropy",
    replaces="cross_entropy_loss",
    text="The gradient was divided by the number of all targets, masked ones too. The loss is right.",
    fix="Divide the gradient by the number of targets that count, as the loss is: mask.sum().",
)
def gradient_alone_over_padding(logits, targets, mask=None, right=cross_entropy_loss):
    loss, grad = right(logits, targets, mask)
    return loss, (grad * (1 if mask is None else float(np.mean(mask)))).astype(logits.dtype)


@mistake(
    criterion="gpt-gradients",
    replaces="GPT.backward",
    text="The way back ended at the last block: what it returned was taken for the gradient of the embeddings.",
    fix="Walk through all blocks, the last one first, each with what the one after it returned.",
)
def stopped_at_the_last_block(self, grad_logits, right=GPT.backward):
    blocks = self.blocks
    for block in blocks[:-1]:
        block.forward(np.zeros((1, 1, block._dim)))
        block.backward(np.zeros((1, 1, block._dim)))
    self.blocks = blocks[-1:]
    try:
        right(self, grad_logits)
    finally:
        self.blocks = blocks


@mistake(
    criterion="gpt-gradients",
    replaces="GPT.backward",
    text="The gradient went past the norm at the end, as if it were not there.",
    fix="Give the last block what norm.backward returns.",
)
def norm_passed_by(self, grad_logits):
    if self._last is None:
        raise RuntimeError("backward: forward has not been called, expected one forward call before it")
    ids, hidden = self._last
    tokens, positions = self._embeddings["token_embedding"], self._embeddings["position_embedding"]
    if grad_logits.shape != (*ids.shape, len(tokens)):
        raise ValueError(f"grad_logits: shape {grad_logits.shape}, expected {(*ids.shape, len(tokens))}")
    grad = grad_logits @ tokens
    self._norm.backward(grad)
    for block in reversed(self.blocks):
        grad = block.backward(grad)
    of_tokens = np.einsum("bsv,bsd->vd", grad_logits, hidden)
    np.add.at(of_tokens, ids, grad)
    of_positions = np.zeros_like(positions)
    of_positions[: ids.shape[1]] = grad.sum(axis=0)
    self._grads = {"token_embedding": of_tokens, "position_embedding": of_positions}


@mistake(
    criterion="gpt-gradients",
    replaces="GPT.backward",
    text="The blocks were walked from the first to the last.",
    fix="The gradient comes in where x went out: for block in reversed(blocks).",
)
def blocks_walked_forwards(self, grad_logits, right=GPT.backward):
    blocks = self.blocks
    self.blocks = blocks[::-1]
    try:
        right(self, grad_logits)
    finally:
        self.blocks = blocks


@mistake(
    criterion="gpt-gradients",
    replaces="GPT",
    text="grads holds the embeddings only: what the blocks and the norm keep is missing.",
    fix="Collect the grads of all parts in one dict, under the names of params.",
)
class grads_of_parts_missing(GPT):
    @property
    def grads(self):
        return self._grads


@mistake(
    criterion="embedding-gradients",
    replaces="GPT.backward",
    text="token_embedding got the gradient of the scores only; that of the look-up is missing.",
    fix="Add the gradient of x to the rows that ids chose: np.add.at(of_tokens, ids, grad).",
)
def gradient_of_the_look_up_missing(self, grad_logits, right=GPT.backward):
    right(self, grad_logits)
    _, hidden = self._last
    of_tokens = np.einsum("bsv,bsd->vd", grad_logits, hidden)
    self._grads = {**self._grads, "token_embedding": of_tokens}


@mistake(
    criterion="embedding-gradients",
    replaces="GPT.backward",
    text="token_embedding got the gradient of the look-up only; that of the scores is missing.",
    fix="logits = hidden @ E.T: E gets the sum of grad_logits times hidden over all positions, too.",
)
def gradient_of_the_scores_missing(self, grad_logits, right=GPT.backward):
    right(self, grad_logits)
    _, hidden = self._last
    of_scores = np.einsum("bsv,bsd->vd", grad_logits, hidden)
    self._grads = {**self._grads, "token_embedding": self._grads["token_embedding"] - of_scores}


@mistake(
    criterion="embedding-gradients",
    replaces="GPT.backward",
    text="A token that stands several times got the gradient of one place only: of_tokens[ids] += adds once an id.",
    fix="Use np.add.at(of_tokens, ids, grad), which adds every one.",
)
def repeated_tokens_counted_once(self, grad_logits):
    if self._last is None:
        raise RuntimeError("backward: forward has not been called, expected one forward call before it")
    ids, hidden = self._last
    tokens, positions = self._embeddings["token_embedding"], self._embeddings["position_embedding"]
    if grad_logits.shape != (*ids.shape, len(tokens)):
        raise ValueError(f"grad_logits: shape {grad_logits.shape}, expected {(*ids.shape, len(tokens))}")
    grad = self._norm.backward(grad_logits @ tokens)
    for block in reversed(self.blocks):
        grad = block.backward(grad)
    of_tokens = np.einsum("bsv,bsd->vd", grad_logits, hidden)
    of_tokens[ids] += grad
    of_positions = np.zeros_like(positions)
    of_positions[: ids.shape[1]] = grad.sum(axis=0)
    self._grads = {"token_embedding": of_tokens, "position_embedding": of_positions}


@mistake(
    criterion="embedding-gradients",
    replaces="GPT.backward",
    text="position_embedding got the mean over the batch, where it gets the sum: each sequence uses the same rows.",
    fix="Sum the gradient of x over the batch: grad.sum(axis=0).",
)
def position_gradients_averaged(self, grad_logits, right=GPT.backward):
    right(self, grad_logits)
    of_positions = (self._grads["position_embedding"] / len(self._last[0])).astype(grad_logits.dtype)
    self._grads = {**self._grads, "position_embedding": of_positions}


@mistake(
    criterion="embedding-gradients",
    replaces="GPT.backward",
    text="The gradient of position_embedding has a row for each position that was used, not for each that there is.",
    fix="Begin with zeros of the shape of position_embedding, and fill its first seq rows.",
)
def unused_positions_cut_off(self, grad_logits, right=GPT.backward):
    right(self, grad_logits)
    used = self._grads["position_embedding"][: self._last[0].shape[1]]
    self._grads = {**self._grads, "position_embedding": used}


@mistake(
    criterion="block-cache",
    replaces="DecoderBlock.forward_with_cache",
    text="The new keys and values were put in front of those in the cache.",
    fix="The past comes first: np.concatenate([cached, new], axis=2).",
)
def new_keys_in_front(self, x, cache=None, right=DecoderBlock.forward_with_cache):
    if cache is None:
        return right(self, x)
    x = _sequences(x, self._dim)
    params, shape = self._block.attention.params, (*x.shape[:2], 3, self._num_heads, -1)
    qkv = self._block.norm1.forward(x) @ params["qkv_weights"] + params["qkv_bias"]
    queries, keys, values = qkv.reshape(shape).transpose(2, 0, 3, 1, 4)
    for pair in zip(cache, (keys, values), strict=True):
        _joined(*pair)
    keys, values = np.concatenate([keys, cache[0]], axis=2), np.concatenate([values, cache[1]], axis=2)
    seq, total = x.shape[1], keys.shape[2]
    scores = queries @ np.swapaxes(keys, -1, -2) / math.sqrt(keys.shape[-1])
    self.attention_weights = _softmax(np.where(np.tri(seq, total, total - seq, dtype=bool), scores, -np.inf))
    attended = (self.attention_weights @ values).transpose(0, 2, 1, 3).reshape(x.shape)
    x = x + attended @ params["output_weights"] + params["output_bias"]
    return x + self._block.mlp.forward(self._block.norm2.forward(x)), (keys, values)


@mistake(
    criterion="block-cache",
    replaces="DecoderBlock.forward_with_cache",
    text="The mask begins at key 0, as if there were no past: the first new position saw the first key only.",
    fix="Shift the diagonal by the length of the past: np.tri(seq, past + seq, past, dtype=bool).",
)
def mask_without_the_past(self, x, cache=None):
    x = _sequences(x, self._dim)
    params, shape = self._block.attention.params, (*x.shape[:2], 3, self._num_heads, -1)
    qkv = self._block.norm1.forward(x) @ params["qkv_weights"] + params["qkv_bias"]
    queries, keys, values = qkv.reshape(shape).transpose(2, 0, 3, 1, 4)
    if cache is not None:
        keys, values = (_joined(*pair) for pair in zip(cache, (keys, values), strict=True))
    scores = queries @ np.swapaxes(keys, -1, -2) / math.sqrt(keys.shape[-1])
    self.attention_weights = _softmax(np.where(np.tri(x.shape[1], keys.shape[2], dtype=bool), scores, -np.inf))
    attended = (self.attention_weights @ values).transpose(0, 2, 1, 3).reshape(x.shape)
    x = x + attended @ params["output_weights"] + params["output_bias"]
    return x + self._block.mlp.forward(self._block.norm2.forward(x)), (keys, values)


@mistake(
    criterion="block-cache",
    replaces="DecoderBlock.forward_with_cache",
    text="Later positions got the score -1e9. Where earlier ones have less still, later ones have all of the weight.",
    fix="Put -np.inf where attending is forbidden.",
)
def later_scores_are_finite(self, x, cache=None):
    x = _sequences(x, self._dim)
    params, shape = self._block.attention.params, (*x.shape[:2], 3, self._num_heads, -1)
    qkv = self._block.norm1.forward(x) @ params["qkv_weights"] + params["qkv_bias"]
    queries, keys, values = qkv.reshape(shape).transpose(2, 0, 3, 1, 4)
    if cache is not None:
        keys, values = (_joined(*pair) for pair in zip(cache, (keys, values), strict=True))
    seq, total = x.shape[1], keys.shape[2]
    scores = queries @ np.swapaxes(keys, -1, -2) / math.sqrt(keys.shape[-1])
    self.attention_weights = _softmax(np.where(np.tri(seq, total, total - seq, dtype=bool), scores, -1e9))
    attended = (self.attention_weights @ values).transpose(0, 2, 1, 3).reshape(x.shape)
    x = x + attended @ params["output_weights"] + params["output_bias"]
    return x + self._block.mlp.forward(self._block.norm2.forward(x)), (keys, values)


@mistake(
    criterion="block-cache",
    replaces="DecoderBlock.forward_with_cache",
    text="New positions that came together saw one another, later ones too: there is no mask among them.",
    fix="Mask the scores with np.tri(seq, past + seq, past, dtype=bool).",
)
def new_positions_not_masked(self, x, cache=None):
    x = _sequences(x, self._dim)
    params, shape = self._block.attention.params, (*x.shape[:2], 3, self._num_heads, -1)
    qkv = self._block.norm1.forward(x) @ params["qkv_weights"] + params["qkv_bias"]
    queries, keys, values = qkv.reshape(shape).transpose(2, 0, 3, 1, 4)
    if cache is not None:
        keys, values = (_joined(*pair) for pair in zip(cache, (keys, values), strict=True))
    self.attention_weights = _softmax(queries @ np.swapaxes(keys, -1, -2) / math.sqrt(keys.shape[-1]))
    attended = (self.attention_weights @ values).transpose(0, 2, 1, 3).reshape(x.shape)
    x = x + attended @ params["output_weights"] + params["output_bias"]
    return x + self._block.mlp.forward(self._block.norm2.forward(x)), (keys, values)


@mistake(
    criterion="block-cache",
    replaces="DecoderBlock.forward_with_cache",
    text="The product with qkv_weights was split into (num_heads, 3, head_dim), heads first.",
    fix="Split it into (3, num_heads, head_dim): first come the queries of all heads, then the keys, then the values.",
)
def qkv_split_by_heads_first(self, x, cache=None):
    x = _sequences(x, self._dim)
    params, shape = self._block.attention.params, (*x.shape[:2], self._num_heads, 3, -1)
    qkv = self._block.norm1.forward(x) @ params["qkv_weights"] + params["qkv_bias"]
    queries, keys, values = qkv.reshape(shape).transpose(3, 0, 2, 1, 4)
    if cache is not None:
        keys, values = (_joined(*pair) for pair in zip(cache, (keys, values), strict=True))
    seq, total = x.shape[1], keys.shape[2]
    scores = queries @ np.swapaxes(keys, -1, -2) / math.sqrt(keys.shape[-1])
    self.attention_weights = _softmax(np.where(np.tri(seq, total, total - seq, dtype=bool), scores, -np.inf))
    attended = (self.attention_weights @ values).transpose(0, 2, 1, 3).reshape(x.shape)
    x = x + attended @ params["output_weights"] + params["output_bias"]
    return x + self._block.mlp.forward(self._block.norm2.forward(x)), (keys, values)


@mistake(
    criterion="block-cache",
    replaces="DecoderBlock.forward_with_cache",
    text="Queries, keys and values were made of x as it came, not of norm1(x).",
    fix="Project norm1.forward(x), as forward does.",
)
def keys_of_inputs_not_normalised(self, x, cache=None):
    x = _sequences(x, self._dim)
    params, shape = self._block.attention.params, (*x.shape[:2], 3, self._num_heads, -1)
    queries, keys, values = (x @ params["qkv_weights"] + params["qkv_bias"]).reshape(shape).transpose(2, 0, 3, 1, 4)
    if cache is not None:
        keys, values = (_joined(*pair) for pair in zip(cache, (keys, values), strict=True))
    seq, total = x.shape[1], keys.shape[2]
    scores = queries @ np.swapaxes(keys, -1, -2) / math.sqrt(keys.shape[-1])
    self.attention_weights = _softmax(np.where(np.tri(seq, total, total - seq, dtype=bool), scores, -np.inf))
    attended = (self.attention_weights @ values).transpose(0, 2, 1, 3).reshape(x.shape)
    x = x + attended @ params["output_weights"] + params["output_bias"]
    return x + self._block.mlp.forward(self._block.norm2.forward(x)), (keys, values)


@mistake(
    criterion="block-cache",
    replaces="DecoderBlock.forward_with_cache",
    text="The cache that came back holds the new positions only: the past is lost for the next call.",
    fix="Return the keys and values of all positions, past and new.",
)
def past_not_returned(self, x, cache=None, right=DecoderBlock.forward_with_cache):
    output, kept = right(self, x, cache)
    return output, tuple(array[:, :, -x.shape[1] :] for array in kept)


@mistake(
    criterion="block-cache",
    replaces="DecoderBlock.forward_with_cache",
    text="With a cache the scores were divided by sqrt(dim), as if there were one head.",
    fix="Divide by sqrt(head_dim), where head_dim is dim // num_heads.",
)
def cached_scores_over_the_root_of_dim(self, x, cache=None):
    x = _sequences(x, self._dim)
    params, shape = self._block.attention.params, (*x.shape[:2], 3, self._num_heads, -1)
    qkv = self._block.norm1.forward(x) @ params["qkv_weights"] + params["qkv_bias"]
    queries, keys, values = qkv.reshape(shape).transpose(2, 0, 3, 1, 4)
    if cache is not None:
        keys, values = (_joined(*pair) for pair in zip(cache, (keys, values), strict=True))
    seq, total = x.shape[1], keys.shape[2]
    scores = queries @ np.swapaxes(keys, -1, -2) / math.sqrt(self._dim)
    self.attention_weights = _softmax(np.where(np.tri(seq, total, total - seq, dtype=bool), scores, -np.inf))
    attended = (self.attention_weights @ values).transpose(0, 2, 1, 3).reshape(x.shape)
    x = x + attended @ params["output_weights"] + params["output_bias"]
    return x + self._block.mlp.forward(self._block.norm2.forward(x)), (keys, values)


@mistake(
    criterion="block-cache",
    replaces="DecoderBlock.forward_with_cache",
    text="With a cache the scores were not divided by sqrt(head_dim).",
    fix="Divide the products of queries and keys by sqrt(head_dim), as forward does.",
)
def cached_scores_not_scaled(self, x, cache=None):
    x = _sequences(x, self._dim)
    params, shape = self._block.attention.params, (*x.shape[:2], 3, self._num_heads, -1)
    qkv = self._block.norm1.forward(x) @ params["qkv_weights"] + params["qkv_bias"]
    queries, keys, values = qkv.reshape(shape).transpose(2, 0, 3, 1, 4)
    if cache is not None:
        keys, values = (_joined(*pair) for pair in zip(cache, (keys, values), strict=True))
    seq, total = x.shape[1], keys.shape[2]
    scores = queries @ np.swapaxes(keys, -1, -2)
    self.attention_weights = _softmax(np.where(np.tri(seq, total, total - seq, dtype=bool), scores, -np.inf))
    attended = (self.attention_weights @ values).transpose(0, 2, 1, 3).reshape(x.shape)
    x = x + attended @ params["output_weights"] + params["output_bias"]
    return x + self._block.mlp.forward(self._block.norm2.forward(x)), (keys, values)


@mistake(
    criterion="block-cache",
    replaces="DecoderBlock.forward_with_cache",
    text="The last sum of the pass with a cache adds the MLP's output to x as it came, without what attention gave.",
    fix="Add the MLP's output to the sum of x and the attention's output, which is what norm2 normalises, too.",
)
def cached_mlp_added_to_the_input(self, x, cache=None, right=DecoderBlock.forward_with_cache):
    output, grown = right(self, x, cache)
    params = self._block.attention.params
    keys, values = grown
    attended = (self.attention_weights @ values).transpose(0, 2, 1, 3).reshape(x.shape)
    return output - (attended @ params["output_weights"] + params["output_bias"]), grown


@mistake(
    criterion="gpt-cache",
    replaces="GPT.forward_with_cache",
    text="The list that was passed in was changed: the grown keys and values took the places of the past ones.",
    fix="Collect the caches of the blocks in a new list; the old one can then be continued in another way.",
)
def cache_grown_in_place(self, ids, cache=None, right=GPT.forward_with_cache):
    logits, grown = right(self, ids, cache)
    if cache is not None:
        cache[:] = grown
    return logits, grown


@mistake(
    criterion="gpt-cache",
    replaces="GPT.forward_with_cache",
    text="New tokens got the position embeddings from row 0 on, whatever came before them.",
    fix="After past tokens begin at row past: position_embedding[past : past + seq].",
)
def positions_from_zero(self, ids, cache=None):
    past = 0 if cache is None else cache[0][0].shape[2]
    self._run(ids, past, cache or [None] * len(self.blocks))
    hidden, cache = self._run(ids, 0, cache or [None] * len(self.blocks))
    return hidden @ self._embeddings["token_embedding"].T, cache


@mistake(
    criterion="gpt-cache",
    replaces="GPT.forward_with_cache",
    text="All blocks were given the cache of the first.",
    fix="Give each block its own entry of the list, in order.",
)
def cache_of_the_first_block_for_all(self, ids, cache=None, right=GPT.forward_with_cache):
    return right(self, ids, None if cache is None else [cache[0]] * len(cache))


@mistake(
    criterion="gpt-cache",
    replaces="GPT.forward_with_cache",
    text="The norm at the end is missing in the pass with a cache.",
    fix="Apply norm before the product with token_embedding, as forward does.",
)
def norm_forgotten_with_a_cache(self, ids, cache=None):
    past = 0 if cache is None else cache[0][0].shape[2]
    tokens, positions = self._embeddings["token_embedding"], self._embeddings["position_embedding"]
    self._run(ids, past, cache or [None] * len(self.blocks))
    x, grown = tokens[ids] + positions[past : past + ids.shape[1]], []
    for block, kept in zip(self.blocks, cache or [None] * len(self.blocks), strict=True):
        x, kept = block.forward_with_cache(x, kept)
        grown.append(kept)
    return x @ tokens.T, grown


@mistake(
    criterion="gpt-cache",
    replaces="GPT.forward_with_cache",
    text="The new tokens did not see the past: each block began with an empty cache.",
    fix="Hand each block its entry of cache.",
)
def cache_not_used(self, ids, cache=None):
    past = 0 if cache is None else cache[0][0].shape[2]
    hidden, grown = self._run(ids, past, [None] * len(self.blocks))
    if cache is not None:
        pairs = zip(cache, grown, strict=True)
        grown = [tuple(_joined(*both) for both in zip(old, new, strict=True)) for old, new in pairs]
    return hidden @ self._embeddings["token_embedding"].T, grown


@mistake(
    criterion="gpt-cache",
    replaces="GPT.forward_with_cache",
    text="After a past the positions begin one row too early: the first new token got that of the last old one.",
    fix="Rows 0 to past - 1 are used: begin at row past.",
)
def positions_one_too_early(self, ids, cache=None):
    past = 0 if cache is None else cache[0][0].shape[2]
    hidden, grown = self._run(ids, past, cache or [None] * len(self.blocks))
    if past:
        hidden, grown = self._run(ids, past - 1, cache)
    return hidden @ self._embeddings["token_embedding"].T, grown


@mistake(
    criterion="greedy",
    replaces="greedy",
    text="The token of the lowest score was picked.",
    fix="Use np.argmax.",
)
def lowest_score(logits):
    return np.argmin(logits, axis=-1)


@mistake(
    criterion="greedy",
    replaces="greedy",
    text="One token came back for all rows: the highest score was looked for in the whole array.",
    fix="Look along the last axis: np.argmax(logits, axis=-1).",
)
def highest_of_all(logits):
    return np.argmax(logits)


@mistake(
    criterion="greedy",
    replaces="greedy",
    text="The highest score was looked for along the first axis.",
    fix="The tokens lie along the last axis: np.argmax(logits, axis=-1).",
)
def highest_along_the_first_axis(logits):
    return np.argmax(logits, axis=0)


@mistake(
    criterion="greedy",
    replaces="greedy",
    text="Of equal scores the last was picked.",
    fix="Pick the first, as np.argmax does; the end of np.argsort is the last of them.",
)
def last_of_equals(logits):
    return np.asarray(logits).shape[-1] - 1 - np.argmax(np.flip(logits, axis=-1), axis=-1)


@mistake(
    criterion="temperature",
    replaces="sample",
    text="The scores were multiplied by the temperature.",
    fix="Divide: a high temperature brings the scores closer together.",
)
def temperature_multiplied(logits, temperature=1.0, top_k=None, top_p=None, rng=None, right=sample):
    return right(logits, 1 / temperature if temperature > 0 else temperature, top_k, top_p, rng)


@mistake(
    criterion="temperature",
    replaces="sample",
    text="The temperature had no effect.",
    fix="Divide the scores by the temperature before the softmax.",
)
def temperature_ignored(logits, temperature=1.0, top_k=None, top_p=None, rng=None, right=sample):
    return right(logits, 1.0 if temperature > 0 else temperature, top_k, top_p, rng)


@mistake(
    criterion="temperature",
    replaces="sample",
    text="One uniform number was drawn for all rows, so that equal rows always get equal tokens.",
    fix="Draw a number for each row: rng.random((*logits.shape[:-1], 1)).",
)
def one_draw_for_all_rows(logits, temperature=1.0, top_k=None, top_p=None, rng=None, right=sample):
    right(logits[:0], temperature, top_k, top_p, _generator(None))
    order, shares = _ranked(logits, temperature, top_k)
    before = np.cumsum(shares, axis=-1) - shares
    shares = shares if top_p is None else np.where(before < top_p, shares, 0)
    ends = np.cumsum(shares, axis=-1)
    place = (ends <= _generator(rng).random() * ends[..., -1:]).sum(axis=-1, keepdims=True)
    return np.take_along_axis(order, place, axis=-1)[..., 0]


@mistake(
    criterion="temperature",
    replaces="sample",
    text="Nothing was drawn: the likeliest token came back every time.",
    fix="Draw by the probabilities, with a uniform number for each row.",
)
def always_the_likeliest(logits, temperature=1.0, top_k=None, top_p=None, rng=None, right=sample):
    right(logits, temperature, top_k, top_p, rng)
    return np.argmax(logits, axis=-1)


@mistake(
    criterion="top-k",
    replaces="sample",
    text="One token more than top_k was kept.",
    fix="Keep exactly top_k: those sorted places from top_k on get -inf.",
)
def one_too_many_kept(logits, temperature=1.0, top_k=None, top_p=None, rng=None, right=sample):
    return right(logits, temperature, top_k and top_k + (top_k > 0), top_p, rng)


@mistake(
    criterion="top-k",
    replaces="sample",
    text="The tokens of the lowest scores were kept.",
    fix="Sort with the highest score first: np.argsort(-logits, axis=-1).",
)
def lowest_kept(logits, temperature=1.0, top_k=None, top_p=None, rng=None, right=sample):
    if top_k is None or top_k < 1 or top_k >= np.shape(logits)[-1]:
        return right(logits, temperature, top_k, top_p, rng)
    order = np.argsort(logits, axis=-1)
    ranks = np.argsort(order, axis=-1)
    return right(np.where(ranks < top_k, logits, -np.inf), temperature, None, top_p, rng)


@mistake(
    criterion="top-k",
    replaces="sample",
    text="The tokens beyond top_k got the score -1e9. Where the kept scores are lower still, these tokens are drawn.",
    fix="Give them the score -np.inf, whose exponential is 0 whatever the others are.",
)
def left_out_scores_are_finite(logits, temperature=1.0, top_k=None, top_p=None, rng=None, right=sample):
    if top_k is None or top_k < 1:
        return right(logits, temperature, top_k, top_p, rng)
    ranks = np.argsort(np.argsort(-logits, axis=-1, kind="stable"), axis=-1)
    return right(np.where(ranks < top_k, logits, -1e9), temperature, None, top_p, rng)


@mistake(
    criterion="top-k",
    replaces="sample",
    text="top_k had no effect: tokens beyond it were drawn.",
    fix="Give every token but the top_k likeliest the score -inf before the softmax.",
)
def top_k_ignored(logits, temperature=1.0, top_k=None, top_p=None, rng=None, right=sample):
    right(logits, temperature, top_k, top_p, _generator(None))
    return right(logits, temperature, None, top_p, rng)


@mistake(
    criterion="top-k",
    replaces="sample",
    text="One token fewer than top_k was kept.",
    fix="Keep exactly top_k: the last of them is kept as well, so compare with <, not <=, or with >=, not >.",
)
def one_too_few_kept(logits, temperature=1.0, top_k=None, top_p=None, rng=None, right=sample):
    return right(logits, temperature, top_k if top_k is None or top_k < 2 else top_k - 1, top_p, rng)


@mistake(
    criterion="top-p",
    replaces="sample",
    text="The token that crosses top_p was left out.",
    fix="Keep a token if the sum before it, without itself, is below top_p.",
)
def crossing_token_left_out(logits, temperature=1.0, top_k=None, top_p=None, rng=None, right=sample):
    if top_p is None or not 0 < top_p <= 1:
        return right(logits, temperature, top_k, top_p, rng)
    right(logits, temperature, top_k, top_p, _generator(None))
    order, shares = _ranked(logits, temperature, top_k)
    kept = np.cumsum(shares, axis=-1) <= top_p
    kept[..., 0] = True
    return _drawn(order, np.where(kept, shares, 0), rng)


@mistake(
    criterion="top-p",
    replaces="sample",
    text="top_p had no effect: unlikely tokens were drawn.",
    fix="Set the probabilities behind the first sum of at least top_p to 0 before drawing.",
)
def top_p_ignored(logits, temperature=1.0, top_k=None, top_p=None, rng=None, right=sample):
    right(logits, temperature, top_k, top_p, _generator(None))
    return right(logits, temperature, top_k, None, rng)


@mistake(
    criterion="top-p",
    replaces="sample",
    text="top_p was taken for the least probability of a token: those below it were left out.",
    fix="Add the probabilities up, likeliest first, until the sum is at least top_p.",
)
def least_probability(logits, temperature=1.0, top_k=None, top_p=None, rng=None, right=sample):
    if top_p is None or not 0 < top_p <= 1:
        return right(logits, temperature, top_k, top_p, rng)
    right(logits, temperature, top_k, top_p, _generator(None))
    order, shares = _ranked(logits, temperature, top_k)
    kept = shares >= top_p
    kept[..., 0] = True
    return _drawn(order, np.where(kept, shares, 0), rng)


@mistake(
    criterion="top-p",
    replaces="sample",
    text="The sums for top_p were made of probabilities without the temperature.",
    fix="Divide by the temperature first, then take the softmax, then add up.",
)
def top_p_before_temperature(logits, temperature=1.0, top_k=None, top_p=None, rng=None, right=sample):
    right(logits, temperature, top_k, top_p, _generator(None))
    order, shares = _ranked(logits, temperature, top_k)
    if top_p is not None:
        plain = _ranked(logits, 1.0, top_k)[1]
        shares = np.where(np.cumsum(plain, axis=-1) - plain < top_p, shares, 0)
    return _drawn(order, shares, rng)


@mistake(
    criterion="top-p",
    replaces="sample",
    text="The sums for top_p were made of the probabilities of all tokens, before top_k left some out.",
    fix="Take the softmax of what top_k has kept: these probabilities add up to 1.",
)
def top_p_before_top_k(logits, temperature=1.0, top_k=None, top_p=None, rng=None, right=sample):
    right(logits, temperature, top_k, top_p, _generator(None))
    order, shares = _ranked(logits, temperature, top_k)
    if top_p is not None:
        plain = _ranked(logits, temperature, None)[1]
        shares = np.where(np.cumsum(plain, axis=-1) - plain < top_p, shares, 0)
    return _drawn(order, shares, rng)


@mistake(
    criterion="top-p",
    replaces="sample",
    text="One token more than needed was kept, the one behind the token that crosses top_p.",
    fix="Keep a token if the sum before it, without itself, is below top_p, and no further one.",
)
def one_behind_the_crossing_kept(logits, temperature=1.0, top_k=None, top_p=None, rng=None, right=sample):
    right(logits, temperature, top_k, top_p, _generator(None))
    order, shares = _ranked(logits, temperature, top_k)
    if top_p is not None:
        before = np.cumsum(shares, axis=-1) - shares
        before[..., 1:] = before[..., :-1].copy()
        shares = np.where(before < top_p, shares, 0)
    return _drawn(order, shares, rng)


@mistake(
    criterion="generate",
    replaces="generate",
    text="Only the new tokens came back, without the prompt.",
    fix="Return the prompt and what was appended to it, (batch, seq + steps).",
)
def prompt_left_out(model, ids, steps, choose=None, right=generate):
    return right(model, ids, steps, choose)[:, np.shape(ids)[1] :]


@mistake(
    criterion="generate",
    replaces="generate",
    text="Once the context was full, the model saw the first context_length tokens, not the last.",
    fix="Move the window on: ids[:, -context_length:].",
)
def first_tokens_seen(model, ids, steps, choose=None, right=generate):
    written = right(model, ids, min(steps, 0))
    for _ in range(steps):
        logits = model.forward(written[:, : model.context_length])
        chosen = logits[:, -1].argmax(axis=-1) if choose is None else choose(logits[:, -1])
        written = np.concatenate([written, np.asarray(chosen)[:, None]], axis=1)
    return written


@mistake(
    criterion="generate",
    replaces="generate",
    text="Every token was chosen from the scores behind the first position that the model saw.",
    fix="The scores behind the last position tell what comes next: logits[:, -1].",
)
def scores_of_the_first_position(model, ids, steps, choose=None, right=generate):
    written = right(model, ids, min(steps, 0))
    for _ in range(steps):
        logits = model.forward(written[:, -model.context_length :])
        chosen = logits[:, 0].argmax(axis=-1) if choose is None else choose(logits[:, 0])
        written = np.concatenate([written, np.asarray(chosen)[:, None]], axis=1)
    return written


@mistake(
    criterion="generate",
    replaces="generate",
    text="Every new token was chosen from the prompt alone: what had been chosen was not given back to the model.",
    fix="Append each token to what the model sees next.",
)
def prompt_alone_is_seen(model, ids, steps, choose=None, right=generate):
    written = right(model, ids, min(steps, 0))
    for _ in range(steps):
        logits = model.forward(np.asarray(ids)[:, -model.context_length :])
        chosen = logits[:, -1].argmax(axis=-1) if choose is None else choose(logits[:, -1])
        written = np.concatenate([written, np.asarray(chosen)[:, None]], axis=1)
    return written


@mistake(
    criterion="generate",
    replaces="generate",
    text="choose was never called: every token is the greedy one.",
    fix="Call choose(logits[:, -1]) for each step, and greedy only where choose is None.",
)
def choose_ignored(model, ids, steps, choose=None, right=generate):
    return right(model, ids, steps)


@mistake(
    criterion="perplexity",
    replaces="perplexity",
    text="The targets were not shifted: the model was asked for the tokens that it was given.",
    fix="Give the model ids[:, :-1], and compare with ids[:, 1:].",
)
def targets_not_shifted(model, ids):
    with np.errstate(over="ignore"):
        return float(np.exp(cross_entropy_loss(model.forward(ids[:, :-1]), ids[:, :-1])[0]))


@mistake(
    criterion="perplexity",
    replaces="perplexity",
    text="The mean cross-entropy itself came back.",
    fix="Return its exponential: np.exp(loss).",
)
def loss_returned(model, ids, right=perplexity):
    return math.log(right(model, ids))


@mistake(
    criterion="perplexity",
    replaces="perplexity",
    text="math.exp raises OverflowError where the mean cross-entropy is above 709, and no float holds the perplexity.",
    fix="Return inf there, as np.exp does.",
)
def overflow_raised(model, ids):
    return math.exp(cross_entropy_loss(model.forward(ids[:, :-1]), ids[:, 1:])[0])


@mistake(
    criterion="perplexity",
    replaces="perplexity",
    text="2 was raised to the cross-entropy, which is in natural units here.",
    fix="Use exp, the inverse of the logarithm that the loss is made of.",
)
def power_of_two(model, ids, right=perplexity):
    return 2 ** math.log(right(model, ids))


@mistake(
    criterion="perplexity",
    replaces="perplexity",
    text="This is the mean of each sequence's own perplexity.",
    fix="Take the mean of the losses over all tokens of all sequences first, and exp once at the end.",
)
def mean_of_perplexities(model, ids, right=perplexity):
    right(model, ids)
    return float(np.mean([right(model, row[None]) for row in ids]))


@mistake(
    criterion="beats-bigrams",
    replaces="GPT",
    text="The second call of backward added its gradients of the embeddings to those of the first.",
    fix="Fill grads anew at each call of backward.",
)
class gradients_accumulated(GPT):
    def backward(self, grad_logits):
        before = self._grads
        super().backward(grad_logits)
        self._grads = {name: value + before.get(name, 0) for name, value in self._grads.items()}


@mistake(
    criterion="beats-bigrams",
    replaces="GPT.forward",
    text="The model went on with the embeddings of its first call: what an optimiser sets has no effect on them.",
    fix="Read the embeddings at each call of forward; keep no copy of them.",
)
def embeddings_of_the_first_call(self, ids, right=GPT.forward):
    now = self._embeddings
    self._first = getattr(self, "_first", now)
    self._embeddings = self._first
    try:
        return right(self, ids)
    finally:
        self._embeddings = now


@mistake(
    criterion="beats-bigrams",
    replaces="GPT",
    text="Setting params did not reach the blocks: they kept what they had.",
    fix="Give each block the entries that begin with its name, without it.",
)
class blocks_not_set(GPT):
    @property
    def params(self):
        return {**self._embeddings, **_dotted(self._parts(), "params")}

    @params.setter
    def params(self, given):
        _check_params(given, self.params)
        self._embeddings = {name: given[name] for name in self._embeddings}
        self._norm.params = _below(given, "norm")

"""A decoder that generates: causal blocks, a GPT with tied weights, its loss, a cache of keys and values, and sampling.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. In short:
token ids are integers of shape (batch, seq); the feature axis is last; inputs are never changed; models have `params`,
which can be read and set, and `grads`, which backward fills. The block itself comes from stage s17.
"""

import math

import numpy as np

from stages.s17_transformer_blocks.blocks import Block, LayerNorm


class DecoderBlock:
    """A pre-LN Transformer block in which no position sees a later one, with or without a cache of keys and values.

    It is the Block of stage s17, with an MLP of 4 * dim hidden units and no dropout, under the causal mask: position i
    attends to the positions 0 to i.

    Args:
        dim: number of features of input and output.
        num_heads: how many heads; must divide dim.
        rng: np.random.Generator that draws the weights; None draws a fresh one. Generators of the same seed give the
            same weights.

    Attributes:
        params: dict of all parameters by dotted name, those of s17's Block: "norm1.gamma", "attention.qkv_weights",
            "norm2.beta", "mlp.W1" and so on. It can be set: block.params = {...} hands each part its own.
        grads: dict with the keys and shapes of params, filled by backward; empty until then.
        attention_weights: after forward, the weights of that call, (batch, num_heads, seq, seq); after
            forward_with_cache (batch, num_heads, seq, past + seq).

    Raises:
        ValueError: what s17's Block refuses; or, where params is set, a name is missing, unknown, or its array has
            another shape than before. Nothing is changed then.

    Source: Radford et al. 2019, section 2.3 (pre-LN decoder block of GPT-2).

    Example:
        >>> block = DecoderBlock(8, 2, rng=np.random.default_rng(0))
        >>> block.forward(np.ones((3, 5, 8))).shape, block.attention_weights.shape
        ((3, 5, 8), (3, 2, 5, 5))
        >>> block.attention_weights[0, 0, 0].tolist()  # the first position sees itself only
        [1.0, 0.0, 0.0, 0.0, 0.0]
    """

    def __init__(self, dim, num_heads, rng=None):
        self._block = Block(dim, num_heads, rng=rng)
        self._dim = dim
        self._num_heads = num_heads

    def forward(self, x):
        """Return the block's output, shape (batch, seq, dim); what position i gets depends on positions 0 to i only.

        Args:
            x: shape (batch, seq, dim).

        Raises:
            ValueError: x is not (batch, seq, dim).
        """
        x = _sequences(x, self._dim)
        output = self._block.forward(x, np.tri(x.shape[1], dtype=bool))
        self.attention_weights = self._block.attention.attention_weights
        return output

    def backward(self, grad_output):
        """Return the gradient with respect to the last forward call's x, and put those of the parameters in grads.

        Args:
            grad_output: gradient of the loss with respect to the last output, shape (batch, seq, dim).

        Returns:
            Shape (batch, seq, dim). grads is replaced, not added to. forward_with_cache has no backward: after it, call
            forward again before backward.

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last output.
        """
        return self._block.backward(grad_output)

    def forward_with_cache(self, x, cache=None):
        """Return the outputs of new positions, which attend to those in the cache too, and the cache that has grown.

        Args:
            x: inputs of the new positions, shape (batch, seq, dim).
            cache: None where nothing came before, or what the last call returned: the tuple (keys, values) of the past
                positions, each (batch, num_heads, past, head_dim), after the projection and its bias, before scaling.

        Returns:
            (output, cache): output (batch, seq, dim), equal to what forward gives for these positions if it is given
            past and new inputs together; and (keys, values) of all positions, each (batch, num_heads, past + seq,
            head_dim). The cache that was passed in is not changed, and can be continued in another way.

        Raises:
            ValueError: x is not (batch, seq, dim), or keys and values are not of x's batch and this block's heads.

        Source: Shazeer 2019, section 2.4 (incremental decoding).

        Example:
            >>> block, x = DecoderBlock(4, 2, rng=np.random.default_rng(0)), np.eye(4)[None]
            >>> first, cache = block.forward_with_cache(x[:, :3])
            >>> last, cache = block.forward_with_cache(x[:, 3:], cache)
            >>> bool(np.allclose(np.concatenate([first, last], axis=1), block.forward(x))), cache[0].shape
            (True, (1, 2, 4, 2))
        """
        x = _sequences(x, self._dim)
        params, head_dim = self._block.attention.params, self._dim // self._num_heads
        qkv = self._block.norm1.forward(x) @ params["qkv_weights"] + params["qkv_bias"]
        queries, keys, values = qkv.reshape(*x.shape[:2], 3, self._num_heads, head_dim).transpose(2, 0, 3, 1, 4)
        if cache is not None:
            keys, values = (_joined(*pair) for pair in zip(cache, (keys, values), strict=True))
        seq, total = x.shape[1], keys.shape[2]
        scores = queries @ np.swapaxes(keys, -1, -2) / math.sqrt(head_dim)
        self.attention_weights = _softmax(np.where(np.tri(seq, total, total - seq, dtype=bool), scores, -np.inf))
        attended = (self.attention_weights @ values).transpose(0, 2, 1, 3).reshape(x.shape)
        x = x + attended @ params["output_weights"] + params["output_bias"]
        return x + self._block.mlp.forward(self._block.norm2.forward(x)), (keys, values)

    @property
    def params(self):
        """All parameters by dotted name; set it to give the block others."""
        return self._block.params

    @params.setter
    def params(self, given):
        _check_params(given, self.params)
        for name in ("norm1", "attention", "norm2", "mlp"):
            getattr(self._block, name).params = _below(given, name)

    @property
    def grads(self):
        """The gradients of the last backward call, with the keys of params; empty until then."""
        return self._block.grads


class GPT:
    """A decoder-only language model: which token comes next, scored at every position of a sequence.

        x = token_embedding[ids] + position_embedding[0 ... seq - 1]
        logits = norm(blocks(x)) token_embedding^T

    The table that turns ids into vectors turns vectors into scores as well (weight tying). There is no dropout, no
    scaling of the embeddings, and no bias of the scores.

    Args:
        vocabulary_size: how many token ids there are, 0 to vocabulary_size - 1.
        context_length: the longest sequence that the model can see.
        depth: how many DecoderBlocks.
        dim: number of features.
        num_heads: how many heads; must divide dim.
        rng: np.random.Generator that draws the weights; None draws a fresh one. Generators of the same seed give the
            same weights.

    Attributes:
        params: dict of "token_embedding" (vocabulary_size, dim), "position_embedding" (context_length, dim),
            "blocks.0.norm1.gamma" and so on for every block, "norm.gamma" and "norm.beta" (dim,). It can be set:
            model.params = {...} hands each part its own. Both embeddings are at first normally distributed with mean 0
            and standard deviation 1/sqrt(dim); the rest begins as in s17.
        grads: dict with the keys and shapes of params, filled by backward; empty until then.
        blocks: list of depth DecoderBlocks, each with parameters of its own, first to last.
        context_length: as given.

    Raises:
        ValueError: vocabulary_size, context_length or depth is below 1, or what DecoderBlock refuses; or, where params
            is set, a name is missing, unknown, or its array has another shape than before. Nothing is changed then.

    Source: Radford et al. 2018 and 2019 (GPT, GPT-2); Press and Wolf 2016 (weight tying).

    Example:
        >>> model = GPT(10, 6, 2, 8, 2, rng=np.random.default_rng(0))
        >>> model.forward(np.array([[3, 1, 4], [1, 5, 9]])).shape
        (2, 3, 10)
        >>> len(model.params), sum(value.size for value in model.params.values())
        (28, 1888)
    """

    def __init__(self, vocabulary_size, context_length, depth, dim, num_heads, rng=None):
        if min(vocabulary_size, context_length, depth) < 1:
            sizes = f"vocabulary_size: {vocabulary_size}, context_length: {context_length}, depth: {depth}"
            raise ValueError(f"{sizes}, expected at least 1 of each")
        rng = _generator(rng)
        self.context_length = context_length
        self.blocks = [DecoderBlock(dim, num_heads, rng) for _ in range(depth)]
        self._norm = LayerNorm(dim)
        self._embeddings = {
            "token_embedding": rng.standard_normal((vocabulary_size, dim)) / math.sqrt(dim),
            "position_embedding": rng.standard_normal((context_length, dim)) / math.sqrt(dim),
        }
        self._grads = {}
        self._last = None

    def forward(self, ids):
        """Return the scores of every token to come next after each position, shape (batch, seq, vocabulary_size).

        Args:
            ids: integers from 0 to vocabulary_size - 1, shape (batch, seq), with seq from 1 to context_length.

        Returns:
            logits: their softmax along the last axis is the probability of the next token, given this one and those
            before it. float32 where all parameters are.

        Raises:
            ValueError: ids are not integers of such a shape and range; a negative id does not count from the end.
        """
        hidden, _ = self._run(ids, 0, None)
        self._last = ids, hidden
        return hidden @ self._embeddings["token_embedding"].T

    def backward(self, grad_logits):
        """Put the gradients of all parameters in grads, those of the last forward call.

        Args:
            grad_logits: gradient of the loss with respect to the last logits, shape (batch, seq, vocabulary_size).

        Returns:
            None: ids have no gradient. grads is replaced, not added to; token_embedding was used twice, and gets the
            sum of both gradients; a row of either embedding that was not used gets what its uses give, 0 for none.

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_logits has not the shape of the last logits.
        """
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
        np.add.at(of_tokens, ids, grad)
        of_positions = np.zeros_like(positions)
        of_positions[: ids.shape[1]] = grad.sum(axis=0)
        self._grads = {"token_embedding": of_tokens, "position_embedding": of_positions}

    def forward_with_cache(self, ids, cache=None):
        """Return the logits of new tokens, which see those in the cache too, and the cache that has grown.

        Args:
            ids: the new tokens, integers of shape (batch, seq).
            cache: None where nothing came before, or what the last call returned: a list of a (keys, values) for each
                block, first to last, as DecoderBlock.forward_with_cache takes and returns them.

        Returns:
            (logits, cache): logits (batch, seq, vocabulary_size) of the new tokens, equal to what forward gives for
            them if it is given past and new ids together. The cache that was passed in is not changed.

        Raises:
            ValueError: ids are refused by forward, or past and new tokens together are more than context_length.

        Example:
            >>> model, ids = GPT(10, 6, 2, 8, 2, rng=np.random.default_rng(0)), np.array([[3, 1, 4]])
            >>> logits, cache = model.forward_with_cache(ids[:, :2])
            >>> last, cache = model.forward_with_cache(ids[:, 2:], cache)
            >>> last.shape, bool(np.allclose(last[:, 0], model.forward(ids)[:, 2])), cache[1][0].shape
            ((1, 1, 10), True, (1, 2, 3, 4))
        """
        past = 0 if cache is None else cache[0][0].shape[2]
        hidden, cache = self._run(ids, past, cache or [None] * len(self.blocks))
        return hidden @ self._embeddings["token_embedding"].T, cache

    def _run(self, ids, past, caches):
        """The final norm's output for ids at the positions from past on, and the caches if there are any."""
        tokens, positions = self._embeddings["token_embedding"], self._embeddings["position_embedding"]
        ids = _tokens("ids", ids, len(tokens))
        if ids.ndim != 2 or not 1 <= ids.shape[1] <= self.context_length - past:
            raise ValueError(
                f"ids: shape {ids.shape} after {past}, expected (batch, 1 to {self.context_length - past})"
            )
        x = tokens[ids] + positions[past : past + ids.shape[1]]
        if caches is None:
            for block in self.blocks:
                x = block.forward(x)
            return self._norm.forward(x), None
        grown = []
        for block, cache in zip(self.blocks, caches, strict=True):
            x, cache = block.forward_with_cache(x, cache)
            grown.append(cache)
        return self._norm.forward(x), grown

    @property
    def params(self):
        """All parameters by name; set it to give the model others."""
        return {**self._embeddings, **_dotted(self._parts(), "params")}

    @params.setter
    def params(self, given):
        _check_params(given, self.params)
        self._embeddings = {name: given[name] for name in self._embeddings}
        for name, part in self._parts().items():
            part.params = _below(given, name)

    @property
    def grads(self):
        """The gradients of the last backward call, with the keys of params; empty until then."""
        return {**self._grads, **_dotted(self._parts(), "grads")}

    def _parts(self):
        return {**{f"blocks.{i}": block for i, block in enumerate(self.blocks)}, "norm": self._norm}


def cross_entropy_loss(logits, targets, mask=None):
    """Return the mean cross-entropy of the targets that count, and its gradient with respect to the logits.

    Args:
        logits: scores, shape (..., vocabulary_size); any size, also 1000.
        targets: the right tokens, integers of shape (...); where the mask is False they may be anything.
        mask: None if all targets count, or boolean (or 0/1 integers) of shape (...): True = counts.

    Returns:
        (loss, grad_logits): the mean of -log softmax(logits)[target], natural logarithm, a number; and its gradient,
        of the shape of logits, 0 where the mask is False. Without any target that counts both are 0.

    Raises:
        ValueError: targets or mask is not of the shape of logits without its last axis, or a target that counts is not
            an integer from 0 to vocabulary_size - 1.

    Example:
        >>> logits = np.log(np.array([[1.0, 3.0], [1.0, 1.0]]))  # probabilities 0.25 and 0.75, then a half each
        >>> loss, grad_logits = cross_entropy_loss(logits, np.array([1, 0]))
        >>> round(float(loss), 4), grad_logits.round(4).tolist()  # (-log 0.75 - log 0.5) / 2
        (0.4904, [[0.125, -0.125], [-0.25, 0.25]])
    """
    counts = np.broadcast_to(True, logits.shape[:-1]) if mask is None else mask.astype(bool)
    targets = np.asarray(targets)
    if targets.shape != logits.shape[:-1] or counts.shape != targets.shape:
        raise ValueError(f"targets: {targets.shape}, mask: {counts.shape}, expected {logits.shape[:-1]}, as logits")
    _tokens("targets", targets[counts], logits.shape[-1])
    hits = targets[..., None] == np.arange(logits.shape[-1])
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_shares = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    number = max(int(counts.sum()), 1)
    loss = -log_shares[hits & counts[..., None]].sum() / number
    return loss, np.where(counts[..., None], np.exp(log_shares) - hits, 0) / number


def greedy(logits):
    """Return the token of the highest score.

    Args:
        logits: shape (..., vocabulary_size).

    Returns:
        Integers of shape (...). Of equal scores, the first.

    Example:
        >>> greedy(np.array([[0.0, 2.0, 1.0], [5.0, 5.0, 0.0]])).tolist()
        [1, 0]
    """
    return np.argmax(logits, axis=-1)


def sample(logits, temperature=1.0, top_k=None, top_p=None, rng=None):
    """Draw a token from softmax(logits / temperature), after top_k and then top_p have left only the likely ones.

    Args:
        logits: shape (..., vocabulary_size). -inf marks a token that cannot be drawn.
        temperature: positive. Below 1 the likely become more likely, above 1 the distribution becomes flatter.
        top_k: None, or keep the top_k tokens of the highest scores; more than there are keep all. Which of equal
            scores are kept is open.
        top_p: None, or keep the fewest tokens, most likely first, whose probabilities add up to at least top_p. These
            are the probabilities under temperature, of the tokens that top_k kept, which add up to 1.
        rng: np.random.Generator; None draws a fresh one. Generators of the same seed give the same tokens.

    Returns:
        Integers of shape (...), each drawn by itself, from the kept tokens with their probabilities scaled up to add up
        to 1.

    Raises:
        ValueError: temperature is not positive, top_k is below 1, or top_p is not above 0 and at most 1.

    Source: Fan, Lewis and Dauphin 2018 (top-k); Holtzman et al. 2019 (top-p, nucleus sampling).

    Example:
        >>> logits = np.log(np.array([0.5, 0.3, 0.15, 0.05]))
        >>> draws = sample(np.tile(logits, (1000, 1)), top_p=0.75, rng=np.random.default_rng(0))
        >>> sorted(set(draws.tolist()))  # 0.5 + 0.3 is the first sum of at least 0.75
        [0, 1]
    """
    if not temperature > 0:
        raise ValueError(f"temperature: {temperature}, expected a positive number; greedy is its limit at 0")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k: {top_k}, expected None or at least 1")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p: {top_p}, expected None or a probability above 0, at most 1")
    order, shares = _ranked(logits, temperature, top_k)
    if top_p is not None:
        before = np.cumsum(shares, axis=-1) - shares
        shares = np.where(before < top_p, shares, 0)
    return _drawn(order, shares, rng)


def generate(model, ids, steps, choose=None):
    """Return ids continued by as many tokens as steps, each chosen from the model's scores after those before it.

    Once there are more than context_length tokens, the model sees the last context_length of them, the first of these
    at position 0. Up to there a cache saves it from reading anything twice.

    Args:
        model: a GPT.
        ids: the prompt, integers of shape (batch, seq), seq at least 1 and possibly more than context_length.
        steps: how many tokens to add, at least 0.
        choose: function from logits (batch, vocabulary_size) to tokens (batch,); None is greedy.

    Returns:
        Integers of shape (batch, seq + steps), the prompt first.

    Raises:
        ValueError: steps is below 0, or the model refuses the ids.

    Example:
        >>> model = GPT(10, 6, 2, 8, 2, rng=np.random.default_rng(0))
        >>> generate(model, np.array([[3, 1], [4, 1]]), 3, lambda logits: logits.argmin(axis=-1)).shape
        (2, 5)
    """
    if steps < 0:
        raise ValueError(f"steps: {steps}, expected at least 0")
    written, seen, cache = np.array(ids), 0, None
    for _ in range(steps):
        is_full = seen in (0, model.context_length)
        given = written[:, -model.context_length :] if is_full else written[:, -1:]
        seen = given.shape[1] if is_full else seen + 1
        logits, cache = model.forward_with_cache(given, None if is_full else cache)
        chosen = greedy(logits[:, -1]) if choose is None else choose(logits[:, -1])
        written = np.concatenate([written, np.asarray(chosen)[:, None]], axis=1)
    return written


def perplexity(model, ids):
    """Return exp of the mean cross-entropy of every token but the first of each sequence, given those before it.

    Args:
        model: a GPT.
        ids: integers of shape (batch, seq), seq from 2 to context_length + 1.

    Returns:
        A number of at least 1: among how many equally likely tokens the model would be as uncertain. A model that
        scores all tokens alike has vocabulary_size. inf where no float holds it, as for a mean above 709.78 in float64.

    Raises:
        ValueError: ids has not two axes, seq is below 2 or above context_length + 1, or an id is no token.

    Source: Jelinek et al. 1977.

    Example:
        >>> model = GPT(10, 6, 1, 8, 2)
        >>> model.params = {name: 0 * value for name, value in model.params.items()}
        >>> round(float(perplexity(model, np.array([[3, 1, 4, 1, 5]]))), 6)
        10.0
    """
    if ids.ndim != 2:
        raise ValueError(f"ids: shape {ids.shape}, expected (batch, seq)")
    loss, _ = cross_entropy_loss(model.forward(ids[:, :-1]), ids[:, 1:])
    with np.errstate(over="ignore"):
        return float(np.exp(loss))


def _ranked(logits, temperature, top_k):
    """(order, shares): tokens, likeliest first, and their probabilities, 0 behind the first top_k."""
    order = np.argsort(-logits, axis=-1, kind="stable")
    scores = np.take_along_axis(logits, order, axis=-1) / temperature
    if top_k is not None:
        scores[..., top_k:] = -np.inf
    return order, _softmax(scores)


def _drawn(order, shares, rng):
    """One token of order for each row, by shares that need not sum to 1."""
    ends = np.cumsum(shares, axis=-1)
    drawn = _generator(rng).random((*ends.shape[:-1], 1)) * ends[..., -1:]
    place = (ends <= drawn).sum(axis=-1, keepdims=True)
    return np.take_along_axis(order, place, axis=-1)[..., 0]


def _softmax(scores):
    """Softmax along the last axis; every row has a finite score."""
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _joined(past, new):
    """Past and new keys, or values, along the axis of positions; ValueError by NumPy where they do not fit."""
    return np.concatenate([past, new], axis=2)


def _generator(rng):
    return np.random.default_rng() if rng is None else rng


def _sequences(x, dim):
    if x.ndim != 3 or x.shape[-1] != dim:
        raise ValueError(f"x: shape {x.shape}, expected (batch, seq, {dim})")
    return x


def _tokens(name, ids, vocabulary_size):
    if ids.dtype.kind not in "iu" or ((ids < 0) | (ids >= vocabulary_size)).any():
        raise ValueError(f"{name}: {ids.dtype}, expected integers from 0 to {vocabulary_size - 1}")
    return ids


def _check_params(given, held):
    """Refuse parameters of other names or shapes than those held."""
    wrong = sorted(given.keys() ^ held.keys()) or [key for key in held if np.shape(given[key]) != held[key].shape]
    if wrong:
        raise ValueError(f"params: {wrong[0]} is missing, unknown or of another shape, expected those of params")


def _below(given, name):
    """The parameters of one part, by the names that they have there."""
    return {key[len(name) + 1 :]: value for key, value in given.items() if key.startswith(f"{name}.")}


def _dotted(parts, which):
    """The params or grads of all parts in one dict, each key behind the name of its part."""
    return {f"{name}.{key}": value for name, part in parts.items() for key, value in getattr(part, which).items()}

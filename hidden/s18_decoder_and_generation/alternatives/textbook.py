"""Every step written out under the name that README.md gives it: parts of s17, rng.choice, no cache in generate."""

import numpy as np

from stages.s17_transformer_blocks.blocks import MLP, LayerNorm, MultiheadSelfAttention


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def check_same_names_and_shapes(params, given):
    if set(params) != set(given):
        raise ValueError(f"params: names {sorted(given)}, expected {sorted(params)}")
    for name in params:
        if given[name].shape != params[name].shape:
            raise ValueError(f"params: {name} has shape {given[name].shape}, expected {params[name].shape}")


class DecoderBlock:
    def __init__(self, dim, num_heads, rng=None):
        if rng is None:
            rng = np.random.default_rng()
        self.dim = dim
        self.num_heads = num_heads
        self.norm1 = LayerNorm(dim)
        self.attention = MultiheadSelfAttention(dim, num_heads, rng)
        self.norm2 = LayerNorm(dim)
        self.mlp = MLP(dim, 4 * dim, 0.0, rng)
        self.attention_weights = None

    def parts(self):
        return [("norm1", self.norm1), ("attention", self.attention), ("norm2", self.norm2), ("mlp", self.mlp)]

    @property
    def params(self):
        result = {}
        for name, part in self.parts():
            for key in part.params:
                result[name + "." + key] = part.params[key]
        return result

    @params.setter
    def params(self, given):
        check_same_names_and_shapes(self.params, given)
        for name, part in self.parts():
            part.params = {key: given[name + "." + key] for key in part.params}

    @property
    def grads(self):
        result = {}
        for name, part in self.parts():
            for key in part.grads:
                result[name + "." + key] = part.grads[key]
        return result

    def check_x(self, x):
        if x.ndim != 3 or x.shape[2] != self.dim:
            raise ValueError(f"x: shape {x.shape}, expected (batch, seq, {self.dim})")

    def forward(self, x):
        self.check_x(x)
        seq = x.shape[1]
        mask = np.tri(seq, dtype=bool)
        x = x + self.attention.forward(self.norm1.forward(x), mask)
        self.attention_weights = self.attention.attention_weights
        return x + self.mlp.forward(self.norm2.forward(x))

    def backward(self, grad_output):
        grad_middle = grad_output + self.norm2.backward(self.mlp.backward(grad_output))
        grad_x = grad_middle + self.norm1.backward(self.attention.backward(grad_middle))
        return grad_x

    def forward_with_cache(self, x, cache=None):
        self.check_x(x)
        batch, seq, dim = x.shape
        head_dim = dim // self.num_heads
        p = self.attention.params
        normed = self.norm1.forward(x)
        qkv = normed @ p["qkv_weights"] + p["qkv_bias"]
        q = qkv[:, :, :dim]
        k = qkv[:, :, dim : 2 * dim]
        v = qkv[:, :, 2 * dim :]
        q = q.reshape(batch, seq, self.num_heads, head_dim).transpose(0, 2, 1, 3)
        k = k.reshape(batch, seq, self.num_heads, head_dim).transpose(0, 2, 1, 3)
        v = v.reshape(batch, seq, self.num_heads, head_dim).transpose(0, 2, 1, 3)
        past = 0
        keys = k
        values = v
        if cache is not None:
            cached_keys, cached_values = cache
            for cached in (cached_keys, cached_values):
                if cached.ndim != 4 or cached.shape[:2] != k.shape[:2] or cached.shape[3] != head_dim:
                    raise ValueError(f"cache: shape {cached.shape} does not fit {k.shape}")
            past = cached_keys.shape[2]
            keys = np.concatenate([cached_keys, k], axis=2)
            values = np.concatenate([cached_values, v], axis=2)
        scores = q @ keys.transpose(0, 1, 3, 2) / float(np.sqrt(head_dim))
        mask = np.tri(seq, past + seq, past, dtype=bool)
        scores = np.where(mask, scores, -np.inf)
        weights = softmax(scores)
        self.attention_weights = weights
        head_outputs = weights @ values
        joined = head_outputs.transpose(0, 2, 1, 3).reshape(batch, seq, dim)
        attended = joined @ p["output_weights"] + p["output_bias"]
        x = x + attended
        output = x + self.mlp.forward(self.norm2.forward(x))
        return output, (keys, values)


class GPT:
    def __init__(self, vocabulary_size, context_length, depth, dim, num_heads, rng=None):
        if vocabulary_size < 1:
            raise ValueError(f"vocabulary_size: {vocabulary_size}, expected a positive number")
        if context_length < 1:
            raise ValueError(f"context_length: {context_length}, expected a positive number")
        if depth < 1:
            raise ValueError(f"depth: {depth}, expected a positive number")
        if rng is None:
            rng = np.random.default_rng()
        self.vocabulary_size = vocabulary_size
        self.context_length = context_length
        self.token_embedding = rng.normal(0.0, 1 / np.sqrt(dim), (vocabulary_size, dim))
        self.position_embedding = rng.normal(0.0, 1 / np.sqrt(dim), (context_length, dim))
        self.blocks = []
        for _ in range(depth):
            self.blocks.append(DecoderBlock(dim, num_heads, rng))
        self.norm = LayerNorm(dim)
        self.embedding_grads = {}
        self.ids = None
        self.hidden = None

    @property
    def params(self):
        result = {"token_embedding": self.token_embedding, "position_embedding": self.position_embedding}
        for i, block in enumerate(self.blocks):
            for key, value in block.params.items():
                result[f"blocks.{i}.{key}"] = value
        for key, value in self.norm.params.items():
            result[f"norm.{key}"] = value
        return result

    @params.setter
    def params(self, given):
        check_same_names_and_shapes(self.params, given)
        self.token_embedding = given["token_embedding"]
        self.position_embedding = given["position_embedding"]
        for i, block in enumerate(self.blocks):
            block.params = {key: given[f"blocks.{i}.{key}"] for key in block.params}
        self.norm.params = {"gamma": given["norm.gamma"], "beta": given["norm.beta"]}

    @property
    def grads(self):
        result = dict(self.embedding_grads)
        for i, block in enumerate(self.blocks):
            for key, value in block.grads.items():
                result[f"blocks.{i}.{key}"] = value
        for key, value in self.norm.grads.items():
            result[f"norm.{key}"] = value
        return result

    def check_ids(self, ids, past):
        if ids.ndim != 2 or not np.issubdtype(ids.dtype, np.integer):
            raise ValueError(f"ids: shape {ids.shape}, dtype {ids.dtype}, expected integers of shape (batch, seq)")
        if ids.shape[1] < 1 or past + ids.shape[1] > self.context_length:
            raise ValueError(f"ids: {past} and {ids.shape[1]} tokens, expected 1 to {self.context_length}")
        if np.any(ids < 0) or np.any(ids >= self.vocabulary_size):
            raise ValueError(f"ids: {ids.tolist()}, expected 0 to {self.vocabulary_size - 1}")

    def forward(self, ids):
        ids = np.asarray(ids)
        self.check_ids(ids, 0)
        seq = ids.shape[1]
        x = self.token_embedding[ids] + self.position_embedding[:seq]
        for block in self.blocks:
            x = block.forward(x)
        hidden = self.norm.forward(x)
        self.ids = ids
        self.hidden = hidden
        logits = hidden @ self.token_embedding.T
        return logits

    def backward(self, grad_logits):
        if self.ids is None:
            raise RuntimeError("backward: call forward first")
        batch, seq = self.ids.shape
        if grad_logits.shape != (batch, seq, self.vocabulary_size):
            raise ValueError(f"grad_logits: shape {grad_logits.shape}, expected that of the logits")
        grad_hidden = grad_logits @ self.token_embedding
        of_tokens = np.einsum("bsv,bsd->vd", grad_logits, self.hidden)
        grad = self.norm.backward(grad_hidden)
        for block in reversed(self.blocks):
            grad = block.backward(grad)
        np.add.at(of_tokens, self.ids, grad)
        of_positions = np.zeros_like(self.position_embedding)
        of_positions[:seq] = np.sum(grad, axis=0)
        self.embedding_grads = {"token_embedding": of_tokens, "position_embedding": of_positions}

    def forward_with_cache(self, ids, cache=None):
        ids = np.asarray(ids)
        past = 0
        if cache is None:
            cache = [None] * len(self.blocks)
        else:
            past = cache[0][0].shape[2]
        self.check_ids(ids, past)
        seq = ids.shape[1]
        x = self.token_embedding[ids] + self.position_embedding[past : past + seq]
        new_cache = []
        for i, block in enumerate(self.blocks):
            x, block_cache = block.forward_with_cache(x, cache[i])
            new_cache.append(block_cache)
        hidden = self.norm.forward(x)
        logits = hidden @ self.token_embedding.T
        return logits, new_cache


def cross_entropy_loss(logits, targets, mask=None):
    targets = np.asarray(targets)
    vocabulary_size = logits.shape[-1]
    if targets.shape != logits.shape[:-1]:
        raise ValueError(f"targets: shape {targets.shape}, expected {logits.shape[:-1]}")
    if mask is None:
        mask = np.ones(targets.shape, dtype=bool)
    mask = np.asarray(mask).astype(bool)
    if mask.shape != targets.shape:
        raise ValueError(f"mask: shape {mask.shape}, expected {targets.shape}")
    if not np.issubdtype(targets.dtype, np.integer):
        raise ValueError(f"targets: dtype {targets.dtype}, expected integers")
    real = targets[mask]
    if np.any(real < 0) or np.any(real >= vocabulary_size):
        raise ValueError(f"targets: expected 0 to {vocabulary_size - 1}")
    count = mask.sum()
    grad_logits = np.zeros_like(logits)
    if count == 0:
        return 0.0, grad_logits
    scores = logits[mask]
    shifted = scores - np.max(scores, axis=1, keepdims=True)
    log_shares = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    rows = np.arange(len(real))
    loss = -np.sum(log_shares[rows, real]) / count
    grad = np.exp(log_shares)
    grad[rows, real] -= 1
    grad_logits[mask] = grad / count
    return loss, grad_logits


def greedy(logits):
    return np.argmax(logits, axis=-1)


def sample(logits, temperature=1.0, top_k=None, top_p=None, rng=None):
    if temperature <= 0:
        raise ValueError(f"temperature: {temperature}, expected a positive number")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k: {top_k}, expected at least 1")
    if top_p is not None and (top_p <= 0 or top_p > 1):
        raise ValueError(f"top_p: {top_p}, expected a probability above 0")
    if rng is None:
        rng = np.random.default_rng()
    vocabulary_size = logits.shape[-1]
    tokens = []
    for scores in logits.reshape(-1, vocabulary_size):
        scores = scores / temperature
        order = np.argsort(-scores)
        if top_k is not None:
            order = order[:top_k]
        probabilities = softmax(scores[order])
        if top_p is not None:
            sums = np.cumsum(probabilities)
            number = np.searchsorted(sums, top_p) + 1
            order = order[:number]
            probabilities = probabilities[:number] / probabilities[:number].sum()
        tokens.append(rng.choice(order, p=probabilities))
    return np.array(tokens).reshape(logits.shape[:-1])


def generate(model, ids, steps, choose=None):
    if steps < 0:
        raise ValueError(f"steps: {steps}, expected at least 0")
    if choose is None:
        choose = greedy
    ids = np.array(ids)
    for _ in range(steps):
        window = ids[:, -model.context_length :]
        logits = model.forward(window)
        token = choose(logits[:, -1])
        ids = np.concatenate([ids, token[:, None]], axis=1)
    return ids


def perplexity(model, ids):
    ids = np.asarray(ids)
    if ids.ndim != 2 or ids.shape[1] < 2:
        raise ValueError(f"ids: shape {ids.shape}, expected (batch, seq), seq at least 2")
    logits = model.forward(ids[:, :-1])
    loss, _ = cross_entropy_loss(logits, ids[:, 1:])
    return np.exp(loss)

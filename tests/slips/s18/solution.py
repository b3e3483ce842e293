"""A right module of stage s18 as a student may write it; the slips beside it are edits of this text."""

import numpy as np

from stages.s17_transformer_blocks.blocks import Block, LayerNorm


def softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    e = np.exp(z)
    return e / e.sum(axis=-1, keepdims=True)


def compare(old, new):
    if set(old) != set(new):
        raise ValueError(f"params: {sorted(set(old) ^ set(new))} missing or unknown")
    for name, value in old.items():
        if np.shape(new[name]) != value.shape:
            raise ValueError(f"params: {name} is {np.shape(new[name])}, expected {value.shape}")


class DecoderBlock:
    def __init__(self, dim, num_heads, rng=None):
        self.block = Block(dim, num_heads, rng=rng)
        self.dim = dim
        self.num_heads = num_heads
        self.attention_weights = None

    @property
    def params(self):
        return self.block.params

    @params.setter
    def params(self, given):
        compare(self.block.params, given)
        self.block.norm1.params = {key: given[f"norm1.{key}"] for key in ("gamma", "beta")}
        self.block.norm2.params = {key: given[f"norm2.{key}"] for key in ("gamma", "beta")}
        self.block.attention.params = {key: given[f"attention.{key}"] for key in self.block.attention.params}
        self.block.mlp.params = {key: given[f"mlp.{key}"] for key in self.block.mlp.params}

    @property
    def grads(self):
        return self.block.grads

    def forward(self, x):
        if x.ndim != 3 or x.shape[-1] != self.dim:
            raise ValueError(f"x: {x.shape}, expected (batch, seq, {self.dim})")
        seq = x.shape[1]
        mask = np.tril(np.ones((seq, seq), dtype=bool))
        output = self.block.forward(x, mask)
        self.attention_weights = self.block.attention.attention_weights
        return output

    def backward(self, grad_output):
        return self.block.backward(grad_output)

    def forward_with_cache(self, x, cache=None):
        if x.ndim != 3 or x.shape[-1] != self.dim:
            raise ValueError(f"x: {x.shape}, expected (batch, seq, {self.dim})")
        batch, seq, dim = x.shape
        attention = self.block.attention.params
        normed = self.block.norm1.forward(x)
        qkv = normed @ attention["qkv_weights"] + attention["qkv_bias"]
        head_dim = dim // self.num_heads
        q, k, v = (
            part.reshape(batch, seq, self.num_heads, head_dim).transpose(0, 2, 1, 3)
            for part in np.split(qkv, 3, axis=-1)
        )
        if cache is not None:
            old_keys, old_values = cache
            if old_keys.ndim != 4 or old_values.ndim != 4:
                raise ValueError("cache: keys and values have four axes")
            k = np.concatenate([old_keys, k], axis=2)
            v = np.concatenate([old_values, v], axis=2)
        total = k.shape[2]
        past = total - seq
        scores = np.matmul(q, k.transpose(0, 1, 3, 2)) / float(np.sqrt(head_dim))
        allowed = np.arange(total)[None, :] <= past + np.arange(seq)[:, None]
        weights = softmax(np.where(allowed, scores, -np.inf))
        self.attention_weights = weights
        joined = np.matmul(weights, v).transpose(0, 2, 1, 3).reshape(batch, seq, dim)
        middle = x + (joined @ attention["output_weights"] + attention["output_bias"])
        output = middle + self.block.mlp.forward(self.block.norm2.forward(middle))
        return output, (k, v)


class GPT:
    def __init__(self, vocabulary_size, context_length, depth, dim, num_heads, rng=None):
        if vocabulary_size < 1 or context_length < 1 or depth < 1:
            raise ValueError("vocabulary_size, context_length and depth have to be at least 1")
        rng = np.random.default_rng() if rng is None else rng
        self.vocabulary_size = vocabulary_size
        self.context_length = context_length
        self.E = rng.normal(size=(vocabulary_size, dim)) / np.sqrt(dim)
        self.P = rng.normal(size=(context_length, dim)) / np.sqrt(dim)
        self.blocks = [DecoderBlock(dim, num_heads, rng) for _ in range(depth)]
        self.norm = LayerNorm(dim)
        self.grad_E = None
        self.grad_P = None
        self.cache = None

    @property
    def params(self):
        params = {"token_embedding": self.E, "position_embedding": self.P}
        for i, block in enumerate(self.blocks):
            params.update({f"blocks.{i}.{key}": value for key, value in block.params.items()})
        params.update({f"norm.{key}": value for key, value in self.norm.params.items()})
        return params

    @params.setter
    def params(self, given):
        compare(self.params, given)
        self.E = given["token_embedding"]
        self.P = given["position_embedding"]
        for i, block in enumerate(self.blocks):
            block.params = {key: given[f"blocks.{i}.{key}"] for key in block.params}
        self.norm.params = {key: given[f"norm.{key}"] for key in ("gamma", "beta")}

    @property
    def grads(self):
        if self.grad_E is None:
            return {}
        grads = {"token_embedding": self.grad_E, "position_embedding": self.grad_P}
        for i, block in enumerate(self.blocks):
            grads.update({f"blocks.{i}.{key}": value for key, value in block.grads.items()})
        grads.update({f"norm.{key}": value for key, value in self.norm.grads.items()})
        return grads

    def embed(self, ids, past):
        ids = np.asarray(ids)
        if ids.ndim != 2 or ids.dtype.kind not in "iu" or ids.shape[1] == 0:
            raise ValueError(f"ids: {ids.dtype} {ids.shape}, expected integers (batch, seq)")
        if past + ids.shape[1] > self.context_length:
            raise ValueError(f"ids: {past + ids.shape[1]} positions, there are {self.context_length}")
        if ids.min() < 0 or ids.max() >= self.vocabulary_size:
            raise ValueError(f"ids: expected 0 to {self.vocabulary_size - 1}")
        return ids, self.E[ids] + self.P[past : past + ids.shape[1]]

    def forward(self, ids):
        ids, x = self.embed(ids, 0)
        for block in self.blocks:
            x = block.forward(x)
        hidden = self.norm.forward(x)
        self.cache = ids, hidden
        return hidden @ self.E.T

    def backward(self, grad_logits):
        if self.cache is None:
            raise RuntimeError("forward was not called")
        ids, hidden = self.cache
        if grad_logits.shape != (*ids.shape, self.vocabulary_size):
            raise ValueError(f"grad_logits: {grad_logits.shape}")
        grad_E = np.tensordot(grad_logits, hidden, axes=((0, 1), (0, 1)))
        grad = self.norm.backward(grad_logits @ self.E)
        for block in self.blocks[::-1]:
            grad = block.backward(grad)
        np.add.at(grad_E, ids, grad)
        grad_P = np.zeros_like(self.P)
        grad_P[: ids.shape[1]] = grad.sum(axis=0)
        self.grad_E, self.grad_P = grad_E, grad_P

    def forward_with_cache(self, ids, cache=None):
        past = 0 if cache is None else cache[0][0].shape[2]
        ids, x = self.embed(ids, past)
        grown = []
        for i, block in enumerate(self.blocks):
            x, pair = block.forward_with_cache(x, None if cache is None else cache[i])
            grown.append(pair)
        return self.norm.forward(x) @ self.E.T, grown


def cross_entropy_loss(logits, targets, mask=None):
    targets = np.asarray(targets)
    mask = np.ones(targets.shape, dtype=bool) if mask is None else np.asarray(mask).astype(bool)
    if targets.shape != logits.shape[:-1] or mask.shape != targets.shape:
        raise ValueError(f"targets: {targets.shape}, mask: {mask.shape}, logits: {logits.shape}")
    real = targets[mask]
    if real.dtype.kind not in "iu" or np.any(real < 0) or np.any(real >= logits.shape[-1]):
        raise ValueError("targets: expected integers from 0 to vocabulary_size - 1")
    grad = np.zeros_like(logits)
    if len(real) == 0:
        return 0.0, grad
    z = logits[mask]
    z = z - z.max(axis=-1, keepdims=True)
    logs = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    rows = np.arange(len(real))
    loss = -logs[rows, real].mean()
    shares = np.exp(logs)
    shares[rows, real] -= 1
    grad[mask] = shares / len(real)
    return loss, grad


def greedy(logits):
    return logits.argmax(axis=-1)


def sample(logits, temperature=1.0, top_k=None, top_p=None, rng=None):
    if temperature <= 0:
        raise ValueError(f"temperature: {temperature}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k: {top_k}")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p: {top_p}")
    rng = np.random.default_rng() if rng is None else rng
    order = np.argsort(-logits, axis=-1)
    scores = np.take_along_axis(logits, order, axis=-1) / temperature
    if top_k is not None:
        scores[..., top_k:] = -np.inf
    shares = softmax(scores)
    if top_p is not None:
        before = np.cumsum(shares, axis=-1) - shares
        shares = np.where(before < top_p, shares, 0)
        shares = shares / shares.sum(axis=-1, keepdims=True)
    ends = np.cumsum(shares, axis=-1)
    u = rng.random((*logits.shape[:-1], 1)) * ends[..., -1:]
    place = np.sum(u >= ends, axis=-1, keepdims=True)
    return np.take_along_axis(order, place, axis=-1)[..., 0]


def generate(model, ids, steps, choose=None):
    if steps < 0:
        raise ValueError(f"steps: {steps}")
    choose = greedy if choose is None else choose
    ids = np.array(ids)
    cache = None
    for _ in range(steps):
        if cache is None or ids.shape[1] > model.context_length:
            logits, cache = model.forward_with_cache(ids[:, -model.context_length :])
        else:
            logits, cache = model.forward_with_cache(ids[:, -1:], cache)
        tokens = choose(logits[:, -1])
        ids = np.concatenate([ids, np.asarray(tokens)[:, None]], axis=1)
    return ids


def perplexity(model, ids):
    ids = np.asarray(ids)
    if ids.ndim != 2 or ids.shape[1] < 2:
        raise ValueError(f"ids: {ids.shape}")
    loss, _ = cross_entropy_loss(model.forward(ids[:, :-1]), ids[:, 1:])
    return np.exp(loss)

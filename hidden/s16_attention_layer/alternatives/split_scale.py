"""An attention layer whose queries and keys carry the square root of the scale each, so their product is scaled."""

import numpy as np


class Attention:
    def __init__(self, embedding_dimension=512, number_of_heads=8, rng=None):
        if not (number_of_heads > 0 and embedding_dimension % number_of_heads == 0):
            raise ValueError(f"number_of_heads: {number_of_heads}, expected a divisor of {embedding_dimension}")
        rng = np.random.default_rng() if rng is None else rng
        self.embedding_dimension = embedding_dimension
        self.number_of_heads = number_of_heads
        self.head_dimension = embedding_dimension // number_of_heads
        self.scale_factor = float(1 / np.sqrt(self.head_dimension))
        self._root = self.scale_factor**0.5
        shape = embedding_dimension, embedding_dimension
        self.output_weights = rng.normal(scale=0.02, size=shape)
        self.value_weights = rng.normal(scale=0.02, size=shape)
        self.key_weights = rng.normal(scale=0.02, size=shape)
        self.query_weights = rng.normal(scale=0.02, size=shape)
        self._kept = None
        self._steps = {}

    def softmax(self, scores):
        """exp(s - log(sum(exp(s)))), the logarithm taken stably."""
        scores = np.asarray(scores, dtype=np.result_type(np.asarray(scores), np.float32))
        if scores.dtype.kind != "f":
            scores = scores.astype(np.float64)
        peak = scores.max(-1)
        peak = np.where(np.isneginf(peak), scores.dtype.type(0), peak)[..., np.newaxis]
        total = np.exp(scores - peak).sum(-1, keepdims=True)
        log_total = np.log(np.where(total == 0, scores.dtype.type(1), total))
        return np.exp((scores - peak) - log_total)

    def split_heads(self, x):
        x = np.asarray(x)
        if x.ndim != 3 or x.shape[2] != self.embedding_dimension:
            raise ValueError(f"x: shape {x.shape}, expected three axes, the last {self.embedding_dimension}")
        return np.stack(np.split(x, self.number_of_heads, axis=2), axis=1)

    def concatenate_heads(self, x):
        x = np.asarray(x)
        if x.ndim != 4 or x.shape[1] != self.number_of_heads or x.shape[3] != self.head_dimension:
            raise ValueError(f"x: shape {x.shape}, expected four axes, (batch, heads, seq, head_dimension)")
        return np.concatenate([x[:, head] for head in range(self.number_of_heads)], axis=-1)

    def forward(self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None):
        X_q = np.asarray(query_input)
        X_k = X_q if key_input is None else np.asarray(key_input)
        X_v = X_k if value_input is None else np.asarray(value_input)
        if not (X_q.ndim == X_k.ndim == X_v.ndim == 3):
            raise ValueError(f"inputs: shapes {X_q.shape}, {X_k.shape}, {X_v.shape}, expected three axes each")
        if not (len(X_q) == len(X_k) == len(X_v)) or X_k.shape[1] != X_v.shape[1]:
            raise ValueError(f"inputs: shapes {X_q.shape}, {X_k.shape}, {X_v.shape} do not go together")
        self.queries_multihead = self.split_heads(X_q @ self.query_weights) * self._root
        self.keys_multihead = self.split_heads(X_k @ self.key_weights) * self._root
        self.values_multihead = self.split_heads(X_v @ self.value_weights)
        self.attention_scores = self.queries_multihead @ self.keys_multihead.swapaxes(2, 3)
        self.scaled_scores = self.attention_scores
        seq_q, seq_k = self.scaled_scores.shape[2:]
        hidden = np.zeros((len(X_q), 1, seq_q, seq_k), dtype=bool)
        if causal:
            hidden |= np.arange(seq_q)[:, None] < np.arange(seq_k)
        if padding_mask is not None:
            padding_mask = np.asarray(padding_mask)
            if padding_mask.shape != (len(X_q), seq_k):
                raise ValueError(f"padding_mask: shape {padding_mask.shape}, expected {(len(X_q), seq_k)}")
            hidden |= (padding_mask == 0)[:, None, None]
        self.masked_scores = self.scaled_scores.copy()
        self.masked_scores[np.broadcast_to(hidden, self.masked_scores.shape)] = -np.inf
        self.attention_weights = self.softmax(self.masked_scores)
        self.attention_output = self.attention_weights @ self.values_multihead
        self.concatenated_heads = self.concatenate_heads(self.attention_output)
        self._kept = X_q, X_k, X_v, self.query_weights, self.key_weights, self.value_weights, self.output_weights
        return self.concatenated_heads @ self.output_weights

    def backward(self, grad_output):
        if self._kept is None:
            raise RuntimeError("backward needs a forward before it")
        grad_output = np.asarray(grad_output)
        X_q, X_k, X_v, W_q, W_k, W_v, W_o = self._kept
        if grad_output.shape != X_q.shape:
            raise ValueError(f"grad_output: shape {grad_output.shape}, expected {X_q.shape}")
        A = self.attention_weights
        self.gradient_output_weights = np.tensordot(self.concatenated_heads, grad_output, axes=((0, 1), (0, 1)))
        dO = self.split_heads(grad_output @ W_o.T)
        dA = dO @ self.values_multihead.swapaxes(-1, -2)
        dS = A * dA
        dS = dS - A * dS.sum(axis=-1, keepdims=True)
        self.gradient_attention_output, self.gradient_attention_weights, self.gradient_attention_scores = dO, dA, dS
        self.gradient_value = A.swapaxes(-1, -2) @ dO
        self.gradient_key = dS.swapaxes(-1, -2) @ self.queries_multihead  # keys as they stand, with their root
        self.gradient_query = dS @ self.keys_multihead
        dQ = self.concatenate_heads(self.gradient_query) * self._root
        dK = self.concatenate_heads(self.gradient_key) * self._root
        dV = self.concatenate_heads(self.gradient_value)
        self.gradient_value_weights = np.tensordot(X_v, dV, axes=((0, 1), (0, 1)))
        self.gradient_key_weights = np.tensordot(X_k, dK, axes=((0, 1), (0, 1)))
        self.gradient_query_weights = np.tensordot(X_q, dQ, axes=((0, 1), (0, 1)))
        self.gradient_query_input, self.gradient_key_input, self.gradient_value_input = (
            dQ @ W_q.T,
            dK @ W_k.T,
            dV @ W_v.T,
        )
        self._steps = {
            name: getattr(self, f"gradient_{name}")
            for name in ("query_weights", "key_weights", "value_weights", "output_weights")
        }
        return [self.gradient_query_input, self.gradient_key_input, self.gradient_value_input]

    def update(self, learning_rate):
        if not self._steps:
            raise RuntimeError("update needs a backward before it")
        for name, gradient in self._steps.items():
            setattr(self, name, getattr(self, name) - learning_rate * gradient)

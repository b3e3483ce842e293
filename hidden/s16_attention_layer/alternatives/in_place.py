"""An attention layer that works in place on its own arrays and hands out views; the queries carry the whole scale."""

import numpy as np


def _own(array):
    """A copy, so that nothing done later in place reaches the caller's array."""
    array = np.array(array)
    return array if np.issubdtype(array.dtype, np.floating) else array.astype(np.float64)


class Attention:
    def __init__(self, embedding_dimension=512, number_of_heads=8, rng=None):
        if number_of_heads <= 0 or embedding_dimension % number_of_heads:
            raise ValueError(f"number_of_heads: {number_of_heads}, expected a positive divisor of embedding_dimension")
        if rng is None:
            rng = np.random.default_rng()
        self.embedding_dimension, self.number_of_heads = embedding_dimension, number_of_heads
        self.head_dimension = embedding_dimension // number_of_heads
        self.scale_factor = 1 / self.head_dimension**0.5
        wide = rng.standard_normal((embedding_dimension, 4 * embedding_dimension))
        wide *= 0.02
        parts = (wide[:, i * embedding_dimension :][:, :embedding_dimension] for i in range(4))
        self.value_weights, self.query_weights, self.output_weights, self.key_weights = parts
        self._grad_ready = False
        self._X = None

    def softmax(self, scores):
        weights = _own(scores)
        peak = weights.max(axis=-1, keepdims=True)
        peak[np.isneginf(peak)] = 0
        weights -= peak
        np.exp(weights, out=weights)
        total = weights.sum(axis=-1, keepdims=True)
        total[total == 0] = 1
        weights /= total
        return weights

    def split_heads(self, x):
        x = np.asarray(x)
        if x.ndim != 3 or x.shape[2] != self.embedding_dimension:
            raise ValueError(f"x: shape {x.shape}, expected (batch, seq, {self.embedding_dimension})")
        cut = np.ascontiguousarray(x).view()
        cut.shape = (*x.shape[:2], self.number_of_heads, self.head_dimension)
        return np.moveaxis(cut, 2, 1)

    def concatenate_heads(self, x):
        x = np.asarray(x)
        if x.ndim != 4 or x.shape[1::2] != (self.number_of_heads, self.head_dimension):
            raise ValueError(f"x: shape {x.shape}, expected (batch, heads, seq, head_dimension)")
        joined = np.empty((x.shape[0], x.shape[2], self.embedding_dimension), dtype=x.dtype)
        self.split_heads(joined)[...] = x
        return joined

    def forward(self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None):
        X_q = _own(query_input)
        X_k = X_q if key_input is None else _own(key_input)
        X_v = X_k if value_input is None else _own(value_input)
        if {X_q.ndim, X_k.ndim, X_v.ndim} != {3} or X_k.shape != X_v.shape or X_q.shape[::2] != X_k.shape[::2]:
            raise ValueError(f"inputs: shapes {X_q.shape}, {X_k.shape}, {X_v.shape}, expected (batch, seq, features)")
        flat = X_q @ self.query_weights
        flat *= self.scale_factor
        self.queries_multihead = self.split_heads(flat)
        self.keys_multihead = self.split_heads(X_k @ self.key_weights)
        self.values_multihead = self.split_heads(X_v @ self.value_weights)
        self.attention_scores = np.matmul(self.queries_multihead, self.keys_multihead.transpose(0, 1, 3, 2))
        self.scaled_scores = self.attention_scores[...]
        masked = self.scaled_scores.copy()
        lowest = np.finfo(masked.dtype).min
        if causal:
            row, column = np.triu_indices(masked.shape[2], 1, masked.shape[3])
            masked[:, :, row, column] = lowest
        if padding_mask is not None:
            padding_mask = np.asarray(padding_mask).astype(bool)
            if padding_mask.shape != (len(X_q), X_k.shape[1]):
                raise ValueError(f"padding_mask: shape {padding_mask.shape}, expected {(len(X_q), X_k.shape[1])}")
            masked.transpose(0, 3, 1, 2)[~padding_mask] = lowest
        weights = self.softmax(masked)
        weights[masked == lowest] = 0
        self.masked_scores, self.attention_weights = masked, weights
        joined = np.empty(X_q.shape, dtype=np.result_type(weights, self.values_multihead))
        self.attention_output = self.split_heads(joined)
        self.attention_output[...] = weights @ self.values_multihead
        self.concatenated_heads = joined
        self._X = X_q, X_k, X_v
        return np.asfortranarray(joined @ self.output_weights)

    @staticmethod
    def _rows(array):
        return array.reshape(-1, array.shape[-1])

    def backward(self, grad_output):
        if self._X is None:
            raise RuntimeError("backward: forward comes first")
        grad_output = _own(grad_output)
        if grad_output.shape != self.concatenated_heads.shape:
            raise ValueError(f"grad_output: shape {grad_output.shape}, expected {self.concatenated_heads.shape}")
        X_q, X_k, X_v = self._X
        self.gradient_output_weights = self._rows(self.concatenated_heads).T @ self._rows(grad_output)
        self.gradient_attention_output = self.split_heads(grad_output @ self.output_weights.T)
        self.gradient_attention_weights = self.gradient_attention_output @ np.swapaxes(self.values_multihead, 2, 3)
        self.gradient_value = (np.swapaxes(self.gradient_attention_output, 2, 3) @ self.attention_weights).transpose(
            0, 1, 3, 2
        )
        slopes = self.gradient_attention_weights * self.attention_weights
        mean = slopes.sum(axis=-1, keepdims=True)
        slopes -= mean * self.attention_weights
        self.gradient_attention_scores = slopes
        self.gradient_key = np.swapaxes(slopes, 2, 3) @ self.queries_multihead
        self.gradient_query = slopes @ self.keys_multihead
        grad_q = self.concatenate_heads(self.gradient_query)
        grad_q *= self.scale_factor
        grad_k = self.concatenate_heads(self.gradient_key)
        grad_v = self.concatenate_heads(self.gradient_value)
        self.gradient_query_weights = (self._rows(grad_q).T @ self._rows(X_q)).T
        self.gradient_key_weights = (self._rows(grad_k).T @ self._rows(X_k)).T
        self.gradient_value_weights = (self._rows(grad_v).T @ self._rows(X_v)).T
        self.gradient_query_input = grad_q @ self.query_weights.T
        self.gradient_key_input = grad_k @ self.key_weights.T
        self.gradient_value_input = grad_v @ self.value_weights.T
        self._grad_ready = True
        return self.gradient_query_input, self.gradient_key_input, self.gradient_value_input

    def update(self, learning_rate):
        if not self._grad_ready:
            raise RuntimeError("update: backward comes first")
        self.query_weights = np.subtract(self.query_weights, learning_rate * self.gradient_query_weights)
        self.key_weights = np.subtract(self.key_weights, learning_rate * self.gradient_key_weights)
        self.value_weights = np.subtract(self.value_weights, learning_rate * self.gradient_value_weights)
        self.output_weights = np.subtract(self.output_weights, learning_rate * self.gradient_output_weights)

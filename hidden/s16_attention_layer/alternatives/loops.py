"""An attention layer in plain loops over sequences, heads, queries and keys; at most vectors are multiplied."""

import math

import numpy as np


def _numbers(value):
    value = np.asarray(value)
    return value if value.dtype.kind == "f" else value.astype(float)


class Attention:
    def __init__(self, embedding_dimension=512, number_of_heads=8, rng=None):
        if number_of_heads <= 0 or embedding_dimension % number_of_heads != 0:
            raise ValueError(f"number_of_heads: {number_of_heads}, expected a divisor of {embedding_dimension}")
        if rng is None:
            rng = np.random.default_rng()
        self.embedding_dimension = embedding_dimension
        self.number_of_heads = number_of_heads
        self.head_dimension = embedding_dimension // number_of_heads
        self.scale_factor = 1.0 / math.sqrt(self.head_dimension)
        for name in ("query_weights", "key_weights", "value_weights", "output_weights"):
            rows = [rng.normal(0.0, 0.02, embedding_dimension) for _ in range(embedding_dimension)]
            setattr(self, name, np.array(rows))
        self._inputs = None
        self._ready = False

    def softmax(self, scores):
        scores = _numbers(scores)
        result = np.zeros(scores.shape, dtype=scores.dtype)
        for place in np.ndindex(scores.shape[:-1]):
            row = scores[place]
            largest = max(row)
            if largest == -math.inf:
                continue
            powers = np.array([np.exp(number - largest) for number in row], dtype=scores.dtype)
            result[place] = powers / powers.sum()
        return result

    def split_heads(self, x):
        x = np.asarray(x)
        if len(x.shape) != 3 or x.shape[2] != self.embedding_dimension:
            raise ValueError(f"x: shape {x.shape}, expected (batch, seq, {self.embedding_dimension})")
        batch, length, _ = x.shape
        result = np.empty((batch, self.number_of_heads, length, self.head_dimension), dtype=x.dtype)
        for head in range(self.number_of_heads):
            first = head * self.head_dimension
            for feature in range(self.head_dimension):
                result[:, head, :, feature] = x[:, :, first + feature]
        return result

    def concatenate_heads(self, x):
        x = np.asarray(x)
        if len(x.shape) != 4 or x.shape[1] != self.number_of_heads or x.shape[3] != self.head_dimension:
            raise ValueError(f"x: shape {x.shape}, expected (batch, heads, seq, head_dimension)")
        batch, heads, length, size = x.shape
        result = np.empty((batch, length, self.embedding_dimension), dtype=x.dtype)
        for head in range(heads):
            result[:, :, head * size : (head + 1) * size] = x[:, head]
        return result

    def _project(self, x, weights):
        result = np.empty(x.shape, dtype=np.result_type(x, weights))
        for sequence in range(x.shape[0]):
            for token in range(x.shape[1]):
                result[sequence, token] = x[sequence, token] @ weights
        return result

    def forward(self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None):
        query_input = _numbers(query_input)
        key_input = query_input if key_input is None else _numbers(key_input)
        value_input = key_input if value_input is None else _numbers(value_input)
        for name, given in (("query_input", query_input), ("key_input", key_input), ("value_input", value_input)):
            if given.ndim != 3 or given.shape[2] != self.embedding_dimension:
                raise ValueError(f"{name}: shape {given.shape}, expected (batch, seq, {self.embedding_dimension})")
            if given.shape[0] != query_input.shape[0]:
                raise ValueError(f"{name}: {given.shape[0]} sequences, expected {query_input.shape[0]}")
        if key_input.shape[1] != value_input.shape[1]:
            raise ValueError(f"value_input: {value_input.shape[1]} tokens, expected {key_input.shape[1]}")
        batch, seq_q, seq_k = query_input.shape[0], query_input.shape[1], key_input.shape[1]
        if padding_mask is not None:
            padding_mask = np.asarray(padding_mask)
            if padding_mask.shape != (batch, seq_k):
                raise ValueError(f"padding_mask: shape {padding_mask.shape}, expected {(batch, seq_k)}")
        queries = self.split_heads(self._project(query_input, self.query_weights))
        keys = self.split_heads(self._project(key_input, self.key_weights))
        values = self.split_heads(self._project(value_input, self.value_weights))
        kind = np.result_type(queries, keys)
        raw = np.empty((batch, self.number_of_heads, seq_q, seq_k), dtype=kind)
        scaled, masked, weights = np.empty_like(raw), np.empty_like(raw), np.zeros_like(raw)
        output = np.zeros(queries.shape, dtype=np.result_type(kind, values))
        for b in range(batch):
            for h in range(self.number_of_heads):
                for i in range(seq_q):
                    seen = []
                    for j in range(seq_k):
                        raw[b, h, i, j] = queries[b, h, i] @ keys[b, h, j]
                        scaled[b, h, i, j] = raw[b, h, i, j] * self.scale_factor
                        real = padding_mask is None or bool(padding_mask[b, j])
                        if real and not (causal and j > i):
                            seen.append(j)
                            masked[b, h, i, j] = scaled[b, h, i, j]
                        else:
                            masked[b, h, i, j] = -math.inf
                    if not seen:
                        continue
                    largest = max(masked[b, h, i, j] for j in seen)
                    for j in seen:
                        weights[b, h, i, j] = np.exp(masked[b, h, i, j] - largest)
                    weights[b, h, i] /= weights[b, h, i].sum()
                    for j in seen:
                        output[b, h, i] += weights[b, h, i, j] * values[b, h, j]
        self.queries_multihead, self.keys_multihead, self.values_multihead = queries, keys, values
        self.attention_scores, self.scaled_scores, self.masked_scores = raw, scaled, masked
        self.attention_weights, self.attention_output = weights, output
        self.concatenated_heads = self.concatenate_heads(output)
        self._inputs = query_input, key_input, value_input
        return self._project(self.concatenated_heads, self.output_weights)

    def _outer_sum(self, x, grad):
        total = np.zeros((self.embedding_dimension, self.embedding_dimension), dtype=np.result_type(x, grad))
        for sequence in range(x.shape[0]):
            for token in range(x.shape[1]):
                total += np.outer(x[sequence, token], grad[sequence, token])
        return total

    def backward(self, grad_output):
        if self._inputs is None:
            raise RuntimeError("backward: there was no forward yet")
        grad_output = _numbers(grad_output)
        if grad_output.shape != self.concatenated_heads.shape:
            raise ValueError(f"grad_output: shape {grad_output.shape}, expected {self.concatenated_heads.shape}")
        query_input, key_input, value_input = self._inputs
        queries, keys, values, weights = (
            self.queries_multihead,
            self.keys_multihead,
            self.values_multihead,
            self.attention_weights,
        )
        self.gradient_output_weights = self._outer_sum(self.concatenated_heads, grad_output)
        upstream = self.split_heads(self._project(grad_output, self.output_weights.T))
        grad_weights, grad_scores = np.zeros_like(weights), np.zeros_like(weights)
        grad_queries, grad_keys, grad_values = np.zeros_like(queries), np.zeros_like(keys), np.zeros_like(values)
        batch, heads, seq_q, seq_k = weights.shape
        for b in range(batch):
            for h in range(heads):
                for i in range(seq_q):
                    for j in range(seq_k):
                        grad_weights[b, h, i, j] = upstream[b, h, i] @ values[b, h, j]
                        grad_values[b, h, j] += weights[b, h, i, j] * upstream[b, h, i]
                    for j in range(seq_k):
                        for k in range(seq_k):
                            slope = weights[b, h, i, k] * ((1 if j == k else 0) - weights[b, h, i, j])
                            grad_scores[b, h, i, j] += grad_weights[b, h, i, k] * slope
                    for j in range(seq_k):
                        through = grad_scores[b, h, i, j] * self.scale_factor
                        grad_queries[b, h, i] += through * keys[b, h, j]
                        grad_keys[b, h, j] += through * queries[b, h, i]
        self.gradient_attention_output = upstream
        self.gradient_attention_weights, self.gradient_attention_scores = grad_weights, grad_scores
        self.gradient_query, self.gradient_key, self.gradient_value = grad_queries, grad_keys, grad_values
        for name, given in (("query", query_input), ("key", key_input), ("value", value_input)):
            grad = self.concatenate_heads(getattr(self, f"gradient_{name}"))
            setattr(self, f"gradient_{name}_weights", self._outer_sum(given, grad))
            setattr(self, f"gradient_{name}_input", self._project(grad, getattr(self, f"{name}_weights").T))
        self._ready = True
        return self.gradient_query_input, self.gradient_key_input, self.gradient_value_input

    def update(self, learning_rate):
        if not self._ready:
            raise RuntimeError("update: there was no backward yet")
        for name in ("output", "value", "key", "query"):
            step = learning_rate * getattr(self, f"gradient_{name}_weights")
            setattr(self, f"{name}_weights", getattr(self, f"{name}_weights") - step)

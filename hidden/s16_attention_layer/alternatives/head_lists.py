"""An attention layer that treats each head by itself, as tables in lists, and stacks them at the end."""

from math import sqrt

import numpy as np


def _stable(row_block):
    """Softmax of a table along its rows; a row of nothing but -inf gives zeros."""
    peak = row_block.max(axis=1)
    alive = peak > -np.inf
    result = np.zeros_like(row_block)
    powers = np.exp(row_block[alive] - peak[alive][:, None])
    result[alive] = powers / powers.sum(axis=1)[:, None]
    return result


class Attention:
    def __init__(self, embedding_dimension=512, number_of_heads=8, rng=None):
        if number_of_heads < 1 or embedding_dimension % number_of_heads != 0:
            raise ValueError(f"number_of_heads: {number_of_heads}, expected a divisor of {embedding_dimension}")
        generator = np.random.default_rng() if rng is None else rng
        self.embedding_dimension = int(embedding_dimension)
        self.number_of_heads = int(number_of_heads)
        self.head_dimension = self.embedding_dimension // self.number_of_heads
        self.scale_factor = 1.0 / sqrt(self.head_dimension)
        side = self.embedding_dimension
        self.key_weights, self.output_weights, self.query_weights, self.value_weights = (
            generator.normal(0, 0.02, side * side).reshape(side, side) for _ in range(4)
        )
        width = self.head_dimension
        self._columns = [slice(head * width, head * width + width) for head in range(self.number_of_heads)]
        self._forward_done = self._backward_done = False

    def softmax(self, scores):
        scores = np.asarray(scores)
        if scores.dtype.kind != "f":
            scores = scores.astype(float)
        return _stable(scores.reshape(-1, scores.shape[-1])).reshape(scores.shape)

    def split_heads(self, x):
        x = np.asarray(x)
        if x.ndim != 3 or x.shape[2] != self.embedding_dimension:
            raise ValueError(f"x: shape {x.shape}, expected (batch, seq, {self.embedding_dimension})")
        return np.array([[sequence[:, columns] for columns in self._columns] for sequence in x])

    def concatenate_heads(self, x):
        x = np.asarray(x)
        if x.ndim != 4 or x.shape[1] != self.number_of_heads or x.shape[3] != self.head_dimension:
            raise ValueError(f"x: shape {x.shape}, expected (batch, heads, seq, head_dimension)")
        return np.array([np.hstack(list(heads)) for heads in x])

    @staticmethod
    def _triple(query_input, key_input, value_input):
        first = np.asarray(query_input)
        second = np.asarray(key_input) if key_input is not None else first
        third = np.asarray(value_input) if value_input is not None else second
        if any(array.ndim != 3 for array in (first, second, third)):
            raise ValueError("inputs: expected three axes each")
        if first.shape[0] != second.shape[0] or second.shape[:2] != third.shape[:2]:
            raise ValueError(f"inputs: shapes {first.shape}, {second.shape}, {third.shape} do not go together")
        return first, second, third

    @staticmethod
    def _tables(batch, seq_q, seq_k, causal, padding_mask):
        """One boolean table for each sequence."""
        if padding_mask is None:
            padding_mask = np.ones((batch, seq_k), dtype=bool)
        padding_mask = np.asarray(padding_mask)
        if padding_mask.shape != (batch, seq_k):
            raise ValueError(f"padding_mask: shape {padding_mask.shape}, expected {(batch, seq_k)}")
        table = np.tril(np.ones((seq_q, seq_k), dtype=bool)) if causal else np.ones((seq_q, seq_k), dtype=bool)
        return [np.logical_and(table, row[None, :]) for row in padding_mask]

    def forward(self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None):
        self._inputs = X_q, X_k, X_v = self._triple(query_input, key_input, value_input)
        tables = self._tables(len(X_q), X_q.shape[1], X_k.shape[1], causal, padding_mask)
        names = ("queries", "keys", "values", "scores", "scaled", "masked", "weights", "output")
        kept = {name: [] for name in names}
        for x_q, x_k, x_v, table in zip(X_q, X_k, X_v, tables, strict=True):
            found = {name: [] for name in names}
            for columns in self._columns:
                queries = x_q @ self.query_weights[:, columns]
                keys = x_k @ self.key_weights[:, columns]
                values = x_v @ self.value_weights[:, columns]
                scores = queries @ keys.T
                scaled = scores / sqrt(self.head_dimension)
                masked = np.where(table, scaled, scaled.dtype.type(-np.inf))
                weights = _stable(masked)
                row = (queries, keys, values, scores, scaled, masked, weights, weights @ values)
                for name, value in zip(names, row, strict=True):
                    found[name].append(value)
            for name in names:
                kept[name].append(found[name])
        self._kept = kept
        self.queries_multihead, self.keys_multihead, self.values_multihead = (np.array(kept[n]) for n in names[:3])
        self.attention_scores, self.scaled_scores, self.masked_scores = (np.array(kept[n]) for n in names[3:6])
        self.attention_weights, self.attention_output = np.array(kept["weights"]), np.array(kept["output"])
        self.concatenated_heads = np.array([np.concatenate(heads, axis=1) for heads in kept["output"]])
        self._forward_done = True
        return np.array([tokens @ self.output_weights for tokens in self.concatenated_heads])

    def backward(self, grad_output):
        if not self._forward_done:
            raise RuntimeError("backward: call forward first")
        grad_output = np.asarray(grad_output)
        X_q, X_k, X_v = self._inputs
        if grad_output.shape != X_q.shape:
            raise ValueError(f"grad_output: shape {grad_output.shape}, expected {X_q.shape}")
        self.gradient_output_weights = sum(o.T @ g for o, g in zip(self.concatenated_heads, grad_output, strict=True))
        through = [[grad @ self.output_weights[columns].T for columns in self._columns] for grad in grad_output]
        self.gradient_attention_output = np.array(through)
        lists = {name: [] for name in ("weights", "value", "scores", "key", "query")}
        for b, upstream in enumerate(through):
            rows = {name: [] for name in lists}
            for h, grad in enumerate(upstream):
                weights = self._kept["weights"][b][h]
                grad_weights = grad @ self._kept["values"][b][h].T
                grad_scores = np.empty_like(weights)
                for i, row in enumerate(weights):
                    grad_scores[i] = (np.diag(row) - np.outer(row, row)) @ grad_weights[i]
                rows["weights"].append(grad_weights)
                rows["value"].append(weights.T @ grad)
                rows["scores"].append(grad_scores)
                rows["key"].append(grad_scores.T @ self._kept["queries"][b][h] / sqrt(self.head_dimension))
                rows["query"].append(grad_scores @ self._kept["keys"][b][h] / sqrt(self.head_dimension))
            for name in lists:
                lists[name].append(rows[name])
        self.gradient_attention_weights = np.array(lists["weights"])
        self.gradient_attention_scores = np.array(lists["scores"])
        for name, x in (("value", X_v), ("key", X_k), ("query", X_q)):
            weights = getattr(self, f"{name}_weights")
            joined = [np.hstack(heads) for heads in lists[name]]
            setattr(self, f"gradient_{name}", np.array(lists[name]))
            setattr(self, f"gradient_{name}_weights", sum(t.T @ g for t, g in zip(x, joined, strict=True)))
            setattr(self, f"gradient_{name}_input", np.array([grad @ weights.T for grad in joined]))
        self._backward_done = True
        return self.gradient_query_input, self.gradient_key_input, self.gradient_value_input

    def update(self, learning_rate):
        if not self._backward_done:
            raise RuntimeError("update: call backward first")
        for name in ("query_weights", "key_weights", "value_weights", "output_weights"):
            setattr(self, name, getattr(self, name) - getattr(self, f"gradient_{name}") * learning_rate)

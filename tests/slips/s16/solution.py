"""The attention layer, written from the README and the stub of its stage alone; what the slips beside it edit."""

import math

import numpy as np


def refuse_unless(condition, message):
    if not condition:
        raise ValueError(message)


class Attention:
    def __init__(self, embedding_dimension=512, number_of_heads=8, rng=None):
        refuse_unless(number_of_heads > 0, f"number_of_heads: {number_of_heads}, expected a positive number")
        refuse_unless(
            embedding_dimension % number_of_heads == 0,
            f"number_of_heads: {number_of_heads}, expected a divisor of {embedding_dimension}",
        )
        if rng is None:
            rng = np.random.default_rng()
        self.embedding_dimension = embedding_dimension
        self.number_of_heads = number_of_heads
        self.head_dimension = embedding_dimension // number_of_heads
        self.scale_factor = 1 / math.sqrt(self.head_dimension)
        size = (embedding_dimension, embedding_dimension)
        self.query_weights = rng.normal(0.0, 0.02, size)
        self.key_weights = rng.normal(0.0, 0.02, size)
        self.value_weights = rng.normal(0.0, 0.02, size)
        self.output_weights = rng.normal(0.0, 0.02, size)
        self.was_forward = False
        self.was_backward = False

    def softmax(self, scores):
        scores = np.asarray(scores)
        largest = np.max(scores, axis=-1, keepdims=True)
        largest = np.where(largest == -np.inf, 0, largest)
        exponentials = np.exp(scores - largest)
        totals = np.sum(exponentials, axis=-1, keepdims=True)
        return exponentials / np.where(totals == 0, 1, totals)

    def split_heads(self, x):
        x = np.asarray(x)
        refuse_unless(
            x.ndim == 3 and x.shape[2] == self.embedding_dimension,
            f"x: {x.shape}, expected (batch, seq, {self.embedding_dimension})",
        )
        batch, seq, _ = x.shape
        cut = x.reshape(batch, seq, self.number_of_heads, self.head_dimension)
        return cut.transpose(0, 2, 1, 3)

    def concatenate_heads(self, x):
        x = np.asarray(x)
        refuse_unless(
            x.ndim == 4 and x.shape[1] == self.number_of_heads and x.shape[3] == self.head_dimension,
            f"x: {x.shape}, expected (batch, {self.number_of_heads}, seq, {self.head_dimension})",
        )
        batch, _, seq, _ = x.shape
        return x.transpose(0, 2, 1, 3).reshape(batch, seq, self.embedding_dimension)

    def check_inputs(self, query_input, key_input, value_input):
        for name, each in (("query_input", query_input), ("key_input", key_input), ("value_input", value_input)):
            refuse_unless(
                each.ndim == 3 and each.shape[2] == self.embedding_dimension,
                f"{name}: {each.shape}, expected (batch, seq, {self.embedding_dimension})",
            )
        refuse_unless(key_input.shape[0] == query_input.shape[0], "key_input has another batch size than query_input")
        refuse_unless(value_input.shape[:2] == key_input.shape[:2], "value_input does not have one value for each key")

    def allowed_places(self, batch, seq_q, seq_k, causal, padding_mask):
        allowed = np.ones((batch, 1, seq_q, seq_k), dtype=bool)
        if causal:
            allowed = allowed & (np.arange(seq_k)[None, :] <= np.arange(seq_q)[:, None])
        if padding_mask is not None:
            padding_mask = np.asarray(padding_mask).astype(bool)
            refuse_unless(
                padding_mask.shape == (batch, seq_k), f"padding_mask: {padding_mask.shape}, expected {(batch, seq_k)}"
            )
            allowed = allowed & padding_mask[:, None, None, :]
        return allowed

    def forward(self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None):
        query_input = np.asarray(query_input)
        key_input = query_input if key_input is None else np.asarray(key_input)
        value_input = key_input if value_input is None else np.asarray(value_input)
        self.check_inputs(query_input, key_input, value_input)
        batch, seq_q, _ = query_input.shape
        seq_k = key_input.shape[1]
        allowed = self.allowed_places(batch, seq_q, seq_k, causal, padding_mask)

        self.query_input, self.key_input, self.value_input = query_input, key_input, value_input
        self.queries_multihead = self.split_heads(query_input @ self.query_weights)
        self.keys_multihead = self.split_heads(key_input @ self.key_weights)
        self.values_multihead = self.split_heads(value_input @ self.value_weights)
        self.attention_scores = self.queries_multihead @ self.keys_multihead.transpose(0, 1, 3, 2)
        self.scaled_scores = self.attention_scores * self.scale_factor
        self.masked_scores = np.where(allowed, self.scaled_scores, -np.inf)
        self.attention_weights = self.softmax(self.masked_scores)
        self.attention_output = self.attention_weights @ self.values_multihead
        self.concatenated_heads = self.concatenate_heads(self.attention_output)
        self.was_forward = True
        return self.concatenated_heads @ self.output_weights

    def backward(self, grad_output):
        if not self.was_forward:
            raise RuntimeError("backward: forward has not been called")
        grad_output = np.asarray(grad_output)
        refuse_unless(
            grad_output.shape == self.concatenated_heads.shape,
            f"grad_output: {grad_output.shape}, expected {self.concatenated_heads.shape}",
        )
        A = self.attention_weights

        self.gradient_output_weights = np.einsum("bsi,bsj->ij", self.concatenated_heads, grad_output)
        self.gradient_attention_output = self.split_heads(grad_output @ self.output_weights.T)
        self.gradient_attention_weights = self.gradient_attention_output @ np.swapaxes(self.values_multihead, 2, 3)
        self.gradient_value = np.swapaxes(A, 2, 3) @ self.gradient_attention_output
        dA = self.gradient_attention_weights
        row_sums = np.sum(dA * A, axis=-1, keepdims=True)
        self.gradient_attention_scores = A * (dA - row_sums)
        dS = self.gradient_attention_scores
        self.gradient_key = np.swapaxes(dS, 2, 3) @ self.queries_multihead * self.scale_factor
        self.gradient_query = dS @ self.keys_multihead * self.scale_factor

        joined_value = self.concatenate_heads(self.gradient_value)
        joined_key = self.concatenate_heads(self.gradient_key)
        joined_query = self.concatenate_heads(self.gradient_query)
        self.gradient_value_weights = np.einsum("bsi,bsj->ij", self.value_input, joined_value)
        self.gradient_key_weights = np.einsum("bsi,bsj->ij", self.key_input, joined_key)
        self.gradient_query_weights = np.einsum("bsi,bsj->ij", self.query_input, joined_query)

        self.gradient_query_input = joined_query @ self.query_weights.T
        self.gradient_key_input = joined_key @ self.key_weights.T
        self.gradient_value_input = joined_value @ self.value_weights.T
        self.was_backward = True
        return self.gradient_query_input, self.gradient_key_input, self.gradient_value_input

    def update(self, learning_rate):
        if not self.was_backward:
            raise RuntimeError("update: backward has not been called")
        self.query_weights = self.query_weights - learning_rate * self.gradient_query_weights
        self.key_weights = self.key_weights - learning_rate * self.gradient_key_weights
        self.value_weights = self.value_weights - learning_rate * self.gradient_value_weights
        self.output_weights = self.output_weights - learning_rate * self.gradient_output_weights

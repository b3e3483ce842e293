"""Multi-head attention as one layer that keeps every step of its forward and of its backward pass for you to read.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. In short:
batch axes first, feature axis last; inputs are never changed; masks hold True (or 1) where attending is allowed; a
query that may attend to nothing gets weights of zero.
"""

import numpy as np


class Attention:
    """Multi-head attention without biases: forward, backward and one step of gradient descent.

    Args:
        embedding_dimension: number of features of the inputs and of the output.
        number_of_heads: how many heads; must divide embedding_dimension. Without arguments the layer is that of the
            original Transformer: 512 features and 8 heads.
        rng: np.random.Generator that draws the weights; None draws a fresh one.

    Attributes, from the start:
        embedding_dimension, number_of_heads: as given.
        head_dimension: embedding_dimension / number_of_heads, an integer.
        scale_factor: 1 / sqrt(head_dimension).
        query_weights, key_weights, value_weights, output_weights: shape (embedding, embedding), at first normally
            distributed with mean 0 and standard deviation 0.02, each drawn for itself; generators of the same seed give
            the same weights. They multiply from the right, can be read and assigned, and are read at every call.

    Attributes, after forward, each replaced by the next call:
        queries_multihead: shape (batch, heads, seq_q, head_dimension).
        keys_multihead, values_multihead: shape (batch, heads, seq_k, head_dimension).
        attention_scores: queries_multihead times keys_multihead transposed, shape (batch, heads, seq_q, seq_k).
        scaled_scores: the scores times scale_factor, the same shape.
        masked_scores: scaled_scores, but -inf (or any number up to -1e8) where attending is forbidden.
        attention_weights: the softmax of masked_scores along the keys, the same shape.
        attention_output: the weights times values_multihead, shape (batch, heads, seq_q, head_dimension).
        concatenated_heads: shape (batch, seq_q, embedding).

    Attributes, after backward, each the gradient of the loss and of the shape of what it is the gradient of:
        gradient_output_weights, gradient_value_weights, gradient_key_weights, gradient_query_weights.
        gradient_attention_output, gradient_attention_weights.
        gradient_attention_scores: with respect to scaled_scores; 0 where attending is forbidden.
        gradient_value, gradient_key, gradient_query: with respect to values_multihead, keys_multihead and
            queries_multihead.
        gradient_query_input, gradient_key_input, gradient_value_input: what backward returns.

    The scale may be applied elsewhere, as long as it counts once: queries_multihead or keys_multihead may carry the
    factor scale_factor already, or both its square root; attention_scores and the gradients are then those of what your
    attributes hold. gradient_attention_scores may be with respect to the scores before the scale instead.

    Raises:
        ValueError: number_of_heads is not positive or does not divide embedding_dimension.

    Source: Vaswani et al. 2017, sections 3.2.1 and 3.2.2.

    Example:
        >>> layer = Attention(64, 4, rng=np.random.default_rng(0))
        >>> layer.head_dimension, layer.scale_factor
        (16, 0.25)
        >>> layer.forward(np.ones((2, 10, 64))).shape, layer.attention_weights.shape
        ((2, 10, 64), (2, 4, 10, 10))
    """

    def __init__(self, embedding_dimension=512, number_of_heads=8, rng=None):
        if number_of_heads < 1 or embedding_dimension % number_of_heads != 0:
            raise ValueError(
                f"number_of_heads: {number_of_heads}, expected a divisor of embedding_dimension, {embedding_dimension}"
            )
        rng = np.random.default_rng() if rng is None else rng
        self.embedding_dimension = embedding_dimension
        self.number_of_heads = number_of_heads
        self.head_dimension = embedding_dimension // number_of_heads
        self.scale_factor = self.head_dimension**-0.5  # a Python float; NumPy's own would turn float32 into float64
        shape = (embedding_dimension, embedding_dimension)
        self.query_weights = 0.02 * rng.standard_normal(shape)
        self.key_weights = 0.02 * rng.standard_normal(shape)
        self.value_weights = 0.02 * rng.standard_normal(shape)
        self.output_weights = 0.02 * rng.standard_normal(shape)
        self._inputs = None
        self.gradient_query_weights = None

    def softmax(self, scores):
        """Return the softmax of the scores along the last axis: exp(s_j) / sum over j of exp(s_j).

        Args:
            scores: any shape with at least one axis; any real numbers, also of size 1e4; -inf gets no weight.

        Returns:
            Weights of the shape of scores. They sum to 1 along the last axis, except where all scores along it are
            -inf: there they are all 0, never NaN. float32 for float32 scores.

        Source: Vaswani et al. 2017, equation 1 (the softmax); the row of zeros is the convention of this course.

        Example:
            >>> Attention(4, 2).softmax(np.array([[1000.0, 1000.0], [0.0, -np.inf]]))
            array([[0.5, 0.5],
                   [1. , 0. ]])
        """
        peak = scores.max(axis=-1, keepdims=True)
        exponentials = np.exp(scores - np.where(peak == -np.inf, 0, peak))  # -inf - (-inf) would be NaN
        total = exponentials.sum(axis=-1, keepdims=True)
        return exponentials / np.maximum(total, 1)  # the peak adds exp(0), so a total below 1 is that of a row of -inf

    def split_heads(self, x):
        """Return the features of every token shared out among the heads.

        Args:
            x: shape (batch, seq, embedding).

        Returns:
            Shape (batch, heads, seq, head_dimension): head h of a token holds the features h * head_dimension to
            (h + 1) * head_dimension of that same token.

        Raises:
            ValueError: x has not three axes, or not embedding_dimension features.

        Source: Vaswani et al. 2017, section 3.2.2.

        Example:
            >>> x = np.array([[[0, 1, 2, 3], [10, 11, 12, 13]]])  # one sequence of two tokens
            >>> Attention(4, 2).split_heads(x).tolist()
            [[[[0, 1], [10, 11]], [[2, 3], [12, 13]]]]
        """
        _require_shape("x", x, (*x.shape[:2], self.embedding_dimension))
        return x.reshape(*x.shape[:2], self.number_of_heads, self.head_dimension).transpose(0, 2, 1, 3)

    def concatenate_heads(self, x):
        """Return the heads of every token side by side again: the inverse of split_heads.

        Args:
            x: shape (batch, heads, seq, head_dimension).

        Returns:
            Shape (batch, seq, embedding).

        Raises:
            ValueError: x has not four axes, not number_of_heads heads, or not head_dimension features a head.

        Source: Vaswani et al. 2017, section 3.2.2 (Concat).

        Example:
            >>> Attention(4, 2).concatenate_heads(np.array([[[[0, 1], [10, 11]], [[2, 3], [12, 13]]]])).tolist()
            [[[0, 1, 2, 3], [10, 11, 12, 13]]]
        """
        _require_shape("x", x, (*x.shape[:1], self.number_of_heads, *x.shape[2:3], self.head_dimension))
        return x.transpose(0, 2, 1, 3).reshape(len(x), x.shape[2], self.embedding_dimension)

    def forward(self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None):
        """Return the attention of all heads, joined by output_weights, and keep every step as an attribute.

        Args:
            query_input: shape (batch, seq_q, embedding).
            key_input: shape (batch, seq_k, embedding); None means query_input (self-attention).
            value_input: shape (batch, seq_k, embedding), one for each key; None means what key_input is by then.
            causal: True lets query i attend to the keys j <= i only, also where seq_q and seq_k differ.
            padding_mask: None, or boolean (or 0/1 integers) of shape (batch, seq_k): True (1) = a real token, which may
                be attended to. With causal as well, a key must be allowed by both.

        Returns:
            Shape (batch, seq_q, embedding). A query that may attend to no key has weights 0 and output 0. float32 for
            float32 inputs and float32 weights.

        Raises:
            ValueError: an input has not three axes or not embedding_dimension features; the batch sizes differ; there
                is not one value for each key; or padding_mask has not shape (batch, seq_k).

        Source: Vaswani et al. 2017, equation 1 and section 3.2.2.

        Example:
            >>> layer = Attention(2, 2)  # head 0 sees the first feature, head 1 the second
            >>> layer.query_weights = layer.key_weights = layer.value_weights = layer.output_weights = np.eye(2)
            >>> layer.forward(np.array([[[2.0, 0.0], [0.0, 2.0]]])).round(3)
            array([[[1.964, 1.   ],
                    [1.   , 1.964]]])
        """
        self._inputs = self._complete(query_input, key_input, value_input)
        self._project(*self._inputs)
        self._score(causal, padding_mask)
        self._attend()
        return self.concatenated_heads @ self.output_weights

    def _complete(self, query_input, key_input, value_input):
        """Return the three inputs, those left out filled in; ValueError if their shapes do not go together."""
        key_input = query_input if key_input is None else key_input
        value_input = key_input if value_input is None else value_input
        features = self.embedding_dimension
        _require_shape("query_input", query_input, (*query_input.shape[:2], features))
        _require_shape("key_input", key_input, (*query_input.shape[:1], *key_input.shape[1:2], features))
        _require_shape("value_input", value_input, key_input.shape)
        return query_input, key_input, value_input

    def _project(self, query_input, key_input, value_input):
        """Keep the queries, keys and values of every head."""
        self.queries_multihead = self.split_heads(query_input @ self.query_weights)
        self.keys_multihead = self.split_heads(key_input @ self.key_weights)
        self.values_multihead = self.split_heads(value_input @ self.value_weights)

    def _score(self, causal, padding_mask):
        """Keep the scores of every query and key, scaled, and masked."""
        self.attention_scores = self.queries_multihead @ _transposed(self.keys_multihead)
        self.scaled_scores = self.attention_scores * self.scale_factor
        allowed = _allowed(self.scaled_scores.shape, causal, padding_mask)
        self.masked_scores = np.where(allowed, self.scaled_scores, -np.inf)

    def _attend(self):
        """Keep the weights, what every head makes of the values with them, and the heads side by side."""
        self.attention_weights = self.softmax(self.masked_scores)
        self.attention_output = self.attention_weights @ self.values_multihead
        self.concatenated_heads = self.concatenate_heads(self.attention_output)

    def backward(self, grad_output):
        """Return the gradients of the three inputs of the last forward call, and keep every step as an attribute.

        The weights stay as they are; update changes them. A second call replaces the gradients of the first.

        Args:
            grad_output: gradient of the loss with respect to the last output, shape (batch, seq_q, embedding).

        Returns:
            (grad_query_input, grad_key_input, grad_value_input), each of the shape of its input. They are three also
            where one array served as several inputs: its gradient is the sum of theirs. Forbidden places, and queries
            that may attend to nothing, pass on no gradient. float32 for float32 inputs, weights and grad_output.

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last output.

        Source: the chain rule on Vaswani et al. 2017, section 3.2.2; derived in ten steps in README.md.

        Example:
            >>> layer = Attention(1, 1)  # one token attends to itself: output = x * value_weights * output_weights
            >>> layer.value_weights, layer.output_weights = np.array([[5.0]]), np.array([[2.0]])
            >>> output = layer.forward(np.array([[[3.0]]]))
            >>> grad_query_input, grad_key_input, grad_value_input = layer.backward(np.array([[[1.0]]]))
            >>> grad_value_input.item(), layer.gradient_value_weights.item(), layer.gradient_output_weights.item()
            (10.0, 6.0, 15.0)
        """
        if self._inputs is None:
            raise RuntimeError("backward: forward has not been called, expected one forward call before it")
        _require_shape("grad_output", grad_output, self.concatenated_heads.shape)
        self._backward_output(grad_output)
        self._backward_attention()
        self._backward_scores()
        self._backward_projections(*self._inputs)
        return self.gradient_query_input, self.gradient_key_input, self.gradient_value_input

    def _backward_output(self, grad_output):
        """Keep the gradients of the output projection: steps 1 and 2."""
        self.gradient_output_weights = _weight_gradient(self.concatenated_heads, grad_output)
        self.gradient_attention_output = self.split_heads(grad_output @ self.output_weights.T)

    def _backward_attention(self):
        """Keep the gradients of weights, values and scaled scores: steps 3 to 5."""
        self.gradient_attention_weights = self.gradient_attention_output @ _transposed(self.values_multihead)
        self.gradient_value = _transposed(self.attention_weights) @ self.gradient_attention_output
        self.gradient_attention_scores = _softmax_backward(self.attention_weights, self.gradient_attention_weights)

    def _backward_scores(self):
        """Keep the gradients of keys and queries: steps 6 and 7."""
        gradient_products = self.gradient_attention_scores * self.scale_factor
        self.gradient_key = _transposed(gradient_products) @ self.queries_multihead
        self.gradient_query = gradient_products @ self.keys_multihead

    def _backward_projections(self, query_input, key_input, value_input):
        """Keep the gradients of three weight matrices, steps 8 to 10, and of the three inputs."""
        gradient_values = self.concatenate_heads(self.gradient_value)
        gradient_keys = self.concatenate_heads(self.gradient_key)
        gradient_queries = self.concatenate_heads(self.gradient_query)
        self.gradient_value_weights = _weight_gradient(value_input, gradient_values)
        self.gradient_key_weights = _weight_gradient(key_input, gradient_keys)
        self.gradient_query_weights = _weight_gradient(query_input, gradient_queries)
        self.gradient_query_input = gradient_queries @ self.query_weights.T
        self.gradient_key_input = gradient_keys @ self.key_weights.T
        self.gradient_value_input = gradient_values @ self.value_weights.T

    def update(self, learning_rate):
        """Take one step of gradient descent: subtract learning_rate times its gradient from each of the four weights.

        The gradients are those of the last backward call, and stay as they are. So does an array that was assigned as a
        weight: the layer's becomes a new one.

        Args:
            learning_rate: a positive number.

        Raises:
            RuntimeError: backward has not been called.

        Example:
            >>> layer = Attention(1, 1)
            >>> layer.value_weights, layer.output_weights = np.array([[5.0]]), np.array([[2.0]])
            >>> output = layer.forward(np.array([[[3.0]]]))
            >>> gradients = layer.backward(np.array([[[1.0]]]))
            >>> layer.update(0.5)
            >>> layer.value_weights.item(), layer.output_weights.item()  # 5 - 0.5 * 6 and 2 - 0.5 * 15
            (2.0, -5.5)
        """
        if self.gradient_query_weights is None:
            raise RuntimeError("update: backward has not been called, expected one backward call before it")
        self.query_weights = self.query_weights - learning_rate * self.gradient_query_weights
        self.key_weights = self.key_weights - learning_rate * self.gradient_key_weights
        self.value_weights = self.value_weights - learning_rate * self.gradient_value_weights
        self.output_weights = self.output_weights - learning_rate * self.gradient_output_weights


def _require_shape(name, array, expected):
    """Raise ValueError unless the array has the expected shape."""
    if array.shape != expected:
        raise ValueError(f"{name}: shape {array.shape}, expected {expected}")


def _transposed(x):
    """Return x with its last two axes exchanged."""
    return np.swapaxes(x, -1, -2)


def _allowed(shape, causal, padding_mask):
    """Return which of the scores of that shape, (batch, heads, seq_q, seq_k), may be used, broadcast over the heads."""
    batch, _, queries, keys = shape
    allowed = np.tri(queries, keys) == 1 if causal else np.full((queries, keys), True)
    if padding_mask is None:
        return allowed
    _require_shape("padding_mask", padding_mask, (batch, keys))
    return allowed & (padding_mask == 1)[:, None, None, :]


def _softmax_backward(weights, gradient):
    """Return the gradient of the scores from that of their softmax, the weights."""
    weighted = weights * gradient
    return weighted - weights * weighted.sum(axis=-1, keepdims=True)


def _weight_gradient(inputs, gradient):
    """Return the gradient of W in inputs @ W, summed over batch and sequence, from that of the product."""
    return np.tensordot(inputs, gradient, axes=((0, 1), (0, 1)))

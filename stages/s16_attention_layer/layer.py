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
        raise NotImplementedError("Attention.__init__")

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
        raise NotImplementedError("Attention.softmax")

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
        raise NotImplementedError("Attention.split_heads")

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
        raise NotImplementedError("Attention.concatenate_heads")

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
        raise NotImplementedError("Attention.forward")

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
        raise NotImplementedError("Attention.backward")

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
        raise NotImplementedError("Attention.update")

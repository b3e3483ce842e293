"""Recurrent networks: plain, LSTM and GRU cells, unrolled over time, forward and backward, and a layer that learns.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. In short:
one step is (batch, features), a sequence (batch, time, features), a state (batch, hidden); inputs are never changed;
each forward returns a cache of your own layout as its last value, and the backward of the same name takes it.
"""

import numpy as np


def rnn_cell_forward(x, h, weights):
    """Return the next state of a plain recurrent cell: h_next = tanh(x W_x + h W_h + b).

    Args:
        x: inputs of one step, shape (batch, features).
        h: state before the step, shape (batch, hidden).
        weights: dict of "W_x" (features, hidden), "W_h" (hidden, hidden) and "b" (hidden,).

    Returns:
        (h_next, cache): h_next of shape (batch, hidden), float32 for float32 arguments; cache is whatever
        rnn_cell_backward needs, in a form of your choice.

    Raises:
        ValueError: x has not two axes, or h or a weight has not the shape above.

    Source: Elman 1990, Finding Structure in Time.

    Example:
        >>> weights = {"W_x": np.array([[0.5]]), "W_h": np.array([[2.0]]), "b": np.array([-1.0])}
        >>> h_next, cache = rnn_cell_forward(np.array([[1.0]]), np.array([[0.5]]), weights)
        >>> h_next.round(4)  # tanh(1 * 0.5 + 0.5 * 2 - 1)
        array([[0.4621]])
    """
    raise NotImplementedError("rnn_cell_forward")


def rnn_cell_backward(grad_h_next, cache):
    """Return the gradients of a loss with respect to everything that went into rnn_cell_forward.

    Args:
        grad_h_next: gradient of the loss with respect to h_next, shape (batch, hidden).
        cache: the cache that a forward call returned; it need not be the last call.

    Returns:
        (grad_x, grad_h, grad_weights): shapes (batch, features) and (batch, hidden), and a dict with the keys and
        shapes of weights, summed over the batch. float32 where all arguments of forward and grad_h_next are.

    Raises:
        ValueError: grad_h_next has not the shape of h_next.

    Source: the chain rule; derived in README.md.

    Example:
        >>> weights = {"W_x": np.array([[0.5]]), "W_h": np.array([[2.0]]), "b": np.array([-1.0])}
        >>> h_next, cache = rnn_cell_forward(np.array([[1.0]]), np.array([[0.5]]), weights)
        >>> grad_x, grad_h, grad_weights = rnn_cell_backward(np.array([[1.0]]), cache)
        >>> grad_x.round(4), grad_h.round(4), grad_weights["W_h"].round(4)  # 1 - 0.4621**2 = 0.7864 times 0.5, 2, 0.5
        (array([[0.3932]]), array([[1.5729]]), array([[0.3932]]))
    """
    raise NotImplementedError("rnn_cell_backward")


def rnn_forward(x, h0, weights):
    """Return the states of a plain recurrent network after every step of a batch of sequences.

    Args:
        x: shape (batch, time, features), at least one step long.
        h0: state before the first step, shape (batch, hidden).
        weights: as for rnn_cell_forward; the same at every step.

    Returns:
        (hs, cache): hs of shape (batch, time, hidden), hs[:, t] being the state after step t; cache is whatever
        rnn_backward needs. float32 for float32 arguments.

    Raises:
        ValueError: x has not three axes or no step, or h0 or a weight does not fit.

    Source: Elman 1990.

    Example:
        >>> weights = {"W_x": np.array([[1.0]]), "W_h": np.array([[0.5]]), "b": np.array([0.0])}
        >>> hs, cache = rnn_forward(np.array([[[1.0], [0.0], [0.0]]]), np.zeros((1, 1)), weights)
        >>> hs[0, :, 0].round(4)  # tanh(1), then each time tanh of half of it: the input fades
        array([0.7616, 0.3634, 0.1797])
    """
    raise NotImplementedError("rnn_forward")


def rnn_backward(grad_hs, cache):
    """Return the gradients of a loss with respect to everything that went into rnn_forward, back through all steps.

    Args:
        grad_hs: gradient of the loss with respect to hs, shape (batch, time, hidden).
        cache: the cache that a forward call returned; it need not be the last call.

    Returns:
        (grad_x, grad_h0, grad_weights): shapes (batch, time, features) and (batch, hidden), and a dict with the keys
        and shapes of weights, summed over batch and time. float32 where all arguments of forward and grad_hs are.

    Raises:
        ValueError: grad_hs has not the shape of hs.

    Source: Werbos 1990, Backpropagation Through Time.

    Example:
        >>> weights = {"W_x": np.array([[1.0]]), "W_h": np.array([[0.5]]), "b": np.array([0.0])}
        >>> hs, cache = rnn_forward(np.zeros((1, 3, 1)), np.zeros((1, 1)), weights)  # all states are 0, all slopes 1
        >>> grad_x, grad_h0, grad_weights = rnn_backward(np.array([[[0.0], [0.0], [1.0]]]), cache)
        >>> grad_x[0, :, 0], grad_h0[0]  # half as much for every step further back
        (array([0.25, 0.5 , 1.  ]), array([0.125]))
    """
    raise NotImplementedError("rnn_backward")


def lstm_cell_forward(x, h, c, weights):
    """Return the next state and the next cell state of an LSTM.

    The columns of the weights hold the gates in the order i, f, g, o (input, forget, candidate, output):

        [i, f, g, o] = x W_x + h W_h + b       four blocks of hidden columns, then
        i, f, o = sigmoid,  g = tanh           of each
        c_next = f * c + i * g
        h_next = o * tanh(c_next)

    Args:
        x: inputs of one step, shape (batch, features).
        h: state before the step, shape (batch, hidden).
        c: cell state before the step, shape (batch, hidden).
        weights: dict of "W_x" (features, 4 * hidden), "W_h" (hidden, 4 * hidden) and "b" (4 * hidden,).

    Returns:
        (h_next, c_next, cache): two arrays of shape (batch, hidden), also right where the sums are of size 1000, and
        whatever lstm_cell_backward needs. float32 for float32 arguments.

    Raises:
        ValueError: x has not two axes, or h, c or a weight has not the shape above.

    Source: Hochreiter and Schmidhuber 1997; forget gate: Gers, Schmidhuber and Cummins 2000.

    Example:
        >>> weights = {"W_x": np.array([[1.0, 0.0, 2.0, 0.0]]), "W_h": np.zeros((1, 4)), "b": np.zeros(4)}
        >>> h_next, c_next, cache = lstm_cell_forward(np.array([[1.0]]), np.array([[0.0]]), np.array([[3.0]]), weights)
        >>> c_next.round(4), h_next.round(4)  # 0.5 * 3 + sigmoid(1) * tanh(2), then 0.5 * tanh of it
        (array([[2.2048]]), array([[0.488]]))
    """
    raise NotImplementedError("lstm_cell_forward")


def lstm_cell_backward(grad_h_next, grad_c_next, cache):
    """Return the gradients of a loss with respect to everything that went into lstm_cell_forward.

    Args:
        grad_h_next: gradient of the loss with respect to h_next, shape (batch, hidden).
        grad_c_next: gradient with respect to c_next by all ways but h_next (that way is added here), shape
            (batch, hidden).
        cache: the cache that a forward call returned; it need not be the last call.

    Returns:
        (grad_x, grad_h, grad_c, grad_weights): of the shapes of x, h and c, and a dict with the keys and shapes of
        weights, summed over the batch. float32 where all arguments of forward and both gradients are.

    Raises:
        ValueError: grad_h_next or grad_c_next has not the shape (batch, hidden).

    Source: the chain rule; derived in README.md.

    Example:
        >>> weights = {"W_x": np.array([[1.0, 0.0, 2.0, 0.0]]), "W_h": np.zeros((1, 4)), "b": np.zeros(4)}
        >>> h_next, c_next, cache = lstm_cell_forward(np.array([[1.0]]), np.array([[0.0]]), np.array([[3.0]]), weights)
        >>> grad_x, grad_h, grad_c, grad_weights = lstm_cell_backward(np.zeros((1, 1)), np.ones((1, 1)), cache)
        >>> grad_c, grad_weights["b"].round(4)  # f; and c times f (1 - f) for the forget gate
        (array([[0.5]]), array([0.1895, 0.75  , 0.0516, 0.    ]))
    """
    raise NotImplementedError("lstm_cell_backward")


def lstm_forward(x, h0, c0, weights):
    """Return the states and the cell states of an LSTM after every step of a batch of sequences.

    Args:
        x: shape (batch, time, features), at least one step long.
        h0: state before the first step, shape (batch, hidden).
        c0: cell state before the first step, shape (batch, hidden).
        weights: as for lstm_cell_forward; the same at every step.

    Returns:
        (hs, cs, cache): hs and cs of shape (batch, time, hidden), hs[:, t] and cs[:, t] being those after step t;
        cache is whatever lstm_backward needs. float32 for float32 arguments.

    Raises:
        ValueError: x has not three axes or no step, or h0, c0 or a weight does not fit.

    Source: Hochreiter and Schmidhuber 1997.

    Example:
        >>> weights = {"W_x": np.zeros((1, 4)), "W_h": np.zeros((1, 4)), "b": np.zeros(4)}
        >>> hs, cs, cache = lstm_forward(np.zeros((1, 3, 1)), np.zeros((1, 1)), np.array([[8.0]]), weights)
        >>> cs[0, :, 0], hs[0, :, 0].round(4)  # every gate is 0.5: half of the cell state is kept each time
        (array([4., 2., 1.]), array([0.4997, 0.482 , 0.3808]))
    """
    raise NotImplementedError("lstm_forward")


def lstm_backward(grad_hs, grad_cs, cache):
    """Return the gradients of a loss with respect to everything that went into lstm_forward, back through all steps.

    Args:
        grad_hs: gradient of the loss with respect to hs, shape (batch, time, hidden).
        grad_cs: gradient with respect to cs where the loss looks at the cell states themselves, of the same shape;
            zeros where it sees hs alone.
        cache: the cache that a forward call returned; it need not be the last call.

    Returns:
        (grad_x, grad_h0, grad_c0, grad_weights): of the shapes of x, h0 and c0, and a dict with the keys and shapes of
        weights, summed over batch and time. float32 where all arguments of forward and both gradients are.

    Raises:
        ValueError: grad_hs or grad_cs has not the shape of hs.

    Source: Werbos 1990, applied to the LSTM; derived in README.md.

    Example:
        >>> weights = {"W_x": np.zeros((1, 4)), "W_h": np.zeros((1, 4)), "b": np.zeros(4)}
        >>> hs, cs, cache = lstm_forward(np.zeros((1, 3, 1)), np.zeros((1, 1)), np.array([[8.0]]), weights)
        >>> grad_cs = np.array([[[0.0], [0.0], [1.0]]])
        >>> grad_x, grad_h0, grad_c0, grad_weights = lstm_backward(np.zeros((1, 3, 1)), grad_cs, cache)
        >>> grad_c0  # 0.5 for every forget gate on the way
        array([[0.125]])
    """
    raise NotImplementedError("lstm_backward")


def gru_cell_forward(x, h, weights):
    """Return the next state of a GRU whose reset gate acts after the recurrent product.

    The columns of the weights hold the gates in the order r, z, n (reset, update, candidate):

        [r_x, z_x, n_x] = x W_x + b_x          three blocks of hidden columns
        [r_h, z_h, n_h] = h W_h + b_h
        r = sigmoid(r_x + r_h)
        z = sigmoid(z_x + z_h)
        n = tanh(n_x + r * n_h)
        h_next = (1 - z) * n + z * h           z = 1 keeps the state

    Args:
        x: inputs of one step, shape (batch, features).
        h: state before the step, shape (batch, hidden).
        weights: dict of "W_x" (features, 3 * hidden), "W_h" (hidden, 3 * hidden), "b_x" and "b_h" (3 * hidden,).

    Returns:
        (h_next, cache): h_next of shape (batch, hidden), also right where the sums are of size 1000, and whatever
        gru_cell_backward needs. float32 for float32 arguments.

    Raises:
        ValueError: x has not two axes, or h or a weight has not the shape above.

    Source: Cho et al. 2014, with the reset gate placed as in cuDNN and PyTorch.

    Example:
        >>> weights = {"W_x": np.zeros((1, 3)), "W_h": np.array([[0.0, 0.0, 1.0]])}
        >>> weights.update(b_x=np.array([0.0, 0.0, 1.0]), b_h=np.zeros(3))
        >>> h_next, cache = gru_cell_forward(np.array([[7.0]]), np.array([[2.0]]), weights)
        >>> h_next.round(4)  # n = tanh(1 + 0.5 * 2), and 0.5 * n + 0.5 * 2
        array([[1.482]])
    """
    raise NotImplementedError("gru_cell_forward")


def gru_cell_backward(grad_h_next, cache):
    """Return the gradients of a loss with respect to everything that went into gru_cell_forward.

    Args:
        grad_h_next: gradient of the loss with respect to h_next, shape (batch, hidden).
        cache: the cache that a forward call returned; it need not be the last call.

    Returns:
        (grad_x, grad_h, grad_weights): of the shapes of x and h, and a dict with the keys and shapes of weights,
        summed over the batch. float32 where all arguments of forward and grad_h_next are.

    Raises:
        ValueError: grad_h_next has not the shape of h_next.

    Source: the chain rule; derived in README.md.

    Example:
        >>> weights = {"W_x": np.zeros((1, 3)), "W_h": np.array([[0.0, 0.0, 1.0]])}
        >>> weights.update(b_x=np.array([0.0, 0.0, 1.0]), b_h=np.zeros(3))
        >>> h_next, cache = gru_cell_forward(np.array([[7.0]]), np.array([[2.0]]), weights)
        >>> grad_x, grad_h, grad_weights = gru_cell_backward(np.array([[1.0]]), cache)
        >>> grad_h.round(4)  # z = 0.5 straight, and 0.5 * (1 - 0.964**2) * 0.5 by way of the candidate
        array([[0.5177]])
    """
    raise NotImplementedError("gru_cell_backward")


def gru_forward(x, h0, weights):
    """Return the states of a GRU after every step of a batch of sequences.

    Args:
        x: shape (batch, time, features), at least one step long.
        h0: state before the first step, shape (batch, hidden).
        weights: as for gru_cell_forward; the same at every step.

    Returns:
        (hs, cache): hs of shape (batch, time, hidden), hs[:, t] being the state after step t; cache is whatever
        gru_backward needs. float32 for float32 arguments.

    Raises:
        ValueError: x has not three axes or no step, or h0 or a weight does not fit.

    Source: Cho et al. 2014, with the reset gate placed as in cuDNN and PyTorch.

    Example:
        >>> weights = {"W_x": np.zeros((1, 3)), "W_h": np.zeros((1, 3)), "b_x": np.zeros(3), "b_h": np.zeros(3)}
        >>> hs, cache = gru_forward(np.zeros((1, 3, 1)), np.array([[8.0]]), weights)
        >>> hs[0, :, 0]  # z is 0.5 and the candidate 0: half of the state is kept each time
        array([4., 2., 1.])
    """
    raise NotImplementedError("gru_forward")


def gru_backward(grad_hs, cache):
    """Return the gradients of a loss with respect to everything that went into gru_forward, back through all steps.

    Args:
        grad_hs: gradient of the loss with respect to hs, shape (batch, time, hidden).
        cache: the cache that a forward call returned; it need not be the last call.

    Returns:
        (grad_x, grad_h0, grad_weights): of the shapes of x and h0, and a dict with the keys and shapes of weights,
        summed over batch and time. float32 where all arguments of forward and grad_hs are.

    Raises:
        ValueError: grad_hs has not the shape of hs.

    Source: Werbos 1990, applied to the GRU; derived in README.md.

    Example:
        >>> weights = {"W_x": np.zeros((1, 3)), "W_h": np.zeros((1, 3)), "b_x": np.zeros(3), "b_h": np.zeros(3)}
        >>> hs, cache = gru_forward(np.zeros((1, 3, 1)), np.array([[8.0]]), weights)
        >>> grad_x, grad_h0, grad_weights = gru_backward(np.array([[[0.0], [0.0], [1.0]]]), cache)
        >>> grad_h0  # z at every step on the way
        array([[0.125]])
    """
    raise NotImplementedError("gru_backward")


def clip_gradients(grads, max_norm):
    """Return the gradients, shortened together so that their global norm is at most max_norm, and the norm they had.

    The global norm is that of all numbers of all arrays as one long vector. The direction of that vector stays.

    Args:
        grads: dict of arrays.
        max_norm: positive number.

    Returns:
        (clipped, norm): a dict with the keys, shapes and dtypes of grads, unchanged in value where the norm is at most
        max_norm, else each array multiplied by max_norm / norm; and the norm before clipping, a number. The squares are
        summed in float64, so that float32 gradients of size 1e30 do not overflow.

    Raises:
        ValueError: max_norm is not positive.

    Source: Pascanu, Mikolov and Bengio 2013, algorithm 1.

    Example:
        >>> clipped, norm = clip_gradients({"W": np.array([[3.0, 0.0]]), "b": np.array([4.0])}, max_norm=1.0)
        >>> norm, clipped["W"].round(4), clipped["b"].round(4)
        (5.0, array([[0.6, 0. ]]), array([0.8]))
    """
    raise NotImplementedError("clip_gradients")


def create_sequences(data, length, stride):
    """Return windows of a long series as inputs, and the same windows moved one step into the future as targets.

    Args:
        data: shape (steps,) or (steps, ...): numbers, token ids or feature vectors in the order of time.
        length: steps in a window, a positive integer.
        stride: steps from the start of one window to the start of the next, a positive integer.

    Returns:
        (inputs, targets): both of shape (windows, length, ...), of the dtype of data. Window k starts at k * stride:
        inputs[k] is data[k * stride : k * stride + length] and targets[k, t] is the element that follows inputs[k, t].
        There are as many windows as have all their targets in data; what is left over at the end is not used.

    Raises:
        ValueError: length or stride is not a positive integer, or data has fewer than length + 1 steps.

    Source: the usual preparation of next-step prediction; see README.md.

    Example:
        >>> inputs, targets = create_sequences(np.array([10, 11, 12, 13, 14, 15]), length=3, stride=2)
        >>> inputs.tolist(), targets.tolist()
        ([[10, 11, 12], [12, 13, 14]], [[11, 12, 13], [13, 14, 15]])
    """
    raise NotImplementedError("create_sequences")


def sequence_loss(logits, targets, mask):
    """Return the mean cross-entropy of the real tokens of a batch of sequences, and its gradient.

    Args:
        logits: scores of the classes, shape (batch, time, classes); any size, also 1000.
        targets: the right classes, integers of shape (batch, time); where the mask is False they may be anything.
        mask: None if all tokens are real, or boolean (or 0/1 integers) that broadcasts to (batch, time): True = a real
            token, False = padding.

    Returns:
        (loss, grad_logits): the mean over the real tokens of -log softmax(logits)[target], natural logarithm, a number;
        and the gradient of that mean with respect to logits, of their shape, exactly 0 at padding. Without any real
        token both are 0, never NaN. grad_logits is float32 for float32 logits.

    Raises:
        ValueError: logits has not three axes, targets is not (batch, time), mask does not broadcast to it, or the
            target of a real token is no class: below 0, from classes on, or between two of them, as 0.5. A float that
            is whole, as 2.0, is a class.

    Source: the cross-entropy of softmax, averaged over tokens; derived in README.md.

    Example:
        >>> logits = np.log(np.array([[[1.0, 3.0], [1.0, 1.0]]]))  # probabilities 0.25 and 0.75, then a half each
        >>> loss, grad_logits = sequence_loss(logits, np.array([[1, -1]]), np.array([[True, False]]))
        >>> round(float(loss), 4), grad_logits.round(4).tolist()  # -log 0.75; the second token is padding
        (0.2877, [[[0.25, -0.25], [0.0, 0.0]]])
    """
    raise NotImplementedError("sequence_loss")


class LSTM:
    """A layer that runs an LSTM over a batch of sequences, with its weights, their gradients and its last state.

    Args:
        num_inputs: features of each step, a positive integer.
        num_hidden: hidden units, a positive integer.
        rng: np.random.Generator that draws the weights. Generators of the same seed give the same weights.

    Attributes:
        params: dict of "W_x" (num_inputs, 4 * num_hidden), "W_h" (num_hidden, 4 * num_hidden) and "b"
            (4 * num_hidden,), gates in the order i, f, g, o. At first W_x is drawn with mean 0 and standard deviation
            1/sqrt(num_inputs), W_h with mean 0 and 1/sqrt(num_hidden); b is 1 for the forget gate and 0 for the others.
            forward reads the dict at each call, so it may be replaced whole.
        grads: dict with the keys and shapes of params, filled by backward; empty until then.
        state: (h, c) after the last step of the last forward call, each (batch, num_hidden); None until then.

    Raises:
        ValueError: num_inputs or num_hidden is not a positive integer.

    Source: Hochreiter and Schmidhuber 1997; the forget gate's bias: Jozefowicz, Zaremba and Sutskever 2015.

    Example:
        >>> layer = LSTM(3, 5, np.random.default_rng(0))
        >>> layer.forward(np.zeros((2, 4, 3))).shape, layer.state[0].shape, layer.params["b"].reshape(4, 5)[:, 0]
        ((2, 4, 5), (2, 5), array([0., 1., 0., 0.]))
    """

    def __init__(self, num_inputs, num_hidden, rng):
        raise NotImplementedError("LSTM.__init__")

    def forward(self, x, state=None):
        """Return the state after every step, shape (batch, time, num_hidden), and keep the last ones in state.

        Args:
            x: shape (batch, time, num_inputs).
            state: (h, c) to start from, each (batch, num_hidden), as the state attribute holds it; None starts from
                zeros, whatever was read before.

        Returns:
            Shape (batch, time, num_hidden). float32 for float32 x, params and state.

        Raises:
            ValueError: x is not (batch, time, num_inputs), or a part of state is not (batch, num_hidden).
        """
        raise NotImplementedError("LSTM.forward")

    def backward(self, grad_hs):
        """Return the gradient with respect to the last forward call's x, and put those of the parameters in grads.

        The state that forward started from counts as given: nothing is passed on to earlier calls.

        Args:
            grad_hs: gradient of the loss with respect to what forward returned, of its shape.

        Returns:
            Shape (batch, time, num_inputs). grads is replaced, not added to.

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_hs has not the shape of what forward returned.
        """
        raise NotImplementedError("LSTM.backward")

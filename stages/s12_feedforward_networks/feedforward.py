"""Feed-forward networks: initial weights, dense layers, batch normalisation, the loss, and training by mini-batches.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. In short:
the batch axis is first and the feature axis last; inputs are never changed; randomness comes only through rng; a layer
has forward and backward, `params` and `grads`.
"""

import numpy as np


def xavier_uniform(fan_in, fan_out, rng):
    """Draw weights that keep the size of signals in both directions, for tanh, sigmoid and linear layers.

    Args:
        fan_in: number of inputs of the layer.
        fan_out: number of its outputs.
        rng: np.random.Generator that draws.

    Returns:
        Shape (fan_in, fan_out), uniform between -limit and limit with limit = sqrt(6 / (fan_in + fan_out)). The
        variance is limit^2 / 3 = 2 / (fan_in + fan_out).

    Raises:
        ValueError: fan_in or fan_out is below 1.

    Source: Glorot and Bengio 2010, equation 16.

    Example:
        >>> weights = xavier_uniform(100, 50, np.random.default_rng(0))
        >>> weights.shape, bool(np.abs(weights).max() <= 0.2)
        ((100, 50), True)
    """
    raise NotImplementedError("xavier_uniform")


def he_normal(fan_in, fan_out, rng):
    """Draw weights that keep the size of signals through ReLU, which loses half of their power.

    Args:
        fan_in: number of inputs of the layer.
        fan_out: number of its outputs.
        rng: np.random.Generator that draws.

    Returns:
        Shape (fan_in, fan_out), normally distributed with mean 0 and standard deviation sqrt(2 / fan_in).

    Raises:
        ValueError: fan_in or fan_out is below 1.

    Source: He et al. 2015, equation 10.

    Example:
        >>> weights = he_normal(200, 50, np.random.default_rng(0))
        >>> weights.shape, round(float(weights.std()), 2)
        ((200, 50), 0.1)
    """
    raise NotImplementedError("he_normal")


class Dense:
    """A layer of neurons that each see every input: activation(x weights + bias).

    Args:
        num_inputs: number of input features.
        num_outputs: number of neurons, which is that of output features.
        activation: "relu", max(z, 0); "tanh"; "sigmoid", 1 / (1 + exp(-z)); or "linear", z itself.
        rng: np.random.Generator that draws the weights. Generators of the same seed give the same weights.

    Attributes:
        params: dict of "weights" (num_inputs, num_outputs) and "bias" (num_outputs,). At first the weights are
            distributed as those of he_normal for "relu" and of xavier_uniform for the other activations, the bias is
            zero. forward reads the dict at each call, so it may be replaced whole.
        grads: dict with the keys and shapes of params, filled by backward; empty until then.

    Raises:
        ValueError: activation is none of the four, or num_inputs or num_outputs is below 1.

    Example:
        >>> layer = Dense(2, 1, "relu", np.random.default_rng(0))
        >>> layer.params = {"weights": np.array([[1.0], [-2.0]]), "bias": np.array([0.5])}
        >>> layer.forward(np.array([[3.0, 1.0], [1.0, 3.0]]))
        array([[1.5],
               [0. ]])
    """

    def __init__(self, num_inputs, num_outputs, activation, rng):
        raise NotImplementedError("Dense.__init__")

    def forward(self, x):
        """Return activation(x weights + bias), every sample by itself.

        Args:
            x: shape (batch, num_inputs).

        Returns:
            Shape (batch, num_outputs), finite for every finite x weights + bias. float32 for float32 x and params.

        Raises:
            ValueError: x is not (batch, num_inputs).
        """
        raise NotImplementedError("Dense.forward")

    def backward(self, grad_output):
        """Return the gradient with respect to the last forward call's x, and put those of the parameters in grads.

        Args:
            grad_output: gradient of the loss with respect to the last output, shape (batch, num_outputs).

        Returns:
            Shape (batch, num_inputs). grads holds what this call alone found, as sums over the batch. The slope of
            ReLU at exactly 0 is taken as 0. float32 where grad_output, x and params are float32.

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last output.
        """
        raise NotImplementedError("Dense.backward")


def batch_norm_forward(x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5):
    """Normalise every feature: gamma * (x - mean) / sqrt(variance + eps) + beta.

    In training, mean and variance are those of the batch, feature by feature, and the running ones move towards them:
    running = momentum * running + (1 - momentum) * batch. Otherwise the running ones are used, and stay as they are.

    Args:
        x: shape (batch, features); in training at least 2 samples.
        gamma, beta: shape (features,), what the normalised features are scaled and shifted by.
        running_mean, running_var: shape (features,).
        training: whether the batch's own statistics are used.
        momentum: share of the running statistics that is kept.
        eps: keeps the division finite. Standard deviation + eps as the divisor is accepted as well.

    Returns:
        (output, running_mean, running_var, cache): the output has the shape of x, the running statistics are new
        values in training and those given otherwise, and the cache holds what batch_norm_backward needs, in a form of
        your own. The variance that normalises is divided by batch, not by batch - 1; the one that goes into running_var
        may be divided by either. A feature that is constant in the batch gives beta; a large mean does not spoil the
        variance. float32 for float32 arrays.

    Raises:
        ValueError: x is not (batch, features), or has fewer than 2 samples in training, or another array is not
            (features,).

    Source: Ioffe and Szegedy 2015, algorithms 1 and 2.

    Example:
        >>> ones, zeros = np.ones(1), np.zeros(1)
        >>> output, mean, var, _ = batch_norm_forward(np.array([[2.0], [6.0]]), ones, zeros, zeros, ones, True)
        >>> output.round(4).tolist(), mean.round(4).tolist()
        ([[-1.0], [1.0]], [0.4])
    """
    raise NotImplementedError("batch_norm_forward")


def batch_norm_backward(grad_output, cache):
    """Return the gradients of batch_norm_forward's x, gamma and beta.

    Args:
        grad_output: gradient of the loss with respect to the output, shape (batch, features).
        cache: what the forward call returned last.

    Returns:
        (grad_x, grad_gamma, grad_beta), shapes (batch, features), (features,), (features,); the last two are sums over
        the batch. In training every sample moves the batch's mean and variance; otherwise the statistics are constants.
        float32 for float32 arrays.

    Raises:
        ValueError: grad_output has not the shape of the output.

    Source: Ioffe and Szegedy 2015, section 3.

    Example:
        >>> ones, zeros = np.ones(1), np.zeros(1)
        >>> x = np.array([[1.0], [2.0], [6.0]])
        >>> *_, cache = batch_norm_forward(x, ones, zeros, zeros, ones, True)
        >>> batch_norm_backward(np.array([[1.0], [0.0], [0.0]]), cache)[0].round(3).tolist()
        [[0.176], [-0.22], [0.044]]
    """
    raise NotImplementedError("batch_norm_backward")


class NeuralNetwork:
    """Layers one after another, each working on the output of the one before.

    Args:
        layers: list of at least one Dense layer. Others with forward, backward, params and grads fit too if params and
            grads are gone through by whatever keys they have; only those of Dense are required.

    Attributes:
        layers: the list.

    Raises:
        ValueError: layers is empty.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> network = NeuralNetwork([Dense(2, 5, "tanh", rng), Dense(5, 3, "linear", rng)])
        >>> network.forward(np.ones((4, 2))).shape, sorted(network.params)
        ((4, 3), ['layers.0.bias', 'layers.0.weights', 'layers.1.bias', 'layers.1.weights'])
    """

    def __init__(self, layers):
        raise NotImplementedError("NeuralNetwork.__init__")

    def forward(self, x):
        """Return the output of the last layer.

        Args:
            x: shape (batch, inputs of the first layer).

        Raises:
            ValueError: what the layers refuse, as outputs of one layer that are not the inputs of the next.
        """
        raise NotImplementedError("NeuralNetwork.forward")

    def backward(self, grad_output):
        """Return the gradient with respect to the last forward call's x; the layers keep those of their parameters.

        Args:
            grad_output: gradient of the loss with respect to the last output, of its shape.

        Raises:
            RuntimeError: forward has not been called.
            ValueError: grad_output has not the shape of the last output.
        """
        raise NotImplementedError("NeuralNetwork.backward")

    @property
    def params(self):
        """All parameters as the layers hold them now, as "layers.0.weights", "layers.0.bias", "layers.1.weights".

        To replace some, set those of their layer: network.layers[0].params = {"weights": ..., "bias": ...}.
        """
        raise NotImplementedError("NeuralNetwork.params")

    @property
    def grads(self):
        """The gradients of the last backward call, with the keys of params; empty until then."""
        raise NotImplementedError("NeuralNetwork.grads")


def compute_loss(logits, targets):
    """Return the mean cross-entropy between softmax(logits) and the true classes.

    Args:
        logits: shape (batch, classes), any real numbers.
        targets: integers of shape (batch,), each from 0 to classes - 1.

    Returns:
        A number, the mean over the batch of -log(softmax(logits)[target]), with the natural logarithm. Logits of any
        finite size give a finite loss.

    Raises:
        ValueError: logits is not (batch, classes), targets is not (batch,), or a target is not a class: below 0, from
            classes on, or between two of them, as 0.5, which is not to be cut to 0. A float that is whole, as 2.0, is a
            class.

    Example:
        >>> round(float(compute_loss(np.array([[2.0, 0.0], [0.0, 0.0]]), np.array([0, 1]))), 4)
        0.41
    """
    raise NotImplementedError("compute_loss")


def compute_loss_gradient(logits, targets):
    """Return the gradient of compute_loss with respect to the logits: (softmax(logits) - one_hot(targets)) / batch.

    Args:
        logits: shape (batch, classes).
        targets: integers of shape (batch,), each from 0 to classes - 1.

    Returns:
        Shape (batch, classes); every row sums to 0. float32 for float32 logits.

    Raises:
        ValueError: logits is not (batch, classes), targets is not (batch,), or a target is not a class: below 0, from
            classes on, or between two of them, as 0.5, which is not to be cut to 0. A float that is whole, as 2.0, is a
            class.

    Example:
        >>> compute_loss_gradient(np.zeros((2, 2)), np.array([0, 1]))
        array([[-0.25,  0.25],
               [ 0.25, -0.25]])
    """
    raise NotImplementedError("compute_loss_gradient")


def train_step(network, X, y, learning_rate):
    """Take one step of gradient descent on one batch, and return the loss before it.

    Every parameter of every layer becomes parameter - learning_rate * gradient of the batch's loss; the network is
    changed, X and y are not.

    Args:
        network: a NeuralNetwork whose outputs are logits.
        X: shape (batch, inputs).
        y: integer classes of shape (batch,).
        learning_rate: size of the step.

    Returns:
        The mean cross-entropy of the batch before the step.

    Raises:
        ValueError: what the network and compute_loss refuse.

    Example:
        >>> network = NeuralNetwork([Dense(1, 2, "linear", np.random.default_rng(0))])
        >>> network.layers[0].params = {"weights": np.zeros((1, 2)), "bias": np.zeros(2)}
        >>> round(float(train_step(network, np.array([[2.0]]), np.array([0]), 1.0)), 4)
        0.6931
        >>> network.layers[0].params["weights"]
        array([[ 1., -1.]])
    """
    raise NotImplementedError("train_step")


def train(network, X, y, num_epochs, batch_size, learning_rate, rng):
    """Train a network by gradient descent on mini-batches, in place, and return how it went.

    Each epoch shuffles the samples anew, cuts them into batches of batch_size, of which the last may be smaller, and
    takes a train_step on each, so that every sample is used once an epoch.

    Args:
        network: a NeuralNetwork whose outputs are logits.
        X: shape (samples, inputs).
        y: integer classes of shape (samples,).
        num_epochs: how many times all samples are used.
        batch_size: samples a step, at least 1; it may exceed the number of samples.
        learning_rate: size of each step.
        rng: np.random.Generator that shuffles. Generators of the same seed give the same result.

    Returns:
        history, a dict of two lists with a number for each epoch: "loss", the mean over all samples of the loss that
        train_step returned for their batch, and "accuracy", the share of X that the network has right after the epoch
        (its largest logit is that of the true class).

    Raises:
        ValueError: batch_size is below 1, or X and y differ in length.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> network = NeuralNetwork([Dense(1, 2, "linear", rng)])
        >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
        >>> history = train(network, X, y, num_epochs=20, batch_size=2, learning_rate=0.5, rng=rng)
        >>> bool(history["loss"][-1] < history["loss"][0]), float(history["accuracy"][-1])
        (True, 1.0)
    """
    raise NotImplementedError("train")

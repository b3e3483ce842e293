"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own function as the default of `right`.
"""

import numpy as np

from grader.course.answers import mistake
from hidden.s12_feedforward_networks.solution import (
    _ACTIVATIONS,
    Dense,
    NeuralNetwork,
    _log_softmax,
    _require_shape,
    _require_sizes,
    _require_targets,
    batch_norm_backward,
    batch_norm_forward,
    compute_loss,
    compute_loss_gradient,
    he_normal,
    train,
    train_step,
    xavier_uniform,
)


@mistake(
    criterion="initial-weights",
    replaces="xavier_uniform",
    text="The weights are normally distributed: this is Xavier's normal variant.",
    fix="Draw with rng.uniform between -limit and limit, limit = sqrt(6 / (fan_in + fan_out)).",
)
def xavier_drawn_normal(fan_in, fan_out, rng):
    _require_sizes(fan_in, fan_out)
    return rng.standard_normal((fan_in, fan_out)) * np.sqrt(2 / (fan_in + fan_out))


@mistake(
    criterion="initial-weights",
    replaces="xavier_uniform",
    text="The standard deviation sqrt(2 / (fan_in + fan_out)) was taken for the limit: too small by sqrt(3).",
    fix="A uniform draw has the standard deviation limit / sqrt(3): take sqrt(6 / (fan_in + fan_out)).",
)
def xavier_limit_is_the_deviation(fan_in, fan_out, rng, right=xavier_uniform):
    return right(fan_in, fan_out, rng) / np.sqrt(3)


@mistake(
    criterion="initial-weights",
    replaces="xavier_uniform",
    text="The limit counts the inputs only.",
    fix="Divide 6 by fan_in + fan_out: gradients pass the layer the other way, and there the outputs are added up.",
)
def xavier_without_fan_out(fan_in, fan_out, rng, right=xavier_uniform):
    return right(fan_in, fan_out, rng) * np.sqrt((fan_in + fan_out) / (2 * fan_in))


@mistake(
    criterion="initial-weights",
    replaces="xavier_uniform",
    text="All weights are positive: they were drawn between 0 and the limit.",
    fix="Draw between -limit and limit, so that the mean is 0.",
)
def xavier_only_positive(fan_in, fan_out, rng, right=xavier_uniform):
    return np.abs(right(fan_in, fan_out, rng))


@mistake(
    criterion="initial-weights",
    replaces="he_normal",
    text="The variance 2 / fan_in was taken for the standard deviation.",
    fix="Multiply standard normal numbers by the square root of 2 / fan_in.",
)
def he_without_the_root(fan_in, fan_out, rng, right=he_normal):
    return right(fan_in, fan_out, rng) * np.sqrt(2 / fan_in)


@mistake(
    criterion="initial-weights",
    replaces="he_normal",
    text="The standard deviation is 1 / sqrt(fan_in): the 2 is missing that makes up for what ReLU cuts off.",
    fix="Use sqrt(2 / fan_in).",
)
def he_without_the_two(fan_in, fan_out, rng, right=he_normal):
    return right(fan_in, fan_out, rng) / np.sqrt(2)


@mistake(
    criterion="initial-weights",
    replaces="he_normal",
    text="The standard deviation counts the outputs in place of the inputs.",
    fix="Divide by fan_in, the number of products that a neuron adds up.",
)
def he_by_fan_out(fan_in, fan_out, rng, right=he_normal):
    return right(fan_in, fan_out, rng) * np.sqrt(fan_in / fan_out)


@mistake(
    criterion="dense-parameters",
    replaces="Dense.__init__",
    text="The weights are zeros: every neuron computes the same and gets the same gradient, for ever.",
    fix="Draw the weights, by he_normal for relu and by xavier_uniform otherwise; only the bias starts at zero.",
)
def weights_start_at_zero(self, num_inputs, num_outputs, activation, rng, right=Dense.__init__):
    right(self, num_inputs, num_outputs, activation, rng)
    self.params["weights"] = np.zeros((num_inputs, num_outputs))


@mistake(
    criterion="dense-parameters",
    replaces="Dense.__init__",
    text="The weights have the shape (num_outputs, num_inputs).",
    fix="Here x stands on the left, x @ weights: the shape is (num_inputs, num_outputs).",
)
def weights_of_the_other_shape(self, num_inputs, num_outputs, activation, rng, right=Dense.__init__):
    right(self, num_outputs, num_inputs, activation, rng)
    self.params["bias"] = np.zeros(num_outputs)


@mistake(
    criterion="dense-parameters",
    replaces="Dense.__init__",
    text="The weights are those of he_normal whatever the activation.",
    fix="Only relu cuts half of its input off. Use xavier_uniform for tanh, sigmoid and linear.",
)
def he_for_every_activation(self, num_inputs, num_outputs, activation, rng, right=Dense.__init__):
    right(self, num_inputs, num_outputs, activation, np.random.default_rng(0))
    self.params["weights"] = he_normal(num_inputs, num_outputs, rng)


@mistake(
    criterion="dense-parameters",
    replaces="Dense.__init__",
    text="The weights are those of xavier_uniform whatever the activation.",
    fix="relu cuts half of its input off: use he_normal, which makes up for that.",
)
def xavier_for_every_activation(self, num_inputs, num_outputs, activation, rng, right=Dense.__init__):
    right(self, num_inputs, num_outputs, activation, np.random.default_rng(0))
    self.params["weights"] = xavier_uniform(num_inputs, num_outputs, rng)


@mistake(
    criterion="dense-parameters",
    replaces="Dense.__init__",
    text="The weights have a standard deviation of 1, however many inputs there are.",
    fix="Draw them by he_normal or xavier_uniform, which make weights smaller the more inputs a neuron adds up.",
)
def weights_of_size_one(self, num_inputs, num_outputs, activation, rng, right=Dense.__init__):
    right(self, num_inputs, num_outputs, activation, np.random.default_rng(0))
    self.params["weights"] = rng.standard_normal((num_inputs, num_outputs))


@mistake(
    criterion="dense-parameters",
    replaces="Dense.__init__",
    text="The bias was drawn at random.",
    fix="Start the bias at zeros; the weights are enough to tell the neurons apart.",
)
def bias_drawn_at_random(self, num_inputs, num_outputs, activation, rng, right=Dense.__init__):
    right(self, num_inputs, num_outputs, activation, rng)
    self.params["bias"] = rng.standard_normal(num_outputs)


@mistake(
    criterion="dense-forward",
    replaces="Dense.forward",
    text="The bias was left out.",
    fix="Add params['bias'] to the product: it is broadcast to every row.",
)
def bias_left_out(self, x):
    _require_shape("x", x, (len(x), len(self.params["weights"])))
    output = _ACTIVATIONS[self._activation][0](x @ self.params["weights"])
    self._cache = x, output
    return output


@mistake(
    criterion="dense-forward",
    replaces="Dense.forward",
    text="The bias was added after the activation.",
    fix="The activation comes last: activation(x weights + bias).",
)
def bias_after_activation(self, x):
    _require_shape("x", x, (len(x), len(self.params["weights"])))
    output = _ACTIVATIONS[self._activation][0](x @ self.params["weights"]) + self.params["bias"]
    self._cache = x, output
    return output


@mistake(
    criterion="dense-forward",
    replaces="Dense.forward",
    text="No activation was applied: every layer is linear.",
    fix="Apply the layer's activation to x weights + bias before you return it.",
)
def activation_left_out(self, x, right=Dense.forward):
    kept, self._activation = self._activation, "linear"
    try:
        return right(self, x)
    finally:
        self._activation = kept


@mistake(
    criterion="dense-forward",
    replaces="Dense.forward",
    text="The sigmoid was computed as exp(z) / (1 + exp(z)), which is NaN for a large z: infinity over infinity.",
    fix="Use a form that cannot overflow, as (1 + tanh(z / 2)) / 2.",
)
def sigmoid_overflows(self, x, right=Dense.forward):
    output = right(self, x)
    if self._activation == "sigmoid":
        powers = np.exp(x @ self.params["weights"] + self.params["bias"])
        output = powers / (1 + powers)
        self._cache = x, output
    return output


@mistake(
    criterion="dense-forward",
    replaces="Dense.forward",
    text="relu lets a hundredth of the negative numbers through: that is leaky ReLU.",
    fix="relu is max(z, 0).",
)
def relu_leaks(self, x, right=Dense.forward):
    output = right(self, x)
    if self._activation == "relu":
        z = x @ self.params["weights"] + self.params["bias"]
        output = np.where(z > 0, z, 0.01 * z)
        self._cache = x, output
    return output


@mistake(
    criterion="dense-forward",
    replaces="Dense.forward",
    text="x was multiplied by the transposed weights.",
    fix="Use the matrix as it is, x @ weights: its row i belongs to input i.",
)
def weights_transposed(self, x):
    _require_shape("x", x, (len(x), len(self.params["weights"])))
    output = _ACTIVATIONS[self._activation][0](x @ self.params["weights"].T + self.params["bias"])
    self._cache = x, output
    return output


@mistake(
    criterion="dense-forward",
    replaces="Dense.forward",
    text="The layer goes on with the parameters of its first call: what is set later has no effect.",
    fix="Read self.params at each call of forward, and keep no copy.",
)
def parameters_of_first_call_kept(self, x, right=Dense.forward):
    if not hasattr(self, "_first"):
        self._first = self.params
    now, self.params = self.params, self._first
    try:
        return right(self, x)
    finally:
        self.params = now


@mistake(
    criterion="dense-backward",
    replaces="Dense.backward",
    text="The slope of the activation is missing, or is 1 everywhere: the gradient passed as if the layer were linear.",
    fix="Multiply grad_output by the slope at the last output before anything else.",
)
def slope_left_out(self, grad_output, right=Dense.backward):
    kept, self._activation = self._activation, "linear"
    try:
        return right(self, grad_output)
    finally:
        self._activation = kept


@mistake(
    criterion="dense-backward",
    replaces="Dense.backward",
    text="The gradients were added to those of the backward call before.",
    fix="Fill grads with a new dict at each call.",
)
def gradients_accumulated(self, grad_output, right=Dense.backward):
    before = self.grads
    grad_x = right(self, grad_output)
    self.grads = {name: value + before.get(name, 0) for name, value in self.grads.items()}
    return grad_x


@mistake(
    criterion="dense-backward",
    replaces="Dense.backward",
    text="The gradients of the parameters were divided by the batch size.",
    fix="Add them up over the batch: the loss has divided by the batch size already.",
)
def gradients_averaged(self, grad_output, right=Dense.backward):
    grad_x = right(self, grad_output)
    self.grads = {name: value / len(grad_output) for name, value in self.grads.items()}
    return grad_x


@mistake(
    criterion="dense-backward",
    replaces="Dense.backward",
    text="grads stayed empty where the numbers were float32.",
    fix="Fill grads at each call, whatever the dtype of the numbers.",
)
def no_gradients_of_float32(self, grad_output, right=Dense.backward):
    grad_x = right(self, grad_output)
    self.grads = self.grads if grad_x.dtype == np.float64 else {}
    return grad_x


@mistake(
    criterion="dense-backward",
    replaces="Dense.backward",
    text="The gradient of the bias has a row for each sample.",
    fix="The bias was added to every row, so its gradient is the sum over the rows: axis 0.",
)
def bias_gradient_not_summed(self, grad_output, right=Dense.backward):
    grad_x = right(self, grad_output)
    slope = _ACTIVATIONS[self._activation][1](self._cache[1])
    self.grads["bias"] = grad_output * slope
    return grad_x


@mistake(
    criterion="dense-backward",
    replaces="Dense.backward",
    text="The slope of relu at exactly 0 was taken as 1.",
    fix="Let the gradient through where z > 0, not where z >= 0.",
)
def relu_passes_at_zero(self, grad_output, right=Dense.backward):
    if self._cache is None or self._activation != "relu":
        return right(self, grad_output)
    x, output = self._cache
    z = x @ self.params["weights"] + self.params["bias"]
    self._cache = x, np.where(z >= 0, 1.0, 0.0)
    grad_x = right(self, grad_output)
    self._cache = x, output
    return grad_x


@mistake(
    criterion="dense-backward",
    replaces="Dense.backward",
    text="The slope of relu was 1 everywhere: perhaps its output was compared with >= 0, which holds for all of it.",
    fix="Let the gradient through where the output is > 0; below and at 0 the slope is 0.",
)
def slope_of_relu_always_one(self, grad_output, right=Dense.backward):
    kept, self._activation = self._activation, "linear" if self._activation == "relu" else self._activation
    try:
        return right(self, grad_output)
    finally:
        self._activation = kept


@mistake(
    criterion="dense-backward",
    replaces="Dense.backward",
    text="The slopes were taken at the output as if it were z: activation was applied twice.",
    fix="With a the output, tanh has the slope 1 - a^2 and sigmoid a (1 - a); neither function is applied to a again.",
)
def activation_applied_twice(self, grad_output, right=Dense.backward):
    if self._cache is None:
        return right(self, grad_output)
    x, output = self._cache
    self._cache = x, _ACTIVATIONS[self._activation][0](output)
    try:
        return right(self, grad_output)
    finally:
        self._cache = x, output


@mistake(
    criterion="dense-backward",
    replaces="Dense.backward",
    text="tanh was taken again of the output, 1 - tanh(a)^2, where the output a is tanh(z) already.",
    fix="With a the output, the slope of tanh is 1 - a^2.",
)
def tanh_applied_twice(self, grad_output, right=Dense.backward):
    if self._cache is None or self._activation != "tanh":
        return right(self, grad_output)
    x, output = self._cache
    self._cache = x, np.tanh(output)
    try:
        return right(self, grad_output)
    finally:
        self._cache = x, output


@mistake(
    criterion="dense-backward",
    replaces="Dense.backward",
    text="The gradient that was returned did not pass the activation: only those of the parameters did.",
    fix="grad_x is the same grad_z as for the parameters, times the transposed weights.",
)
def slope_missing_in_grad_x(self, grad_output, right=Dense.backward):
    right(self, grad_output)
    return grad_output @ self.params["weights"].T


@mistake(
    criterion="batch-norm-training",
    replaces="batch_norm_forward",
    text="Each sample was normalised over its features: that is layer normalisation.",
    fix="Take mean and variance along axis 0, over the samples, one of each for every feature.",
)
def normalised_over_features(
    x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5, right=batch_norm_forward
):
    output, mean, var, cache = right(x, gamma, beta, running_mean, running_var, training, momentum, eps)
    if training:
        deviation = np.sqrt(x.var(axis=1, keepdims=True) + eps)
        output = gamma * (x - x.mean(axis=1, keepdims=True)) / deviation + beta
    return output, mean, var, cache


@mistake(
    criterion="batch-norm-training",
    replaces="batch_norm_forward",
    text="Each sample was normalised over its features, and the running statistics moved towards those of the samples.",
    fix="Take mean and variance along axis 0, over the samples: axis 1 is layer normalisation.",
)
def normalised_and_kept_over_features(
    x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5, right=batch_norm_forward
):
    output, mean, var, cache = right(x, gamma, beta, running_mean, running_var, training, momentum, eps)
    if training:
        of_samples, spread = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
        output = gamma * (x - of_samples) / np.sqrt(spread + eps) + beta
        mean = momentum * running_mean + (1 - momentum) * of_samples
        var = momentum * running_var + (1 - momentum) * spread
    return output, mean, var, cache


@mistake(
    criterion="batch-norm-training",
    replaces="batch_norm_forward",
    text="One mean and one variance were taken for the whole batch, so features of different sizes stay different.",
    fix="Take mean and variance along axis 0: one of each for every feature.",
)
def normalised_as_a_whole(
    x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5, right=batch_norm_forward
):
    output, mean, var, cache = right(x, gamma, beta, running_mean, running_var, training, momentum, eps)
    if training:
        output = gamma * (x - x.mean()) / np.sqrt(x.var() + eps) + beta
    return output, mean, var, cache


@mistake(
    criterion="batch-norm-training",
    replaces="batch_norm_forward",
    text="The variance that normalises was divided by batch - 1.",
    fix="Divide it by the batch size, as x.var(axis=0) does.",
)
def variance_over_one_less(
    x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5, right=batch_norm_forward
):
    output, mean, var, cache = right(x, gamma, beta, running_mean, running_var, training, momentum, eps)
    if training:
        output = gamma * (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0, ddof=1) + eps) + beta
    return output, mean, var, cache


@mistake(
    criterion="batch-norm-training",
    replaces="batch_norm_forward",
    text="The features were divided by their variance, without the root.",
    fix="Divide by sqrt(variance + eps).",
)
def divided_by_variance(
    x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5, right=batch_norm_forward
):
    output, mean, var, cache = right(x, gamma, beta, running_mean, running_var, training, momentum, eps)
    if training:
        output = gamma * (x - x.mean(axis=0)) / (x.var(axis=0) + eps) + beta
    return output, mean, var, cache


@mistake(
    criterion="batch-norm-training",
    replaces="batch_norm_forward",
    text="The variance is mean of squares minus square of mean, which cancels to noise for a large mean.",
    fix="Take the mean of (x - mean)^2.",
)
def variance_by_cancellation(
    x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5, right=batch_norm_forward
):
    output, mean, var, cache = right(x, gamma, beta, running_mean, running_var, training, momentum, eps)
    if training:
        variance = np.maximum((x**2).mean(axis=0) - x.mean(axis=0) ** 2, 0)
        output = gamma * (x - x.mean(axis=0)) / np.sqrt(variance + eps) + beta
    return output, mean, var, cache


@mistake(
    criterion="batch-norm-training",
    replaces="batch_norm_forward",
    text="gamma and beta have no effect.",
    fix="The output is gamma * normalised + beta.",
)
def gamma_and_beta_left_out(
    x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5, right=batch_norm_forward
):
    _, mean, var, cache = right(x, gamma, beta, running_mean, running_var, training, momentum, eps)
    return cache[0], mean, var, cache


@mistake(
    criterion="batch-norm-training",
    replaces="batch_norm_forward",
    text="eps is missing: a feature that is constant in the batch becomes NaN.",
    fix="Add eps to the variance before taking the root.",
)
def eps_left_out(x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5, right=batch_norm_forward):
    return right(x, gamma, beta, running_mean, running_var, training, momentum, 0.0)


@mistake(
    criterion="batch-norm-training",
    replaces="batch_norm_forward",
    text="The argument eps has no effect: 1e-5 was added whatever was passed.",
    fix="Add eps itself; 1e-5 is its default.",
)
def eps_fixed(x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5, right=batch_norm_forward):
    return right(x, gamma, beta, running_mean, running_var, training, momentum, 1e-5)


@mistake(
    criterion="batch-norm-running",
    replaces="batch_norm_forward",
    text="The shares are the wrong way round: momentum was given to the batch, and the rest to the running statistics.",
    fix="running = momentum * running + (1 - momentum) * batch; PyTorch has it the other way round.",
)
def momentum_for_the_batch(
    x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5, right=batch_norm_forward
):
    return right(x, gamma, beta, running_mean, running_var, training, 1 - momentum, eps)


@mistake(
    criterion="batch-norm-running",
    replaces="batch_norm_forward",
    text="In evaluation the batch was normalised by its own statistics.",
    fix="Where training is False, use running_mean and running_var as they were given.",
)
def batch_statistics_in_evaluation(
    x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5, right=batch_norm_forward
):
    output, mean, var, cache = right(x, gamma, beta, running_mean, running_var, training, momentum, eps)
    if not training:
        output = gamma * (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + eps) + beta
    return output, mean, var, cache


@mistake(
    criterion="batch-norm-running",
    replaces="batch_norm_forward",
    text="The running statistics moved in evaluation as well.",
    fix="Return them unchanged where training is False: a model that is used must not change.",
)
def running_moves_in_evaluation(
    x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5, right=batch_norm_forward
):
    output, mean, var, cache = right(x, gamma, beta, running_mean, running_var, training, momentum, eps)
    if not training:
        mean = momentum * running_mean + (1 - momentum) * x.mean(axis=0)
        var = momentum * running_var + (1 - momentum) * x.var(axis=0)
    return output, mean, var, cache


@mistake(
    criterion="batch-norm-running",
    replaces="batch_norm_forward",
    text="In training the batch was normalised by the running statistics, as they are after moving.",
    fix="Where training is True, normalise by the batch's own mean and variance; the running ones are for later.",
)
def running_statistics_in_training(
    x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5, right=batch_norm_forward
):
    output, mean, var, cache = right(x, gamma, beta, running_mean, running_var, training, momentum, eps)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta, mean, var, cache


@mistake(
    criterion="batch-norm-running",
    replaces="batch_norm_forward",
    text="running_var was moved towards the standard deviation of the batch.",
    fix="Move it towards the variance.",
)
def running_deviation_kept(
    x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5, right=batch_norm_forward
):
    output, mean, var, cache = right(x, gamma, beta, running_mean, running_var, training, momentum, eps)
    return output, mean, momentum * running_var + (1 - momentum) * x.std(axis=0) if training else var, cache


@mistake(
    criterion="batch-norm-running",
    replaces="batch_norm_forward",
    text="The running statistics were returned as they came, also in training.",
    fix="In training return new ones: momentum * running + (1 - momentum) * batch.",
)
def running_never_moves(
    x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5, right=batch_norm_forward
):
    output, _, _, cache = right(x, gamma, beta, running_mean, running_var, training, momentum, eps)
    return output, running_mean, running_var, cache


@mistake(
    criterion="batch-norm-backward",
    replaces="batch_norm_backward",
    text="Mean and variance of the batch were taken for constants, but every sample moves them.",
    fix="In training subtract mean(g) and n * mean(g * n) from the gradient g, with n the normalised x.",
)
def statistics_taken_for_constants(grad_output, cache, right=batch_norm_backward):
    return right(grad_output, (*cache[:2], False))


@mistake(
    criterion="batch-norm-backward",
    replaces="batch_norm_backward",
    text="The gradient through the variance is missing: only the mean was taken along.",
    fix="In training subtract normalised * mean(g * normalised) as well, the mean over the batch.",
)
def variance_taken_for_a_constant(grad_output, cache, right=batch_norm_backward):
    normalized, scale, training = cache
    grad_x, grad_gamma, grad_beta = right(grad_output, cache)
    if training:
        grad_x = (grad_output - grad_output.mean(axis=0)) * scale
    return grad_x, grad_gamma, grad_beta


@mistake(
    criterion="batch-norm-backward",
    replaces="batch_norm_backward",
    text="The formula of training was used for evaluation, where mean and variance are constants.",
    fix="Keep in the cache whether forward was training; if not, grad_x is gamma / deviation * grad_output.",
)
def training_formula_in_evaluation(grad_output, cache, right=batch_norm_backward):
    return right(grad_output, (*cache[:2], True))


@mistake(
    criterion="batch-norm-backward",
    replaces="batch_norm_backward",
    text="The gradients of gamma and beta are means over the batch.",
    fix="Add them up over the batch.",
)
def parameter_gradients_averaged(grad_output, cache, right=batch_norm_backward):
    grad_x, grad_gamma, grad_beta = right(grad_output, cache)
    return grad_x, grad_gamma / len(grad_output), grad_beta / len(grad_output)


@mistake(
    criterion="batch-norm-backward",
    replaces="batch_norm_backward",
    text="The gradients of gamma and beta changed places.",
    fix="gamma gets the sum of grad_output * normalised, beta the sum of grad_output.",
)
def gamma_and_beta_swapped(grad_output, cache, right=batch_norm_backward):
    grad_x, grad_gamma, grad_beta = right(grad_output, cache)
    return grad_x, grad_beta, grad_gamma


@mistake(
    criterion="network-forward",
    replaces="NeuralNetwork.forward",
    text="A softmax was applied to the output of the last layer.",
    fix="Return the last layer's output as it is: the loss takes logits, and does the softmax itself.",
)
def softmax_at_the_end(self, x, right=NeuralNetwork.forward):
    return np.exp(_log_softmax(right(self, x)))


@mistake(
    criterion="network-forward",
    replaces="NeuralNetwork.forward",
    text="The output is that of the layer before the last.",
    fix="Let x go through all layers, the last one included.",
)
def last_layer_left_out(self, x):
    for layer in self.layers[:-1]:
        x = layer.forward(x)
    self.layers[-1].forward(x)
    return x


@mistake(
    criterion="network-forward",
    replaces="NeuralNetwork.forward",
    text="The layers were gone through from the last to the first.",
    fix="forward begins with layer 0; the reversed order belongs to backward.",
)
def layers_reversed(self, x):
    for layer in reversed(self.layers):
        x = layer.forward(x)
    return x


@mistake(
    criterion="network-forward",
    replaces="NeuralNetwork.forward",
    text="Every layer was given the network's input.",
    fix="Each layer takes the output of the one before: x = layer.forward(x).",
)
def every_layer_gets_the_input(self, x):
    for layer in self.layers:
        output = layer.forward(x)
    return output


@mistake(
    criterion="network-forward",
    replaces="NeuralNetwork.__init__",
    text="params is a copy made when the network was built: it does not show what the layers hold now.",
    fix="Make params a property, which puts the layers' dicts together each time it is read.",
)
def params_copied_at_the_start(self, layers, right=NeuralNetwork.__init__):
    right(self, layers)
    start = self.params
    self.__class__ = type("NeuralNetwork", (NeuralNetwork,), {"params": property(lambda network: start)})


@mistake(
    criterion="network-backward",
    replaces="NeuralNetwork.backward",
    text="The layers were gone through from the first to the last.",
    fix="The gradient enters at the output: start with the last layer.",
)
def backward_in_forward_order(self, grad_output):
    for layer in self.layers:
        grad_output = layer.backward(grad_output)
    return grad_output


@mistake(
    criterion="network-backward",
    replaces="NeuralNetwork.backward",
    text="The gradient of x is missing: backward returned nothing.",
    fix="Return what the first layer's backward gives.",
)
def nothing_returned(self, grad_output, right=NeuralNetwork.backward):
    right(self, grad_output)


@mistake(
    criterion="network-backward",
    replaces="NeuralNetwork.backward",
    text="backward stopped before the first layer, which gets no gradients.",
    fix="Go on to layer 0, and return what its backward gives.",
)
def first_layer_left_out(self, grad_output):
    for layer in reversed(self.layers[1:]):
        grad_output = layer.backward(grad_output)
    return grad_output


@mistake(
    criterion="network-backward",
    replaces="NeuralNetwork.backward",
    text="backward returned the gradient that the first layer was given, not the one that it gave.",
    fix="Return the result of the last call of backward in the loop.",
)
def gradient_of_the_first_output(self, grad_output):
    for layer in reversed(self.layers):
        before, grad_output = grad_output, layer.backward(grad_output)
    return before


@mistake(
    criterion="loss",
    replaces="compute_loss",
    text="The losses of the batch were added up.",
    fix="Return their mean, so that the loss does not grow with the batch.",
)
def losses_added_up(logits, targets, right=compute_loss):
    return right(logits, targets) * len(targets)


@mistake(
    criterion="loss",
    replaces="compute_loss",
    text="A target between two classes, as 0.5, was accepted: astype(int) cuts it to the class below.",
    fix="Raise ValueError unless every target is one of the integers from 0 to classes - 1.",
)
def fractions_of_targets_cut(logits, targets, right=compute_loss):
    return right(logits, targets.astype(int))


@mistake(
    criterion="loss",
    replaces="compute_loss",
    text="Classes that came as floats, as 2.0, were used as an index, which NumPy refuses.",
    fix="Turn the targets into integers, after the check: targets.astype(int).",
)
def floats_as_an_index(logits, targets):
    _require_targets(logits, targets)
    return -_log_softmax(logits)[np.arange(len(targets)), targets].mean()


@mistake(
    criterion="loss",
    replaces="compute_loss",
    text="The largest logit was looked for from -1e9 on: where all are lower, their exponentials are all 0.",
    fix="Subtract the largest logit itself, or begin with -np.inf.",
)
def largest_logit_from_a_finite_number(logits, targets):
    classes = _require_targets(logits, targets)
    shifted = logits - logits.max(axis=1, keepdims=True, initial=-1e9)
    with np.errstate(divide="ignore"):
        log_shares = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return -log_shares[np.arange(len(classes)), classes].mean()


@mistake(
    criterion="loss",
    replaces="compute_loss",
    text="The minus sign is missing: the loss is negative.",
    fix="The loss is minus the logarithm of the probability.",
)
def minus_left_out(logits, targets, right=compute_loss):
    return -right(logits, targets)


@mistake(
    criterion="loss",
    replaces="compute_loss",
    text="The loss of a sample was divided by the number of classes too.",
    fix="Take the mean over the samples only: each has one true class.",
)
def divided_by_classes_too(logits, targets, right=compute_loss):
    return right(logits, targets) / logits.shape[1]


@mistake(
    criterion="loss",
    replaces="compute_loss",
    text="The softmax overflowed: exp of a large logit is infinite, and infinity over infinity NaN.",
    fix="Subtract each row's maximum from its logits first; softmax stays the same.",
)
def softmax_overflows(logits, targets):
    _require_targets(logits, targets)
    powers = np.exp(logits)
    probabilities = powers / powers.sum(axis=1, keepdims=True)
    return -np.log(probabilities[np.arange(len(targets)), targets]).mean()


@mistake(
    criterion="loss",
    replaces="compute_loss",
    text="A probability that underflowed to 0 gave an infinite loss: the logarithm was taken after the softmax.",
    fix="Take both at once: log softmax = z - max - log(sum of exp(z - max)).",
)
def logarithm_of_zero(logits, targets):
    _require_targets(logits, targets)
    probabilities = np.exp(_log_softmax(logits))
    return -np.log(probabilities[np.arange(len(targets)), targets]).mean()


@mistake(
    criterion="loss",
    replaces="compute_loss",
    text="Indexing with logits[:, targets] picked a column for each sample from every row, and averaged all of them.",
    fix="Pick one number a row: log_p[np.arange(len(targets)), targets].",
)
def columns_of_all_targets(logits, targets):
    _require_targets(logits, targets)
    return -_log_softmax(logits)[:, targets].mean()


@mistake(
    criterion="loss-gradient",
    replaces="compute_loss_gradient",
    text="The division by the batch size is missing.",
    fix="The loss is a mean over the batch: divide its gradient by the batch size as well.",
)
def gradient_not_divided(logits, targets, right=compute_loss_gradient):
    return right(logits, targets) * len(targets)


@mistake(
    criterion="loss-gradient",
    replaces="compute_loss_gradient",
    text="The sign is wrong: this is one_hot - softmax, the way down and not the gradient.",
    fix="The gradient is (softmax - one_hot) / batch.",
)
def truth_minus_probability(logits, targets, right=compute_loss_gradient):
    return -right(logits, targets)


@mistake(
    criterion="loss-gradient",
    replaces="compute_loss_gradient",
    text="The true classes were not subtracted: these are the probabilities, over the batch size.",
    fix="Subtract 1 at each sample's own class before dividing.",
)
def truth_not_subtracted(logits, targets):
    _require_targets(logits, targets)
    return np.exp(_log_softmax(logits)) / len(targets)


@mistake(
    criterion="loss-gradient",
    replaces="compute_loss_gradient",
    text="1 was subtracted in the columns of all targets, in every row.",
    fix="Subtract at one place a row: grad[np.arange(len(targets)), targets] -= 1.",
)
def subtracted_in_whole_columns(logits, targets):
    _require_targets(logits, targets)
    grad = np.exp(_log_softmax(logits))
    grad[:, targets] -= 1
    return grad / len(targets)


@mistake(
    criterion="loss-gradient",
    replaces="compute_loss_gradient",
    text="The softmax was taken back a second time: its Jacobian was applied to softmax - one_hot.",
    fix="softmax - one_hot is the gradient with respect to the logits already; nothing more is to be multiplied.",
)
def softmax_taken_back_twice(logits, targets, right=compute_loss_gradient):
    grad, probabilities = right(logits, targets), np.exp(_log_softmax(logits))
    return probabilities * (grad - (grad * probabilities).sum(axis=1, keepdims=True))


@mistake(
    criterion="train-step",
    replaces="train_step",
    text="The step went up the gradient: the parameters grew by learning_rate * gradient.",
    fix="Subtract learning_rate * gradient.",
)
def step_uphill(network, X, y, learning_rate, right=train_step):
    return right(network, X, y, -learning_rate)


@mistake(
    criterion="train-step",
    replaces="train_step",
    text="The loss was computed after the step.",
    fix="Return the loss of the forward pass that the step was made from.",
)
def loss_after_the_step(network, X, y, learning_rate, right=train_step):
    right(network, X, y, learning_rate)
    return compute_loss(network.forward(X), y)


@mistake(
    criterion="train-step",
    replaces="train_step",
    text="The gradients were divided by the batch size once more.",
    fix="compute_loss_gradient is that of a mean already: subtract learning_rate * gradient.",
)
def divided_by_the_batch_again(network, X, y, learning_rate, right=train_step):
    return right(network, X, y, learning_rate / len(X))


@mistake(
    criterion="train-step",
    replaces="train_step",
    text="Only the weights took the step; the biases stayed.",
    fix="Change every entry of each layer's params, the bias too.",
)
def biases_not_trained(network, X, y, learning_rate, right=train_step):
    biases = [layer.params["bias"] for layer in network.layers]
    loss = right(network, X, y, learning_rate)
    for layer, bias in zip(network.layers, biases, strict=True):
        layer.params = {**layer.params, "bias": bias}
    return loss


@mistake(
    criterion="train-step",
    replaces="train_step",
    text="The first layer did not take the step.",
    fix="Change the params of every layer, from the first to the last.",
)
def first_layer_not_trained(network, X, y, learning_rate, right=train_step):
    kept = network.layers[0].params
    loss = right(network, X, y, learning_rate)
    network.layers[0].params = kept
    return loss


@mistake(
    criterion="train-step",
    replaces="train_step",
    text="Nothing was changed: the step was computed and never written back to the layers.",
    fix="Set layer.params to the new dict.",
)
def step_not_written_back(network, X, y, learning_rate, right=train_step):
    return right(network, X, y, 0.0)


@mistake(
    criterion="train",
    replaces="train",
    text="The samples were not shuffled: every epoch takes them in the order in which they came.",
    fix="Draw order = rng.permutation(len(X)) at the start of each epoch, and take the batches from it.",
)
def samples_not_shuffled(network, X, y, num_epochs, batch_size, learning_rate, rng, right=train):
    class _Unmoved:
        def permutation(self, number):
            return np.arange(number)

    return right(network, X, y, num_epochs, batch_size, learning_rate, _Unmoved())


@mistake(
    criterion="train",
    replaces="train",
    text="The samples were shuffled once, and every epoch took them in that same order.",
    fix="Draw the permutation inside the loop over epochs.",
)
def shuffled_only_once(network, X, y, num_epochs, batch_size, learning_rate, rng, right=train):
    class _Once:
        order = rng.permutation(len(X))

        def permutation(self, number):
            return self.order

    return right(network, X, y, num_epochs, batch_size, learning_rate, _Once())


@mistake(
    criterion="train",
    replaces="train",
    text="X was shuffled without y: samples have lost their classes.",
    fix="Index both with the same order: X[batch], y[batch].",
)
def classes_not_shuffled_along(network, X, y, num_epochs, batch_size, learning_rate, rng):
    if batch_size < 1 or len(X) != len(y):
        raise ValueError("batch_size, X, y")
    history = {"loss": [], "accuracy": []}
    for _ in range(num_epochs):
        order, total = rng.permutation(len(X)), 0
        for start in range(0, len(X), batch_size):
            batch = order[start : start + batch_size]
            classes = y[start : start + batch_size]
            total += len(batch) * train_step(network, X[batch], classes, learning_rate)
        history["loss"].append(total / len(X))
        history["accuracy"].append((network.forward(X).argmax(axis=1) == y).mean())
    return history


@mistake(
    criterion="train",
    replaces="train",
    text="The last batch was dropped where it is smaller than the others.",
    fix="Let range go up to len(X): a slice beyond the end is shorter, not an error.",
)
def short_batch_dropped(network, X, y, num_epochs, batch_size, learning_rate, rng):
    if batch_size < 1 or len(X) != len(y):
        raise ValueError("batch_size, X, y")
    history, size = {"loss": [], "accuracy": []}, min(batch_size, len(X))
    for _ in range(num_epochs):
        order, losses = rng.permutation(len(X)), []
        for start in range(0, len(X) - size + 1, size):
            batch = order[start : start + size]
            losses.append(train_step(network, X[batch], y[batch], learning_rate))
        history["loss"].append(np.mean(losses))
        history["accuracy"].append((network.forward(X).argmax(axis=1) == y).mean())
    return history


@mistake(
    criterion="train",
    replaces="train",
    text="The epoch's loss is the plain mean over batches: a short last batch counts as much as a full one.",
    fix="Weight each batch's loss with its number of samples, and divide by that of all.",
)
def batches_weighted_alike(network, X, y, num_epochs, batch_size, learning_rate, rng):
    if batch_size < 1 or len(X) != len(y):
        raise ValueError("batch_size, X, y")
    history = {"loss": [], "accuracy": []}
    for _ in range(num_epochs):
        order, losses = rng.permutation(len(X)), []
        for start in range(0, len(X), batch_size):
            batch = order[start : start + batch_size]
            losses.append(train_step(network, X[batch], y[batch], learning_rate))
        history["loss"].append(np.mean(losses))
        history["accuracy"].append((network.forward(X).argmax(axis=1) == y).mean())
    return history


@mistake(
    criterion="train",
    replaces="train",
    text="The samples of each batch were drawn with replacement: some are used twice in an epoch, others never.",
    fix="Shuffle all samples by rng.permutation and cut the order into batches.",
)
def drawn_with_replacement(network, X, y, num_epochs, batch_size, learning_rate, rng, right=train):
    class _Replacing:
        def permutation(self, number):
            return rng.integers(number, size=number)

    return right(network, X, y, num_epochs, batch_size, learning_rate, _Replacing())


@mistake(
    criterion="train",
    replaces="train",
    text="history['accuracy'] is that before the epoch.",
    fix="Compute the accuracy when all batches of the epoch have been used.",
)
def accuracy_before_the_epoch(network, X, y, num_epochs, batch_size, learning_rate, rng, right=train):
    history = {"loss": [], "accuracy": []}
    for _ in range(num_epochs):
        history["accuracy"].append((network.forward(X).argmax(axis=1) == y).mean())
        history["loss"] += right(network, X, y, 1, batch_size, learning_rate, rng)["loss"]
    return history if num_epochs else right(network, X, y, 0, batch_size, learning_rate, rng)


@mistake(
    criterion="two-spirals",
    replaces="Dense.__init__",
    text="All units of a layer started alike, get the same gradient and stay alike: 32 are worth one.",
    fix="Draw every weight by itself, from the rng that the layer was given.",
)
def units_start_alike(self, num_inputs, num_outputs, activation, rng, right=Dense.__init__):
    right(self, num_inputs, num_outputs, activation, rng)
    column = self.params["weights"][:, :1]  # turned so that relu is not 0 all over, as with zeros
    self.params["weights"] = np.repeat(column * np.sign(np.sum(column)), num_outputs, axis=1)


@mistake(
    criterion="two-spirals",
    replaces="train_step",
    text="Only the last layer took the step: what lies before it keeps its random weights.",
    fix="Update every layer of network.layers.",
)
def only_last_layer_trained(network, X, y, learning_rate, right=train_step):
    kept = [layer.params for layer in network.layers[:-1]]
    loss = right(network, X, y, learning_rate)
    for layer, params in zip(network.layers, kept, strict=False):
        layer.params = params
    return loss


@mistake(
    criterion="two-spirals",
    replaces="train",
    text="The learning rate was halved after every epoch, so that the network soon stands still.",
    fix="Use the learning rate as it was given, in every epoch.",
)
def rate_halved_every_epoch(network, X, y, num_epochs, batch_size, learning_rate, rng, right=train):
    history = {"loss": [], "accuracy": []}
    for number in range(num_epochs):
        one = right(network, X, y, 1, batch_size, learning_rate / 2**number, rng)
        history = {name: [*history[name], *one[name]] for name in history}
    return history


@mistake(
    criterion="two-spirals",
    replaces="train",
    text="Each epoch took a single step, on its first batch.",
    fix="Go through all batches: for start in range(0, len(X), batch_size).",
)
def one_step_an_epoch(network, X, y, num_epochs, batch_size, learning_rate, rng, right=train):
    if batch_size < 1 or len(X) != len(y):
        raise ValueError("batch_size, X, y")
    history = {"loss": [], "accuracy": []}
    for _ in range(num_epochs):
        batch = rng.permutation(len(X))[:batch_size]
        history["loss"].append(train_step(network, X[batch], y[batch], learning_rate))
        history["accuracy"].append((network.forward(X).argmax(axis=1) == y).mean())
    return history


@mistake(
    criterion="batch-norm-training",
    replaces="batch_norm_forward",
    text="The output was put into an array of the dtype of x: of whole numbers, every fraction is cut off.",
    fix="np.zeros_like(x) holds integers where x does: give it dtype=float, or calculate with whole arrays.",
)
def normalised_in_the_dtype_of_x(
    x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5, right=batch_norm_forward
):
    output, *rest = right(x, gamma, beta, running_mean, running_var, training, momentum, eps)
    return output.astype(x.dtype), *rest


@mistake(
    criterion="loss-gradient",
    replaces="compute_loss_gradient",
    text="The gradient was put into an array of the dtype of the logits: of whole numbers, every fraction is cut off.",
    fix="np.zeros_like(logits) holds integers where logits does: give it dtype=float, or calculate with whole arrays.",
)
def loss_gradient_in_the_dtype_of_logits(logits, targets, right=compute_loss_gradient):
    return right(logits, targets).astype(logits.dtype)

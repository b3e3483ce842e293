"""Optimisers: seven update rules, gradient clipping, learning-rate schedules, a line search and the loop around them.

Every `*_step(params, grads, state, ...)` returns (params, state), both new. params and grads are dicts with the same
names, and under each name two arrays of the same shape. state is what a rule remembers from one step to the next: {}
before the first step, afterwards whatever the step before returned. How it is laid out is yours to choose.

For all functions: arguments are never changed, neither the arrays nor the dicts nor state; float32 arrays in give
float32 arrays out; bad shapes and values raise ValueError with a sentence that names the argument.
"""

import numpy as np


def sgd_step(params, grads, state, learning_rate=0.01):
    """Return params one step of gradient descent further: against the gradient, learning_rate times its length.

    params and grads are dicts of arrays with the same names and shapes; the result is (params, state). This rule
    remembers nothing: its result depends on params, grads and learning_rate alone.

    Raises ValueError when grads has other names than params, or an array of another shape (nothing is broadcast).

    Formula: p <- p - learning_rate * g.
    Example:

    >>> params, state = sgd_step({"w": np.array([1.0, 2.0])}, {"w": np.array([10.0, -5.0])}, {}, learning_rate=0.1)
    >>> params["w"]
    array([0. , 2.5])
    """
    raise NotImplementedError("sgd_step")


def momentum_step(params, grads, state, learning_rate=0.01, momentum=0.9):
    """Return params one step further with heavy-ball momentum, and the state with the new velocity.

    The velocity starts at zero. It is a sum in which each step's gradient counts momentum times as much as the next
    one's; it is not an average, so the newest gradient counts in full.

    Raises ValueError when grads has other names than params, or an array of another shape.

    Formula: v <- momentum * v + g, then p <- p - learning_rate * v. (Polyak 1964, as in PyTorch's SGD.)
    Example: two steps with gradient 1; the velocity is 1 in the first and 1.9 in the second.

    >>> params, state = momentum_step({"w": np.array([1.0])}, {"w": np.array([1.0])}, {}, learning_rate=0.1)
    >>> params, state = momentum_step(params, {"w": np.array([1.0])}, state, learning_rate=0.1)
    >>> params["w"].round(4)
    array([0.71])
    """
    raise NotImplementedError("momentum_step")


def nesterov_step(params, grads, state, learning_rate=0.01, momentum=0.9):
    """Return params one step further with Nesterov's momentum, and the state with the new velocity.

    params are the look-ahead point: where the velocity will have carried the parameters before the gradient corrects
    them. grads is the gradient there, so that it is computed at params as for every other rule. The velocity starts
    at zero.

    Raises ValueError when grads has other names than params, or an array of another shape.

    Formula: v <- momentum * v + g, then p <- p - learning_rate * (g + momentum * v) with the new v.
    (Nesterov 1983, in the form of Bengio et al. 2012, as in PyTorch's SGD with nesterov=True.)
    Example: the first step with gradient 1 is 1 + 0.9 = 1.9 learning rates long.

    >>> params, state = nesterov_step({"w": np.array([1.0])}, {"w": np.array([1.0])}, {}, learning_rate=0.1)
    >>> params["w"].round(4)
    array([0.81])
    """
    raise NotImplementedError("nesterov_step")


def adagrad_step(params, grads, state, learning_rate=0.01, eps=1e-8):
    """Return params one step further with Adagrad: each entry has its own rate, which shrinks as its gradients add up.

    s, the sum of all squared gradients so far, starts at zero and has one entry for each entry of params. An entry
    whose gradients have all been 0 stays where it is.

    Raises ValueError when grads has other names than params, or an array of another shape.

    Formula: s <- s + g^2, then p <- p - learning_rate * g / (sqrt(s) + eps). (Duchi, Hazan and Singer 2011; eps inside
    the root is accepted too.)
    Example: gradients 3 and then 4 move by 3/3 and 4/5 learning rates.

    >>> params, state = adagrad_step({"w": np.array([1.0])}, {"w": np.array([3.0])}, {}, learning_rate=0.1)
    >>> params["w"].round(4)
    array([0.9])
    >>> params, state = adagrad_step(params, {"w": np.array([4.0])}, state, learning_rate=0.1)
    >>> params["w"].round(4)
    array([0.82])
    """
    raise NotImplementedError("adagrad_step")


def rmsprop_step(params, grads, state, learning_rate=0.01, decay=0.9, eps=1e-8):
    """Return params one step further with RMSprop: Adagrad that forgets, by averaging the squares instead of adding.

    s, the running average of the squared gradients, starts at zero and has one entry for each entry of params. It is
    not corrected for that start. An entry whose gradients have all been 0 stays where it is.

    Raises ValueError when grads has other names than params, or an array of another shape.

    Formula: s <- decay * s + (1 - decay) * g^2, then p <- p - learning_rate * g / (sqrt(s) + eps). (Tieleman and
    Hinton 2012; eps inside the root is accepted too.)
    Example: the first step is 1 / sqrt(0.1) = 3.1623 learning rates long, whatever the gradient's size.

    >>> params, state = rmsprop_step({"w": np.array([1.0])}, {"w": np.array([5.0])}, {}, learning_rate=0.1)
    >>> params["w"].round(4)
    array([0.6838])
    """
    raise NotImplementedError("rmsprop_step")


def adam_step(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
    """Return params one step further with Adam: running averages of gradient and squared gradient, both corrected.

    m and s start at zero, so after t steps they are too small by the factors 1 - beta1^t and 1 - beta2^t; bias
    correction divides these out. The first step has t = 1. An entry whose gradients have all been 0 stays where it is.

    Raises ValueError when grads has other names than params, or an array of another shape.

    Formula: m <- beta1 * m + (1 - beta1) * g and s <- beta2 * s + (1 - beta2) * g^2, then
    p <- p - learning_rate * (m / (1 - beta1^t)) / (sqrt(s / (1 - beta2^t)) + eps). (Kingma and Ba 2015; eps inside
    the root is accepted too, and so is eps added to sqrt(s) before its correction.)
    Example: the first step is one learning rate long, against the sign of each gradient.

    >>> params, state = adam_step({"w": np.array([1.0, 1.0])}, {"w": np.array([0.5, -20.0])}, {}, learning_rate=0.1)
    >>> params["w"].round(4)
    array([0.9, 1.1])
    """
    raise NotImplementedError("adam_step")


def adamw_step(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    """Return params one step further with AdamW: Adam, and a decay of the parameters beside it.

    The decay is decoupled: it is no part of the gradient and never enters m or s. It shrinks every entry of every
    array by the factor 1 - learning_rate * weight_decay; Adam's step is then subtracted from the shrunken value.

    Raises ValueError when grads has other names than params, or an array of another shape.

    Formula: p <- p - learning_rate * weight_decay * p - (Adam's step), both from the p before. (Loshchilov and Hutter
    2019, with the decay times learning_rate as in PyTorch.)
    Example: 2 shrinks by 0.1 * 0.5 * 2 = 0.1, and Adam's first step takes off another 0.1.

    >>> params, state = adamw_step(
    ...     {"w": np.array([2.0])}, {"w": np.array([7.0])}, {}, learning_rate=0.1, weight_decay=0.5
    ... )
    >>> params["w"].round(4)
    array([1.8])
    """
    raise NotImplementedError("adamw_step")


def clip_by_global_norm(grads, max_norm):
    """Return (grads, norm): all gradients scaled down together if their common length is above max_norm.

    grads is a dict of arrays. norm is one number, the Euclidean length of all entries of all arrays as one long
    vector, before clipping. If it is above max_norm, every array of the result is multiplied by max_norm / norm, so
    that the direction stays; otherwise the values stay as they are. norm is right, and the result finite, also where
    the squares of the entries overflow or underflow: at 1e200 or 1e-200 in float64, at 1e25 or 1e-25 in float32.

    Raises ValueError when max_norm is not above 0, or when a gradient holds NaN or an infinity.

    Formula: norm = sqrt(sum of all g^2), grads <- grads * min(1, max_norm / norm). (Pascanu, Mikolov and Bengio 2013.)
    Example: [3, 0] and [4] have the common length 5; clipped to 1 they are [0.6, 0] and [0.8].

    >>> grads, norm = clip_by_global_norm({"w": np.array([3.0, 0.0]), "b": np.array([4.0])}, max_norm=1.0)
    >>> round(float(norm), 4), grads["w"].round(4), grads["b"].round(4)
    (5.0, array([0.6, 0. ]), array([0.8]))
    """
    raise NotImplementedError("clip_by_global_norm")


def step_decay(step, base_rate, drop=0.5, period=10):
    """Return the learning rate of a step under step decay: multiplied by drop after every period steps.

    step counts from 0; steps 0 to period - 1 have base_rate.

    Raises ValueError when step is below 0 or period below 1.

    Formula: base_rate * drop^floor(step / period).
    Example: three periods of 10 are over at step 35, so the rate was halved three times.

    >>> step_decay(35, 0.8)
    0.1
    """
    raise NotImplementedError("step_decay")


def exponential_decay(step, base_rate, decay_rate):
    """Return the learning rate of a step under exponential decay.

    step counts from 0, where the rate is base_rate.

    Raises ValueError when step is below 0.

    Formula: base_rate * exp(-decay_rate * step).
    Example: after 100 steps with decay_rate 0.01 the rate has fallen to 1/e, 37 per cent.

    >>> round(exponential_decay(100, 1.0, 0.01), 4)
    0.3679
    """
    raise NotImplementedError("exponential_decay")


def cosine_annealing(step, base_rate, total_steps, min_rate=0.0):
    """Return the learning rate of a step under cosine annealing: half a cosine from base_rate down to min_rate.

    step counts from 0, where the rate is base_rate; at total_steps it is min_rate, and it stays there.

    Raises ValueError when step is below 0 or total_steps below 1.

    Formula: min_rate + (base_rate - min_rate) * (1 + cos(pi * step / total_steps)) / 2, and min_rate after total_steps.
    (Loshchilov and Hutter 2017, without restarts.)
    Example: half-way the rate is in the middle between base_rate and min_rate.

    >>> [round(cosine_annealing(step, 1.0, 100, min_rate=0.2), 4) for step in (0, 50, 100, 150)]
    [1.0, 0.6, 0.2, 0.2]
    """
    raise NotImplementedError("cosine_annealing")


def warmup_cosine(step, base_rate, warmup_steps, total_steps, min_rate=0.0):
    """Return the learning rate of a step that first rises along a line, then falls along half a cosine.

    step counts from 0, where the rate is 0; it reaches base_rate at warmup_steps, min_rate at total_steps, and stays
    there. With warmup_steps = 0 there is no rise and step 0 has base_rate.

    Raises ValueError when step or warmup_steps is below 0, or total_steps is not above warmup_steps.

    Formula: base_rate * step / warmup_steps before warmup_steps; from there on cosine_annealing of the steps since,
    over the total_steps - warmup_steps that are left.
    Example: a rise over 10 steps, then a fall over 90.

    >>> [round(warmup_cosine(step, 1.0, 10, 100), 4) for step in (0, 5, 10, 55, 100)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    raise NotImplementedError("warmup_cosine")


def backtracking_line_search(f, grad_f, x, direction, initial_step=1.0, shrink=0.5, c=1e-4):
    """Return the first of the step sizes initial_step, initial_step * shrink, ... that decreases f enough.

    The step goes from x along direction, an array of the same shape. f takes such an array and returns a number,
    grad_f returns an array. A step size t is enough when f(x + t * direction) is at most f(x) + c * t * slope, where
    slope = grad_f(x) . direction, summed over all entries. A value of f that is NaN or +inf is not enough, so that a
    step out of the domain of f is shortened; nor is one that does not lie below f(x), although for a tiny t rounding
    may hide the term with the slope.

    Raises ValueError when direction has another shape than x, initial_step is not above 0, shrink or c is not between
    0 and 1 (both ends excluded), slope is not below 0, or none of about two hundred step sizes is enough.

    Formula: f(x + t d) <= f(x) + c t grad_f(x) . d. (Armijo 1966; Nocedal and Wright, algorithm 3.1.)
    Example: on f(x) = x^2 from 1 along -2, a step of 1 only gets to -1, of 0.5 to the minimum.

    >>> backtracking_line_search(lambda x: (x**2).sum(), lambda x: 2 * x, np.array([1.0]), np.array([-2.0]))
    0.5
    """
    raise NotImplementedError("backtracking_line_search")


def minimize(f, grad_f, x0, step, num_iterations, **hyper):
    """Return (x, history): x after num_iterations steps from x0, and f at x0 and after each step.

    f takes an array of the shape of x0 and returns a number, grad_f an array of that shape. step is one of the rules
    above, or any function with their arguments; at each iteration it gets {"x": x}, {"x": grad_f(x)}, the state that
    it returned the time before ({} at first), and hyper as keyword arguments. history is a list of
    num_iterations + 1 numbers. With no iterations x is x0.

    Raises ValueError when num_iterations is below 0.

    Example: each step on f(x) = x^2 with rate 0.25 halves x, and quarters f.

    >>> x, history = minimize(lambda x: float(x @ x), lambda x: 2 * x, np.array([4.0]), sgd_step, 3, learning_rate=0.25)
    >>> x, history
    (array([0.5]), [16.0, 4.0, 1.0, 0.25])
    """
    raise NotImplementedError("minimize")

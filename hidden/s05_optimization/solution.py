"""Optimisers: seven update rules, gradient clipping, learning-rate schedules, a line search and the loop around them.

Every `*_step(params, grads, state, ...)` returns (params, state), both new. params and grads are dicts with the same
names, and under each name two arrays of the same shape. state is what a rule remembers from one step to the next: {}
before the first step, afterwards whatever the step before returned. How it is laid out is yours to choose.

For all functions: arguments are never changed, neither the arrays nor the dicts nor state; float32 arrays in give
float32 arrays out; bad shapes and values raise ValueError with a sentence that names the argument.
"""

import math

import numpy as np


def _require_matching(params, grads):
    if set(params) != set(grads):
        raise ValueError(f"grads: has the names {sorted(grads)}, expected those of params, {sorted(params)}")
    for name, value in params.items():
        if grads[name].shape != value.shape:
            raise ValueError(f"grads[{name!r}]: shape {grads[name].shape}, expected that of params, {value.shape}")


def _require_at_least(least, **values):
    for name, value in values.items():
        if value < least:
            raise ValueError(f"{name}: {value}, expected at least {least}")


def _blend(share, kept, weight, new):
    """Return share * kept + weight * new under each name of new; what was never kept counts as zero."""
    return {name: share * kept.get(name, 0.0) + weight * value for name, value in new.items()}


def _squares(arrays):
    return {name: value**2 for name, value in arrays.items()}


def _moved(params, change, learning_rate):
    return {name: value - learning_rate * change[name] for name, value in params.items()}


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
    _require_matching(params, grads)
    return _moved(params, grads, learning_rate), {}


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
    _require_matching(params, grads)
    velocity = _blend(momentum, state.get("velocity", {}), 1.0, grads)
    return _moved(params, velocity, learning_rate), {"velocity": velocity}


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
    _require_matching(params, grads)
    velocity = _blend(momentum, state.get("velocity", {}), 1.0, grads)
    return _moved(params, _blend(momentum, velocity, 1.0, grads), learning_rate), {"velocity": velocity}


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
    _require_matching(params, grads)
    squares = _blend(1.0, state.get("squares", {}), 1.0, _squares(grads))
    change = {name: value / (np.sqrt(squares[name]) + eps) for name, value in grads.items()}
    return _moved(params, change, learning_rate), {"squares": squares}


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
    _require_matching(params, grads)
    squares = _blend(decay, state.get("squares", {}), 1 - decay, _squares(grads))
    change = {name: value / (np.sqrt(squares[name]) + eps) for name, value in grads.items()}
    return _moved(params, change, learning_rate), {"squares": squares}


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
    _require_matching(params, grads)
    count = state.get("count", 0) + 1
    means = _blend(beta1, state.get("means", {}), 1 - beta1, grads)
    squares = _blend(beta2, state.get("squares", {}), 1 - beta2, _squares(grads))
    change = {
        name: means[name] / (1 - beta1**count) / (np.sqrt(squares[name] / (1 - beta2**count)) + eps) for name in params
    }
    return _moved(params, change, learning_rate), {"count": count, "means": means, "squares": squares}


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
    shrunken = {name: value * (1 - learning_rate * weight_decay) for name, value in params.items()}
    return adam_step(shrunken, grads, state, learning_rate, beta1, beta2, eps)


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
    if not max_norm > 0:
        raise ValueError(f"max_norm: {max_norm}, expected a number above 0")
    for name, value in grads.items():
        if not np.isfinite(value).all():
            raise ValueError(f"grads[{name!r}]: holds NaN or an infinity, expected finite numbers")
    largest = max(float(np.abs(value).max()) for value in grads.values()) or 1.0
    norm = largest * math.sqrt(sum(np.sum((value / largest) ** 2) for value in grads.values()))
    scale = max_norm / max(max_norm, norm)
    return {name: value * scale for name, value in grads.items()}, norm


def step_decay(step, base_rate, drop=0.5, period=10):
    """Return the learning rate of a step under step decay: multiplied by drop after every period steps.

    step counts from 0; steps 0 to period - 1 have base_rate.

    Raises ValueError when step is below 0 or period below 1.

    Formula: base_rate * drop^floor(step / period).
    Example: three periods of 10 are over at step 35, so the rate was halved three times.

    >>> step_decay(35, 0.8)
    0.1
    """
    _require_at_least(0, step=step)
    _require_at_least(1, period=period)
    return base_rate * drop ** (step // period)


def exponential_decay(step, base_rate, decay_rate):
    """Return the learning rate of a step under exponential decay.

    step counts from 0, where the rate is base_rate.

    Raises ValueError when step is below 0.

    Formula: base_rate * exp(-decay_rate * step).
    Example: after 100 steps with decay_rate 0.01 the rate has fallen to 1/e, 37 per cent.

    >>> round(exponential_decay(100, 1.0, 0.01), 4)
    0.3679
    """
    _require_at_least(0, step=step)
    return base_rate * math.exp(-decay_rate * step)


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
    _require_at_least(0, step=step)
    _require_at_least(1, total_steps=total_steps)
    angle = math.pi * min(step, total_steps) / total_steps
    return min_rate + (base_rate - min_rate) * (1 + math.cos(angle)) / 2


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
    _require_at_least(0, step=step, warmup_steps=warmup_steps)
    if total_steps <= warmup_steps:
        raise ValueError(f"total_steps: {total_steps}, expected more than warmup_steps, which is {warmup_steps}")
    if step < warmup_steps:
        return base_rate * step / warmup_steps
    return cosine_annealing(step - warmup_steps, base_rate, total_steps - warmup_steps, min_rate)


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
    if direction.shape != x.shape:
        raise ValueError(f"direction: shape {direction.shape}, expected that of x, {x.shape}")
    if not initial_step > 0:
        raise ValueError(f"initial_step: {initial_step}, expected a number above 0")
    for name, value in (("shrink", shrink), ("c", c)):
        if not 0 < value < 1:
            raise ValueError(f"{name}: {value}, expected a number between 0 and 1")
    start, slope = f(x), np.sum(grad_f(x) * direction)
    if not slope < 0:
        raise ValueError(f"direction: f changes along it with slope {slope}, expected a slope below 0")
    step = initial_step
    for _ in range(200):
        value = f(x + step * direction)
        if value < start and value <= start + c * step * slope:
            return step
        step *= shrink
    raise ValueError(f"direction: no step down to {step} along it decreases f enough; is grad_f the gradient of f?")


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
    _require_at_least(0, num_iterations=num_iterations)
    params, state, history = {"x": x0}, {}, [f(x0)]
    for _ in range(num_iterations):
        params, state = step(params, {"x": grad_f(params["x"])}, state, **hyper)
        history.append(f(params["x"]))
    return params["x"], history

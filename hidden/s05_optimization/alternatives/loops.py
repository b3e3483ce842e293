"""Optimisers entry by entry: plain Python numbers, a small class for what one entry remembers, no array arithmetic."""

import math

import numpy as np


def _entrywise(params, grads, state, rule):
    """Apply rule(p, g, memory) -> (p, memory) to each entry; a memory is a list of numbers, None at first."""
    if set(params) ^ set(grads):
        raise ValueError(f"names that only one of params and grads has: {set(params) ^ set(grads)}")
    moved, remembered = {}, {}
    for name in params:
        if list(params[name].shape) != list(grads[name].shape):
            raise ValueError(f"{name}: shapes {params[name].shape} and {grads[name].shape} differ")
        moved[name] = np.empty_like(params[name])
        memories = state.get(name)
        remembered[name] = []
        for number, place in enumerate(np.ndindex(params[name].shape)):
            memory = memories[number] if memories else None
            p, memory = rule(float(params[name][place]), float(grads[name][place]), memory)
            moved[name][place] = p
            remembered[name].append(memory)
    return moved, remembered


def sgd_step(params, grads, state, learning_rate=0.01):
    return _entrywise(params, grads, {}, lambda p, g, memory: (p - learning_rate * g, 0.0))


def momentum_step(params, grads, state, learning_rate=0.01, momentum=0.9):
    def rule(p, g, v):
        v = g if v is None else momentum * v + g
        return p - learning_rate * v, v

    return _entrywise(params, grads, state, rule)


def nesterov_step(params, grads, state, learning_rate=0.01, momentum=0.9):
    def rule(p, g, v):
        v = momentum * (v or 0.0) + g
        return p - learning_rate * g - learning_rate * momentum * v, v

    return _entrywise(params, grads, state, rule)


def adagrad_step(params, grads, state, learning_rate=0.01, eps=1e-8):
    def rule(p, g, length):
        length = math.hypot(length or 0.0, g)  # the root of the sum grows like the side of a right triangle
        return p - learning_rate * g / (length + eps), length

    return _entrywise(params, grads, state, rule)


def rmsprop_step(params, grads, state, learning_rate=0.01, decay=0.9, eps=1e-8):
    def rule(p, g, s):
        s = decay * (s or 0.0) + (1 - decay) * g**2
        return p - learning_rate * g / (math.sqrt(s) + eps), s

    return _entrywise(params, grads, state, rule)


def _adam_rule(learning_rate, beta1, beta2, eps, weight_decay):
    """Averages with weights that add up to 1 from the start: no correction is left to be made."""

    def rule(p, g, memory):
        t, mean, square = memory or (0, 0.0, 0.0)
        t += 1
        newest1, newest2 = (1 - beta1) / (1 - beta1**t), (1 - beta2) / (1 - beta2**t)
        mean += newest1 * (g - mean)
        square += newest2 * (g * g - square)
        adam = learning_rate * mean / (math.sqrt(square) + eps)
        return p - learning_rate * weight_decay * p - adam, (t, mean, square)

    return rule


def adam_step(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
    return _entrywise(params, grads, state, _adam_rule(learning_rate, beta1, beta2, eps, 0.0))


def adamw_step(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    return _entrywise(params, grads, state, _adam_rule(learning_rate, beta1, beta2, eps, weight_decay))


def clip_by_global_norm(grads, max_norm):
    if not max_norm > 0:
        raise ValueError("max_norm must be above 0")
    norm = 0.0
    for value in grads.values():
        for entry in value.flat:
            if entry != entry or entry in (np.inf, -np.inf):
                raise ValueError("gradients must be finite")
            norm = math.hypot(norm, float(entry))
    factor = 1.0 if norm <= max_norm else max_norm / norm
    result = {}
    for name, value in grads.items():
        result[name] = np.empty_like(value)
        for place in np.ndindex(value.shape):
            result[name][place] = value[place] * factor
    return result, norm


def step_decay(step, base_rate, drop=0.5, period=10):
    if step < 0:
        raise ValueError("step must not be negative")
    if period <= 0:
        raise ValueError("period must be positive")
    return base_rate if step < period else drop * step_decay(step - period, base_rate, drop, period)


def exponential_decay(step, base_rate, decay_rate):
    if step < 0:
        raise ValueError("step must not be negative")
    return math.exp(math.log(base_rate) - decay_rate * step)


def cosine_annealing(step, base_rate, total_steps, min_rate=0.0):
    if step < 0:
        raise ValueError("step must not be negative")
    if total_steps <= 0:
        raise ValueError("total_steps must be positive")
    angle = math.pi * step / total_steps if step < total_steps else math.pi
    return (base_rate + min_rate) / 2 + (base_rate - min_rate) / 2 * math.cos(angle)


def warmup_cosine(step, base_rate, warmup_steps, total_steps, min_rate=0.0):
    if warmup_steps < 0:
        raise ValueError("warmup_steps must not be negative")
    if total_steps - warmup_steps <= 0:
        raise ValueError("total_steps must be more than warmup_steps")
    if step < 0:
        raise ValueError("step must not be negative")
    rates = np.linspace(0.0, base_rate, warmup_steps + 1)
    if step < warmup_steps:
        return float(rates[step])
    return cosine_annealing(step - warmup_steps, base_rate, total_steps - warmup_steps, min_rate)


def backtracking_line_search(f, grad_f, x, direction, initial_step=1.0, shrink=0.5, c=1e-4):
    if direction.ndim != x.ndim or direction.shape != x.shape:
        raise ValueError("direction must have the shape of x")
    if initial_step <= 0 or shrink <= 0 or shrink >= 1 or c <= 0 or c >= 1:
        raise ValueError("initial_step must be above 0, shrink and c between 0 and 1")
    slope = math.fsum((grad_f(x) * direction).ravel().tolist())
    if slope >= 0:
        raise ValueError("direction must lead down")
    start, step, trials = f(x), initial_step, 0
    while True:
        value = f(x + step * direction)
        if math.isfinite(value) and value < start and value <= start + c * step * slope:
            return step
        step, trials = step * shrink, trials + 1
        if trials == 200:
            raise ValueError("direction must lead down; no step was enough")


def minimize(f, grad_f, x0, step, num_iterations, **hyper):
    if num_iterations < 0:
        raise ValueError("num_iterations must not be negative")
    x, state = x0.copy(), {}
    history = [float(f(x))]
    while len(history) <= num_iterations:
        result = step(params={"x": x}, grads={"x": grad_f(x)}, state=state, **hyper)
        x, state = result[0]["x"], result[1]
        history += [float(f(x))]
    return x, history

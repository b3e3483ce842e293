"""Optimisers that lay all parameters end to end in one vector, work on that, and cut it up again."""

import math

import numpy as np


def _laid_out(params, grads):
    """Return params and grads as one vector each, in the order of params."""
    if sorted(params) != sorted(grads):
        raise ValueError("params and grads have different names")
    for name, value in params.items():
        if value.shape != grads[name].shape:
            raise ValueError(f"{name}: a parameter of shape {value.shape}, a gradient of shape {grads[name].shape}")
    return _vector(params), _vector({name: grads[name] for name in params})


def _vector(arrays):
    return np.concatenate([value.ravel() for value in arrays.values()])


def _cut(vector, like):
    pieces = np.split(vector, np.cumsum([value.size for value in like.values()])[:-1])
    return {k: piece.reshape(v.shape).astype(v.dtype) for (k, v), piece in zip(like.items(), pieces, strict=True)}


def _kept(state, key, like):
    return state[key] if key in state else np.zeros(like.size, like.dtype)


def sgd_step(params, grads, state, learning_rate=0.01):
    p, g = _laid_out(params, grads)
    return _cut(p - learning_rate * g, params), {"steps": state.get("steps", 0) + 1}


def momentum_step(params, grads, state, learning_rate=0.01, momentum=0.9):
    p, g = _laid_out(params, grads)
    v = momentum * _kept(state, "v", g) + g
    return _cut(p - learning_rate * v, params), {"v": v}


def nesterov_step(params, grads, state, learning_rate=0.01, momentum=0.9):
    """Go back from the look-ahead point to the parameters themselves, step as the textbook does, and look ahead."""
    ahead, g = _laid_out(params, grads)
    v = _kept(state, "v", g)
    point = ahead + learning_rate * momentum * v
    v = momentum * v + g
    point = point - learning_rate * v
    return _cut(point - learning_rate * momentum * v, params), {"v": v}


def adagrad_step(params, grads, state, learning_rate=0.01, eps=1e-8):
    p, g = _laid_out(params, grads)
    s = _kept(state, "s", g) + g * g
    return _cut(p - learning_rate * g / (s**0.5 + eps), params), {"s": s}


def rmsprop_step(params, grads, state, learning_rate=0.01, decay=0.9, eps=1e-8):
    p, g = _laid_out(params, grads)
    s = decay * _kept(state, "s", g) + (1 - decay) * g * g
    return _cut(p - learning_rate * g / (s**0.5 + eps), params), {"s": s}


def adam_step(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
    """Keep the averages in one array of two rows, and correct by one factor that is part of the rate."""
    p, g = _laid_out(params, grads)
    rows = _kept(state, "rows", np.zeros(2 * g.size, g.dtype)).reshape(2, -1)
    powers = np.array(state.get("powers", (1.0, 1.0))) * (beta1, beta2)
    shares = np.array([[beta1], [beta2]], g.dtype)
    rows = shares * rows + (1 - shares) * np.stack([g, g * g])
    rate = learning_rate * math.sqrt(1 - powers[1]) / (1 - powers[0])
    return _cut(p - rate * rows[0] / (np.sqrt(rows[1]) + eps), params), {"rows": rows.ravel(), "powers": powers}


def adamw_step(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    moved, state = adam_step(params, grads, state, learning_rate, beta1, beta2, eps)
    return {k: moved[k] - learning_rate * weight_decay * params[k] for k in params}, state


def clip_by_global_norm(grads, max_norm):
    if not max_norm > 0:
        raise ValueError("max_norm has to be above 0")
    entries = [float(entry) for entry in _vector(grads)]
    if not all(map(math.isfinite, entries)):
        raise ValueError("a gradient is not finite")
    norm = math.hypot(*entries)
    return {k: v * min(1.0, max_norm / (norm + 1e-300)) for k, v in grads.items()}, norm


def step_decay(step, base_rate, drop=0.5, period=10):
    if step < 0 or period < 1:
        raise ValueError("step has to be at least 0, period at least 1")
    return base_rate * math.pow(drop, math.floor(step / period))


def exponential_decay(step, base_rate, decay_rate):
    if step < 0:
        raise ValueError("step has to be at least 0")
    return base_rate / math.exp(decay_rate * step)


def cosine_annealing(step, base_rate, total_steps, min_rate=0.0):
    if step < 0 or total_steps < 1:
        raise ValueError("step has to be at least 0, total_steps at least 1")
    share = math.cos(math.pi / 2 * min(1.0, step / total_steps)) ** 2
    return share * base_rate + (1 - share) * min_rate


def warmup_cosine(step, base_rate, warmup_steps, total_steps, min_rate=0.0):
    if step < 0 or not 0 <= warmup_steps < total_steps:
        raise ValueError("step has to be at least 0, and 0 <= warmup_steps < total_steps")
    line = step / warmup_steps if warmup_steps else 1.0
    over = cosine_annealing(max(0, step - warmup_steps), base_rate, total_steps - warmup_steps, min_rate)
    return base_rate * line if line < 1 else over


def backtracking_line_search(f, grad_f, x, direction, initial_step=1.0, shrink=0.5, c=1e-4):
    if not (np.shape(x) == np.shape(direction) and initial_step > 0 and 0 < shrink < 1 and 0 < c < 1):
        raise ValueError("direction, initial_step, shrink or c will not do")
    slope = np.vdot(grad_f(x), direction)
    if not slope < 0:
        raise ValueError("direction does not lead down")

    def search(step, left):
        value = f(x + step * direction)
        if value < f(x) and value - f(x) <= c * step * slope:
            return float(step)
        if not left:
            raise ValueError("no step is enough")
        return None

    for left in range(180, -1, -1):
        found = search(initial_step, left)
        if found is not None:
            return found
        initial_step = initial_step * shrink


def minimize(f, grad_f, x0, step, num_iterations, **hyper):
    if num_iterations < 0:
        raise ValueError("num_iterations has to be at least 0")
    return _rest(f, grad_f, {"x": x0}, {}, step, num_iterations, hyper, (f(x0),))


def _rest(f, grad_f, params, state, step, left, hyper, history):
    while left:
        params, state = step(params, {"x": grad_f(params["x"])}, state, **hyper)
        history, left = (*history, f(params["x"])), left - 1
    return params["x"], history

"""Optimisers whose velocity holds finished steps (learning rate inside), and whose eps stands inside the root."""

import numpy as np


def _matching(params, grads):
    if params.keys() != grads.keys():
        raise ValueError(f"grads: names {list(grads)}, expected {list(params)}")
    for name in params:
        if np.shape(grads[name]) != np.shape(params[name]):
            raise ValueError(f"grads[{name!r}]: shape {np.shape(grads[name])}, expected {np.shape(params[name])}")


def _zeros(params):
    return {name: np.zeros_like(value) for name, value in params.items()}


def sgd_step(params, grads, state, learning_rate=0.01):
    _matching(params, grads)
    moved = {name: np.array(value) for name, value in params.items()}
    for name in moved:
        moved[name] -= learning_rate * grads[name]
    return moved, state


def momentum_step(params, grads, state, learning_rate=0.01, momentum=0.9):
    _matching(params, grads)
    step = {k: momentum * v - learning_rate * grads[k] for k, v in (state or _zeros(params)).items()}
    return {k: params[k] + step[k] for k in params}, step


def nesterov_step(params, grads, state, learning_rate=0.01, momentum=0.9):
    _matching(params, grads)
    before = state or _zeros(params)
    step = {k: momentum * before[k] - learning_rate * grads[k] for k in params}
    return {k: params[k] - momentum * before[k] + (1 + momentum) * step[k] for k in params}, step


def _along_root(params, grads, squares, learning_rate, eps):
    return {k: params[k] - learning_rate * grads[k] / np.sqrt(squares[k] + eps) for k in params}


def adagrad_step(params, grads, state, learning_rate=0.01, eps=1e-8):
    _matching(params, grads)
    squares = {k: s + np.square(grads[k]) for k, s in (state or _zeros(params)).items()}
    return _along_root(params, grads, squares, learning_rate, eps), squares


def rmsprop_step(params, grads, state, learning_rate=0.01, decay=0.9, eps=1e-8):
    _matching(params, grads)
    squares = {k: s + (1 - decay) * (np.square(grads[k]) - s) for k, s in (state or _zeros(params)).items()}
    return _along_root(params, grads, squares, learning_rate, eps), squares


def adam_step(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
    return adamw_step(params, grads, state, learning_rate, beta1, beta2, eps, 0.0)


def adamw_step(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    _matching(params, grads)
    t, m, s = state["all"] if state else (0, _zeros(params), _zeros(params))
    t += 1
    m = {k: m[k] + (1 - beta1) * (grads[k] - m[k]) for k in m}
    s = {k: s[k] + (1 - beta2) * (grads[k] * grads[k] - s[k]) for k in s}
    moved = {}
    for k, p in params.items():
        adam = m[k] / (1 - beta1**t) / np.sqrt(s[k] / (1 - beta2**t) + eps)
        moved[k] = p - learning_rate * (adam + weight_decay * p)
    return moved, {"all": (t, m, s)}


def clip_by_global_norm(grads, max_norm):
    if not max_norm > 0:
        raise ValueError(f"max_norm: {max_norm}, expected above 0")
    vector = np.concatenate([np.ravel(g).astype(np.float64) for g in grads.values()])
    if not np.all(np.isfinite(vector)):
        raise ValueError("grads: expected finite numbers")
    _, exponent = np.frexp(np.abs(vector).max())
    norm = float(np.ldexp(np.linalg.norm(np.ldexp(vector, -int(exponent))), int(exponent)))
    if norm <= max_norm:
        return {k: g.copy() for k, g in grads.items()}, norm
    return {k: (g.astype(np.float64) / norm * max_norm).astype(g.dtype) for k, g in grads.items()}, norm


def step_decay(step, base_rate, drop=0.5, period=10):
    if step < 0 or period < 1:
        raise ValueError(f"step {step} or period {period}: too small")
    rate = base_rate
    for _ in range(period, step + 1, period):
        rate *= drop
    return rate


def exponential_decay(step, base_rate, decay_rate):
    if step < 0:
        raise ValueError(f"step: {step}, expected at least 0")
    return base_rate * np.exp(-decay_rate) ** step


def cosine_annealing(step, base_rate, total_steps, min_rate=0.0):
    if step < 0 or total_steps < 1:
        raise ValueError(f"step {step} or total_steps {total_steps}: too small")
    if step >= total_steps:
        return min_rate
    return 0.5 * ((base_rate + min_rate) + (base_rate - min_rate) * np.cos(np.pi * step / total_steps))


def warmup_cosine(step, base_rate, warmup_steps, total_steps, min_rate=0.0):
    if step < 0 or warmup_steps < 0 or total_steps <= warmup_steps:
        raise ValueError(f"step {step}, warmup_steps {warmup_steps}, total_steps {total_steps} do not go together")
    if step >= warmup_steps:
        return cosine_annealing(step - warmup_steps, base_rate, total_steps - warmup_steps, min_rate)
    return step / warmup_steps * base_rate


def backtracking_line_search(f, grad_f, x, direction, initial_step=1.0, shrink=0.5, c=1e-4):
    if x.shape != direction.shape:
        raise ValueError(f"direction: shape {direction.shape}, expected {x.shape}")
    if initial_step <= 0 or min(shrink, c) <= 0 or max(shrink, c) >= 1:
        raise ValueError("initial_step, shrink or c: out of range")
    slope = float(grad_f(x).ravel() @ direction.ravel())
    if slope >= 0:
        raise ValueError(f"direction: slope {slope}, expected below 0")
    start = f(x)
    for count in range(220):
        step = initial_step * shrink**count
        gain = start - f(x + step * direction)
        if gain > 0 and gain >= -c * step * slope:
            return step
    raise ValueError("no step is enough")


def minimize(f, grad_f, x0, step, num_iterations, **hyper):
    if num_iterations < 0:
        raise ValueError(f"num_iterations: {num_iterations}, expected at least 0")
    x, state, history = np.array(x0), {}, np.empty(num_iterations + 1)
    for count in range(num_iterations):
        history[count] = f(x)
        params, state = step({"x": x}, {"x": grad_f(x)}, state, **hyper)
        x = params["x"]
    history[-1] = f(x)
    return x, history

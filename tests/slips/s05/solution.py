"""Stage s05 as a good student might write it, from its README and stub alone: what the slips are cut into."""

import math

import numpy as np


def check_grads(params, grads):
    if set(params) != set(grads):
        raise ValueError(f"grads has the names {sorted(grads)}, expected those of params: {sorted(params)}")
    for name in params:
        if np.shape(params[name]) != np.shape(grads[name]):
            raise ValueError(f"grads[{name!r}]: shape {np.shape(grads[name])}, expected {np.shape(params[name])}")


def zeros_for(params):
    return {name: np.zeros_like(array) for name, array in params.items()}


def sgd_step(params, grads, state, learning_rate=0.01):
    check_grads(params, grads)
    return {name: params[name] - learning_rate * grads[name] for name in params}, {}


def momentum_step(params, grads, state, learning_rate=0.01, momentum=0.9):
    check_grads(params, grads)
    velocity = state.get("velocity") or zeros_for(params)
    new_params, new_velocity = {}, {}
    for name, p in params.items():
        v = momentum * velocity[name] + grads[name]
        new_velocity[name] = v
        new_params[name] = p - learning_rate * v
    return new_params, {"velocity": new_velocity}


def nesterov_step(params, grads, state, learning_rate=0.01, momentum=0.9):
    check_grads(params, grads)
    old = state if state else zeros_for(params)
    velocity = {name: momentum * old[name] + grads[name] for name in grads}
    moved = {}
    for name in params:
        ahead = grads[name] + momentum * velocity[name]
        moved[name] = params[name] - learning_rate * ahead
    return moved, velocity


def adagrad_step(params, grads, state, learning_rate=0.01, eps=1e-8):
    check_grads(params, grads)
    sums = state.get("sums", zeros_for(params))
    result, new_sums = {}, {}
    for name in params:
        g = grads[name]
        new_sums[name] = sums[name] + g**2
        result[name] = params[name] - learning_rate * g / (np.sqrt(new_sums[name]) + eps)
    return result, {"sums": new_sums}


def rmsprop_step(params, grads, state, learning_rate=0.01, decay=0.9, eps=1e-8):
    check_grads(params, grads)
    average = state.get("average", zeros_for(params))
    result, new_average = {}, {}
    for name in params:
        g = grads[name]
        s = decay * average[name] + (1 - decay) * g**2
        new_average[name] = s
        result[name] = params[name] - learning_rate * g / (np.sqrt(s) + eps)
    return result, {"average": new_average}


def adam_update(grads, state, learning_rate, beta1, beta2, eps):
    """Return how far each parameter moves, and the new state."""
    t = state.get("t", 0) + 1
    old_m = state.get("m") or zeros_for(grads)
    old_s = state.get("s") or zeros_for(grads)
    moves, m, s = {}, {}, {}
    for name, g in grads.items():
        m[name] = beta1 * old_m[name] + (1 - beta1) * g
        s[name] = beta2 * old_s[name] + (1 - beta2) * g * g
        m_hat = m[name] / (1 - beta1**t)
        s_hat = s[name] / (1 - beta2**t)
        moves[name] = learning_rate * m_hat / (np.sqrt(s_hat) + eps)
    return moves, {"t": t, "m": m, "s": s}


def adam_step(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
    check_grads(params, grads)
    moves, new_state = adam_update(grads, state, learning_rate, beta1, beta2, eps)
    return {name: p - moves[name] for name, p in params.items()}, new_state


def adamw_step(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    check_grads(params, grads)
    moves, new_state = adam_update(grads, state, learning_rate, beta1, beta2, eps)
    shrunk = {name: p - learning_rate * weight_decay * p for name, p in params.items()}
    return {name: shrunk[name] - moves[name] for name in params}, new_state


def clip_by_global_norm(grads, max_norm):
    if not max_norm > 0:
        raise ValueError(f"max_norm: {max_norm}, expected a number above 0")
    for name, g in grads.items():
        if not np.all(np.isfinite(g)):
            raise ValueError(f"grads[{name!r}] holds NaN or an infinity, expected finite numbers")
    largest = max((float(np.max(np.abs(g))) for g in grads.values() if np.size(g)), default=0.0)
    if largest == 0:
        largest = 1.0
    total = 0.0
    for g in grads.values():
        total = total + np.sum((g / largest) ** 2)
    length = np.sqrt(total)  # of the gradients divided by their largest entry
    norm = largest * float(length)
    if norm <= max_norm:
        return {name: np.array(g) for name, g in grads.items()}, norm
    return {name: g / largest * float(max_norm / length) for name, g in grads.items()}, norm


def check_step(step):
    if step < 0:
        raise ValueError(f"step: {step}, expected 0 or more")


def step_decay(step, base_rate, drop=0.5, period=10):
    check_step(step)
    if period < 1:
        raise ValueError(f"period: {period}, expected 1 or more")
    return base_rate * drop ** (step // period)


def exponential_decay(step, base_rate, decay_rate):
    check_step(step)
    return base_rate * math.exp(-decay_rate * step)


def cosine_annealing(step, base_rate, total_steps, min_rate=0.0):
    check_step(step)
    if total_steps < 1:
        raise ValueError(f"total_steps: {total_steps}, expected 1 or more")
    if step >= total_steps:
        return min_rate
    share = (1 + math.cos(math.pi * step / total_steps)) / 2
    return min_rate + (base_rate - min_rate) * share


def warmup_cosine(step, base_rate, warmup_steps, total_steps, min_rate=0.0):
    check_step(step)
    if warmup_steps < 0:
        raise ValueError(f"warmup_steps: {warmup_steps}, expected 0 or more")
    if total_steps <= warmup_steps:
        raise ValueError(f"total_steps: {total_steps}, expected more than warmup_steps, {warmup_steps}")
    if step < warmup_steps:
        return base_rate * step / warmup_steps
    return cosine_annealing(step - warmup_steps, base_rate, total_steps - warmup_steps, min_rate)


def backtracking_line_search(f, grad_f, x, direction, initial_step=1.0, shrink=0.5, c=1e-4):
    if np.shape(direction) != np.shape(x):
        raise ValueError(f"direction: shape {np.shape(direction)}, expected that of x, {np.shape(x)}")
    if not initial_step > 0:
        raise ValueError(f"initial_step: {initial_step}, expected a number above 0")
    if not 0 < shrink < 1:
        raise ValueError(f"shrink: {shrink}, expected a number between 0 and 1")
    if not 0 < c < 1:
        raise ValueError(f"c: {c}, expected a number between 0 and 1")
    slope = float(np.sum(grad_f(x) * direction))
    if not slope < 0:
        raise ValueError(f"direction: slope {slope}, expected one that leads down")
    start = f(x)
    t = initial_step
    for _ in range(200):
        value = f(x + t * direction)
        if value <= start + c * t * slope and value < start:
            return t
        t = t * shrink
    raise ValueError("no step size was enough: is grad_f the gradient of f?")


def minimize(f, grad_f, x0, step, num_iterations, **hyper):
    if num_iterations < 0:
        raise ValueError(f"num_iterations: {num_iterations}, expected 0 or more")
    x = np.array(x0)
    state = {}
    history = [f(x)]
    for _ in range(num_iterations):
        new, state = step({"x": x}, {"x": grad_f(x)}, state, **hyper)
        x = new["x"]
        history.append(f(x))
    return x, history

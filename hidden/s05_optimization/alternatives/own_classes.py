"""Optimisers that keep an object of their own in state, made anew at each step, and work in place on fresh arrays."""

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Memory:
    """What a rule remembers: how many steps it took, and for each name a pair of arrays."""

    count: int
    first: dict
    second: dict


def _begin(params, grads, state):
    for name in set(params) | set(grads):
        if name not in params or name not in grads:
            raise ValueError(f"{name!r} is missing from params or grads")
        if params[name].shape != grads[name].shape:
            raise ValueError(f"{name!r} has the shape {params[name].shape} in params, {grads[name].shape} in grads")
    if state:
        return replace(state["memory"], count=state["memory"].count + 1)
    return Memory(1, {k: np.zeros_like(v) for k, v in params.items()}, {k: np.zeros_like(v) for k, v in params.items()})


def _faded(arrays, share, new, weight):
    faded = {}
    for name, array in arrays.items():
        faded[name] = array.copy()
        faded[name] *= share
        faded[name] += weight * new[name]
    return faded


def _minus(params, changes, rate):
    moved = {}
    for name, value in params.items():
        moved[name] = changes[name].copy()
        moved[name] *= -rate
        moved[name] += value
    return moved


def sgd_step(params, grads, state, learning_rate=0.01):
    memory = _begin(params, grads, state)
    return _minus(params, grads, learning_rate), {"memory": memory}


def momentum_step(params, grads, state, learning_rate=0.01, momentum=0.9):
    memory = _begin(params, grads, state)
    memory = replace(memory, first=_faded(memory.first, momentum, grads, 1))
    return _minus(params, memory.first, learning_rate), {"memory": memory}


def nesterov_step(params, grads, state, learning_rate=0.01, momentum=0.9):
    memory = _begin(params, grads, state)
    memory = replace(memory, first=_faded(memory.first, momentum, grads, 1))
    return _minus(params, _faded(memory.first, momentum, grads, 1), learning_rate), {"memory": memory}


def _scaled(changes, squares, eps):
    return {name: np.divide(change, np.sqrt(squares[name]) + eps) for name, change in changes.items()}


def adagrad_step(params, grads, state, learning_rate=0.01, eps=1e-8):
    memory = _begin(params, grads, state)
    memory = replace(memory, second=_faded(memory.second, 1, {k: g * g for k, g in grads.items()}, 1))
    return _minus(params, _scaled(grads, memory.second, eps), learning_rate), {"memory": memory}


def rmsprop_step(params, grads, state, learning_rate=0.01, decay=0.9, eps=1e-8):
    memory = _begin(params, grads, state)
    memory = replace(memory, second=_faded(memory.second, decay, {k: g * g for k, g in grads.items()}, 1 - decay))
    return _minus(params, _scaled(grads, memory.second, eps), learning_rate), {"memory": memory}


def adam_step(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
    memory = _begin(params, grads, state)
    first = _faded(memory.first, beta1, grads, 1 - beta1)
    second = _faded(memory.second, beta2, {k: g * g for k, g in grads.items()}, 1 - beta2)
    means = {k: m / (1 - beta1**memory.count) for k, m in first.items()}
    squares = {k: s / (1 - beta2**memory.count) for k, s in second.items()}
    return _minus(params, _scaled(means, squares, eps), learning_rate), {"memory": Memory(memory.count, first, second)}


def adamw_step(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    changed, state = adam_step(params, grads, state, learning_rate, beta1, beta2, eps)
    return _minus(changed, params, learning_rate * weight_decay), state


def clip_by_global_norm(grads, max_norm):
    if not max_norm > 0 or any(np.isnan(g).any() or np.isinf(g).any() for g in grads.values()):
        raise ValueError("max_norm has to be above 0, and every gradient finite")
    norm = float(np.hypot.reduce([np.hypot.reduce(g.ravel(), dtype=np.float64) for g in grads.values()]))
    return {k: g * (max_norm / norm) if norm > max_norm else +g for k, g in grads.items()}, norm


def _at_least(value, least):
    if value < least:
        raise ValueError(f"{value} is below {least}")
    return value


def step_decay(step, base_rate, drop=0.5, period=10):
    whole, _ = divmod(_at_least(step, 0), _at_least(period, 1))
    return base_rate * np.prod(np.full(whole, drop))


def exponential_decay(step, base_rate, decay_rate):
    return np.float64(base_rate) * np.exp(-decay_rate * _at_least(step, 0))


def cosine_annealing(step, base_rate, total_steps, min_rate=0.0):
    share = np.clip(_at_least(step, 0) / _at_least(total_steps, 1), 0, 1)
    return np.asarray(min_rate + (base_rate - min_rate) * (np.cos(np.pi * share) + 1) / 2)


def warmup_cosine(step, base_rate, warmup_steps, total_steps, min_rate=0.0):
    _at_least(total_steps, _at_least(warmup_steps, 0) + 1)
    if _at_least(step, 0) < warmup_steps:
        return np.interp(step, [0, warmup_steps], [0, base_rate])
    return cosine_annealing(step - warmup_steps, base_rate, total_steps - warmup_steps, min_rate)


def backtracking_line_search(f, grad_f, x, direction, initial_step=1.0, shrink=0.5, c=1e-4):
    if direction.shape != x.shape or not (initial_step > 0 and 0 < shrink < 1 and 0 < c < 1):
        raise ValueError("direction, initial_step, shrink or c will not do")
    slope = np.einsum("...,...->", grad_f(x), direction) if x.ndim == 0 else np.sum(grad_f(x) * direction)
    if slope >= 0:
        raise ValueError("direction does not lead down")
    start = f(x)
    steps = (initial_step * shrink**count for count in range(210))
    values = ((step, f(x + step * direction)) for step in steps)
    found = next((t for t, value in values if value < start and value <= start + c * t * slope), None)
    if found is None:
        raise ValueError("no step is enough; is grad_f the gradient of f?")
    return np.float64(found)


def minimize(f, grad_f, x0, step, num_iterations, **hyper):
    points, state = [x0], {}
    for _ in range(_at_least(num_iterations, 0)):
        moved, state = step({"x": points[-1]}, {"x": grad_f(points[-1])}, state, **hyper)
        points.append(moved["x"])
    return points[-1], [f(point) for point in points]

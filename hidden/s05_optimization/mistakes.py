"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own function as the default of `right`.
"""

import math

import numpy as np

from grader.course.answers import mistake
from hidden.s05_optimization.solution import (
    _blend,
    _moved,
    _require_at_least,
    _require_matching,
    _squares,
    adagrad_step,
    adam_step,
    adamw_step,
    backtracking_line_search,
    clip_by_global_norm,
    cosine_annealing,
    exponential_decay,
    minimize,
    momentum_step,
    nesterov_step,
    rmsprop_step,
    sgd_step,
    step_decay,
    warmup_cosine,
)


@mistake(
    criterion="sgd",
    replaces="sgd_step",
    text="The gradient was added, so that every step climbs.",
    fix="Subtract learning_rate times the gradient: it points to where the loss grows.",
)
def sgd_climbs(params, grads, state, learning_rate=0.01, right=sgd_step):
    return right(params, grads, state, -learning_rate)


@mistake(
    criterion="sgd",
    replaces="sgd_step",
    text="What was passed in as params has changed, so whoever called the step has lost the old parameters.",
    fix="Build new arrays in a new dict: params[name] -= ... changes the caller's array, params[name] = ... its dict.",
)
def sgd_in_place(params, grads, state, learning_rate=0.01):
    _require_matching(params, grads)
    for name in params:
        params[name] -= learning_rate * grads[name]
    return params, state


@mistake(
    criterion="sgd",
    replaces="sgd_step",
    text="Only the parameters came back: the state is missing from the result.",
    fix="Return two values, (params, state), also from a rule that remembers nothing; its state may be {}.",
)
def sgd_without_state(params, grads, state, learning_rate=0.01, right=sgd_step):
    return right(params, grads, state, learning_rate)[0]


@mistake(
    criterion="sgd",
    replaces="sgd_step",
    text="A gradient of another shape than its parameter went through, because broadcasting stretched it.",
    fix="Compare the two shapes under each name before subtracting, and raise ValueError if they differ.",
)
def sgd_broadcasts(params, grads, state, learning_rate=0.01):
    if set(params) != set(grads):
        raise ValueError("grads: other names than params")
    return {name: params[name] - learning_rate * grads[name] for name in params}, {}


@mistake(
    criterion="sgd",
    replaces="sgd_step",
    text="Names that params and grads do not share were passed over in silence.",
    fix="Raise ValueError unless both dicts have the same set of names: a missing gradient is an error upstream.",
)
def sgd_skips_names(params, grads, state, learning_rate=0.01):
    shared = set(params) & set(grads)
    _require_matching({name: params[name] for name in shared}, {name: grads[name] for name in shared})
    return {name: p - learning_rate * grads[name] if name in shared else p for name, p in params.items()}, {}


@mistake(
    criterion="momentum",
    replaces="momentum_step",
    text="Each step began with a velocity of zero again, which makes it plain gradient descent: the state got lost.",
    fix="Read the old velocity out of state, and return the new one in the state of the result.",
)
def momentum_forgets(params, grads, state, learning_rate=0.01, momentum=0.9):
    _require_matching(params, grads)
    return _moved(params, grads, learning_rate), {}


@mistake(
    criterion="momentum",
    replaces="momentum_step",
    text="The gradient was multiplied by (1 - momentum) on its way into the velocity, as in a running average.",
    fix="Add the whole gradient: v = momentum * v + g. The velocity is a sum, up to 1 / (1 - momentum) gradients long.",
)
def momentum_as_average(params, grads, state, learning_rate=0.01, momentum=0.9):
    _require_matching(params, grads)
    velocity = _blend(momentum, state.get("velocity", {}), 1 - momentum, grads)
    return _moved(params, velocity, learning_rate), {"velocity": velocity}


@mistake(
    criterion="momentum",
    replaces="momentum_step",
    text="The learning rate was applied twice: once on the way into the velocity, and once more in the step.",
    fix="Keep it out of the velocity, v = momentum * v + g, and multiply by it in the step only.",
)
def momentum_rate_twice(params, grads, state, learning_rate=0.01, momentum=0.9):
    _require_matching(params, grads)
    velocity = _blend(momentum, state.get("velocity", {}), learning_rate, grads)
    return _moved(params, velocity, learning_rate), {"velocity": velocity}


@mistake(
    criterion="momentum",
    replaces="momentum_step",
    text="The step used the velocity from before, which does not know the newest gradient yet.",
    fix="Update the velocity first, and step along the new one.",
)
def momentum_one_step_late(params, grads, state, learning_rate=0.01, momentum=0.9):
    _require_matching(params, grads)
    before = state.get("velocity", {name: 0.0 * value for name, value in grads.items()})
    return _moved(params, before, learning_rate), {"velocity": _blend(momentum, before, 1.0, grads)}


@mistake(
    criterion="momentum",
    replaces="momentum_step",
    text="The velocity in state was changed in place, so that a second step from the same state goes elsewhere.",
    fix="Compute each velocity as a new array and return it in a new dict; leave the old state alone.",
)
def momentum_changes_state(params, grads, state, learning_rate=0.01, momentum=0.9):
    _require_matching(params, grads)
    velocity = state.setdefault("velocity", {name: np.zeros_like(value) for name, value in params.items()})
    for name in velocity:
        velocity[name] *= momentum
        velocity[name] += grads[name]
    return _moved(params, velocity, learning_rate), state


@mistake(
    criterion="momentum",
    replaces="momentum_step",
    text="The velocity never fades: old gradients count as much as the newest.",
    fix="Multiply the old velocity by momentum before the gradient is added.",
)
def momentum_never_fades(params, grads, state, learning_rate=0.01, momentum=0.9, right=momentum_step):
    return right(params, grads, state, learning_rate, 1.0)


@mistake(
    criterion="momentum",
    replaces="momentum_step",
    text="The first velocity was the whole gradient, but later ones got (1 - momentum) of theirs: that is an average.",
    fix="Add the whole gradient at every step: v = momentum * v + g.",
)
def momentum_dampened(params, grads, state, learning_rate=0.01, momentum=0.9):
    _require_matching(params, grads)
    before = state.get("velocity")
    velocity = dict(grads) if before is None else _blend(momentum, before, 1 - momentum, grads)
    return _moved(params, velocity, learning_rate), {"velocity": velocity}


@mistake(
    criterion="momentum",
    replaces="momentum_step",
    text="The newest gradient was multiplied by momentum too: v = momentum * (v + g).",
    fix="Let the old velocity alone fade: v = momentum * v + g.",
)
def momentum_fades_the_newest(params, grads, state, learning_rate=0.01, momentum=0.9):
    _require_matching(params, grads)
    velocity = _blend(momentum, state.get("velocity", {}), momentum, grads)
    return _moved(params, velocity, learning_rate), {"velocity": velocity}


@mistake(
    criterion="nesterov",
    replaces="nesterov_step",
    text="This is momentum_step: the step is the new velocity, without the look ahead.",
    fix="Step along g + momentum * v, with the new velocity v.",
)
def nesterov_is_plain_momentum(params, grads, state, learning_rate=0.01, momentum=0.9, plain=momentum_step):
    return plain(params, grads, state, learning_rate, momentum)


@mistake(
    criterion="nesterov",
    replaces="nesterov_step",
    text="The step was g + v: the velocity in it was not multiplied by momentum.",
    fix="Multiply the new velocity by momentum once more in the step: g + momentum * v.",
)
def nesterov_full_velocity(params, grads, state, learning_rate=0.01, momentum=0.9):
    _require_matching(params, grads)
    velocity = _blend(momentum, state.get("velocity", {}), 1.0, grads)
    return _moved(params, _blend(1.0, velocity, 1.0, grads), learning_rate), {"velocity": velocity}


@mistake(
    criterion="nesterov",
    replaces="nesterov_step",
    text="The step was momentum * v alone: the gradient that corrects it is missing.",
    fix="Add the gradient to it: g + momentum * v.",
)
def nesterov_without_correction(params, grads, state, learning_rate=0.01, momentum=0.9):
    _require_matching(params, grads)
    velocity = _blend(momentum, state.get("velocity", {}), 1.0, grads)
    return _moved(params, velocity, learning_rate * momentum), {"velocity": velocity}


@mistake(
    criterion="nesterov",
    replaces="nesterov_step",
    text="The step g + momentum * v was kept as the velocity, so that the look ahead piles up.",
    fix="Keep v = momentum * v + g in the state; the look ahead is for the step only.",
)
def nesterov_keeps_the_step(params, grads, state, learning_rate=0.01, momentum=0.9):
    _require_matching(params, grads)
    velocity = _blend(momentum, state.get("velocity", {}), 1.0, grads)
    ahead = _blend(momentum, velocity, 1.0, grads)
    return _moved(params, ahead, learning_rate), {"velocity": ahead}


@mistake(
    criterion="nesterov",
    replaces="nesterov_step",
    text="The gradient was multiplied by (1 - momentum) on its way into the velocity, as in a running average.",
    fix="Add the whole gradient: v = momentum * v + g.",
)
def nesterov_as_average(params, grads, state, learning_rate=0.01, momentum=0.9):
    _require_matching(params, grads)
    velocity = _blend(momentum, state.get("velocity", {}), 1 - momentum, grads)
    return _moved(params, _blend(momentum, velocity, 1.0, grads), learning_rate), {"velocity": velocity}


@mistake(
    criterion="nesterov",
    replaces="nesterov_step",
    text="Each step began with an empty state: what the step before returned in it was not used.",
    fix="Read the old velocity out of state, and return the new one in the state of the result.",
)
def nesterov_forgets(params, grads, state, learning_rate=0.01, momentum=0.9, right=nesterov_step):
    return right(params, grads, {}, learning_rate, momentum)


@mistake(
    criterion="adagrad",
    replaces="adagrad_step",
    text="The gradient was divided by the sum of squares itself.",
    fix="Divide by the root of the sum: the quotient then has no unit, and its size does not depend on the gradient's.",
)
def adagrad_without_root(params, grads, state, learning_rate=0.01, eps=1e-8):
    _require_matching(params, grads)
    squares = _blend(1.0, state.get("squares", {}), 1.0, _squares(grads))
    change = {name: value / (squares[name] + eps) for name, value in grads.items()}
    return _moved(params, change, learning_rate), {"squares": squares}


@mistake(
    criterion="adagrad",
    replaces="adagrad_step",
    text="Only the newest square was used, so every step is one learning rate long: the sum in state got lost.",
    fix="Read the old sum out of state, add the new squares, and return the sum in the new state.",
)
def adagrad_forgets(params, grads, state, learning_rate=0.01, eps=1e-8):
    _require_matching(params, grads)
    squares = _squares(grads)
    change = {name: value / (np.sqrt(squares[name]) + eps) for name, value in grads.items()}
    return _moved(params, change, learning_rate), {"squares": squares}


@mistake(
    criterion="adagrad",
    replaces="adagrad_step",
    text="The squares of a whole array were added up to one number, so that all its entries share one rate.",
    fix="Square and add entry by entry: s has the shape of its parameter.",
)
def adagrad_one_rate_for_all(params, grads, state, learning_rate=0.01, eps=1e-8):
    _require_matching(params, grads)
    squares = _blend(
        1.0,
        state.get("squares", {}),
        1.0,
        {name: np.full_like(value, np.sum(value**2)) for name, value in grads.items()},
    )
    change = {name: value / (np.sqrt(squares[name]) + eps) for name, value in grads.items()}
    return _moved(params, change, learning_rate), {"squares": squares}


@mistake(
    criterion="adagrad",
    replaces="adagrad_step",
    text="The step was divided by the root of the old sum, before the newest square had been added.",
    fix="Add g ** 2 to the sum first, then divide by the root of the new sum.",
)
def adagrad_one_step_late(params, grads, state, learning_rate=0.01, eps=1e-8):
    _require_matching(params, grads)
    before = state.get("squares", {name: 0.0 * value for name, value in grads.items()})
    change = {name: value / (np.sqrt(before[name]) + eps) for name, value in grads.items()}
    return _moved(params, change, learning_rate), {"squares": _blend(1.0, before, 1.0, _squares(grads))}


@mistake(
    criterion="adagrad",
    replaces="adagrad_step",
    text="0 divided by 0 gave NaN at an entry that has had no gradient.",
    fix="Add eps to the root, so that the quotient is 0 there.",
)
def adagrad_without_eps(params, grads, state, learning_rate=0.01, eps=1e-8):
    _require_matching(params, grads)
    squares = _blend(1.0, state.get("squares", {}), 1.0, _squares(grads))
    change = {name: value / np.sqrt(squares[name]) for name, value in grads.items()}
    return _moved(params, change, learning_rate), {"squares": squares}


@mistake(
    criterion="adagrad",
    replaces="adagrad_step",
    text="The squares fade, as in RMSprop: the old sum was multiplied by a decay.",
    fix="Add them all up with full weight: s = s + g^2.",
)
def adagrad_fades(params, grads, state, learning_rate=0.01, eps=1e-8):
    _require_matching(params, grads)
    squares = _blend(0.9, state.get("squares", {}), 0.1, _squares(grads))
    change = {name: value / (np.sqrt(squares[name]) + eps) for name, value in grads.items()}
    return _moved(params, change, learning_rate), {"squares": squares}


@mistake(
    criterion="adagrad",
    replaces="adagrad_step",
    text="The argument eps had no effect: another number stands in its place.",
    fix="Add the argument itself, eps, whose default is 1e-8.",
)
def adagrad_fixed_eps(params, grads, state, learning_rate=0.01, eps=1e-8, right=adagrad_step):
    return right(params, grads, state, learning_rate)


@mistake(
    criterion="rmsprop",
    replaces="rmsprop_step",
    text="decay and 1 - decay changed places: the average follows the newest square and forgets the old ones.",
    fix="Multiply the old average by decay and the new square by 1 - decay.",
)
def rmsprop_shares_swapped(params, grads, state, learning_rate=0.01, decay=0.9, eps=1e-8):
    _require_matching(params, grads)
    squares = _blend(1 - decay, state.get("squares", {}), decay, _squares(grads))
    change = {name: value / (np.sqrt(squares[name]) + eps) for name, value in grads.items()}
    return _moved(params, change, learning_rate), {"squares": squares}


@mistake(
    criterion="rmsprop",
    replaces="rmsprop_step",
    text="The new square went in with full weight, so this is a fading sum and too large for an average.",
    fix="Multiply the new square by 1 - decay.",
)
def rmsprop_adds_whole_squares(params, grads, state, learning_rate=0.01, decay=0.9, eps=1e-8):
    _require_matching(params, grads)
    squares = _blend(decay, state.get("squares", {}), 1.0, _squares(grads))
    change = {name: value / (np.sqrt(squares[name]) + eps) for name, value in grads.items()}
    return _moved(params, change, learning_rate), {"squares": squares}


@mistake(
    criterion="rmsprop",
    replaces="rmsprop_step",
    text="The average was corrected for its start at zero, as in Adam.",
    fix="Leave the average as it is: RMSprop has no bias correction, and its first steps are long.",
)
def rmsprop_corrected(params, grads, state, learning_rate=0.01, decay=0.9, eps=1e-8):
    _require_matching(params, grads)
    count = state.get("count", 0) + 1
    squares = _blend(decay, state.get("squares", {}), 1 - decay, _squares(grads))
    change = {name: value / (np.sqrt(squares[name] / (1 - decay**count)) + eps) for name, value in grads.items()}
    return _moved(params, change, learning_rate), {"squares": squares, "count": count}


@mistake(
    criterion="rmsprop",
    replaces="rmsprop_step",
    text="The gradient was divided by the average of the squares itself.",
    fix="Take the root: RMS is the root of the mean of the squares.",
)
def rmsprop_without_root(params, grads, state, learning_rate=0.01, decay=0.9, eps=1e-8):
    _require_matching(params, grads)
    squares = _blend(decay, state.get("squares", {}), 1 - decay, _squares(grads))
    change = {name: value / (squares[name] + eps) for name, value in grads.items()}
    return _moved(params, change, learning_rate), {"squares": squares}


@mistake(
    criterion="rmsprop",
    replaces="rmsprop_step",
    text="The sizes of the gradients were averaged instead of their squares.",
    fix="Square first, average the squares, and take the root of the average.",
)
def rmsprop_averages_sizes(params, grads, state, learning_rate=0.01, decay=0.9, eps=1e-8):
    _require_matching(params, grads)
    squares = _blend(decay, state.get("squares", {}), 1 - decay, {name: np.abs(value) for name, value in grads.items()})
    change = {name: value / (squares[name] + eps) for name, value in grads.items()}
    return _moved(params, change, learning_rate), {"squares": squares}


@mistake(
    criterion="rmsprop",
    replaces="rmsprop_step",
    text="The average in state was changed in place, so that a second step from the same state goes elsewhere.",
    fix="Compute each average as a new array and return it under a new dict.",
)
def rmsprop_changes_state(params, grads, state, learning_rate=0.01, decay=0.9, eps=1e-8):
    _require_matching(params, grads)
    squares = state.setdefault("squares", {name: np.zeros_like(value) for name, value in params.items()})
    for name in squares:
        squares[name] *= decay
        squares[name] += (1 - decay) * grads[name] ** 2
    change = {name: value / (np.sqrt(squares[name]) + eps) for name, value in grads.items()}
    return _moved(params, change, learning_rate), state


@mistake(
    criterion="rmsprop",
    replaces="rmsprop_step",
    text="0 divided by 0 gave NaN at an entry that has had no gradient.",
    fix="Add eps to the root, so that the quotient is 0 there.",
)
def rmsprop_without_eps(params, grads, state, learning_rate=0.01, decay=0.9, eps=1e-8):
    _require_matching(params, grads)
    squares = _blend(decay, state.get("squares", {}), 1 - decay, _squares(grads))
    change = {name: value / np.sqrt(squares[name]) for name, value in grads.items()}
    return _moved(params, change, learning_rate), {"squares": squares}


@mistake(
    criterion="rmsprop",
    replaces="rmsprop_step",
    text="The argument eps had no effect: another number stands in its place.",
    fix="Add the argument itself, eps, whose default is 1e-8.",
)
def rmsprop_fixed_eps(params, grads, state, learning_rate=0.01, decay=0.9, eps=1e-8, right=rmsprop_step):
    return right(params, grads, state, learning_rate, decay)


@mistake(
    criterion="rmsprop",
    replaces="rmsprop_step",
    text="Each step began with an empty state: what the step before returned in it was not used.",
    fix="Read the old average out of state, and return the new one in the state of the result.",
)
def rmsprop_forgets(params, grads, state, learning_rate=0.01, decay=0.9, eps=1e-8, right=rmsprop_step):
    return right(params, grads, {}, learning_rate, decay, eps)


@mistake(
    criterion="adam",
    replaces="adam_step",
    text="Neither average was corrected for its start at zero: by default the first step is 3.16 learning rates long.",
    fix="Divide m by 1 - beta1^t and s by 1 - beta2^t before they are used, where t is 1 in the first step.",
)
def adam_uncorrected(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
    _require_matching(params, grads)
    count = state.get("count", 0) + 1
    means = _blend(beta1, state.get("means", {}), 1 - beta1, grads)
    squares = _blend(beta2, state.get("squares", {}), 1 - beta2, _squares(grads))
    change = {name: means[name] / (np.sqrt(squares[name]) + eps) for name in params}
    return _moved(params, change, learning_rate), {"count": count, "means": means, "squares": squares}


@mistake(
    criterion="adam",
    replaces="adam_step",
    text="Only the average of the gradients was corrected; that of the squares was used as it is.",
    fix="Divide s by 1 - beta2^t as well, before the root.",
)
def adam_squares_uncorrected(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
    _require_matching(params, grads)
    count = state.get("count", 0) + 1
    means = _blend(beta1, state.get("means", {}), 1 - beta1, grads)
    squares = _blend(beta2, state.get("squares", {}), 1 - beta2, _squares(grads))
    change = {name: means[name] / (1 - beta1**count) / (np.sqrt(squares[name]) + eps) for name in params}
    return _moved(params, change, learning_rate), {"count": count, "means": means, "squares": squares}


@mistake(
    criterion="adam",
    replaces="adam_step",
    text="Only the average of the squares was corrected; that of the gradients was used as it is.",
    fix="Divide m by 1 - beta1^t as well.",
)
def adam_means_uncorrected(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
    _require_matching(params, grads)
    count = state.get("count", 0) + 1
    means = _blend(beta1, state.get("means", {}), 1 - beta1, grads)
    squares = _blend(beta2, state.get("squares", {}), 1 - beta2, _squares(grads))
    change = {name: means[name] / (np.sqrt(squares[name] / (1 - beta2**count)) + eps) for name in params}
    return _moved(params, change, learning_rate), {"count": count, "means": means, "squares": squares}


@mistake(
    criterion="adam",
    replaces="adam_step",
    text="The steps were counted from 0, so the first correction divides by 1 - beta^0, which is 0.",
    fix="Add 1 to the count before it is used: t is 1 in the first step.",
)
def adam_counts_from_zero(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
    _require_matching(params, grads)
    count = state.get("count", 0)
    means = _blend(beta1, state.get("means", {}), 1 - beta1, grads)
    squares = _blend(beta2, state.get("squares", {}), 1 - beta2, _squares(grads))
    change = {
        name: means[name] / (1 - beta1**count) / (np.sqrt(squares[name] / (1 - beta2**count)) + eps) for name in params
    }
    return _moved(params, change, learning_rate), {"count": count + 1, "means": means, "squares": squares}


@mistake(
    criterion="adam",
    replaces="adam_step",
    text="The count stays at 1, so every step is corrected as if it were the first.",
    fix="Return the increased count in the new state, and read it from there at the next step.",
)
def adam_count_stays(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
    _require_matching(params, grads)
    count = 1
    means = _blend(beta1, state.get("means", {}), 1 - beta1, grads)
    squares = _blend(beta2, state.get("squares", {}), 1 - beta2, _squares(grads))
    change = {
        name: means[name] / (1 - beta1**count) / (np.sqrt(squares[name] / (1 - beta2**count)) + eps) for name in params
    }
    return _moved(params, change, learning_rate), {"count": count, "means": means, "squares": squares}


@mistake(
    criterion="adam",
    replaces="adam_step",
    text="The corrected averages were kept in the state, and the next step corrected them again.",
    fix="Keep m and s uncorrected; the corrected values are for the step only.",
)
def adam_keeps_corrected(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
    _require_matching(params, grads)
    count = state.get("count", 0) + 1
    means = _blend(beta1, state.get("means", {}), 1 - beta1, grads)
    squares = _blend(beta2, state.get("squares", {}), 1 - beta2, _squares(grads))
    means = {name: value / (1 - beta1**count) for name, value in means.items()}
    squares = {name: value / (1 - beta2**count) for name, value in squares.items()}
    change = {name: means[name] / (np.sqrt(squares[name]) + eps) for name in params}
    return _moved(params, change, learning_rate), {"count": count, "means": means, "squares": squares}


@mistake(
    criterion="adam",
    replaces="adam_step",
    text="beta1 and beta2 changed places: the gradients were averaged with beta2, their squares with beta1.",
    fix="Use beta1 for m and its correction, beta2 for s and its correction.",
)
def adam_betas_swapped(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8, right=adam_step):
    return right(params, grads, state, learning_rate, beta2, beta1, eps)


@mistake(
    criterion="adam",
    replaces="adam_step",
    text="The second average was made of the squared mean m^2 instead of the squared gradient g^2.",
    fix="Square the gradient: s = beta2 * s + (1 - beta2) * g^2.",
)
def adam_squares_the_mean(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
    _require_matching(params, grads)
    count = state.get("count", 0) + 1
    means = _blend(beta1, state.get("means", {}), 1 - beta1, grads)
    squares = _blend(beta2, state.get("squares", {}), 1 - beta2, _squares(means))
    change = {
        name: means[name] / (1 - beta1**count) / (np.sqrt(squares[name] / (1 - beta2**count)) + eps) for name in params
    }
    return _moved(params, change, learning_rate), {"count": count, "means": means, "squares": squares}


@mistake(
    criterion="adam",
    replaces="adam_step",
    text="The mean was divided by the average of the squares itself.",
    fix="Take the root of the corrected average: s has the unit of a squared gradient.",
)
def adam_without_root(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
    _require_matching(params, grads)
    count = state.get("count", 0) + 1
    means = _blend(beta1, state.get("means", {}), 1 - beta1, grads)
    squares = _blend(beta2, state.get("squares", {}), 1 - beta2, _squares(grads))
    change = {name: means[name] / (1 - beta1**count) / (squares[name] / (1 - beta2**count) + eps) for name in params}
    return _moved(params, change, learning_rate), {"count": count, "means": means, "squares": squares}


@mistake(
    criterion="adam",
    replaces="adam_step",
    text="0 divided by 0 gave NaN at an entry that has had no gradient.",
    fix="Add eps to the root, so that the quotient is 0 there.",
)
def adam_without_eps(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
    _require_matching(params, grads)
    count = state.get("count", 0) + 1
    means = _blend(beta1, state.get("means", {}), 1 - beta1, grads)
    squares = _blend(beta2, state.get("squares", {}), 1 - beta2, _squares(grads))
    change = {name: means[name] / (1 - beta1**count) / np.sqrt(squares[name] / (1 - beta2**count)) for name in params}
    return _moved(params, change, learning_rate), {"count": count, "means": means, "squares": squares}


@mistake(
    criterion="adam",
    replaces="adam_step",
    text="The state began as float64 arrays, which turned float32 parameters into float64 ones.",
    fix="Begin with np.zeros_like(parameter), or with the number 0.0: both leave float32 as it is.",
)
def adam_state_in_float64(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
    _require_matching(params, grads)
    count = state.get("count", 0) + 1
    zeros = {name: np.zeros(value.shape) for name, value in params.items()}
    means = _blend(beta1, state.get("means", zeros), 1 - beta1, grads)
    squares = _blend(beta2, state.get("squares", zeros), 1 - beta2, _squares(grads))
    change = {
        name: means[name] / (1 - beta1**count) / (np.sqrt(squares[name] / (1 - beta2**count)) + eps) for name in params
    }
    return _moved(params, change, learning_rate), {"count": count, "means": means, "squares": squares}


@mistake(
    criterion="adam",
    replaces="adam_step",
    text="The argument eps had no effect: another number stands in its place.",
    fix="Add the argument itself, eps, whose default is 1e-8.",
)
def adam_fixed_eps(
    params, grads, state, learning_rate=0.001, *of_adamw, beta1=0.9, beta2=0.999, eps=1e-8, right=adam_step
):
    return right(params, grads, state, learning_rate, *(of_adamw or (beta1, beta2)))  # adamw_step passes all by place


@mistake(
    criterion="adam",
    replaces="adam_step",
    text="Each step began with an empty state: what the step before returned in it was not used.",
    fix="Read count, means and squares out of state, and return the new ones in the state of the result.",
)
def adam_forgets(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8, right=adam_step):
    return right(params, grads, {}, learning_rate, beta1, beta2, eps)


@mistake(
    criterion="adam",
    replaces="adam_step",
    text="The average of the gradients began as the first gradient, and was still corrected for a start at zero.",
    fix="Begin it at zero: in the first step it is (1 - beta1) * g, which the correction makes g.",
)
def adam_begins_with_the_gradient(params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
    _require_matching(params, grads)
    count = state.get("count", 0) + 1
    means = _blend(beta1, state.get("means", grads), 1 - beta1, grads)
    squares = _blend(beta2, state.get("squares", {}), 1 - beta2, _squares(grads))
    change = {
        name: means[name] / (1 - beta1**count) / (np.sqrt(squares[name] / (1 - beta2**count)) + eps) for name in params
    }
    return _moved(params, change, learning_rate), {"count": count, "means": means, "squares": squares}


@mistake(
    criterion="adamw",
    replaces="adamw_step",
    text="The decay was added to the gradient, so Adam divides it by the gradients' size: that is L2 regularisation.",
    fix="Give Adam the gradient alone, and shrink the parameters beside it.",
)
def adamw_decay_in_the_gradient(
    params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01, adam=adam_step
):
    _require_matching(params, grads)
    decayed = {name: value + weight_decay * params[name] for name, value in grads.items()}
    return adam(params, decayed, state, learning_rate, beta1, beta2, eps)


@mistake(
    criterion="adamw",
    replaces="adamw_step",
    text="The decay was not multiplied by the learning rate.",
    fix="Shrink by learning_rate * weight_decay, so that a schedule of the rate slows the decay down too.",
)
def adamw_decay_without_rate(
    params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01, adam=adam_step
):
    return adam(
        {name: value * (1 - weight_decay) for name, value in params.items()},
        grads,
        state,
        learning_rate,
        beta1,
        beta2,
        eps,
    )


@mistake(
    criterion="adamw",
    replaces="adamw_step",
    text="The parameters were shrunk after Adam's step, so the step itself was shrunk too.",
    fix="Take the decay from the parameters as they were before the step.",
)
def adamw_decays_after_the_step(
    params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01, adam=adam_step
):
    changed, state = adam(params, grads, state, learning_rate, beta1, beta2, eps)
    return {name: value * (1 - learning_rate * weight_decay) for name, value in changed.items()}, state


@mistake(
    criterion="adamw",
    replaces="adamw_step",
    text="This is Adam: weight_decay had no effect.",
    fix="Take learning_rate * weight_decay * p off each parameter, beside Adam's step.",
)
def adamw_without_decay(
    params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01, adam=adam_step
):
    return adam(params, grads, state, learning_rate, beta1, beta2, eps)


@mistake(
    criterion="adamw",
    replaces="adamw_step",
    text="The parameters grew: the decay was added.",
    fix="Subtract learning_rate * weight_decay * p, so that every entry moves towards 0.",
)
def adamw_grows(
    params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01, right=adamw_step
):
    return right(params, grads, state, learning_rate, beta1, beta2, eps, -weight_decay)


@mistake(
    criterion="adamw",
    replaces="adamw_step",
    text="Arrays with one axis, such as biases, were spared from the decay.",
    fix="Let every array decay. (To spare some, training code calls the step twice, with two groups of parameters.)",
)
def adamw_spares_biases(
    params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01, adam=adam_step
):
    share = {name: learning_rate * weight_decay if value.ndim > 1 else 0.0 for name, value in params.items()}
    return adam(
        {name: value * (1 - share[name]) for name, value in params.items()},
        grads,
        state,
        learning_rate,
        beta1,
        beta2,
        eps,
    )


@mistake(
    criterion="adamw",
    replaces="adamw_step",
    text="The argument eps had no effect: another number stands in its place.",
    fix="Hand eps on to Adam's step; its default is 1e-8.",
)
def adamw_fixed_eps(
    params, grads, state, learning_rate=0.001, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01, right=adamw_step
):
    return right(params, grads, state, learning_rate, beta1, beta2, weight_decay=weight_decay)


@mistake(
    criterion="clip-norm",
    replaces="clip_by_global_norm",
    text="Each array was scaled by its own norm, which turns the gradient as a whole into another direction.",
    fix="Take one norm over the entries of all arrays, and multiply every array by the same factor.",
)
def clip_each_array_by_itself(grads, max_norm, right=clip_by_global_norm):
    alone = {name: right({name: value}, max_norm)[0][name] for name, value in grads.items()}
    return alone, right(grads, max_norm)[1]


@mistake(
    criterion="clip-norm",
    replaces="clip_by_global_norm",
    text="Every entry was cut off at max_norm, which bounds the entries and not their common length.",
    fix="Multiply all arrays by max_norm / norm if norm is larger than max_norm.",
)
def clip_each_entry(grads, max_norm, right=clip_by_global_norm):
    cut = {name: np.clip(value, -max_norm, max_norm) for name, value in grads.items()}
    return cut, right(grads, max_norm)[1]


@mistake(
    criterion="clip-norm",
    replaces="clip_by_global_norm",
    text="Short gradients were stretched to max_norm.",
    fix="Multiply by min(1, max_norm / norm): gradients below max_norm stay as they are.",
)
def clip_stretches_short_gradients(grads, max_norm, right=clip_by_global_norm):
    norm = right(grads, max_norm)[1]
    return {name: value * (max_norm / norm if norm else 1.0) for name, value in grads.items()}, norm


@mistake(
    criterion="clip-norm",
    replaces="clip_by_global_norm",
    text="The norm that came back is that of the clipped gradients.",
    fix="Return the norm from before clipping: it is what one watches in training.",
)
def clip_returns_the_norm_after(grads, max_norm, right=clip_by_global_norm):
    result, norm = right(grads, max_norm)
    return result, min(norm, max_norm)


@mistake(
    criterion="clip-norm",
    replaces="clip_by_global_norm",
    text="The sum of squares was used as the norm: the root is missing.",
    fix="Take the square root of the sum of all squares.",
)
def clip_without_root(grads, max_norm, right=clip_by_global_norm):
    norm = right(grads, max_norm)[1] ** 2
    return {name: value * (max_norm / max(norm, max_norm)) for name, value in grads.items()}, norm


@mistake(
    criterion="clip-norm",
    replaces="clip_by_global_norm",
    text="The norms of the arrays were added up.",
    fix="Add up the squares of all entries, and take one root at the end.",
)
def clip_adds_norms(grads, max_norm, right=clip_by_global_norm):
    norm = sum(right({name: value}, max_norm)[1] for name, value in grads.items())
    return {name: value * (max_norm / max(norm, max_norm)) for name, value in grads.items()}, norm


@mistake(
    criterion="clip-norm",
    replaces="clip_by_global_norm",
    text="The gradients were scaled in place: the arrays that were passed in have changed.",
    fix="Return new arrays under a new dict; *= on an array changes the caller's.",
)
def clip_in_place(grads, max_norm, right=clip_by_global_norm):
    norm = right(grads, max_norm)[1]
    for value in grads.values():
        value *= max_norm / max(norm, max_norm)
    return grads, norm


@mistake(
    criterion="clip-norm",
    replaces="clip_by_global_norm",
    text="A max_norm of NaN went through: NaN <= 0 is False, too.",
    fix="Ask the other way round, and raise ValueError if not max_norm > 0.",
)
def clip_to_nan(grads, max_norm, right=clip_by_global_norm):
    if max_norm != max_norm:
        return {name: value * max_norm for name, value in grads.items()}, right(grads, 1.0)[1]
    return right(grads, max_norm)


@mistake(
    criterion="clip-extremes",
    replaces="clip_by_global_norm",
    text="The squares were taken as they are: those of huge gradients overflow, those of tiny ones become 0.",
    fix="Divide by the largest size of an entry before squaring, and multiply the root by it afterwards.",
)
def clip_squares_overflow(grads, max_norm):
    if not max_norm > 0 or not all(np.isfinite(value).all() for value in grads.values()):
        raise ValueError("max_norm: expected above 0, and finite gradients")
    norm = math.sqrt(sum(float(np.sum(value**2)) for value in grads.values()))
    return {name: value * (max_norm / max(norm, max_norm)) for name, value in grads.items()}, norm


@mistake(
    criterion="clip-extremes",
    replaces="clip_by_global_norm",
    text="Squaring in float64 is enough for float32 gradients, but those of float64 still overflow, or become 0.",
    fix="Divide by the largest size of an entry before squaring: that works at any precision.",
)
def clip_squares_in_float64(grads, max_norm):
    if not max_norm > 0 or not all(np.isfinite(value).all() for value in grads.values()):
        raise ValueError("max_norm: expected above 0, and finite gradients")
    norm = math.sqrt(sum(float(np.sum(value.astype(np.float64) ** 2)) for value in grads.values()))
    return {name: value * (max_norm / max(norm, max_norm)) for name, value in grads.items()}, norm


@mistake(
    criterion="clip-extremes",
    replaces="clip_by_global_norm",
    text="Gradients with NaN or an infinity went through, and the next step would spread that to every parameter.",
    fix="Raise ValueError unless all entries are finite: such a gradient has no direction that clipping could keep.",
)
def clip_lets_nan_through(grads, max_norm):
    if not max_norm > 0:
        raise ValueError("max_norm: expected above 0")
    largest = max(float(np.abs(value).max()) for value in grads.values()) or 1.0
    norm = largest * math.sqrt(sum(float(np.sum((value / largest) ** 2)) for value in grads.values()))
    return {name: value * (max_norm / max(norm, max_norm)) for name, value in grads.items()}, norm


@mistake(
    criterion="clip-extremes",
    replaces="clip_by_global_norm",
    text="A small number was added to the norm, and for tiny gradients that number is all that came back.",
    fix="Return the norm itself; max_norm / max(norm, max_norm) never divides by 0.",
)
def clip_adds_to_the_norm(grads, max_norm, right=clip_by_global_norm):
    norm = right(grads, max_norm)[1] + 1e-6
    return {name: value * (max_norm / max(norm, max_norm)) for name, value in grads.items()}, norm


@mistake(
    criterion="clip-extremes",
    replaces="clip_by_global_norm",
    text="1e-6 was added to the norm before max_norm was divided by it, which makes tiny gradients far too short.",
    fix="Use max_norm / max(norm, max_norm): it never divides by 0, and needs no small number.",
)
def clip_guards_the_quotient(grads, max_norm, right=clip_by_global_norm):
    norm = right(grads, max_norm)[1]
    return {name: value * min(1.0, max_norm / (norm + 1e-6)) for name, value in grads.items()}, norm


@mistake(
    criterion="clip-extremes",
    replaces="clip_by_global_norm",
    text="The largest entry was taken out before squaring, not the largest size of one: -1e200 is not large that way.",
    fix="Take np.abs first: the largest of the sizes.",
)
def clip_forgets_the_sign(grads, max_norm):
    if not max_norm > 0 or not all(np.isfinite(value).all() for value in grads.values()):
        raise ValueError("max_norm: expected above 0, and finite gradients")
    largest = max(0.0, *(float(value.max()) for value in grads.values())) or 1.0
    norm = largest * math.sqrt(sum(float(np.sum((value / largest) ** 2)) for value in grads.values()))
    return {name: value * (max_norm / max(norm, max_norm)) for name, value in grads.items()}, norm


@mistake(
    criterion="decay-schedules",
    replaces="step_decay",
    text="The rate falls a little at every step: step / period was not rounded down.",
    fix="Use the whole number of periods that are over, step // period.",
)
def step_decay_without_stairs(step, base_rate, drop=0.5, period=10):
    _require_at_least(0, step=step)
    _require_at_least(1, period=period)
    return base_rate * drop ** (step / period)


@mistake(
    criterion="decay-schedules",
    replaces="step_decay",
    text="The rate drops one step too early: the steps were counted from 1.",
    fix="Count from 0: steps 0 to period - 1 have base_rate.",
)
def step_decay_one_step_early(step, base_rate, drop=0.5, period=10):
    _require_at_least(0, step=step)
    _require_at_least(1, period=period)
    return base_rate * drop ** ((step + 1) // period)


@mistake(
    criterion="decay-schedules",
    replaces="step_decay",
    text="The rate drops once and then stays: it was multiplied by drop a single time.",
    fix="Raise drop to the power of the periods that are over.",
)
def step_decay_drops_once(step, base_rate, drop=0.5, period=10):
    _require_at_least(0, step=step)
    _require_at_least(1, period=period)
    return base_rate * (drop if step >= period else 1)


@mistake(
    criterion="decay-schedules",
    replaces="exponential_decay",
    text="decay_rate was taken as the factor of a step, and raised to the power of step.",
    fix="Use it as the rate of an exponential, exp(-decay_rate * step): the factor of a step is exp(-decay_rate).",
)
def exponential_decay_by_powers(step, base_rate, decay_rate):
    _require_at_least(0, step=step)
    return base_rate * decay_rate**step


@mistake(
    criterion="decay-schedules",
    replaces="exponential_decay",
    text="1 - decay_rate was taken as the factor of a step, and raised to the power of step.",
    fix="Use exp(-decay_rate * step): the factor of a step is exp(-decay_rate), a little more than 1 - decay_rate.",
)
def exponential_decay_by_what_is_left(step, base_rate, decay_rate):
    _require_at_least(0, step=step)
    return base_rate * (1 - decay_rate) ** step


@mistake(
    criterion="decay-schedules",
    replaces="exponential_decay",
    text="The rate grows: the minus sign in the exponent is missing.",
    fix="Use exp(-decay_rate * step).",
)
def exponential_decay_grows(step, base_rate, decay_rate):
    _require_at_least(0, step=step)
    return base_rate * math.exp(decay_rate * step)


@mistake(
    criterion="decay-schedules",
    replaces="exponential_decay",
    text="The rate was divided by 1 + decay_rate * step, which falls far more slowly in the long run.",
    fix="Multiply by exp(-decay_rate * step) instead.",
)
def exponential_decay_as_hyperbola(step, base_rate, decay_rate):
    _require_at_least(0, step=step)
    return base_rate / (1 + decay_rate * step)


@mistake(
    criterion="decay-schedules",
    replaces="step_decay",
    text="A step below 0, or a period below 1, was taken as if it made sense.",
    fix="Raise ValueError for both before computing.",
)
def step_decay_unchecked(step, base_rate, drop=0.5, period=10):
    return base_rate * drop ** (step // period)


@mistake(
    criterion="decay-schedules",
    replaces="exponential_decay",
    text="A step below 0 was taken as if it made sense.",
    fix="Raise ValueError for it before computing.",
)
def exponential_decay_unchecked(step, base_rate, decay_rate):
    return base_rate * math.exp(-decay_rate * step)


@mistake(
    criterion="cosine-annealing",
    replaces="cosine_annealing",
    text="After total_steps the rate rises again: the cosine has passed pi.",
    fix="Use min(step, total_steps), so that the angle stays at pi.",
)
def cosine_rises_again(step, base_rate, total_steps, min_rate=0.0):
    _require_at_least(0, step=step)
    _require_at_least(1, total_steps=total_steps)
    return min_rate + (base_rate - min_rate) * (1 + math.cos(math.pi * step / total_steps)) / 2


@mistake(
    criterion="cosine-annealing",
    replaces="cosine_annealing",
    text="min_rate was added to a cosine of full height, so the rate begins above base_rate.",
    fix="Scale the cosine to base_rate - min_rate before min_rate is added.",
)
def cosine_least_rate_on_top(step, base_rate, total_steps, min_rate=0.0):
    _require_at_least(0, step=step)
    _require_at_least(1, total_steps=total_steps)
    return min_rate + base_rate * (1 + math.cos(math.pi * min(step, total_steps) / total_steps)) / 2


@mistake(
    criterion="cosine-annealing",
    replaces="cosine_annealing",
    text="min_rate cuts the curve off: the cosine goes down to 0, and the larger of the two was taken.",
    fix="Let the cosine itself end at min_rate: min_rate + (base_rate - min_rate) * (1 + cos) / 2.",
)
def cosine_cut_off(step, base_rate, total_steps, min_rate=0.0):
    _require_at_least(0, step=step)
    _require_at_least(1, total_steps=total_steps)
    return max(min_rate, base_rate * (1 + math.cos(math.pi * min(step, total_steps) / total_steps)) / 2)


@mistake(
    criterion="cosine-annealing",
    replaces="cosine_annealing",
    text="The angle goes to 2 pi: the rate falls in the first half and rises in the second.",
    fix="Let the angle go from 0 to pi: pi * step / total_steps.",
)
def cosine_full_turn(step, base_rate, total_steps, min_rate=0.0):
    _require_at_least(0, step=step)
    _require_at_least(1, total_steps=total_steps)
    angle = 2 * math.pi * min(step, total_steps) / total_steps
    return min_rate + (base_rate - min_rate) * (1 + math.cos(angle)) / 2


@mistake(
    criterion="cosine-annealing",
    replaces="cosine_annealing",
    text="The angle goes to pi / 2 only: a quarter of a turn, whose fall is steepest at the end.",
    fix="Use half a turn, (1 + cos(pi * step / total_steps)) / 2, which is flat at both ends.",
)
def cosine_quarter_turn(step, base_rate, total_steps, min_rate=0.0):
    _require_at_least(0, step=step)
    _require_at_least(1, total_steps=total_steps)
    angle = math.pi / 2 * min(step, total_steps) / total_steps
    return min_rate + (base_rate - min_rate) * math.cos(angle)


@mistake(
    criterion="cosine-annealing",
    replaces="cosine_annealing",
    text="The rate rises from min_rate to base_rate: the sign of the cosine is the wrong one.",
    fix="Use 1 + cos, which is 2 at the start and 0 at the end.",
)
def cosine_upside_down(step, base_rate, total_steps, min_rate=0.0):
    _require_at_least(0, step=step)
    _require_at_least(1, total_steps=total_steps)
    angle = math.pi * min(step, total_steps) / total_steps
    return min_rate + (base_rate - min_rate) * (1 - math.cos(angle)) / 2


@mistake(
    criterion="cosine-annealing",
    replaces="cosine_annealing",
    text="A step below 0, or a total below 1, was taken as if it made sense.",
    fix="Raise ValueError for both before computing.",
)
def cosine_unchecked(step, base_rate, total_steps, min_rate=0.0):
    angle = math.pi * min(step, total_steps) / max(total_steps, 1)
    return min_rate + (base_rate - min_rate) * (1 + math.cos(angle)) / 2


@mistake(
    criterion="warmup-cosine",
    replaces="warmup_cosine",
    text="The cosine runs from step 0: after the warm-up the rate jumps to what it would be without one.",
    fix="Take the warm-up off both: the cosine of step - warmup_steps over total_steps - warmup_steps.",
)
def warmup_cosine_not_moved(step, base_rate, warmup_steps, total_steps, min_rate=0.0, cosine=cosine_annealing):
    _require_at_least(0, step=step, warmup_steps=warmup_steps)
    if total_steps <= warmup_steps:
        raise ValueError("total_steps: expected more than warmup_steps")
    if step < warmup_steps:
        return base_rate * step / warmup_steps
    return cosine(step, base_rate, total_steps, min_rate)


@mistake(
    criterion="warmup-cosine",
    replaces="warmup_cosine",
    text="The cosine begins in the right place, but is total_steps long, and has not come down at the end.",
    fix="It has total_steps - warmup_steps left to fall.",
)
def warmup_cosine_too_long(step, base_rate, warmup_steps, total_steps, min_rate=0.0, cosine=cosine_annealing):
    _require_at_least(0, step=step, warmup_steps=warmup_steps)
    if total_steps <= warmup_steps:
        raise ValueError("total_steps: expected more than warmup_steps")
    if step < warmup_steps:
        return base_rate * step / warmup_steps
    return cosine(step - warmup_steps, base_rate, total_steps, min_rate)


@mistake(
    criterion="warmup-cosine",
    replaces="warmup_cosine",
    text="The warm-up is one step ahead: (step + 1) / warmup_steps.",
    fix="Count from 0: step 0 has the rate 0, and base_rate is reached at warmup_steps.",
)
def warmup_one_step_ahead(step, base_rate, warmup_steps, total_steps, min_rate=0.0, cosine=cosine_annealing):
    _require_at_least(0, step=step, warmup_steps=warmup_steps)
    if total_steps <= warmup_steps:
        raise ValueError("total_steps: expected more than warmup_steps")
    if step < warmup_steps:
        return base_rate * (step + 1) / warmup_steps
    return cosine(step - warmup_steps, base_rate, total_steps - warmup_steps, min_rate)


@mistake(
    criterion="warmup-cosine",
    replaces="warmup_cosine",
    text="The warm-up rises from min_rate instead of 0.",
    fix="Use base_rate * step / warmup_steps; min_rate is where the cosine ends.",
)
def warmup_from_the_least_rate(step, base_rate, warmup_steps, total_steps, min_rate=0.0, cosine=cosine_annealing):
    _require_at_least(0, step=step, warmup_steps=warmup_steps)
    if total_steps <= warmup_steps:
        raise ValueError("total_steps: expected more than warmup_steps")
    if step < warmup_steps:
        return min_rate + (base_rate - min_rate) * step / warmup_steps
    return cosine(step - warmup_steps, base_rate, total_steps - warmup_steps, min_rate)


@mistake(
    criterion="warmup-cosine",
    replaces="warmup_cosine",
    text="min_rate had no effect: the cosine ends at 0.",
    fix="Pass min_rate on to the cosine.",
)
def warmup_ignores_the_least_rate(step, base_rate, warmup_steps, total_steps, min_rate=0.0, cosine=cosine_annealing):
    _require_at_least(0, step=step, warmup_steps=warmup_steps)
    if total_steps <= warmup_steps:
        raise ValueError("total_steps: expected more than warmup_steps")
    if step < warmup_steps:
        return base_rate * step / warmup_steps
    return cosine(step - warmup_steps, base_rate, total_steps - warmup_steps)


@mistake(
    criterion="warmup-cosine",
    replaces="warmup_cosine",
    text="With warmup_steps = 0 the line divides by 0.",
    fix="Compare with <: step < warmup_steps is never so then, and the line is not computed.",
)
def warmup_divides_by_zero(step, base_rate, warmup_steps, total_steps, min_rate=0.0, cosine=cosine_annealing):
    _require_at_least(0, step=step, warmup_steps=warmup_steps)
    if total_steps <= warmup_steps:
        raise ValueError("total_steps: expected more than warmup_steps")
    if step <= warmup_steps:
        return base_rate * step / warmup_steps
    return cosine(step - warmup_steps, base_rate, total_steps - warmup_steps, min_rate)


@mistake(
    criterion="line-search",
    replaces="backtracking_line_search",
    text="Any fall of f was enough, however small: c had no effect.",
    fix="Compare with f(x) + c * t * slope, which asks for a share c of what the slope promises.",
)
def search_takes_any_fall(f, grad_f, x, direction, initial_step=1.0, shrink=0.5, c=1e-4):
    if direction.shape != x.shape or not initial_step > 0 or not 0 < shrink < 1 or not 0 < c < 1:
        raise ValueError("direction, initial_step, shrink or c: out of range")
    start, slope = f(x), np.sum(grad_f(x) * direction)
    if not slope < 0:
        raise ValueError("direction: expected a slope below 0")
    step = initial_step
    for _ in range(200):
        value = f(x + step * direction)
        if value < start:
            return step
        step *= shrink
    raise ValueError("direction: no step is enough")


@mistake(
    criterion="line-search",
    replaces="backtracking_line_search",
    text="The slope is the sum of a matrix product, which multiplies entries of different places.",
    fix="Multiply entry by entry: np.sum(grad_f(x) * direction).",
)
def search_by_a_matrix_product(f, grad_f, x, direction, initial_step=1.0, shrink=0.5, c=1e-4):
    if direction.shape != x.shape or not initial_step > 0 or not 0 < shrink < 1 or not 0 < c < 1:
        raise ValueError("direction, initial_step, shrink or c: out of range")
    start, slope = f(x), np.sum(grad_f(x).T @ direction)
    if not slope < 0:
        raise ValueError("direction: expected a slope below 0")
    step = initial_step
    for _ in range(200):
        value = f(x + step * direction)
        if value < start and value <= start + c * step * slope:
            return step
        step *= shrink
    raise ValueError("direction: no step is enough")


@mistake(
    criterion="line-search",
    replaces="backtracking_line_search",
    text="The term with the slope was subtracted: the step may even raise f.",
    fix="Add it: slope is below 0, so f(x) + c * t * slope lies below f(x).",
)
def search_allows_a_rise(f, grad_f, x, direction, initial_step=1.0, shrink=0.5, c=1e-4):
    if direction.shape != x.shape or not initial_step > 0 or not 0 < shrink < 1 or not 0 < c < 1:
        raise ValueError("direction, initial_step, shrink or c: out of range")
    start, slope = f(x), np.sum(grad_f(x) * direction)
    if not slope < 0:
        raise ValueError("direction: expected a slope below 0")
    step = initial_step
    for _ in range(200):
        value = f(x + step * direction)
        if value <= start - c * step * slope:
            return step
        step *= shrink
    raise ValueError("direction: no step is enough")


@mistake(
    criterion="line-search",
    replaces="backtracking_line_search",
    text="A step onto NaN was taken as enough, because NaN > bound is False.",
    fix="Ask whether f is small enough, f <= bound, which NaN fails, instead of whether it is too large.",
)
def search_steps_onto_nan(f, grad_f, x, direction, initial_step=1.0, shrink=0.5, c=1e-4):
    if direction.shape != x.shape or not initial_step > 0 or not 0 < shrink < 1 or not 0 < c < 1:
        raise ValueError("direction, initial_step, shrink or c: out of range")
    start, slope = f(x), np.sum(grad_f(x) * direction)
    if not slope < 0:
        raise ValueError("direction: expected a slope below 0")
    step = initial_step
    for _ in range(200):
        value = f(x + step * direction)
        if not value > start + c * step * slope and not value == start:
            return step
        step *= shrink
    raise ValueError("direction: no step is enough")


@mistake(
    criterion="line-search",
    replaces="backtracking_line_search",
    text="The slope was not multiplied by the step size, so short steps have to achieve as much as long ones.",
    fix="Multiply by t: f(x) + c * t * slope, with the t that is being tried.",
)
def search_forgets_the_step(f, grad_f, x, direction, initial_step=1.0, shrink=0.5, c=1e-4):
    if direction.shape != x.shape or not initial_step > 0 or not 0 < shrink < 1 or not 0 < c < 1:
        raise ValueError("direction, initial_step, shrink or c: out of range")
    start, slope = f(x), np.sum(grad_f(x) * direction)
    if not slope < 0:
        raise ValueError("direction: expected a slope below 0")
    step = initial_step
    for _ in range(200):
        value = f(x + step * direction)
        if value < start and value <= start + c * slope:
            return step
        step *= shrink
    raise ValueError("direction: no step is enough")


@mistake(
    criterion="line-search",
    replaces="backtracking_line_search",
    text="The new point came back instead of the step size.",
    fix="Return t; whoever called computes x + t * direction.",
)
def search_returns_the_point(f, grad_f, x, direction, initial_step=1.0, shrink=0.5, c=1e-4):
    if direction.shape != x.shape or not initial_step > 0 or not 0 < shrink < 1 or not 0 < c < 1:
        raise ValueError("direction, initial_step, shrink or c: out of range")
    start, slope = f(x), np.sum(grad_f(x) * direction)
    if not slope < 0:
        raise ValueError("direction: expected a slope below 0")
    step = initial_step
    for _ in range(200):
        value = f(x + step * direction)
        if value < start and value <= start + c * step * slope:
            return x + step * direction
        step *= shrink
    raise ValueError("direction: no step is enough")


@mistake(
    criterion="line-search",
    replaces="backtracking_line_search",
    text="The gradient's squared length was used in place of the slope, which is right only along minus the gradient.",
    fix="Use the slope along the direction you were given: the sum of grad_f(x) * direction.",
)
def search_assumes_steepest_descent(f, grad_f, x, direction, initial_step=1.0, shrink=0.5, c=1e-4):
    if direction.shape != x.shape or not initial_step > 0 or not 0 < shrink < 1 or not 0 < c < 1:
        raise ValueError("direction, initial_step, shrink or c: out of range")
    start, slope = f(x), np.sum(grad_f(x) * direction)
    if not slope < 0:
        raise ValueError("direction: expected a slope below 0")
    gradient, step = grad_f(x), initial_step
    for _ in range(200):
        value = f(x + step * direction)
        if value < start and value <= start - c * step * np.sum(gradient**2):
            return step
        step *= shrink
    raise ValueError("direction: no step is enough")


@mistake(
    criterion="line-search",
    replaces="backtracking_line_search",
    text="A direction that does not lead down was searched, instead of refused.",
    fix="Compute the slope first, and raise ValueError unless it is below 0: along others no step is sure to help.",
)
def search_goes_uphill(f, grad_f, x, direction, initial_step=1.0, shrink=0.5, c=1e-4):
    if direction.shape != x.shape or not initial_step > 0 or not 0 < shrink < 1 or not 0 < c < 1:
        raise ValueError("direction, initial_step, shrink or c: out of range")
    start, slope = f(x), np.sum(grad_f(x) * direction)
    step = initial_step
    for _ in range(200):
        value = f(x + step * direction)
        if value <= start + c * step * slope:
            return step
        step *= shrink
    raise ValueError("direction: no step is enough")


@mistake(
    criterion="line-search",
    replaces="backtracking_line_search",
    text="A step so tiny that f no longer changes was taken as enough: rounding makes both sides equal there.",
    fix="Ask for value < f(x) as well, and raise ValueError when no step achieves it: grad_f is not f's gradient then.",
)
def search_ends_in_rounding(f, grad_f, x, direction, initial_step=1.0, shrink=0.5, c=1e-4):
    if direction.shape != x.shape or not initial_step > 0 or not 0 < shrink < 1 or not 0 < c < 1:
        raise ValueError("direction, initial_step, shrink or c: out of range")
    start, slope = f(x), np.sum(grad_f(x) * direction)
    if not slope < 0:
        raise ValueError("direction: expected a slope below 0")
    step = initial_step
    for _ in range(200):
        value = f(x + step * direction)
        if value <= start + c * step * slope:
            return step
        step *= shrink
    raise ValueError("direction: no step is enough")


@mistake(
    criterion="line-search",
    replaces="backtracking_line_search",
    text="The step was shortened once too often: what came back is shorter than the first step that is enough.",
    fix="Try the step first, and multiply by shrink only when it is not enough.",
)
def search_shrinks_first(f, grad_f, x, direction, initial_step=1.0, shrink=0.5, c=1e-4):
    if direction.shape != x.shape or not initial_step > 0 or not 0 < shrink < 1 or not 0 < c < 1:
        raise ValueError("direction, initial_step, shrink or c: out of range")
    start, slope = f(x), np.sum(grad_f(x) * direction)
    if not slope < 0:
        raise ValueError("direction: expected a slope below 0")
    step = initial_step * shrink
    for _ in range(200):
        value = f(x + step * direction)
        if value < start and value <= start + c * step * slope:
            return step
        step *= shrink
    raise ValueError("direction: no step is enough")


@mistake(
    criterion="line-search",
    replaces="backtracking_line_search",
    text="The search gave up before it came to a step that is short enough.",
    fix="Try about two hundred step sizes before you raise ValueError.",
)
def search_gives_up_early(f, grad_f, x, direction, initial_step=1.0, shrink=0.5, c=1e-4):
    if direction.shape != x.shape or not initial_step > 0 or not 0 < shrink < 1 or not 0 < c < 1:
        raise ValueError("direction, initial_step, shrink or c: out of range")
    start, slope = f(x), np.sum(grad_f(x) * direction)
    if not slope < 0:
        raise ValueError("direction: expected a slope below 0")
    step = initial_step
    for _ in range(100):
        value = f(x + step * direction)
        if value < start and value <= start + c * step * slope:
            return step
        step *= shrink
    raise ValueError("direction: no step is enough")


@mistake(
    criterion="line-search",
    replaces="backtracking_line_search",
    text="The slope was taken anew at each point that was tried.",
    fix="Compute it once, at x, where the search begins: it says what each step promises.",
)
def search_takes_the_slope_there(f, grad_f, x, direction, initial_step=1.0, shrink=0.5, c=1e-4):
    if direction.shape != x.shape or not initial_step > 0 or not 0 < shrink < 1 or not 0 < c < 1:
        raise ValueError("direction, initial_step, shrink or c: out of range")
    start, slope = f(x), np.sum(grad_f(x) * direction)
    if not slope < 0:
        raise ValueError("direction: expected a slope below 0")
    step = initial_step
    for _ in range(200):
        value = f(x + step * direction)
        slope = np.sum(grad_f(x + step * direction) * direction)
        if value < start and value <= start + c * step * slope:
            return step
        step *= shrink
    raise ValueError("direction: no step is enough")


@mistake(
    criterion="minimize",
    replaces="minimize",
    text="The start is missing from the history.",
    fix="Begin history with f(x0): it has num_iterations + 1 entries.",
)
def history_without_start(f, grad_f, x0, step, num_iterations, **hyper):
    _require_at_least(0, num_iterations=num_iterations)
    params, state, history = {"x": x0}, {}, []
    for _ in range(num_iterations):
        params, state = step(params, {"x": grad_f(params["x"])}, state, **hyper)
        history.append(f(params["x"]))
    return params["x"], history


@mistake(
    criterion="minimize",
    replaces="minimize",
    text="The end is missing from the history: f was computed before each step only.",
    fix="Compute f after each step, and once before the first.",
)
def history_without_end(f, grad_f, x0, step, num_iterations, **hyper):
    _require_at_least(0, num_iterations=num_iterations)
    params, state, history = {"x": x0}, {}, []
    for _ in range(num_iterations):
        history.append(f(params["x"]))
        params, state = step(params, {"x": grad_f(params["x"])}, state, **hyper)
    return params["x"], history


@mistake(
    criterion="minimize",
    replaces="minimize",
    text="Each step began with an empty state, so no rule can remember anything.",
    fix="Keep the state that step returns, and pass it to the next call.",
)
def state_not_handed_on(f, grad_f, x0, step, num_iterations, **hyper):
    _require_at_least(0, num_iterations=num_iterations)
    params, state, history = {"x": x0}, {}, [f(x0)]
    for _ in range(num_iterations):
        params, state = step(params, {"x": grad_f(params["x"])}, {}, **hyper)
        history.append(f(params["x"]))
    return params["x"], history


@mistake(
    criterion="minimize",
    replaces="minimize",
    text="Every gradient was taken at x0.",
    fix="Take the gradient where x is now.",
)
def gradient_at_the_start(f, grad_f, x0, step, num_iterations, **hyper):
    _require_at_least(0, num_iterations=num_iterations)
    params, state, history = {"x": x0}, {}, [f(x0)]
    for _ in range(num_iterations):
        params, state = step(params, {"x": grad_f(x0)}, state, **hyper)
        history.append(f(params["x"]))
    return params["x"], history


@mistake(
    criterion="minimize",
    replaces="minimize",
    text="The hyperparameters were not handed on to step, which went on with its own defaults, or did without.",
    fix="Call step(..., state, **hyper).",
)
def hyperparameters_dropped(f, grad_f, x0, step, num_iterations, **hyper):
    _require_at_least(0, num_iterations=num_iterations)
    params, state, history = {"x": x0}, {}, [f(x0)]
    for _ in range(num_iterations):
        params, state = step(params, {"x": grad_f(params["x"])}, state)
        history.append(f(params["x"]))
    return params["x"], history


@mistake(
    criterion="minimize",
    replaces="minimize",
    text="One step too many was taken.",
    fix="Take num_iterations steps; the start is in the history without a step.",
)
def one_step_too_many(f, grad_f, x0, step, num_iterations, **hyper):
    _require_at_least(0, num_iterations=num_iterations)
    params, state, history = {"x": x0}, {}, [f(x0)]
    for _ in range(num_iterations + 1):
        params, state = step(params, {"x": grad_f(params["x"])}, state, **hyper)
        history.append(f(params["x"]))
    return params["x"], history


@mistake(
    criterion="minimize",
    replaces="minimize",
    text="Only x came back: the history is missing from the result.",
    fix="Return both, (x, history).",
)
def minimize_without_history(f, grad_f, x0, step, num_iterations, **hyper):
    _require_at_least(0, num_iterations=num_iterations)
    params, state, history = {"x": x0}, {}, [f(x0)]
    for _ in range(num_iterations):
        params, state = step(params, {"x": grad_f(params["x"])}, state, **hyper)
        history.append(f(params["x"]))
    return params["x"]


@mistake(
    criterion="minimize",
    replaces="minimize",
    text="The loop ended early, when a step had left f as it was.",
    fix="Take all num_iterations steps: the history has num_iterations + 1 entries in any case.",
)
def minimize_stops_early(f, grad_f, x0, step, num_iterations, **hyper):
    _require_at_least(0, num_iterations=num_iterations)
    params, state, history = {"x": x0}, {}, [f(x0)]
    for _ in range(num_iterations):
        params, state = step(params, {"x": grad_f(params["x"])}, state, **hyper)
        history.append(f(params["x"]))
        if history[-1] == history[-2]:
            break
    return params["x"], history

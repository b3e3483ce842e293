"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own function as the default of `right`.
"""

import math

import numpy as np

from grader.course.answers import mistake
from hidden.s21_mixture_of_experts.solution import (
    MLP,
    MoELayer,
    _load_shares,
    _log_sum_exp,
    _require_choices,
    _require_count,
    _require_experts,
    _require_k,
    _require_positive,
    _require_router,
    _require_shape,
    _require_table,
    _softmax,
    dispatch,
    expert_capacity,
    load_balancing_loss,
    load_balancing_loss_gradient,
    router,
    router_backward,
    router_z_loss,
    router_z_loss_gradient,
    top_k_gating,
    top_k_gating_backward,
)


@mistake(
    criterion="router",
    replaces="router",
    text="The softmax ran along the tokens: each column of the probabilities sums to 1, and the rows do not.",
    fix="Let the softmax run along the last axis, that of the experts.",
)
def softmax_over_the_tokens(x, router_weights):
    _require_router(x, router_weights)
    logits = x @ router_weights
    exponentials = np.exp(logits - logits.max(axis=0, keepdims=True))
    return logits, exponentials / exponentials.sum(axis=0, keepdims=True)


@mistake(
    criterion="router",
    replaces="router",
    text="router returned the probabilities first and the logits second.",
    fix="Return (logits, probabilities), in this order.",
)
def logits_returned_last(x, router_weights, right=router):
    logits, probabilities = right(x, router_weights)
    return probabilities, logits


@mistake(
    criterion="router",
    replaces="router",
    text="Each logit went through a sigmoid by itself, so that the probabilities of a token do not sum to 1.",
    fix="Use a softmax along the experts: they compete for the token.",
)
def sigmoid_of_each_logit(x, router_weights):
    _require_router(x, router_weights)
    logits = x @ router_weights
    return logits, np.exp(-np.logaddexp(0, -logits))


@mistake(
    criterion="router",
    replaces="router",
    text="The largest logit was looked for from -1e9 on: where all are lower, their exponentials are all 0.",
    fix="Take the largest logit itself, or begin with -np.inf.",
)
def largest_logit_from_a_finite_number(x, router_weights):
    _require_router(x, router_weights)
    logits = x @ router_weights
    peak = logits.max(axis=-1, keepdims=True, initial=-1e9)
    exponentials = np.exp(logits - peak)
    with np.errstate(invalid="ignore"):
        return logits, exponentials / exponentials.sum(axis=-1, keepdims=True)


@mistake(
    criterion="router",
    replaces="router",
    text="exp was taken of the logits as they are: above 709 it is infinite, and the probabilities are NaN.",
    fix="Subtract the largest logit of each token first; the softmax stays the same.",
)
def exp_of_raw_logits(x, router_weights):
    _require_router(x, router_weights)
    logits = x @ router_weights
    with np.errstate(all="ignore"):
        exponentials = np.exp(logits)
        return logits, exponentials / exponentials.sum(axis=-1, keepdims=True)


@mistake(
    criterion="router-gradients",
    replaces="router_backward",
    text="The softmax was taken back like a sigmoid, probability by probability: p (1 - p).",
    fix="Use p * (grad - sum of grad * p over the experts): each logit changes all probabilities of its token.",
)
def softmax_taken_back_elementwise(grad_logits, grad_probabilities, x, router_weights, right=router_backward):
    probabilities = _softmax(x @ router_weights)
    elementwise = grad_logits + grad_probabilities * probabilities * (1 - probabilities)
    right(grad_logits, grad_probabilities, x, router_weights)
    return right(elementwise, np.zeros_like(elementwise), x, router_weights)


@mistake(
    criterion="router-gradients",
    replaces="router_backward",
    text="grad_logits has no part in the gradient of x.",
    fix="Add grad_logits to what comes through the softmax before going on to x and router_weights.",
)
def gradient_of_the_logits_missing_in_x(grad_logits, grad_probabilities, x, router_weights, right=router_backward):
    _, grad_router_weights = right(grad_logits, grad_probabilities, x, router_weights)
    return right(0 * grad_logits, grad_probabilities, x, router_weights)[0], grad_router_weights


@mistake(
    criterion="router-gradients",
    replaces="router_backward",
    text="grad_probabilities was added to grad_logits as it is, without going back through the softmax.",
    fix="Send grad_probabilities through the softmax first: p * (grad - sum of grad * p).",
)
def softmax_not_taken_back(grad_logits, grad_probabilities, x, router_weights, right=router_backward):
    right(grad_logits, grad_probabilities, x, router_weights)
    return right(grad_logits + grad_probabilities, 0 * grad_probabilities, x, router_weights)


@mistake(
    criterion="router-gradients",
    replaces="router_backward",
    text="The gradient of router_weights was averaged over the tokens.",
    fix="Sum it: router_weights served every token, and a mean is in the loss already if it took one.",
)
def mean_over_the_tokens(grad_logits, grad_probabilities, x, router_weights, right=router_backward):
    grad_x, grad_router_weights = right(grad_logits, grad_probabilities, x, router_weights)
    return grad_x, grad_router_weights / max(x.size // x.shape[-1], 1)


@mistake(
    criterion="top-k-gating",
    replaces="top_k_gating",
    text="The least probable experts were chosen: argsort sorts upwards.",
    fix='Sort the negated probabilities, np.argsort(-probabilities, kind="stable"), and take the first k.',
)
def least_probable_chosen(probabilities, k, renormalize=True):
    _require_table("probabilities", probabilities)
    _require_k(k, probabilities.shape[1])
    indices = np.argsort(probabilities, axis=1, kind="stable")[:, :k]
    gates = np.take_along_axis(probabilities, indices, axis=1)
    return indices, gates / gates.sum(axis=1, keepdims=True) if renormalize else gates


@mistake(
    criterion="top-k-gating",
    replaces="top_k_gating",
    text="Of equally probable experts the one with the higher index came first: an upward sort was turned round.",
    fix='Sort the negated probabilities with kind="stable", so that ties keep their order.',
)
def ties_to_the_higher_index(probabilities, k, renormalize=True):
    _require_table("probabilities", probabilities)
    _require_k(k, probabilities.shape[1])
    indices = np.argsort(probabilities, axis=1, kind="stable")[:, ::-1][:, :k]
    gates = np.take_along_axis(probabilities, indices, axis=1)
    return indices, gates / gates.sum(axis=1, keepdims=True) if renormalize else gates


@mistake(
    criterion="top-k-gating",
    replaces="top_k_gating",
    text="The gates were not divided by their sum.",
    fix="With renormalize the gates of a token sum to 1: divide by gates.sum(axis=1, keepdims=True).",
)
def never_renormalised(probabilities, k, renormalize=True, right=top_k_gating):
    return right(probabilities, k, False)


@mistake(
    criterion="top-k-gating",
    replaces="top_k_gating",
    text="The gates were divided by their sum although renormalize is False.",
    fix="Without renormalize the gates are the probabilities of the chosen experts as they are.",
)
def always_renormalised(probabilities, k, renormalize=True, right=top_k_gating):
    return right(probabilities, k, True)


@mistake(
    criterion="top-k-gating",
    replaces="top_k_gating",
    text="A second softmax was taken, of the chosen probabilities.",
    fix="Divide them by their sum. A softmax of the k largest logits gives the same, one of probabilities does not.",
)
def softmax_of_the_chosen_probabilities(probabilities, k, renormalize=True, right=top_k_gating):
    indices, gates = right(probabilities, k, False)
    return indices, _softmax(gates) if renormalize else gates


@mistake(
    criterion="top-k-gating",
    replaces="top_k_gating",
    text="The chosen experts are in the order of their numbers, not of their probabilities.",
    fix="Put the most probable expert first: dispatch seats first choices before second ones.",
)
def choices_sorted_by_number(probabilities, k, renormalize=True, right=top_k_gating):
    indices = np.sort(right(probabilities, k)[0], axis=1)
    gates = np.take_along_axis(probabilities, indices, axis=1)
    return indices, gates / gates.sum(axis=1, keepdims=True) if renormalize else gates


@mistake(
    criterion="top-k-gating",
    replaces="top_k_gating",
    text="renormalize was read the wrong way round: the gates were divided by their sum only where it is False.",
    fix="Divide the gates by their sum if renormalize is True.",
)
def renormalised_the_wrong_way_round(probabilities, k, renormalize=True, right=top_k_gating):
    return right(probabilities, k, not renormalize)


@mistake(
    criterion="top-k-gating",
    replaces="top_k_gating",
    text="All gates are alike, 1 / k: the probabilities of the chosen experts have no part in them.",
    fix="The gates are the chosen probabilities, divided by their sum if renormalize.",
)
def gates_all_alike(probabilities, k, renormalize=True, right=top_k_gating):
    indices, gates = right(probabilities, k, renormalize)
    return indices, np.full_like(gates, 1 / k)


@mistake(
    criterion="gating-gradients",
    replaces="top_k_gating_backward",
    text="The sum that the gates were divided by was taken as a constant.",
    fix="Each chosen probability is in the sum too: subtract the average sum(grad_gates * gates) first.",
)
def sum_taken_as_a_constant(grad_gates, probabilities, indices, renormalize=True, right=top_k_gating_backward):
    grad = right(grad_gates, probabilities, indices, False)
    if not renormalize:
        return grad
    return grad / np.take_along_axis(probabilities, indices, axis=1).sum(axis=1, keepdims=True)


@mistake(
    criterion="gating-gradients",
    replaces="top_k_gating_backward",
    text="The gradient went back through the division by the sum although renormalize is False.",
    fix="Without renormalize each gate is its own probability: put grad_gates at the places of indices.",
)
def quotient_although_not_renormalised(
    grad_gates, probabilities, indices, renormalize=True, right=top_k_gating_backward
):
    return right(grad_gates, probabilities, indices, True)


@mistake(
    criterion="gating-gradients",
    replaces="top_k_gating_backward",
    text="The gradient was put back as it is: the division of the gates by their sum was not taken back.",
    fix="With renormalize use (grad_gates - sum(grad_gates * gates)) / s, with s the sum of the chosen probabilities.",
)
def division_never_taken_back(grad_gates, probabilities, indices, renormalize=True, right=top_k_gating_backward):
    return right(grad_gates, probabilities, indices, False)


@mistake(
    criterion="gating-gradients",
    replaces="top_k_gating_backward",
    text="The gradients were put into the first k columns, in the order of the choices.",
    fix="Column i belongs to expert i: use np.put_along_axis(grad, indices, ..., axis=1).",
)
def put_in_the_order_of_the_choices(grad_gates, probabilities, indices, renormalize=True, right=top_k_gating_backward):
    grad = right(grad_gates, probabilities, indices, renormalize)
    result = np.zeros_like(grad)
    result[:, : indices.shape[1]] = np.take_along_axis(grad, indices, axis=1)
    return result


@mistake(
    criterion="gating-gradients",
    replaces="top_k_gating_backward",
    text="The plain mean of grad_gates was subtracted.",
    fix="Subtract the mean weighed by the gates: sum(grad_gates * gates).",
)
def average_of_the_gradients_alone(grad_gates, probabilities, indices, renormalize=True, right=top_k_gating_backward):
    grad = right(grad_gates, probabilities, indices, False)
    if not renormalize:
        return grad
    total = np.take_along_axis(probabilities, indices, axis=1).sum(axis=1, keepdims=True)
    result = np.zeros_like(grad)
    np.put_along_axis(result, indices, (grad_gates - grad_gates.mean(axis=1, keepdims=True)) / total, axis=1)
    return result


@mistake(
    criterion="expert-capacity",
    replaces="expert_capacity",
    text="The capacity was rounded down.",
    fix="Round up with math.ceil: there is always room for one.",
)
def rounded_down(num_tokens, num_experts, k, capacity_factor, right=expert_capacity):
    right(num_tokens, num_experts, k, capacity_factor)
    return math.floor(capacity_factor * k * num_tokens / num_experts)


@mistake(
    criterion="expert-capacity",
    replaces="expert_capacity",
    text="k is missing: with k experts a token, there are k times as many choices to seat.",
    fix="Multiply by k: capacity_factor * k * num_tokens / num_experts.",
)
def k_left_out(num_tokens, num_experts, k, capacity_factor, right=expert_capacity):
    right(num_tokens, num_experts, k, capacity_factor)
    return math.ceil(capacity_factor * num_tokens / num_experts)


@mistake(
    criterion="expert-capacity",
    replaces="expert_capacity",
    text="One was added to the whole part: a share that is whole already got one seat too many.",
    fix="Use math.ceil, which leaves whole numbers as they are.",
)
def one_more_than_rounded_down(num_tokens, num_experts, k, capacity_factor, right=expert_capacity):
    right(num_tokens, num_experts, k, capacity_factor)
    return int(capacity_factor * k * num_tokens / num_experts) + 1


@mistake(
    criterion="expert-capacity",
    replaces="expert_capacity",
    text="The capacity was rounded to the nearest whole number.",
    fix="Round up with math.ceil.",
)
def rounded_to_the_nearest(num_tokens, num_experts, k, capacity_factor, right=expert_capacity):
    right(num_tokens, num_experts, k, capacity_factor)
    return max(1, int(capacity_factor * k * num_tokens / num_experts + 0.5 - 1e-9))


@mistake(
    criterion="expert-capacity",
    replaces="expert_capacity",
    text="capacity_factor had no effect: this is the equal share, rounded up.",
    fix="Multiply the equal share by capacity_factor before rounding up.",
)
def capacity_factor_left_out(num_tokens, num_experts, k, capacity_factor, right=expert_capacity):
    return right(num_tokens, num_experts, k, capacity_factor / capacity_factor if capacity_factor > 0 else 0)


@mistake(
    criterion="expert-capacity",
    replaces="expert_capacity",
    text="The equal share was rounded up before it was multiplied by capacity_factor.",
    fix="Multiply first and round up once, at the end.",
)
def share_rounded_before_the_factor(num_tokens, num_experts, k, capacity_factor, right=expert_capacity):
    right(num_tokens, num_experts, k, capacity_factor)
    return math.ceil(capacity_factor * math.ceil(k * num_tokens / num_experts))


@mistake(
    criterion="dispatch",
    replaces="dispatch",
    text="Seats were given out token by token, all choices of a token at once.",
    fix="Seat the first choices of all tokens before any second choice: go through indices column by column.",
)
def seated_token_by_token(indices, num_experts, capacity, right=dispatch):
    right(indices, num_experts, capacity)
    positions = right(indices.reshape(-1, 1), num_experts, capacity)[0].reshape(indices.shape)
    return positions, positions < capacity


@mistake(
    criterion="dispatch",
    replaces="dispatch",
    text="Second choices were counted from 0 again, as if the first choices had taken no seats.",
    fix="Go on counting: a second choice comes after all first choices of the same expert.",
)
def each_choice_counted_from_zero(indices, num_experts, capacity, right=dispatch):
    right(indices, num_experts, capacity)
    columns = [right(indices[:, j : j + 1], num_experts, capacity)[0] for j in range(indices.shape[1])]
    positions = np.concatenate(columns, axis=1)
    return positions, positions < capacity


@mistake(
    criterion="dispatch",
    replaces="dispatch",
    text="Each expert took one token more than its capacity.",
    fix="Positions count from 0, so keep those below capacity: positions < capacity.",
)
def one_seat_too_many(indices, num_experts, capacity, right=dispatch):
    positions, _ = right(indices, num_experts, capacity)
    return positions, positions <= capacity


@mistake(
    criterion="dispatch",
    replaces="dispatch",
    text="The positions count from 1: each choice counted itself.",
    fix="A position is how many came before: count first, then add one.",
)
def positions_from_one(indices, num_experts, capacity, right=dispatch):
    positions, kept = right(indices, num_experts, capacity)
    return positions + 1, kept


@mistake(
    criterion="dispatch",
    replaces="dispatch",
    text="Choices that were dropped were not counted, so that all of them have the same position.",
    fix="Count every choice, seated or not: the position is how many were sent to the expert before.",
)
def who_is_dropped_does_not_count(indices, num_experts, capacity, right=dispatch):
    positions, kept = right(indices, num_experts, capacity)
    return np.minimum(positions, capacity), kept


@mistake(
    criterion="load-balancing-loss",
    replaces="load_balancing_loss",
    text="The factor num_experts is missing, so that an even load costs 1 / num_experts.",
    fix="Multiply the sum of f * P by num_experts: an even load costs 1.",
)
def number_of_experts_left_out(probabilities, indices, right=load_balancing_loss):
    return right(probabilities, indices) / probabilities.shape[1]


@mistake(
    criterion="load-balancing-loss",
    replaces="load_balancing_loss",
    text="f counts the first choices only.",
    fix="Count all k choices of each token, over tokens * k.",
)
def first_choices_only(probabilities, indices, right=load_balancing_loss):
    right(probabilities, indices)
    return right(probabilities, indices[:, :1])


@mistake(
    criterion="load-balancing-loss",
    replaces="load_balancing_loss",
    text="f was divided by the number of tokens, so that it sums to k and an even load costs k.",
    fix="Divide the counts by the number of all choices, indices.size.",
)
def shares_of_tokens(probabilities, indices, right=load_balancing_loss):
    return right(probabilities, indices) * indices.shape[1]


@mistake(
    criterion="load-balancing-loss",
    replaces="load_balancing_loss",
    text="The shares f were squared: a loss of counts alone has no gradient.",
    fix="Multiply f by P, the mean probability of each expert: num_experts * sum of f * P.",
)
def squares_of_the_shares(probabilities, indices, right=load_balancing_loss):
    right(probabilities, indices)
    return probabilities.shape[1] * (_load_shares(probabilities, indices) ** 2).sum()


@mistake(
    criterion="load-balancing-loss",
    replaces="load_balancing_loss",
    text="f counts the most probable expert of each token and does not look at indices.",
    fix="Count how often each expert stands in indices.",
)
def most_probable_counted(probabilities, indices, right=load_balancing_loss):
    right(probabilities, indices)
    return right(probabilities, probabilities.argmax(axis=1)[:, None])


@mistake(
    criterion="load-balancing-loss",
    replaces="load_balancing_loss",
    text="P is the mean probability over the tokens that chose the expert: it is the mean over all tokens.",
    fix="P = probabilities.mean(axis=0), whoever was chosen.",
)
def probabilities_of_the_chosen(probabilities, indices, right=load_balancing_loss):
    right(probabilities, indices)
    num_experts = probabilities.shape[1]
    chosen = (indices[..., None] == np.arange(num_experts)).any(axis=1)
    means = (probabilities * chosen).sum(axis=0) / np.maximum(chosen.sum(axis=0), 1)
    return num_experts * (_load_shares(probabilities, indices) * means).sum()


@mistake(
    criterion="load-balancing-loss",
    replaces="load_balancing_loss",
    text="The probabilities were summed over the tokens: P is their mean.",
    fix="Divide by the number of tokens: probabilities.mean(axis=0).",
)
def probabilities_summed(probabilities, indices, right=load_balancing_loss):
    return right(probabilities, indices) * len(probabilities)


@mistake(
    criterion="load-balancing-loss",
    replaces="load_balancing_loss",
    text="f holds numbers of choices: they were not divided by the number of all choices, tokens * k.",
    fix="Divide the counts by indices.size.",
)
def counts_not_divided(probabilities, indices, right=load_balancing_loss):
    return right(probabilities, indices) * indices.size


@mistake(
    criterion="load-balancing-gradient",
    replaces="load_balancing_loss_gradient",
    text="The gradient is too large by the number of tokens: P is a mean over them.",
    fix="Divide num_experts * f by the number of tokens.",
)
def tokens_left_out(probabilities, indices, right=load_balancing_loss_gradient):
    return right(probabilities, indices) * len(probabilities)


@mistake(
    criterion="load-balancing-gradient",
    replaces="load_balancing_loss_gradient",
    text="The factor num_experts is missing in the gradient.",
    fix="Each row is num_experts * f / tokens.",
)
def number_of_experts_left_out_of_the_gradient(probabilities, indices, right=load_balancing_loss_gradient):
    return right(probabilities, indices) / probabilities.shape[1]


@mistake(
    criterion="load-balancing-gradient",
    replaces="load_balancing_loss_gradient",
    text="Only the experts that a token chose got a gradient.",
    fix="P is the mean over all tokens: every probability of every token counts in it.",
)
def chosen_experts_only(probabilities, indices, right=load_balancing_loss_gradient):
    grad = right(probabilities, indices)
    chosen = np.zeros_like(grad)
    np.put_along_axis(chosen, indices, 1, axis=1)
    return grad * chosen


@mistake(
    criterion="load-balancing-gradient",
    replaces="load_balancing_loss_gradient",
    text="The gradient is made of P, as if the loss were a sum of squares of P.",
    fix="The slope of f * P with respect to P is f: each row is num_experts * f / tokens.",
)
def share_and_probability_exchanged(probabilities, indices, right=load_balancing_loss_gradient):
    grad = right(probabilities, indices)
    return np.zeros_like(grad) + probabilities.shape[1] * probabilities.mean(axis=0) / len(probabilities)


@mistake(
    criterion="load-balancing-gradient",
    replaces="load_balancing_loss_gradient",
    text="f was divided by the number of tokens, so that the gradient is too large by k.",
    fix="f is the share of all tokens * k choices: divide the counts by indices.size.",
)
def gradient_of_shares_of_tokens(probabilities, indices, right=load_balancing_loss_gradient):
    return right(probabilities, indices) * indices.shape[1]


@mistake(
    criterion="z-loss",
    replaces="router_z_loss",
    text="The log-sum-exp was not squared.",
    fix="Square it for each token before taking the mean.",
)
def square_left_out(logits):
    _require_table("logits", logits)
    return _log_sum_exp(logits).mean()


@mistake(
    criterion="z-loss",
    replaces="router_z_loss",
    text="exp was taken of the logits as they are, which is infinite for large ones.",
    fix="Use m + log(sum of exp(l - m)), with m the largest logit of the token.",
)
def exp_overflows(logits):
    _require_table("logits", logits)
    with np.errstate(all="ignore"):
        return (np.log(np.exp(logits).sum(axis=1)) ** 2).mean()


@mistake(
    criterion="z-loss",
    replaces="router_z_loss",
    text="The mean was squared, where it is the mean of the squares.",
    fix="Square the log-sum-exp of each token, then take the mean over the tokens.",
)
def square_of_the_mean(logits):
    _require_table("logits", logits)
    return _log_sum_exp(logits).mean() ** 2


@mistake(
    criterion="z-loss",
    replaces="router_z_loss",
    text="The squares were summed over the tokens.",
    fix="Take their mean, so that the loss does not grow with the number of tokens.",
)
def summed_over_the_tokens(logits, right=router_z_loss):
    return right(logits) * len(logits)


@mistake(
    criterion="z-loss",
    replaces="router_z_loss",
    text="This is the mean square of the logits themselves.",
    fix="Take the log of the sum of exp(logits) for each token, and square that.",
)
def mean_square_of_the_logits(logits):
    _require_table("logits", logits)
    return (logits**2).mean()


@mistake(
    criterion="z-loss-gradient",
    replaces="router_z_loss_gradient",
    text="The factor 2 of the square is missing.",
    fix="The derivative of z^2 is 2 z times that of z.",
)
def two_left_out(logits, right=router_z_loss_gradient):
    return right(logits) / 2


@mistake(
    criterion="z-loss-gradient",
    replaces="router_z_loss_gradient",
    text="The gradient was not divided by the number of tokens, though the loss is a mean over them.",
    fix="Divide by len(logits).",
)
def mean_left_out(logits, right=router_z_loss_gradient):
    return right(logits) * len(logits)


@mistake(
    criterion="z-loss-gradient",
    replaces="router_z_loss_gradient",
    text="All logits of a token got the same gradient: the slope of the log-sum-exp is missing.",
    fix="Multiply by the softmax of the logits.",
)
def softmax_left_out(logits, right=router_z_loss_gradient):
    return np.zeros_like(right(logits)) + 2 * _log_sum_exp(logits)[:, None] / len(logits)


@mistake(
    criterion="z-loss-gradient",
    replaces="router_z_loss_gradient",
    text="The inner value is missing: the derivative of z^2 has z itself as a factor.",
    fix="Multiply by the log-sum-exp of each token: 2 z softmax(logits) / tokens.",
)
def log_sum_exp_left_out(logits, right=router_z_loss_gradient):
    right(logits)
    return 2 * _softmax(logits) / len(logits)


@mistake(
    criterion="moe-forward",
    replaces="MoELayer.forward",
    text="Every chosen expert was weighed by the gate of the first choice.",
    fix="The gate of a choice stands at its own place: gates[t, j] belongs to indices[t, j].",
)
def first_gate_for_all_choices(self, x, right=MoELayer.forward):
    output = np.zeros_like(right(self, x)).reshape(-1, x.shape[-1])
    for rows, choices, result in self._cache[3]:
        output[rows] += self.gates[rows, 0][:, None] * result
    return output.reshape(x.shape)


@mistake(
    criterion="moe-forward",
    replaces="MoELayer.forward",
    text="The outputs of the experts were added up without their gates.",
    fix="Multiply each expert's output by the gate of that choice.",
)
def gates_left_out(self, x, right=MoELayer.forward):
    output = np.zeros_like(right(self, x)).reshape(-1, x.shape[-1])
    for rows, choices, result in self._cache[3]:
        output[rows] += 1 * result
    return output.reshape(x.shape)


@mistake(
    criterion="moe-forward",
    replaces="MoELayer.forward",
    text="What an expert gave replaced what earlier experts had given to the same token.",
    fix="Add to the token's row of the output: it collects k results.",
)
def assigned_and_not_added(self, x, right=MoELayer.forward):
    output = np.zeros_like(right(self, x)).reshape(-1, x.shape[-1])
    for rows, choices, result in self._cache[3]:
        output[rows] = self.gates[rows, choices][:, None] * result
    return output.reshape(x.shape)


@mistake(
    criterion="moe-forward",
    replaces="MoELayer.forward",
    text="The sum over the chosen experts was divided by k.",
    fix="Leave the sum as it is: the gates weigh the experts already.",
)
def divided_by_k(self, x, right=MoELayer.forward):
    return right(self, x) / self.indices.shape[1]


@mistake(
    criterion="moe-forward",
    replaces="MoELayer.__init__",
    text="The list holds one expert many times, so that all places share its parameters.",
    fix="Make a new MLP for each: [MLP(...) for _ in range(num_experts)].",
)
def one_expert_many_times(
    self,
    dim,
    hidden_dim,
    num_experts,
    k=2,
    capacity_factor=None,
    renormalize=True,
    balance_weight=0.0,
    z_weight=0.0,
    rng=None,
    right=MoELayer.__init__,
):
    right(self, dim, hidden_dim, num_experts, k, capacity_factor, renormalize, balance_weight, z_weight, rng)
    self.experts = [MLP(dim, hidden_dim, rng=rng)] * num_experts


@mistake(
    criterion="moe-forward",
    replaces="MoELayer.forward",
    text="auxiliary_loss is the plain sum of both losses.",
    fix="Multiply them by balance_weight and z_weight first.",
)
def losses_not_weighed(self, x, right=MoELayer.forward):
    output = right(self, x)
    self.auxiliary_loss = load_balancing_loss(self.probabilities, self.indices) + router_z_loss(self._cache[2])
    return output


@mistake(
    criterion="moe-forward",
    replaces="MoELayer.forward",
    text="balance_weight and z_weight changed places in auxiliary_loss.",
    fix="auxiliary_loss = balance_weight * load_balancing_loss + z_weight * router_z_loss.",
)
def losses_weighed_the_other_way_round(self, x, right=MoELayer.forward):
    output = right(self, x)
    balance = load_balancing_loss(self.probabilities, self.indices)
    self.auxiliary_loss = self._z_weight * balance + self._balance_weight * router_z_loss(self._cache[2])
    return output


@mistake(
    criterion="moe-forward",
    replaces="MoELayer.forward",
    text="auxiliary_loss was added to the output.",
    fix="Keep it as an attribute: whoever trains the layer adds it to the loss, a number.",
)
def auxiliary_loss_added_to_the_output(self, x, right=MoELayer.forward):
    return right(self, x) + self.auxiliary_loss


@mistake(
    criterion="dense-sum",
    replaces="MoELayer.forward",
    text="Gate j was used for expert j: the gates stand in the order of the choices, not of the experts.",
    fix="gates[t, j] weighs the expert indices[t, j].",
)
def expert_of_the_place(self, x, right=MoELayer.forward):
    output = np.zeros_like(right(self, x)).reshape(-1, x.shape[-1])
    tokens = x.reshape(output.shape)
    for place in range(self.indices.shape[1]):
        counts = self.gates[:, place] * self.kept[:, place]
        output += counts[:, None] * self.experts[place].forward(tokens)
    return output.reshape(x.shape)


@mistake(
    criterion="dense-sum",
    replaces="MoELayer.forward",
    text="The last expert was never asked.",
    fix="Go through all experts: range(num_experts) begins at 0 and ends at num_experts - 1.",
)
def last_expert_never_asked(self, x, right=MoELayer.forward):
    output = np.zeros_like(right(self, x)).reshape(-1, x.shape[-1])
    for rows, choices, result in self._cache[3][:-1]:
        output[rows] += self.gates[rows, choices][:, None] * result
    return output.reshape(x.shape)


@mistake(
    criterion="dense-sum",
    replaces="MoELayer.forward",
    text="The last of the k choices of each token was left out.",
    fix="Add up all k: columns 0 to k - 1 of indices.",
)
def last_choice_left_out(self, x, right=MoELayer.forward):
    output = np.zeros_like(right(self, x)).reshape(-1, x.shape[-1])
    for rows, choices, result in self._cache[3]:
        counts = self.gates[rows, choices] * (choices < max(1, self.indices.shape[1] - 1))
        output[rows] += counts[:, None] * result
    return output.reshape(x.shape)


@mistake(
    criterion="dense-sum",
    replaces="MoELayer.forward",
    text="With every expert chosen, their outputs were averaged alike.",
    fix="The gates still count: they are the probabilities of the experts.",
)
def experts_averaged_when_all_are_chosen(self, x, right=MoELayer.forward):
    output = np.zeros_like(right(self, x)).reshape(-1, x.shape[-1])
    for rows, choices, result in self._cache[3]:
        output[rows] += (
            1 / len(self.experts) if len(self.experts) == self.indices.shape[1] else self.gates[rows, choices][:, None]
        ) * result
    return output.reshape(x.shape)


@mistake(
    criterion="moe-capacity",
    replaces="MoELayer.forward",
    text="capacity_factor had no effect: nothing was dropped.",
    fix="Compute the capacity of the call's tokens, and let dispatch say which choices are kept.",
)
def capacity_ignored(self, x, right=MoELayer.forward):
    factor, self._capacity_factor = self._capacity_factor, None
    output = right(self, x)
    self._capacity_factor = factor
    return output


@mistake(
    criterion="moe-capacity",
    replaces="MoELayer.forward",
    text="kept says which choices were dropped, but the output counts all of them.",
    fix="Give an expert only the tokens whose choice of it is kept: (indices == number) & kept.",
)
def dropped_choices_counted(self, x, right=MoELayer.forward):
    output = np.zeros_like(right(self, x)).reshape(-1, x.shape[-1])
    shape, tokens, logits, _ = self._cache
    chosen = []
    for number, expert in enumerate(self.experts):
        rows, choices = np.nonzero(self.indices == number)
        result = expert.forward(tokens[rows])
        output[rows] += self.gates[rows, choices][:, None] * result
        chosen.append((rows, choices, result))
    self._cache = shape, tokens, logits, chosen
    return output.reshape(shape)


@mistake(
    criterion="moe-capacity",
    replaces="MoELayer.forward",
    text="The gates that were left after dropping were scaled up to the sum of all.",
    fix="Leave them as they are: what was dropped is missing from the output.",
)
def gates_renormalised_after_dropping(self, x, right=MoELayer.forward):
    output = np.zeros_like(right(self, x)).reshape(-1, x.shape[-1])
    left = (self.gates * self.kept).sum(axis=1)
    whole = self.gates.sum(axis=1)
    scale = np.divide(whole, left, out=np.zeros_like(left), where=left > 0)
    for rows, choices, result in self._cache[3]:
        output[rows] += (self.gates[rows, choices] * scale[rows])[:, None] * result
    return output.reshape(x.shape)


@mistake(
    criterion="moe-capacity",
    replaces="MoELayer.forward",
    text="Tokens that no expert took came out as they went in.",
    fix="Their output is 0: the residual connection around the layer is not part of it.",
)
def dropped_tokens_pass_through(self, x, right=MoELayer.forward):
    output = right(self, x).reshape(-1, x.shape[-1])
    lost = ~self.kept.any(axis=1)
    output[lost] = x.reshape(output.shape)[lost]
    return output.reshape(x.shape)


@mistake(
    criterion="moe-capacity",
    replaces="MoELayer.forward",
    text="The balancing loss counts only the choices that were kept, so that overload does not show in it.",
    fix="Count all choices, before any is dropped.",
)
def losses_count_what_was_kept(self, x, right=MoELayer.forward):
    output = right(self, x)
    counts = np.bincount(self.indices[self.kept], minlength=len(self.experts)) / self.kept.sum()
    balance = len(self.experts) * (counts * self.probabilities.mean(axis=0)).sum()
    self.auxiliary_loss = self._balance_weight * balance + self._z_weight * router_z_loss(self._cache[2])
    return output


@mistake(
    criterion="moe-capacity",
    replaces="MoELayer.forward",
    text="The capacity was computed for the length of the first axis of x, not for the number of tokens.",
    fix="Count all tokens: the product of all axes of x but the last.",
)
def capacity_of_the_first_axis(self, x, right=MoELayer.forward):
    factor = self._capacity_factor
    tokens = math.prod(x.shape[:-1])
    if factor is None or x.ndim < 2 or not tokens:
        return right(self, x)
    self._capacity_factor = factor * len(x) / tokens
    try:
        return right(self, x)
    finally:
        self._capacity_factor = factor


@mistake(
    criterion="moe-gradients",
    replaces="MoELayer.backward",
    text="The gradient went into the experts without their gates.",
    fix="An expert's output was multiplied by its gate, so its gradient is gate * grad_output.",
)
def gate_left_out_on_the_way_back(self, grad_output, right=MoELayer.backward):
    gates, first = self.gates, right(self, grad_output)
    of_router = self._grad_router_weights
    shape, tokens, logits, chosen = self._cache
    grad = grad_output.reshape(tokens.shape)
    for expert, (rows, choices, _) in zip(self.experts, chosen, strict=True):
        change = (1 - gates[rows, choices])[:, None] * grad[rows]
        first.reshape(tokens.shape)[rows] += expert.backward(change)
        expert.backward(grad[rows])
    self._grad_router_weights = of_router
    return first


@mistake(
    criterion="moe-gradients",
    replaces="MoELayer.backward",
    text="The gradient of x came from the experts only: the way through the router is missing.",
    fix="Add what router_backward returns for x.",
)
def way_through_the_router_left_out_of_x(self, grad_output, right=MoELayer.backward):
    right(self, grad_output)
    shape, tokens, _, chosen = self._cache
    grad, grad_x = grad_output.reshape(tokens.shape), np.zeros_like(tokens)
    for expert, (rows, choices, _) in zip(self.experts, chosen, strict=True):
        grad_x[rows] += expert.backward(self.gates[rows, choices][:, None] * grad[rows])
    return grad_x.reshape(shape)


@mistake(
    criterion="moe-gradients",
    replaces="MoELayer.backward",
    text="The gates were taken as constants: the router learned nothing from the loss behind the output.",
    fix="The gradient of a gate is grad_output times the expert's output, summed; send it back to the router.",
)
def gates_taken_as_constants(self, grad_output, right=MoELayer.backward):
    right(self, grad_output)
    shape, tokens, logits, chosen = self._cache
    grad, grad_x = grad_output.reshape(tokens.shape), np.zeros_like(tokens)
    for expert, (rows, choices, _) in zip(self.experts, chosen, strict=True):
        grad_x[rows] += expert.backward(self.gates[rows, choices][:, None] * grad[rows])
    balance = self._balance_weight * load_balancing_loss_gradient(self.probabilities, self.indices)
    of_z = self._z_weight * router_z_loss_gradient(logits)
    of_router, self._grad_router_weights = router_backward(of_z, balance, tokens, self.router_weights)
    return (grad_x + of_router).reshape(shape)


@mistake(
    criterion="moe-gradients",
    replaces="MoELayer.backward",
    text="An expert without tokens kept the gradients of an earlier call.",
    fix="Its gradients are zeros: let it go forward and backward with no tokens, or set them.",
)
def idle_experts_keep_their_gradients(self, grad_output, right=MoELayer.backward):
    before = [expert.grads for expert in self.experts]
    grad_x = right(self, grad_output)
    for expert, grads, (rows, _, _) in zip(self.experts, before, self._cache[3], strict=True):
        if len(rows) == 0 and grads:
            expert.grads = grads
    return grad_x


@mistake(
    criterion="moe-gradients",
    replaces="MoELayer.backward",
    text="The second call of backward added its gradients to those of the first.",
    fix="Replace the gradients at each call of backward.",
)
def gradients_accumulated(self, grad_output, right=MoELayer.backward):
    before = self.grads
    grad_x = right(self, grad_output)
    for number, expert in enumerate(self.experts):
        expert.grads = {key: value + before.get(f"experts.{number}.{key}", 0) for key, value in expert.grads.items()}
    self._grad_router_weights = self._grad_router_weights + before.get("router_weights", 0)
    return grad_x


@mistake(
    criterion="moe-gradients",
    replaces="MoELayer.backward",
    text="Gates of dropped choices got a gradient, although they count nothing in the output.",
    fix="Set the gradient of a gate to 0 where the choice was not kept.",
)
def dropped_gates_get_gradients(self, grad_output, right=MoELayer.backward):
    kept, chosen = self.kept, self._cache[3]
    shape, tokens, logits, _ = self._cache
    first = right(self, grad_output)
    grads = [expert.grads for expert in self.experts]
    grad, grad_gates = grad_output.reshape(tokens.shape), np.zeros_like(self.gates)
    for number, expert in enumerate(self.experts):
        rows, choices = np.nonzero(self.indices == number)
        grad_gates[rows, choices] = (grad[rows] * expert.forward(tokens[rows])).sum(axis=1)
    for expert, (rows, _, _), old in zip(self.experts, chosen, grads, strict=True):
        expert.forward(tokens[rows])
        expert.grads = old
    extra = top_k_gating_backward(grad_gates * ~kept, self.probabilities, self.indices, self._renormalize)
    of_x, of_router = router_backward(0 * logits, extra, tokens, self.router_weights)
    self._grad_router_weights = self._grad_router_weights + of_router
    return first + of_x.reshape(shape)


@mistake(
    criterion="auxiliary-gradients",
    replaces="MoELayer.backward",
    text="The balancing loss has no part in the gradients.",
    fix="Add balance_weight * load_balancing_loss_gradient to the gradient of the probabilities.",
)
def balancing_loss_not_taken_back(self, grad_output, right=MoELayer.backward):
    weights = self._balance_weight, self._z_weight
    self._balance_weight, self._z_weight = 0.0, weights[1]
    grad_x = right(self, grad_output)
    self._balance_weight, self._z_weight = weights
    return grad_x


@mistake(
    criterion="auxiliary-gradients",
    replaces="MoELayer.backward",
    text="The z-loss has no part in the gradients.",
    fix="Give z_weight * router_z_loss_gradient to router_backward as the gradient of the logits.",
)
def z_loss_not_taken_back(self, grad_output, right=MoELayer.backward):
    weights = self._balance_weight, self._z_weight
    self._balance_weight, self._z_weight = weights[0], 0.0
    grad_x = right(self, grad_output)
    self._balance_weight, self._z_weight = weights
    return grad_x


@mistake(
    criterion="auxiliary-gradients",
    replaces="MoELayer.backward",
    text="balance_weight and z_weight changed places on the way back.",
    fix="Multiply each loss' gradient by its own weight.",
)
def weights_of_the_losses_exchanged(self, grad_output, right=MoELayer.backward):
    weights = self._balance_weight, self._z_weight
    self._balance_weight, self._z_weight = weights[1], weights[0]
    grad_x = right(self, grad_output)
    self._balance_weight, self._z_weight = weights
    return grad_x


@mistake(
    criterion="auxiliary-gradients",
    replaces="MoELayer.backward",
    text="The gradients of the two losses were added without their weights.",
    fix="Multiply them by balance_weight and z_weight, as in auxiliary_loss.",
)
def losses_counted_fully_on_the_way_back(self, grad_output, right=MoELayer.backward):
    weights = self._balance_weight, self._z_weight
    self._balance_weight, self._z_weight = float(weights[0] != 0), float(weights[1] != 0)
    grad_x = right(self, grad_output)
    self._balance_weight, self._z_weight = weights
    return grad_x


@mistake(
    criterion="auxiliary-gradients",
    replaces="MoELayer.backward",
    text="The gradient of the z-loss was added to that of the probabilities and went through the softmax.",
    fix="It is a gradient of the logits already: pass it as grad_logits.",
)
def z_loss_sent_through_the_softmax(self, grad_output, right=MoELayer.backward):
    z_weight, self._z_weight = self._z_weight, 0.0
    grad_x = right(self, grad_output)
    self._z_weight = z_weight
    shape, tokens, logits, _ = self._cache
    of_z = z_weight * router_z_loss_gradient(logits)
    of_x, of_router = router_backward(0 * logits, of_z, tokens, self.router_weights)
    self._grad_router_weights = self._grad_router_weights + of_router
    return grad_x + of_x.reshape(shape)


@mistake(
    criterion="trains",
    replaces="MoELayer.forward",
    text="The layer went on with the router_weights of its first call: what an optimiser sets has no effect.",
    fix="Read router_weights at each call of forward; keep no copy.",
)
def router_of_the_first_call_kept(self, x, right=MoELayer.forward):
    if not hasattr(self, "_first"):
        self._first = self.router_weights
    now, self.router_weights = self.router_weights, self._first
    output = right(self, x)
    self.router_weights = now
    return output


@mistake(
    criterion="trains",
    replaces="MoELayer.forward",
    text="The layer went on with the experts' parameters of its first call: what an optimiser sets has no effect.",
    fix="Read the params of the experts at each call of forward; keep no copy.",
)
def experts_of_the_first_call_kept(self, x, right=MoELayer.forward):
    if not hasattr(self, "_first"):
        self._first = [expert.params for expert in self.experts]
    now = [expert.params for expert in self.experts]
    for expert, first in zip(self.experts, self._first, strict=True):
        expert.params = first
    output = right(self, x)
    for expert, params in zip(self.experts, now, strict=True):
        expert.params = params
    return output


@mistake(
    criterion="trains",
    replaces="MoELayer.backward",
    text="The gradients of the parameters have the wrong sign for the loss behind the output.",
    fix="A gradient says how the loss grows: whoever trains subtracts it.",
)
def gradients_point_upwards(self, grad_output, right=MoELayer.backward):
    grad_x = right(self, -grad_output)
    for expert in self.experts:
        expert.grads = dict(expert.grads)
    return -grad_x


@mistake(
    criterion="trains",
    replaces="MoELayer.backward",
    text="The experts' gradients are zeros, so that only the router learns.",
    fix="Keep what each expert's backward puts into its grads.",
)
def only_the_router_learns(self, grad_output, right=MoELayer.backward):
    grad_x = right(self, grad_output)
    for expert in self.experts:
        expert.grads = {key: np.zeros_like(value) for key, value in expert.grads.items()}
    return grad_x

"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own function as the default of `right`.
"""

import math

import numpy as np

from grader.course.answers import mistake
from hidden.s14_recurrent_networks.solution import (
    LSTM,
    _check_step,
    _of_shape,
    _real_tokens,
    _require_positive,
    _sigmoid,
    _through_product,
    _through_sum,
    _unroll,
    _unroll_backward,
    clip_gradients,
    create_sequences,
    gru_backward,
    gru_cell_backward,
    gru_cell_forward,
    gru_forward,
    lstm_backward,
    lstm_cell_backward,
    lstm_cell_forward,
    lstm_forward,
    rnn_backward,
    rnn_cell_backward,
    rnn_cell_forward,
    rnn_forward,
    sequence_loss,
)


@mistake(
    criterion="rnn-cell",
    replaces="rnn_cell_forward",
    text="This is the plain sum x W_x + h W_h + b: tanh was left out.",
    fix="Take np.tanh of the whole sum.",
)
def no_activation(x, h, weights):
    _check_step(x, weights, 1, h=h)
    h_next = x @ weights["W_x"] + h @ weights["W_h"] + weights["b"]
    return h_next, (x, h, weights, h_next)


@mistake(
    criterion="rnn-cell",
    replaces="rnn_cell_forward",
    text="The sum went through a sigmoid instead of tanh, so that no state is ever negative.",
    fix="Use np.tanh; sigmoids come with the gates of LSTM and GRU.",
)
def sigmoid_instead_of_tanh(x, h, weights):
    _check_step(x, weights, 1, h=h)
    h_next = _sigmoid(x @ weights["W_x"] + h @ weights["W_h"] + weights["b"])
    return h_next, (x, h, weights, h_next)


@mistake(
    criterion="rnn-cell",
    replaces="rnn_cell_forward",
    text="The last state was not used: without h W_h the cell remembers nothing.",
    fix="Add h @ W_h to x @ W_x before the tanh.",
)
def state_left_out(x, h, weights):
    _check_step(x, weights, 1, h=h)
    h_next = np.tanh(x @ weights["W_x"] + weights["b"])
    return h_next, (x, h, weights, h_next)


@mistake(
    criterion="rnn-cell",
    replaces="rnn_cell_forward",
    text="The bias was left out.",
    fix="Add b, of shape (hidden,), to the sum before the tanh.",
)
def bias_left_out(x, h, weights):
    _check_step(x, weights, 1, h=h)
    h_next = np.tanh(x @ weights["W_x"] + h @ weights["W_h"])
    return h_next, (x, h, weights, h_next)


@mistake(
    criterion="rnn-cell",
    replaces="rnn_cell_forward",
    text="W_h was transposed. It is square, so that no shape complains.",
    fix="Multiply h @ W_h as it is: rows belong to the old state, columns to the next.",
)
def recurrent_weights_transposed(x, h, weights):
    _check_step(x, weights, 1, h=h)
    h_next = np.tanh(x @ weights["W_x"] + h @ weights["W_h"].T + weights["b"])
    return h_next, (x, h, weights, h_next)


@mistake(
    criterion="rnn-cell",
    replaces="rnn_cell_forward",
    text="tanh was taken of the part of x and of the part of h apart, and the two were added.",
    fix="Add first and take one tanh of the whole sum.",
)
def two_activations(x, h, weights):
    _check_step(x, weights, 1, h=h)
    h_next = np.tanh(x @ weights["W_x"] + weights["b"]) + np.tanh(h @ weights["W_h"])
    return h_next, (x, h, weights, h_next)


@mistake(
    criterion="rnn-cell",
    replaces="rnn_cell_forward",
    text="Shapes were not checked, and broadcasting accepted a state or a bias that does not fit.",
    fix="Compare the shapes of h and of each weight with those in the docstring, and raise ValueError.",
)
def shapes_not_checked(x, h, weights):
    h_next = np.tanh(x @ weights["W_x"] + h @ weights["W_h"] + weights["b"])
    return h_next, (x, h, weights, h_next)


@mistake(
    criterion="rnn-cell-gradients",
    replaces="rnn_cell_backward",
    text="The slope of tanh was left out: the gradient went straight to the sum.",
    fix="Multiply grad_h_next by 1 - h_next**2 first.",
)
def slope_of_tanh_left_out(grad_h_next, cache):
    x, h, weights, h_next = cache
    return _through_sum(_of_shape("grad_h_next", grad_h_next, h_next.shape), x, h, weights)


@mistake(
    criterion="rnn-cell-gradients",
    replaces="rnn_cell_backward",
    text="The slope h_next (1 - h_next) is that of a sigmoid.",
    fix="The slope of tanh is 1 - h_next**2.",
)
def slope_of_sigmoid(grad_h_next, cache):
    x, h, weights, h_next = cache
    grad_sum = _of_shape("grad_h_next", grad_h_next, h_next.shape) * h_next * (1 - h_next)
    return _through_sum(grad_sum, x, h, weights)


@mistake(
    criterion="rnn-cell-gradients",
    replaces="rnn_cell_backward",
    text="The slope of tanh was taken at the state before the step instead of the one after it.",
    fix="Use 1 - h_next**2: h_next is the tanh.",
)
def slope_at_the_old_state(grad_h_next, cache):
    x, h, weights, h_next = cache
    return _through_sum(_of_shape("grad_h_next", grad_h_next, h_next.shape) * (1 - h**2), x, h, weights)


@mistake(
    criterion="rnn-cell-gradients",
    replaces="rnn_cell_backward",
    text="The gradient of W_h was made with the state after the step.",
    fix="What was multiplied with W_h is h, the state before the step: h.T @ grad_sum.",
)
def recurrent_gradient_from_next_state(grad_h_next, cache, right=rnn_cell_backward):
    grad_x, grad_h, grads = right(grad_h_next, cache)
    h_next = cache[3]
    return grad_x, grad_h, {**grads, "W_h": h_next.T @ (grad_h_next * (1 - h_next**2))}


@mistake(
    criterion="rnn-cell-gradients",
    replaces="rnn_cell_backward",
    text="On the way to h the gradient was multiplied by W_h, not by its transpose.",
    fix="For the product h W_h the gradient of h is grad_sum @ W_h.T.",
)
def recurrent_weights_not_transposed_back(grad_h_next, cache, right=rnn_cell_backward):
    grad_x, _, grads = right(grad_h_next, cache)
    _, _, weights, h_next = cache
    return grad_x, (grad_h_next * (1 - h_next**2)) @ weights["W_h"], grads


@mistake(
    criterion="rnn-cell-gradients",
    replaces="rnn_cell_backward",
    text="The gradients of the weights were averaged over the batch.",
    fix="Sum over the batch: a mean, if there is one, is in the loss and so in grad_h_next already.",
)
def weight_gradients_averaged(grad_h_next, cache, right=rnn_cell_backward):
    grad_x, grad_h, grads = right(grad_h_next, cache)
    return grad_x, grad_h, {name: grad / len(grad_x) for name, grad in grads.items()}


@mistake(
    criterion="rnn-sequence",
    replaces="rnn_forward",
    text="Every step started from h0: the state of one step did not go into the next.",
    fix="Give each step the state that the step before returned.",
)
def state_not_carried(x, h0, weights):
    steps = [rnn_cell_forward(x[:, t], h0, weights) for t in range(x.shape[1])]
    return np.stack([h for h, _ in steps], axis=1), [cache for _, cache in steps]


@mistake(
    criterion="rnn-sequence",
    replaces="rnn_forward",
    text="Only the state after the last step was returned.",
    fix="Collect the state after every step and stack them along axis 1: (batch, time, hidden).",
)
def last_state_only(x, h0, weights, right=rnn_forward):
    hs, cache = right(x, h0, weights)
    return hs[:, -1], cache


@mistake(
    criterion="rnn-sequence",
    replaces="rnn_forward",
    text="The states were stacked with time in front: (time, batch, hidden).",
    fix="Stack them along axis 1, so that the batch stays the first axis.",
)
def time_in_front(x, h0, weights, right=rnn_forward):
    hs, cache = right(x, h0, weights)
    return hs.swapaxes(0, 1), cache


@mistake(
    criterion="rnn-sequence",
    replaces="rnn_forward",
    text="The states are one step late: hs begins with h0, and the state after the last step is missing.",
    fix="Append the state after a step, not the one before it.",
)
def states_one_step_late(x, h0, weights, right=rnn_forward):
    hs, cache = right(x, h0, weights)
    return np.concatenate([h0[:, None], hs[:, :-1]], axis=1), cache


@mistake(
    criterion="rnn-sequence",
    replaces="rnn_backward",
    text="Each step got only its own gradient: what the later steps send back through the state was dropped.",
    fix="Give rnn_cell_backward grad_hs[:, t] plus the grad_h that step t + 1 returned.",
)
def nothing_sent_back_through_time(grad_hs, cache, right=rnn_backward):
    right(grad_hs, cache)  # for its check of the shape
    steps = [rnn_cell_backward(grad_hs[:, t], each) for t, each in enumerate(cache)]
    grads = {name: sum(step[2][name] for step in steps) for name in steps[0][2]}
    return np.stack([step[0] for step in steps], axis=1), steps[0][1], grads


@mistake(
    criterion="rnn-sequence",
    replaces="rnn_backward",
    text="Only the gradient of the last state was sent back: grad_hs of the earlier steps was not used.",
    fix="At every step add grad_hs[:, t] to what comes back from the step after it.",
)
def last_gradient_only(grad_hs, cache, right=rnn_backward):
    last = np.zeros_like(grad_hs)
    last[:, -1] = grad_hs[:, -1]
    return right(last, cache)


@mistake(
    criterion="rnn-sequence",
    replaces="rnn_backward",
    text="The weights have the gradients of a single step: each step replaced those of the one before.",
    fix="The same weights are used at every step: add up their gradients over all steps.",
)
def weights_of_one_step(grad_hs, cache, right=rnn_backward):
    grad_x, grad_h0, _ = right(grad_hs, cache)
    grad_h = 0
    for t in reversed(range(len(cache))):
        _, grad_h, grads = rnn_cell_backward(grad_hs[:, t] + grad_h, cache[t])
    return grad_x, grad_h0, grads


@mistake(
    criterion="rnn-sequence",
    replaces="rnn_backward",
    text="The loop ran from the first step to the last, so that gradients went forward in time.",
    fix="Loop over reversed(range(steps)): the last step first.",
)
def first_step_first(grad_hs, cache, right=rnn_backward):
    right(grad_hs, cache)
    grad_h, grad_xs, totals = 0, [], {}
    for t in range(len(cache)):
        grad_x, grad_h, grads = rnn_cell_backward(grad_hs[:, t] + grad_h, cache[t])
        grad_xs.append(grad_x)
        totals = {name: grad + totals.get(name, 0) for name, grad in grads.items()}
    return np.stack(grad_xs, axis=1), grad_h, totals


@mistake(
    criterion="rnn-sequence",
    replaces="rnn_backward",
    text="grad_x stands in the order of the backward loop: its last step first.",
    fix="Write grad_x[:, t] at its own time, or turn the list round before stacking.",
)
def input_gradients_turned_round(grad_hs, cache, right=rnn_backward):
    grad_x, grad_h0, grads = right(grad_hs, cache)
    return grad_x[:, ::-1], grad_h0, grads


@mistake(
    criterion="lstm-cell",
    replaces="lstm_cell_forward",
    text="The blocks were read in the order i, f, o, g: candidate and output gate are exchanged.",
    fix="The columns stand in the order i, f, g, o.",
)
def order_i_f_o_g(x, h, c, weights):
    _check_step(x, weights, 4, h=h, c=c)
    i, f, o, g = np.split(x @ weights["W_x"] + h @ weights["W_h"] + weights["b"], 4, axis=1)
    i, f, g, o = _sigmoid(i), _sigmoid(f), np.tanh(g), _sigmoid(o)
    c_next = f * c + i * g
    return o * np.tanh(c_next), c_next, (x, h, c, weights, (i, f, g, o), np.tanh(c_next))


@mistake(
    criterion="lstm-cell",
    replaces="lstm_cell_forward",
    text="Input and forget gate are exchanged: the blocks were read in the order f, i, g, o.",
    fix="The columns stand in the order i, f, g, o; f multiplies c, i multiplies g.",
)
def order_f_i_g_o(x, h, c, weights):
    _check_step(x, weights, 4, h=h, c=c)
    f, i, g, o = np.split(x @ weights["W_x"] + h @ weights["W_h"] + weights["b"], 4, axis=1)
    i, f, g, o = _sigmoid(i), _sigmoid(f), np.tanh(g), _sigmoid(o)
    c_next = f * c + i * g
    return o * np.tanh(c_next), c_next, (x, h, c, weights, (i, f, g, o), np.tanh(c_next))


@mistake(
    criterion="lstm-cell",
    replaces="lstm_cell_forward",
    text="The columns were read as one group of four gates for each hidden unit.",
    fix="Each gate has hidden neighbouring columns: cut the sums into four blocks, with np.split(sums, 4, axis=1).",
)
def gates_interleaved(x, h, c, weights):
    _check_step(x, weights, 4, h=h, c=c)
    sums = x @ weights["W_x"] + h @ weights["W_h"] + weights["b"]
    i, f, g, o = (sums[:, place::4] for place in range(4))
    i, f, g, o = _sigmoid(i), _sigmoid(f), np.tanh(g), _sigmoid(o)
    c_next = f * c + i * g
    return o * np.tanh(c_next), c_next, (x, h, c, weights, (i, f, g, o), np.tanh(c_next))


@mistake(
    criterion="lstm-cell",
    replaces="lstm_cell_forward",
    text="h_next is o * c_next: the tanh of the cell state was left out.",
    fix="h_next = o * np.tanh(c_next).",
)
def cell_state_shown_without_tanh(x, h, c, weights, right=lstm_cell_forward):
    _, c_next, cache = right(x, h, c, weights)
    return cache[4][3] * c_next, c_next, cache


@mistake(
    criterion="lstm-cell",
    replaces="lstm_cell_forward",
    text="The candidate g went through a sigmoid like the gates, so that nothing negative can be written.",
    fix="g = np.tanh of its block; only i, f and o are sigmoids.",
)
def candidate_through_sigmoid(x, h, c, weights):
    _check_step(x, weights, 4, h=h, c=c)
    i, f, g, o = np.split(_sigmoid(x @ weights["W_x"] + h @ weights["W_h"] + weights["b"]), 4, axis=1)
    c_next = f * c + i * g
    return o * np.tanh(c_next), c_next, (x, h, c, weights, (i, f, g, o), np.tanh(c_next))


@mistake(
    criterion="lstm-cell",
    replaces="lstm_cell_forward",
    text="The candidate was weighted with 1 - f: the input gate is not used.",
    fix="The two gates are independent here: c_next = f * c + i * g.",
)
def gates_coupled(x, h, c, weights):
    _check_step(x, weights, 4, h=h, c=c)
    i, f, g, o = np.split(x @ weights["W_x"] + h @ weights["W_h"] + weights["b"], 4, axis=1)
    i, f, g, o = _sigmoid(i), _sigmoid(f), np.tanh(g), _sigmoid(o)
    c_next = f * c + (1 - f) * g
    return o * np.tanh(c_next), c_next, (x, h, c, weights, (i, f, g, o), np.tanh(c_next))


@mistake(
    criterion="lstm-cell",
    replaces="lstm_cell_forward",
    text="exp(z) / (1 + exp(z)) is infinity over infinity, which is NaN, for a large sum.",
    fix="Write the sigmoid as 1 / (1 + exp(-z)) or 0.5 * (1 + tanh(z / 2)).",
)
def sigmoid_overflows(x, h, c, weights):
    _check_step(x, weights, 4, h=h, c=c)
    i, f, g, o = np.split(x @ weights["W_x"] + h @ weights["W_h"] + weights["b"], 4, axis=1)
    i, f, g, o = (np.exp(i) / (1 + np.exp(i)), np.exp(f) / (1 + np.exp(f)), np.tanh(g), np.exp(o) / (1 + np.exp(o)))
    c_next = f * c + i * g
    return o * np.tanh(c_next), c_next, (x, h, c, weights, (i, f, g, o), np.tanh(c_next))


@mistake(
    criterion="lstm-cell",
    replaces="lstm_cell_forward",
    text="The two results are exchanged: the cell state was returned first.",
    fix="Return (h_next, c_next, cache).",
)
def results_exchanged(x, h, c, weights, right=lstm_cell_forward):
    h_next, c_next, cache = right(x, h, c, weights)
    return c_next, h_next, cache


@mistake(
    criterion="lstm-cell-gradients",
    replaces="lstm_cell_backward",
    text="grad_c_next was not used: what reaches the cell state from later steps is lost.",
    fix="Add grad_c_next to grad_h_next * o * (1 - tanh(c_next)**2).",
)
def cell_gradient_ignored(grad_h_next, grad_c_next, cache, right=lstm_cell_backward):
    right(grad_h_next, grad_c_next, cache)
    return right(grad_h_next, np.zeros_like(grad_c_next), cache)


@mistake(
    criterion="lstm-cell-gradients",
    replaces="lstm_cell_backward",
    text="What reaches the cell state through h_next was left out; only grad_c_next went on.",
    fix="Add grad_h_next * o * (1 - tanh(c_next)**2) to grad_c_next before anything else.",
)
def way_through_h_left_out(grad_h_next, grad_c_next, cache):
    x, h, c, weights, (i, f, g, o), tanh_c = cache
    grad_h_next = _of_shape("grad_h_next", grad_h_next, c.shape)
    grad_c = _of_shape("grad_c_next", grad_c_next, c.shape)
    blocks = [grad_c * g * i * (1 - i), grad_c * c * f * (1 - f), grad_c * i * (1 - g**2)]
    grad_sum = np.concatenate([*blocks, grad_h_next * tanh_c * o * (1 - o)], axis=1)
    grad_x, grad_h, grads = _through_sum(grad_sum, x, h, weights)
    return grad_x, grad_h, grad_c * f, grads


@mistake(
    criterion="lstm-cell-gradients",
    replaces="lstm_cell_backward",
    text="On the way from h_next to c_next the slope of tanh was left out.",
    fix="h_next = o * tanh(c_next), so c_next gets grad_h_next * o * (1 - tanh(c_next)**2).",
)
def slope_of_the_shown_cell_left_out(grad_h_next, grad_c_next, cache):
    x, h, c, weights, (i, f, g, o), tanh_c = cache
    grad_h_next = _of_shape("grad_h_next", grad_h_next, c.shape)
    grad_c = _of_shape("grad_c_next", grad_c_next, c.shape) + grad_h_next * o
    blocks = [grad_c * g * i * (1 - i), grad_c * c * f * (1 - f), grad_c * i * (1 - g**2)]
    grad_sum = np.concatenate([*blocks, grad_h_next * tanh_c * o * (1 - o)], axis=1)
    grad_x, grad_h, grads = _through_sum(grad_sum, x, h, weights)
    return grad_x, grad_h, grad_c * f, grads


@mistake(
    criterion="lstm-cell-gradients",
    replaces="lstm_cell_backward",
    text="grad_c is the gradient of c_next: it was not multiplied by the forget gate.",
    fix="c_next = f * c + ..., so grad_c is f times the whole gradient of c_next.",
)
def forget_gate_left_out(grad_h_next, grad_c_next, cache, right=lstm_cell_backward):
    grad_x, grad_h, _, grads = right(grad_h_next, grad_c_next, cache)
    o, tanh_c = cache[4][3], cache[5]
    return grad_x, grad_h, grad_c_next + grad_h_next * o * (1 - tanh_c**2), grads


@mistake(
    criterion="lstm-cell-gradients",
    replaces="lstm_cell_backward",
    text="The forget gate's gradient was made with the new cell state.",
    fix="f was multiplied with c, the cell state before the step.",
)
def forget_gradient_from_new_cell(grad_h_next, grad_c_next, cache):
    x, h, c, weights, (i, f, g, o), tanh_c = cache
    grad_h_next = _of_shape("grad_h_next", grad_h_next, c.shape)
    grad_c = _of_shape("grad_c_next", grad_c_next, c.shape) + grad_h_next * o * (1 - tanh_c**2)
    blocks = [grad_c * g * i * (1 - i), grad_c * (f * c + i * g) * f * (1 - f), grad_c * i * (1 - g**2)]
    grad_sum = np.concatenate([*blocks, grad_h_next * tanh_c * o * (1 - o)], axis=1)
    grad_x, grad_h, grads = _through_sum(grad_sum, x, h, weights)
    return grad_x, grad_h, grad_c * f, grads


@mistake(
    criterion="lstm-cell-gradients",
    replaces="lstm_cell_backward",
    text="The gradients of input and forget gate are exchanged: their blocks stand in the order f, i, g, o.",
    fix="Concatenate the blocks in the order of the columns, i, f, g, o.",
)
def order_f_i_g_o_in_backward(grad_h_next, grad_c_next, cache):
    x, h, c, weights, (i, f, g, o), tanh_c = cache
    grad_h_next = _of_shape("grad_h_next", grad_h_next, c.shape)
    grad_c = _of_shape("grad_c_next", grad_c_next, c.shape) + grad_h_next * o * (1 - tanh_c**2)
    blocks = [grad_c * c * f * (1 - f), grad_c * g * i * (1 - i), grad_c * i * (1 - g**2)]
    grad_sum = np.concatenate([*blocks, grad_h_next * tanh_c * o * (1 - o)], axis=1)
    grad_x, grad_h, grads = _through_sum(grad_sum, x, h, weights)
    return grad_x, grad_h, grad_c * f, grads


@mistake(
    criterion="lstm-cell-gradients",
    replaces="lstm_cell_backward",
    text="The slopes of the gates were left out: the gradients of i, f, g and o went on as those of their sums.",
    fix="Multiply by s * (1 - s) for each sigmoid and by 1 - g**2 for the candidate.",
)
def slopes_of_gates_left_out(grad_h_next, grad_c_next, cache):
    x, h, c, weights, (i, f, g, o), tanh_c = cache
    grad_h_next = _of_shape("grad_h_next", grad_h_next, c.shape)
    grad_c = _of_shape("grad_c_next", grad_c_next, c.shape) + grad_h_next * o * (1 - tanh_c**2)
    grad_sum = np.concatenate([grad_c * g, grad_c * c, grad_c * i, grad_h_next * tanh_c], axis=1)
    grad_x, grad_h, grads = _through_sum(grad_sum, x, h, weights)
    return grad_x, grad_h, grad_c * f, grads


@mistake(
    criterion="lstm-sequence",
    replaces="lstm_forward",
    text="Every step started from the cell state c0: only h was carried on.",
    fix="Give each step both states that the step before returned.",
)
def cell_state_not_carried(x, h0, c0, weights):
    h, hs, cs, caches = h0, [], [], []
    for t in range(x.shape[1]):
        h, c, cache = lstm_cell_forward(x[:, t], h, c0, weights)
        hs.append(h)
        cs.append(c)
        caches.append(cache)
    return np.stack(hs, axis=1), np.stack(cs, axis=1), caches


@mistake(
    criterion="lstm-sequence",
    replaces="lstm_forward",
    text="Every step started from the state h0: only the cell state was carried on.",
    fix="Give each step both states that the step before returned.",
)
def shown_state_not_carried(x, h0, c0, weights):
    c, hs, cs, caches = c0, [], [], []
    for t in range(x.shape[1]):
        h, c, cache = lstm_cell_forward(x[:, t], h0, c, weights)
        hs.append(h)
        cs.append(c)
        caches.append(cache)
    return np.stack(hs, axis=1), np.stack(cs, axis=1), caches


@mistake(
    criterion="lstm-sequence",
    replaces="lstm_forward",
    text="cs holds the cell state of the last step alone.",
    fix="Collect c after every step, as h, and stack along axis 1.",
)
def last_cell_state_only(x, h0, c0, weights, right=lstm_forward):
    hs, cs, cache = right(x, h0, c0, weights)
    return hs, cs[:, -1], cache


@mistake(
    criterion="lstm-sequence",
    replaces="lstm_backward",
    text="The gradient of the cell state was not sent on to the step before.",
    fix="Add the grad_c that step t + 1 returned to grad_cs[:, t].",
)
def cell_gradient_not_carried(grad_hs, grad_cs, cache, right=lstm_backward):
    right(grad_hs, grad_cs, cache)
    grad_h, grad_xs, totals = 0, [], {}
    for t in reversed(range(len(cache))):
        grad_x, grad_h, grad_c, grads = lstm_cell_backward(grad_hs[:, t] + grad_h, grad_cs[:, t], cache[t])
        grad_xs.append(grad_x)
        totals = {name: grad + totals.get(name, 0) for name, grad in grads.items()}
    return np.stack(grad_xs[::-1], axis=1), grad_h, grad_c, totals


@mistake(
    criterion="lstm-sequence",
    replaces="lstm_backward",
    text="The gradient of the state h was not sent on to the step before; only that of the cell state was.",
    fix="Add the grad_h that step t + 1 returned to grad_hs[:, t].",
)
def shown_gradient_not_carried(grad_hs, grad_cs, cache, right=lstm_backward):
    right(grad_hs, grad_cs, cache)
    grad_c, grad_xs, totals = 0, [], {}
    for t in reversed(range(len(cache))):
        grad_x, grad_h, grad_c, grads = lstm_cell_backward(grad_hs[:, t], grad_cs[:, t] + grad_c, cache[t])
        grad_xs.append(grad_x)
        totals = {name: grad + totals.get(name, 0) for name, grad in grads.items()}
    return np.stack(grad_xs[::-1], axis=1), grad_h, grad_c, totals


@mistake(
    criterion="lstm-sequence",
    replaces="lstm_backward",
    text="grad_cs was not used: a loss that looks at the cell states themselves gets no gradient.",
    fix="At every step add grad_cs[:, t] to the grad_c that came back.",
)
def gradient_of_cell_states_ignored(grad_hs, grad_cs, cache, right=lstm_backward):
    right(grad_hs, grad_cs, cache)
    return right(grad_hs, np.zeros_like(grad_cs), cache)


@mistake(
    criterion="lstm-sequence",
    replaces="lstm_backward",
    text="The gradients of the weights were averaged over the steps.",
    fix="Add them up: the same weights act at every step.",
)
def averaged_over_time(grad_hs, grad_cs, cache, right=lstm_backward):
    *grads, of_weights = right(grad_hs, grad_cs, cache)
    return *grads, {name: grad / len(cache) for name, grad in of_weights.items()}


@mistake(
    criterion="gru-cell",
    replaces="gru_cell_forward",
    text="The update gate works the wrong way round: z weights the candidate, 1 - z the old state.",
    fix="h_next = (1 - z) * n + z * h, so that z = 1 keeps the state. (Some papers write it the other way.)",
)
def update_gate_reversed(x, h, weights):
    _check_step(x, weights, 3, h=h)
    r_x, z_x, n_x = np.split(x @ weights["W_x"] + weights["b_x"], 3, axis=1)
    r_h, z_h, n_h = np.split(h @ weights["W_h"] + weights["b_h"], 3, axis=1)
    r, z = _sigmoid(r_x + r_h), _sigmoid(z_x + z_h)
    n = np.tanh(n_x + r * n_h)
    return z * n + (1 - z) * h, (x, h, weights, (r, z, n), n_h)


@mistake(
    criterion="gru-cell",
    replaces="gru_cell_forward",
    text="The reset gate acts on h before the product with W_h. That is the GRU of 2014, and not this stage's.",
    fix="Multiply first: n = tanh(n_x + r * (h W_hn + b_hn)).",
)
def reset_before_the_product(x, h, weights):
    _check_step(x, weights, 3, h=h)
    hidden = h.shape[1]
    r_x, z_x, n_x = np.split(x @ weights["W_x"] + weights["b_x"], 3, axis=1)
    r_h, z_h, n_h = np.split(h @ weights["W_h"] + weights["b_h"], 3, axis=1)
    r, z = _sigmoid(r_x + r_h), _sigmoid(z_x + z_h)
    n = np.tanh(n_x + (r * h) @ weights["W_h"][:, 2 * hidden :] + weights["b_h"][2 * hidden :])
    return (1 - z) * n + z * h, (x, h, weights, (r, z, n), n_h)


@mistake(
    criterion="gru-cell",
    replaces="gru_cell_forward",
    text="The blocks were read in the order z, r, n: reset and update gate are exchanged.",
    fix="The columns stand in the order r, z, n.",
)
def order_z_r_n(x, h, weights):
    _check_step(x, weights, 3, h=h)
    z_x, r_x, n_x = np.split(x @ weights["W_x"] + weights["b_x"], 3, axis=1)
    z_h, r_h, n_h = np.split(h @ weights["W_h"] + weights["b_h"], 3, axis=1)
    r, z = _sigmoid(r_x + r_h), _sigmoid(z_x + z_h)
    n = np.tanh(n_x + r * n_h)
    return (1 - z) * n + z * h, (x, h, weights, (r, z, n), n_h)


@mistake(
    criterion="gru-cell",
    replaces="gru_cell_forward",
    text="The bias b_h of the candidate stands outside of the reset gate.",
    fix="The gate multiplies the whole recurrent part: r * (h W_hn + b_hn).",
)
def bias_outside_of_reset(x, h, weights):
    _check_step(x, weights, 3, h=h)
    r_x, z_x, n_x = np.split(x @ weights["W_x"] + weights["b_x"], 3, axis=1)
    r_h, z_h, n_h = np.split(h @ weights["W_h"] + weights["b_h"], 3, axis=1)
    r, z, bias = _sigmoid(r_x + r_h), _sigmoid(z_x + z_h), weights["b_h"][2 * h.shape[1] :]
    n = np.tanh(n_x + r * (n_h - bias) + bias)
    return (1 - z) * n + z * h, (x, h, weights, (r, z, n), n_h)


@mistake(
    criterion="gru-cell",
    replaces="gru_cell_forward",
    text="The reset gate multiplied the part of x as well: it is meant to reset the memory only.",
    fix="n = tanh(n_x + r * n_h): n_x stays outside of the gate.",
)
def reset_of_everything(x, h, weights):
    _check_step(x, weights, 3, h=h)
    r_x, z_x, n_x = np.split(x @ weights["W_x"] + weights["b_x"], 3, axis=1)
    r_h, z_h, n_h = np.split(h @ weights["W_h"] + weights["b_h"], 3, axis=1)
    r, z = _sigmoid(r_x + r_h), _sigmoid(z_x + z_h)
    n = np.tanh(r * (n_x + n_h))
    return (1 - z) * n + z * h, (x, h, weights, (r, z, n), n_h)


@mistake(
    criterion="gru-cell",
    replaces="gru_cell_forward",
    text="The reset gate was computed and not used: n = tanh(n_x + n_h).",
    fix="Multiply the recurrent part of the candidate by r.",
)
def reset_gate_unused(x, h, weights):
    _check_step(x, weights, 3, h=h)
    r_x, z_x, n_x = np.split(x @ weights["W_x"] + weights["b_x"], 3, axis=1)
    r_h, z_h, n_h = np.split(h @ weights["W_h"] + weights["b_h"], 3, axis=1)
    r, z = _sigmoid(r_x + r_h), _sigmoid(z_x + z_h)
    n = np.tanh(n_x + n_h)
    return (1 - z) * n + z * h, (x, h, weights, (r, z, n), n_h)


@mistake(
    criterion="gru-cell-gradients",
    replaces="gru_cell_backward",
    text="The straight way was left out: h also reaches h_next as z * h, past all products.",
    fix="Add grad_h_next * z to what comes back through W_h.",
)
def straight_way_to_h_left_out(grad_h_next, cache):
    x, h, weights, (r, z, n), n_h = cache
    grad_h_next = _of_shape("grad_h_next", grad_h_next, h.shape)
    grad_n = grad_h_next * (1 - z) * (1 - n**2)
    grad_r = grad_n * n_h * r * (1 - r)
    grad_z = grad_h_next * (h - n) * z * (1 - z)
    of_x, of_h = np.concatenate([grad_r, grad_z, grad_n], axis=1), np.concatenate([grad_r, grad_z, grad_n * r], axis=1)
    grad_x, grad_W_x, grad_b_x = _through_product(of_x, x, weights["W_x"])
    grad_h, grad_W_h, grad_b_h = _through_product(of_h, h, weights["W_h"])
    return grad_x, grad_h, {"W_x": grad_W_x, "W_h": grad_W_h, "b_x": grad_b_x, "b_h": grad_b_h}


@mistake(
    criterion="gru-cell-gradients",
    replaces="gru_cell_backward",
    text="The reset gate was treated as a constant: its columns got no gradient.",
    fix="r multiplies n_h, so r gets grad_n * n_h, and its sum that times r * (1 - r).",
)
def reset_gate_held_constant(grad_h_next, cache):
    x, h, weights, (r, z, n), n_h = cache
    grad_h_next = _of_shape("grad_h_next", grad_h_next, h.shape)
    grad_n = grad_h_next * (1 - z) * (1 - n**2)
    grad_r = np.zeros_like(grad_n)
    grad_z = grad_h_next * (h - n) * z * (1 - z)
    of_x, of_h = np.concatenate([grad_r, grad_z, grad_n], axis=1), np.concatenate([grad_r, grad_z, grad_n * r], axis=1)
    grad_x, grad_W_x, grad_b_x = _through_product(of_x, x, weights["W_x"])
    grad_h, grad_W_h, grad_b_h = _through_product(of_h, h, weights["W_h"])
    return grad_x, grad_h + grad_h_next * z, {"W_x": grad_W_x, "W_h": grad_W_h, "b_x": grad_b_x, "b_h": grad_b_h}


@mistake(
    criterion="gru-cell-gradients",
    replaces="gru_cell_backward",
    text="The gradient of the update gate has the wrong sign: it was made with n - h.",
    fix="h_next = (1 - z) * n + z * h grows with z by h - n.",
)
def update_gradient_of_wrong_sign(grad_h_next, cache):
    x, h, weights, (r, z, n), n_h = cache
    grad_h_next = _of_shape("grad_h_next", grad_h_next, h.shape)
    grad_n = grad_h_next * (1 - z) * (1 - n**2)
    grad_r = grad_n * n_h * r * (1 - r)
    grad_z = grad_h_next * (n - h) * z * (1 - z)
    of_x, of_h = np.concatenate([grad_r, grad_z, grad_n], axis=1), np.concatenate([grad_r, grad_z, grad_n * r], axis=1)
    grad_x, grad_W_x, grad_b_x = _through_product(of_x, x, weights["W_x"])
    grad_h, grad_W_h, grad_b_h = _through_product(of_h, h, weights["W_h"])
    return grad_x, grad_h + grad_h_next * z, {"W_x": grad_W_x, "W_h": grad_W_h, "b_x": grad_b_x, "b_h": grad_b_h}


@mistake(
    criterion="gru-cell-gradients",
    replaces="gru_cell_backward",
    text="The recurrent part of the candidate got the gradient of the whole: the factor r was left out.",
    fix="n_h enters as r * n_h: its gradient is grad_n * r, that of n_x is grad_n.",
)
def reset_left_out_on_the_way_back(grad_h_next, cache):
    x, h, weights, (r, z, n), n_h = cache
    grad_h_next = _of_shape("grad_h_next", grad_h_next, h.shape)
    grad_n = grad_h_next * (1 - z) * (1 - n**2)
    grad_r = grad_n * n_h * r * (1 - r)
    grad_z = grad_h_next * (h - n) * z * (1 - z)
    of_x, of_h = np.concatenate([grad_r, grad_z, grad_n], axis=1), np.concatenate([grad_r, grad_z, grad_n], axis=1)
    grad_x, grad_W_x, grad_b_x = _through_product(of_x, x, weights["W_x"])
    grad_h, grad_W_h, grad_b_h = _through_product(of_h, h, weights["W_h"])
    return grad_x, grad_h + grad_h_next * z, {"W_x": grad_W_x, "W_h": grad_W_h, "b_x": grad_b_x, "b_h": grad_b_h}


@mistake(
    criterion="gru-cell-gradients",
    replaces="gru_cell_backward",
    text="The reset gate's gradient was made with h instead of the recurrent part h W_hn + b_hn.",
    fix="r multiplies n_h, so r gets grad_n * n_h: keep n_h in the cache.",
)
def reset_gradient_from_h(grad_h_next, cache):
    x, h, weights, (r, z, n), n_h = cache
    grad_h_next = _of_shape("grad_h_next", grad_h_next, h.shape)
    grad_n = grad_h_next * (1 - z) * (1 - n**2)
    grad_r = grad_n * h * r * (1 - r)
    grad_z = grad_h_next * (h - n) * z * (1 - z)
    of_x, of_h = np.concatenate([grad_r, grad_z, grad_n], axis=1), np.concatenate([grad_r, grad_z, grad_n * r], axis=1)
    grad_x, grad_W_x, grad_b_x = _through_product(of_x, x, weights["W_x"])
    grad_h, grad_W_h, grad_b_h = _through_product(of_h, h, weights["W_h"])
    return grad_x, grad_h + grad_h_next * z, {"W_x": grad_W_x, "W_h": grad_W_h, "b_x": grad_b_x, "b_h": grad_b_h}


@mistake(
    criterion="gru-cell-gradients",
    replaces="gru_cell_backward",
    text="Both biases were given one gradient, that of b_x.",
    fix="For the candidate they differ: b_h stands inside of the reset gate, so its gradient has the factor r.",
)
def one_gradient_for_both_biases(grad_h_next, cache, right=gru_cell_backward):
    grad_x, grad_h, grads = right(grad_h_next, cache)
    return grad_x, grad_h, {**grads, "b_h": grads["b_x"].copy()}


@mistake(
    criterion="gru-sequence",
    replaces="gru_forward",
    text="Every step started from h0: the state of one step did not go into the next.",
    fix="Give each step the state that the step before returned.",
)
def gru_state_not_carried(x, h0, weights):
    steps = [gru_cell_forward(x[:, t], h0, weights) for t in range(x.shape[1])]
    return np.stack([h for h, _ in steps], axis=1), [cache for _, cache in steps]


@mistake(
    criterion="gru-sequence",
    replaces="gru_forward",
    text="The sequence was read from its last step to its first.",
    fix="Loop over the steps in the order of time; only backward goes the other way.",
)
def read_from_the_end(x, h0, weights, right=gru_forward):
    return right(x[:, ::-1], h0, weights)


@mistake(
    criterion="gru-sequence",
    replaces="gru_backward",
    text="Each step got only its own gradient: what the later steps send back through the state was dropped.",
    fix="Give gru_cell_backward grad_hs[:, t] plus the grad_h that step t + 1 returned.",
)
def gru_gradient_not_carried(grad_hs, cache, right=gru_backward):
    right(grad_hs, cache)
    steps = [gru_cell_backward(grad_hs[:, t], each) for t, each in enumerate(cache)]
    grads = {name: sum(step[2][name] for step in steps) for name in steps[0][2]}
    return np.stack([step[0] for step in steps], axis=1), steps[0][1], grads


@mistake(
    criterion="gru-sequence",
    replaces="gru_backward",
    text="The gradient from later steps took the place of the step's own, instead of being added to it.",
    fix="At every step use grad_hs[:, t] + grad_h.",
)
def own_gradient_replaced(grad_hs, cache, right=gru_backward):
    last = np.zeros_like(grad_hs)
    last[:, -1] = grad_hs[:, -1]
    return right(last, cache)


@mistake(
    criterion="gru-sequence",
    replaces="gru_backward",
    text="The number of steps in grad_hs was not checked: what is too long was cut off.",
    fix="Raise ValueError unless grad_hs has the shape of hs.",
)
def number_of_steps_not_checked(grad_hs, cache, right=gru_backward):
    return right(grad_hs[:, : len(cache)], cache)


@mistake(
    criterion="clip-gradients",
    replaces="clip_gradients",
    text="Each array was shortened by its own norm, which changes the direction of the whole.",
    fix="One norm of all arrays together, and one factor for all of them.",
)
def each_array_by_itself(grads, max_norm, right=clip_gradients):
    _, norm = right(grads, max_norm)
    return {name: right({name: grad}, max_norm)[0][name] for name, grad in grads.items()}, norm


@mistake(
    criterion="clip-gradients",
    replaces="clip_gradients",
    text="Every number was cut off at max_norm by itself, which changes the direction.",
    fix="Multiply all arrays by max_norm / norm instead of cutting single numbers.",
)
def numbers_cut_off(grads, max_norm, right=clip_gradients):
    _, norm = right(grads, max_norm)
    return {name: np.clip(grad, -max_norm, max_norm) for name, grad in grads.items()}, norm


@mistake(
    criterion="clip-gradients",
    replaces="clip_gradients",
    text="Short gradients were lengthened: the factor was used although norm is below max_norm.",
    fix="Scale only where norm is above max_norm; otherwise leave the gradients as they are.",
)
def short_gradients_lengthened(grads, max_norm, right=clip_gradients):
    _, norm = right(grads, max_norm)
    return {name: grad * (max_norm / (norm + 1e-6)) for name, grad in grads.items()}, norm


@mistake(
    criterion="clip-gradients",
    replaces="clip_gradients",
    text="The root was forgotten: this is the sum of the squares, not the norm.",
    fix="Take the square root of the sum before it is compared with max_norm.",
)
def square_of_the_norm(grads, max_norm, right=clip_gradients):
    right(grads, max_norm)
    norm = float(sum((grad.astype(np.float64) ** 2).sum() for grad in grads.values()))
    scale = max_norm / max(norm, max_norm)
    return {name: grad * scale for name, grad in grads.items()}, norm


@mistake(
    criterion="clip-gradients",
    replaces="clip_gradients",
    text="The norm that was returned is the one after clipping.",
    fix="Return the norm that the gradients had: it shows how they grow, and is worth a look in training.",
)
def norm_after_clipping(grads, max_norm, right=clip_gradients):
    clipped, norm = right(grads, max_norm)
    return clipped, min(norm, float(max_norm))


@mistake(
    criterion="clip-gradients",
    replaces="clip_gradients",
    text="The squares were summed in float32, where 1e30 squared is infinite: the factor became 0.",
    fix="Convert to float64 before squaring, and scale the float32 arrays by a Python float.",
)
def squares_overflow(grads, max_norm):
    if max_norm <= 0:
        raise ValueError(f"max_norm: {max_norm!r}, expected a positive number")
    norm = math.sqrt(sum(float((grad**2).sum()) for grad in grads.values()))
    scale = max_norm / max(norm, max_norm)
    return {name: grad * scale for name, grad in grads.items()}, norm


@mistake(
    criterion="clip-gradients",
    replaces="clip_gradients",
    text="The arrays that were passed in were changed themselves.",
    fix="Make new arrays, with grad * scale and not with grad *= scale.",
)
def gradients_changed_in_place(grads, max_norm, right=clip_gradients):
    clipped, norm = right(grads, max_norm)
    for name, grad in grads.items():
        grad[...] = clipped[name]
    return grads, norm


@mistake(
    criterion="create-sequences",
    replaces="create_sequences",
    text="The targets are the inputs themselves: they are not one step ahead.",
    fix="targets[k, t] is what follows inputs[k, t]: cut the targets from start + 1.",
)
def targets_not_ahead(data, length, stride, right=create_sequences):
    inputs, _ = right(data, length, stride)
    return inputs, inputs.copy()


@mistake(
    criterion="create-sequences",
    replaces="create_sequences",
    text="There is one target for each window, the element after it, instead of one for each step.",
    fix="The targets of a window are the whole window moved by one step, of shape (windows, length).",
)
def one_target_a_window(data, length, stride, right=create_sequences):
    inputs, targets = right(data, length, stride)
    return inputs, targets[:, -1]


@mistake(
    criterion="create-sequences",
    replaces="create_sequences",
    text="The last window is missing, although all its targets are in the data.",
    fix="Windows start at range(0, len(data) - length, stride): the last may start at len(data) - length - 1.",
)
def last_window_missing(data, length, stride):
    _require_positive(length=length, stride=stride)
    starts = range(0, len(data) - length - 1, stride)
    if not starts:
        raise ValueError(f"data: {len(data)} steps, expected at least length + 1, which is {length + 1}")
    inputs, targets = (np.stack([data[start + ahead :][:length] for start in starts]) for ahead in (0, 1))
    return inputs, targets


@mistake(
    criterion="create-sequences",
    replaces="create_sequences",
    text="The stride was not used: a window starts at every step.",
    fix="Window k starts at k * stride.",
)
def stride_unused(data, length, stride, right=create_sequences):
    right(data, length, stride)
    return right(data, length, 1)


@mistake(
    criterion="create-sequences",
    replaces="create_sequences",
    text="The windows follow one another without overlap: length was used as the stride.",
    fix="Window k starts at k * stride, whatever the length.",
)
def length_as_stride(data, length, stride, right=create_sequences):
    right(data, length, stride)
    return right(data, length, length)


@mistake(
    criterion="create-sequences",
    replaces="create_sequences",
    text="A series without a single window gave empty arrays instead of an error.",
    fix="Raise ValueError if data has fewer than length + 1 steps.",
)
def no_windows_accepted(data, length, stride):
    _require_positive(length=length, stride=stride)
    starts = range(0, len(data) - length, stride)
    inputs = [data[start : start + length] for start in starts]
    return np.array(inputs), np.array([data[start + 1 : start + 1 + length] for start in starts])


@mistake(
    criterion="sequence-loss",
    replaces="sequence_loss",
    text="The sum was divided by batch times time: padding counts in the mean.",
    fix="Divide by the number of real tokens, mask.sum().",
)
def padding_counts_in_the_mean(logits, targets, mask, right=sequence_loss):
    loss, grad = right(logits, targets, mask)
    share = _real_tokens(mask, targets.shape).mean()
    return loss * share, grad * float(share)


@mistake(
    criterion="sequence-loss",
    replaces="sequence_loss",
    text="The mask was not used: padding was counted as if it were text.",
    fix="Leave the tokens out where the mask is False, of the sum and of the count.",
)
def mask_unused(logits, targets, mask, right=sequence_loss):
    right(logits, targets, mask)
    return right(logits, np.clip(targets, 0, logits.shape[2] - 1), None)


@mistake(
    criterion="sequence-loss",
    replaces="sequence_loss",
    text="The mask was read the wrong way round: the padding was counted and the real tokens were not.",
    fix="True (or 1) is a real token.",
)
def mask_read_the_wrong_way(logits, targets, mask, right=sequence_loss):
    return right(logits, targets, None if mask is None else ~_real_tokens(mask, targets.shape))


@mistake(
    criterion="sequence-loss",
    replaces="sequence_loss",
    text="Loss and gradient are sums over the tokens, not means.",
    fix="Divide both by the number of real tokens.",
)
def sum_instead_of_mean(logits, targets, mask, right=sequence_loss):
    loss, grad = right(logits, targets, mask)
    count = max(int(_real_tokens(mask, targets.shape).sum()), 1)
    return loss * count, grad * count


@mistake(
    criterion="sequence-loss",
    replaces="sequence_loss",
    text="The loss is a mean and its gradient is not: the gradient was not divided by the number of tokens.",
    fix="Divide the gradient by the same count as the loss.",
)
def gradient_of_the_sum(logits, targets, mask, right=sequence_loss):
    loss, grad = right(logits, targets, mask)
    return loss, grad * max(int(_real_tokens(mask, targets.shape).sum()), 1)


@mistake(
    criterion="sequence-loss",
    replaces="sequence_loss",
    text="First the mean of each sequence was taken, then the mean of those: a token of a short sequence counts more.",
    fix="Take one mean over all real tokens of the batch.",
)
def mean_of_means(logits, targets, mask, right=sequence_loss):
    right(logits, targets, mask)
    real = _real_tokens(mask, targets.shape)
    rows = [right(logits[k : k + 1], targets[k : k + 1], real[k : k + 1]) for k in range(len(logits))]
    return sum(loss for loss, _ in rows) / len(rows), np.concatenate([grad for _, grad in rows]) / len(rows)


@mistake(
    criterion="sequence-loss",
    replaces="sequence_loss",
    text="exp overflowed: for logits of size 1000 softmax is infinity over infinity, or the logarithm that of 0.",
    fix="Subtract the largest logit of each token before exp, and use z - log(sum(exp(z))) instead of log(softmax).",
)
def exponentials_overflow(logits, targets, mask, right=sequence_loss):
    right(logits, targets, mask)
    targets, real = np.asarray(targets), _real_tokens(mask, targets.shape)
    hits = targets[..., None] == np.arange(logits.shape[2])
    powers = np.exp(logits)
    shares = powers / powers.sum(axis=2, keepdims=True)
    count = max(int(real.sum()), 1)
    loss = -np.log(shares[hits & real[..., None]]).sum() / count
    return loss, np.where(real[..., None], shares - hits, 0) / count


@mistake(
    criterion="sequence-loss",
    replaces="sequence_loss",
    text="The largest logit was looked for from -1e9 on: where all are lower, their exponentials are all 0.",
    fix="Subtract the largest logit itself, or begin with -np.inf.",
)
def largest_logit_from_a_finite_number(logits, targets, mask, right=sequence_loss):
    right(logits, targets, mask)
    targets, real = np.asarray(targets), _real_tokens(mask, targets.shape)
    hits = targets[..., None] == np.arange(logits.shape[2])
    shifted = logits - logits.max(axis=2, keepdims=True, initial=-1e9)
    with np.errstate(divide="ignore"):
        log_shares = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    count = max(int(real.sum()), 1)
    with np.errstate(over="ignore"):
        grad = np.where(real[..., None], np.exp(log_shares) - hits, 0) / count
    return -log_shares[hits & real[..., None]].sum() / count, grad


@mistake(
    criterion="sequence-loss",
    replaces="sequence_loss",
    text="Without a real token the sum 0 was divided by the count 0, which is NaN.",
    fix="Use a count of at least 1.",
)
def nothing_divided_by_nothing(logits, targets, mask, right=sequence_loss):
    loss, grad = right(logits, targets, mask)
    return (loss, grad) if _real_tokens(mask, targets.shape).any() else (np.float64("nan"), np.full_like(grad, np.nan))


@mistake(
    criterion="sequence-loss",
    replaces="sequence_loss",
    text="Targets at the padding were held against the number of classes, and a filler such as -100 was refused.",
    fix="Check the targets of real tokens only; where the mask is False they may be anything.",
)
def fillers_refused(logits, targets, mask, right=sequence_loss):
    right(logits, targets, mask)
    return right(logits, targets, None)[:0] + right(logits, targets, mask)


@mistake(
    criterion="lstm-layer",
    replaces="LSTM.__init__",
    text="All four gates begin with the same recurrent weights: one block was drawn and repeated.",
    fix="Draw all of W_h, (num_hidden, 4 * num_hidden), at once.",
)
def one_block_for_all_gates(self, num_inputs, num_hidden, rng, right=LSTM.__init__):
    right(self, num_inputs, num_hidden, rng)
    self.params["W_h"] = np.tile(self.params["W_h"][:, :num_hidden], 4)


@mistake(
    criterion="lstm-layer",
    replaces="LSTM.__init__",
    text="The bias of the forget gate is 0 at the start, so that half of the cell state is lost at each step.",
    fix="Set the second of the four blocks of b to 1.",
)
def forget_gates_half_open(self, num_inputs, num_hidden, rng, right=LSTM.__init__):
    right(self, num_inputs, num_hidden, rng)
    self.params["b"] = np.zeros(4 * num_hidden)


@mistake(
    criterion="lstm-layer",
    replaces="LSTM.__init__",
    text="The weights were not scaled: they have standard deviation 1, which drives the gates to their ends.",
    fix="Divide the numbers drawn by sqrt(num_inputs) for W_x and by sqrt(num_hidden) for W_h.",
)
def weights_not_scaled(self, num_inputs, num_hidden, rng, right=LSTM.__init__):
    right(self, num_inputs, num_hidden, rng)
    self.params["W_x"] = self.params["W_x"] * math.sqrt(num_inputs)
    self.params["W_h"] = self.params["W_h"] * math.sqrt(num_hidden)


@mistake(
    criterion="lstm-layer",
    replaces="LSTM.__init__",
    text="The layer went on with the parameters that it was made with: what is put into params has no effect.",
    fix="Read self.params at each call of forward; keep no copy of it in __init__.",
)
def parameters_of_the_beginning(self, num_inputs, num_hidden, rng, right=LSTM.__init__, forward=LSTM.forward):
    right(self, num_inputs, num_hidden, rng)
    own = dict(self.params)

    def forward_with_own(x, state=None):
        now, self.params = self.params, own
        try:
            return forward(self, x, state)
        finally:
            self.params = now

    self.forward = forward_with_own


@mistake(
    criterion="lstm-layer",
    replaces="LSTM.forward",
    text="The state of the last call went on where none was given: one batch leaks into the next.",
    fix="Without a state start from zeros; who wants to go on passes layer.state.",
)
def goes_on_where_it_stopped(self, x, state=None, right=LSTM.forward):
    return right(self, x, self.state if state is None else state)


@mistake(
    criterion="lstm-layer",
    replaces="LSTM.forward",
    text="The state that was passed was not used: the layer started from zeros.",
    fix="Take h0 and c0 from state if it is not None.",
)
def given_state_unused(self, x, state=None, right=LSTM.forward):
    return right(self, x)


@mistake(
    criterion="lstm-layer",
    replaces="LSTM.forward",
    text="state holds (c, h): the cell state was put first.",
    fix="Keep (h, c), in the order in which lstm_forward takes and returns them.",
)
def state_the_wrong_way_round(self, x, state=None, right=LSTM.forward):
    hs = right(self, x, None if state is None else state[::-1])
    self.state = self.state[::-1]
    return hs


@mistake(
    criterion="lstm-layer",
    replaces="LSTM.forward",
    text="forward returned the last state alone.",
    fix="Return the states after all steps, (batch, time, num_hidden); the last ones are kept in state.",
)
def layer_returns_last_state(self, x, state=None, right=LSTM.forward):
    return right(self, x, state)[:, -1]


@mistake(
    criterion="lstm-layer",
    replaces="LSTM.backward",
    text="The gradients were added to those of the call before.",
    fix="Replace self.grads at each call of backward.",
)
def layer_gradients_accumulated(self, grad_hs, right=LSTM.backward):
    before = self.grads
    grad_x = right(self, grad_hs)
    self.grads = {name: grad + before.get(name, 0) for name, grad in self.grads.items()}
    return grad_x


@mistake(
    criterion="lstm-layer",
    replaces="LSTM.backward",
    text="backward returned the gradient of the state before the first step instead of that of x.",
    fix="Return the first result of lstm_backward.",
)
def gradient_of_the_state_returned(self, grad_hs, right=LSTM.backward):
    right(self, grad_hs)
    return lstm_backward(grad_hs, np.zeros_like(grad_hs), self._cache)[1]


@mistake(
    criterion="learns-to-copy",
    replaces="LSTM.forward",
    text="The layer went on with the parameters of its first call: what an optimiser sets has no effect.",
    fix="Read self.params at each call of forward; keep no copy of them.",
)
def parameters_of_first_call_kept(self, x, state=None, right=LSTM.forward):
    now = self.params
    self._first = getattr(self, "_first", now)
    self.params = self._first
    try:
        return right(self, x, state)
    finally:
        self.params = now


@mistake(
    criterion="learns-to-copy",
    replaces="LSTM.backward",
    text="grads points downhill: it has the opposite sign of the gradient.",
    fix="Put the gradient itself in grads; it is the optimiser that subtracts it.",
)
def gradients_of_opposite_sign(self, grad_hs, right=LSTM.backward):
    grad_x = right(self, grad_hs)
    self.grads = {name: -grad for name, grad in self.grads.items()}
    return grad_x


@mistake(
    criterion="learns-to-copy",
    replaces="LSTM.backward",
    text="The gradients of the parameters were divided by the size of the batch.",
    fix="Leave them as sums: the mean is in the loss, and so in grad_hs already.",
)
def layer_gradients_averaged(self, grad_hs, right=LSTM.backward):
    grad_x = right(self, grad_hs)
    self.grads = {name: grad / len(grad_hs) for name, grad in self.grads.items()}
    return grad_x


@mistake(
    criterion="learns-to-copy",
    replaces="LSTM.backward",
    text="Only the gradient of the last state went back: a loss at the other steps teaches nothing.",
    fix="Hand the whole of grad_hs to lstm_backward.",
)
def only_the_last_state_learns(self, grad_hs, right=LSTM.backward):
    last = np.zeros_like(grad_hs)
    last[:, -1] = grad_hs[:, -1]
    return right(self, last)


@mistake(
    criterion="learns-to-copy",
    replaces="LSTM.backward",
    text="The recurrent weights W_h got no gradient, so the layer cannot learn what to make of its state.",
    fix="Put the gradients of all three parameters in grads.",
)
def recurrent_weights_do_not_learn(self, grad_hs, right=LSTM.backward):
    grad_x = right(self, grad_hs)
    self.grads = {**self.grads, "W_h": np.zeros_like(self.grads["W_h"])}
    return grad_x

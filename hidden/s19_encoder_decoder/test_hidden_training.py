"""Hidden tests of stage s19: a Transformer learns to reverse sequences, and answers token by token."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_shape, plain_array
from hidden.s19_encoder_decoder.counts import smoothed_loss

pytestmark = [pytest.mark.criterion("reverses-sequences"), pytest.mark.values]

PAD, START, END, FIRST, SYMBOLS = 0, 1, 2, 3, 6
SHORTEST, LONGEST = 3, 5
BATCH, STEPS, RATE, SMOOTHING = 32, 130, 0.03, 0.1
EXACT = 0.75  # of new sequences; the reference reverses all of them with 30 of 32 seeds, 0.89 at least
SEARCHED, FOUND = 6, 4  # answers that are right token by token, and how many of them beam_search has to find too
PROMISE = 1e-6  # how much a small step is meant to lower the loss


def draw(rng, count, new):
    """Return sources, padded and with an end, and the answers: the same symbols in reverse, and the end.

    A sequence is new, that is kept out of the training, where five divides the sum of its symbols: one in five is.
    """
    place, rows = np.arange(LONGEST + 1), 10 * count  # of which a fifth is new
    lengths = rng.integers(SHORTEST, LONGEST + 1, size=(rows, 1))
    symbols = np.where(place < lengths, rng.integers(FIRST, FIRST + SYMBOLS, size=(rows, LONGEST + 1)), PAD)
    chosen = np.flatnonzero((symbols.sum(axis=1) % 5 == 0) == new)[:count]
    symbols, lengths = symbols[chosen], lengths[chosen]
    backwards = np.take_along_axis(symbols, np.maximum(lengths - 1 - place, 0), axis=1)
    answers = np.where(place < lengths, backwards, PAD)
    for padded in (symbols, answers):
        np.put_along_axis(padded, lengths, END, axis=1)
    return symbols, answers


def new_model(learner, rng, dim):
    """Return a learner's model of one block a side."""
    size = FIRST + SYMBOLS
    return learner.Transformer(size, size, LONGEST + 1, 1, dim, 2, mlp_ratio=1.0, rng=rng)


def shifted(learner, answers):
    """Return what the decoder reads where these are the answers."""
    inputs = learner.shift_right(answers, START)
    assert_shape(inputs, answers.shape, name="answers shifted right")
    return inputs


def run(learner, forward, sources, inputs, answers):
    """Return the logits, and the learner's gradient of the loss with respect to them, for backward."""
    logits = forward(sources, inputs, sources != PAD)
    assert_shape(logits, (*answers.shape, FIRST + SYMBOLS), name="logits")
    return logits, learner.label_smoothing_gradient(logits, answers, SMOOTHING, PAD)


def loss_of(learner, model, sources, answers):
    """Return the loss, worked out here from the logits, and the learner's gradient of it."""
    logits, grad_logits = run(learner, model.forward, sources, shifted(learner, answers), answers)
    return smoothed_loss(logits, answers, SMOOTHING, PAD), grad_logits


@pytest.mark.parametrize("group", ["source_embedding", "encoder", "target_embedding", "decoder.0.cross_attention"])
def test_small_steps_pay_what_their_gradients_promise(learner, rng, group):
    model, (sources, answers) = new_model(learner, rng, 6), draw(rng, 3, new=False)
    for name in ("first", "second"):
        loss, grad_logits = loss_of(learner, model, sources, answers)
        model.backward(grad_logits)
        params, grads = model.params, model.grads
        assert_equal(sorted(grads), sorted(params), name="names of grads")
        chosen = {key: grad for key, grad in grads.items() if key.startswith(group)}
        steepness = float(sum((grad**2).sum() for grad in chosen.values()))
        assert_equal(steepness > 1e-9, True, name=f"whether the gradients of {group} are anything but zero")
        model.set_params({key: params[key] - PROMISE / steepness * grad for key, grad in chosen.items()})
        gain = (loss - loss_of(learner, model, sources, answers)[0]) / PROMISE
        assert_array(gain, 1.0, rtol=0.02, name=f"gain of the {name} step on {group}, as a share of what was promised")


def trained(learner, rng):
    """Return a model after STEPS steps of Adam."""
    model, first, second = new_model(learner, rng, 24), {}, {}
    params = model.params
    sources, answers = draw(rng, STEPS * BATCH, new=False)
    inputs = shifted(learner, answers)
    forward, backward, set_params = model.forward, model.backward, model.set_params
    for step in range(1, STEPS + 1):
        rows = slice((step - 1) * BATCH, step * BATCH)
        _, grad_logits = run(learner, forward, sources[rows], inputs[rows], answers[rows])
        backward(grad_logits)
        rate = RATE * min(1, step / 10) * (1 - 0.95 * step / STEPS)
        grads = model.grads
        assert_equal(sorted(grads), sorted(params), name="names of grads")
        for key, grad in grads.items():
            first[key] = 0.9 * first.get(key, 0) + 0.1 * grad
            second[key] = 0.98 * second.get(key, 0) + 0.02 * grad**2
            size = np.sqrt(second[key] / (1 - 0.98**step)) + 1e-8
            params[key] = params[key] - rate * first[key] / (1 - 0.9**step) / size
        set_params(params)
    return model


def reversed_symbols(source):
    """Return what is to be answered to a source, without the end."""
    return [symbol for symbol in source.tolist() if symbol >= FIRST][::-1]


def searched(learner, model, source):
    """Return the answer to one source that the learner's search finds when it asks the learner's model."""
    mask = (source != PAD)[None]
    memory = model.encode(source[None], mask)

    def next_log_probs(prefix):
        logits = plain_array(model.decode(np.array(prefix)[None], memory, mask))[0, -1]
        below_zero = logits - logits.max()
        return below_zero - np.log(np.exp(below_zero).sum())

    tokens, _ = learner.beam_search(next_log_probs, START, END, max_length=LONGEST + 1)
    return [int(plain_array(token, name="token")) for token in tokens]


def test_new_sequences_are_reversed(learner, rng):
    model, (sources, answers) = trained(learner, rng), draw(rng, 200, new=True)
    mask, tokens = sources != PAD, np.full((len(sources), 1), START)
    memory = model.encode(sources, mask)
    for _ in range(LONGEST + 1):
        logits = model.decode(tokens, memory, mask)
        assert_equal(np.shape(plain_array(logits)), (*tokens.shape, FIRST + SYMBOLS), name="shape of logits")
        tokens = np.concatenate([tokens, logits[:, -1].argmax(axis=-1)[:, None]], axis=1)
    right = np.where(answers == PAD, PAD, tokens[:, 1:]) == answers
    exact = float(right.all(axis=1).mean())
    assert_equal(exact >= EXACT, True, name=f"whether at least {EXACT:.0%} of the answers are exact ({exact:.1%})")
    known = np.flatnonzero(right.all(axis=1))[:SEARCHED]
    found = sum(searched(learner, model, sources[row]) == reversed_symbols(sources[row]) for row in known)
    assert_equal(found >= FOUND, True, name=f"whether beam_search finds {FOUND} of {SEARCHED} answers ({found})")

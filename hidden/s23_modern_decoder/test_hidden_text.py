"""Hidden tests of stage s23: a model trained by the learner's loop is compared with s18's GPT of the same size.

Both have 14,368 parameters, the same batches, the same number of steps, AdamW and schedule. Perplexity on the held-out
sentences, 24 seeds: s18's GPT 2.64 to 3.17, 3.03 as the median; this model 2.40 to 3.00, 2.52 as the median, and one
of them above the level.
"""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_shape, plain_array
from hidden.s23_modern_decoder import oracles
from stages.s05_optimization.optimizers import adamw_step, warmup_cosine

pytestmark = [pytest.mark.criterion("beats-s18"), pytest.mark.values]

TRAINING, HELD_OUT = 700, slice(800, None)  # lines; no sentence stands in two of the parts
LENGTH, BATCH, STEPS, RATE = 24, 8, 150, 0.015
LEVEL = 2.85
TRIES = 3  # a draw of parameters may find no way there within its steps


def read(text):
    """Return (training, held_out, tokens): the ids of both parts, each sentence behind a full stop, and how many."""
    lines = [[".", *line.split()[:-1]] for line in text.decode().splitlines()]
    index = {word: number for number, word in enumerate(sorted({word for line in lines for word in line}))}
    parts = [[index[word] for line in part for word in line] for part in (lines[:TRAINING], lines[HELD_OUT])]
    return *map(np.array, parts), len(index)


def draw_batches(rng, ids):
    """Return (ids, targets) for each step, from places drawn at random."""
    starts = rng.integers(0, len(ids) - LENGTH, size=(STEPS, BATCH, 1))
    stretches = ids[starts + np.arange(LENGTH + 1)]
    return [(each[:, :-1], each[:, 1:]) for each in stretches]


def rate_of(step):
    """Return the learning rate of a step."""
    return warmup_cosine(step + 1, RATE, STEPS // 10, STEPS)


def perplexity_on(model, ids, tokens):
    """Return the perplexity on stretches of LENGTH tokens, worked out here from the logits."""
    stretches = np.stack([ids[at : at + LENGTH + 1] for at in range(0, len(ids) - LENGTH, LENGTH)])
    logits = model.forward(stretches[:, :-1])
    assert_shape(logits, (len(stretches), LENGTH, tokens), name="logits")
    return float(np.exp(oracles.loss(np.asarray(plain_array(logits), dtype=float), stretches[:, 1:])[0]))


def descend(params, grads, state, learning_rate):
    """Return one step of gradient descent."""
    return {name: value - learning_rate * grads[name] for name, value in params.items()}, state


def test_each_loss_is_that_of_the_parameters_that_were_set(learner, rng):
    sizes = oracles.Sizes(2, 4, 2, 1, 3, tokens=5)
    batches = [tuple(rng.integers(0, 5, size=(2, 2, 3))) for _ in range(3)]
    model = learner.ModernGPT(5, 2, *sizes.of_block, rng)
    p = oracles.draw(rng, oracles.model_shapes(sizes))
    model.params = p
    outside = oracles.closest(
        model.forward(batches[0][0]), lambda outside: oracles.gpt(batches[0][0], p, sizes, outside)
    )
    history = learner.train(model, batches, descend, lambda step: 0.05, 3, max_norm=1e6)
    for step, batch in enumerate(batches):
        loss, grads = oracles.loss_gradients([batch], p, sizes, outside)
        assert_array(history["loss"][step], loss, rtol=1e-5, name=f"history['loss'][{step}]")
        p = {name: value - 0.05 * grads[name] for name, value in p.items()}


@pytest.mark.live
def test_held_out_sentences(learner, rng, data):
    training, held_out, tokens = read(data("sentences.txt"))
    for _ in range(TRIES):
        model = learner.ModernGPT(tokens, 1, 32, 4, 2, 108, rng)
        learner.train(model, draw_batches(rng, training), adamw_step, rate_of, STEPS)
        found = perplexity_on(model, held_out, tokens)
        if found < LEVEL:
            break
    assert_equal(found < LEVEL, True, name=f"whether the perplexity, {found:.2f}, is below {LEVEL:.2f}")

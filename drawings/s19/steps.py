"""Stage 19 step by step: looking things up in another sequence, and a small Transformer that learns to reverse words.

The model is trained on sequences of the sentence's words and a few more, as long as the sentence; then it is given the
sentence itself, and what it attends to while it writes is the alignment.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.explore.example import words_at_most
from grader.explore.model import Array, Call, Example, Fact, Known, Reading, Step
from grader.explore.values import Unfit, array, bounded, fall, number, scalar, sums, wrong_weights
from grader.sandbox.proxies import RemoteValue

WEIGHTS = ("batch", "heads", "target", "source")
LOGITS = ("batch", "target", "token")
START, END, FIRST = 0, 1, 2
MORE = ("a", "b", "c", "d", "e", "f")  # what a short sentence's vocabulary is filled up with
WORDS, MOST = 6, 10  # the least that a vocabulary has, and the longest sentence that is learnt in time
DIM, BATCH, STEPS_TAKEN, RATE = 24, 16, 90, 0.03


def start(example: Example, seed: int) -> Known:
    """Return what the steps begin with; UsageError where the sentence is too long to be learnt while one waits."""
    words = words_at_most(example, MOST)
    known = list(dict.fromkeys(words))
    vocabulary = known + [word for word in MORE if word not in known][: max(0, WORDS - len(known))]
    dim = DIM if DIM % example.heads == 0 else example.heads * (DIM // example.heads + 1)
    ids = np.array([*(FIRST + vocabulary.index(word) for word in words), END])
    return {
        "seed": seed,
        "heads": example.heads,
        "dim": dim,
        "vocabulary": ("(start)", "(end)", *vocabulary),
        "source": ids[np.newaxis],
        "answer": np.array([[*ids[-2::-1], END]]),
    }


def _rng(known: Known) -> np.random.Generator:
    return np.random.default_rng(known["seed"])


def _object(value: object, name: str) -> Any:
    if not isinstance(value, RemoteValue):
        raise Unfit(f"{name} is {type(value).__name__}, where an object of one of your classes was expected")
    return value


def _look_up(learner: Any, known: Known) -> Reading:
    rng, length = _rng(known), known["source"].shape[1]
    layer = _object(learner.CrossAttention(known["dim"], known["heads"], rng=rng), "CrossAttention(…)")
    x, memory = rng.normal(size=(1, 3, known["dim"])), rng.normal(size=(1, length, known["dim"]))
    array(layer.forward(x, memory), x.shape, ("batch", "target", "dim"))
    shape = (1, known["heads"], 3, length)
    weights = array(layer.attention_weights, shape, WEIGHTS, name="attention_weights")
    values = {"layer": layer, "x": x, "memory": memory}
    return Reading(values, shape, WEIGHTS, (sums(weights),), wrong_weights(weights, False))


def _padding(learner: Any, known: Known) -> Reading:
    length = known["memory"].shape[1]
    mask = np.arange(length)[np.newaxis] < max(1, length - 1)
    array(known["layer"].forward(known["x"], known["memory"], mask), known["x"].shape, ("batch", "target", "dim"))
    shape = (1, known["heads"], 3, length)
    weights = array(known["layer"].attention_weights, shape, WEIGHTS, name="attention_weights")
    given = float(np.abs(weights[..., ~mask[0]]).max(initial=0.0))
    wrong = () if given == 0 else (f"padding should get no weight, and got up to {number(given)}",)
    fact = Fact("padding", (given,), f"weight of the last token, masked: {number(given)}")
    return Reading({"masked": weights}, shape, WEIGHTS, (sums(weights), fact), wrong)


def _sequences(known: Known, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return sources that end, and the same words in reverse."""
    length = known["source"].shape[1] - 1
    words = rng.integers(FIRST, len(known["vocabulary"]), size=(BATCH, length))
    ends = np.full((BATCH, 1), END)
    return np.concatenate([words, ends], axis=1), np.concatenate([words[:, ::-1], ends], axis=1)


def _train(learner: Any, known: Known) -> Reading:
    rng, size, length = _rng(known), len(known["vocabulary"]), known["source"].shape[1]
    made = learner.Transformer(size, size, length, 1, known["dim"], known["heads"], mlp_ratio=1.0, rng=rng)
    model, losses = _object(made, "Transformer(…)"), []
    first: dict[str, Array] = {}
    second: dict[str, Array] = {}
    params = _arrays(model.params, "params")
    for step in range(1, STEPS_TAKEN + 1):
        sources, answers = _sequences(known, rng)
        logits = array(model.forward(sources, learner.shift_right(answers, START)), (BATCH, length, size), LOGITS)
        losses.append(scalar(learner.label_smoothing_loss(logits, answers, 0.1), "label_smoothing_loss"))
        grad = bounded(array(learner.label_smoothing_gradient(logits, answers, 0.1), logits.shape, LOGITS))
        model.backward(grad)
        rate = RATE * min(1, step / 10) * (1 - 0.9 * step / STEPS_TAKEN)
        for key, slope in _arrays(model.grads, "grads", params).items():
            first[key] = 0.9 * first.get(key, 0) + 0.1 * slope
            second[key] = 0.98 * second.get(key, 0) + 0.02 * slope**2
            size_of = np.sqrt(second[key] / (1 - 0.98**step)) + 1e-8
            params[key] = params[key] - rate / size_of * first[key] / (1 - 0.9**step)
        model.set_params(params)
    wrong: tuple[str, ...] = ()
    if not losses[-1] < 0.8 * losses[0]:
        wrong = (f"the loss should fall: it was {number(losses[0])}, then {number(losses[-1])}",)
    values = {"model": model, "losses": np.array(losses)}
    return Reading(values, (BATCH, length, size), LOGITS, (fall("loss", values["losses"]),), wrong)


def _arrays(value: object, name: str, like: dict[str, Array] | None = None) -> dict[str, Array]:
    if not isinstance(value, dict) or not value or (like is not None and set(value) != set(like)):
        raise Unfit(f"{name} should be a dict with an array for each parameter")
    shapes = {key: np.shape(each if like is None else like[key]) for key, each in value.items()}
    return {str(key): bounded(array(each, shapes[key], name=f"{name}[{key!r}]")) for key, each in value.items()}


def _write(learner: Any, known: Known) -> Reading:
    model, source, answer = known["model"], known["source"], known["answer"]
    memory, tokens, size = model.encode(source), np.full((1, 1), START), len(known["vocabulary"])
    for place in range(source.shape[1]):
        logits = array(model.decode(tokens, memory), (1, place + 1, size), LOGITS)
        tokens = np.concatenate([tokens, logits[:, -1:].argmax(axis=-1)], axis=1)
    shape = (1, known["heads"], source.shape[1], source.shape[1])
    attention = model.decoder_blocks[0].cross_attention
    weights = array(attention.attention_weights, shape, WEIGHTS, name="attention_weights")
    written = tuple(known["vocabulary"][token] for token in tokens[0, 1:])
    right = int((tokens[0, 1:] == answer[0]).sum())
    facts = (
        Fact("written", (), f"written: {' '.join(written)}"),
        Fact("right", (right,), f"{right} of {answer.size} tokens are right"),
        sums(weights),
    )
    values = {"alignment": weights[0], "written": written}
    return Reading(values, shape, WEIGHTS, facts, wrong_weights(weights, False))


STEPS = (
    Step(
        "look-up", "Cross-attention", "One sequence asks, another answers: a row for each that asks.",
        (
            Call("look-up", "CrossAttention(dim, num_heads, rng=rng).forward(x, memory)", "CrossAttention.forward", (),
                 _look_up),
            Call("padding", "layer.forward(x, memory, source_mask)", "CrossAttention.forward", ("layer",), _padding),
        ), process="layer",
    ),
    Step(
        "training", "Learning to reverse", "With the right answers as inputs, shifted by one, and softened targets.",
        (Call("losses", f"forward, loss, backward, set_params, {STEPS_TAKEN} times", "Transformer", (), _train),),
        process="model",
    ),
    Step(
        "writing", "Writing the answer", "Each token is written after a look at the source, and then read by the next.",
        (Call("alignment", "model.decode(tokens, memory), token by token", "Transformer.decode", ("model",), _write),),
        process="model",
    ),
)  # fmt: skip

"""Stage 20 step by step: a digit in patches, their embedding, a model that is trained, and what it looks at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from grader.explore.model import Array, Call, Fact, Known, Reading, Step
from grader.explore.values import Unfit, agree, array, bounded, fall, number, span, sums, told
from grader.sandbox.proxies import RemoteValue

SIDE, SIZE, CLASSES = 8, 2, 10
GRID = SIDE // SIZE
NUM_PATCHES, SEQ = GRID**2, 1 + GRID**2
DIM, DEPTH, HEADS = 16, 2, 2
BATCH, STEPS_TAKEN, RATE = 32, 110, 0.015
SHOWN = (2, 4, 7)  # digits that are looked at
GIVEN = f"handwritten digits of {SIDE} by {SIDE} pixels, in patches of {SIZE} by {SIZE}"
IMAGES = ("batch", "channels", "height", "width")
PATCHES = ("batch", "num_patches", "pixels")
TOKENS = ("batch", "num_patches", "dim")
WEIGHTS = ("depth", "batch", "head", "query", "key")
MAP = ("batch", "row", "column")
TRAINING = "training"
GUESSING = 0.2  # a share of digits right that is no more than luck
MODEL = f"ViT((1, {SIDE}, {SIDE}), {SIZE}, {CLASSES}, {DIM}, {DEPTH}, {HEADS}, mlp_ratio=1.0, rng=rng)"


def start(example: None, seed: int, files: Mapping[str, bytes]) -> Known:
    """Return the digits, those to train with and those held out, and one of each that is looked at."""
    lines = [line.split() for line in files["digits.txt"].decode("ascii").splitlines()]
    pixels = np.array([[float(int(letter, 17)) for letter in drawn] for _, drawn in lines])
    images, digits = pixels.reshape(-1, 1, SIDE, SIDE) / 8 - 1, np.array([int(digit) for digit, _ in lines])
    held_out = np.flatnonzero(np.arange(len(images)) % 5 == 0)
    rng = np.random.default_rng(seed=seed)
    x = images[[int(rng.choice(held_out[digits[held_out] == digit])) for digit in SHOWN]]
    return {"images": images, "digits": digits, "held_out": held_out, "x": x, "seed": seed}


def _rng(known: Known) -> np.random.Generator:
    return np.random.default_rng([known["seed"], 1])


def _object(value: object, name: str) -> Any:
    if not isinstance(value, RemoteValue):
        raise Unfit(f"{name} is {type(value).__name__}, where an object of one of your classes was expected")
    return value


def _windows(images: Array) -> Array:
    """Return the patches of one channel, one window after the other."""
    corners = [(top, left) for top in range(0, SIDE, SIZE) for left in range(0, SIDE, SIZE)]
    found = [images[:, 0, top : top + SIZE, left : left + SIZE].reshape(len(images), -1) for top, left in corners]
    return np.stack(found, axis=1)


def _patches(learner: Any, known: Known) -> Reading:
    x = known["x"][:1]
    patches = array(learner.patchify(x, SIZE), (1, NUM_PATCHES, SIZE**2), PATCHES)
    wrong: tuple[str, ...] = ()
    if not agree(_windows(x), patches):
        wrong = ("each row should be one window, windows in reading order, and so the pixels of each",)
        if agree(x.reshape(1, NUM_PATCHES, -1), patches):
            wrong = ("these are pieces of lines: split height and width and transpose before the axes are merged",)
    return Reading({"patches": patches}, patches.shape, PATCHES, (span(patches),), wrong)


def _back(learner: Any, known: Known) -> Reading:
    x = known["x"][:1]
    back = array(learner.unpatchify(known["patches"], SIZE, x.shape[1:]), x.shape, IMAGES)
    wrong = () if agree(x, back) else ("this should be the image that was cut",)
    return Reading({}, back.shape, IMAGES, (span(back),), wrong)


def _embedded(learner: Any, known: Known) -> Reading:
    x = known["x"][:1]
    layer = _object(learner.PatchEmbedding(1, SIZE, DIM, rng=_rng(known)), "PatchEmbedding(…)")
    found = bounded(array(layer.forward(x), (1, NUM_PATCHES, DIM), TOKENS))
    kernels = bounded(array(layer.kernels(), (DIM, 1, SIZE, SIZE), ("dim", *IMAGES[1:]), name="kernels()"))
    answers = np.einsum("bnp,dp->bnd", _windows(x), kernels.reshape(DIM, -1))
    wrong = () if agree(answers, found) else ("forward should answer what a convolution with kernels() answers",)
    return Reading({"kernels": kernels}, found.shape, TOKENS, (span(found), span(kernels, "kernels")), wrong)


def _model(learner: Any, known: Known) -> Reading:
    shape = (1, SIDE, SIDE)
    vit = _object(learner.ViT(shape, SIZE, CLASSES, DIM, DEPTH, HEADS, mlp_ratio=1.0, rng=_rng(known)), "ViT(…)")
    logits = bounded(array(vit.forward(known["x"]), (len(SHOWN), CLASSES), ("batch", "num_classes")))
    weights = _weights(vit)
    facts = (span(logits, "logits"), sums(weights))
    wrong = () if agree(weights.sum(axis=-1), np.ones(weights.shape[:-1])) else ("weights of a row should sum to 1",)
    return Reading({"vit": vit}, weights.shape, WEIGHTS, facts, wrong)


def _weights(vit: Any) -> Array:
    shape = (DEPTH, len(SHOWN), HEADS, SEQ, SEQ)
    return bounded(array(vit.attention_weights, shape, WEIGHTS, name="attention_weights"))


def _grads(vit: Any, images: Array, digits: Array) -> tuple[float, Mapping[str, Array]]:
    """Return the cross-entropy of some digits, and its gradient for each parameter."""
    logits = bounded(array(vit.forward(images), (len(images), CLASSES), name="logits"), "logits", 1e4)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares = powers / powers.sum(axis=1, keepdims=True)
    hits = np.eye(CLASSES)[digits]
    vit.backward((shares - hits) / len(images))
    loss = float(-np.log(np.maximum((shares * hits).sum(axis=1), 1e-12)).mean())
    return loss, _arrays(vit.grads, "grads")


def _arrays(value: object, name: str) -> dict[str, Array]:
    if not isinstance(value, dict) or not all(isinstance(each, np.ndarray) for each in value.values()):
        raise Unfit(f"{name}: a dict of arrays was expected")
    return {str(key): bounded(array(each, each.shape), f"{name}[{key!r}]") for key, each in value.items()}


def _trained(learner: Any, known: Known) -> Reading:
    vit, rng, others = known["vit"], _rng(known), np.setdiff1d(np.arange(len(known["images"])), known["held_out"])
    params = _arrays(vit.params, "params")
    params["positions"] = rng.normal(size=(SEQ, DIM)) / 2  # larger than new ones, so that few steps are enough
    vit.load(params)
    first = {name: np.zeros_like(value) for name, value in params.items()}
    second, losses = dict(first), []
    for step in range(1, STEPS_TAKEN + 1):
        batch = rng.choice(others, size=BATCH, replace=False)
        loss, grads = _grads(vit, known["images"][batch], known["digits"][batch])
        if set(grads) != set(params):
            raise Unfit("grads should have the keys of params after backward")
        losses.append(loss)
        for name in grads:  # Adam
            grad = grads[name]
            first[name] = 0.9 * first[name] + 0.1 * grad
            second[name] = 0.98 * second[name] + 0.02 * grad**2
            length = np.sqrt(second[name] / (1 - 0.98**step)) + 1e-8
            rate = RATE * (1 - 0.9 * step / STEPS_TAKEN)
            params[name] = params[name] - rate * first[name] / (1 - 0.9**step) / length
        vit.load(params)
    held_out = known["held_out"]
    logits = array(vit.forward(known["images"][held_out]), (len(held_out), CLASSES), name="logits")
    right = float((logits.argmax(axis=1) == known["digits"][held_out]).mean())
    told_right = Fact("right", (right,), f"{right:.0%} of {len(held_out)} held-out digits right")
    wrong: tuple[str, ...] = ()
    if not losses[-1] < losses[0] or right < GUESSING:
        went = f"the loss was {number(losses[0])}, then {number(losses[-1])}, and {right:.0%} of digits are right"
        wrong = (f"{went}: does load reach every part, and has each gradient its sign?",)
    array(vit.forward(known["x"]), (len(SHOWN), CLASSES), name="logits")
    values = {"losses": np.array(losses), "weights": _weights(vit), "right": right}
    return Reading(values, (STEPS_TAKEN,), ("steps",), (fall("loss", np.array(losses)), told_right), wrong)


def _rolled(weights: Array) -> Array:
    """Return the rollout, block by block."""
    rollout = np.eye(SEQ)
    for block in weights:
        mixing = block.mean(axis=1) + np.eye(SEQ)
        rollout = mixing / mixing.sum(axis=-1, keepdims=True) @ rollout
    return rollout


def _rollout(learner: Any, known: Known) -> Reading:
    weights, shape = known["weights"], (len(SHOWN), SEQ, SEQ)
    rollout = bounded(array(learner.attention_rollout(weights), shape, ("batch", "output", "input")))
    wrong: tuple[str, ...] = ()
    if not agree(_rolled(weights), rollout):
        wrong = ("rollout should be A_2 A_1, A the mean over heads plus the identity, each row over its sum",)
        if agree(_rolled(weights[::-1]), rollout):
            wrong = ("the blocks were multiplied in reverse: the second one belongs on the left",)
    own = told("class token's share of itself", rollout[:, 0, 0])
    return Reading({"rollout": rollout}, shape, ("batch", "output", "input"), (sums(rollout), own), wrong)


def _maps(learner: Any, known: Known) -> Reading:
    shape = (len(SHOWN), GRID, GRID)
    maps = bounded(array(learner.class_token_map(known["rollout"], (GRID, GRID)), shape, MAP))
    taken = known["rollout"][:, 0, 1:]
    right = agree((taken / taken.sum(axis=1)[:, None]).reshape(shape), maps)
    wrong = () if right else ("a map should be the class token's row without its own share, over its sum",)
    return Reading({"maps": maps}, shape, MAP, (told("sum of each map", maps.sum(axis=(1, 2))),), wrong)


def _trained_notice(known: Known) -> str | None:
    if not known["right"] > 0.5:
        return None
    return f"{STEPS_TAKEN} steps of {BATCH} digits were enough to get {known['right']:.0%} of others right."


def _map_notice(known: Known) -> str | None:
    even, most = 1 / NUM_PATCHES, float(known["maps"].max())
    if not most > 1.5 * even:
        return None
    return f"an even share would be {number(even)}; the largest is {number(most)}. Maps hint, they do not prove."


STEPS = (
    Step("patches", "Patches", f"The image is cut into squares of {SIZE} by {SIZE} pixels, which become rows.", (
        Call("patches", f"patchify(image, {SIZE})", "patchify", (), _patches),
        Call("back", f"unpatchify(patches, {SIZE}, (1, {SIDE}, {SIDE}))", "unpatchify", ("patches",), _back),
    )),
    Step("embedding", "Embedding", "One matrix for all patches: each of its columns is a kernel.",
         (Call("embedding", f"PatchEmbedding(1, {SIZE}, {DIM}, rng=rng).forward(image)", "PatchEmbedding.forward", (),
               _embedded),)),
    Step("model", "A new model", "A class token and positions join the patches; the encoder mixes them.",
         (Call("model", MODEL, "ViT.forward", (), _model),), process=TRAINING),
    Step("training", "Training", "Gradients reach every patch through the class token alone.",
         (Call("training", f"forward, backward and load, {STEPS_TAKEN} times", "ViT.backward", ("vit",), _trained),),
         notice=_trained_notice, process=TRAINING),
    Step("rollout", "Rollout", "Followed through both blocks: how much of each patch is in the class token.", (
        Call("rollout", "attention_rollout(vit.attention_weights)", "attention_rollout", ("weights",), _rollout),
        Call("map", f"class_token_map(rollout, ({GRID}, {GRID}))", "class_token_map", ("rollout",), _maps),
    ), notice=_map_notice),
)  # fmt: skip

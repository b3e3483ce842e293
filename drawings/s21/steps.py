"""Stage 21: which experts serve which tokens, before and after training, without and with the balancing loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from grader.explore.model import Array, Call, Fact, Known, Reading, Run, Step
from grader.explore.values import Unfit, agree, array, bounded, counts, fall, number, pair, scalar, span, sums
from grader.sandbox.proxies import RemoteValue

TOKENS, DIM, HIDDEN, EXPERTS, CHOICES = 32, 4, 4, 4, 2
SEATS = 1.25  # capacity_factor
COLLAPSED = 8.0  # what the last feature, always 1, adds to the logit of expert 0
WEIGHTS: Mapping[str, float] = {"alone": 0.0, "balanced": 0.5}
ROUNDS, RATE = 60, 0.05
CORNERS = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
OF_EXPERT = ("W1", "b1", "W2", "b2")
OF_TOKENS, OF_CHOICES = ("token", "expert"), ("token", "choice")
SLOPE_STEP, OFF = 1e-5, 1e-6
GIVEN = f"{TOKENS} tokens in four groups · {EXPERTS} experts"


def start(example: None, seed: int) -> Known:
    """Return tokens group by group, (TOKENS, DIM), what should become of them, and the weights of a router."""
    rng = np.random.default_rng(seed=seed)
    group = np.repeat(np.arange(4), TOKENS // 4)
    x = rng.standard_normal((TOKENS, DIM))
    x[:, :2] = 2 * CORNERS[group] + 0.3 * x[:, :2]
    x[:, 3] = 1
    matrices = rng.standard_normal((4, DIM, DIM))
    target = np.einsum("td,tdf->tf", x, matrices[group])
    router_weights = rng.standard_normal((DIM, EXPERTS)) / 2
    return {"x": x, "target": target, "router_weights": router_weights, "seed": seed}


def _router(learner: Any, known: Known) -> Reading:
    shape = (TOKENS, EXPERTS)
    first, second = pair(learner.router(known["x"], known["router_weights"]), ("logits", "probabilities"))
    logits = bounded(array(first, shape, OF_TOKENS, name="logits"))
    probabilities = bounded(array(second, shape, OF_TOKENS, name="probabilities"))
    wrong = []
    if np.abs(probabilities.sum(axis=1) - 1).max() > OFF:
        wrong.append("the probabilities of each token should sum to 1")
    if not agree(known["x"] @ known["router_weights"], logits):
        wrong.append("the logits should be x router_weights")
    values = {"logits": logits, "probabilities": probabilities}
    return Reading(values, shape, OF_TOKENS, (span(logits, "logits"), sums(probabilities)), tuple(wrong))


def _experts(value: object, name: str = "indices", choices: int = CHOICES) -> Any:
    """Return numbers of experts; Unfit where they are none."""
    found = array(value, (TOKENS, choices), OF_CHOICES, name=name)
    if not np.isin(found, np.arange(EXPERTS)).all():
        raise Unfit(f"{name}: expected numbers of experts, 0 to {EXPERTS - 1}")
    return found.astype(int)


def _gates(learner: Any, known: Known) -> Reading:
    probabilities = known["probabilities"]
    first, second = pair(learner.top_k_gating(probabilities, CHOICES), ("indices", "gates"))
    indices = _experts(first)
    gates = bounded(array(second, (TOKENS, CHOICES), OF_CHOICES, name="gates"))
    chosen = np.take_along_axis(probabilities, indices, axis=-1)
    wrong = []
    if not np.array_equal(chosen, -np.sort(-probabilities, axis=1)[:, :CHOICES]):
        wrong.append(f"the {CHOICES} most probable experts of each token should come first")
    elif not agree(chosen / chosen.sum(axis=1, keepdims=True), gates):
        wrong.append("the gates should be the chosen probabilities over their sum")
    return Reading({"indices": indices}, gates.shape, OF_CHOICES, (_load(indices), span(gates, "gates")), tuple(wrong))


def _load(indices: Array) -> Fact:
    return counts("chosen", np.bincount(indices.ravel(), minlength=EXPERTS))


def _seats(learner: Any, known: Known) -> Reading:
    capacity = learner.expert_capacity(TOKENS, EXPERTS, CHOICES, SEATS)
    wanted = int(SEATS * CHOICES * TOKENS / EXPERTS)
    if scalar(capacity, "capacity") != wanted:
        raise Unfit(f"expert_capacity: {capacity}, expected {wanted}")
    first, second = pair(learner.dispatch(known["indices"], EXPERTS, wanted), ("positions", "kept"))
    positions = array(first, (TOKENS, CHOICES), OF_CHOICES, name="positions")
    kept = array(second, (TOKENS, CHOICES), OF_CHOICES, name="kept") != 0
    served = np.bincount(known["indices"][kept], minlength=EXPERTS)
    wrong = []
    if served.max() > wanted:
        wrong.append(f"no expert should take more than its {wanted} seats, one takes {served.max()}")
    elif not np.array_equal(kept, positions < wanted):
        wrong.append("a choice should be kept where its position is below the capacity")
    facts = (counts("seats", (wanted,)), counts("served", served), counts("dropped", ((~kept).sum(),)))
    return Reading({"kept": kept}, kept.shape, OF_CHOICES, facts, tuple(wrong))


def _balance(learner: Any, known: Known) -> Reading:
    p, indices = known["probabilities"], known["indices"]
    loss = scalar(learner.load_balancing_loss(p, indices), "loss")
    even = scalar(learner.load_balancing_loss(np.full_like(p, 1 / EXPERTS), indices), "loss")
    grad = bounded(array(learner.load_balancing_loss_gradient(p, indices), p.shape, OF_TOKENS, name="gradient"))
    way = np.random.default_rng([known["seed"], 1]).standard_normal(p.shape)
    ends = [scalar(learner.load_balancing_loss(p + h * way, indices), "loss") for h in (SLOPE_STEP, -SLOPE_STEP)]
    measured, said = (ends[0] - ends[1]) / (2 * SLOPE_STEP), float((grad * way).sum())
    wrong = []
    if abs(even - 1) > OFF:
        wrong.append(f"where all probabilities are equal the loss is 1, not {number(even)}")
    elif abs(measured - said) > 1e-4 * max(1.0, abs(measured)):
        wrong.append(f"along one direction the loss rises by {number(measured)}, the gradient says {number(said)}")
    return Reading({}, None, (), (Fact("loss", (loss,), f"loss {number(loss)}"), span(grad, "gradient")), tuple(wrong))


def _layer(name: str) -> Run:
    def run(learner: Any, known: Known) -> Reading:
        rng = np.random.default_rng([known["seed"], 2])
        layer = learner.MoELayer(
            DIM, HIDDEN, EXPERTS, k=1, capacity_factor=SEATS, balance_weight=WEIGHTS[name], rng=rng
        )
        if not isinstance(layer, RemoteValue):
            raise Unfit(f"MoELayer(...) is {type(layer).__name__}, where an object of your class was expected")
        collapsed = known["router_weights"].copy()
        collapsed[3, 0] += COLLAPSED
        layer.router_weights = collapsed
        places, facts = _served(layer, known["x"])[1:]
        return Reading({name: layer, f"{name}-before": places}, (TOKENS, DIM), ("token", "dim"), facts)

    return run


def _served(layer: Any, x: Array) -> tuple[Array, Array, tuple[Fact, ...]]:
    """Return the output, where each expert stands for each token (2 served, 1 dropped, 0 not chosen), and facts."""
    output = bounded(array(layer.forward(x), x.shape, ("token", "dim"), name="output"))
    indices = _experts(layer.indices, choices=1)[:, 0]
    kept = array(layer.kept, (TOKENS, 1), OF_CHOICES, name="kept")[:, 0] != 0
    places = np.zeros((EXPERTS, TOKENS))
    places[indices, np.arange(TOKENS)] = np.where(kept, 2.0, 1.0)
    served = np.bincount(indices[kept], minlength=EXPERTS)
    return output, places, (_load(indices), counts("served", served), counts("dropped", ((~kept).sum(),)))


def _train(name: str) -> Run:
    def run(learner: Any, known: Known) -> Reading:
        layer, x, target = known[name], known["x"], known["target"]
        p = dict(layer.params)
        first, second = ({key: np.zeros_like(value) for key, value in p.items()} for _ in range(2))
        losses, dropped = [], []
        for step in range(1, ROUNDS + 1):
            output, places, facts = _served(layer, x)
            losses.append(float(((output - target) ** 2).mean()))
            dropped.append(float((places == 1).sum()) / TOKENS)
            layer.backward((output - target) * (2 / target.size))
            grads = layer.grads
            for key in p:  # Adam
                grad = bounded(array(grads[key], p[key].shape, name=f"grads[{key!r}]"))
                first[key] = 0.9 * first[key] + 0.1 * grad
                second[key] = 0.98 * second[key] + 0.02 * grad**2
                length = np.sqrt(second[key] / (1 - 0.98**step)) + 1e-8
                p[key] = p[key] - RATE * first[key] / (1 - 0.9**step) / length
            layer.router_weights = p.get("router_weights")
            for number_, expert in enumerate(layer.experts):
                expert.params = {key: p[f"experts.{number_}.{key}"] for key in OF_EXPERT}
        _, places, facts = _served(layer, x)
        values = {f"{name}-after": places, f"{name}-losses": np.array(losses), f"{name}-dropped": np.array(dropped)}
        return Reading(values, None, (), (fall("loss", np.array(losses)), *facts), _wrong(name, losses, places))

    return run


def _wrong(name: str, losses: list[float], places: Array) -> tuple[str, ...]:
    wrong = []
    if not losses[-1] < losses[0]:
        wrong.append(f"the loss should fall: it was {number(losses[0])}, now {number(losses[-1])}")
    busiest = int((places > 0).sum(axis=1).max())
    if WEIGHTS[name] and busiest > 0.9 * TOKENS:
        wrong.append(f"the balancing loss should spread the load, one expert still has {busiest} of {TOKENS} tokens")
    return tuple(wrong)


def _training(name: str) -> tuple[Call, Call]:
    layer = f"MoELayer(..., k=1, balance_weight={WEIGHTS[name]})"
    needs = () if name == "alone" else ("alone-after",)
    return (
        Call(f"{name}-before", f"{layer}.forward(x)", "MoELayer", needs, _layer(name)),
        Call(f"{name}-after", f"{ROUNDS} steps of forward and backward", "MoELayer.backward", (name,), _train(name)),
    )


GATES = f"top_k_gating(probabilities, {CHOICES})"
STEPS = (
    Step("router", "The router", "It gives every token a probability for every expert.", (
        Call("router", "router(x, router_weights)", "router", (), _router),
    )),
    Step("gates", "Gates", f"Each token chooses its {CHOICES} most probable experts; their gates sum to 1.", (
        Call("gates", GATES, "top_k_gating", ("probabilities",), _gates),
    )),
    Step("seats", "Seats", "Every expert has room for its share and a quarter more; who comes late is dropped.", (
        Call("seats", f"dispatch(indices, {EXPERTS}, capacity)", "dispatch", ("indices",), _seats),
    )),
    Step("balance", "Balancing loss", "1 for an even load; its gradient pushes away from busy experts.", (
        Call("balance", "load_balancing_loss(probabilities, indices)", "load_balancing_loss", ("indices",), _balance),
    )),
    Step("alone", "Left alone", "A router that prefers one expert, trained on the task only: its one gate is always 1, "
         "so it never learns.", _training("alone"), process="alone"),
    Step("balanced", "With the balancing loss", "The same start, and a small loss beside the task's.",
         _training("balanced"), process="balanced"),
)  # fmt: skip

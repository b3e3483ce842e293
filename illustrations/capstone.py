"""Pictures of the capstone: two models on the same batches, and loss against parameters and tokens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from hidden.capstone import stories
from illustrations.canvas import NARROW, Canvas
from illustrations.plots import Axis, Frame, Numbers, ticks, written
from illustrations.trainings import STRETCH, kept

SMALLEST, FEWEST = 1e4, 1e6  # the units of parameters and tokens in the law
INKS = ("a", "b", "d")


def floor() -> float:
    """Return the loss that no model can be below on average: what a story leaves open, over the tokens that it takes.

    A story's choices, as hidden/capstone/stories.py draws them: hero and friend, colour and thing, animal, home, place;
    three sentences that come in two ways; a word about the weather, one about the animal, and one that is spoken.
    """
    people = len(stories.PEOPLE)
    names = (stories.COLOURS, stories.THINGS, stories.ANIMALS, stories.HOMES, stories.PLACES)
    choices = [people, people - 1, *map(len, names), 2, 2, 2]
    weather = _coin(0.5) + 0.5 * np.log(len(stories.WEATHER))
    whole = float(np.log(choices).sum() + weather + _coin(0.6) + _coin(0.4))
    return whole / float(kept()["tokens_of_a_story"])


def _coin(share: float) -> float:
    return float(-share * np.log(share) - (1 - share) * np.log(1 - share))


@dataclass(frozen=True)
class Law:
    """loss = floor + excess · (10⁴ / parameters)^alpha · (10⁶ / tokens)^beta; error is the largest, as a share."""

    floor: float
    excess: float
    alpha: float
    beta: float
    error: float

    def loss(self, parameters: Numbers, tokens: Numbers) -> Numbers:
        """Return the loss that it predicts."""
        share = (SMALLEST / np.asarray(parameters)) ** self.alpha * (FEWEST / np.asarray(tokens)) ** self.beta
        return self.floor + self.excess * share


def by_heart() -> list[dict[str, float]]:
    """Return the trainings after which the same model does worse on held-out text than after fewer tokens."""
    rows = kept()["sizes"]
    return [
        row
        for row in rows
        if any(
            other["parameters"] == row["parameters"]
            and other["tokens"] < row["tokens"]
            and other["held_out"] < row["held_out"]
            for other in rows
        )
    ]


@cache
def law() -> Law:
    """Return the law with the least squares of log(loss - floor), which is linear in alpha, beta and log(excess).

    Trainings that learnt the text by heart do not count.
    """
    names = ("parameters", "tokens", "held_out")
    rows = [row for row in kept()["sizes"] if row not in by_heart()]
    parameters, tokens, losses = (np.array([row[name] for row in rows]) for name in names)
    terms = np.stack([np.ones(len(losses)), np.log(SMALLEST / parameters), np.log(FEWEST / tokens)], axis=1)
    (excess, alpha, beta), *_ = np.linalg.lstsq(terms, np.log(losses - floor()), rcond=None)
    found = Law(floor(), float(np.exp(excess)), float(alpha), float(beta), 0.0)
    return replace(found, error=float(np.abs(found.loss(parameters, tokens) / losses - 1).max()))


def curves() -> Canvas:
    """The training loss of both models, step by step."""
    canvas = Canvas(318, "Two models on the same batches: the loss of each step", NARROW)
    models = kept()["models"]
    up = Axis(0.2, 7, ticks(0.25, 0.5, 1, 2, 4), "loss", log=True)
    frame = Frame(canvas, 50, 44, 374, 210, Axis(0, 900, ticks(0, 300, 600, 900), "step"), up)
    for (name, found), ink in zip(models.items(), "ba", strict=True):
        steps = STRETCH * (np.arange(len(found["losses"])) + 0.5)
        frame.curve(steps, found["losses"], ink, 2, "5 3" if ink == "b" else "")
        words = f"{name}: perplexity {written(found['perplexity'], '.2f')}"
        frame.label(890, 0.42 if ink == "b" else 0.26, words, ink, "end")
    return canvas


def scaling() -> Canvas:
    """The loss on held-out text against the tokens read, for three sizes, with the fitted law as curves."""
    canvas = Canvas(330, "Loss on held-out text, against the tokens that were read", NARROW)
    rows, found = kept()["sizes"], law()
    across = Axis(2.5e5, 4e6, [(3e5, "300,000"), (1e6, "1,000,000"), (3e6, "3,000,000")], "tokens", log=True)
    frame = Frame(canvas, 50, 44, 312, 222, across, Axis(0.17, 3, ticks(0.25, 0.5, 1, 2), "loss", log=True))
    xs = np.geomspace(across.low, across.high, 40)
    frame.curve(xs, np.full(len(xs), found.floor), "t", 1.2, "6 4")
    frame.label(2.65e5, 0.19, f"no model is below {found.floor:.2f}", "m")
    for number, (dim, ink) in enumerate(zip(dict.fromkeys(row["dim"] for row in rows), INKS, strict=True)):
        mine = [row for row in rows if row["dim"] == dim]
        parameters = mine[0]["parameters"]
        frame.curve(xs, found.loss(parameters, xs), ink, 1.5, ("5 3", "2 3", "")[number])
        for row in mine:
            if row in by_heart():
                canvas.ring(*frame.at(row["tokens"], row["held_out"]), ink, 5, 2)
                frame.label(row["tokens"] * 0.92, row["held_out"] * 0.98, "by heart", ink, "end")
            else:
                frame.points([row["tokens"]], [row["held_out"]], ink)
        x, y = frame.at(across.high, found.loss(parameters, across.high))
        canvas.text(x + 6, y + 3 + 2 * number, f"{parameters:,}", ink, 12, "start")
        if number == 0:
            canvas.text(x + 6, y - 14, "parameters", "m", 11, "start")
    return canvas


PICTURES = {"capstone": {"curves": curves, "scaling": scaling}}

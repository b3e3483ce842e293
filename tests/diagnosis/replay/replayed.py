"""A stage whose known mistakes are tried against a learner's calls, and a learner's module of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.diagnosis.answers import Answers
from grader.diagnosis.checks import Checks
from grader.diagnosis.known_mistakes import KnownMistakes
from grader.outcome import Outcome
from grader.sandbox.connection import Ended
from tests.conftest import Learner
from tests.support.small_course import manifest

MANIFEST = manifest(
    {"softmax": ["softmax"], "backward": ["forward", "backward"], "layer": ["Layer", "draw", "check", "first"]},
    'opaque = ["forward"]\n[members]\nLayer = ["b", "forward", "__add__"]\n',
)

SOLUTION = """
    import numpy as np


    def softmax(x):
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)


    def forward(x, w):
        return x @ w, {"x": x, "w": w}


    def backward(grad, cache):
        return grad @ cache["w"].T, cache["x"].T @ grad


    def draw(rng, n):
        return rng.normal(size=n)


    def check(x):
        if x.ndim != 2:
            raise ValueError("two axes")
        return x


    def first(x):
        return x[0]


    class Layer:
        def __init__(self, b):
            self.b = b

        def forward(self, x):
            return x + self.b

        def __add__(self, b):
            return Layer(self.b + b)
"""

MISTAKES = """
    import numpy as np


    @mistake(criterion="softmax", replaces="softmax", text="wrong axis", fix="use the last")
    def softmax_along_the_first_axis(x):
        e = np.exp(x - x.max(axis=0, keepdims=True))
        return e / e.sum(axis=0, keepdims=True)


    @mistake(criterion="softmax", replaces="softmax", text="not divided", fix="divide")
    def softmax_without_division(x):
        return np.exp(x - x.max(axis=-1, keepdims=True))


    @mistake(criterion="softmax", replaces="softmax", text="twice", fix="once")
    def softmax_of_softmax(x):
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return np.exp(e / e.sum(axis=-1, keepdims=True))


    @mistake(criterion="softmax", replaces="softmax", text="by the rows", fix="add up")
    def softmax_by_the_number_of_rows(x):
        return np.full(x.shape, 1 / len(x))


    @mistake(criterion="backward", replaces="backward", text="swapped", fix="swap back")
    def gradients_swapped(grad, cache):
        return cache["x"].T @ grad, grad @ cache["w"].T


    @mistake(criterion="layer", replaces="Layer.forward", text="subtracts", fix="add")
    def layer_subtracts(self, x):
        return x - self.b


    @mistake(criterion="layer", replaces="Layer.__iadd__", text="changes itself", fix="leave it out")
    def layer_changes_itself(self, b):
        self.b = self.b + b
        return self


    @mistake(criterion="layer", replaces="draw", text="uniform", fix="normal")
    def draws_from_the_uniform(rng, n):
        return rng.random(n)


    @mistake(criterion="layer", replaces="first", text="refuses", fix="give it")
    def refuses_everything(x):
        raise IndexError("empty")


    @mistake(criterion="layer", replaces="first", text="the eighth", fix="the first")
    def takes_the_eighth(x):
        return x[7]


    @mistake(criterion="layer", replaces="check", text="no check", fix="check")
    def lets_everything_through(x):
        return x


    @mistake(criterion="layer", replaces="check", text="in place", fix="copy")
    def changes_its_argument(x):
        x += 1
        return x
"""


class Module:
    """A learner's module: the solution with some definitions replaced, and what explains the calls made to it."""

    def __init__(self, learner: Learner, answers: Answers) -> None:
        self.learner = learner
        self.remote: Any = learner.open()
        self.answers = answers

    def explained(self) -> list[str] | None:
        """Return the known mistakes that answer each wrong call as the module did; None where no call is wrong."""
        connection = self.learner.connection
        self.learner.done()  # as a session does: what is left is the record
        answers = self.answers
        ended = Ended(Outcome("a test", "softmax", False, "failed"), connection.records, connection.names)
        checks = Checks.of(answers.stage, [ended], [], [answers.reference], answers.learner)
        if not checks.failing:
            return None
        known = KnownMistakes(answers.stage, answers.reference_text, answers.mistakes, answers.learner)
        labels = dict.fromkeys(each.label for each in checks.failing)
        found = [
            {
                match.mistakes[0].id: len(match.checks)
                for match in known.matches([each for each in checks.failing if each.label == label], checks)
            }
            for label in labels
        ]
        return [name for matches in found for name in matches]


X = np.array([[1.0, 2.0, 4.0], [0.0, 3.0, 1.0]])
FIRST_AXIS = """
    def softmax(x):
        return np.exp(x) / np.exp(x).sum(0)
"""

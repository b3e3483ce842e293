"""Whatever a learner's function returns, the diagnosis goes on."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

from grader.diagnosis.answers import Answers
from tests.conftest import Learner, Start
from tests.diagnosis.replay.replayed import SOLUTION, Module, X


@pytest.mark.parametrize(
    "answer",
    [
        "[Layer(1), Layer(2)]", "Layer(1)", "[[1], [2, 3]]", "None", "'text'", "{1: 2}", "10 ** 4000",
        "(x for x in ())", "np.float32",
        "[Layer, {'a': Layer(1)}]", "np.array(['a'])", "float('nan')", "1 + 2j", "[]", "range(3)",
        "{(1, 2)}", "np.random.default_rng(1)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("call", ["softmax", "check", "forward"])
def test_no_answer_stops_the_diagnosis(strange: Learner, answers: Answers, answer: str, call: str) -> None:
    """Whatever a learner returns is compared with arrays, tuples and numbers of ours."""
    found = Module.__new__(Module)
    found.learner, found.answers = strange, answers
    remote: Any = strange.open()
    remote.say(answer)
    connection = strange.connection
    connection.records.clear()
    getattr(remote, call)(*((X, np.ones((3, 1))) if call == "forward" else (X,)))
    assert isinstance(found.explained(), list | None)


@pytest.fixture(scope="module")
def strange(start: Start) -> Learner:
    return start(
        textwrap.dedent(SOLUTION)
        + textwrap.dedent("""
        said = []

        def say(text):
            said.append(text)

        def softmax(*args):
            return eval(said[-1])

        check = forward = softmax
        """)
    )

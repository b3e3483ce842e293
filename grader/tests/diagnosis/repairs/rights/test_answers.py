"""Where several answers are right, a repair may lead to any of them."""

from __future__ import annotations

import shutil
import time
import types
from collections.abc import Iterator
from typing import Any, cast

import pytest

from grader.course.manifest import load_course
from grader.diagnosis.bounds.bounded import can_bound
from grader.diagnosis.repairs.rights.answers import IN_ALL, SECONDS, Answers
from grader.diagnosis.repairs.trial import Trial
from grader.diagnosis.slips.probes import Failing
from grader.sandbox.record import Name, Record
from grader.tests.conftest import SmallCourse
from grader.tests.diagnosis.repairs.layers import told
from grader.tests.support.places import ROOT

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Directions"
    module = "small.py"
    requires = []

    [[criteria]]
    id = "direction"
    text = "direction has length 1"
    functions = ["direction"]
    needs = []
    hints = ["a", "b", "c"]
"""
SOLUTION = '''
    import numpy as np


    def direction(x):
        """Return x, or -x, divided by its length."""
        return np.true_divide(x, -np.linalg.norm(x))
'''
OTHER = "import numpy as np\n\n\ndef direction(x):\n    return np.array([each / np.hypot(*x) for each in x])\n"
LEARNERS = """
    import numpy as np


    def direction(x):
        length = np.sqrt(x[0] ** 2 + x[1] ** 2)
        return x / length
"""
HIDDEN = """
    @pytest.mark.criterion("direction")
    @pytest.mark.parametrize("number", range(3))
    def test_direction(learner, rng, number):
        x = np.abs(rng.standard_normal(2)) + 0.5
        assert_array(np.abs(learner.direction(x)), x / np.linalg.norm(x))
"""


@pytest.fixture
def directions(course: SmallCourse) -> Iterator[SmallCourse]:
    course.write(manifest=MANIFEST, solution=SOLUTION, hidden=HIDDEN)
    yield course
    shutil.rmtree(course.hidden / "alternatives", ignore_errors=True)


def alternative(course: SmallCourse, text: str) -> None:
    folder = course.hidden / "alternatives"
    folder.mkdir()
    (folder / "__init__.py").write_text('"""Other right modules."""\n')
    (folder / "other.py").write_text(text)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("x[1] ** 2", "x[0] ** 2", "index 0 of x were used where index 1 belongs (line 6)"),
        ("x / length", "x * length", "multiplied by length"),
    ],
)
def test_a_slip_is_named_whose_repair_gives_another_right_answer(
    directions: SmallCourse, old: str, new: str, text: str
) -> None:
    wrong = LEARNERS.replace(old, new)
    assert not any("line" in each for each in told(directions.grade(wrong).verdict).get("direction", ()))
    alternative(directions, OTHER)
    found = told(directions.grade(wrong).verdict)["direction"]
    assert len(found) == 1 and text in next(iter(found)), found


def test_refusals_to_which_all_answer_alike_say_nothing_of_other_answers(directions: SmallCourse) -> None:
    """A test in which something is refused has one answer, also where there are several to the others."""
    check = "if not np.any(x):\n{0}    raise ValueError('x is zero')\n{0}"
    refusing = """
    @pytest.mark.criterion("direction")
    @pytest.mark.parametrize("number", range(1, 5))
    def test_zero(learner, number):
        with pytest.raises(ValueError):
            learner.direction(np.zeros(number))
"""
    solution = SOLUTION.replace("return np.true", check.format(" " * 8) + "return np.true")
    directions.write(manifest=MANIFEST, solution=solution, hidden=f"{HIDDEN}\n\n{refusing}")
    alternative(directions, OTHER.replace("return", check.format(" " * 4) + "return"))
    learners = LEARNERS.replace("length = ", check.format(" " * 8) + "length = ")
    assert directions.grade(learners).verdict.criteria[0].status == "passed"
    found = told(directions.grade(learners.replace("x[1] ** 2", "x[0] ** 2")).verdict)["direction"]
    assert len(found) == 1 and "index 0 of x were used where index 1 belongs (line 8)" in next(iter(found)), found


def test_a_right_module_that_fails_as_it_is_loaded_is_left_out(directions: SmallCourse) -> None:
    alternative(directions, f"{OTHER}\n\nraise OSError('a file is missing')\n")
    verdict = directions.grade(LEARNERS.replace("x / length", "x * length")).verdict
    assert verdict.criteria[0].status == "failed" and not any("fault" in str(each) for each in verdict.criteria)
    assert directions.grade(LEARNERS).verdict.criteria[0].status == "passed"


def test_other_modules_are_asked_only_while_there_is_time_for_them() -> None:
    asked: list[str] = []

    def others() -> list[types.ModuleType]:
        asked.append("others")
        return [types.ModuleType("other")]

    nothing: Any = None
    made = Answers(nothing, b"", types.ModuleType("right"), nothing, others)
    assert len(made._modules()) == 1 and asked == ["others"]
    for left in (0.0, -0.1):
        made.left = left
        assert made._modules() == () and asked == ["others"]
        assert made._within(lambda: 1) is None and made.left == left  # and no timer is set to less than nothing


@pytest.mark.skipif(not can_bound(), reason="nothing is bounded here")
def test_one_that_takes_too_long_says_nothing() -> None:
    nothing: Any = None
    made = Answers(nothing, b"", types.ModuleType("right"), nothing)

    def endless() -> int:
        while True:
            pass

    assert made._within(endless) is None
    assert 0 < made.left <= IN_ALL - SECONDS / 2


@pytest.mark.skipif(not can_bound(), reason="nothing is bounded here")
def test_the_reference_answers_a_whole_test_while_whoever_asks_has_time() -> None:
    def slow(seconds: float) -> float:
        ends_at = time.process_time() + seconds
        while time.process_time() < ends_at:
            pass
        return seconds

    right, nothing = types.ModuleType("right"), cast(Any, None)
    vars(right)["slow"] = slow
    stage = load_course(ROOT).find("s01")

    def made(seconds: float, remaining: float) -> tuple[Trial | None, Trial | None, float]:
        names = {"slow": Name("function", 1)}
        records = [Record("call", 1, "", "slow", (seconds,), {}, given=(seconds,), result=0.0, returned=0.0)]
        answers = Answers(stage, b"", right, nothing, remaining=lambda: remaining)
        began, failing = time.process_time(), Failing("test_slow", records, names)
        return answers.whole(failing), answers.first_wrong(failing), time.process_time() - began

    for each in made(0.01, 5.0)[:2]:
        assert each is not None and each.right[0].result == 0.01
    whole, first, seconds = made(5.0, 0.03)
    assert whole is None and first is None and seconds < 1
    assert made(5.0, -0.1)[0] is None  # the time may be over already


@pytest.mark.skipif(not can_bound(), reason="nothing is bounded here")
def test_what_there_was_too_little_time_for_is_asked_again_with_more() -> None:
    asked: list[float] = []
    left = [0.02]

    def slow(seconds: float) -> float:
        asked.append(seconds)
        ends_at = time.process_time() + seconds
        while time.process_time() < ends_at:
            pass
        return seconds

    right = types.ModuleType("right")
    vars(right)["slow"] = slow
    records = [Record("call", 1, "", "slow", (0.1,), {}, given=(0.1,), result=0.0, returned=0.0)]
    failing = Failing("test_slow", records, {"slow": Name("function", 1)})
    answers = Answers(load_course(ROOT).find("s01"), b"", right, cast(Any, None), remaining=lambda: left[0])
    assert answers.whole(failing) is None and answers.whole(failing) is None and len(asked) == 1
    left[0] = 5.0
    assert answers.whole(failing) is not None and answers.whole(failing) is not None and len(asked) == 2

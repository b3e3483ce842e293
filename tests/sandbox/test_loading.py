"""A changed form of a module takes its place for one test: its functions, names and errors, and no other test's."""

from __future__ import annotations

import marshal
from collections.abc import Iterator

import pytest

from grader.course.stage import Contract
from grader.sandbox.connection import MissingName, RemoteModule
from grader.sandbox.exceptions import WorkerFailed
from grader.sandbox.process import become, load_problem
from tests.conftest import Learner, Start

CONTRACT = Contract({"Layer": frozenset({"size"})})
MODULE = """
class Layer:
    def size(self):
        return 1

def double(x):
    return 2 * x

def layer():
    return Layer()
"""


@pytest.fixture(scope="module")
def process(start: Start) -> Learner:
    return start(MODULE, "process", contract=CONTRACT)


@pytest.fixture
def learner(process: Learner) -> Iterator[RemoteModule]:
    yield process.open()
    process.done()


def change(process: Learner, source: str) -> None:
    become(process.connection, marshal.dumps(compile(source, "small.py", "exec")))


def test_its_functions_answer_from_then_on(process: Learner, learner: RemoteModule) -> None:
    change(process, MODULE.replace("2 * x", "3 * x"))
    assert learner.double(4) == 12


def test_its_instances_are_of_its_own_classes(process: Learner, learner: RemoteModule) -> None:
    change(process, MODULE.replace("return 1", "return 5"))
    made = learner.layer()
    assert isinstance(made, learner.Layer) and made.size() == 5


def test_its_names_stand_for_the_modules(process: Learner, learner: RemoteModule) -> None:
    change(process, "def triple(x):\n    return 3 * x\n")
    assert learner.triple(2) == 6
    with pytest.raises(MissingName):
        learner.double(2)


def test_it_lasts_for_one_test(process: Learner, learner: RemoteModule) -> None:
    change(process, MODULE.replace("2 * x", "3 * x"))
    process.done()
    assert process.open().double(4) == 8


def test_it_is_no_call_of_the_tests(process: Learner, learner: RemoteModule) -> None:
    change(process, MODULE)
    assert process.connection.records == []
    learner.double(1)
    assert [record.label for record in process.connection.records] == ["double"]


def test_what_running_it_raises_is_raised_here(process: Learner, learner: RemoteModule) -> None:
    with pytest.raises(ZeroDivisionError):
        change(process, "SIZE = 1 / 0\n")


def test_one_that_ends_its_process_fails_the_test(process: Learner, learner: RemoteModule) -> None:
    with pytest.raises(WorkerFailed):
        change(process, "import os\nos._exit(3)\n")


def described(shown: str, frames: list[object]) -> list[object]:
    return [["Exception"], shown, 0, "no", [], frames, 0, {}]


def test_a_trial_in_the_module_is_told_with_its_own_line() -> None:
    problem = load_problem(described("TypeError", [[134, "<module>"], [15, "double"]]), "small.py")
    assert problem.line == 15 and problem.hint is not None
    assert problem.hint.startswith("Line 134 calls it each time the module is loaded. Trials of your own belong under")


def test_a_question_to_somebody_at_a_keyboard_is_told() -> None:
    problem = load_problem(described("EOFError", [[3, "<module>"]]), "small.py")
    assert problem.hint is not None and problem.hint.startswith("Line 3 asks for input each time")


@pytest.mark.parametrize(
    ("shown", "frames"),
    [("TypeError", [[3, "<module>"]]), ("TypeError", []), ("TypeError", [[3, "double"], [4, "triple"]]), ("x", [3, 4])],
)
def test_another_failure_to_load_is_no_trial(shown: str, frames: list[object]) -> None:
    assert load_problem(described(shown, frames), "small.py").hint is None

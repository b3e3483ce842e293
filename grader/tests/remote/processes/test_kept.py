"""A test's process is there for the next test where its word can be taken, and no longer than it serves."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import Any

import pytest

from grader.isolation import tiers
from grader.protocol import codec
from grader.remote.connection import Connection
from grader.remote.exceptions import WorkerFailed
from grader.remote.module import RemoteModule
from grader.remote.processes import kept
from grader.tests.conftest import Learner, Start
from grader.tests.support.patience import SLACK

pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="needs forks")

SOURCE = """
import os, sys, time

count = 0


def which():
    return os.getpid()


def stay(): pass


def leave_something():
    global count
    count += 1


def count_now():
    return count


def lie():
    '''Change what `again` does, as code that wants to stay may.'''
    global count
    count += 1
    sys.modules["grader.worker.server"].Server.again = lambda server: True


def answer(value):
    sys.modules["grader.worker.server"].Server.again = lambda server: value


def be_silent():
    sys.modules["grader.worker.server"].Server.again = lambda server: time.sleep(60)


def end():
    sys.modules["grader.worker.server"].Server.again = lambda server: os._exit(0)


def say_more():
    from grader.worker.server import Server
    told = Server._reply
    def twice(server, *rest):
        told(server, *rest)
        told(server, *rest)
    Server.again = lambda server: setattr(Server, "_reply", twice) or True
"""


@pytest.fixture
def learner(start: Start) -> Learner:
    return start(SOURCE, "process", call_seconds=SLACK)


def begun(learner: Learner, own: bool = False) -> tuple[Connection, Any]:
    connection = learner.process.open("", time.monotonic() + 3 * SLACK, own)
    return connection, RemoteModule(connection, "small.py")


def seen_after(learner: Learner, function: str, *args: Any) -> int:
    """Run a test that calls one function, then the next one; return how many tests its process had seen."""
    connection, remote = begun(learner)
    getattr(remote, function)(*args)
    learner.process.done(connection, keep=True)
    connection, remote = begun(learner)
    try:
        assert type(remote.which()) is int
    finally:
        learner.process.done(connection)
    return connection.tests_before


def test_the_next_test_runs_in_the_same_process(learner: Learner) -> None:
    numbers = []
    for seen in range(3):
        connection, remote = begun(learner)
        numbers.append(remote.which())
        assert connection.tests_before == seen
        learner.process.done(connection, keep=True)
    assert len(set(numbers)) == 1


def test_a_test_that_wants_a_process_of_its_own_gets_one(learner: Learner) -> None:
    connection, remote = begun(learner)
    first = remote.which()
    learner.process.done(connection, keep=True)
    connection, remote = begun(learner, own=True)
    assert remote.which() != first and connection.tests_before == 0
    learner.process.done(connection)


def test_what_a_test_left_is_not_met_by_the_next(learner: Learner) -> None:
    assert seen_after(learner, "leave_something") == 0
    connection, remote = begun(learner)
    assert remote.count_now() == 0
    learner.process.done(connection)


@pytest.mark.parametrize("value", [1, "yes", None, [True], False])
def test_only_yes_is_yes(learner: Learner, value: object) -> None:
    assert seen_after(learner, "answer", value) == 0


@pytest.mark.parametrize("function", ["be_silent", "end"])
def test_one_that_does_not_answer_well_is_ended(learner: Learner, function: str) -> None:
    started = time.monotonic()
    assert seen_after(learner, function) == 0
    assert time.monotonic() - started < SLACK


def test_one_that_says_more_than_it_was_asked_spoils_its_own_test_at_most(learner: Learner) -> None:
    try:
        assert seen_after(learner, "say_more") == 0
    except WorkerFailed as failed:  # it came after the answer had been taken
        assert "invalid answer" in str(failed)


def test_a_lie_is_believed(learner: Learner) -> None:
    assert seen_after(learner, "lie") == 1  # which is why what fails there is tried again elsewhere


def test_one_that_dies_between_two_tests_is_replaced(learner: Learner) -> None:
    connection, remote = begun(learner)
    number = remote.which()
    learner.process.done(connection, keep=True)
    with suppress(ProcessLookupError):
        os.kill(number, signal.SIGKILL)
    until = time.monotonic() + SLACK
    while time.monotonic() < until:
        connection, remote = begun(learner)
        try:
            assert remote.which() != number
            break
        except WorkerFailed:  # it had answered before it died
            learner.process.done(connection)
    learner.process.done(connection)


def test_one_process_is_kept_at_a_time(learner: Learner) -> None:
    (one, first), (two, second) = begun(learner), begun(learner)
    numbers = first.which(), second.which()
    learner.process.done(one, keep=True)
    learner.process.done(two, keep=True)
    connection, remote = begun(learner)
    assert remote.which() == numbers[0] != numbers[1]
    learner.process.done(connection)


def test_it_is_there_for_so_many_tests_only(learner: Learner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_TESTS", 3)
    seen = []
    for _ in range(5):
        connection, remote = begun(learner)
        remote.stay()
        seen.append(connection.tests_before)
        learner.process.done(connection, keep=True)
    assert seen == [0, 1, 2, 0, 1]


def test_nobody_asks_for_ever(learner: Learner, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(kept.Kept, "ask", lambda self, deadline: asked.append(1))
    for _ in range(2 * kept.REFUSALS):
        connection, remote = begun(learner)
        remote.leave_something()
        learner.process.done(connection, keep=True)
    assert len(asked) == 2 * kept.REFUSALS  # one that cannot be asked is no refusal
    monkeypatch.undo()
    refused = 0
    for _ in range(2 * kept.REFUSALS):
        connection, remote = begun(learner)
        remote.leave_something()
        learner.process.done(connection, keep=True)
        refused += learner.process._keeper._kept is not None
    assert refused == kept.REFUSALS


def test_a_handle_of_the_test_before_is_of_no_use(learner: Learner) -> None:
    connection, remote = begun(learner)
    function = remote.which
    learner.process.done(connection, keep=True)
    connection, remote = begun(learner)
    with pytest.raises(codec.WireError, match="another test"):
        function()
    learner.process.done(connection)


@pytest.mark.full_matrix
def test_ending_all_ends_the_one_that_is_kept(learner: Learner) -> None:
    connection, remote = begun(learner)
    number = remote.which()
    learner.process.done(connection, keep=True)
    learner.process.kill()
    until = time.monotonic() + SLACK
    while time.monotonic() < until:
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    pytest.fail("the kept process is still there")

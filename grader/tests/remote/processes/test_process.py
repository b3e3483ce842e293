"""A learner's process that dies, hangs, floods or returns what cannot be used costs one test, and the next one runs."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from grader.isolation import tiers
from grader.protocol import codec
from grader.protocol.channel import Channel
from grader.remote.exceptions import Unusable, WorkerFailed
from grader.remote.processes.loading import LoadFailed
from grader.remote.processes.process import LearnerProcess
from grader.tests.conftest import Learner, Start
from grader.tests.remote.hostile.breaking import HANG_SECONDS, PATIENCE, SOURCE, failure
from grader.tests.support.patience import SLACK
from grader.worker.kernel import SCOPING_ABI, landlock_abi


@pytest.fixture(scope="module")
def learner(tier: tiers.Tier, start: Start) -> Learner:
    return start(SOURCE, tier, call_seconds=PATIENCE, memory_mb=256, cpu_seconds=20)


@pytest.fixture(autouse=True)
def _next_test_runs(request: pytest.FixtureRequest) -> Iterator[None]:
    """After each test here another one finds the module as it was."""
    yield
    if "learner" in request.fixturenames:
        process: Learner = request.getfixturevalue("learner")
        remote: Any = process.open()
        assert remote.fine(1) == 2 and remote.count() == 2
        process.done()


class TestDeath:
    @pytest.mark.parametrize("code", [0, 3])
    def test_by_leaving(self, learner: Learner, code: int) -> None:
        said = f"the process that ran leave ended without an answer: it ended with exit code {code}"
        assert failure(learner, lambda remote: remote.leave(code)) == ("crashed", said)

    @pytest.mark.parametrize(("number", "said"), [(11, "segmentation fault"), (6, "signal 6"), (15, "signal 15")])
    def test_by_a_signal(self, learner: Learner, number: int, said: str) -> None:
        status, message = failure(learner, lambda remote: remote.kill(number))
        assert status == "crashed" and said in message

    def test_by_killing_itself_says_nothing_that_is_not_known(self, learner: Learner) -> None:
        status, message = failure(learner, lambda remote: remote.kill(9))
        assert status == "crashed" and "ended without an answer" in message

    def test_by_a_bad_address(self, learner: Learner) -> None:
        status, message = failure(learner, lambda remote: remote.crash())
        assert status == "crashed" and "segmentation fault" in message

    def test_by_closing_the_connection(self, learner: Learner) -> None:
        status, _ = failure(learner, lambda remote: remote.close())
        assert status == "crashed"

    def test_of_the_process_that_the_tests_come_from(self, learner: Learner) -> None:
        if landlock_abi() >= SCOPING_ABI:
            remote: Any = learner.open()
            with pytest.raises(PermissionError):
                remote.kill_the_parent()
            return
        status, _ = failure(learner, lambda remote: remote.kill_the_parent())
        assert status in ("crashed", "timed_out")

    def test_of_all_that_it_may_kill(self, worker: Callable[..., Learner], tier: tiers.Tier) -> None:
        """Where nothing else holds it back, another user does: this is for root, or for Landlock."""
        if landlock_abi() < SCOPING_ABI and os.getuid() != 0:
            pytest.skip("would end all processes of this user")
        learner = worker(SOURCE)
        remote: Any = learner.open()
        assert remote.kill_everything() == "nothing else ran" and remote.fine(1) == 2
        learner.done()
        assert learner.open().fine(1) == 2


class TestHanging:
    @pytest.mark.parametrize("name", ["hang", "spin", "deaf"])
    def test_in_a_call(self, learner: Learner, name: str) -> None:
        started = time.monotonic()
        status, message = failure(learner, lambda remote: getattr(remote, name)(), HANG_SECONDS)
        assert (status, message) == ("timed_out", f"{name} did not return within {HANG_SECONDS} s")
        assert time.monotonic() - started < HANG_SECONDS + SLACK

    def test_a_stage_that_ends_sooner_ends_the_call(self, learner: Learner) -> None:
        remote: Any = learner.open(seconds=0.3)
        started = time.monotonic()
        with pytest.raises(WorkerFailed, match="the whole stage may take was used up while hang ran"):
            remote.hang()
        assert time.monotonic() - started < SLACK

    def test_at_import(self, worker: Callable[..., Learner], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("grader.remote.processes.process.LOAD_SECONDS", 1.0)
        learner = worker("while True: pass", call_seconds=0.5, load=False)
        with pytest.raises(LoadFailed, match="did not finish loading: does it loop"):
            learner.process.load()

    def test_threads_that_never_end(self, learner: Learner) -> None:
        remote: Any = learner.open()
        assert remote.threads() == "started" and remote.fine(1) == 2
        remote.at_exit()
        started = time.monotonic()
        learner.done()
        assert time.monotonic() - started < SLACK


class TestFloods:
    def test_of_output(self, learner: Learner) -> None:
        remote: Any = learner.open()
        assert remote.flood_output() == "done"
        assert len(learner.connection.notes.printed) < 20_000

    @pytest.mark.parametrize("name", ["flood_socket", "endless_answers"])
    def test_of_the_socket(self, learner: Learner, name: str) -> None:
        status, message = failure(learner, lambda remote: getattr(remote, name)())
        assert status == "crashed" and "an invalid answer" in message

    @pytest.mark.parametrize(
        "data",
        [
            b"hello, grader!!!",
            codec.HEADER.pack(codec.MAGIC, 2**32 - 1, 2**63),
            codec.HEADER.pack(codec.MAGIC, 1, 0) + b"\xc1",
        ],
    )
    def test_garbage(self, learner: Learner, data: bytes) -> None:
        status, message = failure(learner, lambda remote: remote.garbage(data))
        assert status == "crashed" and "an invalid answer" in message


class TestLimits:
    @pytest.mark.parametrize("gigabytes", [1, 10])
    def test_memory(self, learner: Learner, gigabytes: int) -> None:
        remote: Any = learner.open()
        with pytest.raises(MemoryError):
            remote.gigabytes(gigabytes)
        assert remote.fine(1) == 2

    def test_a_text_past_what_is_carried(self, learner: Learner) -> None:
        remote: Any = learner.open()
        with pytest.raises(Unusable, match="MB outside of arrays"):
            remote.many(codec.MAX_BODY + 1)

    def test_nesting(self, learner: Learner) -> None:
        remote: Any = learner.open()
        with pytest.raises(Unusable, match="nested more than"):
            remote.deep()

    def test_recursion(self, learner: Learner) -> None:
        remote: Any = learner.open()
        with pytest.raises(RecursionError):
            remote.recurse()

    def test_the_size_of_a_file(self, learner: Learner) -> None:
        remote: Any = learner.open()
        try:
            with pytest.raises(OSError, match="File too large"):
                remote.write_file(20)
        except WorkerFailed as error:
            assert error.status == "crashed"
            assert learner.done() == ("over_limit", "it wrote a file of more than 16 MB")

    def test_the_number_of_open_files(self, learner: Learner) -> None:
        remote: Any = learner.open()
        with warnings.catch_warnings(action="ignore"), pytest.raises(OSError, match="Too many open files"):
            remote.open_files()

    def test_the_number_of_processes(self, learner: Learner, tier: tiers.Tier) -> None:
        remote: Any = learner.open()
        assert remote.fork_many() < 120

    def test_the_files_of_all_its_tests_together(self, worker: Callable[..., Learner]) -> None:
        learner = worker(SOURCE)
        status, message = failure(learner, lambda remote: remote.fill(3000, 1))
        assert status == "over_limit" and "more than 2000 files" in message
        remote: Any = learner.open()
        assert remote.fine(1) == 2

    def test_what_its_files_take_together(self, worker: Callable[..., Learner], tier: tiers.Tier) -> None:
        learner = worker(SOURCE)
        if tier == "bubblewrap":  # there the scratch folder is no larger
            remote: Any = learner.open()
            with pytest.raises(OSError, match="No space left"):
                remote.fill(10, 15 << 20)
            return
        status, message = failure(learner, lambda remote: remote.fill(10, 15 << 20))
        assert status == "over_limit" and "more than 64 MB" in message

    def test_the_memory_of_all_its_processes_together(self, worker: Callable[..., Learner]) -> None:
        learner = worker(SOURCE, memory_mb=100)
        status, message = failure(learner, lambda remote: remote.fork_and_fill_memory(8))
        assert status == "over_limit" and "took more memory" in message

    def test_processor_time(self, worker: Callable[..., Learner]) -> None:
        learner = worker(SOURCE, call_seconds=10, cpu_seconds=0)
        status, message = failure(learner, lambda remote: remote.spin())
        assert status == "timed_out" and "it used up its processor time" in message


class TestLoading:
    @pytest.mark.parametrize(
        ("source", "said", "line"),
        [
            ("x = 1\nraise ValueError('at the top')", "ValueError: at the top", 2),
            ("import pandas", "only numpy and the standard library can be imported", 1),
            ("import grader.isolation.tiers", "No module named", 1),
            ("import sys\nsys.exit(3)", "SystemExit: 3", 2),
            ("def f(:\n", "SyntaxError", None),
            ("import os\nos._exit(0)", "the process ended while it loaded", None),
            ("import os, signal\nos.kill(os.getpid(), 11)", "the process ended while it loaded", None),
            ("import numpy as np\nx = np.ones(1 << 34)", "MemoryError", 2),
            ("x = 1\x00", "", None),
        ],
        ids=lambda value: repr(value)[:24],
    )
    def test_a_module_that_does_not_load_says_why(
        self, worker: Callable[..., Learner], source: str, said: str, line: int | None
    ) -> None:
        learner = worker(source, load=False)
        with pytest.raises(LoadFailed) as caught:
            learner.process.load()
        assert said in caught.value.problem.message and caught.value.problem.line == line
        assert "worker.py" not in caught.value.problem.message

    def test_a_package_of_the_course_can_be_imported(self, worker: Callable[..., Learner]) -> None:
        learner = worker("import iniconfig\n\n\ndef name():\n    return iniconfig.__name__\n", packages=("iniconfig",))
        assert learner.open().name() == "iniconfig"

    def test_a_course_without_packages_says_so(self, worker: Callable[..., Learner]) -> None:
        learner = worker("import iniconfig\n", packages=(), load=False)
        with pytest.raises(LoadFailed, match="only the standard library can be imported"):
            learner.process.load()

    def test_what_it_prints_while_it_loads_is_kept(self, worker: Callable[..., Learner]) -> None:
        assert worker("print('loading', flush=True)").process.printed == "loading\n"

    def test_a_worker_that_answers_nonsense(self, worker: Callable[..., Learner]) -> None:
        forged = "import gc, socket\nnext(s for s in gc.get_objects() if isinstance(s, socket.socket)).sendall(%r)"
        for frame in (
            ["loaded", [["f", "evil", 1, []]], ["", []]],
            ["loaded", 3, 4],
            ["failed", 1, 2, 3],
            [],
            ["loaded", [], [b"x", []]],
        ):
            data = b"".join(bytes(part) for part in codec.Encoder().frame(frame, []))
            learner = worker(forged % data, load=False)
            with pytest.raises(LoadFailed, match="another form"):
                learner.process.load()


def test_a_channel_is_all_that_the_two_ends_share(learner: Learner) -> None:
    learner.open()
    assert isinstance(learner.connection.channel, Channel)
    assert isinstance(learner.process, LearnerProcess)

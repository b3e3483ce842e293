"""A learner's process that dies, hangs or floods costs one test, and the next one runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from grader.isolation import tiers
from grader.protocol import codec
from grader.protocol.channel import Channel
from grader.sandbox.exceptions import WorkerFailed
from grader.sandbox.process import LearnerProcess, LoadFailed
from grader.worker.kernel import SCOPING_ABI, landlock_abi
from tests.conftest import Learner
from tests.sandbox.hostile.breaking import HANG_SECONDS, SOURCE, failure


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
        status, message = failure(learner, lambda remote: getattr(remote, name)(), HANG_SECONDS)
        assert (status, message) == ("timed_out", f"{name} did not return within {HANG_SECONDS} s")

    def test_a_stage_that_ends_sooner_ends_the_call(self, learner: Learner) -> None:
        remote: Any = learner.open(seconds=0.3)
        with pytest.raises(WorkerFailed, match="the whole stage may take was used up while hang ran"):
            remote.hang()

    def test_at_import(self, worker: Callable[..., Learner], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("grader.sandbox.process.LOAD_SECONDS", 1.0)
        learner = worker("while True: pass", call_seconds=0.5, load=False)
        with pytest.raises(LoadFailed, match="did not finish loading: it was still in the loop of line 1"):
            learner.process.load()

    def test_threads_that_never_end(self, learner: Learner) -> None:
        remote: Any = learner.open()
        assert remote.threads() == "started" and remote.fine(1) == 2
        remote.at_exit()
        learner.done()
        assert learner.open().fine(1) == 2


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


def test_a_channel_is_all_that_the_two_ends_share(learner: Learner) -> None:
    learner.open()
    assert isinstance(learner.connection.channel, Channel)
    assert isinstance(learner.process, LearnerProcess)

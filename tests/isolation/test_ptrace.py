"""The grader is closed to others for as long as one learner's process runs, and no longer."""

from __future__ import annotations

import sys

import pytest

from grader.isolation import ptrace
from grader.worker import kernel
from tests.support.alone import alone


@pytest.mark.skipif(sys.platform != "linux", reason="a guard of Linux")
def test_it_holds_until_the_last_one_lets_go() -> None:
    found = alone("""
        from grader.worker import kernel
        from grader.isolation.ptrace import PtraceGuard
        guard, seen = PtraceGuard(), []
        for step in (guard.hold, guard.hold, guard.release, guard.release, guard.hold):
            step()
            seen.append(kernel.is_open())
        print(seen)
    """)
    assert found == [False, False, False, True, False]


@pytest.mark.skipif(sys.platform != "linux", reason="a guard of Linux")
def test_what_was_closed_before_stays_closed() -> None:
    found = alone("""
        from grader.worker import kernel
        from grader.isolation.ptrace import PtraceGuard
        kernel.set_open(False)
        guard = PtraceGuard()
        guard.hold()
        guard.release()
        print([kernel.is_open()])
    """)
    assert found == [False]


def test_where_it_cannot_be_closed_grading_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(whether: bool) -> None:
        raise kernel.Unconfined("not here")

    monkeypatch.setattr(kernel, "set_open", fails)
    own = ptrace.PtraceGuard()
    own.hold()
    own.release()


@pytest.mark.skipif(sys.platform != "linux", reason="a guard of Linux")
def test_a_started_process_holds_it_once_however_often_it_is_ended() -> None:
    found = alone("""
        import pathlib, tempfile
        from grader.worker import kernel
        from grader.isolation import tiers
        with tempfile.TemporaryDirectory() as folder:
            one, other = (tiers.start("process", pathlib.Path(folder)) for _ in range(2))
            seen = [kernel.is_open()]
            for started in (one, one, other):
                started.kill()
                seen.append(kernel.is_open())
        print(seen)
    """)
    assert found == [False, False, False, True]

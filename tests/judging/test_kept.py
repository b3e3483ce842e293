"""A grader that is kept grades one module after the other as a new one would, and leaves nothing when it is closed."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from weakref import WeakValueDictionary

import pytest

from grader.isolation import tiers, zygote
from grader.judging.grading import Grader, Options
from grader.submission import Snapshot, take
from grader.verdict import Verdict
from grader.worker.supervisor import below
from tests.conftest import SmallCourse
from tests.pace.kept import really_shared
from tests.support.good_stage import SOLUTION, write_stage

WRONG = SOLUTION.replace("return total(x) / 2", "return total(x)")
pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="needs forks")


@pytest.fixture(scope="module")
def course(small_course: SmallCourse) -> SmallCourse:
    write_stage(small_course.stage_folder.parent, small_course.hidden.parent, "s90_small")
    return small_course


@pytest.fixture
def kept(course: SmallCourse) -> Iterator[Grader]:
    with Grader(course.course, course.stage, warm=True) as grader:
        yield grader


def snapshot(course: SmallCourse, source: str) -> Snapshot:
    path = course.root.parent / "kept.py"
    path.write_text(source, encoding="utf-8")
    return take(course.stage, path, course.root)


def rows(verdict: Verdict) -> dict[str, str]:
    return {row.id: row.status for row in verdict.criteria}


def test_modules_are_graded_one_after_the_other(course: SmallCourse, kept: Grader) -> None:
    right, wrong = snapshot(course, SOLUTION), snapshot(course, WRONG)
    found = [rows(kept.grade(each, Options(seed, "process"))) for seed, each in enumerate((right, wrong, right))]
    assert found[0] == found[2] == {"total": "passed", "half": "passed"}
    assert found[1] == {"total": "passed", "half": "failed"}


def test_whether_an_isolation_works_is_looked_at_once(
    course: SmallCourse, kept: Grader, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    choose = tiers.choose

    def noted(wanted: str, least: str | None = None) -> tuple[str, str | None]:
        looked.append(wanted)
        return choose(wanted, least)

    monkeypatch.setattr(tiers, "choose", noted)
    for seed in range(3):
        kept.grade(snapshot(course, SOLUTION), Options(seed, "process", recurs=True))
        kept.prepare(Options(seed, "process"))
    assert looked.count("process") == 1


def test_nothing_piles_up(course: SmallCourse, kept: Grader) -> None:
    right = snapshot(course, SOLUTION)
    counts = []
    for seed in range(4):
        assert kept.grade(right, Options(seed, "process")).passed
        counts.append((len(os.listdir("/proc/self/fd")), len(threading.enumerate())))
    assert counts[1] == counts[3]


def test_a_process_that_forks_workers_and_died_is_replaced(course: SmallCourse, kept: Grader) -> None:
    right = snapshot(course, SOLUTION)
    assert kept.grade(right, Options(1, "process")).passed
    found = kept.workers("process")._zygote
    if found is None:
        pytest.skip("each worker has a start of its own here")
    found.process.kill()
    found.process.wait()
    assert kept.grade(right, Options(2, "process")).passed


def test_it_grades_from_another_thread(course: SmallCourse, kept: Grader) -> None:
    right, found = snapshot(course, SOLUTION), []
    thread = threading.Thread(target=lambda: found.append(kept.grade(right, Options(1, "process")).passed))
    thread.start()
    thread.join()
    assert found == [True]


def test_a_judge_that_is_killed_costs_one_test(course: SmallCourse, kept: Grader) -> None:
    right, mine = snapshot(course, SOLUTION), os.getpid()
    judges: list[int] = []

    def kill_first(_: object) -> None:
        if not judges:
            judges.extend(each for each in below(mine) if _is_fork_of(each, mine))
            for each in judges:
                os.kill(each, signal.SIGKILL)

    verdict = kept.grade(right, Options(1, "process"), kill_first)
    lost = [failure for row in verdict.criteria for failure in row.failures]
    assert judges and len(lost) <= 1 and not verdict.grader_fault
    assert all(failure.status == "crashed" and "signal 9" in failure.message for failure in lost)


def _is_fork_of(process: int, parent: int) -> bool:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes() == Path(f"/proc/{parent}/cmdline").read_bytes()
    except OSError:
        return False


def test_when_it_is_closed_nothing_of_it_runs(course: SmallCourse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zygote, "shared", really_shared)
    monkeypatch.setattr(zygote, "_shared", WeakValueDictionary())
    before = below(os.getpid())
    with Grader(course.course, course.stage, warm=True) as grader:
        assert grader.grade(snapshot(course, SOLUTION), Options(1, "process")).passed
        assert below(os.getpid()) - before
    assert not below(os.getpid()) - before


@pytest.mark.full_matrix
def test_where_nothing_forks_each_module_gets_a_judge_that_leaves_nothing(course: SmallCourse) -> None:
    before = below(os.getpid())
    with Grader(course.course, course.stage) as grader:
        for seed, source in enumerate((SOLUTION, WRONG)):
            verdict = grader.grade(snapshot(course, source), Options(seed, "process", fork=False))
            assert rows(verdict)["half"] == ("failed" if source == WRONG else "passed")
            assert not below(os.getpid()) - before

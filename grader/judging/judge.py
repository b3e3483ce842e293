"""The life of a judge: bounded before it meets anything of a learner's, it loads the module, judges, and tells."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.errors import CourseError, IsolationRefused
from grader.isolation.tiers import Tier
from grader.isolation.workers import Workers
from grader.judging.assessment import Assessor
from grader.judging.processes import bounds
from grader.judging.processes.messages import JudgeGone, Messages
from grader.judging.processes.slate import Slate
from grader.judging.session import Session
from grader.judging.suite import Suite
from grader.judging.task import Swelled, Task
from grader.remote.processes.loading import Job, LoadFailed
from grader.remote.processes.process import LearnerProcess

if TYPE_CHECKING:
    from grader.diagnosis.diagnostician import Diagnostician
    from grader.judging.plan import Plan


@dataclass(frozen=True)
class Charge:
    """All that one judge works on: the suite, the task, the module, where to begin, and what explains wrong answers.

    doubted says that the judge before it ended in the first test, so that only the reference runs that one. done holds
    the places of tests that have an outcome. plan is what the tests ask with this seed, where that is known.
    """

    suite: Suite
    task: Task
    job: Job
    tier: Tier
    fork: bool
    answers: Callable[[], Diagnostician] | None
    slate: Slate
    first: int = 0
    doubted: bool = False
    slow_rows: frozenset[str] = field(default_factory=frozenset)
    done: frozenset[int] = frozenset()
    plan: Plan | None = None


def judge(charge: Charge, messages: Messages, workers: Workers) -> None:
    """Load the module, run the tests from the first on, and tell what came of each; the last message is "done"."""
    process = LearnerProcess(charge.job, charge.tier, workers, charge.fork)
    try:
        assessor = Assessor(charge.suite.stage, charge.job, charge.answers)
        session = Session(charge.suite, charge.task, process, assessor, charge.slate, charge.plan)
        session.slow_rows.update(dict.fromkeys(charge.slow_rows, -1))
        with charge.suite.in_place():
            _hear(charge, session, messages)
        messages.send("done")
    except LoadFailed as failed:
        messages.send("problem", failed.problem)
    except IsolationRefused as refused:
        messages.send("refused", refused.message, refused.hint)
    except CourseError as error:  # the answers of the course cannot be read
        messages.send("course", error.message)
    except (MemoryError, Swelled):
        messages.send("swelled")
    except JudgeGone:
        pass
    except Exception as error:
        messages.send("fault", f"the grader failed: {type(error).__name__}: {error}"[:1500])
    finally:
        bounds.bound_time(0)
        with suppress(OSError):
            process.kill()


def _hear(charge: Charge, session: Session, messages: Messages) -> None:
    """Settle the doubt about a test, before anything of the learner's is here; then load the module and judge it."""
    items = charge.suite.chosen(charge.task.only, charge.task.first)
    session.giving.begin()
    try:
        first = charge.first
        if charge.doubted:
            messages.send("reference", first, session.doubt(items, first))
            first += 1
        charge.slate.at("loading", first)
        bounds.bound_time(bounds.TEST_SECONDS)
        session.process.load()
        messages.send("loaded", sorted(_wanted(charge.suite) & set(session.process.names)))
        if charge.task.hunt is not None:
            session.first_failure(items, messages)
            return
        session.run(items, messages, charge.done | ({charge.first} if charge.doubted else set()))
    finally:
        session.giving.end()


def _wanted(suite: Suite) -> set[str]:
    return {name for row in suite.stage.criteria for name in row.functions}

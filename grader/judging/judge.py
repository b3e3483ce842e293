"""The life of a judge: bounded before it meets anything of a learner's, it loads the module, judges, and tells."""

from __future__ import annotations

from contextlib import suppress

from grader.errors import CourseError, IsolationRefused
from grader.isolation.workers import Workers
from grader.judging import bounds
from grader.judging.messages import JudgeGone, Messages
from grader.judging.outcomes import Assessor
from grader.judging.pytest_suite import Suite
from grader.judging.session import Session
from grader.judging.task import JudgeOutOfMemory, JudgeTask
from grader.sandbox.process import LearnerProcess, LoadFailed


def judge(task: JudgeTask, messages: Messages, workers: Workers) -> None:
    """Load the module, run the tests from the first on, and tell what came of each; the last message is "done"."""
    process = LearnerProcess(task.job, task.tier, workers, task.fork)
    try:
        session = Session(task, process, Assessor(task.suite.stage, task.job, task.answers), workers)
        with task.suite.in_place():
            _hear(task, session, messages)
        messages.send("done")
    except LoadFailed as failed:
        messages.send("problem", failed.problem)
    except IsolationRefused as refused:
        messages.send("refused", refused.message, refused.hint)
    except CourseError as error:  # the answers of the course cannot be read
        messages.send("course", error.message)
    except (MemoryError, JudgeOutOfMemory):
        messages.send("swelled")
    except JudgeGone:
        pass
    except Exception as error:
        messages.send("fault", f"the grader failed: {type(error).__name__}: {error}"[:1500])
    finally:
        bounds.bound_time(0)
        with suppress(OSError):
            process.kill()


def _hear(task: JudgeTask, session: Session, messages: Messages) -> None:
    """Settle the doubt about a test, before anything of the learner's is here; then load the module and judge it."""
    items = task.suite.in_order(task.rows_first)
    session.provider.begin()
    try:
        first = task.first
        if task.doubted:
            messages.send("reference", first, session.doubt(items, first))
            first += 1
        task.shared.at("loading", first)
        bounds.bound_time(bounds.TEST_SECONDS)
        session.process.load()
        messages.send("loaded", sorted(_wanted(task.suite) & set(session.process.names)))
        if task.first_failure is not None:
            session.first_failure(items, messages)
            return
        session.run(items, messages, task.done | ({task.first} if task.doubted else set()))
    finally:
        session.provider.end()


def _wanted(suite: Suite) -> set[str]:
    return {name for row in suite.stage.criteria for name in row.functions}

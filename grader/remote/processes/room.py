"""Whose processes leave no room to start one for a test: counted here, never asked of a learner's process."""

from __future__ import annotations

from grader.remote.exceptions import WorkerFailed

FEW = 16  # tasks of a run whose module starts none: a supervisor, the worker, two tests, and what the tier adds


def failure(own: int, others: int, most: int, label: str) -> WorkerFailed:
    """Return why no process was started: own and others are tasks that run, most how many the kernel lets there be.

    A worker can say without reason that there is no room: then its process failed, and nothing else.
    """
    if own > FEW:
        held = f"{label} holds about {own} processes and threads, where a run may have {most - others}"
        return WorkerFailed("over_limit", f"{held}: no room is left to start this test")
    if own + others >= most:
        held = f"other processes of the user that runs submissions here take up all room ({others} of {most})"
        return WorkerFailed("grader_fault", f"{held}, so that this test could not begin")
    return ended(label)


def ended(label: str) -> WorkerFailed:
    """Return what is said where the process that loaded a module starts no test, and nothing else explains it."""
    return WorkerFailed("crashed", f"the process that loaded {label} did not start this test")

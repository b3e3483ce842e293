"""The tier process: a separate process with limits and an empty environment; the file system stays readable."""

from __future__ import annotations

from pathlib import Path

from grader.isolation import users
from grader.isolation.tier import Tier


class Process(Tier):
    """Works everywhere, for one's own code."""

    name = "process"
    strength = 10
    needs_fork = False
    filters_calls = False
    shares_start = True
    promises = {  # noqa: RUF012  # a table
        "files of the course, tests and other submissions": "**readable** by whoever the grader runs as",
        "writing": "what the grader's user may write, **if** the grader does not run as root",
        "network": "**open**",
        "two runs at once": (
            "processes as in `landlock`; what a run leaves in `/tmp`, `/var/tmp` and `/dev/shm` is removed where the "
            "grader is started as root, and **stays** elsewhere, since its files are the user's own"
        ),
        "other processes": "the grader cannot be inspected; **others of its user can**",
        "other programs": "**can** be started",
        "system calls that nothing needs, namespaces of its own among them": "not promised",
        "for whom": "a learner's own code, on their own machine",
    }

    def available(self) -> str | None:
        return None

    def covered(self, hide: Path) -> str:
        return ""

    def shortfall(self) -> str | None:
        return users.shortfall()

"""The processes that grade a class are forks of the tests' own process, which has imported all that they need.

The grader starts interpreters for them, each half a second of a processor; the tests of its pool have those.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from grader.gradebook import process_pool as pool
from grader.isolation import tiers

started = multiprocessing.get_context


class Forking:
    """As much of a context of multiprocessing as the pool uses."""

    Pipe = staticmethod(multiprocessing.Pipe)

    @staticmethod
    def Process(target: Callable[..., None], args: tuple[Any, ...], daemon: bool) -> Any:
        return multiprocessing.get_context("fork").Process(target=_apart, args=(target, *args), daemon=daemon)


def _apart(target: Callable[..., None], pipe: Connection, *rest: Any) -> None:
    """Call a function without the files of the process that was forked: one that waits for their end comes to it."""
    kept = pipe.fileno()
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))
    target(pipe, *rest)


def fork_pools() -> None:
    """Have the processes of pools forked from now on."""
    if tiers.FORKS:
        setattr(pool, "get_context", lambda method: Forking)  # noqa: B010  # a function of a module is no variable

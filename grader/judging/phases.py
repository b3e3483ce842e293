"""The phases of one test, set up, called and taken down as pytest does it, without the reports that nobody reads.

A report tells where the test stands and shows its exception, line by line; making one takes about as long as a small
test. Here an exception is kept as it is, so that only tests whose end a report decides go pytest's own way.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeGuard

import pytest


class Attempt(Protocol):
    """Keeps what came of a test."""

    error: BaseException | None
    phases: set[str]


def is_plain(item: pytest.Item) -> TypeGuard[pytest.Function]:
    """Say whether a test's exception and its phases tell its end: no report turns it into another."""
    return type(item) is pytest.Function and "subtests" not in item.fixturenames and not _expects_failure(item)


def run(item: pytest.Function, following: pytest.Item | None, attempt: Attempt) -> None:
    """Run the phases of a plain test, with all hooks that a plugin may have for them, and keep what came of each.

    pytest.exit and KeyboardInterrupt pass through, as in pytest's own protocol.
    """
    if not item._request:
        item._initrequest()  # what its last run used was forgotten
    hook = item.ihook
    try:
        if _ends("setup", partial(hook.pytest_runtest_setup, item=item), attempt):
            _ends("call", partial(hook.pytest_runtest_call, item=item), attempt)
            if _expects_failure(item):  # the test itself has said so meanwhile; that it passes is then no pass
                attempt.phases.discard("call")
        _ends("teardown", partial(hook.pytest_runtest_teardown, item=item, nextitem=following), attempt)
    finally:
        item._request = False  # type: ignore[assignment]
        item.funcargs = None  # type: ignore[assignment]


def _ends(phase: str, step: Callable[[], Any], attempt: Attempt) -> bool:
    """Take one step; say whether it came to its end, and keep the first exception of the test."""
    try:
        step()
    except (pytest.exit.Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        attempt.error = error if attempt.error is None else attempt.error
        return False
    attempt.phases.add(phase)
    return True


def _expects_failure(item: pytest.Item) -> bool:
    return item.get_closest_marker("xfail") is not None

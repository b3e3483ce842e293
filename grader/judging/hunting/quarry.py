"""What is hunted: a changed form of a module, with the tests that may tell it from the module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from grader.judging.processes.plain import records
from grader.judging.suite import name_of
from grader.outcome import Call, Diagnosis, Gradient, Outcome, Where

RECORDS = records([Call, Diagnosis, Gradient, Outcome, Where])  # in which a judge tells what came of tests


@dataclass(frozen=True)
class Quarry:
    """A changed form of a module: its text, and the tests that may tell it from the module, in the order to try them.

    Without tests all are tried, in the order of the suite.
    """

    source: str
    tests: tuple[str, ...] | None = None


def chosen(items: Sequence[pytest.Item], tests: tuple[str, ...] | None) -> list[pytest.Item]:
    """Return the tests of these names in their order; all where none are named."""
    if tests is None:
        return list(items)
    known = {name_of(item): item for item in items}
    return [known[name] for name in tests if name in known]

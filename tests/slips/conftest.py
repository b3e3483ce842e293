"""The slips of a stage are graded in the process of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor

import pytest

from grader.authoring.proof import workers
from grader.course.manifest import load_course
from tests.support.places import ROOT


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with workers(load_course(ROOT), 0) as executor:
        yield executor

"""A verdict reaches the screen whole, with the counts of each kind of test."""

from __future__ import annotations

from dataclasses import replace

from grader.judging.task import packed, unpacked
from grader.tests.support.verdicts import RIGHT, TEXTBOOK, VERDICT
from grader.watching.kept import RECORDS


def test_a_verdict_with_kinds_comes_back_as_it_was() -> None:
    verdict = replace(VERDICT, criteria=(RIGHT, TEXTBOOK))
    found = unpacked(packed(verdict), RECORDS)
    assert found == verdict and found.criteria[1].lacks_robustness

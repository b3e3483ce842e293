"""What several commands of `grader class` say."""

from __future__ import annotations

import pytest

from grader.commands.classes.messages import tell_faults


def test_reasons_that_differ_in_numbers_alone_are_one(capsys: pytest.CaptureFixture[str]) -> None:
    tell_faults([(f"s{at}", f"test_two: expected {at}.25e-3, got -{at}") for at in range(4)], "no mark.")
    told = " ".join(capsys.readouterr().err.split())
    assert told.count("test_two") == 1 and "s0, s1, s2, s3: test_two: expected 0.25e-3, got -0, here for s0" in told
    tell_faults([(name, f"the disk of {name} is full") for name in "abcd"], "no mark.")
    assert capsys.readouterr().err.endswith("and 1 more reason\n")

"""Records become plain values and come back equal."""

from __future__ import annotations

import msgpack
import numpy as np
import pytest

from grader.judging.task import packed, records, unpacked
from grader.outcome import Diagnosis, Outcome, Where
from grader.submission.parsing import Problem

RECORDS = records([Diagnosis, Outcome, Problem, Where, 3, "text"])
OUTCOME = Outcome(
    "test", "row", True, "failed", "m\ud800", "f(1)", Where("f.py", 3), None, (Diagnosis("a", "row", "t", "f"),),
    ("n",), 0.5, "why",
)  # fmt: skip


@pytest.mark.parametrize(
    "value", [OUTCOME, Problem("missing", "m", None, None), (1, (2.5, None), True), {"a": (1,)}, (), "text"]
)
def test_what_is_packed_comes_back_equal(value: object) -> None:
    body = msgpack.packb(packed(value), unicode_errors="surrogatepass")
    assert unpacked(msgpack.unpackb(body, unicode_errors="surrogatepass"), RECORDS) == value


def test_numbers_of_numpy_become_pythons() -> None:
    found = packed((np.float64(0.5), np.int64(3), np.bool_(True)))
    assert found == [0.5, 3, True] and [type(each) for each in found] == [float, int, bool]


def test_only_records_are_known_by_name() -> None:
    assert sorted(RECORDS) == ["Diagnosis", "Outcome", "Problem", "Where"]
    with pytest.raises(KeyError, match="Where"):
        unpacked(packed(Where("f.py", 3)), records([Outcome]))

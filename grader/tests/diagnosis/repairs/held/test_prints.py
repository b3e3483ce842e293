"""Values are told apart by shape and sums; sizes by their order and their number as well."""

from __future__ import annotations

from typing import Any

from grader.diagnosis.repairs.held.prints import print_of
from grader.diagnosis.repairs.held.seen import stood_in


def test_sizes_are_told_apart_by_their_order_and_number() -> None:
    forms: list[Any] = [["sizes", 0, each] for each in ([], [0], [2, 3], [3, 2], [1, 4], [2, 3, 0])]
    assert [stood_in(each) for each in forms[:3]] == [(), (0,), (2, 3)]
    prints = [known for each in forms if (known := print_of(each)) is not None]
    assert len(prints) == len(forms)
    assert not any(a.is_like(b) for n, a in enumerate(prints) for b in prints[n + 1 :])
    assert print_of(["sizes", 0, ["2"]]) is None

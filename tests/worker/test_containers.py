"""What a call changed in its arguments is told; what it left alone is not."""

from __future__ import annotations

import numpy as np
import pytest

from grader.worker.containers import Before


@pytest.mark.parametrize("size", [4, 20_000])
def test_an_array_that_changed_is_told_with_its_content(size: int) -> None:
    first, second = np.zeros(size), np.zeros(size)
    before = Before([first, second])
    assert before.changes() == []
    second[-1] = 7
    ((place, content),) = before.changes()
    assert place == 1 and content[-1] == 7 and content is not second


def test_containers_are_compared_by_their_members() -> None:
    items, table, group = [1, 2], {"a": 1}, {1}
    before = Before([items, table, group])
    items[0] = 3
    table["b"] = 2
    assert before.changes() == [(0, (3, 2)), (1, ("a", 1, "b", 2))]


def test_a_generator_that_was_drawn_from_is_told_with_its_state() -> None:
    rng = np.random.default_rng(1)
    before = Before([rng])
    assert before.changes() == []
    rng.random()
    assert [place for place, _ in before.changes()] == [0]

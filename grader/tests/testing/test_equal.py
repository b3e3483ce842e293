"""Values that are not arrays: equal, or with the path that leads to the difference."""

from __future__ import annotations

import numpy as np
import pytest

from grader.testing import Mismatch, assert_equal
from grader.tests.testing.refusing import refused


class TestAssertEqual:
    def test_equal_values_pass(self) -> None:
        assert_equal((np.int64(2), ["a", None]), [2, ("a", None)])

    def test_the_path_leads_to_the_difference(self) -> None:
        error = refused(assert_equal, {"loss": [1, 2]}, {"loss": [1, 3]}, name="history")
        assert (str(error), error.name) == ("history['loss'][1]: expected 3, got 2", "history['loss'][1]")

    def test_without_a_path_the_message_stands_alone(self) -> None:
        assert str(refused(assert_equal, True, 1)) == "an int was expected, a bool (True) came back"


def test_a_value_that_contains_itself_is_a_mismatch() -> None:
    first: list[object] = []
    second: list[object] = []
    first.append(first)
    second.append(second)
    with pytest.raises(Mismatch, match="contains itself"):
        assert_equal(first, second)

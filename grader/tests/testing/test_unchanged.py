"""Arguments that a function may not change, held before and after."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.testing import Mismatch, unchanged
from grader.tests.testing.refusing import X, refused


class TestUnchanged:
    def test_arguments_that_stay_as_they_are_pass(self) -> None:
        with unchanged(X, np.zeros((0, 3)), np.array(1.0), X.T, np.array([np.nan])):
            pass

    @staticmethod
    def change(change: Any, *arrays: Any) -> str:
        def block() -> None:
            with unchanged(*arrays):
                change(*arrays)

        return str(refused(block))

    def test_the_changed_argument_has_the_name_that_it_has_around(self) -> None:
        scores, weights = X.copy(), X.copy()
        with pytest.raises(Mismatch, match=r"^weights was changed in place: 1 of 6 values"), unchanged(scores, weights):
            weights[0, 0] = 9.0

    def test_one_without_a_name_is_one_of_several(self) -> None:
        message = self.change(lambda x, y: y.__setitem__(0, 9.0), X.copy(), X.copy())
        assert message == (
            "one of the arguments was changed in place: "
            "3 of 6 values, first at [0, 0]: it was 1.0 and is 9.0 now; work on a copy"
        )

    def test_a_lone_argument_needs_no_name(self) -> None:
        message = self.change(lambda x: x.fill(3.0), np.array(1.0))
        assert message == "the argument was changed in place: it was 1.0 and is 3.0 now; work on a copy"

    def test_even_the_sign_of_zero_counts(self) -> None:
        assert "was 0.0 and is -0.0 now" in self.change(lambda x: np.negative(x, out=x), np.zeros(3))

    def test_another_shape_is_told(self) -> None:
        assert "its shape was (2, 3) and is (3, 2) now" in self.change(
            lambda x: x.resize((3, 2), refcheck=False), X.copy()
        )

    def test_a_change_through_a_view_is_seen(self) -> None:
        whole = np.zeros((4, 4))
        assert "1 of 4 values, first at [2]" in self.change(lambda column: whole.__setitem__((2, 1), 5.0), whole[:, 1])

    def test_an_exception_inside_passes_through(self) -> None:
        x = X.copy()
        with pytest.raises(KeyError), unchanged(x):
            x[0] = 9
            raise KeyError

    def test_what_is_no_array_is_a_fault_of_the_test(self) -> None:
        with pytest.raises(TypeError, match="not a list"), unchanged([1, 2]):  # type: ignore[arg-type]  # on purpose
            pass

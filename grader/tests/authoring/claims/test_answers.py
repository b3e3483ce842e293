"""What a stage's answers lack: mistakes, alternatives, and solutions without forbidden names."""

from __future__ import annotations

import pytest

from grader.authoring.claims import _can_be_replaced, _is_private, claims
from grader.tests.authoring.claims.shortfalls import ANSWERS, found, line_of, one
from grader.tests.conftest import SmallCourse
from grader.tests.support.good_stage import LOOPS, MISTAKES, SOLUTION

A_THIRD = "def a_third(x):\n    return x / 3\n"


class TestMistakes:
    def test_a_row_with_fewer_than_three(self, small_course: SmallCourse) -> None:
        text = MISTAKES[: MISTAKES.rindex("@mistake")]
        place, message = one(small_course, mistakes=text)
        assert place == f"{ANSWERS}/mistakes.py" and message == "row half has 2 known mistakes, expected at least 3"

    def test_a_mistake_about_an_unknown_row(self, small_course: SmallCourse) -> None:
        more = '\n\n@mistake(criterion="third", replaces="half", text="t", fix="f")\n' + A_THIRD
        place, message = one(small_course, mistakes=MISTAKES + more)
        line = line_of(MISTAKES + more, "def a_third")
        assert (place, message) == (f"{ANSWERS}/mistakes.py:{line}", "a-third: no row is called third")

    def test_a_mistake_that_replaces_what_is_not_there(self, small_course: SmallCourse) -> None:
        more = '\n\n@mistake(criterion="half", replaces="third", text="t", fix="f")\n' + A_THIRD
        place, message = one(small_course, mistakes=MISTAKES + more)
        assert message == "a-third: the solution does not define third" and place.startswith(f"{ANSWERS}/mistakes.py:")

    @pytest.mark.parametrize("name", ["Layer", "Layer.run", "Layer._own", "_helper", "Layer.__setattr__"])
    def test_what_a_mistake_can_stand_in_for(self, name: str) -> None:
        assert _can_be_replaced(name, {"Layer", "Layer.run", "Layer._own", "_helper"})

    @pytest.mark.parametrize("name", ["Other.__setattr__", "Layer.walk", "__init__"])
    def test_what_a_mistake_cannot_stand_in_for(self, name: str) -> None:
        assert not _can_be_replaced(name, {"Layer", "Layer.run"})

    @pytest.mark.parametrize(("name", "private"), [("_half", True), ("Layer._run", True), ("Layer.__init__", False)])
    def test_what_is_private_is_no_part_of_the_contract(self, name: str, private: bool) -> None:
        assert _is_private(name) is private


class TestAlternatives:
    def test_too_few(self, small_course: SmallCourse) -> None:
        assert one(small_course, loops=None) == (
            f"{ANSWERS}/alternatives/",
            "2 alternative solutions, expected at least 3",
        )

    def test_two_that_are_one_program_in_other_words(self, small_course: SmallCourse) -> None:
        same = LOOPS.replace("With loops.", "In another way.").replace("len(x))\n", "len(x))  # filled below\n\n")
        (shortfall,) = found(small_course, {"hidden/alternatives/more.py": same})
        small_course.hidden.joinpath("alternatives", "more.py").unlink()
        assert shortfall.place == f"{ANSWERS}/alternatives/more.py"
        assert shortfall.message == "alternatives/more is the same program as alternatives/loops"

    def test_one_that_is_the_solution(self, small_course: SmallCourse) -> None:
        place, message = one(small_course, loops=SOLUTION.replace("Sums of rows.", "Another way."))
        assert place == f"{ANSWERS}/alternatives/loops.py"
        assert message == "alternatives/loops is the same program as the solution"


class TestForbidden:
    def test_a_mistake_that_uses_a_forbidden_name(self, small_course: SmallCourse) -> None:
        text = MISTAKES.replace("return x.sum()", "return np.linalg.norm(x)")
        place, message = one(small_course, mistakes=text)
        assert place == f"{ANSWERS}/mistakes.py:{line_of(text, 'def sum_of_all')}"
        assert message.startswith("mistakes/sum-of-all: numpy.linalg")  # its line is in the place, and no other
        assert not message.endswith(".")

    def test_mistakes_may_be_left_out(self, small_course: SmallCourse) -> None:
        assert found(
            small_course, {"hidden/mistakes.py": MISTAKES.replace("return x.sum()", "return np.linalg.norm(x)")}
        )
        assert list(claims(small_course.stage, in_mistakes=False)) == []

    def test_an_alternative_that_uses_one(self, small_course: SmallCourse) -> None:
        place, message = one(small_course, loops=LOOPS.replace("value / 2", "np.linalg.norm(value) / 2"))
        assert place == f"{ANSWERS}/alternatives/loops.py" and message.startswith("alternatives/loops: ")

    def test_every_mistake_does_where_the_solution_does(self, small_course: SmallCourse) -> None:
        text = SOLUTION.replace("x.sum(axis=1)", "x.sum(axis=1) + 0 * np.linalg.norm(x)")
        places = [each.place for each in found(small_course, {"hidden/solution.py": text})]
        assert places[0] == f"{ANSWERS}/solution.py" and len(places) == 7

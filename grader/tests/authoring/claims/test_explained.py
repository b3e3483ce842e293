"""What the README and the examples of a stage lack."""

from __future__ import annotations

import pytest

from grader.tests.authoring.claims.shortfalls import ANSWERS, STAGE, found, line_of, one, with_stub
from grader.tests.conftest import SmallCourse
from grader.tests.support.good_stage import README, SOLUTION


class TestReadme:
    @pytest.mark.parametrize("text", ["`total` only", None], ids=["one less", "none"])
    def test_a_readme_that_does_not_name_a_function(self, small_course: SmallCourse, text: str | None) -> None:
        shortfalls = found(small_course, {"stage/README.md": text})
        assert {each.place for each in shortfalls} == {f"{STAGE}/README.md"}
        assert "the README does not name half" in [each.message for each in shortfalls]

    def test_one_whose_steps_lack_a_row(self, small_course: SmallCourse) -> None:
        place, message = one(small_course, readme=README.replace("- [ ] half halves the total\n", ""))
        assert (place, message) == (f"{STAGE}/README.md", "row half belongs to no step of the README")

    def test_one_without_steps(self, small_course: SmallCourse) -> None:
        place, message = one(small_course, readme=README.partition("## Sums")[0])
        assert (place, message) == (f"{STAGE}/README.md", "the README has no steps")

    def test_one_that_shows_no_numbers(self, small_course: SmallCourse) -> None:
        place, message = one(small_course, readme=README.replace(">>>", "a session of"))
        assert (place, message) == (f"{STAGE}/README.md", "the README works no example")

    def test_one_that_teaches_a_wrong_number(
        self, small_course: SmallCourse, capsys: pytest.CaptureFixture[str]
    ) -> None:
        place, message = one(small_course, readme=README.replace("[3.0]", "[3.1]"))
        assert place == f"{STAGE}/README.md"
        assert message.startswith("an example is not right: ") and message.endswith("Expected: [3.1] Got: [3.0]")
        assert capsys.readouterr().out == ""


class TestExamples:
    def test_a_docstring_without_one(self, small_course: SmallCourse) -> None:
        text = SOLUTION.replace(
            "Return half of the sum of each row.\n\n    Example:\n        >>> half(np.array([[1.0, 2.0]]))\n"
            "        array([1.5])\n",
            "Return half of the sum of each row.\n",
        )
        place, message = one(small_course, **with_stub(text))
        assert place == f"{ANSWERS}/solution.py:{line_of(text, 'def half')}"
        assert message == "the docstring of half has no example"

    def test_one_in_words_is_enough(self, small_course: SmallCourse) -> None:
        text = SOLUTION.replace(">>> half(np.array([[1.0, 2.0]]))\n        array([1.5])", "1 and 2 give 1.5.")
        assert found(small_course, {"hidden/solution.py": text, "stage/small.py": with_stub(text)["stub"]}) == []

    def test_one_that_is_wrong(self, small_course: SmallCourse, capsys: pytest.CaptureFixture[str]) -> None:
        place, message = one(small_course, **with_stub(SOLUTION.replace("array([1.5])", "array([1.6])")))
        assert place == f"{ANSWERS}/solution.py" and message.endswith(".half is not right")
        assert capsys.readouterr().out == ""

    def test_one_that_raises(self, small_course: SmallCourse) -> None:
        _, message = one(small_course, **with_stub(SOLUTION.replace(">>> half(", ">>> halve(")))
        assert message.endswith(".half is not right")

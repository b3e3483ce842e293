"""What a learner is told of a test: the call, the exception with its line and meaning, and what was printed."""

from __future__ import annotations

import pytest

from tests.conftest import SmallCourse
from tests.judging.session.doubling import MANIFEST, PUBLIC, REST, changed, joined, with_hidden

pytestmark = pytest.mark.usefixtures("brief_search")


class TestLearners:
    def test_none_where_an_array_was_to_come(self, course: SmallCourse) -> None:
        found = course.grade(changed("return 2 * x", "2 * x")).outcomes
        assert found["test_parameter[x0]"].status == "failed"
        assert "could not be used: TypeError" in found["test_parameter[x0]"].message
        assert found["test_array"].status == "failed"

    def test_an_exception_names_the_learners_line(self, course: SmallCourse) -> None:
        found = course.grade(changed("return 2 * x", "return 2 * x / missing")).outcomes["test_array"]
        assert found.status == "failed" and "NameError: name 'missing' is not defined" in found.message
        assert "line 7: return 2 * x / missing" in found.message and found.where is not None and found.where.line == 7
        assert "grader" not in found.message

    def test_an_exception_is_told_with_what_it_means_there(self, course: SmallCourse) -> None:
        found = course.grade(
            "def double(x):\n    return x @ x.reshape(1, -1).T[:1]\n\ndef fill(x):\n    pass\n"
        ).outcomes
        assert (
            found["test_array"].message.startswith("ValueError: matmul: ")
            and "A matrix product" in found["test_array"].help
        )
        found = course.grade("def double():\n    pass\n\ndef fill(x):\n    pass\n").outcomes
        assert found["test_array"].message == "TypeError: double() takes 0 positional arguments but 1 was given"
        assert found["test_array"].help == "double is defined as double() in line 1."

    def test_another_exception_than_the_expected_one_is_told_beside_it(self, course: SmallCourse) -> None:
        hidden = """
            @pytest.mark.criterion("double")
            def test_refused(learner):
                with pytest.raises(TypeError):
                    learner.double(None)
        """
        graded = with_hidden(course, hidden).grade(changed("return 2 * x", "return 2 * x if x is not None else [][3]"))
        said = "TypeError was expected, but the call raised IndexError: list index out of range"
        assert graded.outcomes["test_refused"].message.startswith(said)

    def test_the_call_that_gave_the_wrong_value_is_shown(self, course: SmallCourse) -> None:
        hidden = """
            @pytest.mark.criterion("double")
            def test_both(learner):
                first, second = learner.double(np.ones(2)), learner.quadruple(np.ones(3))
                assert_array(first, [2.0, 2.0])
        """
        graded = with_hidden(course, hidden).grade(changed("return 2 * x", "return 3 * x"))
        assert graded.outcomes["test_both"].call == "double(x: float64 (2,) [1, 1])"

    def test_a_function_of_the_tests_that_is_called_wrongly(self, course: SmallCourse) -> None:
        hidden = """
            @pytest.mark.criterion("double")
            def test_given(learner):
                assert learner.double(lambda factor: factor) == 2
        """
        source = changed("return 2 * x", "return x(1, 2) if callable(x) else 2 * x")
        course.write(
            manifest=MANIFEST,
            solution=changed("return 2 * x", "return x(2) if callable(x) else 2 * x"),
            public=PUBLIC,
            hidden=joined(hidden, REST),
        )
        message = course.grade(source).outcomes["test_given"].message
        assert message.startswith("double called the function that it was given in another way than agreed: TypeError")

    def test_output_is_a_note(self, course: SmallCourse) -> None:
        found = course.grade(changed("return 2 * x", "print('here', x.shape); return 2 * x")).outcomes["test_array"]
        assert found.status == "passed" and found.notes == ("printed: here (2, 3)",)

    @pytest.mark.parametrize(
        ("source", "kind", "said"),
        [
            ("def double(x:\n", "syntax", "line 1"),
            ("import msgpack\n", "import", "msgpack"),
            ("x = 1\nraise ValueError('at the top')\n", "import-error", "ValueError: at the top"),
            ("x = 1\n", "missing", "defines none of this stage's functions"),
        ],
    )
    def test_a_module_that_cannot_be_graded_gets_one_message(
        self, course: SmallCourse, source: str, kind: str, said: str
    ) -> None:
        verdict = course.grade(source).verdict
        assert verdict.problem is not None and verdict.problem.kind == kind and not verdict.passed
        assert said in f"{verdict.problem.message} line {verdict.problem.line}"

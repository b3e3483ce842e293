"""No fault of the course is the learner's: a test that is at fault passes nothing and fails nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Graded, SmallCourse
from tests.judging.session.doubling import HIDDEN, MANIFEST, PUBLIC, REST, SOLUTION, changed, joined, with_hidden

pytestmark = pytest.mark.usefixtures("brief_search")


def fault(course: SmallCourse, hidden: str, source: str = SOLUTION) -> Graded:
    """Grade with hidden tests that are the course's mistake; it must never pass and never be the learner's."""
    graded = with_hidden(course, hidden).grade(source)
    assert not graded.verdict.passed and graded.verdict.grader_fault
    return graded


XFAIL = """
@pytest.mark.xfail
@pytest.mark.criterion("double")
def test_odd(learner):
    assert learner.double(1) == {}
"""
BAD_FIXTURE = """
@pytest.fixture
def bad():
    raise OSError("the fixture")


@pytest.mark.criterion("double")
def test_odd(bad, learner):
    pass
"""


class TestCourseFaults:
    @pytest.mark.parametrize(
        "broken",
        [
            "@pytest.mark.skip\n@pytest.mark.criterion('double')\ndef test_odd(learner): pass",
            "@pytest.mark.criterion('double')\ndef test_odd(learner): pytest.skip('later')",
            XFAIL.format(2),
            XFAIL.format(3),
            "@pytest.mark.xfail(run=False)\n@pytest.mark.criterion('double')\ndef test_odd(learner): pass",
            "@pytest.mark.criterion('double')\ndef test_odd(learner): assert learner.double(1) == 3",
            "@pytest.mark.criterion('double')\ndef test_odd(learner): undefined",
            "@pytest.mark.criterion('double')\ndef test_odd(nonsense): pass",
            "@pytest.mark.criterion('double')\ndef test_odd(): assert False",
            "@pytest.mark.criterion('double')\ndef test_odd(learner): learner.double(object())",
            "@pytest.mark.criterion('double')\ndef test_odd(learner): learner.quadruple(np.array([None]))",
            BAD_FIXTURE,
            "@pytest.mark.criterion('double')\n@pytest.mark.parametrize('x', [])\ndef test_odd(learner, x): pass",
        ],

        ids=["skip", "skip within", "xpass", "xfail", "xfail not run", "reference fails", "name error",
             "no fixture", "no learner", "unsendable", "object array", "fixture fails", "no parameters"],
    )  # fmt: skip
    @pytest.mark.some_of(4)
    def test_a_test_that_is_at_fault(self, course: SmallCourse, broken: str) -> None:
        graded = fault(course, joined(broken, REST))
        found = next(outcome for name, outcome in graded.outcomes.items() if name.startswith("test_odd"))
        assert (found.status, graded.row("double")) == ("grader_fault", "grader_fault"), found
        assert graded.row("quadruple") == graded.row("fill") == "passed"

    def test_the_fault_stays_ours_where_the_learner_is_wrong_too(self, course: SmallCourse) -> None:
        broken = "@pytest.mark.criterion('double')\ndef test_odd(learner): assert learner.double(1) == 3"
        graded = fault(course, joined(broken, REST), changed("return 2 * x", "return 5 * x"))
        assert graded.outcomes["test_odd"].status == "grader_fault"

    @pytest.mark.parametrize(
        ("broken", "said"),
        [
            ("def test_odd(learner): pass", "belongs to no criterion"),
            ("@pytest.mark.criterion('tripple')\ndef test_odd(learner): pass", "tripple"),
            (
                "@pytest.mark.criterion('double')\n@pytest.mark.criterion('fill')\ndef test_odd(learner): pass",
                "belongs to no criterion",
            ),
            ("raise OSError('while collected')", "while collected"),
            ("def (:", "cannot be collected"),
            ("pytest.skip('the whole file', allow_module_level=True)", "cannot be collected"),
        ],
        ids=["unmarked", "unknown row", "two rows", "raises", "syntax", "file skips itself"],
    )
    @pytest.mark.some_of(4)
    def test_a_file_or_test_that_belongs_nowhere(self, course: SmallCourse, broken: str, said: str) -> None:
        assert any(said in text for text in fault(course, joined(REST, broken)).verdict.faults)

    def test_two_tests_of_one_name_are_not_told_apart(self, course: SmallCourse) -> None:
        course.write(manifest=MANIFEST, solution=SOLUTION, public=PUBLIC, hidden=HIDDEN)
        twin = course.hidden / "test_small.py"
        twin.write_text(
            "import pytest\n@pytest.mark.criterion('double')\n"
            "class TestDouble:\n    def test_array(self, learner): pass\n"
        )
        try:
            graded = course.grade(changed("return 2 * x", "return 3 * x"))
        finally:
            twin.unlink()
        assert graded.verdict.grader_fault and any("twice" in text for text in graded.verdict.faults)

    def test_answers_that_cannot_be_read_are_named(self, course: SmallCourse) -> None:
        (course.hidden / "mistakes.py").unlink()
        verdict = course.grade(changed("return 2 * x", "return 3 * x")).verdict
        assert verdict.grader_fault and any("s90_small/mistakes.py cannot be read" in text for text in verdict.faults)

    def test_a_row_without_hidden_tests_does_not_pass(self, course: SmallCourse) -> None:
        graded = fault(course, REST)
        assert graded.row("double") == "grader_fault"

    def test_a_hidden_file_without_a_test(self, course: SmallCourse) -> None:
        with_hidden(course, HIDDEN)
        (course.hidden / "test_empty.py").write_text("")
        verdict = course.grade(SOLUTION).verdict
        assert not verdict.passed and any("test_empty.py" in text for text in verdict.faults)

    def test_the_environment_and_configuration_of_the_caller_do_not_matter(
        self, course: SmallCourse, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("PYTEST_ADDOPTS", "-k nothing --maxfail=1")
        monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
        for folder in (course.root, course.stage_folder, course.stage_folder / "tests", course.hidden):
            (folder / "conftest.py").write_text("raise OSError('a conftest of a learner')")
        (course.root / "pytest.ini").write_text("[pytest]\naddopts = -k nothing\n")
        monkeypatch.chdir(course.root)
        try:
            assert course.grade(SOLUTION).verdict.passed
        finally:
            for path in [*course.root.rglob("conftest.py"), course.hidden / "conftest.py", course.root / "pytest.ini"]:
                path.unlink()

"""How each test of a stage ends: nothing passes by default, and no fault of the course is the learner's."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.isolation import tiers
from grader.tests.conftest import Graded, SmallCourse
from grader.tests.pace.matrix import why_missing

pytestmark = pytest.mark.usefixtures("brief_search")

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Small things"
    module = "small.py"
    requires = []

    [limits]
    stage_seconds = 30
    call_seconds = 1
    memory_mb = 256

    [axes]
    double = { x = "batch features", returns = "batch features" }

    [[criteria]]
    id = "double"
    text = "double doubles"
    functions = ["double"]
    needs = []
    hints = ["a", "b", "c"]

    [[criteria]]
    id = "quadruple"
    text = "quadruple doubles twice"
    functions = ["quadruple"]
    needs = ["double"]
    hints = ["a", "b", "c"]

    [[criteria]]
    id = "fill"
    text = "fill changes its argument"
    functions = ["fill"]
    needs = []
    hints = ["a", "b", "c"]
"""

SOLUTION = '''
    import numpy as np


    def double(x):
        """Twice x."""
        return 2 * x


    def quadruple(x):
        return double(double(x))


    def fill(out):
        out[...] = 1
'''

PUBLIC = """
    X = np.arange(6.0).reshape(2, 3)


    @pytest.mark.criterion("double")
    class TestDouble:
        def test_array(self, learner):
            assert_array(learner.double(X), [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]])

        def test_constant_is_as_it_was(self, learner):
            assert_array(X, [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
            assert_array(learner.double(X) * 1, [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]])

        @pytest.mark.parametrize("x", [np.ones(3)])
        def test_parameter(self, learner, x):
            assert_array(learner.double(x) + 1, [3.0, 3.0, 3.0])
"""

HIDDEN = """
    @pytest.mark.criterion("double")
    def test_random(learner, rng):
        x = rng.normal(size=(2, 3))
        assert_array(learner.double(x), x + x)


    @pytest.mark.criterion("quadruple")
    def test_quadruple(learner):
        assert_array(learner.quadruple(np.ones(2)), [4.0, 4.0])


    @pytest.mark.criterion("fill")
    @pytest.mark.changes_arguments
    def test_fill(learner):
        out = np.zeros(2)
        learner.fill(out)
        assert_array(out, [1.0, 1.0])
"""


@pytest.fixture
def course(small_course: SmallCourse) -> SmallCourse:
    """A course of three rows that its reference passes."""
    small_course.write(manifest=MANIFEST, solution=SOLUTION, public=PUBLIC, hidden=HIDDEN)
    return small_course


def with_hidden(course: SmallCourse, text: str) -> SmallCourse:
    """Replace the hidden tests."""
    course.write(manifest=MANIFEST, solution=SOLUTION, public=PUBLIC, hidden=text)
    return course


def changed(old: str, new: str) -> str:
    assert old in SOLUTION
    return SOLUTION.replace(old, new)


class TestLearners:
    @pytest.mark.parametrize("isolation", tiers.TIERS)
    def test_a_correct_module_passes(self, course: SmallCourse, isolation: tiers.Tier) -> None:
        if reason := why_missing(isolation):
            pytest.skip(f"tier {isolation} is missing here: {reason}")
        graded = course.grade(SOLUTION, isolation=isolation)
        assert graded.verdict.passed and not graded.verdict.grader_fault
        assert {row.id: (row.tests_passed, row.tests_total) for row in graded.verdict.criteria} == {
            "double": (4, 4),
            "quadruple": (1, 1),
            "fill": (1, 1),
        }
        assert (graded.verdict.run.isolation, graded.verdict.run.seed) == (isolation, 1)

    def test_without_fork(self, course: SmallCourse) -> None:
        assert course.grade(SOLUTION, fork=False).verdict.passed

    def test_a_wrong_value(self, course: SmallCourse) -> None:
        graded = course.grade(changed("return 2 * x", "return 3 * x"))
        found = graded.outcomes["test_array"]
        assert (
            found.status == "failed" and found.call == "double(x: float64 (batch 2, features 3) [[0, 1, 2], [3, 4, 5]])"
        )
        assert found.where is not None and found.where.line == 5 and found.where.file.endswith("handed_in.py")
        assert (
            graded.row("double") == "failed" and graded.row("quadruple") == "blocked" and graded.row("fill") == "passed"
        )
        assert not graded.verdict.passed

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

    def test_what_is_not_written_is_not_started_and_what_needs_it_waits(self, course: SmallCourse) -> None:
        graded = course.grade(changed("return 2 * x", "raise NotImplementedError('double')"))
        assert (graded.outcomes["test_array"].status, graded.row("double")) == ("not_started", "not_started")
        waiting = graded.outcomes["test_quadruple"]
        assert (waiting.status, waiting.waits_on, graded.row("quadruple")) == ("blocked", "double", "blocked")
        assert next(row.waits_for for row in graded.verdict.criteria if row.id == "quadruple") == ("double",)

    def test_a_helper_of_the_learners_own_that_is_not_written(self, course: SmallCourse) -> None:
        source = (
            changed("return 2 * x", "return helper(x)") + "\n    def helper(x):\n        raise NotImplementedError\n"
        )
        found = course.grade(source).outcomes["test_array"]
        assert (found.status, found.waits_on) == ("blocked", "helper")

    def test_a_function_that_is_missing(self, course: SmallCourse) -> None:
        graded = course.grade(changed("def fill", "def fil"))
        assert (
            graded.outcomes["test_fill"].status == "failed"
            and "does not define fill" in graded.outcomes["test_fill"].message
        )
        assert graded.row("double") == "passed"

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

    def test_an_argument_changed_in_place(self, course: SmallCourse) -> None:
        """It fails the test that it was found in; constants and parameters are as they were for everybody else."""
        graded = course.grade(changed("return 2 * x", "x *= 2; return x"))
        for name in ("test_array", "test_constant_is_as_it_was", "test_parameter[x0]", "test_random"):
            assert graded.outcomes[name].status == "failed", graded.outcomes[name]
        assert "double changed its argument x in place" in graded.outcomes["test_array"].message
        assert "changed its argument x in place" in graded.outcomes["test_constant_is_as_it_was"].message
        assert graded.outcomes["test_fill"].status == "passed" and not graded.verdict.grader_fault

    @pytest.mark.parametrize(
        ("body", "status", "said"),
        [
            ("import sys; sys.exit(0)", "failed", "left with sys.exit()"),
            ("import os; os._exit(0)", "crashed", "ended with exit code 0"),
            ("import os; os.kill(os.getpid(), 11)", "crashed", "segmentation fault"),
            ("while True: pass", "timed_out", "did not return within 1 s"),
            ("return np.zeros(1 << 40)", "over_limit", "takes 8388608 MB, more than the 256 MB"),
            ("return np.array([object()])", "failed", "dtype object"),
            ("return np.ma.masked_array(2 * x)", "failed", "MaskedArray"),
        ],
        ids=["sys.exit", "os._exit", "signal", "hang", "memory", "object array", "masked array"],
    )
    def test_what_ends_badly_ends_alone(self, course: SmallCourse, body: str, status: str, said: str) -> None:
        graded = course.grade(changed("out[...] = 1", body.replace("2 * x", "out")))
        assert (graded.outcomes["test_fill"].status, graded.row("fill")) == (status, status)
        assert said in graded.outcomes["test_fill"].message
        assert graded.row("double") == graded.row("quadruple") == "passed" and not graded.verdict.grader_fault

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
            hidden=_join(hidden, REST),
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
            ("import pandas\n", "import", "pandas"),
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

    def test_one_row_only(self, course: SmallCourse) -> None:
        graded = course.grade(SOLUTION, only="fill")
        assert [row.id for row in graded.verdict.criteria] == ["fill"] and list(graded.outcomes) == ["test_fill"]

    def test_the_seed_makes_the_inputs(self, course: SmallCourse) -> None:
        printing = changed("return 2 * x", "print(x.ravel()[0]); return 2 * x")
        notes = [course.grade(printing, seed=seed).outcomes["test_random"].notes for seed in (1, 1, 2)]
        assert notes[0] == notes[1] != notes[2]

    def test_a_function_that_hangs_costs_its_row_one_wait_and_the_next_row_nothing(self, course: SmallCourse) -> None:
        source = changed("return double(double(x))", "return 4 * x").replace("return 2 * x", "while True: pass")
        graded = course.grade(source)
        assert "skipped: " in graded.outcomes["test_random"].message and graded.row("double") == "timed_out"
        assert graded.outcomes["test_quadruple"].status == graded.outcomes["test_fill"].status == "passed"
        assert not graded.verdict.grader_fault

    def test_a_row_that_hangs_in_another_s_function_waits_for_it(self, course: SmallCourse) -> None:
        graded = course.grade(changed("return 2 * x", "while True: pass"))
        rows = {row.id: (row.status, row.waits_for) for row in graded.verdict.criteria}
        assert (rows["double"], rows["quadruple"]) == (("timed_out", ()), ("blocked", ("double",)))

    def test_a_stage_that_takes_too_long_is_cut(self, small_course: SmallCourse) -> None:
        manifest = MANIFEST.replace("stage_seconds = 30", "stage_seconds = 4")  # a busy machine takes one to begin
        manifest = manifest.replace("call_seconds = 1\n", "call_seconds = 4\n")
        marker = small_course.root / "a_late_test_ran"
        hidden = HIDDEN.replace("out = np.zeros(2)", f"open({str(marker)!r}, 'w').close(); out = np.zeros(2)")
        small_course.write(manifest=manifest, solution=SOLUTION, public=PUBLIC, hidden=hidden)
        graded = small_course.grade(changed("return 2 * x", "import time; time.sleep(60)"))
        assert not marker.exists()
        assert {outcome.status for outcome in graded.outcomes.values()} == {"timed_out"} and len(graded.outcomes) == 6
        assert "were used up before this test" in graded.outcomes["test_fill"].message
        cut = "the time that the whole stage may take was used up while "
        assert any(outcome.message.startswith(cut) for outcome in graded.outcomes.values())
        assert not graded.verdict.grader_fault


def fault(course: SmallCourse, hidden: str, source: str = SOLUTION) -> Graded:
    """Grade with hidden tests that are the course's mistake; it must never pass and never be the learner's."""
    graded = with_hidden(course, hidden).grade(source)
    assert not graded.verdict.passed and graded.verdict.grader_fault
    return graded


REST = HIDDEN.replace('"double"', '"fill"').replace("test_random", "test_rest")

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
    def test_a_test_that_is_at_fault(self, course: SmallCourse, broken: str) -> None:
        graded = fault(course, _join(broken, REST))
        found = next(outcome for name, outcome in graded.outcomes.items() if name.startswith("test_odd"))
        assert (found.status, graded.row("double")) == ("grader_fault", "grader_fault"), found
        assert graded.row("quadruple") == graded.row("fill") == "passed"

    def test_the_fault_stays_ours_where_the_learner_is_wrong_too(self, course: SmallCourse) -> None:
        broken = "@pytest.mark.criterion('double')\ndef test_odd(learner): assert learner.double(1) == 3"
        graded = fault(course, _join(broken, REST), changed("return 2 * x", "return 5 * x"))
        assert graded.outcomes["test_odd"].status == "grader_fault"

    @pytest.mark.parametrize(
        ("broken", "said"),
        [
            ("def test_odd(learner): pass", "belongs to no row"),
            ("@pytest.mark.criterion('tripple')\ndef test_odd(learner): pass", "tripple"),
            (
                "@pytest.mark.criterion('double')\n@pytest.mark.criterion('fill')\ndef test_odd(learner): pass",
                "belongs to no row",
            ),
            ("raise OSError('while collected')", "while collected"),
            ("def (:", "cannot be collected"),
            ("pytest.skip('the whole file', allow_module_level=True)", "cannot be collected"),
        ],
        ids=["unmarked", "unknown row", "two rows", "raises", "syntax", "file skips itself"],
    )
    def test_a_file_or_test_that_belongs_nowhere(self, course: SmallCourse, broken: str, said: str) -> None:
        assert any(said in text for text in fault(course, _join(REST, broken)).verdict.faults)

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
        (course.hidden / "test_empty.py").write_text("")
        try:
            verdict = with_hidden(course, HIDDEN).grade(SOLUTION).verdict
        finally:
            (course.hidden / "test_empty.py").unlink()
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


def _join(*texts: str) -> str:
    import textwrap

    return "\n\n".join(textwrap.dedent(text) for text in texts)

"""What a stage's files lack is seen without grading: each claim on a whole stage, and on one that breaks it."""

from __future__ import annotations

import pytest

from grader.authoring.claims import in_hidden, in_stage, place_of
from grader.errors import CourseError
from grader.tests.authoring.claims.shortfalls import ANSWERS, STAGE, found, line_of, one, with_stub
from grader.tests.conftest import SmallCourse
from grader.tests.support.good_stage import FILES, MANIFEST, MISTAKES, PUBLIC, README, SOLUTION


def test_a_whole_stage_lacks_nothing(small_course: SmallCourse) -> None:
    assert found(small_course) == []


class TestStub:
    @pytest.mark.parametrize("text", [f"{FILES['stage/small.py']}\n", SOLUTION, None], ids=["stale", "solved", "none"])
    def test_a_stub_that_the_solution_does_not_make(self, small_course: SmallCourse, text: str | None) -> None:
        assert one(small_course, stub=text) == (f"{STAGE}/small.py", "the stub differs from what the solution makes")


class TestMinutes:
    @pytest.mark.parametrize(("now", "says"), [("*About 25 minutes (an estimate).*", "25"), ("", "no")])
    def test_a_step_whose_minutes_are_not_its_estimate(self, small_course: SmallCourse, now: str, says: str) -> None:
        readme = README.replace("*About 10 minutes (an estimate).*", now)
        message = f"step 1 of the README says {says} minutes, its estimate is 10"
        assert one(small_course, readme=readme) == (f"{STAGE}/README.md", message)


class TestNames:
    def test_a_row_about_a_function_that_is_not_defined(self, small_course: SmallCourse) -> None:
        manifest = MANIFEST.replace('functions = ["total"]', 'functions = ["total", "halve.it"]')
        readme = README.replace("`half`, then", "`half` and `halve.it`, then")
        place, message = one(small_course, manifest=manifest, readme=readme)
        assert place == f"{STAGE}/stage.toml"
        assert message == "row total is about halve.it, which the solution does not define"

    def test_a_public_name_in_no_row(self, small_course: SmallCourse) -> None:
        more = SOLUTION + '\n\ndef quarter(x):\n    """Example."""\n    return half(x) / 2\n'
        place, message = one(small_course, public=f"{PUBLIC}\nUSED = pytest.quarter\n", **with_stub(more))
        assert (place, message) == (
            f"{STAGE}/stage.toml",
            "quarter is public in the solution and in no row of the checklist",
        )

    def test_a_name_with_an_underscore_needs_no_row(self, small_course: SmallCourse) -> None:
        assert found(small_course, {"hidden/solution.py": f"{SOLUTION}\n\ndef _own(x):\n    return x\n"}) == []


class TestTests:
    @pytest.mark.parametrize("folder", ["stage/tests/test_small.py", "hidden/test_hidden.py"])
    def test_a_test_that_asks_for_an_unknown_name(self, small_course: SmallCourse, folder: str) -> None:
        text = FILES[folder] + "\n\ndef test_more(learner):\n    learner.third(1)\n"
        (shortfall,) = found(small_course, {folder: text})
        place = f"{STAGE}/tests/test_small.py" if "tests" in folder else f"{ANSWERS}/test_hidden.py"
        assert shortfall.place == f"{place}:{line_of(text, 'learner.third')}"
        assert shortfall.message == "the tests ask for third, which the solution does not define"

    def test_a_function_that_no_test_uses(self, small_course: SmallCourse) -> None:
        texts = {name: FILES[name].replace("learner.half", "print") for name in FILES if "test_" in name}
        (shortfall,) = found(small_course, texts)
        assert (shortfall.place, shortfall.message) == (f"{STAGE}/tests/", "no test uses half")

    def test_a_method_that_no_test_uses(self, small_course: SmallCourse) -> None:
        layer = '\n\nclass Layer:\n    """Example."""\n\n    def __init__(self):\n        pass\n\n    def run(self):\n'
        changes = with_stub(f"{SOLUTION}{layer}        return 1\n")
        manifest = MANIFEST.replace('["half"]', '["half", "Layer"]')
        place, message = one(
            small_course,
            manifest=manifest,
            readme=README.replace("`half`, then", "`half` and `Layer`, then").replace("About 10", "About 15"),
            public=f"{PUBLIC}\npytest.Layer\n",
            **changes,
        )
        assert (place, message) == (f"{STAGE}/tests/", "no test uses Layer.run")


@pytest.mark.parametrize(
    ("file", "place"),
    [
        ("hidden/solution.py", f"{ANSWERS}/solution.py"),
        ("hidden/mistakes.py", f"{ANSWERS}/mistakes.py"),
        ("hidden/alternatives/loops.py", f"{ANSWERS}/alternatives/loops.py"),
        ("hidden/test_hidden.py", f"{ANSWERS}/test_hidden.py"),
        ("stage/tests/test_small.py", f"{STAGE}/tests/test_small.py"),
    ],
)
def test_a_file_that_is_no_python_is_named_with_its_line(small_course: SmallCourse, file: str, place: str) -> None:
    with pytest.raises(CourseError) as caught:
        found(small_course, {file: f"{FILES[file]}\ndef (\n"})
    line = len(FILES[file].splitlines()) + 2
    assert caught.value.message.startswith(f"{place}:{line}: ")


def test_a_solution_that_cannot_be_imported_is_named(small_course: SmallCourse) -> None:
    place, message = one(small_course, solution=f"{SOLUTION}\nSIZE = 1 / 0\n")
    assert place == f"{ANSWERS}/solution.py"
    assert message == "the solution cannot be imported: ZeroDivisionError: division by zero"


def test_places_are_those_of_the_authors_copy(small_course: SmallCourse) -> None:
    found(small_course)
    stage = small_course.stage
    assert in_stage(stage, "README.md") == f"{STAGE}/README.md"
    assert in_hidden(stage, "solution.py", 3) == f"{ANSWERS}/solution.py:3"
    line = line_of(MISTAKES, "def twice")
    assert [place_of(stage, name) for name in ("reference", "stub", "alternatives/loops", "mistakes/twice")] == [
        f"{ANSWERS}/solution.py",
        f"{STAGE}/small.py",
        f"{ANSWERS}/alternatives/loops.py",
        f"{ANSWERS}/mistakes.py:{line}",
    ]
    assert place_of(stage, "mistakes/unknown") == f"{ANSWERS}/mistakes.py"

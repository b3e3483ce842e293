"""Claims about a stage's files, and the estimates of its steps."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from grader.authoring.claims import (
    Shortfall,
    _can_be_replaced,
    _is_private,
    claims,
    estimate,
    in_hidden,
    in_stage,
    place_of,
    timed_readme,
)
from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.errors import CourseError
from grader.progress.readme_steps import steps_of, times_of
from tests.conftest import SmallCourse
from tests.support.good_stage import FILES, LOOPS, MANIFEST, MISTAKES, PUBLIC, README, SOLUTION, write_stage
from tests.support.places import ROOT

STAGE = "stages/s90_small"
ANSWERS = "hidden/s90_small"


def found(course: SmallCourse, changes: Mapping[str, str | None] | None = None) -> list[Shortfall]:
    write_stage(course.stage_folder.parent, course.hidden.parent, "s90_small", changes)
    return list(claims(course.stage))


def one(course: SmallCourse, **changes: str | None) -> tuple[str, str]:
    """Return place and message of the one shortfall of a stage with these changes, the last by file's short name."""
    names = {
        "manifest": "stage/stage.toml", "readme": "stage/README.md", "stub": "stage/small.py",
        "public": "stage/tests/test_small.py", "solution": "hidden/solution.py", "mistakes": "hidden/mistakes.py",
        "loops": "hidden/alternatives/loops.py",
    }  # fmt: skip
    (shortfall,) = found(course, {names[name]: text for name, text in changes.items()})
    assert shortfall.stage == "s90" and shortfall.fix
    return shortfall.place, shortfall.message


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def with_stub(solution: str) -> dict[str, str]:
    """Return a solution and the stub that it makes."""
    from grader.course.stub import stub_of

    return {"solution": solution, "stub": stub_of(solution)}


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
        assert message == "criterion total is about halve.it, which the solution does not define"

    def test_a_public_name_in_no_row(self, small_course: SmallCourse) -> None:
        more = SOLUTION + '\n\ndef quarter(x):\n    """Example."""\n    return half(x) / 2\n'
        place, message = one(small_course, public=f"{PUBLIC}\nUSED = pytest.quarter\n", **with_stub(more))
        assert (place, message) == (
            f"{STAGE}/stage.toml",
            "quarter is public in the solution and in no criterion of the checklist",
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

    @pytest.mark.parametrize("line", ["import tests.test_small as x", "from tests import test_small"])
    def test_a_test_that_imports_another(self, small_course: SmallCourse, line: str) -> None:
        text = f"{FILES['hidden/test_hidden.py']}\n\n{line}\n"
        (shortfall,) = found(small_course, {"hidden/test_hidden.py": text})
        assert shortfall.place == f"{ANSWERS}/test_hidden.py:{line_of(text, line)}"
        assert shortfall.message == "the tests import test_small, which a learner's copy cannot do"

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


A_THIRD = "def a_third(x):\n    return x / 3\n"


class TestMistakes:
    def test_a_row_with_fewer_than_three(self, small_course: SmallCourse) -> None:
        text = MISTAKES[: MISTAKES.rindex("@mistake")]
        place, message = one(small_course, mistakes=text)
        assert place == f"{ANSWERS}/mistakes.py"
        assert message == "criterion half has 2 known mistakes, expected at least 3"

    def test_a_mistake_about_an_unknown_row(self, small_course: SmallCourse) -> None:
        more = '\n\n@mistake(criterion="third", replaces="half", text="t", fix="f")\n' + A_THIRD
        place, message = one(small_course, mistakes=MISTAKES + more)
        line = line_of(MISTAKES + more, "def a_third")
        assert (place, message) == (f"{ANSWERS}/mistakes.py:{line}", "a-third: no criterion is called third")

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


class TestReadme:
    @pytest.mark.parametrize("text", ["`total` only", None], ids=["one less", "none"])
    def test_a_readme_that_does_not_name_a_function(self, small_course: SmallCourse, text: str | None) -> None:
        shortfalls = found(small_course, {"stage/README.md": text})
        assert {each.place for each in shortfalls} == {f"{STAGE}/README.md"}
        assert "the README does not name half" in [each.message for each in shortfalls]

    def test_one_whose_steps_lack_a_row(self, small_course: SmallCourse) -> None:
        place, message = one(small_course, readme=README.replace("- [ ] half halves the total\n", ""))
        assert (place, message) == (f"{STAGE}/README.md", "criterion half belongs to no step of the README")

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


STAGES = load_course(ROOT).stages
PAGES = ("README.md", "docs/package.md", "docs/tutorial.md")
LONG = "\n".join(f"    x = x + {number}" for number in range(20))
PAGE = """\
## Sums

### Step 1: sum

- [ ] total adds up each row

### Step 2: halve

- [ ] half halves the total
"""


def minutes(course: SmallCourse, **changes: str) -> list[int]:
    """Return the estimate of a stage in two steps, files of which are changed."""
    write_stage(
        course.stage_folder.parent,
        course.hidden.parent,
        "s90_small",
        {f"hidden/{name}.py": text for name, text in changes.items()},
    )
    return [*estimate(course.stage, steps_of(course.stage, PAGE)).values()]


class TestEstimate:
    def test_of_little_it_is_ten_minutes(self, small_course: SmallCourse) -> None:
        assert minutes(small_course) == [10, 10]

    def test_a_line_counts_three_halves_and_a_mistake_a_half(self, small_course: SmallCourse) -> None:
        solution = FILES["hidden/solution.py"].replace("    return total(x)", f"{LONG}\n    return total(x)")
        assert minutes(small_course, solution=solution)[1] == 35  # 22 lines, 3 mistakes: 34.5
        row = '@mistake(criterion="half", replaces="half", text="It is wrong.", fix="Mend it.")'
        more = f"\n\n{row}\ndef more_{{}}(x):\n    ...\n"
        mistakes = FILES["hidden/mistakes.py"] + "".join(map(more.format, range(6)))
        assert minutes(small_course, solution=solution, mistakes=mistakes)[1] == 40  # 9 mistakes: 37.5

    def test_comments_docstrings_and_layout_count_nothing(self, small_course: SmallCourse) -> None:
        lines = "\n".join("    # said" for _ in range(40))
        solution = FILES["hidden/solution.py"].replace(
            "    return total(x)", f"{lines}\n    return (\n        total(x)"
        )
        assert minutes(small_course, solution=f"{solution.rstrip()}\n    )\n") == [10, 10]

    def test_a_helper_counts_where_it_is_used_and_is_shared(self, small_course: SmallCourse) -> None:
        helper = f"\n\ndef _more(x):\n{LONG}\n    return x\n"
        solution = FILES["hidden/solution.py"] + helper
        assert minutes(small_course, solution=solution) == [10, 10]  # which nobody asks for
        one = solution.replace("return total(x)", "return _more(x) * total(x)")
        assert minutes(small_course, solution=one) == [10, 40]  # 24 lines, 3 mistakes: 37.5
        both = one.replace("return x.sum", "return _more(x).sum")
        assert minutes(small_course, solution=both) == [20, 20]  # 2 and a half of 22 lines each, 3 mistakes: 21


@pytest.mark.parametrize("stage", STAGES, ids=[stage.id for stage in STAGES])
def test_every_step_says_its_estimate(stage: Stage) -> None:
    assert timed_readme(stage) == stage.readme_path.read_text(encoding="utf-8")
    assert all(step.minutes for step in times_of(stage))


def test_the_hours_of_the_course_are_the_sum_of_its_steps() -> None:
    total = sum(step.minutes or 0 for stage in STAGES for step in times_of(stage))
    said = {page: re.findall(r"\b(\d+)\shours", (ROOT / page).read_text(encoding="utf-8")) for page in PAGES}
    assert said == {page: [str(round(total / 60))] for page in PAGES}

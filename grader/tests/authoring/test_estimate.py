"""The minutes of a step follow from lines and mistakes; every README says them, and the pages their sum."""

from __future__ import annotations

import re

import pytest

from grader.authoring.estimate import estimate, timed_readme
from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.progress.steps import steps_of, times_of
from grader.tests.conftest import SmallCourse
from grader.tests.support.good_stage import FILES, write_stage
from grader.tests.support.places import ROOT

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

"""READMEs in steps: which part belongs to which row, what is shown of it, and that every stage keeps the form."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.course.stage import Criterion, Stage
from grader.errors import UsageError
from grader.progress.readme_steps import StepTime, asked, faults, part, readme, shown, steps_of, times_of, with_minutes
from tests.support.places import ROOT

STAGES = load_course(ROOT).stages
HINTS = ("", "", "")
STAGE = Stage(
    "s91",
    Path("stages/s91_sums"),
    "Sums",
    "sums.py",
    (),
    (
        Criterion("total", "total adds - each row", ("total",), (), HINTS),
        Criterion("half", "half halves", ("half",), (), HINTS),
        Criterion("layer", "Layer adds", ("Layer", "Layer.add", "Layer.__init__"), (), HINTS),
        Criterion("care", "no warning", ("half", "total"), (), HINTS),
    ),
)
PAGE = """\
# Sums

You will add.

## 1. Adding

Say what is added.

```bash
### Step 9: no heading
```

### Step 1: add up

Now write `total`, then run `grader check s91`:

- [ ] `total` adds − each row

### Halves

Half of it.

### Step 2: halve

Now write `half(x)`, then `Layer` with `Layer.add`. Run `grader check
s91`:

- [x] half halves
- [ ] Layer adds

## 2. Care

### Step 3: care

Now make `half` quiet: `grader check s91`.

* [ ] no warning

## 3. Checklist

More.
"""


def found(page: str = PAGE) -> list[str]:
    return [message for message, _ in faults(STAGE, steps_of(STAGE, page))]


class TestSteps:
    def test_each_has_its_rows_in_order(self) -> None:
        steps = steps_of(STAGE, PAGE)
        assert [(step.number, step.title, step.criteria) for step in steps] == [
            (1, "add up", ("total",)),
            (2, "halve", ("half", "layer")),
            (3, "care", ("care",)),
        ]

    def test_a_part_begins_where_the_step_before_ends(self) -> None:
        one, two, three = steps_of(STAGE, PAGE)
        assert one.text.startswith("## 1. Adding\n\nSay what") and "Half of it" not in one.text
        assert two.text.startswith("## 1. Adding\n\n### Halves\n") and two.text.endswith("- [ ] Layer adds\n\n")
        assert three.text.startswith("## 2. Care\n\n### Step 3") and "More" not in three.text

    def test_code_that_looks_like_a_heading_is_none(self) -> None:
        assert "### Step 9: no heading" in steps_of(STAGE, PAGE)[0].text

    def test_what_stands_above_the_first_section_belongs_to_none(self) -> None:
        assert all("You will add" not in step.text for step in steps_of(STAGE, PAGE))

    def test_a_page_without_steps_has_none(self) -> None:
        assert steps_of(STAGE, "# Sums\n\n## Contract\n\n- [ ] half halves\n") == ()


TIMED = with_minutes(PAGE, {1: 25, 3: 10})


class TestMinutes:
    def test_a_step_says_its_minutes_and_one_without_says_none(self) -> None:
        assert [step.minutes for step in steps_of(STAGE, TIMED)] == [25, None, 10]
        assert [step.minutes for step in steps_of(STAGE, PAGE)] == [None, None, None]

    def test_they_stand_below_the_heading_and_no_other_line_changes(self) -> None:
        line = "*About 25 minutes (an estimate).*"
        assert f"### Step 1: add up\n\n{line}\n\nNow write" in TIMED
        assert set(TIMED.splitlines()) - set(PAGE.splitlines()) == {line, "*About 10 minutes (an estimate).*"}

    def test_others_take_their_place(self) -> None:
        assert with_minutes(with_minutes(PAGE, {1: 5, 2: 90, 3: 10}), {1: 25, 2: 90, 3: 10}) == with_minutes(
            PAGE, {1: 25, 2: 90, 3: 10}
        )

    def test_they_are_read_without_the_rest_of_the_page(self, tmp_path: Path) -> None:
        stage = replace(STAGE, folder=tmp_path)
        assert times_of(stage) == ()
        stage.readme_path.write_text(TIMED.replace("### Step 9: no heading\n", ""), encoding="utf-8")
        assert times_of(stage) == (StepTime(1, "add up", 25), StepTime(2, "halve", None), StepTime(3, "care", 10))

    def test_the_page_of_a_step_begins_with_them(self) -> None:
        steps = steps_of(STAGE, TIMED)
        assert shown(STAGE, steps, steps[0]).startswith("# s91 · Sums: step 1 of 3, about 25 minutes\n")


class TestAsked:
    @pytest.mark.parametrize(
        ("name", "numbers"),
        [("2", [2]), ("total", [1]), ("care", [3]), ("layer", [2]), ("Layer", [2]), ("add", [2]), ("half()", [2])],
    )
    def test_a_number_a_row_a_function_and_a_method(self, name: str, numbers: list[int]) -> None:
        assert [step.number for step in asked(STAGE, steps_of(STAGE, PAGE), name)] == numbers

    def test_a_function_of_several_rows_means_all_their_steps(self) -> None:
        rows = (*STAGE.criteria[:1], Criterion("halves", "half halves", ("half",), (), HINTS), *STAGE.criteria[2:])
        stage = replace(STAGE, criteria=rows)
        assert [step.number for step in asked(stage, steps_of(stage, PAGE), "half")] == [2, 3]

    @pytest.mark.parametrize(("name", "near"), [("4", ""), ("haf", "Did you mean half? "), ("0", "")])
    def test_an_unknown_name_lists_what_there_is(self, name: str, near: str) -> None:
        with pytest.raises(UsageError, match=f"'{name}' is not a step, criterion or function of s91") as caught:
            asked(STAGE, steps_of(STAGE, PAGE), name)
        listed = "The steps and their criteria:\n   1  total\n   2  half, layer\n   3  care"
        assert caught.value.hint == near + listed

    def test_of_a_page_without_steps_nothing_is_meant(self) -> None:
        assert asked(STAGE, (), "half") == ()

    def test_of_a_page_without_steps_an_unknown_row_is_an_error_too(self) -> None:
        with pytest.raises(UsageError, match="'haf' is not a criterion"):
            asked(STAGE, (), "haf")


class TestShown:
    def test_a_step_is_a_page_that_says_how_to_go_on(self) -> None:
        steps = steps_of(STAGE, PAGE)
        page = shown(STAGE, steps, steps[0])
        assert page.startswith("# s91 · Sums: step 1 of 3\n\n## 1. Adding\n")
        assert page.endswith("The next step: `grader show s91 2`. Stuck? `grader hint s91 total`.\n")

    def test_its_hint_is_for_the_row_that_was_asked_for(self) -> None:
        steps = steps_of(STAGE, PAGE)
        for name, row in (("layer", "layer"), ("half", "half"), ("2", "half")):
            assert shown(STAGE, steps, steps[1], name).endswith(f"Stuck? `grader hint s91 {row}`.\n")

    def test_the_last_one_has_no_next(self) -> None:
        steps = steps_of(STAGE, PAGE)
        assert shown(STAGE, steps, steps[-1]).endswith("This is the last step. Stuck? `grader hint s91 care`.\n")

    def test_a_page_without_steps_is_shown_whole(self, tmp_path: Path) -> None:
        (tmp_path / "README.md").write_text("# Sums\n")
        stage = Stage("s91", tmp_path, "Sums", "sums.py", (), STAGE.criteria)
        assert part(stage, "half") == "# Sums\n"


class TestFaults:
    def test_a_page_in_the_form_has_none(self) -> None:
        assert found() == []

    def test_no_steps(self) -> None:
        assert found("# Sums\n") == ["the README has no steps"]

    @pytest.mark.parametrize(
        ("was", "now", "message"),
        [
            ("Step 2", "Step 3", "the steps of the README are numbered 1, 3, 3"),
            ("- [x] half halves\n", "", "criterion half belongs to no step of the README"),
            (
                "* [ ] no warning",
                "* [ ] no warning\n* [ ] half halves",
                "criterion half belongs to 2 steps of the README",
            ),
            ("- [ ] Layer adds", "- [ ] Layer ads", "step 2 of the README has an item that is no criterion: Layer ads"),
            ("* [ ] no warning", "", "step 3 of the README has no criterion"),
            ("grader check\ns91", "pytest", "step 2 of the README does not say how to check it"),
            ("with `Layer.add`", "", "step 2 of the README does not name Layer.add"),
            ("make `half` quiet", "be quiet", "step 3 of the README names no function of criterion care"),
        ],
    )
    def test_each_is_told(self, was: str, now: str, message: str) -> None:
        assert was in PAGE
        assert message in found(PAGE.replace(was, now))

    def test_rows_of_another_order(self) -> None:
        page = PAGE.replace("- [x] half halves\n- [ ] Layer adds", "- [ ] Layer adds\n- [x] half halves")
        assert found(page) == ["criterion layer stands in the README where half is due"]


@pytest.mark.parametrize("stage", STAGES, ids=[stage.id for stage in STAGES])
def test_every_row_of_a_stage_belongs_to_one_step_in_order_and_every_step_names_its_functions(stage: Stage) -> None:
    assert list(faults(stage, steps_of(stage, readme(stage)))) == []


@pytest.mark.parametrize("stage", STAGES, ids=[stage.id for stage in STAGES])
def test_a_step_is_shorter_than_the_page_and_tells_what_a_function_takes(stage: Stage) -> None:
    text = readme(stage)
    steps = steps_of(stage, text)
    assert len(steps) > 5
    assert all(len(step.text) < len(text) / 3 for step in steps)

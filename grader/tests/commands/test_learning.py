"""What helps beside a check: hints, READMEs, starting at a stage and over again, solutions."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course.stub import stub_of
from grader.tests.support.command import (
    NUMBERS,
    WRONG,
    Here,
    Place,
)


def test_a_hint_goes_one_step_further_each_time(here: Here) -> None:
    texts = [here("hint", "s02", "total").out for _ in range(4)]
    assert ["a nudge" in texts[0], "the idea" in texts[1], "nearly" in texts[2], "nearly" in texts[3]] == [True] * 4
    assert "hint 1 of 3" in texts[0]
    assert "one step further: grader hint s02 total" in texts[0]
    assert "grader show s02" in texts[3]


def test_a_hint_without_a_row_is_for_the_first_that_does_not_pass(place: Place) -> None:
    place.numbers.write_text(NUMBERS.replace("double(double(x))", "x"), encoding="utf-8")
    done = place.run("hint", "s01")
    assert (done.code, done.out.splitlines()[0]) == (0, "s01 · quadruple is right · hint 1 of 3, a question")
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    done = place.run("hint", "s01")
    assert (done.code, done.out) == (0, "")
    assert "no hint is needed" in done.err


def test_a_hint_after_a_check_says_first_what_was_found(place: Place) -> None:
    place.numbers.write_text(WRONG, encoding="utf-8")
    place.run("check", "s01")
    broken = place.root / "hidden" / "s01_numbers" / "test_hidden_double.py"
    broken.write_text("not python", encoding="utf-8")  # whoever grades again meets it
    for step in ("1 of 3, a question", "2 of 3, the idea", "3 of 3, almost the answer"):
        title, about, *_ = place.run("hint", "s01").out.splitlines()
        assert title == f"s01 · double is right · hint {step}"
        assert about == "    The last check: This is the square."
    assert "The last check: This is the square." in place.run("hint", "s01", "double()").out
    assert "The last check: This row waits for double." in place.run("hint", "s01", "quadruple").out
    place.numbers.write_text(WRONG + "\n", encoding="utf-8")  # of this text no check is known
    assert "The last check" not in place.run("hint", "s01", "double").out


def test_a_hint_and_a_reset_are_for_where_one_is_without_a_stage(place: Place, here: Here) -> None:
    place.passed("s01")
    assert here("reset", "--yes").err.startswith("stages/s02_sums/sums.py is the stub again.")
    assert place.run("hint").out.startswith("s02 · total is right · hint 1 of 3")
    place.passed("s02")
    done = here("reset", "--yes")
    assert (done.code, place.recorded) == (2, {"s01", "s02"})
    assert "no stage is left to work on" in done.err


def test_show_prints_the_readme_as_it_is_into_a_pipe(here: Here) -> None:
    assert here("show", "numbers").out == "# Numbers\n\nA *small* stage.\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("![a mask of\nthree tokens](pictures/mask.svg)\n", "Picture: a mask of three tokens\n"),
        ("![two](a.svg) ![heads](b.svg 'b')\n", "Picture: two Picture: heads\n"),
        (
            '<picture>\n  <source media="(prefers-color-scheme: dark)" srcset="d.svg">\n'
            '  <img src="l.svg" alt="a block" width="9">\n</picture>\n',
            "Picture: a block\n",
        ),
        ("```text\n![a](b.svg)\n```\n`![c](d.svg)`\n", "```text\n![a](b.svg)\n```\n`![c](d.svg)`\n"),
        ("[a link](b.md), and ![no target]\n", "[a link](b.md), and ![no target]\n"),
    ],
    ids=["markdown", "two", "html", "code", "no picture"],
)
def test_show_says_what_a_picture_shows(here: Here, text: str, shown: str) -> None:
    (here.place.numbers.parent / "README.md").write_text(text, encoding="utf-8")
    assert here("show", "numbers").out == shown


IN_STEPS = """\
# Numbers

## Doubling

### Step 1: twice

Now write `double`, then run `grader check s01`:

- [ ] double is right

### Step 2: twice again

Now write `quadruple`, then run `grader check s01`:

- [ ] quadruple is right
"""


def test_show_shows_the_step_of_a_row_a_function_or_a_number(here: Here) -> None:
    (here.place.numbers.parent / "README.md").write_text(IN_STEPS, encoding="utf-8")
    first, second = here("show", "s01", "1").out, here("show", "s01", "quadruple").out
    assert first.startswith("# s01 · Numbers: step 1 of 2\n\n## Doubling\n\n### Step 1: twice\n")
    assert "quadruple" not in first and "`grader show s01 2`" in first
    assert second == here("show", "numbers", "quadruple()").out and "- [ ] quadruple is right" in second
    assert here("show").out == IN_STEPS  # where one is


def test_a_row_alone_is_one_of_where_one_is(here: Here) -> None:
    (here.place.numbers.parent / "README.md").write_text(IN_STEPS, encoding="utf-8")
    assert here("show", "quadruple").out.startswith("# s01 · Numbers: step 2 of 2")
    assert here("hint", "quadruple").out.startswith("s01 · quadruple is right · hint 1 of 3")
    assert "'treble' is not a stage" in here("hint", "treble").err


def test_next_shows_the_step_of_the_first_row_that_is_left(place: Place, here: Here) -> None:
    (here.place.numbers.parent / "README.md").write_text(IN_STEPS, encoding="utf-8")
    assert here("next").out.startswith("# s01 · Numbers: step 1 of 2")
    place.numbers.write_text(NUMBERS.replace("return double(double(x))", "raise NotImplementedError"), encoding="utf-8")
    done = place.run("check", "s01", "--isolation", "process")
    assert done.err == "Next: `grader show s01 quadruple` says what to write.\n"
    place.numbers.write_text(f"{NUMBERS}\n", encoding="utf-8")  # changed since
    assert here("next").out.startswith("# s01 · Numbers: step 2 of 2")
    place.run("check", "s01", "--isolation", "process")
    done = here("next", "s01")
    assert (done.code, done.out) == (0, "") and done.err.startswith("Every row of s01 passed when it was last checked.")


def test_show_lists_the_steps_where_none_is_meant(here: Here) -> None:
    (here.place.numbers.parent / "README.md").write_text(IN_STEPS, encoding="utf-8")
    done = here("show", "s01", "treble_")
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines() == [
        "error: 'treble_' is not a step, row or function of s01", "hint: The steps and their rows:", "   1  double",
        "   2  quadruple",
    ]  # fmt: skip


def test_show_shows_all_of_a_readme_without_steps(here: Here) -> None:
    assert here("show", "s01", "double").out == "# Numbers\n\nA *small* stage.\n"


def test_show_says_so_when_there_is_no_readme(here: Here) -> None:
    (here.place.numbers.parent / "README.md").unlink()
    done = here("show", "s01")
    assert (done.code, done.out) == (4, "")
    assert "stages/s01_numbers/README.md cannot be read" in done.err


def test_start_skips_what_comes_before_and_passes_nothing(here: Here) -> None:
    done = here("start", "s02")
    assert (done.code, done.out) == (0, "")
    assert "You are at s02 · Sums. Skipped: s01." in done.err
    progress = here.place.store.read()
    assert (set(progress.skipped), set(progress.passed), progress.last) == ({"s01"}, set(), "s02")


def test_start_at_an_earlier_stage_opens_what_was_skipped(here: Here) -> None:
    here("start", "s02")
    assert "Skipped" not in here("start", "s01").err
    assert here.place.store.read().skipped == set()
    assert "You are at s01" in here().out


def test_start_leaves_passed_stages_passed(here: Here) -> None:
    here.place.passed("s01")
    assert "Skipped" not in here("start", "s02").err
    assert here.place.recorded == {"s01"}


def test_start_at_a_passed_stage_says_where_one_is(here: Here) -> None:
    here.place.passed("s01")
    done = here("start", "s01")
    assert done.code == 0
    assert " ".join(done.err.split()) == (
        "s01 · Numbers has passed already, and stays so. You are at s02 · Sums. "
        "`grader check s01` grades it again; `grader reset s01` starts it over."
    )
    assert "You are at s02" in here().out
    here.place.passed("s02")
    assert "You are at" not in here("start", "s02").err


def test_reset_asks_before_it_replaces_a_file(here: Here) -> None:
    here.place.numbers.write_text("mine = 1\n", encoding="utf-8")
    done = here("reset", "s01")
    assert (done.code, done.out) == (2, "")
    assert "--yes" in done.err
    assert here.place.numbers.read_text(encoding="utf-8") == "mine = 1\n"


@pytest.mark.parametrize("yes", [True, False])
def test_reset_does_what_was_answered(here: Here, yes: bool) -> None:
    here.place.numbers.write_text("mine = 1\n", encoding="utf-8")
    here.monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    here.monkeypatch.setattr("typer.confirm", lambda question, err: yes)
    assert here("reset", "s01").code == 0
    assert (here.place.numbers.read_text(encoding="utf-8") == stub_of(NUMBERS)) is yes


def test_reset_puts_the_stub_back_keeps_the_old_file_and_starts_over(here: Here) -> None:
    here.place.passed("s01")
    here.place.numbers.write_text("mine = 1\n", encoding="utf-8")
    done = here("reset", "s01", "--yes")
    assert done.code == 0
    assert here.place.numbers.read_text(encoding="utf-8") == stub_of(NUMBERS)
    (kept,) = (here.place.root / ".grader" / "backups" / "s01_numbers").iterdir()
    assert kept.read_text(encoding="utf-8") == "mine = 1\n"
    assert f".grader/backups/s01_numbers/{kept.name}" in done.err
    assert here.place.recorded == set()


def test_reset_keeps_no_copy_of_a_stub_and_restores_a_deleted_one(here: Here) -> None:
    here("reset", "s01", "-y")
    assert not (here.place.root / ".grader" / "backups").exists()
    here.place.numbers.unlink()
    assert here("reset", "s01", "-y").code == 0
    assert here.place.numbers.read_text(encoding="utf-8") == stub_of(NUMBERS)


def test_a_solution_is_shown_after_passing_only(here: Here, tmp_path: Path) -> None:
    done = here("solution", "s01")
    assert (done.code, done.out) == (3, "")
    assert "once s01 has passed" in done.err
    here("start", "s02")
    assert here("solution", "s01").code == 3
    here.place.passed("s01")
    assert here("solution", "s01").out == NUMBERS
    target = tmp_path / "solution.py"
    assert here("solution", "s01", "--output", str(target)).out == ""
    assert target.read_text(encoding="utf-8") == NUMBERS


def test_a_solution_without_a_stage_is_that_of_the_last_that_has_passed(here: Here) -> None:
    none = here("solution")
    assert (none.code, none.out) == (2, "")
    assert "no stage has passed yet, and none was named" in none.err
    here.place.passed("s01")
    assert here("solution").out == NUMBERS


def test_a_solution_stands_beside_ones_own_with_times(place: Place) -> None:
    own = NUMBERS.replace("2 * x", "sum(x for _ in range(2))")
    place.numbers.write_text(own, encoding="utf-8")
    assert place.run("solution", "s01", "--json").code == 3
    place.passed("s01")
    document = place.run("solution", "s01", "--json").json
    assert (document["problem"], document["unmeasured"]) == (None, None)
    double, quadruple = document["functions"]
    assert (double["name"], double["same"], quadruple["same"]) == ("double", False, True)
    assert double["own"]["comprehensions"] == 1 and double["reference"]["text"].endswith("return 2 * x")
    assert double["time"]["ratio"] > 0 and double["time"]["calls"] >= 2
    assert place.recorded == {"s01"}


def test_a_solution_is_shown_where_ones_own_cannot_be(here: Here) -> None:
    here.place.passed("s01")
    here.place.numbers.write_text("def (", encoding="utf-8")
    done = here("solution", "s01", "--compare", "--no-time")
    assert done.code == 0
    assert "Your own module is left out" in done.out and "return 2 * x" in done.out
    here.place.numbers.unlink()
    assert here("solution", "s01", "--json").json["problem"].startswith("stages/s01_numbers/numbers_.py")
    here.place.numbers.write_text(NUMBERS, encoding="utf-8")
    done = here("solution", "s01", "--compare", "--no-time")
    assert "No times: not asked for." in done.out and "double · as in the reference" in done.out


@pytest.mark.parametrize("other", [["--reference"], ["--output", "x.py"]])
def test_a_document_and_the_reference_alone_exclude_each_other(here: Here, other: list[str]) -> None:
    here.place.passed("s01")
    done = here("solution", "s01", "--json", *other)
    assert (done.code, done.out) == (2, "")
    assert f"{other[0]} asks for the reference alone" in done.err


def test_a_solution_overwrites_nothing(here: Here) -> None:
    here.place.passed("s01")
    done = here("solution", "s01", "--output", str(here.place.numbers))
    assert done.code == 2
    assert "already exists; it was not replaced" in " ".join(done.err.split())
    assert here.place.numbers.read_text(encoding="utf-8") == stub_of(NUMBERS)
    assert here("solution", "s01", "-o", str(here.place.root / "no" / "folder.py")).code == 2

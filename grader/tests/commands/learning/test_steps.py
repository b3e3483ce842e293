"""`grader show` and `next`: a README as it is, and the step of it that is meant."""

from __future__ import annotations

import pytest

from grader.tests.support.command import (
    NUMBERS,
    Here,
    Place,
)


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


def test_show_prints_a_page_that_stands_beside_the_stages(here: Here) -> None:
    folder = here.place.root / "stages" / "capstone"
    folder.mkdir()
    (folder / "README.md").write_text("# All of it together\n", encoding="utf-8")
    assert here("show", "capstone").out == "# All of it together\n"
    (folder / "README.md").write_bytes(b"\xff")
    assert "stages/capstone/README.md cannot be read" in here("show", "capstone").err
    assert here("show", "../capstone").code == here("show", "capston").code == 2


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
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines()[:2] == [
        "The last check of s01: 2 of 2 criteria · 2 robust.", "Every row of s01 passed when it was last checked.",
    ]  # fmt: skip


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

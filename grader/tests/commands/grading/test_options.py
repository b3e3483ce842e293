"""What may be asked of a check: one row, a level of feedback, and what the shell completes."""

from __future__ import annotations

import json

import pytest

from grader.tests.commands.grading.typed import ARGUMENTS, RIGHT, WRONG, Command


def test_one_row_is_graded_by_the_name_of_its_function(command: Command) -> None:
    command.small.write_text(RIGHT, encoding="utf-8")
    assert command(*ARGUMENTS, "--only", "halve", "--json") == 0
    assert json.loads(command.out)["only"] == "double"


def test_one_row_is_shown_by_the_name_of_its_function(command: Command) -> None:
    command.small.write_text(WRONG, encoding="utf-8")
    assert command(*ARGUMENTS, "--row", "halve") == 1
    assert "✗ 0/2  double doubles" in command.out and "nothing is recorded" not in command.err


@pytest.mark.some_of(3, "grader/report", "grader/diagnosis")
@pytest.mark.parametrize(
    ("option", "stage", "level"),
    [
        ((), "", "full"),
        (("--feedback", "hint"), "", "hint"),
        (("--feedback", "verdict"), 'feedback = "hint"', "verdict"),
        (("--feedback", "full"), 'feedback = "hint"', "hint"),
        ((), 'feedback = "verdict"', "verdict"),
    ],
)
def test_the_option_can_only_lower_what_the_stage_allows(
    command: Command, option: tuple[str, ...], stage: str, level: str
) -> None:
    manifest = command.course.stage_folder / "stage.toml"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(text.replace("requires = []", f"requires = []\n{stage}"), encoding="utf-8")
    command.small.write_text(
        f"{WRONG}    print(x)\n".replace("    return x\n    print(x)", "    print(x)\n    return x")
    )
    assert command(*ARGUMENTS, "--json", *option) == 1
    assert json.loads(command.out)["feedback"] == level
    assert ("4711" in command.out) == (level == "full")
    assert command(*ARGUMENTS, "--verbose", *option) == 1
    assert ("4711" in command.out) == (level == "full")
    assert command("--all", "--isolation", "process", "--json", *option) == 1
    assert ("4711" in command.out) == (level == "full")


def test_an_unknown_level_of_feedback_is_named(command: Command) -> None:
    assert command(*ARGUMENTS, "--feedback", "nothing") == 2
    assert "Choose full, hint or verdict." in command.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("grader check --format j", {"json", "junit"}),
        ("grader check --format github,gr", {"github,gradescope"}),
        ("grader check --feedback v", {"verdict"}),
    ],
)
def test_the_shell_completes_formats_and_levels(command: Command, words: str, expected: set[str]) -> None:
    command.context.setenv("_GRADER_COMPLETE", "complete_bash")
    command.context.setenv("COMP_WORDS", words)
    command.context.setenv("COMP_CWORD", str(len(words.split()) - 1))
    command()
    assert set(command.out.split()) == expected

"""`grader check` on a small course: what it shows, records and unlocks, and of whose files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema

from grader.tests.support.command import (
    NUMBERS,
    PACKAGE,
    SUMS,
    WRONG,
    Place,
)


def test_a_fresh_course_shows_the_checklist_of_its_first_stage(place: Place) -> None:
    done = place.process("check", "--seed", "5")
    assert (done.code, place.recorded) == (1, set())
    assert done.out.splitlines()[:3] == [
        "s01 · Numbers" + " " * 47 + "0 of 2 criteria   " + "░" * 20,
        "○ double is right" + " " * 61 + "not started",
        "○ quadruple is right" + " " * 58 + "not started",
    ]
    assert "seed 5" in done.out
    assert done.err.splitlines() == [
        "Begin in stages/s01_numbers/numbers_.py; `grader show s01` explains the stage.",
        "Next: `grader show s01 double` says what to write.",
    ]


def test_a_pass_is_recorded_with_the_file_that_passed_and_unlocks_the_next_stage(place: Place) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    done = place.run("check", "--json", "--seed", "11", "--isolation", "process")
    assert (done.code, done.err) == (0, "")
    found = done.json
    assert (found["passed"], found["seed"], found["isolation"], found["unlocked"]) == (True, 11, "process", ["s02"])
    schema = json.loads((PACKAGE / "report" / "verdict.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(found, schema)
    record = place.store.read().passed["s01"]
    assert (record.digest, record.seed) == (found["submission"], 11)
    again = place.run("check", "s01", "--json")
    assert (again.code, again.json["unlocked"]) == (0, [])
    assert "→ s02 · Sums" in place.run("status").out
    place.numbers.write_text(NUMBERS + "\n", encoding="utf-8")
    assert "changed since it passed" in place.run("status").out


def test_a_wrong_answer_is_explained_and_leads_on(place: Place) -> None:
    place.numbers.write_text(WRONG, encoding="utf-8")
    done = place.process("check", "s01", "--seed", "40817")
    assert (done.code, done.err, place.recorded) == (1, "", set())
    for line in (
        "✗ double is right",
        "    This is the square.",
        "    --> stages/s01_numbers/numbers_.py:8    return x * x",
        "    double(x=3)",
        "fix it: grader hint s01 double    same inputs again: --seed 40817",
        "–      quadruple is right" + " " * 53 + "waits for double",
    ):
        assert line in done.out.splitlines()
    assert "Multiply by 2." not in done.out  # that comes with the hint
    assert "Multiply by 2." not in place.process("check", "s01", "-v").out
    assert "Multiply by 2." in place.process("check", "s01", "--submission", str(place.numbers)).out
    assert place.store.read().last == "s01"


def test_a_locked_stage_says_what_comes_first_and_how_to_start_there(place: Place) -> None:
    place.sums.write_text(SUMS, encoding="utf-8")
    done = place.run("check", "s02")
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("error: s02 is locked: s01 (Numbers) comes first\n")
    for way in ("grader check s01", "grader start s02", "grader check s02 --anyway"):
        assert f"- `{way}` " in done.err
    assert place.recorded == set()


def test_a_locked_stage_says_on_one_screen_what_it_builds_on(place: Place) -> None:
    readme = place.sums.with_name("README.md")
    readme.write_text(f"# Sums\n\n**You need** doubling (s01). {'More of it. ' * 99}\n\nText.\n", encoding="utf-8")
    lines = place.run("check", "s02", COLUMNS="80").err.splitlines()
    assert lines[1].startswith("hint: To work on s02 you need doubling (s01).")
    assert len(lines) < 20 and all(len(line) <= 80 for line in lines)
    assert "Its module imports no earlier stage." in lines


def test_a_locked_stage_is_graded_anyway_and_nothing_is_recorded(place: Place) -> None:
    place.sums.write_text(SUMS, encoding="utf-8")
    done = place.run("check", "s02", "--anyway", "--isolation", "process")
    assert done.code == 0 and "2 of 2 criteria" in done.out
    assert "s02 is locked, so nothing is recorded." in done.err
    assert not place.store.file.exists()
    assert place.run("check", "s02").code == 3
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    assert place.run("check", "s01", "--anyway", "--isolation", "process").code == 0
    assert place.recorded == {"s01"}  # which is open, so that there is nothing to go past


def test_anyway_is_about_one_stage_of_ones_own(place: Place) -> None:
    for other in ("--all", "--begun", "--submission=stages"):
        done = place.run("check", *(["s02"] if "=" in other else []), "--anyway", other)
        assert done.code == 2
        assert f"--anyway is about one locked stage of your own, and {other.split('=')[0]}" in done.err


def test_a_locked_stage_is_a_verdict_too(place: Place) -> None:
    done = place.run("check", "s02", "--json")
    assert done.code == 3
    assert (done.json["locked"], done.json["passed"], done.json["waits_for"]) == (True, False, ["s01"])
    assert done.json["problem"]["kind"] == "locked"
    assert "`grader check s02 --anyway`" in done.json["problem"]["hint"]
    jsonschema.validate(done.json, json.loads((PACKAGE / "report" / "verdict.schema.json").read_text("utf-8")))


def test_someones_files_are_graded_without_locks_and_without_recording(place: Place, tmp_path: Path) -> None:
    handed_in = tmp_path / "anna's sums.py"
    handed_in.write_text(SUMS.replace("2 * x", "3 * x"), encoding="utf-8")
    done = place.run("check", "s02", "--submission", "../anna's sums.py", "--seed", "5", "--isolation", "process")
    assert done.code == 1
    assert any(line.endswith("same inputs again: --seed 5") for line in done.out.splitlines())
    handed_in.write_text(SUMS, encoding="utf-8")
    assert place.run("check", "s02", "--submission", str(handed_in)).code == 0
    assert not place.store.file.exists()


def test_one_row_is_shown_and_all_are_graded(place: Place) -> None:
    place.run("reset", "s01")
    done = place.run("check", "s01", "--row", "quadruple", "--isolation", "process")
    assert "○ quadruple is right" in done.out and "double is right" not in done.out
    assert "0 of 2 criteria" in done.out and "nothing is recorded" not in done.err


def test_one_row_can_be_graded_and_is_not_recorded(place: Place) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    done = place.run("check", "--only", "double")
    assert (done.code, place.recorded) == (0, set())
    assert "quadruple" not in done.out
    assert "nothing is recorded" in done.err


def test_a_module_with_a_syntax_error_gets_one_message(place: Place) -> None:
    place.numbers.write_text("import numpy as np\ndef double(x)\n", encoding="utf-8")
    done = place.run("check")
    assert done.code == 1
    assert "✗ stages/s01_numbers/numbers_.py:2 cannot be graded as it is\n" in done.out
    assert "quadruple" not in done.out
    hint = place.run("hint", "s01")
    assert (hint.code, hint.out) == (5, "")
    assert "expected ':'" in hint.err


def test_nothing_a_learner_prints_or_raises_controls_the_terminal(place: Place) -> None:
    evil = 'print("\\x1b[2J[red]out[/red]"); raise RuntimeError("\\x1b]0;title\\x07[bold]no[/bold]")'
    place.numbers.write_text(NUMBERS.replace("return 2 * x", evil), encoding="utf-8")
    done = place.run("check", FORCE_COLOR="1")
    assert "\\x1b]0;title\\x07[bold]no[/bold]" in done.out
    assert "\\x1b[2J[red]out[/red]" in done.out
    assert "\x07" not in done.out
    assert "\x1b[2J" not in done.out


def test_a_fault_of_the_course_costs_the_learner_nothing(original: Place, tmp_path: Path) -> None:
    shutil.copytree(original.root, tmp_path / "all")
    place = Place(tmp_path / "all", tmp_path / "all" / "code" / "grader")
    place.passed("s01")
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    (place.root / "hidden" / "s01_numbers" / "test_hidden_double.py").write_text("def (", encoding="utf-8")
    done = place.run("check", "s01")
    assert done.code == 4
    assert "not in your code" in done.out
    assert place.store.read().passed["s01"].digest == "0" * 64
    assert place.run("check", "--all", "--json").code == 4


# All stages at once.


def test_all_stages_are_graded_as_far_as_they_are_unlocked(place: Place) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    done = place.run("check", "--all")
    assert (done.code, place.recorded) == (1, {"s01"})
    lines = done.out.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["All stages", "✓ s01 · Numbers", "○ s02 · Sums"]
    assert "1 of 2 stages" in lines[0]


def test_what_is_begun_is_graded_and_an_untouched_course_is_fine(place: Place, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    done = place.run("check", "--begun", "--format", "github", GITHUB_STEP_SUMMARY=str(summary))
    assert (done.code, done.out, done.err) == (0, "", "No stage is begun yet, so nothing was graded.\n")
    assert summary.read_text(encoding="utf-8") == ""
    place.sums.write_text(SUMS, encoding="utf-8")
    done = place.run("check", "--begun")
    assert (done.code, [line.split("  ")[0] for line in done.out.splitlines()]) == (0, ["Stages begun", "✓ s02 · Sums"])


def test_a_damaged_progress_file_is_named_and_rebuilt_even_beyond_a_lock(place: Place) -> None:
    place.passed("s01", "s02")
    place.store.file.write_text("{", encoding="utf-8")
    place.numbers.write_text(WRONG, encoding="utf-8")
    place.sums.write_text(SUMS, encoding="utf-8")
    done = place.run("check", "--all", "--json")
    assert "warning: .grader/progress.json is damaged" in done.err
    assert [(each["stage"], each["passed"]) for each in done.json["verdicts"]] == [("s01", False), ("s02", True)]
    assert (done.code, done.json["passed"], place.recorded) == (1, False, {"s02"})


def test_all_of_someones_stages_are_graded_and_missing_ones_named(place: Place, tmp_path: Path) -> None:
    handed_in = tmp_path / "anna"
    shutil.copytree(place.root / "stages", handed_in / "stages")
    (handed_in / "stages" / "s01_numbers" / "numbers_.py").unlink()
    elsewhere = handed_in / "stages" / "s01_numbers" / "other.py"
    elsewhere.write_text("x = 1", encoding="utf-8")
    (handed_in / "stages" / "s02_sums" / "sums.py").write_text(SUMS, encoding="utf-8")
    done = place.run("check", "--all", "--submission", str(handed_in))
    assert done.code == 1
    assert "1 of 2 stages" in done.out.splitlines()[0]
    assert done.out.splitlines()[1].startswith("✓ s02 · Sums")
    assert done.out.splitlines()[2:] == ["Not handed in: s01."]
    document = place.run("check", "--all", "--submission", str(handed_in), "--json").json
    assert [(each["stage"], each["passed"]) for each in document["verdicts"]] == [("s01", False), ("s02", True)]
    assert not place.store.file.exists()


def test_all_stages_of_an_archive_are_graded(place: Place, tmp_path: Path) -> None:
    (place.root / "stages" / "s02_sums" / "sums.py").write_text(SUMS, encoding="utf-8")
    archive = shutil.make_archive(str(tmp_path / "anna"), "gztar", place.root, "stages")
    done = place.run("check", "--all", "--submission", archive)
    assert done.out.splitlines()[-1].endswith("2 of 2 criteria")
    assert not place.store.file.exists()


ARRAYS = """\
import numpy as np
import pytest
from grader.testing import assert_equal


@pytest.mark.criterion("double")
def test_of_an_array(learner):
    assert_equal(learner.double(np.array([1.0, 2.0, 4.0])), np.array([2.0, 4.0, 8.0]))
"""


def test_what_the_numbers_look_like_is_told_only_where_no_cause_is_named(place: Place) -> None:
    hidden = place.root / "hidden" / "s01_numbers"
    for file in (hidden / "test_hidden_double.py", place.root / "stages/s01_numbers/tests/test_double.py"):
        file.write_text(ARRAYS, encoding="utf-8")
    mistakes = (hidden / "mistakes.py").read_text(encoding="utf-8").replace("x * x", "1.0 * x")
    (hidden / "mistakes.py").write_text(mistakes, encoding="utf-8")
    place.numbers.write_text(NUMBERS.replace("2 * x", "x * 1.0"), encoding="utf-8")
    pattern = "every value is 0.5 times (1/2 times) the expected one"
    shown = place.run("check", "s01").out
    assert "This is the square." in shown and "expected 2.0, got 1.0" in shown and pattern not in shown
    failures = place.run("check", "s01", "--json").json["criteria"][0]["failures"]
    assert failures and not any(pattern in each["message"] for each in failures)


def test_a_row_may_follow_the_stage_as_with_hint_and_show(place: Place) -> None:
    place.numbers.write_text(WRONG, encoding="utf-8")
    told = [
        place.run("check", "s01", *row, "--seed", "5").out for row in (["double"], ["--row", "double"], ["quadruple"])
    ]
    assert told[0].splitlines()[:3] == told[1].splitlines()[:3] != told[2].splitlines()[:3]
    done = place.run("check", "s01", "double", "--row", "quadruple")
    assert (done.code, done.out) == (2, "") and "two rows are named" in done.err

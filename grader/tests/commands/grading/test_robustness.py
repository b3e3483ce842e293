"""Textbook code, right and without refusals, through every door: it passes, and its robustness is counted apart."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from grader.gradebook.marks import table
from grader.gradebook.store import Gradebook
from grader.tests.support.command import NUMBERS, Place

STRICT = NUMBERS.replace(
    "    return 2 * x", '    if isinstance(x, str):\n        raise ValueError("text")\n    return 2 * x'
)
REFUSAL = """

@pytest.mark.refusals
@pytest.mark.criterion("double")
@pytest.mark.parametrize("text", ["a", "b"])
def test_text_is_refused(learner, text):
    with pytest.raises(ValueError):
        learner.double(text)
"""
CLASS = ("--stage", "s01", "--isolation", "process", "--require-isolation", "process", "--jobs", "1")
PUBLIC, HIDDEN = "stages/s01_numbers/tests/test_double.py", "hidden/s01_numbers/test_hidden_double.py"


@pytest.fixture
def asking(place: Place) -> Place:
    """A course whose first criterion asks for refusals, of which a learner knows nothing yet."""
    (place.root / "hidden" / "s01_numbers" / "solution.py").write_text(STRICT, encoding="utf-8")
    for name, more in {PUBLIC: REFUSAL, HIDDEN: ""}.items():
        text = (place.root / name).read_text(encoding="utf-8")
        text = text.replace("@pytest.mark.criterion", "@pytest.mark.values\n@pytest.mark.criterion")
        (place.root / name).write_text(text + more, encoding="utf-8")
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    return place


def all_tests_count(place: Place) -> None:
    project = place.root / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    project.write_text(text.replace("[tool.grader]", '[tool.grader]\npasses = "all"'), encoding="utf-8")


def test_it_passes_opens_the_next_stage_and_is_told_what_is_missing(asking: Place) -> None:
    done = asking.run("check", "s01", "--isolation", "process")
    assert (done.code, asking.recorded) == (0, {"s01"})
    lines = done.out.splitlines()
    assert "2 of 2 criteria · 1 robust   " + "█" * 20 in lines[0]
    assert next(line for line in lines if "double is right" in line).startswith("✓ ")
    assert "2 of 2 refusals missing" in done.out and "✗" not in done.out and "ValueError" in done.out
    assert "s01 has passed. Unlocked: s02 (Sums)" in " ".join(done.err.split())
    status = asking.run("status").out
    assert "passed · 1 of 2 criteria robust" in status and "→ s02 · Sums" in status
    (first, _) = asking.run("status", "--json").json["stages"]
    assert (first["state"], first["counts"]) == ("passed", {"criteria": 2, "passed": 2, "robust": 1})
    following = asking.run("next", "s01")
    assert "The last check of s01: 2 of 2 criteria · 1 robust." in following.err
    cause = "double accepts a call that it has to refuse with ValueError"
    assert f"s01 double: {cause}" in " ".join(following.err.split())
    assert f"The last check: {cause}" in " ".join(asking.run("hint", "s01", "double").out.split())


def test_json_counts_it_for_each_criterion_and_the_stage(asking: Place) -> None:
    done = asking.run("check", "s01", "--isolation", "process", "--json")
    found = done.json
    assert (done.code, found["schema"], found["passed"], found["robust"]) == (0, 3, True, False)
    assert (found["passes"], found["counts"]) == ("mathematics", {"criteria": 2, "passed": 2, "robust": 1})
    double, quadruple = found["criteria"]
    assert (double["status"], double["robust"], quadruple["robust"]) == ("passed", False, True)
    assert double["robustness"] == {"tests_passed": 0, "tests_total": 2}
    assert {each["kind"] for each in double["failures"]} == {"refusals"}
    assert all(each["cause"]["id"].startswith("refusal-") for each in double["failures"])


def test_a_course_may_let_all_tests_count(asking: Place) -> None:
    all_tests_count(asking)
    done = asking.run("check", "s01", "--isolation", "process")
    assert (done.code, asking.recorded) == (1, set())
    assert "1 of 2 criteria   " in done.out.splitlines()[0]
    assert not any(line.startswith("✓") and "double is right" in line for line in done.out.splitlines())
    asking.numbers.write_text(STRICT, encoding="utf-8")
    assert asking.run("check", "s01", "--isolation", "process").code == 0


def test_an_unknown_word_is_refused(asking: Place) -> None:
    project = asking.root / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    project.write_text(text.replace("[tool.grader]", '[tool.grader]\npasses = "most"'), encoding="utf-8")
    done = asking.run("check", "s01")
    assert done.code == 4 and "tool.grader.passes: 'most' is not mathematics or all" in done.err


def test_what_passed_earlier_stays_passed_where_all_tests_count_now(asking: Place) -> None:
    asking.run("check", "s01", "--isolation", "process")
    all_tests_count(asking)
    assert asking.recorded == {"s01"} and "→ s02 · Sums" in asking.run("status").out


def graded(place: Place, out: Path, *more: str) -> dict[str, tuple[bool, float | None, int | None]]:
    """Grade a class of two; return who passes, the points, and how many criteria are robust."""
    handed = place.root / "handed"
    handed.mkdir(exist_ok=True)
    (handed / "ada.py").write_text(NUMBERS, encoding="utf-8")
    (handed / "bob.py").write_text(STRICT, encoding="utf-8")
    done = place.process("class", "grade", str(handed), *CLASS, "--out", str(out), *more)
    assert done.code == 0, done.err
    with Gradebook.open(out) as book:
        return {each.student: (each.passed, each.points, each.counts.get("robust")) for each in table(book)}


@pytest.mark.full_matrix("grader/gradebook", "grader/criterion.py")
def test_a_class_follows_the_course_unless_class_toml_says_otherwise(asking: Place, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert graded(asking, out) == {"ada": (True, 2.0, 1), "bob": (True, 2.0, 2)}
    rows = asking.process("class", "export", "--out", str(out), "--format", "csv").out.splitlines()
    ada = dict(next(csv.DictReader(rows)))
    assert (ada["criteria"], ada["criteria_passed"], ada["criteria_robust"]) == ("2", "2", "1")
    told = asking.process("class", "export", "--out", str(out), "--format", "moodle", "--stage", "s01").out
    assert "2 of 2 criteria · 1 robust" in told
    (out / "class.toml").write_text('passes = "all"\npartial = "kinds"\nkinds = { values = 3, refusals = 1 }\n')
    again = asking.process("class", "regrade", *CLASS[:-2], "--out", str(out), "--apply", "--reason", "stricter")
    assert again.code == 0 and "ada s01: 2 → 1.75 of 2" in again.out, again.err
    with Gradebook.open(out) as book:  # without class.toml: what it said is kept
        found = {each.student: (each.passed, each.points) for each in table(book)}
    assert found == {"ada": (False, 1.75), "bob": (True, 2.0)}


@pytest.mark.full_matrix("grader/gradebook", "grader/criterion.py")
def test_a_class_may_ask_for_less_than_its_course(asking: Place, tmp_path: Path) -> None:
    all_tests_count(asking)
    assert graded(asking, tmp_path / "out") == {"ada": (False, 1.0, 1), "bob": (True, 2.0, 2)}
    policy = tmp_path / "class.toml"
    policy.write_text('[stages.s01]\npasses = "mathematics"\n', encoding="utf-8")
    assert graded(asking, tmp_path / "other", "--policy", str(policy)) == {"ada": (True, 2.0, 1), "bob": (True, 2.0, 2)}


def test_a_refusal_that_never_ends_costs_no_test_that_counts(asking: Place) -> None:
    """Tests of a row that timed out are left out, but none that counts for one of its robustness."""
    manifest = asking.root / "stages" / "s01_numbers" / "stage.toml"
    manifest.write_text(manifest.read_text(encoding="utf-8") + "\n[limits]\ncall_seconds = 1.0\n", encoding="utf-8")
    endless = NUMBERS.replace("    return 2 * x", "    while isinstance(x, str):\n        pass\n    return 2 * x")
    asking.numbers.write_text(endless, encoding="utf-8")
    done = asking.run("check", "s01", "--isolation", "process", "--json")
    assert (done.code, done.json["counts"]) == (0, {"criteria": 2, "passed": 2, "robust": 1})
    assert [each["status"] for each in done.json["criteria"][0]["failures"]] == ["timed_out", "timed_out"]

"""The course proves itself: correct solutions pass, stubs do not start, mistakes are caught and named."""

from __future__ import annotations

import ast
import doctest
import os
from collections import Counter
from pathlib import Path

import pytest

from grader.course import proof
from grader.course.stub import stub_of
from grader.manifest import Course, Stage, load_course, public_names
from grader.mistakes import hidden_folder, load_mistakes, module_from, reference_source
from grader.verdict import Verdict

ROOT = Path(__file__).parent.parent.parent
COURSE = load_course(ROOT)
SEEDS = range(1000, 1000 + int(os.environ.get("COURSE_SEEDS", "3")))  # the nightly run takes 20
NAMED = 0.9  # of all known mistakes are named by their own name

each_stage = pytest.mark.parametrize("stage", COURSE.stages, ids=[stage.id for stage in COURSE.stages])


def shortfalls(course: Course, cases: list[proof.Case]) -> list[str]:
    """Return a line for each case that should pass and does not."""
    lines = []
    for case, verdict in proof.verdicts(course, cases):
        if not verdict.passed:
            lines.append(f"{case.name}, seed {case.seed}: {first_failure(verdict)}")
    return lines


def first_failure(verdict: Verdict) -> str:
    """Return the first thing that a verdict complains of."""
    if verdict.problem or verdict.faults:
        return str(verdict.problem or verdict.faults)
    row = next(row for row in verdict.criteria if row.status != "passed")
    failure = row.failures[0]
    return f"{row.id} {row.status}: {failure.test}: {failure.call}: {failure.message}"


@each_stage
def test_reference_passes_every_criterion_for_every_seed(stage: Stage) -> None:
    assert shortfalls(COURSE, proof.reference_cases(stage, SEEDS)) == []


@each_stage
def test_alternatives_pass_for_every_seed(stage: Stage) -> None:
    cases = proof.alternative_cases(stage, SEEDS)
    assert len({case.name for case in cases}) >= 3
    assert shortfalls(COURSE, cases) == []


@each_stage
def test_every_row_of_the_stub_is_not_started(stage: Stage) -> None:
    ((_, verdict),) = proof.verdicts(COURSE, proof.stub_cases(stage, [1]))
    assert {row.id: row.status for row in verdict.criteria} == {row.id: "not_started" for row in stage.criteria}
    assert not verdict.passed


@each_stage
def test_every_mistake_is_caught_by_its_row_and_named(stage: Stage) -> None:
    known = {f"mistakes/{mistake.id}": mistake for mistake in load_mistakes(stage)}
    missed, misnamed, unnamed = [], [], []
    for case, verdict in proof.verdicts(COURSE, proof.mistake_cases(stage, [SEEDS[0]])):
        mistake = known[case.name]
        row = next(row for row in verdict.criteria if row.id == mistake.criterion)
        names = {failure.diagnosis.mistake for failure in row.failures if failure.diagnosis}
        if verdict.passed or row.status in ("passed", "blocked", "grader_fault", "not_started"):
            missed.append(f"{mistake.id}: {row.status}")
        elif names - {mistake.id}:
            misnamed.append(f"{mistake.id} is called {names - {mistake.id}}")
        elif mistake.id not in names:
            unnamed.append(mistake.id)
    assert missed == []
    assert misnamed == []
    assert len(unnamed) <= (1 - NAMED) * len(known), unnamed


@each_stage
def test_each_row_has_three_mistakes_and_public_and_hidden_tests(stage: Stage) -> None:
    counts = Counter(mistake.criterion for mistake in load_mistakes(stage))
    assert {row.id: counts[row.id] for row in stage.criteria if counts[row.id] < 3} == {}
    assert set(counts) <= {row.id for row in stage.criteria}
    for folder in (stage.tests_path, hidden_folder(stage)):
        text = "".join(path.read_text(encoding="utf-8") for path in folder.glob("test_*.py"))
        assert [row.id for row in stage.criteria if f'criterion("{row.id}")' not in text] == []


@each_stage
def test_stub_is_what_the_solution_makes(stage: Stage) -> None:
    assert stage.module_path.read_text(encoding="utf-8") == stub_of(reference_source(stage))


@each_stage
def test_checklist_readme_and_stub_name_the_same_functions(stage: Stage) -> None:
    tree = ast.parse(stage.module_path.read_text(encoding="utf-8"))
    defined = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert {name.partition(".")[0] for name in public_names(stage)} == defined
    readme = stage.readme_path.read_text(encoding="utf-8")
    assert [name for name in defined if name not in readme] == []


@each_stage
def test_no_reference_or_mistake_uses_what_the_stage_forbids(stage: Stage) -> None:
    from grader.source_check import check_source
    from grader.submission import Snapshot

    for case in (
        *proof.reference_cases(stage, [0]),
        *proof.alternative_cases(stage, [0]),
        *proof.mistake_cases(stage, [0]),
    ):
        snapshot = Snapshot(stage.module, case.source.encode(), "", stage.module_path, case.name)
        assert check_source(stage, snapshot) is None, case.name


@each_stage
def test_every_docstring_has_an_example_and_those_that_run_are_right(stage: Stage) -> None:
    tree = ast.parse(stage.module_path.read_text(encoding="utf-8"))
    documented = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    assert [node.name for node in documented if "Example" not in (ast.get_docstring(node) or "")] == []
    assert doctest.testmod(module_from(reference_source(stage), f"{stage.name}_examples")).failed == 0

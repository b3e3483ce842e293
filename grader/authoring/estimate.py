"""Estimates how long each step of a stage takes, from the reference's lines and the known mistakes of its rows."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction

from grader.course.answers import load_mistakes, reference_source
from grader.course.stage import Stage
from grader.progress.steps import Step, steps_of, with_minutes

OF_A_LINE = Fraction(3, 2)  # minutes
OF_A_MISTAKE = Fraction(1, 2)
LEAST = 10
TO = 5  # minutes that an estimate is rounded to

_Definition = ast.FunctionDef | ast.ClassDef


def timed_readme(stage: Stage) -> str:
    """Return a stage's README, each step of which says how long it takes; CourseError without its answers."""
    text = stage.readme_path.read_text(encoding="utf-8")
    return with_minutes(text, estimate(stage, steps_of(stage, text)))


def estimate(stage: Stage, steps: tuple[Step, ...]) -> dict[int, int]:
    """Return the minutes of each step by its number: 3/2 for a line that it asks for, 1/2 for a mistake of its rows.

    Lines are those of the reference, as Python lays them out, without docstrings and comments. Steps that name the same
    function share its lines evenly.
    """
    functions = _functions(reference_source(stage), {name for row in stage.criteria for name in row.functions})
    named = {step.number: set(_reached(stage, step, functions)) for step in steps}
    sharing: dict[str, int] = defaultdict(int)
    for names in named.values():
        for name in names:
            sharing[name] += 1
    mistakes = [mistake.criterion for mistake in load_mistakes(stage)]
    found = {}
    for step in steps:
        lines = sum((Fraction(_lines(functions[name]), sharing[name]) for name in named[step.number]), Fraction(0))
        known = sum(mistakes.count(row) for row in step.rows)
        found[step.number] = max(LEAST, TO * int((OF_A_LINE * lines + OF_A_MISTAKE * known) / TO + Fraction(1, 2)))
    return found


def _functions(source: str, in_rows: set[str]) -> Mapping[str, _Definition]:
    """Return the functions and classes of a module; methods that rows name stand apart from their class."""
    found: dict[str, _Definition] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            methods = {f"{node.name}.{each.name}": each for each in node.body if isinstance(each, ast.FunctionDef)}
            apart = {name: method for name, method in methods.items() if name in in_rows}
            node.body = [each for each in node.body if each not in apart.values()] or [ast.Pass()]
            found |= apart
        if isinstance(node, _Definition):
            found[node.name] = node
    return found


def _reached(stage: Stage, step: Step, functions: Mapping[str, _Definition]) -> Iterator[str]:
    """Yield the functions of a step's rows, the classes of its methods, and the private helpers that these use."""
    queue = [name for row in step.rows for name in stage.criterion(row).functions]
    seen: set[str] = set()
    while queue:
        if (name := queue.pop()) in seen or name not in functions:
            continue
        seen.add(name)
        yield name
        used = {node.id for node in ast.walk(functions[name]) if isinstance(node, ast.Name)}
        queue += [each for each in sorted(used) if each.startswith("_")]
        queue += [name.partition(".")[0]]


def _lines(node: _Definition) -> int:
    """Return how many lines of code a definition has."""
    code = ast.parse(ast.unparse(node))
    for each in ast.walk(code):
        if isinstance(each, _Definition) and ast.get_docstring(each) is not None:
            each.body = each.body[1:] or [ast.Pass()]
    return sum(bool(line.strip()) for line in ast.unparse(code).splitlines())

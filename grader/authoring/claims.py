"""Claims that need no grading: a stage's files agree, nothing is left out, and each step says its estimated minutes."""

from __future__ import annotations

import ast
import doctest
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from grader.authoring.cases import ProofCase, alternative_cases, alternative_files, mistake_cases, reference_cases
from grader.course.answers import (
    PATCHES,
    WRITTEN,
    hidden_folder,
    load_mistakes,
    module_from,
    reference_source,
    stub_source,
)
from grader.course.provided import serving_stage
from grader.course.stage import Stage, public_names
from grader.errors import CourseError
from grader.progress import readme_steps
from grader.progress.readme_steps import ReadmeStep, steps_of, with_minutes
from grader.submission import Snapshot
from grader.submission.source import check_source

OF_A_LINE = Fraction(3, 2)  # minutes
OF_A_MISTAKE = Fraction(1, 2)
LEAST_MINUTES = 10
TO = 5  # minutes that an estimate is rounded to

_Definition = ast.FunctionDef | ast.ClassDef


def timed_readme(stage: Stage) -> str:
    """Return a stage's README, each step of which says how long it takes; CourseError without its answers."""
    text = stage.readme_path.read_text(encoding="utf-8")
    return with_minutes(text, estimate(stage, steps_of(stage, text)))


def estimate(stage: Stage, steps: tuple[ReadmeStep, ...]) -> dict[int, int]:
    """Return the minutes of each step by its number: 3/2 for a line that it asks for, 1/2 for a known mistake.

    Lines are those of the reference, as Python lays them out, without docstrings and comments. Steps that name the same
    function share its lines evenly.
    """
    functions = _functions(reference_source(stage), {name for each in stage.criteria for name in each.functions})
    named = {step.number: set(_reached(stage, step, functions)) for step in steps}
    sharing: dict[str, int] = defaultdict(int)
    for names in named.values():
        for name in names:
            sharing[name] += 1
    mistakes = [mistake.criterion for mistake in load_mistakes(stage)]
    found = {}
    for step in steps:
        lines = sum((Fraction(_lines(functions[name]), sharing[name]) for name in named[step.number]), Fraction(0))
        known = sum(mistakes.count(criterion) for criterion in step.criteria)
        found[step.number] = max(
            LEAST_MINUTES, TO * int((OF_A_LINE * lines + OF_A_MISTAKE * known) / TO + Fraction(1, 2))
        )
    return found


def _functions(source: str, in_criteria: set[str]) -> Mapping[str, _Definition]:
    """Return the functions and classes of a module; methods that criteria name stand apart from their class."""
    found: dict[str, _Definition] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            methods = {f"{node.name}.{each.name}": each for each in node.body if isinstance(each, ast.FunctionDef)}
            apart = {name: method for name, method in methods.items() if name in in_criteria}
            node.body = [each for each in node.body if each not in apart.values()] or [ast.Pass()]
            found |= apart
        if isinstance(node, _Definition):
            found[node.name] = node
    return found


def _reached(stage: Stage, step: ReadmeStep, functions: Mapping[str, _Definition]) -> Iterator[str]:
    """Yield the functions of a step's criteria, the classes of its methods, and the private helpers that these use."""
    queue = [name for criterion in step.criteria for name in stage.criterion(criterion).functions]
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


LEAST = 3  # mistakes a criterion, and alternatives a stage


@dataclass(frozen=True)
class Shortfall:
    """One thing that a stage lacks: the file (and line) where it is to be mended, what is wrong, and how to mend it."""

    stage: str
    place: str
    message: str
    fix: str


def claims(stage: Stage, in_mistakes: bool = True) -> Iterator[Shortfall]:
    """Yield what a stage's files lack; CourseError where one of them cannot be read.

    in_mistakes says whether forbidden names are looked for in the module of each mistake as well, which takes longest.
    """
    _require_python(stage)
    for claim in (_stub, _names, _readme, _tests, _mistakes, _alternatives):
        yield from claim(stage)
    yield from _forbidden(stage, in_mistakes)
    yield from _examples(stage)


def _require_python(stage: Stage) -> None:
    hidden = hidden_folder(stage)
    written = [] if mistakes_file(stage) == PATCHES and not (hidden / WRITTEN).is_file() else [WRITTEN]
    files = [(in_hidden(stage, file), hidden / file) for file in ("solution.py", *written)]
    files += [(in_hidden(stage, f"alternatives/{file.name}"), file) for file in alternative_files(stage)]
    for place, file in [*files, *((test_place(stage, file), file) for file in test_files(stage))]:
        try:
            ast.parse(file.read_text(encoding="utf-8"))
        except SyntaxError as error:
            raise CourseError(f"{place}:{error.lineno}: {error.msg}") from error
        except (OSError, ValueError) as error:  # no such file, no UTF-8, a null byte
            why = error.strerror if isinstance(error, OSError) else error
            raise CourseError(f"{place}: cannot be read: {why}") from error


def in_stage(stage: Stage, file: str, line: int | None = None) -> str:
    """Return the place of a file in the stage's folder, relative to the course."""
    return f"stages/{stage.name}/{file}" + (f":{line}" if line else "")


def in_hidden(stage: Stage, file: str, line: int | None = None) -> str:
    """Return the place of a file in the stage's hidden folder, relative to the course."""
    return f"{stage.hidden_place}/{file}" + (f":{line}" if line else "")


def place_of_file(stage: Stage, file: Path) -> str:
    """Return the place of a file of a stage, relative to the course."""
    if file.is_relative_to(stage.folder):
        return in_stage(stage, file.relative_to(stage.folder).as_posix())
    hidden = hidden_folder(stage)
    return in_hidden(stage, file.relative_to(hidden).as_posix() if file.is_relative_to(hidden) else "")


def _stub(stage: Stage) -> Iterator[Shortfall]:
    wanted = stub_source(stage)
    if not stage.module_path.exists() or stage.module_path.read_text(encoding="utf-8") != wanted:
        message = "the stub differs from what the solution makes"
        yield Shortfall(stage.id, in_stage(stage, stage.module), message, f"run `grader course stub {stage.id}`")


def _definitions(stage: Stage) -> dict[str, ast.FunctionDef | ast.ClassDef]:
    """Return the functions and classes of the solution, and methods as Class.method."""
    found: dict[str, ast.FunctionDef | ast.ClassDef] = {}
    for node in ast.parse(reference_source(stage)).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
            children = node.body if isinstance(node, ast.ClassDef) else []
            found |= {f"{node.name}.{each.name}": each for each in children if isinstance(each, ast.FunctionDef)}
    return found


def _defined(stage: Stage) -> dict[str, ast.FunctionDef | ast.ClassDef]:
    """Return what of it a learner writes: public names, and methods such as __init__."""
    return {name: node for name, node in _definitions(stage).items() if not _is_private(name)}


def _is_private(name: str) -> bool:
    return any(part.startswith("_") and not part.endswith("__") for part in name.split("."))


def _can_be_replaced(name: str, known: Container[str]) -> bool:
    """Say whether a mistake can stand in for a name: something defined, or a special method of a class that is."""
    owner, _, method = name.rpartition(".")
    return name in known or (owner in known and method.startswith("__") and method.endswith("__"))


def _names(stage: Stage) -> Iterator[Shortfall]:
    defined = _defined(stage)
    for criterion in stage.criteria:
        for name in criterion.functions:
            if name not in defined:
                message = f"criterion {criterion.id} is about {name}, which the solution does not define"
                yield Shortfall(stage.id, in_stage(stage, "stage.toml"), message, "fix the criterion's functions")
    for name in [name for name in defined if "." not in name and name not in public_names(stage)]:
        message = f"{name} is public in the solution and in no criterion of the checklist"
        fix = "give it a criterion, or a leading underscore"
        yield Shortfall(stage.id, in_stage(stage, "stage.toml"), message, fix)


def _readme(stage: Stage) -> Iterator[Shortfall]:
    text = stage.readme_path.read_text(encoding="utf-8") if stage.readme_path.exists() else ""
    unnamed = [name for name in public_names(stage) if name not in text]
    told = [(f"the README does not name {name}", "describe it in the contract") for name in unnamed]
    parts = readme_steps.steps_of(stage, text)
    for message, fix in [*told, *(readme_steps.faults(stage, parts) if text else ())]:
        yield Shortfall(stage.id, in_stage(stage, "README.md"), message, fix)
    wanted = estimate(stage, parts) if parts else {}
    for step in parts:
        if step.minutes != (minutes := wanted[step.number]):
            said = "says no minutes" if step.minutes is None else f"says {step.minutes} minutes"
            message = f"step {step.number} of the README {said}, its estimate is {minutes}"
            yield Shortfall(stage.id, in_stage(stage, "README.md"), message, f"run `grader course stub {stage.id}`")


def _tests(stage: Stage) -> Iterator[Shortfall]:
    defined, names = _defined(stage), {path.stem for path in test_files(stage)}
    used: set[str] = set()
    for path in test_files(stage):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for name in sorted(names & _parts(node)):
                    message = f"the tests import {name}, which a learner's copy cannot do"
                    fix = "move what both need into a module beside them whose name does not begin with test_"
                    yield Shortfall(stage.id, test_place(stage, path, node.lineno), message, fix)
            if not isinstance(node, ast.Attribute):
                continue
            used.add(node.attr)
            if isinstance(node.value, ast.Name) and node.value.id == "learner" and node.attr not in defined:
                message = f"the tests ask for {node.attr}, which the solution does not define"
                yield Shortfall(stage.id, test_place(stage, path, node.lineno), message, "fix the name")
    for name in [name for name in defined if name.rpartition(".")[2] not in used and not name.endswith("__")]:
        message = f"no test uses {name}"
        yield Shortfall(stage.id, in_stage(stage, "tests/"), message, "write a public and a hidden test of it")


def _parts(node: ast.Import | ast.ImportFrom) -> set[str]:
    """Return the parts of the dotted names that are imported."""
    module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
    return {part for each in node.names for part in f"{module}{each.name}".split(".")}


def test_files(stage: Stage) -> list[Path]:
    return [file for folder in (stage.tests_path, hidden_folder(stage)) for file in sorted(folder.glob("test_*.py"))]


def test_place(stage: Stage, path: Path, line: int | None = None) -> str:
    public = path.parent == stage.tests_path
    return in_stage(stage, f"tests/{path.name}", line) if public else in_hidden(stage, path.name, line)


def _mistakes(stage: Stage) -> Iterator[Shortfall]:
    known = load_mistakes(stage)
    ids, defined = {each.id for each in stage.criteria}, _definitions(stage)
    for mistake in known:
        place = in_hidden(stage, mistake.file, mistake.line)
        if mistake.criterion not in ids:
            message = f"{mistake.id}: no criterion is called {mistake.criterion}"
            yield Shortfall(stage.id, place, message, "name one of stage.toml")
        if not _can_be_replaced(mistake.replaces, defined):
            message = f"{mistake.id}: the solution does not define {mistake.replaces}"
            yield Shortfall(stage.id, place, message, "name a function, a class or a method of it")
    counts = Counter(mistake.criterion for mistake in known)
    for criterion in stage.criteria:
        if counts[criterion.id] < LEAST:
            message = f"criterion {criterion.id} has {counts[criterion.id]} known mistakes, expected at least {LEAST}"
            place = in_hidden(stage, mistakes_file(stage))
            yield Shortfall(stage.id, place, message, "add what people get wrong there")


def mistakes_file(stage: Stage) -> str:
    """Return the file that a new known mistake of a stage goes into: the patches, where there are any."""
    return PATCHES if (hidden_folder(stage) / PATCHES).is_file() else WRITTEN


def _alternatives(stage: Stage) -> Iterator[Shortfall]:
    cases = alternative_cases(stage, [0])
    if len(cases) < LEAST:
        solutions = "solution" if len(cases) == 1 else "solutions"
        message = f"{len(cases)} alternative {solutions}, expected at least {LEAST}"
        yield Shortfall(stage.id, in_hidden(stage, "alternatives/"), message, "add one of another method")
    seen = {_without_words(reference_source(stage)): "the solution"}
    for case in cases:
        other = seen.setdefault(_without_words(case.source), case.name)
        if other != case.name:
            message = f"{case.name} is the same program as {other}"
            yield Shortfall(stage.id, in_hidden(stage, f"{case.name}.py"), message, "write it by another method")


def _without_words(source: str) -> str:
    """Return a module's program alone: without docstrings, comments and layout."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def _forbidden(stage: Stage, in_mistakes: bool) -> Iterator[Shortfall]:
    cases: list[ProofCase] = [*reference_cases(stage, [0]), *alternative_cases(stage, [0])]
    for case in [*cases, *(mistake_cases(stage, [0]) if in_mistakes else ())]:
        snapshot = Snapshot(stage.module, case.source.encode(), "", stage.module_path, case.name)
        problem = check_source(stage, snapshot).first
        if problem is not None:
            said = problem.message.removesuffix(".")
            if case.name.startswith("mistakes/"):  # its line is one of the module that solution and mistake make
                said = re.sub(r"^line \d+: ", "", said)
            yield Shortfall(stage.id, place_of(stage, case.name), f"{case.name}: {said}", "do without it")


def place_of(stage: Stage, name: str) -> str:
    """Return the file that holds a case: the solution, the stub, an alternative, or a mistake with its line."""
    kind, _, which = name.partition("/")
    if kind == "mistakes":
        places = {mistake.id: (mistake.file, mistake.line) for mistake in load_mistakes(stage)}
        return in_hidden(stage, *places.get(which, (mistakes_file(stage), None)))
    if kind == "stub":
        return in_stage(stage, stage.module)
    return in_hidden(stage, f"{name}.py" if kind == "alternatives" else "solution.py")


def _examples(stage: Stage) -> Iterator[Shortfall]:
    for name, node in _defined(stage).items():
        if "." not in name and "Example" not in (ast.get_docstring(node) or ""):
            message = f"the docstring of {name} has no example"
            yield Shortfall(stage.id, in_hidden(stage, "solution.py", node.lineno), message, "add one for doctest")
    with serving_stage(stage):
        yield from _examples_of(stage)


def _examples_of(stage: Stage) -> Iterator[Shortfall]:
    place = in_hidden(stage, "solution.py")
    try:
        module = module_from(reference_source(stage), f"{stage.name}_examples")
    except Exception as error:  # whatever stands in the module has been run
        message = f"the solution cannot be imported: {type(error).__name__}: {error}"
        yield Shortfall(stage.id, place, message, "fix that line")
        return
    runner = doctest.DocTestRunner(verbose=False)
    for test in doctest.DocTestFinder().find(module):
        if runner.run(test, out=lambda text: None).failed:
            yield Shortfall(stage.id, place, f"an example of {test.name} is not right", f"run doctest on {place}")
    yield from _worked_examples(stage, vars(module))


def _worked_examples(stage: Stage, names: dict[str, object]) -> Iterator[Shortfall]:
    """Run the README's examples with the solution's names and NumPy's: the numbers that it teaches have to be right."""
    if not stage.readme_path.exists():
        return
    text = stage.readme_path.read_text(encoding="utf-8")
    program = "\n".join("" if line.lstrip().startswith("```") else line for line in text.splitlines())
    told: list[str] = []
    place = in_stage(stage, "README.md")
    test = doctest.DocTestParser().get_doctest(program, {"np": np, **names}, "README.md", "README.md", 0)
    if not test.examples:
        yield Shortfall(stage.id, place, "the README works no example", "show numbers as `>>> function(...)`")
    elif doctest.DocTestRunner(verbose=False).run(test, out=told.append).failed:
        yield Shortfall(stage.id, place, "an example is not right: " + " ".join("".join(told).split()), "fix it")

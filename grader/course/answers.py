"""The answers of a stage: its reference solution, and the known wrong ones that mistakes.py declares."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from grader.course.sealed import is_sealed, opened, stub
from grader.course.stage import Stage
from grader.course.stub import stub_of
from grader.errors import CourseError

Wrong = TypeVar("Wrong")
ALTERNATIVES = "alternatives/"
FIELDS = ("criterion", "replaces", "text", "fix")


def mistake(*, criterion: str, replaces: str, text: str, fix: str) -> Callable[[Wrong], Wrong]:
    """Declare a wrong implementation; the declaration is read from the syntax tree, so this changes nothing.

    criterion is the row of the checklist that fails because of it, replaces the public name (or Class.method)
    that it stands in for, text what a learner reads and fix what to do next.
    """
    del criterion, replaces, text, fix
    return lambda wrong: wrong


@dataclass(frozen=True)
class Mistake:
    """One known wrong answer; source is its definition and the assignment that puts it in place."""

    id: str
    criterion: str
    replaces: str
    text: str
    fix: str
    source: str
    line: int = 0


def hidden_folder(stage: Stage) -> Path:
    """Return where a stage's hidden tests and answers lie, unless they are sealed."""
    return stage.hidden_root / stage.name


def reference_source(stage: Stage) -> str:
    """Return the text of the reference solution; CourseError where there is none."""
    return _text(stage, "solution.py")


def stub_source(stage: Stage) -> str:
    """Return what a stage's module is before anyone has worked on it."""
    return stub(stage) if is_sealed(stage) else stub_of(reference_source(stage), stage.importable)


def alternative_sources(stage: Stage) -> dict[str, str]:
    """Return the texts of the other right modules of a stage by their names; none where none can be read."""
    if is_sealed(stage):
        hidden = opened(stage).hidden
        found = {Path(name).stem: text for name, text in sorted(hidden.items()) if name.startswith(ALTERNATIVES)}
        return {name: text for name, text in found.items() if name not in ("__init__", stage.withheld)}
    files = sorted((hidden_folder(stage) / ALTERNATIVES).glob("*.py"))
    return {
        file.stem: file.read_text(encoding="utf-8") for file in files if file.stem not in ("__init__", stage.withheld)
    }


def load_mistakes(stage: Stage) -> tuple[Mistake, ...]:
    """Return the known mistakes of a stage; CourseError names each declaration that is not one."""
    return _known(_text(stage, "mistakes.py"), f"{stage.name}/mistakes.py")


def _text(stage: Stage, name: str) -> str:
    path = hidden_folder(stage) / name
    try:
        if is_sealed(stage):
            return opened(stage).hidden[name]
        return path.read_text(encoding="utf-8")
    except KeyError as error:
        raise CourseError(f"{stage.name}.sealed holds no {name}") from error
    except OSError as error:
        raise CourseError(f"{path.parent.name}/{path.name} cannot be read: {error.strerror}") from error


@lru_cache(2)  # of the stage that is graded again and again
def _known(text: str, file: str) -> tuple[Mistake, ...]:
    return tuple(_declared(text, file))


def _declared(text: str, file: str) -> Iterator[Mistake]:
    seen: dict[str, int] = {}
    lines = text.split("\n")
    for node in ast.parse(text).body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or not node.decorator_list:
            continue
        fields = _fields(node.decorator_list[0], f"{file}:{node.lineno}")
        if node.name in seen:
            raise CourseError(f"{file}:{node.lineno}: {node.name} is declared in line {seen[node.name]} too")
        seen[node.name] = node.lineno
        definition = "\n".join(lines[node.lineno - 1 : node.end_lineno])  # without its decorators
        source = f"{definition}\n\n\n{fields['replaces']} = {node.name}\n"
        yield Mistake(node.name.replace("_", "-"), **fields, source=source, line=node.lineno)


def _fields(decorator: ast.expr, place: str) -> dict[str, str]:
    if not isinstance(decorator, ast.Call):
        raise CourseError(f"{place}: expected @mistake(criterion=…, replaces=…, text=…, fix=…)")
    try:
        fields = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in decorator.keywords}
    except ValueError as error:
        raise CourseError(f"{place}: the arguments of @mistake are literal text: {error}") from error
    if sorted(fields) != sorted(FIELDS) or not all(isinstance(value, str) and value for value in fields.values()):
        raise CourseError(f"{place}: @mistake takes {', '.join(FIELDS)}, each as text; got {', '.join(fields)}")
    return fields


def module_from(source: str | types.CodeType, name: str, *more: str) -> types.ModuleType:
    """Run trusted source (then each text of more in the same names) as a module of its own."""
    module = types.ModuleType(name)
    sys.modules[name] = module  # dataclasses look their module up
    exec(source if isinstance(source, types.CodeType) else compile(source, f"<{name}>", "exec"), module.__dict__)
    for text in more:
        exec(compile(text, f"<{name}>", "exec"), module.__dict__)
    return module

"""The answers of a stage: its reference solution, and the known wrong ones.

A known mistake that is a small change of the reference is a patch of it in mistakes.toml; what needs code of its own is
a function in mistakes.py. A stage has either file, or both.
"""

from __future__ import annotations

import ast
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from grader.course.patches import definitions, patch_in
from grader.course.premise import Premise
from grader.course.premise import parsed as pattern_of
from grader.course.root import parsed
from grader.course.sealed import is_sealed, opened, stub
from grader.course.stage import Stage
from grader.course.stub import stub_of
from grader.course.table import Rule, Table, did_you_mean
from grader.errors import CourseError

Wrong = TypeVar("Wrong")
ALTERNATIVES = "alternatives/"
FIELDS = ("criterion", "replaces", "text", "fix")
PREMISE, NO_PREMISE = ("absent", "present"), Premise()
PATCHES, WRITTEN = "mistakes.toml", "mistakes.py"
_ID: Rule = re.compile(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*"), "words with dashes between them, as in 'forgot-scaling'"


def mistake(
    *, criterion: str, replaces: str, text: str, fix: str, absent: tuple[str, ...] = (), present: tuple[str, ...] = ()
) -> Callable[[Wrong], Wrong]:
    """Declare a wrong implementation; the declaration is read from the syntax tree, so this changes nothing.

    criterion is the row of the checklist that fails because of it, replaces the public name (or Class.method)
    that it stands in for, text what a learner reads and fix what to do next; absent and present are its premise.
    """
    del criterion, replaces, text, fix, absent, present
    return lambda wrong: wrong


@dataclass(frozen=True)
class Mistake:
    """One known wrong answer; source, run after the reference, puts it in place. file and line say where it stands."""

    id: str
    criterion: str
    replaces: str
    text: str
    fix: str
    source: str
    line: int = 0
    file: str = WRITTEN
    premise: Premise = NO_PREMISE  # what the learner's text has to hold, or to lack, for the sentences to be true


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
        return {name: text for name, text in found.items() if name not in ("__init__", *stage.withheld)}
    files = sorted((hidden_folder(stage) / ALTERNATIVES).glob("*.py"))
    return {
        file.stem: file.read_text(encoding="utf-8") for file in files if file.stem not in ("__init__", *stage.withheld)
    }


def load_mistakes(stage: Stage) -> tuple[Mistake, ...]:
    """Return the known mistakes of a stage; CourseError names each declaration that is not one."""
    patches = _text(stage, PATCHES) if _has(stage, PATCHES) else None
    written = _text(stage, WRITTEN) if patches is None or _has(stage, WRITTEN) else None
    return _known(patches, written, reference_source(stage) if patches is not None else "", stage.name)


def _has(stage: Stage, name: str) -> bool:
    return name in opened(stage).hidden if is_sealed(stage) else (hidden_folder(stage) / name).is_file()


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
def _known(patches: str | None, written: str | None, reference: str, stage: str) -> tuple[Mistake, ...]:
    found = [] if patches is None else [*_patched(patches, reference, f"{stage}/{PATCHES}")]
    found += [] if written is None else _declared(written, f"{stage}/{WRITTEN}")
    lines: dict[str, Mistake] = {}
    for each in found:
        if (other := lines.setdefault(each.id, each)) is not each:
            place = f"{stage}/{each.file}:{each.line}"
            raise CourseError(f"{place}: {each.id} is declared in {other.file}, line {other.line}, too")
    return tuple(found)


def _patched(text: str, reference: str, file: str) -> Iterator[Mistake]:
    """Yield the mistakes of a text in TOML, whose tables are [criterion.function.id]; CourseError lists what is wrong.

    A name with a dot stands in quotation marks, as in [forward."Layer.forward".bias-forgotten].
    """
    wrong: list[str] = []
    known = definitions(reference)
    lines = {line.strip().removesuffix("]").rpartition(".")[2]: at for at, line in enumerate(text.split("\n"), 1)}
    top = Table(parsed(text, file), f"{file}: ", wrong)
    found = []
    for criterion in top.values:
        of_row = top.table(criterion)
        for replaces in of_row.values:
            of_function = of_row.table(replaces)
            for name in of_function.values:
                entry = of_function.table(name)
                if any(isinstance(value, dict) for value in entry.values.values()):
                    quoted = f'[{criterion}."{replaces}.{name}".{next(iter(entry.values))}]'
                    of_function.wrong(name, f"is no mistake; a name with a dot is quoted, as in {quoted}")
                    continue
                if not _ID[0].fullmatch(name):
                    of_function.wrong(name, f"is not {_ID[1]}; tables are [criterion.function.id]")
                elif (patched := _entry(entry, name, replaces, known)) is not None:
                    said, premise = (entry.text("text"), entry.text("fix")), _premise(entry, patched)
                    line = lines.get(name, 0)
                    found.append(Mistake(name, criterion, replaces, *said, patched, line, PATCHES, premise))
                entry.close()
    if wrong:
        raise CourseError("\n".join(wrong))
    yield from found


def _entry(entry: Table, name: str, replaces: str, known: Mapping[str, str]) -> str | None:
    """Return what puts a patched definition in place of the reference's; None where that is noted as wrong.

    It is the definition of what the mistake replaces, or, with the key `in`, of a helper or a class behind it.
    """
    entry.knows("text", "fix", "absent", "present")
    target = entry.text("in") if "in" in entry.values else replaces
    patch = patch_in(entry)
    if target not in known:
        entry.wrong("in", f"the solution does not define {target}{did_you_mean(target, known)}")
        return None
    text = patch.applied(known[target], f"{target} of solution.py, docstrings left out")
    owner, _, method = target.rpartition(".")
    if not owner:
        return f"{text}\n"
    if "super()" in text:
        entry.wrong("find", f"{target} calls super(): write in = {owner!r}, and find it in the whole class")
    function = name.replace("-", "_")
    renamed = re.sub(rf"^def {method}\b", f"def {function}", text, count=1, flags=re.MULTILINE)
    return f"{renamed}\n\n\n{target} = {function}\n"


def _premise(entry: Table, patched: str) -> Premise:
    """Return the premise of a mistake; what is no pattern, or untrue of the wrong answer itself, is noted as wrong."""
    premise = Premise(entry.texts("absent"), entry.texts("present"))
    for key, patterns in (("absent", premise.absent), ("present", premise.present)):
        for pattern in patterns:
            try:
                pattern_of(pattern)
            except SyntaxError as error:
                entry.wrong(key, f"{pattern!r} is no Python: {error}")
                return Premise()
    try:
        found = premise.contradiction([ast.parse(patched)]) if premise else None
    except SyntaxError:  # noted where the patch is made
        found = None
    if found is not None:
        key, pattern = found
        entry.wrong(key, f"{pattern!r} is {'' if key == 'absent' else 'not '}in what the patch makes")
    return premise


def _declared(text: str, file: str) -> Iterator[Mistake]:
    lines = text.split("\n")
    for node in ast.parse(text).body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or not node.decorator_list:
            continue
        fields = _fields(node.decorator_list[0], f"{file}:{node.lineno}")
        definition = "\n".join(lines[node.lineno - 1 : node.end_lineno])  # without its decorators
        source = f"{definition}\n\n\n{fields['replaces']} = {node.name}\n"
        premise = _declared_premise(node.decorator_list[0], f"{file}:{node.lineno}")
        if premise and (found := premise.contradiction(node.body)) is not None:
            raise CourseError(f"{file}:{node.lineno}: {found[0]}: {found[1]!r} does not fit the wrong answer itself")
        yield Mistake(node.name.replace("_", "-"), **fields, source=source, line=node.lineno, premise=premise)


def _declared_premise(decorator: ast.expr, place: str) -> Premise:
    """Return the premise that @mistake names as absent and present."""
    given = {each.arg: each.value for each in getattr(decorator, "keywords", []) if each.arg in PREMISE}
    try:
        patterns = {str(name): tuple(ast.literal_eval(value)) for name, value in given.items()}
        for each in (pattern for some in patterns.values() for pattern in some):
            pattern_of(each)
    except (SyntaxError, ValueError, TypeError) as error:
        raise CourseError(f"{place}: absent and present of @mistake are tuples of Python patterns: {error}") from error
    return Premise(**patterns)


def _fields(decorator: ast.expr, place: str) -> dict[str, str]:
    if not isinstance(decorator, ast.Call):
        raise CourseError(f"{place}: expected @mistake(criterion=…, replaces=…, text=…, fix=…)")
    try:
        keywords = [keyword for keyword in decorator.keywords if keyword.arg not in PREMISE]
        fields = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in keywords}
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

"""The answers of a stage: its reference solution, and the known wrong ones.

A known mistake that is a small change of the reference is a patch of it in mistakes.toml: texts that occur once in a
program, and what replaces them.

    find = "Q @ transposed(K)"
    replace = "K @ transposed(Q)"
    also = [{ find = "Q.shape[-1]", replace = "K.shape[-1]" }]

What needs code of its own is a function in mistakes.py. A stage has either file, or both. The premise of a mistake says
what a learner's text holds or lacks where the mistake's sentence is true.

    absent = ["sqrt", "_ ** 0.5"]      # "the square root is missing"
    present = ["mask"]                 # "the mask is inverted"

A plain name stands for that name wherever it is used: of a variable, an attribute, a keyword, a function or a key; that
an argument of the function has the name does not count. Any other pattern is a Python expression or statement, in
which _ stands for any expression.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from grader.course.sealed import is_sealed, opened, stub
from grader.course.stage import Stage
from grader.course.stub import stub_of
from grader.course.table import Rule, Table, did_you_mean, parsed
from grader.errors import CourseError

ANY = "_"


@dataclass(frozen=True)
class Premise:
    """Patterns of which none may be in a text, and patterns of which each has to be."""

    absent: tuple[str, ...] = ()
    present: tuple[str, ...] = ()

    def contradiction(self, functions: Iterable[ast.AST]) -> tuple[str, str] | None:
        """Return the key and the pattern that functions contradict; None where the premise holds."""
        nodes = [node for function in functions for node in ast.walk(function)]
        for pattern in self.absent:
            if any(is_match(pattern_of(pattern), node) for node in nodes):
                return "absent", pattern
        for pattern in self.present:
            if not any(is_match(pattern_of(pattern), node) for node in nodes):
                return "present", pattern
        return None

    def __bool__(self) -> bool:
        return bool(self.absent or self.present)


@lru_cache(512)  # patterns of a stage
def pattern_of(pattern: str) -> ast.AST:
    """Return the tree of a pattern; SyntaxError where it is none."""
    statements = ast.parse(pattern).body
    if len(statements) != 1:
        raise SyntaxError(f"{pattern!r} is not one expression or statement")
    (statement,) = statements
    return statement.value if isinstance(statement, ast.Expr) else statement


def is_match(pattern: ast.AST, node: ast.AST) -> bool:
    """Say whether a node is what a pattern stands for."""
    if isinstance(pattern, ast.Name):
        return pattern.id in _names(node)
    return _is_same(pattern, node)


def _names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.keyword(arg=str(name)) | ast.Constant(value=str(name)):
            yield name


def _is_same(pattern: object, node: object) -> bool:
    if isinstance(pattern, ast.Name) and pattern.id == ANY:
        return isinstance(node, ast.expr)
    if isinstance(pattern, list) and isinstance(node, list):
        return len(pattern) == len(node) and all(map(_is_same, pattern, node))
    if isinstance(pattern, ast.AST):
        names = [name for name in pattern._fields if name not in ("ctx", "type_comment")]
        same = type(pattern) is type(node)
        return same and all(_is_same(getattr(pattern, name, None), getattr(node, name, None)) for name in names)
    return type(pattern) is type(node) and pattern == node


ANY_TEXT: Rule = r"(?s).*", "a text"
KEBAB: Rule = r"[a-z0-9]+(-[a-z0-9]+)*", "kebab-case, as in 'keys-projected-with-w-q'"


@dataclass(frozen=True)
class Replacement:
    """A text that occurs once in a program, and what replaces it."""

    find: str
    replace: str


@dataclass(frozen=True)
class Patch:
    """The edits that a table holds, each with the table that it stands in, which takes the complaints about it."""

    edits: tuple[tuple[Table, Replacement], ...]

    def applied(self, text: str, of: str) -> str:
        """Return a text with every edit made; what does not fit is noted, and that edit left out.

        of is what the text is called in a complaint, such as "solution.py".
        """
        spans: list[tuple[int, Replacement]] = []
        is_fine = True
        for table, edit in self.edits:
            complaint = _complaint(text, of, edit, spans)
            if complaint:
                is_fine = False
                table.wrong(*complaint)
            else:
                spans.append((text.index(edit.find), edit))
        patched = text
        for start, edit in sorted(spans, key=lambda span: span[0], reverse=True):
            patched = patched[:start] + edit.replace + patched[start + len(edit.find) :]
        try:
            ast.parse(patched)
        except SyntaxError as error:
            if is_fine:
                self.edits[0][0].wrong("replace", f"makes text that is no Python: {error}")
        return patched


def patch_in(table: Table) -> Patch:
    """Return the patch that a table holds as find and replace, and further pairs as also."""
    more = table.tables("also") if "also" in table.values else []
    edits = tuple((each, Replacement(each.text("find"), each.text("replace", ANY_TEXT))) for each in (table, *more))
    for each in more:
        each.close()
    return Patch(edits)


def _complaint(
    text: str, of: str, edit: Replacement, spans: Sequence[tuple[int, Replacement]]
) -> tuple[str, str] | None:
    """Return the key that is wrong, and what is wrong with it; None where the edit can be made."""
    found = text.count(edit.find) if edit.find else 1
    if found != 1:
        remedy = "add what stands before or behind it" if found else "copy it from there"
        return "find", f"{edit.find!r} occurs {found} times in {of}; expected once: {remedy}"
    if edit.find == edit.replace:
        return "replace", "is the same text as find"
    start = text.index(edit.find)
    if any(start < other + len(each.find) and other < start + len(edit.find) for other, each in spans):
        return "find", f"{edit.find!r} overlaps with another find of this patch"
    return None


def definitions(program: str) -> Mapping[str, str]:
    """Return the text of each function, class and method (as Class.method) of a program, without docstrings.

    A method's text begins at the left margin.
    """
    lines = program.split("\n")
    found: dict[str, str] = {}
    for node in ast.parse(program).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = _text(node, lines)
            methods = node.body if isinstance(node, ast.ClassDef) else []
            found |= {
                f"{node.name}.{each.name}": textwrap.dedent(_text(each, lines))
                for each in methods
                if isinstance(each, ast.FunctionDef)
            }
    return found


def _text(definition: ast.FunctionDef | ast.ClassDef, lines: Sequence[str]) -> str:
    left_out: set[int] = set()
    for node in ast.walk(definition):
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or ast.get_docstring(node) is None:
            continue
        if len(node.body) > 1:
            end = node.body[0].end_lineno or node.body[0].lineno
            left_out |= {*range(node.body[0].lineno, end + 1 + (not lines[end].strip()))}
    first = min([definition.lineno, *(each.lineno for each in definition.decorator_list)])
    kept = [number for number in range(first, (definition.end_lineno or first) + 1) if number not in left_out]
    return "\n".join(lines[number - 1] for number in kept)


Wrong = TypeVar("Wrong")
ALTERNATIVES = "alternatives/"
FIELDS = ("criterion", "replaces", "text", "fix")
PREMISE, NO_PREMISE = ("absent", "present"), Premise()
PATCHES, WRITTEN = "mistakes.toml", "mistakes.py"
_ID: Rule = r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*", "words with dashes between them, as in 'forgot-scaling'"


def mistake(
    *, criterion: str, replaces: str, text: str, fix: str, absent: tuple[str, ...] = (), present: tuple[str, ...] = ()
) -> Callable[[Wrong], Wrong]:
    """Declare a wrong implementation; the declaration is read from the syntax tree, so this changes nothing.

    criterion is the one that fails because of it, replaces the public name (or Class.method)
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
    return _hidden_text(stage, "solution.py")


def stub_source(stage: Stage) -> str:
    """Return what a stage's module is before anyone has worked on it; CourseError where the reference is no Python."""
    if is_sealed(stage):
        return stub(stage)
    source = reference_source(stage)
    try:
        return stub_of(source, stage.importable)
    except (SyntaxError, ValueError) as error:  # ValueError: a null byte
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        what = error.msg if isinstance(error, SyntaxError) else str(error)
        hint = "Mend the solution: the stub is made from it."
        raise CourseError(f"{stage.hidden_place}/solution.py{line}: {what}", hint) from error


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
    patches = _hidden_text(stage, PATCHES) if _has(stage, PATCHES) else None
    written = _hidden_text(stage, WRITTEN) if patches is None or _has(stage, WRITTEN) else None
    return _known(patches, written, reference_source(stage) if patches is not None else "", stage.name)


def _has(stage: Stage, name: str) -> bool:
    return name in opened(stage).hidden if is_sealed(stage) else (hidden_folder(stage) / name).is_file()


def _hidden_text(stage: Stage, name: str) -> str:
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
        of_criterion = top.table(criterion)
        for replaces in of_criterion.values:
            of_function = of_criterion.table(replaces)
            for name in of_function.values:
                entry = of_function.table(name)
                if any(isinstance(value, dict) for value in entry.values.values()):
                    quoted = f'[{criterion}."{replaces}.{name}".{next(iter(entry.values))}]'
                    of_function.wrong(name, f"is no mistake; a name with a dot is quoted, as in {quoted}")
                    continue
                if not re.fullmatch(_ID[0], name):
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

"""Checks of a module by its text alone: does it read, what does it import, what is forbidden.

Everything here looks at the syntax tree; nothing is run. What stands under `if __name__ == "__main__":` is left
alone, because it never runs when a stage is checked: that is the place for trying things out and for plots.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from grader.course.stage import Stage, public_names
from grader.submission import Snapshot
from grader.submission.forbidden import key_of, reached
from grader.submission.parsing import (
    Problem,
    SourceFindings,
    bound_names,
    decoded,
    is_python,
    parsed,
    quick_to_decode,
    without_main_block,
)
from grader.submission.reading import (
    import_problem,
    is_plain,
    laid_out,
    look,
    look_apart,
    only_imports,
    stand_ins,
)


def check_source(stage: Stage, snapshot: Snapshot) -> SourceFindings:
    """What stands in the way: encoding, then syntax, then imports, then, for each function, what the stage forbids.

    A text that may take Python long is read in another process. Raises GraderFault where there is none to be had.
    """
    functions = tuple(dict.fromkeys(name for criterion in stage.criteria for name in criterion.functions))
    text = _plain(snapshot.source)
    if text is None:
        return look_apart(snapshot.source, stage.module, stage.forbidden, functions, stage.importable)
    if isinstance(text, Problem):
        return SourceFindings(text)
    forbids = stage.forbidden.operators or stage.forbidden.names
    if not forbids and _is_loadable(text, stage):
        return SourceFindings()
    return look(text, stage.module, stage.forbidden, functions, stage.importable)


def check_loading(stage: Stage, snapshot: Snapshot) -> SourceFindings:
    """As check_source, without what the stage forbids: whether a module can be imported, as far as its text tells."""
    text = _plain(snapshot.source)
    if text is None:
        return check_source(stage, snapshot)
    if isinstance(text, str) and _is_loadable(text, stage):
        return SourceFindings()
    tree = text if isinstance(text, Problem) else parsed(text)
    if isinstance(tree, Problem):
        return SourceFindings(tree)
    nodes = list(ast.walk(without_main_block(tree)))
    problem = import_problem(nodes, stage.module, stage.importable)
    return SourceFindings(problem, stood_in=stand_ins(nodes, stage.importable))


def _is_loadable(text: str, stage: Stage) -> bool:
    """Say whether a text is known to be Python that imports nothing else, as most are: no tree is needed for it."""
    return only_imports(text, stage.importable) and is_python(text)


def refused_criteria(stage: Stage, reading: SourceFindings) -> dict[str, Problem]:
    """The criteria of the checklist that are about a refused function, each with the problem that comes first."""
    found: dict[str, Problem] = {}
    for criterion in stage.criteria:
        if problems := [reading.refused[name] for name in criterion.functions if name in reading.refused]:
            found[criterion.id] = min(problems, key=lambda problem: problem.line or 0)
    return found


def plain_text(source: bytes) -> str | None:
    """The text of a module, if it is one that Python is known to read at once."""
    text = _plain(source)
    return text if isinstance(text, str) else None


@lru_cache(8)  # of a module that is graded it is asked before a judge is forked, and in it again and again
def _plain(source: bytes) -> str | Problem | None:
    """The text, or why it has none; nothing where it is not plain."""
    if not quick_to_decode(source):
        return None
    text = decoded(source)
    return text if isinstance(text, Problem) or is_plain(text) else None


def stubs_that_count(text: str | None) -> Iterator[str]:
    """Yield in words which functions are written, and have their stub further down, which replaces them."""
    names = re.findall(r"^def (\w+)", text or "", re.MULTILINE)
    tree = parsed(text or "") if len(set(names)) < len(names) else None
    last: dict[str, ast.FunctionDef] = {}
    for each in tree.body if isinstance(tree, ast.Module) else ():
        if isinstance(each, ast.FunctionDef):
            before = last.get(each.name)
            if before is not None and _is_stub(each) and not _is_stub(before):
                what = f"the stub of {each.name} in line {each.lineno} replaces what line {before.lineno} defines"
                yield f"{what}: delete the stub"
            last[each.name] = each


def _is_stub(node: ast.FunctionDef) -> bool:
    line = node.body[-1]
    return len(node.body) <= 2 and isinstance(line, ast.Raise) and "NotImplementedError" in ast.dump(line)


def defined_names(source: bytes) -> set[str]:
    """Names that the top level of a module of the course binds; none where the text is no Python."""
    text = decoded(source)
    tree = text if isinstance(text, Problem) else parsed(text)
    if isinstance(tree, Problem):
        return set()
    return {name for statement in without_main_block(tree).body for name in _bound(statement)}


def missing_names(stage: Stage, snapshot: Snapshot) -> tuple[str, ...]:
    """Public names of the stage that the module's text does not define."""
    defined = defined_names(snapshot.source)
    return tuple(name for name in public_names(stage) if name not in defined)


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement binds around it; the inside of a function, class or comprehension is its own."""
    queue: list[ast.AST] = [statement]
    while queue:
        node = queue.pop()
        if names := bound_names(node):
            yield from names
        elif not isinstance(node, ast.comprehension) and not (isinstance(node, ast.AnnAssign) and node.value is None):
            queue.extend(ast.iter_child_nodes(node))


def reaches(stage: Stage, text: str | None) -> Mapping[str, frozenset[str]]:
    """Return for each function of the checklist the others that it mentions, or that what it mentions does.

    text is None where the module's is not one that Python reads at once: then nothing is known, and no function leads
    to any other.
    """
    return {} if text is None else _reaches(_names(stage), text)


def helpers(stage: Stage, text: str | None) -> Mapping[str, frozenset[str]]:
    """Return for each function of the checklist those that it leads to and that are the module's own; text as above."""
    return {} if text is None else _helpers(_names(stage), text)


def _names(stage: Stage) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for criterion in stage.criteria for name in criterion.functions))


@lru_cache(8)
def _reaches(names: tuple[str, ...], text: str) -> Mapping[str, frozenset[str]]:
    if isinstance(layout := laid_out(text), Problem):
        return {}
    keys = {name: key_of(layout, name) for name in names}
    leading = {name: reached(layout, [key]) for name, key in keys.items() if key in layout.owners}
    return {
        name: frozenset(other for other in leading if keys[other] != keys[name] and keys[name] in leading[other])
        for name in names
    }


@lru_cache(8)
def _helpers(names: tuple[str, ...], text: str) -> Mapping[str, frozenset[str]]:
    """Return for each name what it leads to and is not among the names; asked for where a test failed alone."""
    if isinstance(layout := laid_out(text), Problem):
        return {}
    known = {name.partition(".")[0] for name in names}
    leading = {key: reached(layout, [key]) for key in layout.owners if key.isidentifier() and key not in known}
    return {name: frozenset(key for key in leading if key_of(layout, name) in leading[key]) for name in names}

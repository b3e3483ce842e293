"""Patches: texts in TOML that say what occurs once in a program, and what replaces it.

    find = "Q @ transposed(K)"
    replace = "K @ transposed(Q)"
    also = [{ find = "Q.shape[-1]", replace = "K.shape[-1]" }]

A known mistake patches a definition of the reference, a slip of the bank the module of another solution.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.course.table import Rule, Table

ANY: Rule = re.compile(r".*", re.DOTALL), "a text"
KEBAB: Rule = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*"), "kebab-case, as in 'keys-projected-with-w-q'"


@dataclass(frozen=True)
class Edit:
    """A text that occurs once in a program, and what replaces it."""

    find: str
    replace: str


@dataclass(frozen=True)
class Patch:
    """The edits that a table holds, each with the table that it stands in, which takes the complaints about it."""

    edits: tuple[tuple[Table, Edit], ...]

    def applied(self, text: str, of: str) -> str:
        """Return a text with every edit made; what does not fit is noted, and that edit left out.

        of is what the text is called in a complaint, such as "solution.py".
        """
        spans: list[tuple[int, Edit]] = []
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
    edits = tuple((each, Edit(each.text("find"), each.text("replace", ANY))) for each in (table, *more))
    for each in more:
        each.close()
    return Patch(edits)


def _complaint(text: str, of: str, edit: Edit, spans: Sequence[tuple[int, Edit]]) -> tuple[str, str] | None:
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

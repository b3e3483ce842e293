"""What the mutants of a function of one statement hold in its place."""

from __future__ import annotations

from grader.course.mutants import mutants


def changed(statement: str) -> list[str]:
    """Return what each mutant of a function of one statement holds in its place."""
    lines = "\n".join(f"    {line}" for line in statement.splitlines())
    return [mutant.now for mutant in mutants(f"def function():\n{lines}\n")]


def returned(expression: str) -> list[str]:
    """Return what each mutant of a function returns instead of an expression."""
    return [text.removeprefix("return ") for text in changed(f"return {expression}")]

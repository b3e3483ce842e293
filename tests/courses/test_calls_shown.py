"""A failure shows the call that was made last, so a test looks at what a call gave before it makes the next."""

from __future__ import annotations

import ast

from tests.support.places import HIDDEN, ROOT

FILES = sorted([*ROOT.glob("stages/s*/tests/test_*.py"), *HIDDEN.glob("s*/test_*.py")])


def _made(test: ast.FunctionDef) -> set[str]:
    """Return the names of what a test had the learner's code make."""
    assigned = [
        node for node in ast.walk(test) if isinstance(node, ast.Assign) and "learner." in ast.unparse(node.value)
    ]
    walked = [name for node in assigned for target in node.targets for name in ast.walk(target)]
    return {name.id for name in walked if isinstance(name, ast.Name)}


def _computes(element: ast.expr, made: set[str]) -> bool:
    """Say whether an element of a literal is a call of a learner's function, or an operation of a learner's object."""
    inner = [element, *element.elts] if isinstance(element, ast.Tuple) else [element]
    called = [
        each.func for each in inner if isinstance(each, ast.Call) and ast.unparse(each.func).startswith("learner.")
    ]
    operated = [each for each in inner if isinstance(each, ast.BinOp)]
    functions = [each for each in called if isinstance(each, ast.Attribute) and each.attr.islower()]
    return bool(functions) or any(
        isinstance(side, ast.Name) and side.id in made for each in operated for side in (each.left, each.right)
    )


def test_no_loop_goes_over_results_that_were_all_computed_before() -> None:
    trees = [(file, ast.parse(file.read_bytes())) for file in FILES]
    tests = [(file, node) for file, tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    loops = [(file, test, node) for file, test in tests for node in ast.walk(test) if isinstance(node, ast.For)]
    early = []
    for file, test, loop in loops:
        if isinstance(loop.iter, ast.Tuple | ast.List):
            made = _made(test)
            if sum(_computes(each, made) for each in loop.iter.elts) > 1:
                early.append(f"{file.name}:{loop.lineno}")
    assert len(loops) > 50 and early == []

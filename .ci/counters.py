"""Count what makes the grader hard to read; .ci/counters.toml has the values, and none may rise.

`python .ci/counters.py` fails where a number has risen and says which it is. `--list NAME` shows what was counted, and
`--write` keeps numbers that have fallen. None is a target: a number that falls while the code reads worse is no gain.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VALUES = ROOT / ".ci" / "counters.toml"
PACKAGE = "grader"
SHORT = 60  # lines of a module that may belong to its only importer
LONG = 60  # lines of a function that no screen holds
QUESTION = re.compile(r"(Who|Whose|Whom|What|Which|When|Where|Why|How|Whether)\b")
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """A module of the grader that is no test, by its dotted name and its path."""

    name: str
    path: str
    lines: int
    docstring: str
    statements: tuple[ast.stmt, ...]  # all of them, however deep


def read(package: Path) -> list[Module]:
    """Return the modules of a package in the order of their paths."""
    found = []
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        text = path.read_text(encoding="utf-8")
        name = ".".join(parts).removesuffix(".__init__")
        place = path.relative_to(package.parent).as_posix()
        tree = ast.parse(text)
        docstring = ast.get_docstring(tree) or ""
        found.append(Module(name, place, len(text.splitlines()), docstring, tuple(_statements(tree.body))))
    return found


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    """Yield the statements of a body and those within them; no expression holds one."""
    for node in body:
        if isinstance(node, ast.stmt):
            yield node
        for name in ("body", "handlers", "orelse", "finalbody", "cases"):
            yield from _statements(getattr(node, name, ()))


def shared_types(modules: list[Module]) -> list[str]:
    """Return the names that several classes have."""
    places = defaultdict(list)
    for module in modules:
        for node in module.statements:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{module.path}:{node.lineno}")
    return _shared(places)


def shared_modules(modules: list[Module]) -> list[str]:
    """Return the names that several modules have. `__init__` and `__main__` are none of a concept."""
    places = defaultdict(list)
    for module in modules:
        if not (stem := Path(module.path).stem).startswith("__"):
            places[stem].append(module.path)
    return _shared(places)


def _shared(places: dict[str, list[str]]) -> list[str]:
    return [f"{name}: {', '.join(there)}" for name, there in sorted(places.items()) if len(there) > 1]


def small_modules(modules: list[Module]) -> list[str]:
    """Return the modules under 60 lines that one other module imports."""
    names = {module.name for module in modules}
    importers: dict[str, set[str]] = defaultdict(set)
    for module in modules:
        for name in _imported(module.statements, names):
            importers[name].add(module.name)
    return [
        f"{module.path} ({module.lines} lines): {', '.join(importers[module.name])}"
        for module in modules
        if module.lines < SHORT and not module.path.endswith("__init__.py") and len(importers[module.name]) == 1
    ]


def _imported(statements: Iterable[ast.stmt], names: set[str]) -> Iterator[str]:
    """Yield the modules that a module imports, at its top or later."""
    for node in statements:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in names else str(node.module)


def long_functions(modules: list[Module]) -> list[str]:
    """Return the functions over 60 lines. Those within them count by themselves."""
    return [
        f"{module.path}:{node.lineno} {node.name} ({length} lines)"
        for module in modules
        for node in module.statements
        if isinstance(node, Function) and (length := (node.end_lineno or node.lineno) - node.lineno + 1) > LONG
    ]


def questions(modules: list[Module]) -> list[str]:
    """Return the modules whose docstring begins with a question word."""
    return [
        f"{module.path}: {module.docstring.splitlines()[0]}" for module in modules if QUESTION.match(module.docstring)
    ]


COUNTERS: dict[str, Callable[[list[Module]], list[str]]] = {
    "shared-types": shared_types,
    "shared-modules": shared_modules,
    "small-modules": small_modules,
    "long-functions": long_functions,
    "questions": questions,
}


def kept() -> dict[str, int]:
    """Return the values that are committed; a counter that none is kept of may be 0."""
    values = tomllib.loads(VALUES.read_text(encoding="utf-8")) if VALUES.is_file() else {}
    return {name: int(values.get(name, 0)) for name in COUNTERS}


def write(values: dict[str, int]) -> None:
    """Keep these values, each with what it counts."""
    lines = ["# Written by `uv run --group dev python .ci/counters.py --write`. No value may rise.\n"]
    for name, value in values.items():
        said = str(COUNTERS[name].__doc__).removeprefix("Return the ").partition(".")[0]
        lines.append(f"{name} = {value} # {' '.join(said.split())}\n")
    VALUES.write_text("".join(lines), encoding="utf-8", newline="\n")


def main(arguments: Iterable[str]) -> int:
    """Return 0 if no number has risen, 1 if one has."""
    parser = argparse.ArgumentParser(prog=".ci/counters.py", description=str(__doc__).partition("\n")[0])
    parser.add_argument(
        "--list", metavar="NAME", choices=COUNTERS, help=f"show what was counted: {', '.join(COUNTERS)}"
    )
    parser.add_argument("--write", action="store_true", help="keep the numbers that have fallen")
    options = parser.parse_args([*arguments])
    modules = read(ROOT / PACKAGE)
    found = {name: count(modules) for name, count in COUNTERS.items()}
    if options.list:
        print("\n".join(found[options.list]))
        return 0
    old = kept()
    risen = [name for name in COUNTERS if len(found[name]) > old[name]]
    for name in risen:
        how = f"`python .ci/counters.py --list {name}` shows them."
        print(f"{name}: {len(found[name])}, and {old[name]} is the most. {how}")
    fallen = [f"{name} from {old[name]} to {len(found[name])}" for name in COUNTERS if len(found[name]) < old[name]]
    if options.write:
        write({name: min(len(found[name]), old[name]) for name in COUNTERS})
    elif fallen:
        print(f"Fallen: {', '.join(fallen)}. `python .ci/counters.py --write` keeps that.")
    return int(bool(risen))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Imports run only backwards along the way through the house, and what starts often imports little."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from tests.support.places import HIDDEN, HOUSE, ROOT

ROOMS = (
    (
        "atomic",
        "criterion",
        "errors",
        "outcome",
        "process",
        "shell",
        "__init__",
    ),
    ("course",),
    ("children",),
    ("submission",),
    ("protocol",),
    ("worker",),
    ("isolation",),
    ("sandbox",),
    ("diagnosis",),
    ("testing", "verdict"),
    ("judging",),
    ("progress",),
    ("report",),
    ("explore",),
    ("capstone",),
    ("setup",),
    ("watching",),
    ("authoring", "classroom", "doctor", "gradebook", "similarity"),
    ("web",),
    ("commands", "cli", "__main__"),
)
FREE = {"__version__"}


def modules() -> list[Path]:
    return sorted(HOUSE.rglob("*.py"))


def place(name: str) -> int:
    """Return how far along the way a module's room lies."""
    room = name.split(".")[0]
    return next(position for position, rooms in enumerate(ROOMS) if room in rooms)


def own_name(path: Path) -> str:
    return ".".join(path.relative_to(HOUSE).with_suffix("").parts).removesuffix(".__init__")


def _skipped(tree: ast.Module) -> set[int]:
    """Return the nodes that only a type checker reads."""
    tests = [
        each for each in ast.walk(tree) if isinstance(each, ast.If) and ast.unparse(each.test).endswith("TYPE_CHECKING")
    ]
    return {id(inner) for test in tests for statement in test.body for inner in ast.walk(statement)}


def statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the statements of a body and those within them; no expression holds an import."""
    for node in body:
        yield node
        for name in ("body", "handlers", "orelse", "finalbody", "cases"):
            inner = getattr(node, name, ())
            if isinstance(inner, list):
                yield from statements(inner)


def imports(path: Path, of_types: bool = False) -> list[str]:
    """Return the full name of all that a file imports, at its top or later; of_types, for a type checker too."""
    return [name for name, is_of_types in _imports(path) if of_types or not is_of_types]


@functools.cache
def _imports(path: Path) -> list[tuple[str, bool]]:
    """Return the full name of all that a file imports, and whether only a type checker reads it."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    skipped = _skipped(tree) if "TYPE_CHECKING" in text else set()
    found: list[tuple[str, bool]] = []
    for node in statements(tree.body):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports name their module in full"
            package = HOUSE.parent.joinpath(*str(node.module).split(".")).is_dir()
            names = [f"{node.module}.{alias.name}" if package else str(node.module) for alias in node.names]
        found += [(name, id(node) in skipped) for name in names]
    return found


def test_there_is_something_to_look_at() -> None:
    names = {own_name(path) for path in modules()}
    assert {"course.manifest", "submission", "judging.session", "verdict", "progress.store", "report.document"} <= names


def test_imports_run_backwards() -> None:
    wrong = [
        f"{own_name(path)} imports {name}, which comes after it"
        for path in modules()
        for name in imports(path)
        if name.startswith("grader.") and (there := name.removeprefix("grader.")) not in FREE
        if place(there) > place(own_name(path))
    ]
    assert not wrong


def test_nothing_imports_tests_or_what_is_a_courses_own() -> None:
    own = "hidden", "drawings", "demo", "stages"
    found = [(own_name(path), name) for path in modules() for name in imports(path)]
    assert len(found) > 1000
    assert not [each for each in found if each[1].startswith("tests") or each[1].split(".")[0] in own]


def test_the_worker_imports_numpy_msgpack_and_the_protocol() -> None:
    of_it = [path for path in modules() if own_name(path).split(".")[0] in ("protocol", "worker")]
    assert len(of_it) > 15
    for path in of_it:
        own = ("grader.protocol",) if path.parent.name == "protocol" else ("grader.protocol", "grader.worker")
        for name in imports(path):
            top = name.split(".")[0]
            known = top in sys.stdlib_module_names or top in ("numpy", "msgpack") or name.startswith(own)
            assert known, f"{own_name(path)} imports {name}"


def test_no_module_imports_one_that_imports_it() -> None:
    known = {f"grader.{own_name(path)}": path for path in modules()}
    found = {name: set(imports(path, of_types=True)) & set(known) for name, path in known.items()}
    graph = {name: sorted(others - {name}) for name, others in sorted(found.items())}
    list(TopologicalSorter(graph).static_order())  # CycleError names a circle


def test_each_room_has_a_door() -> None:
    for room in sorted({path.parent for path in modules()} - {HOUSE}):
        said = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8")))
        assert said and said.endswith("."), room


def test_stage_tests_import_grader_testing_only() -> None:
    stages = [*HOUSE.parent.glob("stages/*/tests/*.py"), *HIDDEN.glob("*/test_*.py")]
    assert len(stages) > len(list(HOUSE.parent.glob("stages/*")))
    for path in stages:
        if set(re.findall(r"\bgrader\b[\w.]*", path.read_text(encoding="utf-8"))) - {"grader.testing"}:  # else clear
            found = {name for name in imports(path) if name.split(".")[0] == "grader"} - {"grader.testing"}
            assert not found, path


def test_what_runs_an_exploration_knows_nothing_of_how_it_is_shown() -> None:
    for name in ("model", "values", "example", "session"):
        found = set(imports(HOUSE / "explore" / f"{name}.py"))
        assert not [each for each in found if each.startswith(("grader.report", "rich", "matplotlib"))], name


def test_drawings_import_what_an_exploration_is_made_of_and_nothing_else_of_the_grader() -> None:
    paths = sorted((ROOT / "drawings").rglob("*.py"))
    assert {"s05", "s15", "s17", "drawings"} <= {path.parent.name for path in paths}
    explored = ("example", "model", "values")
    remote = ("grader.sandbox.proxies",)
    own = (*(f"grader.explore.{name}" for name in explored), *remote, "drawings", "numpy")
    for path in paths:
        found = {name for name in imports(path) if name.split(".")[0] not in sys.stdlib_module_names}
        assert not [name for name in found if not name.startswith(own)], path


def test_only_pictures_need_matplotlib() -> None:
    users = {own_name(path) for path in modules() if any(name.startswith("matplotlib") for name in imports(path))}
    assert users == {f"explore.{name}" for name in ("picture", "figure", "panels")}
    assert "matplotlib" not in loaded("grader.explore.session, grader.explore.terminal, grader.explore.picture")


def test_only_one_module_reads_toml() -> None:
    assert [own_name(path) for path in modules() if {"tomli", "tomllib"} & set(imports(path))] == ["course.table"]


def loaded(modules: str) -> set[str]:
    """Return the modules that stand in a fresh interpreter after the import of some, which are told with commas."""
    code = f"import sys, {modules}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=HOUSE.parent)
    return {name.split(".")[0] for name in done.stdout.split()}


def test_what_starts_often_imports_neither_numpy_nor_pytest() -> None:
    often = ("cli", "course.manifest", "submission.source", "progress.store", "judging.grading", "commands.exploring")
    assert not {"numpy", "pytest", "_pytest"} & loaded(", ".join(f"grader.{name}" for name in often))


def test_the_plugin_that_every_pytest_run_loads_imports_no_numpy() -> None:
    assert "numpy" not in loaded("grader.judging.plugin")


def test_what_explains_is_imported_when_something_fails_and_not_before() -> None:
    code = "import sys, grader.judging.session, grader.judging.pytest_suite; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=HOUSE.parent)
    found = {name for name in done.stdout.split() if name.startswith("grader.diagnosis")}
    assert found
    assert not {f"grader.diagnosis.{name}" for name in ("causes", "search", "edits", "explain")} & found

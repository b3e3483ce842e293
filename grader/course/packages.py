"""Packages of a course, such as that of its hidden tests: imported from its own folder, and from no other course's."""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from grader.errors import CourseError


class _Finder(importlib.abc.MetaPathFinder):
    """Finds one package in its folder; what lies in it is then found through the package."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self.folder.name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, [str(self.folder.parent)])
        if spec is None:
            raise ModuleNotFoundError(f"No module named {name!r}: there is no folder {self.folder}", name=name)
        return spec


@contextlib.contextmanager
def found_in(folder: Path) -> Iterator[None]:
    """Let the package of a folder's name be imported from there while the block lasts; forget it afterwards."""
    with set_aside({folder.name}), _finding(folder.absolute()):
        yield


def load(folder: Path, name: str) -> types.ModuleType:
    """Import a module of a package that lies in a folder, and keep it; a package of that name from elsewhere goes.

    Raises CourseError where it cannot be imported.
    """
    folder = folder.absolute()
    kept = sys.modules.get(folder.name)
    if kept is not None and str(folder) not in list(getattr(kept, "__path__", ())):
        _taken_out({folder.name})
    with _finding(folder):
        try:
            return importlib.import_module(f"{folder.name}.{name}")
        except Exception as error:
            place = f"{folder.name}/{name}.py"
            raise CourseError(f"{place} cannot be imported: {type(error).__name__}: {error}") from error


def forget(tops: set[str]) -> None:
    """Have packages, and all below them, imported anew when they are asked for again."""
    _taken_out(tops)


@contextlib.contextmanager
def _finding(folder: Path) -> Iterator[None]:
    finder = _Finder(folder)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


@contextlib.contextmanager
def set_aside(tops: set[str]) -> Iterator[None]:
    """Let packages be imported anew, all below them too; afterwards those that were there before are there again."""
    before = _taken_out(tops)
    try:
        yield
    finally:
        _taken_out(tops)
        for name, module in before.items():
            sys.modules[name] = module
            _bind(name, module)


def _taken_out(tops: set[str]) -> dict[str, types.ModuleType]:
    """Remove these packages and all below them from the modules that are loaded, and return them."""
    found = {
        name: module
        for name, module in sys.modules.items()
        if any(name == top or name.startswith(f"{top}.") for top in tops)
    }
    for name in found:
        del sys.modules[name]
        package, _, last = name.rpartition(".")
        if package in sys.modules:
            vars(sys.modules[package]).pop(last, None)
    return found


def _bind(name: str, module: Any) -> None:
    package, _, last = name.rpartition(".")
    if package in sys.modules:
        setattr(sys.modules[package], last, module)

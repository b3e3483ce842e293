"""The import guard: it serves the packages of a course from the course's own sources, and refuses every other file.

`stages`, the package of hidden tests and that of drawings have the same names in every course, and a learner can write
files of those names. Each process of the grader installs the guard before it imports anything of a course.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from grader.errors import CourseError

STAGES = "stages"
Text = Callable[[], str]


@dataclass(frozen=True)
class Sources:
    """What is served: texts by a module's full name, and folders by the name of a package that lies in them.

    pytest imports the modules of apart by itself, from the folder that is given for their package. files holds what
    tracebacks call a text, where that is a file; user names in messages whoever may import these sources.
    """

    texts: Mapping[str, Text] = field(default_factory=dict)
    folders: Mapping[str, Path] = field(default_factory=dict)
    apart: Mapping[str, Path] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    user: str = "the grader"

    @cached_property
    def packages(self) -> frozenset[str]:
        """The packages around texts, which are empty."""
        parts = [name.split(".") for name in (*self.texts, *(f"{each}." for each in self.apart))]
        return frozenset(".".join(part[:end]) for part in parts for end in range(1, len(part)))

    @cached_property
    def tops(self) -> frozenset[str]:
        """The outermost packages, of which nothing else can be imported."""
        return frozenset(name.partition(".")[0] for name in (*self.packages, *self.folders))

    def spec(self, name: str, path: Sequence[str] | None, guard: ImportGuard) -> importlib.machinery.ModuleSpec | None:
        """Return how a module is made, or None where it lies in a folder that is served; ModuleNotFoundError else."""
        if name in self.texts or name in self.packages:
            found = importlib.machinery.ModuleSpec(name, None, origin=f"<{name}>", is_package=name in self.packages)
            found.loader = guard  # type: ignore[assignment]  # no importlib.abc.Loader: that module is slow to import
            found.loader_state = self.texts.get(name), self.files.get(name, f"<{name}>")
            return found
        if name in self.folders:
            folder = self.folders[name]
            there = importlib.machinery.PathFinder.find_spec(name, [str(folder.parent)])
            if there is None:
                raise ModuleNotFoundError(f"No module named {name!r}: there is no folder {folder}", name=name)
            return there
        for package, folder in (*self.folders.items(), *self.apart.items()):
            if name.startswith(f"{package}.") and _is_within(path or (), folder):
                return None
        top = name.partition(".")[0]
        nothing = "no module of another stage" if top == STAGES else f"no such module of {top}"
        importable = ", ".join(each for each in self.texts if each.partition(".")[0] == top)
        raise ModuleNotFoundError(
            f"No module named {name!r}: {self.user} may import {importable or nothing}", name=name
        )


class ImportGuard:
    """The one finder of a process for the packages of courses; the sources that were given last are served first."""

    def __init__(self) -> None:
        self._served: list[Sources] = []
        self._kept: dict[str, Sources] = {}  # of packages that stay loaded, and may import more of themselves
        self._names = {STAGES}
        self._is_installed = False

    def install(self) -> None:
        """Refuse what is not served, from now on, and take every course's folder off the path."""
        self._is_installed = True
        sys.path[:] = [entry for entry in sys.path if not shows_course(entry)]
        self._come_first()

    def know(self, names: Iterable[str]) -> None:
        """Count these packages among those that are imported only from sources that are served."""
        self._names.update(names)

    def serve(self, sources: Sources) -> None:
        """Let these sources be imported, until they are withdrawn."""
        self._served.append(sources)
        self._come_first()

    def withdraw(self, sources: Sources) -> None:
        """Serve these sources no longer."""
        self._served = [each for each in self._served if each is not sources]
        if not self._served and not self._is_installed:
            sys.meta_path.remove(self)

    def keep(self, name: str, sources: Sources) -> None:
        """Serve what a package that stays loaded imports of itself, where nothing else of its name is served."""
        self._kept[name] = sources

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        top = name.partition(".")[0]
        for sources in (*reversed(self._served), *filter(None, [self._kept.get(top)])):
            if top in sources.tops:
                return sources.spec(name, path, self)
        if self._is_installed and top in self._names:
            message = f"No module named {name!r}: the grader imports no file of a course that it was not given"
            raise ModuleNotFoundError(message, name=name)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        text, file = module.__spec__.loader_state if module.__spec__ is not None else (None, "")
        if text is not None:
            exec(compile(text(), file, "exec", dont_inherit=True), module.__dict__)

    def _come_first(self) -> None:
        """Stand before every other finder, such as that of pytest, which puts itself there."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        sys.meta_path.insert(0, self)


GUARD = ImportGuard()


@contextlib.contextmanager
def serving(sources: Sources) -> Iterator[None]:
    """Let sources be imported while the block lasts, anew; afterwards what was imported before is there again."""
    with set_aside(sources.tops):
        GUARD.serve(sources)
        try:
            yield
        finally:
            GUARD.withdraw(sources)


def load(folder: Path, name: str) -> types.ModuleType:
    """Import a module of a package that lies in a folder, and keep it; a package of that name from elsewhere goes.

    Raises CourseError where it cannot be imported.
    """
    folder = folder.absolute()
    kept = sys.modules.get(folder.name)
    if kept is not None and str(folder) not in list(getattr(kept, "__path__", ())):
        forget({folder.name})
    sources = Sources(folders={folder.name: folder})
    GUARD.serve(sources)
    GUARD.keep(folder.name, sources)
    try:
        return importlib.import_module(f"{folder.name}.{name}")
    except Exception as error:
        place = f"{folder.name}/{name}.py"
        raise CourseError(f"{place} cannot be imported: {type(error).__name__}: {error}") from error
    finally:
        GUARD.withdraw(sources)


def shows_course(entry: str) -> bool:
    """Say whether a course's files, or those of one of its stages, could be imported from an entry of sys.path."""
    folder = Path(entry)
    is_stage = folder.parent.name == STAGES and (folder / "stage.toml").is_file()
    if folder.name in ("site-packages", "dist-packages"):  # some package there may be called stages
        return False
    return not entry or is_stage or any(folder.glob(f"{STAGES}/*/stage.toml"))


def _is_within(path: Iterable[str], folder: Path) -> bool:
    """Say whether all places that a module is searched in lie in a folder."""
    return all(Path(each).resolve().is_relative_to(folder.resolve()) for each in path)


@contextlib.contextmanager
def set_aside(tops: Iterable[str]) -> Iterator[None]:
    """Let packages be imported anew, all below them too; afterwards those that were there before are there again."""
    tops = frozenset(tops)
    before = forget(tops)
    try:
        yield
    finally:
        forget(tops)
        for name, module in before.items():
            sys.modules[name] = module
            _bind(name, module)


def forget(tops: Collection[str]) -> dict[str, types.ModuleType]:
    """Remove these top-level packages and all below them from the modules that are loaded, and return them."""
    found = {
        name: module
        for name, module in list(sys.modules.items())  # other threads import meanwhile, if only a codec
        if name.partition(".")[0] in tops
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

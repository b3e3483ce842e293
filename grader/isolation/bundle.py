"""Build the bundle of a learner's process: an interpreter, two packages, our own few modules, and a few settings."""

from __future__ import annotations

import functools
import importlib.util
import marshal
import os
import shutil
import sys
import sysconfig
import tempfile
import weakref
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path

from grader.errors import CourseError, IsolationRefused

ROOMS = ("protocol", "worker")  # of the grader: what runs beside a learner's code
PACKAGES = ("numpy", "msgpack")
HOUSE = Path(__file__).resolve().parents[1]
ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}


def parts() -> list[Path]:
    """Return the modules of the grader that a worker runs."""
    return [path for room in ROOMS for path in sorted((HOUSE / room).glob("*.py"))]


@functools.cache
def _contents() -> tuple[tuple[str, bytes], ...]:
    """Return the files of a bundle, each with its bytecode, so that no worker compiles; read once.

    The bytecode is in the form that is believed whatever the time of its source.
    """
    found: list[tuple[str, bytes]] = [("grader/__init__.py", b"")]
    for part in parts():
        room, source = f"grader/{part.parent.name}", part.read_bytes()
        compiled = f"{room}/__pycache__/{part.stem}.{sys.implementation.cache_tag}.pyc"
        header = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + importlib.util.source_hash(source)
        code = SourceFileLoader(part.stem, str(part)).get_code(part.stem)
        found += [(f"{room}/{part.name}", source), (compiled, header + marshal.dumps(code))]
    return tuple(found)


def build_bundle(folder: Path) -> Path:
    """Write the modules that a worker runs, with their bytecode, into a package of their own."""
    built = folder / "bundle"
    top = os.fspath(built)
    rooms = (f"{top}/grader/{room}{under}" for room in ROOMS for under in ("", "/__pycache__"))
    for place in (top, f"{top}/grader", *rooms):
        os.mkdir(place)
        os.chmod(place, 0o755)  # nosec B103 # whatever the mask of this process is: a worker is another user
    for name, content in _contents():
        path = f"{top}/{name}"
        with open(path, "xb", buffering=0) as file:
            file.write(content)
        os.chmod(path, 0o644)
    return built


def package(name: str) -> Path:
    """Return a package's folder, or a single module's file, without importing it."""
    try:
        spec = importlib.util.find_spec(name)
    except ValueError:  # a module that is loaded, and that nothing was found for, such as __main__
        spec = None
    if spec is not None and spec.submodule_search_locations:
        return Path(spec.submodule_search_locations[0]).resolve()
    if spec is not None and spec.has_location and spec.origin:
        return Path(spec.origin).resolve()
    if name in PACKAGES:
        raise IsolationRefused(f"{name} is not installed", "Run `uv sync`.")
    hint = "Install it beside the grader, or take it out of packages in [tool.grader] of pyproject.toml."
    raise CourseError(f"the course's package {name} is not installed where the grader runs", hint)


def _all(packages: Sequence[str]) -> list[str]:
    """Return what the wire needs, and the packages of the course that are not among it."""
    return [*PACKAGES, *(name for name in packages if name not in PACKAGES)]


def expect_apart(packages: Sequence[str], course: Path) -> None:
    """Raise CourseError where a package of the course would show a learner's code the course, or the grader."""
    root = course.resolve()
    for name in packages:
        place = package(name)
        installed = {"site-packages", "dist-packages"}.intersection(place.parts)
        shows = [each for each in (root, HOUSE) if each.is_relative_to(place)]
        if shows or (place.is_relative_to(root) and not installed):
            what = f"the course's package {name} lies in {place}: a learner's code would see parts of the course in it"
            hint = "Install it from a folder outside the course, and not as an editable install."
            raise CourseError(what, hint)


def package_folders(packages: Sequence[str] = ()) -> list[Path]:
    """Return the folders that a worker's packages consist of, those of their libraries among them."""
    found = [package(name) for name in _all(packages)]
    beside = [each.parent / f"{each.stem}.libs" for each in found]
    return [*found, *(each for each in beside if each.is_dir())]


def package_parents(packages: Sequence[str] = ()) -> list[str]:
    """Return the folders to search for a worker's packages."""
    return list(dict.fromkeys(str(package(name).parent) for name in _all(packages)))


def standard_library() -> str:
    """Return the folder of the interpreter's standard library."""
    return os.path.realpath(sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix}))


def site_folders(base: str) -> list[str]:
    """Return the folders of installed packages below an interpreter, which a learner's code has no business in."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    found = [sysconfig.get_path("purelib", vars={"base": base}), sysconfig.get_path("platlib", vars={"platbase": base})]
    found += [f"{base}/lib/{version}/site-packages", "/usr/lib/python3/dist-packages", f"/usr/local/lib/{version}"]
    return list(dict.fromkeys(os.path.realpath(path) for path in found))


def closed_folders(packages: Sequence[str] = ()) -> list[str]:
    """Return what a worker imports from that no other user could open by its name: it lies in a closed home."""
    needed = [standard_library(), *(str(package(name)) for name in _all(packages))]
    return [each for each in needed if not all(f.stat().st_mode & 0o001 for f in (Path(each), *Path(each).parents))]


class OwnFolder:
    """A new folder, removed by cleanup, and when the process that made it forgets it or ends.

    tempfile.TemporaryDirectory is removed by whoever forgets it, be it a fork that never used it.
    """

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="grader-")
        self._remove = weakref.finalize(self, _removed, self.name, os.getpid())

    def cleanup(self) -> None:
        """Remove the folder and all in it, as far as it can be removed."""
        self._remove()


def _removed(name: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(name, ignore_errors=True)

"""What a learner's process is made of: an interpreter, two packages, our own few modules, and a few settings."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import sysconfig
from collections.abc import Sequence
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
def _contents() -> tuple[tuple[str, bytes, int], ...]:
    """Return the files of a bundle: name, content and time, by which bytecode knows its source; read once."""
    found: list[tuple[str, bytes, int]] = []
    for part in parts():
        folder = f"grader/{part.parent.name}"
        found.append((f"{folder}/{part.name}", part.read_bytes(), part.stat().st_mtime_ns))
        compiled = Path(importlib.util.cache_from_source(str(part)))
        if compiled.exists():
            found.append((f"{folder}/__pycache__/{compiled.name}", compiled.read_bytes(), compiled.stat().st_mtime_ns))
    return (("grader/__init__.py", b"", 0), *found)


def build_bundle(folder: Path) -> Path:
    """Write the modules that a worker runs, with their bytecode, into a package of their own."""
    built = folder / "bundle"
    top = os.fspath(built)
    for place in (
        top,
        f"{top}/grader",
        *(f"{top}/grader/{room}{under}" for room in ROOMS for under in ("", "/__pycache__")),
    ):
        os.mkdir(place)
        os.chmod(place, 0o755)  # nosec B103 # whatever the mask of this process is: a worker is another user
    for name, content, changed in _contents():
        path = f"{top}/{name}"
        with open(path, "xb", buffering=0) as file:
            file.write(content)
        os.chmod(path, 0o644)
        os.utime(path, ns=(changed, changed))
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

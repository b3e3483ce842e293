"""The grader's own wheel in a folder of a course, from which `uv run grader` installs it there, and from no index.

An installer keeps no wheel, so it is packed again, from the files that are installed or from the sources, with what the
grader says of itself there. The same files give the same bytes, since uv refuses any wheel but that in its lock.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from grader import __version__
from grader.course.settings import PROJECT
from grader.course.table import read_toml
from grader.errors import CourseError
from grader.setup import edition
from grader.setup.edition import ARCHIVE, packed

OF_AN_EXTRA = re.compile(r"(?P<need>[^;]+?)\s*;\s*(?:\((?P<marker>.+)\) and )?extra == ['\"](?P<extra>[\w.-]+)['\"]")
SCRIPTS = "console_scripts"


def own_project(home: Path) -> dict[str, Any]:
    """Return the values of the grader's pyproject.toml; home is the folder that `grader` lies in.

    Where the grader was installed from a package there is none, and its metadata say the same.
    """
    found = _distribution(home)
    return read_toml(home / PROJECT, PROJECT) if found is None else {"project": _described(found)}


def licence(home: Path) -> str:
    """Return the text of the grader's own licence; CourseError where it is missing."""
    found = _distribution(home)
    try:
        text = (home / "LICENSE").read_text("utf-8") if found is None else found.read_text("licenses/LICENSE")
    except OSError as error:
        raise CourseError(f"{home / 'LICENSE'} cannot be read: {error.strerror}") from error
    if text is None:
        raise CourseError("the installed grader lacks its licence", "Install it again.")
    return text


def _distribution(home: Path) -> Distribution | None:
    """Return the installed package that `grader` came with; none where it runs from its sources."""
    own = "grader/__init__.py"
    of_home = distributions(path=[str(home)])
    return next((each for each in of_home if any(file.as_posix() == own for file in each.files or ())), None)


def _described(found: Distribution) -> dict[str, Any]:
    values = found.metadata
    licences = values.get_all("License-Expression") or [""]
    needs: list[str] = []
    extras: dict[str, list[str]] = {name: [] for name in values.get_all("Provides-Extra") or ()}
    for line in values.get_all("Requires-Dist") or ():
        if of_extra := OF_AN_EXTRA.fullmatch(line):
            marker = f"; {of_extra['marker']}" if of_extra["marker"] else ""
            extras[of_extra["extra"]].append(f"{of_extra['need']}{marker}")
        else:
            needs.append(line)
    points: dict[str, dict[str, str]] = {}
    for point in found.entry_points:
        points.setdefault(point.group, {})[point.name] = point.value
    return {
        "name": values["Name"],
        "license": licences[0],
        "requires-python": values["Requires-Python"],
        "dependencies": needs,
        "optional-dependencies": extras,
        "scripts": points.pop(SCRIPTS, {}),
        "entry-points": points,
    }


def metadata_text(project: dict[str, Any], version: str) -> str:
    """Return METADATA of a wheel of the project."""
    return "".join(f"{line}\n" for line in _metadata(project, version))


def _metadata(project: dict[str, Any], version: str) -> Iterator[str]:
    yield from ("Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {version}")
    if project.get("license"):
        yield f"License-Expression: {project['license']}"
    yield from ("License-File: LICENSE", f"Requires-Python: {project['requires-python']}")
    yield from (f"Requires-Dist: {need}" for need in project["dependencies"])
    for extra, needs in project.get("optional-dependencies", {}).items():
        yield f"Provides-Extra: {extra}"
        for need in needs:
            name, _, marker = need.partition(";")
            condition = f"({marker.strip()}) and extra" if marker else "extra"
            yield f"Requires-Dist: {name.strip()}; {condition} == '{extra}'"


def entry_points_text(project: dict[str, Any]) -> str:
    """Return entry_points.txt of a wheel of the project."""
    groups = {SCRIPTS: project.get("scripts", {}), **project.get("entry-points", {})}
    sections = (
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for group, points in groups.items()
        if points
    )
    return "\n".join(sections)


WHEELS = ".grader/wheels"
GRADER = Path(__file__).resolve().parents[1]
ENDS = ".whl"
HASH = ".sha256"  # is added to the wheel's name; `sha256sum -c` reads it
AGAIN = "Put it back: from git, from whoever gave you the folder, or with `grader update`."
ABOUT = "Wheel-Version: 1.0\nGenerator: grader\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def wheel_path(name: str) -> str:
    """Return the path of the wheel in a folder; name is the package's.

    >>> wheel_path("some-grader").removesuffix(f"-{__version__}-py3-none-any.whl")
    '.grader/wheels/some_grader'
    """
    return f"{WHEELS}/{_stem(name)}-py3-none-any{ENDS}"


def _stem(name: str) -> str:
    return f"{re.sub(r'[-_.]+', '_', name).lower()}-{__version__}"


def engine_paths(left_out: Iterable[str] = ()) -> list[Path]:
    """Return the grader's own files: no course, and nothing that left_out names."""
    without = {GRADER / name for name in (ARCHIVE, *left_out)}
    paths = (path for path in sorted(GRADER.rglob("*")) if path.is_file() and not _is_cache(path))
    return [path for path in paths if not {path, *path.parents} & without]


def engine_files(paths: Iterable[Path]) -> dict[str, bytes]:
    """Return what these files of the grader hold, by their paths in a wheel."""
    return {path.relative_to(GRADER.parent).as_posix(): path.read_bytes() for path in paths}


def _is_cache(path: Path) -> bool:
    parts = path.relative_to(GRADER).parts
    return path.suffix == ".pyc" or any(part.startswith((".", "__pycache__")) for part in parts)


def _own_wheel() -> dict[str, bytes]:
    """Return the wheel that this grader was installed from, course and all, as wheel_files does."""
    return wheel_files(engine_files(engine_paths()) | {f"grader/{ARCHIVE}": edition.PLACE.read_bytes()})


def shipped() -> edition.Edition:
    """Return the course that came with this grader, and the grader's wheel; UsageError where no course came."""
    return replace(edition.shipped(), wheel=_own_wheel())


def wheel_files(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return a wheel of these files of the grader, and its SHA-256 beside it, by their paths in a folder."""
    home = GRADER.parent
    project = own_project(home)["project"]
    about = f"{_stem(project['name'])}.dist-info"
    files = {
        **files,
        f"{about}/METADATA": metadata_text(project, __version__).encode(),
        f"{about}/WHEEL": ABOUT.encode(),
        f"{about}/entry_points.txt": entry_points_text(project).encode(),
        f"{about}/licenses/LICENSE": licence(home).encode(),
    }
    record = f"{about}/RECORD"
    data = packed({**files, record: _record(files, record).encode()}, compressed=False)
    place = wheel_path(project["name"])
    return {place: data, f"{place}{HASH}": f"{_sha256(data)}  {place.rpartition('/')[2]}\n".encode()}


def _record(files: Mapping[str, bytes], own: str) -> str:
    lines = (f"{name},sha256={_base64(data)},{len(data)}\n" for name, data in sorted(files.items()))
    return "".join(lines) + f"{own},,\n"


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def source_of(name: str) -> str:
    """Return the table of pyproject.toml that makes uv take a package from the wheel in the folder."""
    return f"[tool.uv.sources]\n{name} = {{ path = {json.dumps(wheel_path(name))} }}"


def wheels_in(root: Path) -> tuple[str, ...]:
    """Return the paths of the wheels in a folder, and of their hashes."""
    found = (root / WHEELS).glob(f"*{ENDS}*")
    return tuple(sorted(path.relative_to(root).as_posix() for path in found))


@dataclass(frozen=True)
class UsedWheel:
    """How the wheel is that a folder's pyproject.toml names, and what to do; empty where it is whole."""

    what: str
    remedy: str = ""


def wheel_used(root: Path) -> UsedWheel | None:
    """Return how the wheel is that a folder installs the grader from, by its hash; None where it brings none."""
    values: dict[str, Any] = read_toml(root / PROJECT, PROJECT) if (root / PROJECT).is_file() else {}
    sources = values.get("tool", {}).get("uv", {}).get("sources", {})
    paths = [str(each["path"]) for each in sources.values() if isinstance(each, dict) and "path" in each]
    path = next((path for path in paths if path.startswith(f"{WHEELS}/")), None)
    if path is None:
        return None
    try:
        found = _sha256((root / path).read_bytes())
        wanted = (root / f"{path}{HASH}").read_text("utf-8", "replace").partition(" ")[0]
    except OSError as error:
        return UsedWheel(f"{error.filename} cannot be read: {error.strerror}", AGAIN)
    if found == wanted:
        return UsedWheel(f"{path} has the SHA-256 that lies beside it")
    return UsedWheel(f"{path} has the SHA-256 {found:.12}…, expected {wanted:.12}…, which lies beside it", AGAIN)

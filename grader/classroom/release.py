"""The learner's copy of a course: stages and the grader's wheel; what a learner does not get is sealed, or left out.

An installed grader brings the same without the wheel; what was built is searched for answers.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import tarfile
import zipfile
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from posixpath import dirname, join, normpath
from string import Template
from typing import TYPE_CHECKING, Any

from grader import __version__
from grader.capstone.plan import FOLDER as CAPSTONE
from grader.capstone.plan import has_capstone, read_plan
from grader.classroom.leaks import leaks
from grader.course.answers import ALTERNATIVES, PATCHES, hidden_folder, stub_source
from grader.course.bundle import NONCE_BYTES, Content, Label, SealKey, new_key, seal
from grader.course.manifest import load_course
from grader.course.provided import FOLDER, data_beside
from grader.course.sealed import RECORD, SHIPPED_KEY, ReleaseRecord, digest, record_text
from grader.course.settings import PROJECT, Settings
from grader.course.stage import Course, Stage
from grader.course.table import read_toml
from grader.errors import CourseError, UsageError
from grader.setup.edition import ARCHIVE, packed
from grader.setup.wheel import engine_files, engine_paths, licence, own_project, source_of, wheel_files, wheel_path

if TYPE_CHECKING:
    from grader.authoring.verify import OnResult


GRADER = Path(__file__).resolve().parents[1]
HOME = GRADER.parent
KINDS = (".py", ".html", ".css", ".js", ".woff2", ".txt", ".json", ".ini", ".toml", ".typed")  # of drawings
STAGE_KINDS = (".py", ".md", ".toml", ".svg", ".png", ".npz", ".txt", ".csv")
ROOMS = ("authoring", "similarity")  # of the grader, that no learner needs
CLASSROOM = ("release.py", "leaks.py", "templates")
LEFT_OUT = (*ROOMS, *(f"classroom/{name}" for name in CLASSROOM))
SHOWN = 20  # leaks in one message
LINK = re.compile(r"!?\[(?P<text>(?:[^\]\[]|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\)")
AUTHORS = ("tests", "benchmarks")  # and the course's own folders of answers
CONVENTIONS = "The conventions that all stages share are in [stages/README.md](stages/README.md).\n\n"
EXPLORE = " `explore` runs what you have written on an example, and shows it step by step."
PIN = ".python-version"  # uv reads it
TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class ReleaseOptions:
    """Which stages to release; without a key one is made and shipped, for self-study.

    proven says that each reference has to pass its own tests first, which the copy's record says as well. python is the
    one version of Python, as 3.12, that the copy asks for; by default all that the grader was tested with.
    """

    stages: tuple[Stage, ...]
    key: SealKey | None
    proven: bool = False
    python: str = ""


def release(course: Course, plan: ReleaseOptions, target: Path, on_result: OnResult | None = None) -> tuple[str, ...]:
    """Write a learner's copy into a new or empty folder and return its files; nothing is written where anything fails.

    The plan's stages are whole: none requires or uses one that is not among them. Raises UsageError where target cannot
    take it, CourseError where it would hold hidden text, or where a reference does not pass though the plan wants it.
    """
    _expect_free(target, course)
    _expect_tested(plan.python)
    engine = engine_files(_own_files())
    wheel = wheel_files(engine)
    files, key = contents(course, plan, wheel)
    expect_sound(course, engine | {name: data for name, data in files.items() if name not in wheel}, key)
    if plan.proven:
        from grader.authoring.verify import expect_sound_stages  # needs pytest, which a build of the package lacks

        expect_sound_stages(course, plan.stages, on_result)
    if plan.key is None:
        files |= shipped_key(course, key)
    _write(target, files)
    return tuple(sorted(files))


def contents(
    course: Course, plan: ReleaseOptions, wheel: Mapping[str, bytes] | None = None
) -> tuple[dict[str, bytes], SealKey]:
    """Return the files of a learner's copy, but for a key that is shipped, and the key that its bundles have.

    Without a wheel it is the folder of a learner whose grader puts its own into it.
    """
    key = plan.key or new_key()
    files = copied(course, plan.stages)
    files |= paperwork(course, plan.stages, HOME, plan.key is None, released=wheel is not None)
    files |= {PIN: f"{plan.python}\n".encode()} if plan.python else {}
    pages = [*course.settings.pages, *(page for page in files if page.startswith("stages/") and page.count("/") == 1)]
    files |= {page: linked(files[page], page, files) for page in pages} | dict(wheel or {})
    digests = {name: digest(data) for name, data in files.items()}
    record = ReleaseRecord(__version__, key.id, plan.key is None, digests, plan.proven)
    hidden = course.settings.hidden
    files[f"{hidden}/{RECORD}"] = record_text(record).encode()
    for stage in plan.stages:
        files[f"{hidden}/{stage.name}.sealed"] = sealed(stage, key)
    return files, key


def shipped_key(course: Course, key: SealKey) -> dict[str, bytes]:
    """Return the file with the key, which a copy for self-study has beside its bundles."""
    return {f"{course.settings.hidden}/{SHIPPED_KEY}": key.text.encode()}


def copied(course: Course, stages: tuple[Stage, ...]) -> dict[str, bytes]:
    """Return the files that a learner gets as they are, and the stubs, which the solutions make."""
    files: dict[str, Path] = {}
    if (drawings := course.settings.drawings) is not None:
        folder = course.root / drawings
        files |= {f"{drawings}/{path.relative_to(folder).as_posix()}": path for path in _below(folder, KINDS)}
    for stage in stages:
        paths = (path for path in _below(stage.folder, STAGE_KINDS) if path != stage.module_path)
        files |= {f"stages/{stage.name}/{path.relative_to(stage.folder).as_posix()}": path for path in paths}
        files |= {
            f"stages/{stage.name}/{FOLDER}/{name}": stage.folder / FOLDER / name for name in data_beside(stage.folder)
        }
    files |= _capstone(course, stages)
    found = {name: _read(path) for name, path in sorted(files.items())}
    for stage in stages:
        stub = stub_source(stage).encode()
        found |= {f"stages/{stage.name}/{stage.module}": stub, f"{course.settings.hidden}/{stage.name}.stub": stub}
    return found


def _capstone(course: Course, stages: tuple[Stage, ...]) -> dict[str, Path]:
    """Return the files of the course's capstone, if all that it builds on is released."""
    if not has_capstone(course) or not {each.id for each in read_plan(course).stage.builds_on} <= {
        s.id for s in stages
    }:
        return {}
    folder = course.root / CAPSTONE
    return {f"{CAPSTONE}/{path.relative_to(folder).as_posix()}": path for path in _below(folder, STAGE_KINDS)}


def sealed(stage: Stage, key: SealKey) -> bytes:
    """Return a stage's bundle: all of its hidden files and answers, and its public tests and manifest."""
    hidden, tests = hidden_folder(stage), stage.tests_path
    paths = sorted([*hidden.glob("*.py"), *hidden.glob(PATCHES), *(hidden / ALTERNATIVES).glob("*.py")])
    content = Content(
        {path.relative_to(hidden).as_posix(): _read(path).decode() for path in paths},
        {path.name: _read(path).decode() for path in sorted(tests.glob("test_*.py"))},
        _read(stage.folder / "stage.toml").decode(),
        data_beside(stage.folder),
        {path.name: _read(path).decode() for path in _given(stage)},
    )
    return seal(content, Label(stage.name, __version__, key.id), key, os.urandom(NONCE_BYTES))


def _given(stage: Stage) -> list[Path]:
    """Return what a stage gives in place of modules of other stages."""
    return [place for used in stage.builds_on if (place := stage.given_path(used)).is_file()]


def _own_files() -> list[Path]:
    """Return the grader's files that a learner gets: nothing of a course, and no command of an author's."""
    return engine_paths(LEFT_OUT)


def _below(folder: Path, kinds: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files of these kinds, none of a hidden folder or of a cache."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.suffix in kinds and path.is_file() and not any(part.startswith((".", "__pycache__")) for part in parts):
            yield path


def _expect_free(target: Path, course: Course) -> None:
    """Raise UsageError unless target is a new or an empty folder, and none that the copy is made of."""
    place = target.resolve()
    for part in (GRADER, course.root / "stages", course.hidden):
        if place.is_relative_to(part.resolve()):
            raise UsageError(f"{target} lies in {part}, which the copy is made of", "Name a folder of its own.")
    try:
        taken = any(target.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}", "Name a new folder.") from error
    if taken:
        raise UsageError(f"{target} is not empty, and nothing in it is overwritten", "Name a new or an empty folder.")


def _expect_tested(python: str) -> None:
    """Raise UsageError for a version of Python that the grader was not tested with; none is no mistake."""
    tested = own_project(HOME)["project"]["requires-python"]
    least, limit = map(int, re.findall(r"3\.([0-9]+)", tested))
    if python and python not in [f"3.{minor}" for minor in range(least, limit)]:
        raise UsageError(f"Python {python} cannot be asked for", f"Expected one of 3.{least} to 3.{limit - 1}.")


def whole(course: Course, wanted: Iterable[Stage]) -> tuple[Stage, ...]:
    """Return stages, and all that they build on however far away, in the order of the course."""
    names: set[str] = set()
    queue = [stage.id for stage in wanted]
    while queue:
        if (name := queue.pop()) not in names:
            names.add(name)
            stage = course.find(name)
            queue += [*stage.requires, *stage.uses]
    return tuple(stage for stage in course.stages if stage.id in names)


def expect_sound(course: Course, files: Mapping[str, bytes], key: SealKey | None = None) -> None:
    """Raise CourseError where hidden text, or the key, is left in the files."""
    hidden = {f"{stage.hidden_place}/{name}": text for stage in course.stages for name, text in _hidden_texts(stage)}
    found = leaks(files, hidden | ({"the key": key.text} if key is not None else {}), _public_texts(course))
    if not found:
        return
    lines = [f"{leak.file} holds hidden text: {leak.origin}" for leak in found[:SHOWN]]
    lines += [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    raise CourseError("\n".join(lines), "Nothing was written. Take the text out of these files, or out of the answers.")


def _hidden_texts(stage: Stage) -> Iterator[tuple[str, str]]:
    folder = hidden_folder(stage)
    for path in _below(folder, (".py", ".toml", ".md", ".json", ".txt")):
        yield path.relative_to(folder).as_posix(), _read(path).decode()


def _public_texts(course: Course) -> Iterator[str]:
    """Yield what the author writes for learners: conventions, stubs, manifests with hints, tests; no stage's README."""
    if (conventions := course.root / "stages" / "README.md").is_file():
        yield _read(conventions).decode()
    for stage in course.stages:
        yield stub_source(stage)
        for path in (stage.folder / "stage.toml", *stage.tests_path.glob("*.py"), *_given(stage)):
            yield _read(path).decode()


def _read(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        if path.suffix in (".py", ".toml", ".md"):
            data.decode("utf-8")
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CourseError(f"{path} is not valid UTF-8: {error}") from error
    return data


def _write(target: Path, files: Mapping[str, bytes]) -> None:
    """Write the copy; UsageError, and nothing left of it, where the disk does not take all of it."""
    there = target.exists()
    try:
        for name, data in sorted(files.items()):
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except OSError as error:
        for top in {target / name.split("/")[0] for name in files} if there else {target}:  # empty before, or not there
            if top.is_dir():
                shutil.rmtree(top, ignore_errors=True)
            else:
                with suppress(OSError):
                    top.unlink()
        hint = "Nothing was kept. Make room there, or name another folder."
        raise UsageError(f"{target} cannot be written: {error.strerror}", hint) from error


def linked(page: bytes, name: str, files: Container[str]) -> bytes:
    """Return a page in which a link to a file that is not among the copy's is its text; name is the page's path.

    >>> linked(b"[a](a.md), [b](../b.md#top), [c](https://c.org)", "docs/x.md", {"b.md"})
    b'a, [b](../b.md#top), [c](https://c.org)'
    """

    def fitted(link: re.Match[str]) -> str:
        target = link["target"]
        path = normpath(join(dirname(name), target.partition("#")[0]))
        is_there = "://" in target or target.startswith("#") or path in files
        return link[0] if is_there else link["text"]

    return LINK.sub(fitted, page.decode()).encode()


def self_paced(root: Path) -> bytes:
    """Return the archive of a course for self-study, without the grader; what it is put into is searched for leaks.

    It is unproven: the workflow that publishes has proven every stage when it builds.
    """
    course = load_course(root)
    files, key = contents(course, ReleaseOptions(course.stages, None))
    return packed(files | shipped_key(course, key))


def expect_no_answers(root: Path, artifact: Path) -> None:
    """Raise CourseError where a wheel or an sdist holds a file of the author's alone, or hidden text in any file."""
    course = load_course(root)
    files = dict(_members(artifact))
    for folder in _authors(course):
        if found := next((name for name in files if name.startswith(f"{folder}/")), None):
            what = f"{artifact.name} holds {found}, which only the author's copy may hold"
            raise CourseError(what, "Leave it out in pyproject.toml, under tool.hatch.build.")
    expect_sound(course, files)


def _authors(course: Course) -> Iterator[str]:
    yield from (*AUTHORS, course.settings.hidden)
    if course.settings.demo is not None:
        yield str(Path(course.settings.demo.file).parent.as_posix())


def _members(artifact: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a wheel or an sdist by their path in it, and those of the packed course in their turn."""
    found = _zipped(artifact.read_bytes(), "") if artifact.name.endswith(".whl") else _tarred(artifact)
    for name, data in found:
        yield from _zipped(data, f"{name}/") if name.endswith(f"/{ARCHIVE}") else [(name, data)]


def _tarred(artifact: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(artifact) as archive:
        for member in archive:
            if member.isfile() and (file := archive.extractfile(member)) is not None:
                yield member.name.partition("/")[2], file.read()


def _zipped(data: bytes, before: str) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            yield f"{before}{name}", archive.read(name)


def paperwork(
    course: Course, stages: tuple[Stage, ...], home: Path, self_paced: bool, released: bool = True
) -> dict[str, bytes]:
    """Return these files by their path in the copy; home is the folder that the grader lies in.

    A folder that is not released but made by an installed grader has no workflow, and is brought up to date by it.
    """
    licences = [course.root / "LICENSE"] if (course.root / "LICENSE").is_file() else []
    values = own_project(home)
    package = values["project"]["name"]
    words = {**_words(course, stages, self_paced), "wheel": wheel_path(package)}
    update = "" if released else _filled("copy/update.md", wheel=words["wheel"].rpartition("/")[2])
    texts = {
        "README.md": _filled("copy/README.md", **words, update=update),
        "AGENTS.md": _filled("copy/AGENTS.md", **words, folder=stages[0].name),
        "pyproject.toml": _project(course, _own(course), values),
        ".gitignore": _text(TEMPLATES / "copy" / "gitignore"),
        **({"LICENSE": _text(licences[0])} if licences else {"LICENSE": licence(home)} if released else {}),
        **(_workflows(TEMPLATES / "github") if released else {}),
        **_index(course, stages),
        **_beside(course, stages),
        **{page: _text(course.root / page) for page in course.settings.pages},
    }
    return {name: text.encode() for name, text in texts.items()}


def _words(course: Course, stages: tuple[Stage, ...], self_paced: bool) -> dict[str, str]:
    """Return what a README says of the course."""
    own = course.settings
    rows = [f"| [{each.id} {each.title}](stages/{each.name}/README.md) | `{each.module}` |" for each in stages]
    return {
        "title": own.title,
        "first": stages[0].id,
        "last": stages[-1].id,
        "conventions": CONVENTIONS if (course.root / "stages" / "README.md").is_file() else "",
        "pages": f"{', '.join(f'[{page}]({page})' for page in own.pages)} say more.\n\n" if own.pages else "",
        "explore": EXPLORE if own.drawings is not None else "",
        "stages": "\n".join(rows),
        "hidden": _text(TEMPLATES / "copy" / ("self_paced.md" if self_paced else "keyed.md")).strip(),
        "version": f"{__version__}. {own.license} licence." if own.license else f"{__version__}.",
    }


def _own(course: Course) -> dict[str, Any]:
    """Return what the course's own pyproject.toml says of its project; nothing where it does not."""
    values = read_toml(course.root / PROJECT, PROJECT) if (course.root / PROJECT).is_file() else {}
    project = values.get("project", {})
    return project if isinstance(project, dict) else {}


def _project(course: Course, own: dict[str, Any], values: dict[str, Any]) -> str:
    """Return the copy's pyproject.toml: the course's name, and the grader, whose values these are, from its wheel."""
    project = values["project"]
    package = project["name"]
    is_graders = own.get("name") == package  # then its requirements are those of the grader, which the wheel names
    grader = re.compile(rf"{re.escape(package)}(?![\w-])")
    others = [] if is_graders else [each for each in own.get("dependencies", ()) if not grader.match(each)]
    newest = values.get("tool", {}).get("uv", {}).get("exclude-newer")
    extras = sorted(project.get("optional-dependencies", {}))
    return _filled(
        "copy/project.toml",
        name=json.dumps(f"{package}-course" if is_graders else own.get("name") or "course"),
        description=json.dumps(own.get("description") or course.settings.title),
        license=f"license = {json.dumps(course.settings.license)}\n" if course.settings.license else "",
        python=json.dumps(project["requires-python"]),
        dependencies=json.dumps([package, *sorted(others)]),
        extras="\n".join(f"{name} = {json.dumps([f'{package}[{name}]'])}" for name in extras),
        newest=f"exclude-newer = {json.dumps(newest)} # newer packages were not tried\n" if newest else "",
        source=source_of(package),
        settings=_settings(course.settings),
    )


def _settings(own: Settings) -> str:
    """Return what a copy keeps of the course's own table; the demonstration holds answers."""
    kept = {
        "title": own.title,
        "license": own.license or None,
        "packages": own.packages,
        "hidden": own.hidden,
        "drawings": own.drawings,
        "passes": own.passes if own.passes != Settings.passes else None,
    }
    return "\n".join(f"{key} = {json.dumps(value)}" for key, value in kept.items() if value is not None)


def _workflows(folder: Path) -> dict[str, str]:
    """Return what goes below .github; there may be nothing."""
    paths = (path for path in sorted(folder.rglob("*")) if path.suffix in (".yml", ".yaml", ".md"))
    return {f".github/{path.relative_to(folder).as_posix()}": _text(path) for path in paths}


def _index(course: Course, stages: tuple[Stage, ...]) -> dict[str, str]:
    """Return the page of all stages, where the course has one, without the rows of those that are not released."""
    index = course.root / "stages" / "README.md"
    links = [f"]({stage.name}/" for stage in course.stages if stage not in stages]
    lines = _text(index).splitlines(True) if index.is_file() else []
    kept = [line for line in lines if not (line.startswith("|") and any(link in line for link in links))]
    return {"stages/README.md": "".join(kept)} if index.is_file() else {}


def _beside(course: Course, stages: tuple[Stage, ...]) -> dict[str, str]:
    """Return the other pages beside the stages, each only where every stage that it links to is released."""
    missing = [f"]({stage.name}/" for stage in course.stages if stage not in stages]
    paths = [path for path in sorted((course.root / "stages").glob("*.md")) if path.name != "README.md"]
    texts = {f"stages/{path.name}": _text(path) for path in paths}
    return {name: text for name, text in texts.items() if not any(link in text for link in missing)}


def _filled(template: str, **words: str) -> str:
    return Template(_text(TEMPLATES / template)).substitute(words)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from error

"""Read a course's capstone, stages/capstone/capstone.toml: its script, data, sizes and limits."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.course.stage import STAGES, Course, Limits, Stage
from grader.course.table import Rule, Table, listed, read_toml
from grader.errors import CourseError, UsageError

FOLDER = f"{STAGES}/capstone"
MANIFEST = "capstone.toml"
SCHEMA = 1
MOST = 1_000_000
_SCRIPT: Rule = r"[A-Za-z_]\w*\.py", "the plain name of a Python file, as in 'train.py'"
_DATA: Rule = r"([A-Za-z_]\w*/)*[A-Za-z_][\w-]*\.txt", "a text file below the capstone's folder"
_STAGE: Rule = r"s[0-9]{2,}", "a stage id: s and two digits or more"


@dataclass(frozen=True)
class CapstoneManifest:
    """A capstone; settings go to the script as they are. fingerprint changes with any of its files.

    model is the one that is trained, of several that the settings describe. loop is the stage whose training loop takes
    the steps where it is the learner's own. Either is empty where the capstone has none.
    """

    title: str
    source: bytes
    text: str
    stage: Stage  # stands for the script, which builds on stages as a stage's module does
    steps: int
    chunk: int
    seed: int
    held_out: float
    prompt: str
    tokens: int
    temperature: float
    fingerprint: str
    settings: Mapping[str, object] = field(default_factory=dict)
    model: str = ""
    loop: str = ""

    @property
    def parts(self) -> tuple[str, str]:
        """The text that is trained on, and the one that is held out: whole lines, if there is a line's end."""
        middle = int(len(self.text) * (1 - self.held_out))
        cut = self.text.rfind("\n", 0, middle) + 1 or middle
        return self.text[:cut], self.text[cut:]


def has_capstone(course: Course) -> bool:
    """Say whether a course has a capstone."""
    return (course.root / FOLDER / MANIFEST).is_file()


def read_plan(course: Course) -> CapstoneManifest:
    """Read a course's capstone; UsageError where it has none, CourseError with a line for each mistake in it."""
    folder, place = course.root / FOLDER, f"{FOLDER}/{MANIFEST}"
    if not has_capstone(course):
        hint = f"Its author gives it one: {place}, and a script beside it (docs/course.md)."
        raise UsageError(f"{course.settings.title or 'this course'} has no capstone", hint)
    values = read_toml(folder / MANIFEST, place)
    mistakes: list[str] = []
    table = Table(values, f"{place}: ", mistakes)
    if values.get("schema") != SCHEMA:
        table.wrong("schema", f"{values.get('schema')!r} is not {SCHEMA}, the only one that this grader knows")
    table.knows("schema")
    script, data = table.text("script", _SCRIPT), table.text("data", _DATA)
    stage = _stage(course, folder, table, script)
    model, sizes = _model(table)
    loop = table.text("loop", _STAGE) if "loop" in values else ""
    if loop and loop not in stage.uses:
        table.wrong("loop", f"'{loop}' is not one of uses")
    found = {name: _read(folder / name, f"{FOLDER}/{name}", mistakes) for name in (script, data) if name}
    if mistakes:
        raise CourseError("\n".join(mistakes))
    every = [(folder / MANIFEST).read_bytes(), *found.values()]
    plan = CapstoneManifest(
        stage.title, found[script], found[data].decode("utf-8", "replace"), stage,
        table.number("steps", 1000, MOST), table.number("chunk", 10, MOST), table.number("seed", 1, math.inf),
        table.number("held_out", 0.1, 1), str(table.value("prompt", str, "")), table.number("tokens", 200, MOST),
        table.number("temperature", 1.0, math.inf),
        hashlib.sha256(b"".join(hashlib.sha256(each).digest() for each in every)).hexdigest(),
        {**(table.value("settings", dict, {}) or {}), **sizes}, model, loop,
    )  # fmt: skip
    table.close()
    if not all(plan.parts):
        table.wrong("data", f"'{data}' is too short to hold a part of it out")
    if mistakes:
        raise CourseError("\n".join(mistakes))
    return plan


def _model(table: Table) -> tuple[str, dict[str, object]]:
    """Return which model is trained, and what the settings say of it alone; empty where there is nothing to choose."""
    models = table.value("models", dict, {}) or {}
    if not models:
        return "", {}
    if (model := table.value("model", str)) is None:
        return "", {}
    if not isinstance(sizes := models.get(model), dict):
        table.wrong("model", f"{model!r} is none of {listed(models)}, the tables below models")
        return "", {}
    return model, {**sizes, "model": model}


def _stage(course: Course, folder: Path, table: Table, script: str) -> Stage:
    """Return what stands for the script: it may import what it uses, and what that builds on."""
    uses = table.texts("uses", _STAGE, required=True)
    known = {each.id: each for each in course.stages}
    for place, name in enumerate(uses):
        if name not in known:
            table.wrong(f"uses[{place}]", f"'{name}' is not a stage of this course, which has {', '.join(known)}")
        elif not known[name].lends:
            table.wrong(f"uses[{place}]", f"'{name}' does not say 'lends = true'")
    ids = {each.id for name in uses if name in known for each in (*known[name].builds_on, known[name])}
    limits = table.table("limits")
    seconds = limits.number("call_seconds", 300.0, math.inf)
    most = Limits(
        stage_seconds=seconds,  # each call has a process of its own, and so processor time of its own
        call_seconds=seconds,
        memory_mb=limits.number("memory_mb", 1024, MOST),
        result_mb=limits.number("result_mb", 64, 1024),
        result_rows=MOST * 100,
    )
    limits.close()
    return Stage(
        "capstone", folder, table.text("title"), script, (), (), most, hidden_root=course.hidden,
        packages=course.settings.packages, uses=uses, builds_on=tuple(each for each in course.stages if each.id in ids),
    )  # fmt: skip


def _read(path: Path, place: str, mistakes: list[str]) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        mistakes.append(f"{place}: cannot be read: {error.strerror}")
        return b""

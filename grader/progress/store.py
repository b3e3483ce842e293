"""A learner's progress, .grader/progress.json: passed, skipped, hints shown; written atomically.

{"version": 1, "passed": {"STAGE": {"digest": "…", "seed": 7, "course": "0.1.0", "when": "2026-11-21T08:38:02+00:00"}},
 "skipped": ["STAGE"], "hints": {"STAGE/CRITERION": 2}, "seen": {"STAGE/CRITERION": "2026-11-21T08:38:02+00:00"},
 "remedies": {"STAGE/CRITERION": "…"}, "last": "STAGE"}
hints counts the hints shown; seen says by criterion when its function of the reference was shown before the stage had
passed, remedies marks by criterion the remedy that a hint told last; public holds, as passed does, stages of which only
the public tests have passed, where the hidden ones are sealed; work what the checks of a stage add up to (work.py).
Keys that this version does not know are kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from grader.atomic import FileExists, write_atomically, write_new
from grader.errors import ProgressError
from grader.progress.state import Pass, Progress, Work, checked, last_time, read_work, written

VERSION = 1
PASS_KINDS = {"digest": str, "seed": int, "course": str, "when": str}


class DamagedError(Exception):
    """What is wrong with the file, and what the learner can do about it."""

    def __init__(self, what: str, remedy: str = "`grader check --all` rebuilds it.") -> None:
        super().__init__(what)
        self.remedy = remedy


def loaded(file: Path) -> dict[str, Any]:
    """Return what the file holds, and of what it lacks the beginning; DamagedError where it is of no use."""
    try:
        text = file.read_bytes()
    except FileNotFoundError:
        return fresh()
    except OSError as error:
        raise ProgressError(f"{file} cannot be read: {error.strerror}") from error
    import json  # which `grader status` does without before the first check

    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DamagedError("is damaged: it is not JSON") from error
    version = data.get("version") if isinstance(data, dict) else None
    if type(version) is not int or version < VERSION:
        raise DamagedError(f"is damaged: it has no version this grader knows, {VERSION}")
    if version > VERSION:
        remedy = "Update the grader and give the file its name back, or rebuild it with `grader check --all`."
        raise DamagedError(f"is from a newer grader: it has version {version}, this one knows {VERSION}", remedy)
    data = {**fresh(), **data}
    if wrong := _misshapen(data):
        raise DamagedError(f"is damaged: unexpected values at {', '.join(wrong)}")
    return data


def fresh() -> dict[str, Any]:
    """Return what is recorded in the beginning."""
    told: dict[str, Any] = {"hints": {}, "seen": {}, "remedies": {}}
    return {"version": VERSION, "passed": {}, "public": {}, "skipped": [], **told, "last": None, "work": {}}


def _misshapen(data: Mapping[str, Any]) -> list[str]:
    """The keys whose values are of a wrong kind."""
    passed, public, skipped, hints, last = (data[key] for key in ("passed", "public", "skipped", "hints", "last"))
    sound = {
        "passed": isinstance(passed, dict) and all(map(_is_pass, passed.values())),
        "public": isinstance(public, dict) and all(map(_is_pass, public.values())),
        "skipped": isinstance(skipped, list) and all(isinstance(each, str) for each in skipped),
        "hints": isinstance(hints, dict) and all(type(each) is int and each >= 0 for each in hints.values()),
        **{key: _is_texts(data[key]) for key in ("seen", "remedies")},
        "last": last is None or isinstance(last, str),
    }
    return [key for key, is_sound in sound.items() if not is_sound]


def _is_texts(entries: object) -> bool:
    return isinstance(entries, dict) and all(isinstance(each, str) for each in entries.values())


def _is_pass(entry: object) -> bool:
    return isinstance(entry, dict) and all(type(entry.get(key)) is kind for key, kind in PASS_KINDS.items())


def refused(folder: Path) -> str:
    """Return why a folder takes nothing, in the words of the system; nothing where it takes a few bytes, then gone."""
    import tempfile

    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(4096))
    except OSError as error:
        return error.strerror or str(error)
    return ""


def free(folder: Path, stem: str, suffix: str) -> Path:
    """A path in folder that nothing has yet: stem, stem-1, stem-2 …"""
    names = (f"{stem}{suffix}" if n == 0 else f"{stem}-{n}{suffix}" for n in count())
    return next(folder / name for name in names if not os.path.lexists(folder / name))


def stamp(when: datetime) -> str:
    """Return a time as it stands in the name of a file."""
    return when.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


_RECORDED: list[Path] = []  # files that this process has changed, or begun to
_HOW = ("isolation", "python", "numpy")  # of a pass, where it is known how it was verified
_COUNTS = ("criteria", "robust")  # of a pass, where they are known


def has_recorded() -> bool:
    """Say whether this process may have recorded anything: one that was stopped tells so."""
    return bool(_RECORDED)


class Store:
    """The progress of one course folder; every change is a read-modify-write under a lock between processes."""

    def __init__(self, root: Path, lock_seconds: float = 10.0) -> None:
        self.folder = root / ".grader"
        self.file = self.folder / "progress.json"
        self._lock_seconds = lock_seconds
        self._notice: str | None = None

    def read(self) -> Progress:
        """What is recorded; a damaged file is set aside if it can be; the notice of this and later reads says so."""
        try:
            return self._progress(loaded(self.file))
        except DamagedError as damage:
            try:
                with self._locked():
                    return self._progress(self._sound())
            except ProgressError as error:
                notice = f".grader/progress.json {damage}, and cannot be set aside: {error.message}"
                return Progress(notice=notice)

    def record_pass(
        self, stage_id: str, digest: str, seed: int, course: str, when: datetime, **how: str | int | None
    ) -> Progress:
        """A stage passed; it is no longer skipped, and the last one worked on.

        how is isolation, python and numpy, and how many criteria it has, of which so many are robust.
        """
        return self._record("passed", stage_id, digest, seed, course, when, how)

    def record_public(
        self, stage_id: str, digest: str, seed: int, course: str, when: datetime, **how: str | int | None
    ) -> Progress:
        """The public tests of a stage passed, the hidden ones are sealed; that is no pass, but opens what follows."""
        return self._record("public", stage_id, digest, seed, course, when, how)

    def _record(
        self, kind: str, stage_id: str, digest: str, seed: int, course: str, when: datetime, how: Mapping[str, Any]
    ) -> Progress:
        entry = {"digest": digest, "seed": seed, "course": course, "when": when.astimezone(UTC).isoformat()}
        entry |= {name: how.get(name) or "" for name in _HOW}
        entry |= {name: how[name] for name in _COUNTS if how.get(name) is not None}

        def change(data: dict[str, Any]) -> None:
            data[kind][stage_id] = {**data[kind].get(stage_id, {}), **entry}
            _count(data, stage_id, digest, when, passed=True)
            data["skipped"] = [each for each in data["skipped"] if each != stage_id]
            data["last"] = stage_id

        return self._changed(change)

    def record_skip(self, stage_ids: Iterable[str]) -> Progress:
        """Stages that the learner goes past; those already passed stay passed."""
        skipped = set(stage_ids)

        def change(data: dict[str, Any]) -> None:
            data["skipped"] = sorted({*data["skipped"], *skipped} - data["passed"].keys())

        return self._changed(change)

    def record_last(self, stage_id: str) -> Progress:
        """The stage worked on last, passed or not."""
        return self._changed(lambda data: data.update(last=stage_id))

    def record_check(self, stage_id: str, digest: str, when: datetime) -> Progress:
        """A stage was checked and did not pass; it is the one worked on last."""

        def change(data: dict[str, Any]) -> None:
            data["last"] = stage_id
            _count(data, stage_id, digest, when, passed=False)

        return self._changed(change)

    def next_hint(self, stage_id: str, criterion_id: str, total: int, least: int = 1) -> int:
        """Which of the total hints of a criterion to show now, from 0; the last one again when all were shown.

        The first least - 1 of them are left out.
        """
        key = f"{stage_id}/{criterion_id}"

        def change(data: dict[str, Any]) -> None:
            data["hints"][key] = min(max(data["hints"].get(key, 0) + 1, least), total)
            data["last"] = stage_id

        return self._changed(change).hints[key] - 1

    def record_remedy(self, stage_id: str, criterion_id: str, mark: str) -> Progress:
        """The remedy that a hint has told of a criterion."""

        def change(data: dict[str, Any]) -> None:
            data["remedies"][f"{stage_id}/{criterion_id}"] = mark
            data["last"] = stage_id

        return self._changed(change)

    def record_seen(self, stage_id: str, criterion_id: str, when: datetime) -> Progress:
        """The function of a criterion is shown before its stage has passed; the first time counts."""
        key, at = f"{stage_id}/{criterion_id}", when.astimezone(UTC).isoformat(timespec="seconds")
        return self._changed(lambda data: data["seen"].setdefault(key, at))

    def forget(self, stage_id: str) -> Progress:
        """A stage that starts over: not passed, not skipped, no hint shown; what was seen stays seen."""

        def change(data: dict[str, Any]) -> None:
            data["passed"].pop(stage_id, None)
            data["public"].pop(stage_id, None)
            data["skipped"] = [each for each in data["skipped"] if each != stage_id]
            for kind in ("hints", "remedies"):
                data[kind] = {key: told for key, told in data[kind].items() if not key.startswith(f"{stage_id}/")}

        return self._changed(change)

    def _changed(self, change: Callable[[dict[str, Any]], None]) -> Progress:
        with self._locked():
            data = self._sound()
            change(data)
            _RECORDED.append(self.file)
            import json

            write_atomically(self.file, json.dumps(data, indent=2) + "\n", ProgressError, mode=0o600)
        return self._progress(data)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        import filelock  # slow, and most commands only read

        lock = filelock.FileLock(self.folder / "progress.lock", timeout=self._lock_seconds)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except filelock.Timeout as error:
            raise ProgressError(
                f"another grader has held {lock.lock_file} for {self._lock_seconds:g} s",
                "Wait for it to finish, or end it, and try again.",
            ) from error
        except OSError as error:
            raise ProgressError(f"{self.folder} cannot be written: {error.strerror}") from error
        try:
            yield
        finally:
            lock.release()

    def _sound(self) -> dict[str, Any]:
        """What the file holds, or a fresh start once a damaged file is out of the way; only under the lock."""
        try:
            return loaded(self.file)
        except DamagedError as damage:
            written = datetime.fromtimestamp(self.file.stat().st_mtime, UTC)
            aside = free(self.folder, f"progress.damaged-{stamp(written)}", ".json")
            try:
                os.replace(self.file, aside)
            except OSError as error:
                raise ProgressError(f"{self.file} cannot be renamed: {error.strerror}") from error
            self._notice = f".grader/progress.json {damage}; it is kept as .grader/{aside.name}. {damage.remedy}"
            return fresh()

    def _progress(self, data: Mapping[str, Any]) -> Progress:
        passed, public = (
            {stage: _pass(stage, entry) for stage, entry in data[kind].items()} for kind in ("passed", "public")
        )
        hints, work = dict(data["hints"]), read_work(data["work"])
        told = dict(data["seen"]), dict(data["remedies"])
        return Progress(passed, frozenset(data["skipped"]), hints, data["last"], self._notice, public, work, *told)


def backup(root: Path, file: Path, when: datetime) -> Path:
    """Copy a learner's file below .grader/backups under a name not yet taken; returns the copy's path."""
    folder = root / ".grader" / "backups" / file.parent.name
    try:
        content = file.read_bytes()
        folder.mkdir(parents=True, exist_ok=True)
        while True:
            copy = free(folder, f"{file.stem}.{stamp(when)}", ".py")
            with suppress(FileExists):
                write_new(copy, content, ProgressError)
                return copy
    except OSError as error:
        raise ProgressError(f"{file} cannot be copied to {folder}: {error.strerror}") from error


def _pass(stage_id: str, entry: Mapping[str, Any]) -> Pass:
    how: dict[str, Any] = {name: entry[name] for name in _HOW if isinstance(entry.get(name), str)}
    how |= {name: entry[name] for name in _COUNTS if type(entry.get(name)) is int and entry[name] >= 0}
    return Pass(stage_id, **{key: entry[key] for key in PASS_KINDS}, **how)


def _count(data: dict[str, Any], stage_id: str, digest: str, when: datetime, passed: bool) -> None:
    """Add a check to what those of a stage add up to."""
    works = read_work(data["work"])
    works[stage_id] = checked(works.get(stage_id, Work()), last_time(works.values()), digest, when, passed)
    data["work"] = written(works)

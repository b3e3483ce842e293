"""What a learner has passed, skipped and been told: .grader/progress.json, written whole or not at all.

{"version": 1, "passed": {"STAGE": {"digest": "…", "seed": 7, "course": "0.1.0", "when": "2026-11-21T08:38:02+00:00"}},
 "skipped": ["STAGE"], "hints": {"STAGE/ROW": 2}, "last": "STAGE"}
hints counts the hints shown; public holds, as passed does, stages of which only the public tests have passed, where the
hidden ones are sealed. Keys that this version does not know are kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from grader.errors import ProgressError
from grader.progress.state import Pass, Progress

VERSION = 1
_RECORDED: list[Path] = []  # files that this process has changed, or begun to
_PASS_KINDS = {"digest": str, "seed": int, "course": str, "when": str}


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
            return self._progress(_loaded(self.file))
        except _DamagedError as damage:
            try:
                with self._locked():
                    return self._progress(self._sound())
            except ProgressError as error:
                notice = f".grader/progress.json {damage}, and cannot be set aside: {error.message}"
                return Progress(notice=notice)

    def record_pass(self, stage_id: str, digest: str, seed: int, course: str, when: datetime) -> Progress:
        """A stage passed; it is no longer skipped, and the last one worked on."""
        return self._record("passed", stage_id, digest, seed, course, when)

    def record_public(self, stage_id: str, digest: str, seed: int, course: str, when: datetime) -> Progress:
        """The public tests of a stage passed, the hidden ones are sealed; that is no pass, but opens what follows."""
        return self._record("public", stage_id, digest, seed, course, when)

    def _record(self, kind: str, stage_id: str, digest: str, seed: int, course: str, when: datetime) -> Progress:
        entry = {"digest": digest, "seed": seed, "course": course, "when": when.astimezone(UTC).isoformat()}

        def change(data: dict[str, Any]) -> None:
            data[kind][stage_id] = {**data[kind].get(stage_id, {}), **entry}
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

    def next_hint(self, stage_id: str, criterion_id: str, total: int) -> int:
        """Which of the total hints of a row to show now, from 0; the last one again when all were shown."""
        key = f"{stage_id}/{criterion_id}"

        def change(data: dict[str, Any]) -> None:
            data["hints"][key] = min(data["hints"].get(key, 0) + 1, total)
            data["last"] = stage_id

        return self._changed(change).hints[key] - 1

    def forget(self, stage_id: str) -> Progress:
        """A stage that starts over: not passed, not skipped, no hint shown."""

        def change(data: dict[str, Any]) -> None:
            data["passed"].pop(stage_id, None)
            data["public"].pop(stage_id, None)
            data["skipped"] = [each for each in data["skipped"] if each != stage_id]
            data["hints"] = {key: n for key, n in data["hints"].items() if not key.startswith(f"{stage_id}/")}

        return self._changed(change)

    def _changed(self, change: Callable[[dict[str, Any]], None]) -> Progress:
        with self._locked():
            data = self._sound()
            change(data)
            _RECORDED.append(self.file)
            _write(self.file, json.dumps(data, indent=2) + "\n")
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
            return _loaded(self.file)
        except _DamagedError as damage:
            written = datetime.fromtimestamp(self.file.stat().st_mtime, UTC)
            aside = _free(self.folder, f"progress.damaged-{_stamp(written)}", ".json")
            try:
                os.replace(self.file, aside)
            except OSError as error:
                raise ProgressError(f"{self.file} cannot be renamed: {error.strerror}") from error
            self._notice = f".grader/progress.json {damage}; it is kept as .grader/{aside.name}. {damage.remedy}"
            return _fresh()

    def _progress(self, data: Mapping[str, Any]) -> Progress:
        passed, public = (
            {stage: Pass(stage, **{key: entry[key] for key in _PASS_KINDS}) for stage, entry in data[kind].items()}
            for kind in ("passed", "public")
        )
        return Progress(passed, frozenset(data["skipped"]), dict(data["hints"]), data["last"], self._notice, public)


def backup(root: Path, file: Path, when: datetime) -> Path:
    """Copy a learner's file below .grader/backups under a name not yet taken; returns the copy's path."""
    folder = root / ".grader" / "backups" / file.parent.name
    try:
        content = file.read_bytes()
        folder.mkdir(parents=True, exist_ok=True)
        while True:
            copy = _free(folder, f"{file.stem}.{_stamp(when)}", ".py")
            with suppress(FileExistsError), open(copy, "xb") as target:
                target.write(content)
                return copy
    except OSError as error:
        raise ProgressError(f"{file} cannot be copied to {folder}: {error.strerror}") from error


class _DamagedError(Exception):
    """What is wrong with the file, and what the learner can do about it."""

    def __init__(self, what: str, remedy: str = "`grader check --all` rebuilds it.") -> None:
        super().__init__(what)
        self.remedy = remedy


def _loaded(file: Path) -> dict[str, Any]:
    try:
        data = json.loads(file.read_bytes())
    except FileNotFoundError:
        return _fresh()
    except OSError as error:
        raise ProgressError(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise _DamagedError("is damaged: it is not JSON") from error
    version = data.get("version") if isinstance(data, dict) else None
    if type(version) is not int or version < VERSION:
        raise _DamagedError(f"is damaged: it has no version this grader knows, {VERSION}")
    if version > VERSION:
        remedy = "Update the grader and give the file its name back, or rebuild it with `grader check --all`."
        raise _DamagedError(f"is from a newer grader: it has version {version}, this one knows {VERSION}", remedy)
    data = {**_fresh(), **data}
    if wrong := _misshapen(data):
        raise _DamagedError(f"is damaged: unexpected values at {', '.join(wrong)}")
    return data


def _fresh() -> dict[str, Any]:
    return {"version": VERSION, "passed": {}, "public": {}, "skipped": [], "hints": {}, "last": None}


def _misshapen(data: Mapping[str, Any]) -> list[str]:
    """The keys whose values are of a wrong kind."""
    passed, public, skipped, hints, last = (data[key] for key in ("passed", "public", "skipped", "hints", "last"))
    sound = {
        "passed": isinstance(passed, dict) and all(map(_is_pass, passed.values())),
        "public": isinstance(public, dict) and all(map(_is_pass, public.values())),
        "skipped": isinstance(skipped, list) and all(isinstance(each, str) for each in skipped),
        "hints": isinstance(hints, dict) and all(type(each) is int and each >= 0 for each in hints.values()),
        "last": last is None or isinstance(last, str),
    }
    return [key for key, is_sound in sound.items() if not is_sound]


def _is_pass(entry: object) -> bool:
    return isinstance(entry, dict) and all(type(entry.get(key)) is kind for key, kind in _PASS_KINDS.items())


def _write(file: Path, text: str) -> None:
    """Replace a file in one step: whoever reads sees the old or the new text, even after a power cut."""
    import tempfile  # slow, and most commands only read

    temporary = None
    try:
        descriptor, temporary = tempfile.mkstemp(".tmp", "progress.", file.parent)
        with open(descriptor, "w", encoding="utf-8") as target:
            target.write(text)
            target.flush()
            os.fsync(target.fileno())
        os.replace(temporary, file)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise ProgressError(f"{file} cannot be written: {error.strerror}") from error


def _free(folder: Path, stem: str, suffix: str) -> Path:
    """A path in folder that nothing has yet: stem, stem-1, stem-2 …"""
    names = (f"{stem}{suffix}" if n == 0 else f"{stem}-{n}{suffix}" for n in count())
    return next(folder / name for name in names if not os.path.lexists(folder / name))


def _stamp(when: datetime) -> str:
    return when.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")

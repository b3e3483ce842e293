"""The progress file on disk: read with what is wrong about it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from grader.errors import ProgressError

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
        data = json.loads(file.read_bytes())
    except FileNotFoundError:
        return fresh()
    except OSError as error:
        raise ProgressError(f"{file} cannot be read: {error.strerror}") from error
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

"""The training checkpoint, .grader/capstone/checkpoint.npz: written atomically and read without pickle.

The archive holds numbered arrays and, as bytes of JSON, a header: version, fingerprint of the capstone, step, seconds,
whose modules it was trained with, and the structure of the state. A file that is damaged is kept under another name.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.atomic import drafts, write_atomically
from grader.capstone.trainee import TrainingFailed
from grader.errors import ProgressError
from grader.submission.snapshot import Use, uses_in

KINDS = "biufc"  # of dtypes
DEEPEST = 30
Array = NDArray[Any]


class Unkept(Exception):
    """A value has no plain form; place says where it stands, kind what it is."""

    def __init__(self, place: str, kind: str) -> None:
        super().__init__(f"{place} is {kind}")
        self.place = place
        self.kind = kind


class Misshapen(Exception):
    """A structure is none that was made here."""


def flattened(value: Any, name: str) -> tuple[Any, list[Array]]:
    """Return the structure and the arrays of a value called name; Unkept where a part of it is no plain value.

    >>> flattened({"rate": 0.5, "w": np.zeros(2)}, "state")
    ({'dict': [['rate', 0.5], ['w', {'array': 0}]]}, [array([0., 0.])])
    """
    arrays: list[Array] = []
    return _down(value, name, arrays, 0), arrays


def _down(value: Any, place: str, arrays: list[Array], depth: int) -> Any:
    if depth > DEEPEST:
        raise Unkept(place, f"nested more than {DEEPEST} deep")
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.generic | np.ndarray) and value.dtype.kind in KINDS and type(value) is not np.matrix:
        arrays.append(np.array(value, order="C"))
        return {"array" if isinstance(value, np.ndarray) else "scalar": len(arrays) - 1}
    if type(value) in (list, tuple):
        items = [_down(each, f"{place}[{i}]", arrays, depth + 1) for i, each in enumerate(value)]
        return {"list" if type(value) is list else "tuple": items}
    if type(value) is dict:
        return {"dict": [[_key(key, place), _down(each, f"{place}[{key!r}]", arrays, depth + 1)]
                         for key, each in value.items()]}  # fmt: skip
    raise Unkept(place, f"an object of the class {getattr(value, '_shown', None) or type(value).__name__}")


def _key(key: Any, place: str) -> str | int:
    if type(key) not in (str, int):
        raise Unkept(place, f"a dict with a key that is neither a text nor a whole number ({type(key).__name__})")
    plain: str | int = key
    return plain


def restored(structure: Any, arrays: Sequence[Array]) -> Any:
    """Return the value of a structure and its arrays; Misshapen where they do not fit together."""
    match structure:
        case None | bool() | int() | float() | str():
            return structure
        case {"array": int(number), **more} if not more and 0 <= number < len(arrays):
            return arrays[number]
        case {"scalar": int(number), **more} if not more and 0 <= number < len(arrays) and arrays[number].ndim == 0:
            return arrays[number][()]
        case {"list": list(items), **more} if not more:
            return [restored(each, arrays) for each in items]
        case {"tuple": list(items), **more} if not more:
            return tuple(restored(each, arrays) for each in items)
        case {"dict": list(pairs), **more} if not more:
            return dict(_pair(each, arrays) for each in pairs)
    raise Misshapen(f"a structure holds {type(structure).__name__} where a value was expected")


def _pair(pair: Any, arrays: Sequence[Array]) -> tuple[str | int, Any]:
    match pair:
        case [str() | int() as key, value]:
            return key, restored(value, arrays)
    raise Misshapen("a structure has a dict whose entries are no pairs")


VERSION = 1
MAX_BYTES = 1 << 30
HEADER = "header"


@dataclass(frozen=True)
class Checkpoint:
    """A training at one step: the script's own values, the loss of each step, and what they were made with."""

    fingerprint: str
    step: int
    seconds: float
    uses: tuple[Use, ...]
    prepared: Any
    state: Any
    losses: tuple[float, ...]


class Damaged(Exception):
    """The file is no checkpoint; the message completes `checkpoint.npz …`."""


class Checkpoints:
    """The checkpoint of one course folder, and those that were set aside."""

    def __init__(self, root: Path) -> None:
        self.folder = root / ".grader" / "capstone"
        self.file = self.folder / "checkpoint.npz"

    @property
    def shown(self) -> str:
        """What messages call the file."""
        return f".grader/capstone/{self.file.name}"

    def read(self) -> Checkpoint | None:
        """Return what was reached last, None where nothing was; Damaged where the file is no checkpoint."""
        try:
            if self.file.stat().st_size > MAX_BYTES:
                raise Damaged("is damaged: it is larger than any checkpoint")
            data = self.file.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ProgressError(f"{self.file} cannot be read: {error.strerror}") from error
        return _parsed(data)

    def write(self, reached: Checkpoint) -> None:
        """Replace the checkpoint in one step; the one before stays where that fails. ProgressError says why."""
        hint = "Make room there. What was trained up to the checkpoint before is kept: `grader capstone` goes on."
        write_atomically(self.file, _packed(reached), ProgressError, hint)

    def set_aside(self, why: str, when: datetime) -> Path | None:
        """Give the checkpoint another name, which is returned; None where there is none."""
        stem = f"checkpoint.{why}-{when.astimezone(UTC).strftime('%Y%m%dT%H%M%SZ')}"
        names = (f"{stem}{f'-{n}' if n else ''}.npz" for n in count())
        aside = next(self.folder / name for name in names if not os.path.lexists(self.folder / name))
        try:
            os.replace(self.file, aside)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ProgressError(f"{self.file} cannot be renamed: {error.strerror}") from error
        return aside

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other graders from training here; ProgressError where one does."""
        import filelock

        lock = filelock.FileLock(self.folder / "training.lock", timeout=0)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except filelock.Timeout as error:
            raise ProgressError("another `grader capstone` is training here", "Wait for it, or end it.") from error
        except OSError as error:
            raise ProgressError(f"{self.folder} cannot be written: {error.strerror}") from error
        try:
            for left in drafts(self.file):  # of one that was killed while it wrote
                with suppress(OSError):
                    left.unlink()
            yield
        finally:
            lock.release()


def plain_copy(value: Any, name: str) -> Any:
    """Return a value as a checkpoint would give it back; TrainingFailed where it cannot hold it."""
    try:
        structure, arrays = flattened(value, name)
    except Unkept as unkept:
        hint = "An optimiser's state has to be made of dicts, lists, numbers and arrays, so that it can be saved."
        raise TrainingFailed(f"a checkpoint cannot hold {unkept.place}: it is {unkept.kind}", hint) from None
    return restored(structure, arrays)


def _packed(reached: Checkpoint) -> bytes:
    value = {"prepared": reached.prepared, "state": reached.state, "losses": np.array(reached.losses)}
    structure, arrays = flattened(value, "checkpoint")
    header = {
        "version": VERSION,
        "fingerprint": reached.fingerprint,
        "step": reached.step,
        "seconds": reached.seconds,
        "uses": [[use.stage, use.source, use.digest] for use in reached.uses],
        "structure": structure,
    }
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    out = io.BytesIO()
    np.savez(out, allow_pickle=False, **{HEADER: text, **{f"a{place}": each for place, each in enumerate(arrays)}})
    return out.getvalue()


def _parsed(data: bytes) -> Checkpoint:
    """Return the checkpoint that some bytes are; Damaged where they are none."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_BYTES:
                raise Damaged("is damaged: it holds more than any checkpoint")
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            header = json.loads(found[HEADER].tobytes())
            arrays = [found[f"a{place}"] for place in range(len(found.files) - 1)]
        if any(type(each) is not np.ndarray or each.dtype.kind not in KINDS for each in arrays):
            raise Misshapen("it holds something else than arrays of numbers")
        return _checked(header, arrays)
    except Damaged:
        raise
    except Exception as error:  # a damaged header makes NumPy raise whatever its parser does
        raise Damaged(f"is damaged: {type(error).__name__}: {str(error)[:100]}") from error


def _checked(header: Any, arrays: Sequence[Array]) -> Checkpoint:
    """Return the checkpoint of a header and its arrays; Misshapen where a part is missing or of another form."""
    match header:
        case {"version": int(version), **_more} if version > VERSION:
            raise Damaged(f"is from a newer grader: it has version {version}, this one knows {VERSION}")
        case {
            "version": 1, "fingerprint": str(fingerprint), "step": int(step), "seconds": int() | float() as seconds,
            "uses": list(uses), "structure": structure,
        } if step >= 0:  # fmt: skip
            pass
        case _:
            raise Misshapen("its header has another form")
    found = uses_in([dict(zip(("stage", "source", "digest"), each, strict=True)) for each in uses])
    value = restored(structure, arrays)
    losses = value["losses"]
    if found is None or losses.ndim != 1 or losses.dtype != np.float64 or len(losses) != step:
        raise Misshapen("its parts do not fit together")
    return Checkpoint(fingerprint, step, float(seconds), found, value["prepared"], value["state"],
                      tuple(losses.tolist()))  # fmt: skip

"""What training has reached is written whole or not at all, and nothing that is damaged is loaded."""

from __future__ import annotations

import errno
import io
import json
import os
import pickle
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.capstone.checkpoint import Checkpoint, Checkpoints, Damaged, Misshapen, Unkept, flattened, restored
from grader.errors import ProgressError
from grader.submission.snapshot import Use


def through(value: Any) -> Any:
    structure, arrays = flattened(value, "it")
    return restored(json.loads(json.dumps(structure)), arrays)


def test_plain_values_keep_their_kinds() -> None:
    value = {"a": [1, 2.5, "three", None, True, (4, [])], 7: {}}
    assert through(value) == value
    assert type(through(value)["a"][5]) is tuple


@pytest.mark.parametrize("value", [0.1 + 0.2, 1e-320, float("inf"), -0.0, 10**30])
def test_numbers_keep_every_bit(value: float) -> None:
    assert repr(through(value)) == repr(value)


def test_arrays_and_numbers_of_numpy_keep_dtype_shape_and_bits() -> None:
    value = {"x": np.arange(6, dtype=np.float32).reshape(2, 3).T, "y": np.float32(0.1), "z": np.array(3)}
    found = through(value)
    assert found["x"].tobytes() == value["x"].tobytes() and found["x"].dtype == np.float32
    assert type(found["y"]) is np.float32 and found["z"].shape == ()


def test_an_array_is_laid_out_alike_whether_it_was_transposed_or_not() -> None:
    assert through(np.ones((2, 3)).T).flags.c_contiguous


def test_a_value_with_no_plain_form_is_named_by_its_place() -> None:
    with pytest.raises(Unkept, match=r"state\['optimizer'\]\[1\] is an object of the class object"):
        flattened({"optimizer": [1, object()]}, "state")
    with pytest.raises(Unkept, match="of the class ndarray"):
        flattened(np.array([None]), "state")
    with pytest.raises(Unkept, match=r"neither a text nor a whole number \(float\)"):
        flattened({0.5: 1}, "state")


def test_a_value_that_holds_itself_comes_to_an_end() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(Unkept, match="nested more than"):
        flattened(loop, "state")


@pytest.mark.parametrize(
    "structure",
    [[], {"array": 5}, {"scalar": 0}, {"list": 3}, {"dict": [["a"]]}, {"dict": [[None, 1]]}, {"array": 0, "more": 1}],
)
def test_a_structure_of_another_form_is_refused(structure: Any) -> None:
    with pytest.raises(Misshapen):
        restored(structure, [np.zeros(2)])


NOW = datetime(2026, 11, 23, tzinfo=UTC)
REACHED = Checkpoint(
    "f" * 64, 2, 1.5, (Use("s01", "own", "0" * 64),), {"training": np.arange(3)}, {"w": np.ones(2)}, (3.0, 2.5)
)


@pytest.fixture
def kept(tmp_path: Path) -> Checkpoints:
    found = Checkpoints(tmp_path)
    found.folder.mkdir(parents=True)
    found.write(REACHED)
    return found


def test_what_was_written_is_read(kept: Checkpoints) -> None:
    found = kept.read()
    assert found is not None
    assert replace(found, prepared=None, state=None) == replace(REACHED, prepared=None, state=None)
    assert found.state["w"].tolist() == [1, 1] and found.prepared["training"].tolist() == [0, 1, 2]


def test_without_a_file_nothing_was_reached(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path).read() is None


def test_the_same_training_is_the_same_file(kept: Checkpoints) -> None:
    before = kept.file.read_bytes()
    found = kept.read()
    assert found is not None
    kept.write(found)
    with np.load(io.BytesIO(before)) as one, np.load(kept.file) as other:
        assert {name: one[name].tobytes() for name in one.files} == {
            name: other[name].tobytes() for name in other.files
        }


def test_every_file_that_was_cut_short_is_damaged(kept: Checkpoints) -> None:
    data = kept.file.read_bytes()
    for size in range(0, len(data), 97):
        kept.file.write_bytes(data[:size])
        with pytest.raises(Damaged):
            kept.read()


def test_a_byte_that_changed_is_never_loaded_as_another_value(kept: Checkpoints) -> None:
    data, found = kept.file.read_bytes(), kept.read()
    assert found is not None
    for place in range(0, len(data), 23):
        kept.file.write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        try:
            read = kept.read()
        except Damaged:
            continue
        assert read is not None and read.losses == found.losses and read.state["w"].tolist() == [1, 1]


def stored(**arrays: Any) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def header(**changes: Any) -> Any:
    values = {
        "version": 1, "fingerprint": "f", "step": 0, "seconds": 0, "uses": [],
        "structure": {"dict": [["prepared", None], ["state", None], ["losses", {"array": 0}]]}, **changes,
    }  # fmt: skip
    return np.frombuffer(json.dumps(values).encode(), dtype=np.uint8)


class Trap:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_nothing_is_unpickled(kept: Checkpoints, tmp_path: Path) -> None:
    trap = Trap(tmp_path / "sprung")
    for data in (pickle.dumps(trap), stored(header=header(), a0=np.array([trap], dtype=object))):
        kept.file.write_bytes(data)
        with pytest.raises(Damaged):
            kept.read()
    assert not trap.path.exists()


@pytest.mark.parametrize(
    "changes",
    [{"step": 1}, {"step": -1}, {"version": 0}, {"uses": [["s01", "own"]]}, {"uses": [["x", "own", "0" * 64]]},
     {"structure": {"dict": []}}, {"structure": 3}, {"fingerprint": 1}],
)  # fmt: skip
def test_a_header_of_another_form_is_damaged(kept: Checkpoints, changes: dict[str, Any]) -> None:
    kept.file.write_bytes(stored(header=header(), a0=np.zeros(0)))
    assert kept.read() is not None
    kept.file.write_bytes(stored(header=header(**changes), a0=np.zeros(0)))
    with pytest.raises(Damaged, match="is damaged"):
        kept.read()


def test_any_bytes_in_a_sound_archive_are_a_checkpoint_or_damaged(kept: Checkpoints) -> None:
    rng = np.random.default_rng(5)
    with zipfile.ZipFile(kept.file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    outcomes: set[type] = set()
    for _ in range(100):
        name = str(rng.choice(sorted(parts)))
        changed = bytearray(parts[name])
        for place in rng.integers(0, min(len(changed), 130), size=2):
            changed[place] = rng.integers(0, 256)
        with zipfile.ZipFile(kept.file, "w") as archive:
            for each, data in {**parts, name: bytes(changed)}.items():
                archive.writestr(each, data)
        try:
            outcomes.add(type(kept.read()))
        except Damaged:
            outcomes.add(Damaged)
    assert Damaged in outcomes and outcomes <= {Checkpoint, Damaged}


def test_what_is_no_array_of_numbers_is_damaged(kept: Checkpoints) -> None:
    kept.file.write_bytes(stored(header=header(), a0=np.array(["a"])))
    with pytest.raises(Damaged, match="something else than arrays of numbers"):
        kept.read()


def test_a_newer_graders_file_is_told_apart(kept: Checkpoints) -> None:
    kept.file.write_bytes(stored(header=header(version=2)))
    with pytest.raises(Damaged, match="from a newer grader: it has version 2"):
        kept.read()


def test_a_file_that_would_grow_without_end_is_refused(kept: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.capstone.checkpoint.MAX_BYTES", 1000)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a0.npy", bytes(100_000))
    assert len(out.getvalue()) < 1000
    kept.file.write_bytes(out.getvalue())
    with pytest.raises(Damaged, match="holds more than any checkpoint"):
        kept.read()


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_checkpoint_before(
    kept: Checkpoints, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    before = kept.file.read_bytes()

    def full(*given: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, full)
    with pytest.raises(ProgressError, match="cannot be written: No space left on device") as caught:
        kept.write(replace(REACHED, seconds=9.0))
    assert "Make room" in str(caught.value.hint)
    assert kept.file.read_bytes() == before and [path.name for path in kept.folder.iterdir()] == [kept.file.name]


def test_a_checkpoint_that_is_set_aside_overwrites_none(kept: Checkpoints) -> None:
    first = kept.set_aside("before", NOW)
    kept.write(REACHED)
    second = kept.set_aside("before", NOW)
    assert first and second and first != second and first.is_file() and second.is_file()
    assert kept.set_aside("before", NOW) is None


def test_only_one_trains_in_a_folder(kept: Checkpoints, tmp_path: Path) -> None:
    told = pytest.raises(ProgressError, match="another `grader capstone` is training")
    with kept.locked(), told, Checkpoints(tmp_path).locked():
        raise AssertionError


def test_what_a_killed_one_left_half_written_is_removed(kept: Checkpoints) -> None:
    left = kept.folder / ".checkpoint.npz.0123456789abcdef.tmp"
    left.write_bytes(b"half")
    with kept.locked():
        assert not left.exists() and kept.file.exists()

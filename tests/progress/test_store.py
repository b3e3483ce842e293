"""What is remembered between runs: states, the file and its lock."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import filelock
import pytest

from grader.errors import ProgressError
from grader.isolation import tiers
from grader.progress.state import Pass, Progress, Work
from grader.progress.store import VERSION, DamagedError, Store, backup, free, fresh, loaded, refused, stamp
from tests.progress.conftest import WHEN, names, write

PROCESSES, ROUNDS = 4, 10


class TestRecords:
    def test_in_the_beginning_nothing_is_recorded_or_written(self, store: Store) -> None:
        assert store.read() == Progress()
        assert not store.folder.exists()

    def test_a_pass_is_read_back_by_another_process(self, store: Store, tmp_path: Path) -> None:
        store.record_pass("s15", "abc", 40817, "0.1.0", WHEN)
        expected = Pass("s15", "abc", 40817, "0.1.0", "2026-11-21T08:38:02+00:00")
        when = "2026-11-21T08:38:02+00:00"
        work = Work(attempts=1, until=1, first=when, last=when, passed=when, text="abc")
        assert Store(tmp_path).read() == Progress({"s15": expected}, last="s15", work={"s15": work})

    def test_how_a_pass_was_verified_is_kept_where_it_is_told(self, store: Store) -> None:
        store.record_pass("s01", "abc", 7, "0.1.0", WHEN, isolation="landlock", python="3.13.1", numpy=None)
        found = store.read().passed["s01"]
        assert (found.isolation, found.python, found.numpy) == ("landlock", "3.13.1", "")

    def test_each_check_counts_for_its_stage(self, store: Store) -> None:
        store.record_check("s01", "abc", WHEN)
        store.record_check("s01", "def", WHEN + timedelta(minutes=4))
        store.record_pass("s01", "ghi", 7, "0.1.0", WHEN + timedelta(minutes=6))
        progress = store.record_check("s02", "abc", WHEN + timedelta(minutes=7))
        found = [(work.attempts, work.seconds) for work in progress.work.values()]
        assert (found, progress.last) == ([(3, 360), (1, 60)], "s02")

    def test_work_of_another_form_counts_as_none_and_harms_nothing(self, store: Store) -> None:
        store.record_pass("s01", "abc", 7, "0.1.0", WHEN)
        write(store, store.file.read_text(encoding="utf-8").replace('"attempts": 1', '"attempts": "many"'))
        assert store.read().passed.keys() == {"s01"} and not store.read().work and store.read().notice is None
        assert store.record_check("s01", "def", WHEN).work["s01"].attempts == 1

    def test_the_time_of_a_pass_is_kept_in_utc(self, store: Store) -> None:
        elsewhere = WHEN.astimezone(timezone(timedelta(hours=5)))
        assert store.record_pass("s15", "abc", 7, "0.1.0", elsewhere).passed["s15"].when == "2026-11-21T08:38:02+00:00"

    def test_a_later_pass_replaces_the_earlier_one(self, store: Store) -> None:
        store.record_pass("s15", "abc", 7, "0.1.0", WHEN)
        assert store.record_pass("s15", "def", 8, "0.2.0", WHEN).passed["s15"].digest == "def"

    def test_a_skipped_stage_that_passes_is_no_longer_skipped(self, store: Store) -> None:
        store.record_skip(["s01", "s02"])
        assert store.record_pass("s01", "abc", 7, "0.1.0", WHEN).skipped == {"s02"}

    def test_a_passed_stage_is_not_skipped(self, store: Store) -> None:
        store.record_pass("s01", "abc", 7, "0.1.0", WHEN)
        assert store.record_skip(iter(["s01", "s02"])).skipped == {"s02"}

    def test_the_last_stage_is_remembered(self, store: Store) -> None:
        store.record_pass("s01", "abc", 7, "0.1.0", WHEN)
        assert store.record_last("s02").last == "s02"

    def test_hints_come_one_after_the_other_and_stay_at_the_last(self, store: Store) -> None:
        assert [store.next_hint("s15", "split-heads", 3) for _ in range(5)] == [0, 1, 2, 2, 2]
        assert store.read().hints == {"s15/split-heads": 3}

    def test_each_row_has_hints_of_its_own(self, store: Store) -> None:
        store.next_hint("s15", "split-heads", 3)
        assert store.next_hint("s15", "merge-heads", 3) == 0

    def test_a_row_with_fewer_hints_than_before_shows_its_last(self, store: Store) -> None:
        write(store, json.dumps({"version": 1, "hints": {"s15/split-heads": 9}}))
        assert store.next_hint("s15", "split-heads", 3) == 2

    def test_forgetting_a_stage_leaves_the_others(self, store: Store) -> None:
        for each in ("s01", "s15"):
            store.record_pass(each, "abc", 7, "0.1.0", WHEN)
            store.next_hint(each, "a-row", 3)
        store.record_skip(["s02"])
        progress = store.forget("s15")
        assert progress.passed.keys() == {"s01"}
        assert progress.skipped == {"s02"}
        assert progress.hints == {"s01/a-row": 1}

    def test_public_tests_that_pass_are_no_pass_and_are_forgotten_with_the_stage(self, store: Store) -> None:
        progress = store.record_public("s01", "abc", 7, "0.1.0", WHEN)
        assert set(progress.public) == {"s01"} and not progress.passed and progress.last == "s01"
        assert not store.forget("s01").public

    def test_forgetting_a_skipped_stage_opens_it_again(self, store: Store) -> None:
        store.record_skip(["s02"])
        assert store.forget("s02").skipped == frozenset()

    def test_forgetting_what_was_never_recorded_is_fine(self, store: Store) -> None:
        assert store.forget("s15") == Progress()


class TestFile:
    def test_it_is_versioned_json_that_people_can_read(self, store: Store) -> None:
        store.record_skip(["s02"])
        text = store.file.read_text(encoding="utf-8")
        assert json.loads(text) == {
            "version": 1,
            "passed": {},
            "public": {},
            "skipped": ["s02"],
            "hints": {},
            "seen": {},
            "remedies": {},
            "last": None,
            "work": {},
        }
        assert text.endswith("}\n")
        assert "\n  " in text

    def test_unknown_keys_are_kept(self, store: Store) -> None:
        entry = {"digest": "abc", "seed": 7, "course": "0.1.0", "when": "2026", "note": "well done"}
        write(store, json.dumps({"version": 1, "passed": {"s01": entry, "s02": entry}, "theme": {"dark": True}}))
        store.record_pass("s01", "def", 8, "0.1.0", WHEN)
        data = json.loads(store.file.read_bytes())
        assert data["theme"] == {"dark": True}
        assert data["passed"]["s01"]["note"] == "well done"
        assert data["passed"]["s02"] == entry

    def test_nothing_temporary_is_left_behind(self, store: Store) -> None:
        store.record_skip(["s02"])
        assert [name for name in names(store) if name != "progress.lock"] == ["progress.json"]

    def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.record_skip(["s02"])

        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(ProgressError, match=r"progress.json cannot be written: No space left on device"):
            store.record_skip(["s03"])
        assert store.read().skipped == {"s02"}
        assert [name for name in names(store) if name != "progress.lock"] == ["progress.json"]

    def test_a_file_that_cannot_be_read_is_named(self, store: Store) -> None:
        store.file.mkdir(parents=True)
        with pytest.raises(ProgressError, match=r"progress.json cannot be read: Is a directory"):
            store.read()

    def test_a_folder_that_cannot_be_made_is_named(self, store: Store) -> None:
        store.folder.write_text("in the way")
        with pytest.raises(ProgressError, match=r"\.grader cannot be written: "):
            store.record_skip(["s02"])


class TestLock:
    def test_a_lock_that_another_holds_is_waited_for_and_then_named(self, tmp_path: Path) -> None:
        store = Store(tmp_path, lock_seconds=0.05)
        store.folder.mkdir()
        with (
            filelock.FileLock(store.folder / "progress.lock"),
            pytest.raises(ProgressError, match=r"another grader has held .*progress.lock for 0.05 s") as caught,
        ):
            store.record_skip(["s02"])
        assert caught.value.hint == "Wait for it to finish, or end it, and try again."

    def test_reading_waits_for_no_lock(self, tmp_path: Path) -> None:
        store = Store(tmp_path, lock_seconds=0)
        store.record_skip(["s02"])
        with filelock.FileLock(store.folder / "progress.lock"):
            assert store.read().skipped == {"s02"}

    def test_an_error_inside_gives_the_lock_back(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(1, "no")))
            with pytest.raises(ProgressError):
                store.record_skip(["s02"])
        assert store.record_skip(["s03"]).skipped == {"s03"}

    def test_processes_that_write_at_once_lose_nothing(self, tmp_path: Path) -> None:
        context: Any = multiprocessing.get_context("fork" if tiers.FORKS else "spawn")
        processes = [context.Process(target=_write_much, args=(tmp_path, n)) for n in range(PROCESSES)]
        for process in processes:
            process.start()
        while any(process.is_alive() for process in processes):
            assert Store(tmp_path).read().notice is None
            processes[0].join(0.01)
        for process in processes:
            process.join()
        progress = Store(tmp_path).read()
        assert [process.exitcode for process in processes] == [0] * PROCESSES
        assert len(progress.passed) == PROCESSES * ROUNDS
        assert progress.hints == {"s01/shared": PROCESSES * ROUNDS}


def _write_much(root: Path, number: int) -> None:
    store = Store(root, lock_seconds=60)
    for turn in range(ROUNDS):
        store.record_pass(f"s{number}{turn:02}", "abc", turn, "0.1.0", WHEN)
        store.next_hint("s01", "shared", 10_000)


def test_no_file_is_a_fresh_start(tmp_path: Path) -> None:
    assert loaded(tmp_path / "progress.json") == fresh()


def test_keys_that_are_missing_begin_empty_and_others_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "progress.json"
    file.write_text(json.dumps({"version": VERSION, "later": 1, "skipped": ["s01"]}), encoding="utf-8")
    assert loaded(file) == {**fresh(), "later": 1, "skipped": ["s01"]}


@pytest.mark.parametrize(
    ("text", "told"),
    [("{", "it is not JSON"), ("[]", "no version"), ('{"version": 2}', "newer"), ('{"version": 1, "last": 3}', "last")],
)
def test_a_file_of_no_use_is_damaged(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "progress.json").write_text(text, encoding="utf-8")
    with pytest.raises(DamagedError, match=told) as caught:
        loaded(tmp_path / "progress.json")
    assert "grader check --all" in caught.value.remedy


def test_a_name_that_is_free_is_found(tmp_path: Path) -> None:
    when = stamp(datetime(2026, 11, 21, 8, 38, 2, tzinfo=UTC))
    (tmp_path / f"x-{when}.py").touch()
    assert free(tmp_path, f"x-{when}", ".py").name == "x-20261121T083802Z-1.py"


def test_why_a_folder_takes_nothing_is_in_the_words_of_the_system(tmp_path: Path) -> None:
    assert refused(tmp_path) == "" and list(tmp_path.iterdir()) == []
    assert refused(tmp_path / "gone") == "No such file or directory"


class TestDamage:
    @pytest.mark.parametrize(
        ("text", "what"),
        [
            ("", "it is not JSON"),
            ('{"version": 1, "passed"', "it is not JSON"),
            (b"\xff\xfe", "it is not JSON"),
            ("[" * 100_000, "it is not JSON"),
            ("[]", "it has no version this grader knows, 1"),
            ("{}", "it has no version this grader knows, 1"),
            ('{"version": "1"}', "it has no version this grader knows, 1"),
            ('{"version": true}', "it has no version this grader knows, 1"),
            ('{"version": 0}', "it has no version this grader knows, 1"),
            ('{"version": 1, "passed": []}', "unexpected values at passed"),
            ('{"version": 1, "passed": {"s01": true}}', "unexpected values at passed"),
            ('{"version": 1, "passed": {"s01": {"digest": "abc"}}}', "unexpected values at passed"),
            ('{"version": 1, "public": {"s01": {"digest": "abc"}}}', "unexpected values at public"),
            ('{"version": 1, "skipped": {"s01": 1}, "last": 3}', "unexpected values at skipped, last"),
            ('{"version": 1, "skipped": [1]}', "unexpected values at skipped"),
            ('{"version": 1, "hints": {"s15/split-heads": -1}}', "unexpected values at hints"),
            ('{"version": 1, "hints": {"s15/split-heads": true}}', "unexpected values at hints"),
            ('{"version": 1, "seen": {"s15/split-heads": 3}}', "unexpected values at seen"),
            ('{"version": 1, "remedies": []}', "unexpected values at remedies"),
        ],
    )
    def test_a_damaged_file_is_set_aside_and_reported(self, store: Store, text: str | bytes, what: str) -> None:
        write(store, text)
        os.utime(store.file, (WHEN.timestamp(), WHEN.timestamp()))
        content = store.file.read_bytes()
        assert store.read() == Progress(
            notice=f".grader/progress.json is damaged: {what}; it is kept as"
            " .grader/progress.damaged-20261121T083802Z.json. `grader check --all` rebuilds it."
        )
        assert (store.folder / "progress.damaged-20261121T083802Z.json").read_bytes() == content
        assert not store.file.exists()

    def test_a_damaged_file_that_cannot_be_set_aside_stays_and_is_reported(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def read_only(*_: object) -> None:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

        write(store, "damaged")
        monkeypatch.setattr("os.replace", read_only)
        notice = store.read().notice or ""
        assert notice.startswith(".grader/progress.json is damaged: it is not JSON, and cannot be set aside: ")
        assert notice.endswith("Read-only file system")
        assert store.file.read_text() == "damaged"

    def test_a_file_of_a_newer_grader_is_set_aside_with_another_message(self, store: Store) -> None:
        write(store, '{"version": 2, "passed": []}')
        notice = store.read().notice
        assert notice is not None
        assert notice.startswith(".grader/progress.json is from a newer grader: it has version 2, this one knows 1; ")
        assert notice.endswith(
            "Update the grader and give the file its name back, or rebuild it with `grader check --all`."
        )

    def test_recording_over_a_damaged_file_keeps_both(self, store: Store) -> None:
        write(store, "damaged")
        progress = store.record_skip(["s02"])
        assert progress.skipped == {"s02"}
        assert progress.notice is not None
        assert [name for name in names(store) if name.startswith("progress.damaged-")]
        assert store.read().skipped == {"s02"}

    def test_the_notice_stays_for_later_reads_of_the_same_run(self, store: Store) -> None:
        write(store, "damaged")
        store.next_hint("s15", "split-heads", 3)
        assert store.read().notice is not None
        assert Store(store.folder.parent).read().notice is None

    def test_a_second_damaged_file_does_not_replace_the_first(self, store: Store) -> None:
        for text in ("one", "two", "three"):
            write(store, text)
            os.utime(store.file, (WHEN.timestamp(), WHEN.timestamp()))
            store.read()
        kept = {name: (store.folder / name).read_text() for name in names(store) if name != "progress.lock"}
        assert kept == {
            "progress.damaged-20261121T083802Z.json": "one",
            "progress.damaged-20261121T083802Z-1.json": "two",
            "progress.damaged-20261121T083802Z-2.json": "three",
        }


class TestBackup:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        path = tmp_path / "stages" / "s15_attention" / "attention.py"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"x = 1\r\n")
        return path

    def test_it_is_an_exact_copy_named_by_folder_and_time(self, tmp_path: Path, file: Path) -> None:
        copy = backup(tmp_path, file, WHEN)
        assert copy == tmp_path / ".grader" / "backups" / "s15_attention" / "attention.20261121T083802Z.py"
        assert copy.read_bytes() == b"x = 1\r\n"

    def test_it_never_overwrites(self, tmp_path: Path, file: Path) -> None:
        copies = []
        for n in range(3):
            file.write_text(f"x = {n}")
            copies.append(backup(tmp_path, file, WHEN))
        assert [copy.name for copy in copies] == [
            "attention.20261121T083802Z.py",
            "attention.20261121T083802Z-1.py",
            "attention.20261121T083802Z-2.py",
        ]
        assert [copy.read_text() for copy in copies] == ["x = 0", "x = 1", "x = 2"]

    def test_a_name_taken_at_the_last_moment_is_not_overwritten(
        self, tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        taken = backup(tmp_path, file, WHEN)
        first_look = iter([False])
        real: Callable[[Path], bool] = os.path.lexists
        monkeypatch.setattr(os.path, "lexists", lambda path: next(first_look, True) and real(path))
        taken.write_text("older")
        assert backup(tmp_path, file, WHEN) != taken
        assert taken.read_text() == "older"

    def test_a_file_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(ProgressError, match=r"nothing.py cannot be copied to .*: No such file"):
            backup(tmp_path, tmp_path / "nothing.py", WHEN)

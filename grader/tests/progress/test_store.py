"""What is remembered between runs: states, the file and its lock."""

from __future__ import annotations

import json
import multiprocessing
import os
from datetime import timedelta, timezone
from pathlib import Path

import filelock
import pytest

from grader.errors import ProgressError
from grader.progress.state import Pass, Progress
from grader.progress.store import Store
from grader.progress.work import Work
from grader.tests.progress.conftest import WHEN, names, write

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
        context = multiprocessing.get_context("spawn")
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

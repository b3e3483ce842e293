"""What happens to a progress file that is damaged, and what is kept before it is written over."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.errors import ProgressError
from grader.progress.state import Progress
from grader.progress.store import Store, backup
from grader.tests.progress.conftest import WHEN, names, write


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

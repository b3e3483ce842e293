"""What is not taken: what is missing, too large, unreadable or no regular file."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from grader.course.stage import Stage
from grader.errors import SubmissionError
from grader.submission import MAX_BYTES, take
from grader.tests.submission.snapshot.taking import IN_TREE, put, refusal


@pytest.mark.usefixtures("_either_way")
class TestRefused:
    def test_a_missing_module_points_to_reset(self, stage: Stage, course: Path) -> None:
        with pytest.raises(SubmissionError, match=f"^{IN_TREE} does not exist$") as caught:
            take(stage, None, course)
        assert caught.value.hint == "`grader reset s15` puts the stage's stub there."

    def test_a_missing_module_names_what_was_saved_beside_it(self, stage: Stage, course: Path) -> None:
        put(stage.folder / "atention.py")
        with pytest.raises(SubmissionError, match=f"^{IN_TREE} does not exist$") as caught:
            take(stage, None, course)
        assert str(caught.value.hint).startswith(
            "Rename your file to attention.py if it is one of these: atention.py. "
        )

    def test_a_missing_path_says_what_may_be_given(self, stage: Stage, course: Path, inbox: Path) -> None:
        with pytest.raises(SubmissionError, match=r"nothing.py does not exist") as caught:
            take(stage, inbox / "nothing.py", course)
        wanted = "a course, a folder with attention.py, a zip or tar archive, repo@revision, or a Python file"
        assert caught.value.hint == f"Give {wanted}."

    def test_a_folder_without_the_module_says_what_it_has(self, stage: Stage, course: Path, inbox: Path) -> None:
        put(inbox / "atention.py")
        with pytest.raises(SubmissionError, match=f"is a folder without {IN_TREE} or attention.py") as caught:
            take(stage, inbox, course)
        assert caught.value.hint == "Python files in it: atention.py"

    def test_an_empty_folder_has_nothing_to_suggest(self, stage: Stage, course: Path, inbox: Path) -> None:
        with pytest.raises(SubmissionError, match="is a folder without") as caught:
            take(stage, inbox, course)
        assert caught.value.hint is None

    def test_another_kind_of_file_is_named(self, stage: Stage, course: Path, inbox: Path) -> None:
        message = refusal(stage, put(inbox / "notes.txt"), course)
        expected = "expected a name that ends in .py, .ipynb, .zip, .tar, .tar.gz, .tgz, .tar.xz, .tar.bz2"
        assert message.endswith(f"notes.txt is not a Python file: {expected}")

    def test_a_folder_named_like_the_module_is_named(self, stage: Stage, course: Path) -> None:
        (course / IN_TREE).mkdir()
        assert refusal(stage, None, course) == f"{IN_TREE} is a folder: expected a regular file"

    def test_a_file_too_large_is_named_with_its_size_and_the_cap(self, stage: Stage, course: Path) -> None:
        put(course / IN_TREE, b"#" * (MAX_BYTES + 5))
        assert refusal(stage, None, course) == f"{IN_TREE} has 1,048,581 bytes: at most 1,048,576 are accepted"

    def test_of_a_huge_file_only_the_cap_is_read(self, stage: Stage, course: Path) -> None:
        os.truncate(put(course / IN_TREE), 1 << 40)
        assert "has 1,099,511,627,776 bytes" in refusal(stage, None, course)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
    def test_a_named_pipe_is_refused_without_waiting(self, stage: Stage, course: Path) -> None:
        os.mkfifo(course / IN_TREE)
        assert refusal(stage, None, course) == f"{IN_TREE} is a named pipe: expected a regular file"

    @pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no sockets in the file system here")
    def test_a_socket_is_refused(self, stage: Stage, inbox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(inbox)  # the name of a socket may have 100 bytes
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("a.py")
            assert refusal(stage, Path("a.py"), inbox.parent / "course") == "a.py is a socket: expected a regular file"

    @pytest.mark.skipif(not Path("/dev/null").exists(), reason="no devices in the file system here")
    def test_a_device_is_refused(self, stage: Stage, course: Path) -> None:
        assert refusal(stage, Path("/dev/null"), course) == "/dev/null is a device: expected a regular file"

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
    def test_a_file_without_rights_is_named(self, stage: Stage, course: Path) -> None:
        put(course / IN_TREE).chmod(0)
        assert refusal(stage, None, course) == f"{IN_TREE} cannot be read: Permission denied"

    def test_a_file_that_fails_to_open_is_named(
        self, stage: Stage, course: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(course / IN_TREE)

        def denied(*_: object, **__: object) -> int:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(os, "open", denied)
        assert refusal(stage, None, course) == f"{IN_TREE} cannot be read: Permission denied"

    @pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are counted in /proc")
    def test_no_descriptor_stays_open(self, stage: Stage, course: Path) -> None:
        put(course / IN_TREE)
        before = len(os.listdir("/proc/self/fd"))
        take(stage, None, course)
        refusal(stage, course / "nothing.py", course)
        assert len(os.listdir("/proc/self/fd")) == before

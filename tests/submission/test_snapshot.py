"""What was handed in becomes the bytes of one module, without a link being followed."""

from __future__ import annotations

import hashlib
import os
import socket
import tarfile
import zipfile
from dataclasses import asdict
from pathlib import Path

import pytest

from grader.course.stage import Stage
from grader.errors import SubmissionError
from grader.submission import MAX_BYTES, files, holds_stages, take
from grader.submission.snapshot import MOST, Use, uses_in, whole_digest

SOURCE = b"def split_heads(x, num_heads):\n    return x\n"
IN_TREE = "stages/s15_attention/attention.py"

needs_links = pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links need rights here")


def put(path: Path, source: bytes = SOURCE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(source)
    return path


def refusal(stage: Stage, path: Path | None, course: Path) -> str:
    with pytest.raises(SubmissionError) as caught:
        take(stage, path, course)
    return str(caught.value)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    (tmp_path / "course" / "stages" / "s15_attention").mkdir(parents=True)
    return tmp_path / "course"


@pytest.fixture
def stage(course: Path) -> Stage:
    return Stage("s15", course / "stages" / "s15_attention", "Attention", "attention.py", (), ())


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    (tmp_path / "inbox").mkdir()
    return tmp_path / "inbox"


@pytest.fixture(params=["descriptors", "paths"])
def _either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once with openat, where the system has it, and once without."""
    if request.param == "paths":
        monkeypatch.setattr(files, "_HAS_DIR_FD", False)


@pytest.mark.usefixtures("_either_way")
class TestWhere:
    def test_without_a_path_the_module_of_the_course_is_taken(self, stage: Stage, course: Path) -> None:
        file = put(course / IN_TREE)
        snapshot = take(stage, None, course)
        assert (snapshot.source, snapshot.module, snapshot.origin) == (SOURCE, "attention.py", file)
        assert snapshot.label == IN_TREE

    def test_a_name_that_an_upload_changed_is_found_in_a_folder(self, stage: Stage, course: Path, inbox: Path) -> None:
        file = put(inbox / "lovelaceada_1_attention-1.py")
        put(inbox / "self_attention.py", b"another")
        assert take(stage, inbox, course).origin == file
        put(inbox / "attention (1).py")
        assert f"{inbox} holds 2 files that could be the module: attention (1).py, " in refusal(stage, inbox, course)
        put(inbox / "attention.py", b"the one")
        assert take(stage, inbox, course).source == b"the one"

    def test_the_course_itself_is_named_as_it_was_given(
        self, stage: Stage, course: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(course / "stages")
        assert refusal(stage, Path("../../course@nosuchref"), course).startswith("../../course ")

    def test_the_digest_is_the_sha256_of_the_bytes(self, stage: Stage, course: Path) -> None:
        put(course / IN_TREE)
        assert take(stage, None, course).digest == hashlib.sha256(SOURCE).hexdigest()

    def test_a_path_may_be_another_course(self, stage: Stage, course: Path, inbox: Path) -> None:
        file = put(inbox / IN_TREE)
        assert take(stage, inbox, course).origin == file

    def test_a_path_may_be_a_folder_with_the_module(self, stage: Stage, course: Path, inbox: Path) -> None:
        file = put(inbox / "attention.py")
        assert take(stage, inbox, course).origin == file

    def test_in_a_folder_the_courses_place_comes_first(self, stage: Stage, course: Path, inbox: Path) -> None:
        put(inbox / "attention.py", b"")
        put(inbox / IN_TREE)
        assert take(stage, inbox, course).source == SOURCE

    def test_a_path_may_be_a_python_file_of_any_name(self, stage: Stage, course: Path, inbox: Path) -> None:
        snapshot = take(stage, put(inbox / "my answer.py"), course)
        assert (snapshot.source, snapshot.module) == (SOURCE, "attention.py")

    def test_a_path_may_be_the_current_folder(
        self, stage: Stage, course: Path, inbox: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(inbox / "attention.py")
        monkeypatch.chdir(inbox)
        assert take(stage, Path(), course).source == SOURCE
        assert take(stage, Path("../inbox"), course).source == SOURCE

    def test_an_empty_file_is_taken(self, stage: Stage, course: Path) -> None:
        put(course / IN_TREE, b"")
        assert take(stage, None, course).source == b""

    def test_a_file_of_exactly_the_cap_is_taken(self, stage: Stage, course: Path) -> None:
        put(course / IN_TREE, b"#" * MAX_BYTES)
        assert len(take(stage, None, course).source) == MAX_BYTES


class TestLabel:
    def test_inside_the_course_it_is_relative(self, stage: Stage, course: Path) -> None:
        assert take(stage, put(course / "mine" / "a.py"), course).label == "mine/a.py"

    def test_outside_the_course_it_is_as_the_user_gave_it(
        self, stage: Stage, course: Path, inbox: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(inbox / "ada" / IN_TREE)
        monkeypatch.chdir(inbox)
        assert take(stage, Path("ada"), course).label == f"ada/{IN_TREE}"

    def test_control_characters_of_a_name_are_not_shown(self, stage: Stage, course: Path, inbox: Path) -> None:
        snapshot = take(stage, put(inbox / "a\x1b[31m\n.py"), course)
        assert snapshot.label.endswith("a\N{REPLACEMENT CHARACTER}[31m\N{REPLACEMENT CHARACTER}.py")


class TestManyStages:
    def test_folders_archives_and_revisions_hold_several(self, inbox: Path) -> None:
        (inbox / "repo").mkdir()
        assert holds_stages(inbox)
        assert holds_stages(put(inbox / "a.tar.gz", b""))
        assert holds_stages(inbox / "repo@main")

    def test_a_module_does_not(self, inbox: Path) -> None:
        assert not holds_stages(put(inbox / "a.py"))
        assert not holds_stages(inbox / "nothing@main")


@pytest.mark.usefixtures("_either_way")
class TestRefused:
    @needs_links
    def test_the_module_may_not_be_a_link(self, stage: Stage, course: Path, inbox: Path) -> None:
        (course / IN_TREE).symlink_to(put(inbox / "secret.py"))
        assert refusal(stage, None, course) == f"{IN_TREE} is a link: expected a regular file"

    @needs_links
    def test_a_file_given_may_not_be_a_link(self, stage: Stage, course: Path, inbox: Path) -> None:
        (inbox / "link.py").symlink_to(put(inbox / "a.py"))
        assert refusal(stage, inbox / "link.py", course).endswith("link.py is a link: expected a regular file")

    @needs_links
    def test_a_link_to_nothing_is_a_link(self, stage: Stage, course: Path, inbox: Path) -> None:
        (inbox / "attention.py").symlink_to(inbox / "nothing")
        assert refusal(stage, inbox, course).endswith("attention.py is a link: expected a regular file")

    @needs_links
    @pytest.mark.parametrize("part", ["stages", "stages/s15_attention"])
    def test_no_folder_below_a_path_may_be_a_link(self, stage: Stage, course: Path, inbox: Path, part: str) -> None:
        put(course / IN_TREE)
        (inbox / part).parent.mkdir(exist_ok=True)
        (inbox / part).symlink_to(course / part)
        expected = f"cannot be accepted: '{Path(part).name}' is a link, expected a folder"
        assert refusal(stage, inbox, course).endswith(expected)

    @needs_links
    def test_a_folder_given_may_not_be_a_link(self, stage: Stage, course: Path, inbox: Path) -> None:
        put(course / IN_TREE)
        (inbox / "ada").symlink_to(course)
        assert refusal(stage, inbox / "ada", course).endswith("'ada' is a link, expected a folder")

    @needs_links
    def test_a_link_above_the_path_is_the_users_own(self, stage: Stage, course: Path, inbox: Path) -> None:
        put(inbox / "ada" / "attention.py")
        (inbox.parent / "also").symlink_to(inbox)
        assert take(stage, inbox.parent / "also" / "ada", course).source == SOURCE

    def test_a_file_exchanged_between_the_look_and_the_opening_is_refused(
        self, stage: Stage, course: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = put(course / IN_TREE)
        real_open = os.open

        def exchanging(path: str | Path, flags: int, *, dir_fd: int | None = None) -> int:
            if Path(path).name == "attention.py":
                file.rename(file.with_name("old.py"))
                put(file, b"another")
            return real_open(path, flags, dir_fd=dir_fd)

        monkeypatch.setattr(os, "open", exchanging)
        assert refusal(stage, None, course) == f"{IN_TREE} was replaced while it was read"

    @needs_links
    def test_a_link_put_there_between_the_look_and_the_opening_is_not_followed(
        self, stage: Stage, course: Path, inbox: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = put(course / IN_TREE)
        secret = put(inbox / "secret.py", b"SECRET")
        real_open = os.open

        def exchanging(path: str | Path, flags: int, *, dir_fd: int | None = None) -> int:
            if Path(path).name == "attention.py":
                file.unlink()
                file.symlink_to(secret)
            return real_open(path, flags, dir_fd=dir_fd)

        monkeypatch.setattr(os, "open", exchanging)
        assert f"{IN_TREE} cannot be read: " in refusal(stage, None, course)


@pytest.mark.skipif(not files._HAS_DIR_FD, reason="without openat a folder can only be looked at")
def test_a_folder_that_becomes_a_link_after_the_look_is_not_followed(
    stage: Stage, course: Path, inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(course / IN_TREE).parent
    put(inbox / "attention.py", b"SECRET")
    real_open = os.open

    def exchanging(path: str | Path, flags: int, *, dir_fd: int | None = None) -> int:
        if path == "s15_attention":
            folder.rename(folder.with_name("old"))
            folder.symlink_to(inbox)
        return real_open(path, flags, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", exchanging)
    assert f"{IN_TREE} cannot be read: " in refusal(stage, None, course)


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


class TestArchives:
    def test_the_module_of_a_zip_is_taken(self, stage: Stage, course: Path, inbox: Path) -> None:
        path = zipped(inbox / "ada.zip", {f"ada/{IN_TREE}": SOURCE, "ada/README.md": b"hello"})
        snapshot = take(stage, path, course)
        assert (snapshot.source, snapshot.digest) == (SOURCE, hashlib.sha256(SOURCE).hexdigest())
        assert (snapshot.module, snapshot.origin) == ("attention.py", path / "ada" / IN_TREE)
        assert snapshot.label == f"{path}/ada/{IN_TREE}"

    @pytest.mark.parametrize("ending", ["tar", "tar.gz", "tgz", "tar.xz", "tar.bz2", "TAR.GZ"])
    def test_the_module_of_a_tar_is_taken(self, stage: Stage, course: Path, inbox: Path, ending: str) -> None:
        put(inbox / "attention.py")
        path = inbox / f"ada.{ending}"
        packed = {"tgz": "gz", "tar": ""}.get(ending, ending.lower().removeprefix("tar."))
        with tarfile.open(str(path), f"w:{packed}") as archive:  # type: ignore[call-overload]
            archive.add(inbox / "attention.py", "attention.py")
        assert take(stage, path, course).source == SOURCE

    def test_an_archive_inside_the_course_is_named_from_there(self, stage: Stage, course: Path) -> None:
        path = zipped(course / "ada.zip", {"attention.py": SOURCE})
        assert take(stage, path, course).label == "ada.zip/attention.py"

    def test_a_folder_named_like_an_archive_is_a_folder(self, stage: Stage, course: Path, inbox: Path) -> None:
        put(inbox / "ada.zip" / "attention.py")
        assert take(stage, inbox / "ada.zip", course).source == SOURCE

    def test_a_missing_archive_says_what_may_be_given(self, stage: Stage, course: Path, inbox: Path) -> None:
        with pytest.raises(SubmissionError, match=r"ada.zip does not exist") as caught:
            take(stage, inbox / "ada.zip", course)
        assert "a zip or tar archive" in str(caught.value.hint)

    @needs_links
    def test_an_archive_may_not_be_a_link(self, stage: Stage, course: Path, inbox: Path) -> None:
        (inbox / "b.zip").symlink_to(zipped(inbox / "a.zip", {"attention.py": SOURCE}))
        assert refusal(stage, inbox / "b.zip", course).endswith("b.zip is a link: expected a regular file")

    def test_an_archive_too_large_is_not_read(self, stage: Stage, course: Path, inbox: Path) -> None:
        path = zipped(inbox / "ada.zip", {"attention.py": SOURCE})
        os.truncate(path, 1 << 40)
        assert refusal(stage, path, course).endswith("has 1,099,511,627,776 bytes: at most 67,108,864 are accepted")

    def test_nothing_is_written_to_disk(
        self, stage: Stage, course: Path, inbox: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = zipped(inbox / "ada.zip", {"attention.py": SOURCE, "other.py": b""})
        monkeypatch.setenv("TMPDIR", str(inbox))
        take(stage, path, course)
        assert os.listdir(inbox) == ["ada.zip"]


@pytest.mark.usefixtures("_either_way")
class TestRefusedRefused:
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
        told = f"^{IN_TREE} has 1,048,581 bytes: at most 1,048,576 are accepted$"
        with pytest.raises(SubmissionError, match=told) as caught:
            take(stage, None, course)
        assert caught.value.hint == "A module is code alone: take data and printed output out of it."

    @pytest.mark.parametrize(
        ("name", "hint"),
        [
            ("ada.zip", "Hand in the module alone."),
            ("ada.ipynb", "Clear the notebook's outputs and save it again."),
        ],
    )
    def test_what_else_is_too_large_has_a_remedy(
        self, name: str, hint: str, stage: Stage, course: Path, inbox: Path
    ) -> None:
        os.truncate(put(inbox / name), 1 << 40)
        with pytest.raises(SubmissionError, match=r"are accepted$") as caught:
            take(stage, inbox / name, course)
        assert caught.value.hint == hint

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


USE = Use("s02", "own", "ab" * 32)


def test_a_module_alone_has_its_own_digest() -> None:
    assert whole_digest("cd" * 32, ()) == "cd" * 32


def test_the_digest_covers_text_source_and_stage_of_all_that_is_used() -> None:
    others = [Use("s03", "own", "ab" * 32), Use("s02", "given", "ab" * 32), Use("s02", "own", "cd" * 32)]
    found = {whole_digest("cd" * 32, [use]) for use in (USE, *others)} | {whole_digest("ef" * 32, [USE])}
    assert len(found) == 5 and all(len(each) == 64 for each in found)


def test_uses_are_read_back_from_a_document() -> None:
    assert uses_in([asdict(USE)]) == (USE,)
    assert uses_in([]) == ()


@pytest.mark.parametrize(
    "found",
    [
        None,
        {},
        ["s02"],
        [asdict(USE) | {"stage": "s2x"}],
        [asdict(USE) | {"source": "mine"}],
        [asdict(USE) | {"digest": "AB" * 32}],
        [asdict(USE) | {"digest": f"{'ab' * 32}\n"}],
        [asdict(USE) | {"more": 1}],
        [asdict(USE)] * (MOST + 1),
    ],
)
def test_another_form_is_none(found: object) -> None:
    assert uses_in(found) is None

"""A module in a revision of a git repository, hostile ones included."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.course.stage import Stage
from grader.errors import GraderFault, SubmissionError
from grader.submission import MAX_BYTES, Snapshot, take
from grader.submission import git as module
from grader.submission.files import BLOCK, MAX_NAMES, ByteBudget
from grader.submission.git import Git, borrow, opened
from tests.support.command import NUMBERS, Here
from tests.support.repositories import blob, commit, commit_tree, git, make, needs_git

pytestmark = needs_git
STAGE = Stage("s15", Path("stages/s15_attention"), "Attention", "attention.py", (), ())
IN_TREE = "stages/s15_attention/attention.py"
SOURCE = b"def split_heads(x, num_heads):\r\n    return x\n"


def taken(repository: Path, name: str = "HEAD") -> Snapshot:
    return take(STAGE, Path(f"{repository}@{name}"), repository.parent / "course")


def refused(repository: Path, name: str = "HEAD") -> str:
    with pytest.raises(SubmissionError) as caught:
        taken(repository, name)
    return caught.value.message


@pytest.fixture
def ada(tmp_path: Path) -> Path:
    return make(tmp_path / "ada")


class TestTaken:
    def test_the_module_of_a_commit_is_taken(self, ada: Path) -> None:
        name = commit(ada, {IN_TREE: SOURCE, "attention.py": b"other"})
        snapshot = taken(ada, name)
        assert (snapshot.source, snapshot.digest) == (SOURCE, hashlib.sha256(SOURCE).hexdigest())
        assert snapshot.label == f"{ada}@{name[:12]}/{IN_TREE}"
        assert snapshot.origin == Path(f"{ada}@{name}") / IN_TREE
        assert snapshot.revision == name

    def test_a_module_at_the_top_is_taken(self, ada: Path) -> None:
        commit(ada, {"attention.py": SOURCE})
        assert taken(ada).source == SOURCE

    def test_what_is_not_committed_is_not_taken(self, ada: Path) -> None:
        commit(ada, {"attention.py": SOURCE})
        (ada / "attention.py").write_bytes(b"later")
        assert taken(ada).source == SOURCE

    @pytest.mark.parametrize("name", ["main", "HEAD~1", "v1", "light", ":/fir", "SHORT", "FULL", "@~1"])
    def test_any_expression_for_a_revision_will_do(self, ada: Path, name: str) -> None:
        first = commit(ada, {"attention.py": SOURCE}, "first")
        git(ada, "tag", "-a", "v1", "-m", "handed in")
        git(ada, "tag", "light")
        if name != "main":
            commit(ada, {"attention.py": b"later"}, "second")
        assert taken(ada, {"SHORT": first[:8], "FULL": first}.get(name, name)).source == SOURCE

    def test_the_log_is_not_read(self, ada: Path) -> None:
        """It may have any size, and whoever made the repository wrote it."""
        commit(ada, {"attention.py": SOURCE}, "first")
        commit(ada, {"attention.py": b"later"}, "second")
        with pytest.raises(SubmissionError, match=r"has no revision 'main@\{1\}'") as caught:
            taken(ada, "main@{1}")
        assert str(caught.value.hint).startswith("Reflogs are not copied, so @{…} does not work. Give a branch")

    def test_a_bare_repository_will_do(self, ada: Path, tmp_path: Path) -> None:
        commit(ada, {IN_TREE: SOURCE})
        git(ada, "clone", "--quiet", "--bare", str(ada), str(tmp_path / "ada.git"))
        assert taken(tmp_path / "ada.git", "main").source == SOURCE

    def test_packed_objects_and_names_will_do(self, ada: Path) -> None:
        name = commit(ada, {IN_TREE: SOURCE})
        git(ada, "gc", "--quiet")
        git(ada, "pack-refs", "--all")
        assert taken(ada, "main").source == taken(ada, name).source == SOURCE

    def test_names_by_sha256_will_do(self, tmp_path: Path) -> None:
        ada = make(tmp_path / "ada", "--object-format=sha256")
        name = commit(ada, {IN_TREE: SOURCE})
        assert len(name) == 64
        assert taken(ada, name).source == SOURCE

    def test_a_shallow_clone_will_do(self, ada: Path, tmp_path: Path) -> None:
        commit(ada, {IN_TREE: b"first"})
        commit(ada, {IN_TREE: SOURCE})
        git(ada, "clone", "--quiet", "--depth=1", f"file://{ada}", str(tmp_path / "shallow"))
        assert taken(tmp_path / "shallow").source == SOURCE
        assert "has no revision 'HEAD~1'" in refused(tmp_path / "shallow", "HEAD~1")

    def test_a_relative_repository_will_do(self, ada: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        commit(ada, {IN_TREE: SOURCE})
        monkeypatch.chdir(ada.parent)
        assert take(STAGE, Path("ada@main"), ada.parent / "course").label.startswith("ada@")
        monkeypatch.chdir(ada)
        assert take(STAGE, Path(".@main"), ada.parent / "course").source == SOURCE

    def test_a_path_that_is_there_stays_a_path(self, tmp_path: Path) -> None:
        folder = tmp_path / "ada@home"
        folder.mkdir()
        (folder / "attention.py").write_bytes(SOURCE)
        assert take(STAGE, folder, tmp_path / "course").source == SOURCE
        assert take(STAGE, folder / "attention.py", tmp_path / "course").source == SOURCE

    def test_a_repository_with_an_at_sign_will_do(self, tmp_path: Path) -> None:
        ada = make(tmp_path / "ada@home")
        commit(ada, {"attention.py": SOURCE})
        (tmp_path / "ada").mkdir()
        assert taken(ada, "@~0").source == SOURCE

    def test_nothing_is_left_behind(self, ada: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        commit(ada, {"attention.py": SOURCE})
        (tmp_path / "scratch").mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
        before = sorted(ada.rglob("*"))
        taken(ada)
        assert sorted(ada.rglob("*")) == before
        assert not list((tmp_path / "scratch").iterdir())


def test_where_no_part_is_a_folder_it_is_no_revision(tmp_path: Path) -> None:
    assert module.split(tmp_path / "nothing@main") is None
    assert module.split(Path("@main")) is None


class TestRefused:
    @pytest.mark.parametrize("name", ["nothing", "", "main..HEAD", "^HEAD", "--all", "HEAD^{tree}", "HEAD:stages"])
    def test_a_name_for_nothing_that_is_a_commit(self, ada: Path, name: str) -> None:
        commit(ada, {IN_TREE: SOURCE})
        assert refused(ada, name) == f"{ada} has no revision '{name}' that is a commit"

    def test_a_revision_without_the_module_says_what_it_has(self, ada: Path) -> None:
        name = commit(ada, {"atention.py": SOURCE})
        with pytest.raises(SubmissionError) as caught:
            taken(ada)
        assert caught.value.message == f"{ada}@{name[:12]} is a revision without {IN_TREE} or attention.py"
        assert caught.value.hint == "Python files in it: atention.py"

    @pytest.mark.parametrize(
        ("mode", "what"), [("120000", "a link"), ("160000", "a submodule"), ("040000", "a folder")]
    )
    def test_what_is_no_regular_file(self, ada: Path, mode: str, what: str) -> None:
        ids = {"120000": blob(ada, b"/etc/passwd"), "160000": "2" * 40, "040000": git(ada, "mktree", given=b"")}
        found = ids[mode]
        name = commit_tree(ada, [(mode, found, "attention.py")])
        assert refused(ada, name).endswith(f"/attention.py is {what}: expected a regular file")

    def test_a_link_as_a_folder(self, ada: Path) -> None:
        name = commit_tree(ada, [("120000", blob(ada, b"/etc"), "stages")])
        assert refused(ada, name).endswith("'stages' is a link, expected a folder")

    def test_names_that_differ_only_in_case(self, ada: Path) -> None:
        found = blob(ada, SOURCE)
        name = commit_tree(ada, [("100644", found, "Attention.py"), ("100644", found, "attention.py")])
        assert refused(ada, name).endswith("'attention.py' and 'Attention.py' differ only in how they are written")

    def test_a_module_too_large(self, ada: Path) -> None:
        commit(ada, {"attention.py": b"#" * (MAX_BYTES + 1)})
        assert refused(ada).endswith("/attention.py has 1,048,577 bytes: at most 1,048,576 are accepted")

    def test_a_commit_too_large(self, ada: Path) -> None:
        tree = git(ada, "mktree", given=b"")
        name = git(ada, "commit-tree", tree, given=b"#" * (2 << 20))
        assert ": a commit has 2,097," in refused(ada, name)

    def test_an_object_that_is_missing(self, ada: Path) -> None:
        name = commit_tree(ada, [("100644", "1" * 40, "attention.py")])
        assert refused(ada, name) == f"{ada} is broken: it lacks blob 111111111111"

    def test_an_object_with_another_content(self, ada: Path) -> None:
        name = commit(ada, {"attention.py": SOURCE})
        found = blob(ada, SOURCE)
        path = ada / ".git" / "objects" / found[:2] / found[2:]
        path.chmod(0o600)
        path.write_bytes(zlib.compress(b"blob 5\0other"))
        message = refused(ada, name)
        assert message.endswith(f"is broken: object {found[:12]} has another content") or "lacks blob" in message


class TestWhereItsObjectsLie:
    def test_a_folder_that_is_no_repository(self, tmp_path: Path) -> None:
        make(tmp_path)  # one above it does not count
        (tmp_path / "ada").mkdir()
        assert refused(tmp_path / "ada") == f"{tmp_path / 'ada'} is not a git repository"

    def test_a_repository_without_objects(self, ada: Path) -> None:
        shutil.rmtree(ada / ".git" / "objects")
        assert refused(ada) == f"{ada} is not a git repository"

    def test_a_worktree(self, ada: Path, tmp_path: Path) -> None:
        commit(ada, {"attention.py": SOURCE})
        git(ada, "worktree", "add", "--quiet", str(tmp_path / "tree"))
        assert refused(tmp_path / "tree").endswith("its .git is a file, expected a folder")

    @pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links need rights here")
    @pytest.mark.parametrize("name", [".git/objects/pack", ".git/objects", ".git/refs", ".git/HEAD", ".git"])
    def test_a_link(self, ada: Path, tmp_path: Path, name: str) -> None:
        commit(ada, {"attention.py": SOURCE})
        (ada / name).rename(tmp_path / "elsewhere")
        (ada / name).symlink_to(tmp_path / "elsewhere")
        assert "link" in refused(ada)


class TestWhatTheRepositoryWouldLike:
    """Each of these runs a command, or shows other content, where git believes the repository's settings."""

    def test_no_command_of_its_settings_is_run(self, ada: Path, tmp_path: Path) -> None:
        sign = tmp_path / "was-run"
        command = f"touch {sign}"
        commit(ada, {IN_TREE: SOURCE, ".gitattributes": b"*.py filter=evil diff=evil\n"})
        for key in ("core.fsmonitor", "core.sshCommand", "filter.evil.smudge", "diff.evil.textconv", "core.pager"):
            git(ada, "config", key, command)
        git(ada, "config", "alias.rev-parse", f"!{command}")
        git(ada, "config", "alias.cat-file", f"!{command}")
        hooks = ada / ".git" / "hooks"
        hooks.mkdir(exist_ok=True)
        for name in ("post-checkout", "reference-transaction", "post-index-change"):
            (hooks / name).write_text(f"#!/bin/sh\n{command}\n")
            (hooks / name).chmod(0o755)
        assert taken(ada).source == SOURCE
        assert not sign.exists()

    @pytest.mark.skipif(sys.platform == "win32", reason="the command is a shell's")
    def test_what_is_missing_is_not_fetched(self, ada: Path, tmp_path: Path) -> None:
        sign = tmp_path / "was-run"
        name = commit_tree(ada, [("100644", "1" * 40, "attention.py")])
        settings = {
            "core.repositoryFormatVersion": "1", "extensions.partialClone": "origin", "remote.origin.promisor": "true",
            "remote.origin.url": f"ext::sh -c touch% {sign}", "protocol.ext.allow": "always",
        }  # fmt: skip
        for key, value in settings.items():
            git(ada, "config", key, value)
        with pytest.raises(subprocess.CalledProcessError):
            git(ada, "cat-file", "blob", "1" * 40)
        assert sign.exists()  # so it goes with git as it comes
        sign.unlink()
        assert refused(ada, name) == f"{ada} is broken: it lacks blob 111111111111"
        assert not sign.exists()

    def test_replacements_and_grafts_are_not_believed(self, ada: Path) -> None:
        name = commit(ada, {"attention.py": SOURCE})
        git(ada, "replace", blob(ada, SOURCE), blob(ada, b"another"))
        (ada / ".git" / "info").mkdir(exist_ok=True)
        (ada / ".git" / "info" / "grafts").write_text(f"{name} {'1' * 40}\n")
        assert taken(ada, name).source == SOURCE

    def test_its_settings_may_be_broken(self, ada: Path) -> None:
        commit(ada, {"attention.py": SOURCE})
        (ada / ".git" / "config").write_bytes(b"[core\n\0")
        assert taken(ada).source == SOURCE

    def test_the_settings_of_whoever_grades_do_not_matter(self, ada: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        commit(ada, {"attention.py": SOURCE})
        monkeypatch.setenv("GIT_DIR", "/nowhere")
        monkeypatch.setenv("GIT_OBJECT_DIRECTORY", "/nowhere")
        assert taken(ada).source == SOURCE


posix_only = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for git is a shell's script")


def stand_in(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Return a Git whose program is a script."""
    path = folder / "git"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda name: str(path))
    return Git(folder, folder, "ada")


class TestObjects:
    def test_several_are_given_one_after_the_other(self, tmp_path: Path) -> None:
        ada = make(tmp_path / "ada")
        found = [blob(ada, data) for data in (b"one", b"", b"two\n")]
        commit(ada, {})
        with opened(ada, "ada") as git:
            assert [git.content(each, "blob", 10, "x") for each in found] == [b"one", b"", b"two\n"]

    def test_another_kind_of_object_is_refused(self, tmp_path: Path) -> None:
        ada = make(tmp_path / "ada")
        found = blob(ada, b"one")
        with opened(ada, "ada") as git, pytest.raises(SubmissionError, match="lacks tree"):
            git.content(found, "tree", 10, "x")

    def test_a_large_object_is_refused_before_it_is_read(self, tmp_path: Path) -> None:
        ada = make(tmp_path / "ada")
        found = blob(ada, bytes(10 << 20))
        with opened(ada, "ada") as git, pytest.raises(SubmissionError, match="x has 10,485,760 bytes: at most 10"):
            git.content(found, "blob", 10, "x")


class TestGitItself:
    def test_where_it_is_missing_that_is_said(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("shutil.which", lambda name: None)
        with pytest.raises(GraderFault, match="ada cannot be read: git is not installed"):
            Git(tmp_path, tmp_path, "ada").commit("HEAD")

    def test_where_it_cannot_be_started_that_is_said(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("shutil.which", lambda name: str(tmp_path))
        with pytest.raises(GraderFault, match="git does not start"):
            Git(tmp_path, tmp_path, "ada").commit("HEAD")

    @posix_only
    def test_one_that_never_answers_is_ended(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "SECONDS", 0.5)
        git = stand_in(tmp_path, "exec sleep 60", monkeypatch)
        with pytest.raises(SubmissionError, match="git gave up, or took more than"):
            git.commit("HEAD")
        with pytest.raises(SubmissionError, match="git gave up, or took more than"):
            git.content("1" * 40, "blob", 10, "x")
        git.close()

    @posix_only
    def test_one_that_a_signal_ends_has_given_up(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        git = stand_in(tmp_path, "kill -XCPU $$", monkeypatch)
        with pytest.raises(SubmissionError, match="git gave up, or took more than"):
            git.commit("HEAD")

    @posix_only
    @pytest.mark.parametrize(
        ("script", "message"),
        [
            ("exit 1", "git gave up"),
            (f"read id; printf '{'1' * 40} blob 9\\nabc'", "git gave up"),
            ("exec yes", "is broken: it lacks blob"),
            (f"read id; printf '{'1' * 40} blob -5\\n'", "is broken: it lacks blob"),
            (f"read id; printf '{'2' * 40} blob 1\\nab'", "is broken: it lacks blob"),
            ("exec head -c 1000000 /dev/zero", "is broken: it lacks blob"),
        ],
    )
    def test_what_it_should_not_say_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
    ) -> None:
        git = stand_in(tmp_path, script, monkeypatch)
        with pytest.raises(SubmissionError, match=message):
            git.content("1" * 40, "blob", 10, "x")
        git.close()

    @posix_only
    def test_a_revision_that_it_names_otherwise_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        git = stand_in(tmp_path, "echo main", monkeypatch)
        with pytest.raises(SubmissionError, match="ada has no revision 'HEAD' that is a commit"):
            git.commit("HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    repository = make(tmp_path / "ada")
    commit(repository, {"attention.py": b""})
    return repository


@pytest.fixture
def room(tmp_path: Path) -> Path:
    (tmp_path / "room").mkdir()
    return tmp_path / "room"


def test_names_are_copied_and_settings_are_not(repository: Path, room: Path) -> None:
    git(repository, "config", "core.sshCommand", "touch sign")
    assert borrow(repository, room, "ada") == repository / ".git" / "objects"
    assert (room / "HEAD").read_text() == "ref: refs/heads/main\n"
    assert (room / "refs/heads/main").read_text() == (repository / ".git/refs/heads/main").read_text()
    assert "sshCommand" not in (room / "config").read_text()
    assert not (room / "hooks").exists()


def test_too_many_files_are_refused(repository: Path, room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FILES", 3)
    with pytest.raises(SubmissionError, match="ada has more than 3 files in its objects"):
        borrow(repository, room, "ada")


def test_names_that_take_more_than_their_budget_are_refused(
    repository: Path, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_NAMES", 4095)
    with pytest.raises(SubmissionError, match="ada has branches and tags that take more than 4,095 bytes") as caught:
        borrow(repository, room, "ada")
    assert "git pack-refs --all" in str(caught.value.hint) and not list(room.glob("HEAD"))


def test_a_room_that_takes_nothing_is_no_fault_of_the_repository(repository: Path, room: Path) -> None:
    (room / "objects").mkdir()
    with pytest.raises(GraderFault, match="ada cannot be read: the temporary folder cannot be written: File"):
        borrow(repository, room, "ada")


LITTLE = 1 << 20
MANY = "has branches and tags that take more than 16,777,216 bytes"


class Scratch:
    """The folder for temporary files, looked at whenever git starts: that is when most lies in it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder / "scratch"
        self._seen = folder / "seen"
        self.folder.mkdir()
        self._seen.touch()
        (folder / "bin").mkdir()
        program = folder / "bin" / "git"
        program.write_text(f'#!/bin/sh\ndu -sk {self.folder} >>{self._seen}\nexec {shutil.which("git")} "$@"\n')
        program.chmod(0o755)
        monkeypatch.setattr("tempfile.tempdir", str(self.folder))
        monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")

    @property
    def most(self) -> int:
        """The most bytes that were seen in it."""
        assert not os.listdir(self.folder)
        return max((int(line.split()[0]) << 10 for line in self._seen.read_text().splitlines()), default=0)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A learner's repository of one commit."""
    repository = make(tmp_path / "ada")
    commit(repository, {"attention.py": SOURCE})
    return repository


@pytest.fixture
def scratch(tmp_path: Path, small: Path, monkeypatch: pytest.MonkeyPatch) -> Scratch:
    (tmp_path / "tools").mkdir()
    return Scratch(tmp_path / "tools", monkeypatch)


def sparse(path: Path, size: int) -> None:
    """Make a file that has a size and takes no room."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.truncate(size)


def test_sparse_logs_are_not_copied(small: Path, scratch: Scratch) -> None:
    for number in range(60):
        sparse(small / ".git" / "logs" / f"z{number}", 16 << 20)
    assert taken(small).source == SOURCE
    assert 0 < scratch.most < LITTLE


def test_neither_is_whatever_else_lies_in_the_folder(small: Path, scratch: Scratch) -> None:
    for name in ("index", "ORIG_HEAD", "reftable/tables.list", "worktrees/x/HEAD", "modules/m/HEAD", "hooks/sample"):
        sparse(small / ".git" / name, 1 << 34)
    assert taken(small).source == SOURCE
    assert 0 < scratch.most < LITTLE


def sparse_names(folder: Path) -> None:
    for number in range(60):
        sparse(folder / "refs" / "heads" / f"z{number}", 16 << 20)


def many_names(folder: Path) -> None:
    for number in range(MAX_NAMES // BLOCK):
        (folder / "refs" / "tags" / f"v{number}").write_text("0" * 40)


def deep_names(folder: Path) -> None:
    for number in range(60):
        place = folder / "refs" / "tags" / f"v{number}" / "/".join(["d"] * 80)
        place.mkdir(parents=True)
        (place / "v").write_text("0" * 40)


def packed_names(folder: Path) -> None:
    sparse(folder / "packed-refs", 1 << 30)


def shallow(folder: Path) -> None:
    sparse(folder / "shallow", 1 << 30)


@pytest.mark.parametrize("make_many", [sparse_names, many_names, deep_names, packed_names, shallow])
def test_names_of_revisions_have_a_budget(small: Path, scratch: Scratch, make_many: Callable[[Path], None]) -> None:
    make_many(small / ".git")
    assert refused(small) == f"{small} {MANY}"
    assert scratch.most == 0  # they are counted before the first is copied


def test_names_within_it_are_copied(small: Path, scratch: Scratch) -> None:
    sparse(small / ".git" / "refs" / "heads" / "large", MAX_NAMES // 2)
    assert taken(small).source == SOURCE
    assert MAX_NAMES // 2 <= scratch.most <= MAX_NAMES


def test_so_has_the_name_of_the_branch(small: Path, scratch: Scratch) -> None:
    sparse(small / ".git" / "HEAD", 1 << 30)
    assert refused(small, "main") == f"{small} {MANY}"
    assert scratch.most == 0


@pytest.mark.parametrize("kind", ["pack", "idx"])
def test_a_gigantic_pack_or_index_of_one_is_never_copied(small: Path, scratch: Scratch, kind: str) -> None:
    git(small, "gc", "--quiet")
    (pack,) = (small / ".git" / "objects" / "pack").glob(f"*.{kind}")
    pack.chmod(0o644)
    sparse(pack, 1 << 36)
    try:
        assert taken(small).source == SOURCE
    except SubmissionError as error:
        assert str(small) in error.message
    assert scratch.most < LITTLE


def test_a_deep_chain_of_deltas_costs_no_more(small: Path, scratch: Scratch) -> None:
    lines = [f"x{number} = {number}\n" for number in range(3000)]
    for number in range(30):
        lines[number * 90] = f"# {number}\n"
        commit(small, {"attention.py": "".join(lines).encode()})
    git(small, "repack", "-adfq", "--depth=4000", "--window=40")
    assert taken(small, "HEAD~20").source.startswith(b"# 0\n")
    assert 0 < scratch.most < LITTLE


def test_objects_of_another_repository_are_not_borrowed(small: Path, scratch: Scratch) -> None:
    (small / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (small / ".git" / "objects" / "info" / "alternates").write_text("/somewhere\n")
    assert "takes objects from another repository" in refused(small)
    assert scratch.most == 0


@pytest.mark.parametrize("packed", ["zip", "tar", "tar.gz"])
def test_an_archive_is_unpacked_in_memory(small: Path, scratch: Scratch, packed: str) -> None:
    path = scratch.folder.parent / f"work.{packed}"
    filler = os.urandom(1 << 16)
    if packed == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("attention.py", SOURCE)
            archive.writestr("large.bin", filler * 256)
    else:
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w") as archive:
            for name, content in (("large.bin", filler * 256), ("attention.py", SOURCE)):
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        path.write_bytes(gzip.compress(data.getvalue()) if packed == "tar.gz" else data.getvalue())
    assert take(STAGE, path, small).source == SOURCE
    assert scratch.most == 0


def test_a_check_refuses_such_a_repository_as_nothing_that_can_be_graded(here: Here, scratch: Scratch) -> None:
    repository = make(here.place.root.parent / "handed-in")
    commit(repository, {"numbers_.py": NUMBERS.encode()})
    packed_names(repository / ".git")
    done = here("check", "s01", "--submission", f"{repository}@HEAD", "--isolation", "process", "--json")
    assert done.code == 5 and MANY in done.json["problem"]["message"], done.err
    assert "git pack-refs --all" in done.json["problem"]["hint"] and not done.json["faults"]
    assert not list(scratch.folder.glob("grader-git-*"))


def test_a_file_costs_a_block_and_a_folder_another() -> None:
    budget = ByteBudget("ada", 4 * BLOCK)
    budget.spend_file(0)
    budget.spend_file(BLOCK + 1)
    assert budget.left == BLOCK
    with pytest.raises(SubmissionError, match="ada unpacks to more than 16,384 bytes"):
        budget.spend_file(1, 1)

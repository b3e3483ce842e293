"""What a submission may cost the folder for temporary files, however it is made: a few megabytes, and nothing stays."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.errors import SubmissionError
from grader.submission import take
from grader.submission.budget import BLOCK, MAX_NAMES, Budget
from grader.tests.submission.revision.revisions import SOURCE, STAGE, refused, taken
from grader.tests.support.command import NUMBERS, Here
from grader.tests.support.repositories import commit, git, make, needs_git

pytestmark = [needs_git, pytest.mark.skipif(sys.platform == "win32", reason="its sparse files are made otherwise")]
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
def ada(tmp_path: Path) -> Path:
    """A learner's repository of one commit."""
    repository = make(tmp_path / "ada")
    commit(repository, {"attention.py": SOURCE})
    return repository


@pytest.fixture
def scratch(tmp_path: Path, ada: Path, monkeypatch: pytest.MonkeyPatch) -> Scratch:
    (tmp_path / "tools").mkdir()
    return Scratch(tmp_path / "tools", monkeypatch)


def sparse(path: Path, size: int) -> None:
    """Make a file that has a size and takes no room."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.truncate(size)


def test_sparse_logs_are_not_copied(ada: Path, scratch: Scratch) -> None:
    for number in range(60):
        sparse(ada / ".git" / "logs" / f"z{number}", 16 << 20)
    assert taken(ada).source == SOURCE
    assert 0 < scratch.most < LITTLE


def test_neither_is_whatever_else_lies_in_the_folder(ada: Path, scratch: Scratch) -> None:
    for name in ("index", "ORIG_HEAD", "reftable/tables.list", "worktrees/x/HEAD", "modules/m/HEAD", "hooks/sample"):
        sparse(ada / ".git" / name, 1 << 34)
    assert taken(ada).source == SOURCE
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
def test_names_of_revisions_have_a_budget(ada: Path, scratch: Scratch, make_many: Callable[[Path], None]) -> None:
    make_many(ada / ".git")
    assert refused(ada) == f"{ada} {MANY}"
    assert scratch.most == 0  # they are counted before the first is copied


def test_names_within_it_are_copied(ada: Path, scratch: Scratch) -> None:
    sparse(ada / ".git" / "refs" / "heads" / "large", MAX_NAMES // 2)
    assert taken(ada).source == SOURCE
    assert MAX_NAMES // 2 <= scratch.most <= MAX_NAMES


def test_so_has_the_name_of_the_branch(ada: Path, scratch: Scratch) -> None:
    sparse(ada / ".git" / "HEAD", 1 << 30)
    assert refused(ada, "main") == f"{ada} {MANY}"
    assert scratch.most == 0


@pytest.mark.parametrize("kind", ["pack", "idx"])
def test_a_gigantic_pack_or_index_of_one_is_never_copied(ada: Path, scratch: Scratch, kind: str) -> None:
    git(ada, "gc", "--quiet")
    (pack,) = (ada / ".git" / "objects" / "pack").glob(f"*.{kind}")
    pack.chmod(0o644)
    sparse(pack, 1 << 36)
    try:
        assert taken(ada).source == SOURCE
    except SubmissionError as error:
        assert str(ada) in error.message
    assert scratch.most < LITTLE


def test_a_deep_chain_of_deltas_costs_no_more(ada: Path, scratch: Scratch) -> None:
    lines = [f"x{number} = {number}\n" for number in range(3000)]
    for number in range(30):
        lines[number * 90] = f"# {number}\n"
        commit(ada, {"attention.py": "".join(lines).encode()})
    git(ada, "repack", "-adfq", "--depth=4000", "--window=40")
    assert taken(ada, "HEAD~20").source.startswith(b"# 0\n")
    assert 0 < scratch.most < LITTLE


def test_objects_of_another_repository_are_not_borrowed(ada: Path, scratch: Scratch) -> None:
    (ada / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (ada / ".git" / "objects" / "info" / "alternates").write_text("/somewhere\n")
    assert "takes objects from another repository" in refused(ada)
    assert scratch.most == 0


@pytest.mark.parametrize("packed", ["zip", "tar", "tar.gz"])
def test_an_archive_is_unpacked_in_memory(ada: Path, scratch: Scratch, packed: str) -> None:
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
    assert take(STAGE, path, ada).source == SOURCE
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
    budget = Budget("ada", 4 * BLOCK)
    budget.spend_file(0)
    budget.spend_file(BLOCK + 1)
    assert budget.left == BLOCK
    with pytest.raises(SubmissionError, match="ada unpacks to more than 16,384 bytes"):
        budget.spend_file(1, 1)

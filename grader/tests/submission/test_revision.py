"""A revision of a git repository: what is taken of it, and what the repository would have liked to happen."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from grader.course.stage import Stage
from grader.errors import SubmissionError
from grader.submission import MAX_BYTES, Snapshot, revision, take
from grader.tests.support.repositories import blob, commit, commit_tree, git, make, needs_git

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

    @pytest.mark.parametrize("name", ["main", "HEAD~1", "v1", "light", "main@{1}", ":/fir", "SHORT", "FULL", "@~1"])
    def test_any_expression_for_a_revision_will_do(self, ada: Path, name: str) -> None:
        first = commit(ada, {"attention.py": SOURCE}, "first")
        git(ada, "tag", "-a", "v1", "-m", "handed in")
        git(ada, "tag", "light")
        if name != "main":
            commit(ada, {"attention.py": b"later"}, "second")
        assert taken(ada, {"SHORT": first[:8], "FULL": first}.get(name, name)).source == SOURCE

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
        assert taken(ada, "HEAD@{0}").source == SOURCE

    def test_nothing_is_left_behind(self, ada: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        commit(ada, {"attention.py": SOURCE})
        (tmp_path / "scratch").mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
        before = sorted(ada.rglob("*"))
        taken(ada)
        assert sorted(ada.rglob("*")) == before
        assert not list((tmp_path / "scratch").iterdir())


def test_where_no_part_is_a_folder_it_is_no_revision(tmp_path: Path) -> None:
    assert revision.split(tmp_path / "nothing@main") is None
    assert revision.split(Path("@main")) is None


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

    def test_objects_of_another_repository(self, ada: Path) -> None:
        commit(ada, {"attention.py": SOURCE})
        (ada / ".git" / "objects" / "info").mkdir(exist_ok=True)
        (ada / ".git" / "objects" / "info" / "alternates").write_text("/srv/course/.git/objects\n")
        assert "takes objects from another repository" in refused(ada)

    @pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links need rights here")
    @pytest.mark.parametrize("name", [".git/objects/pack", ".git/objects", ".git/refs", ".git/HEAD", ".git"])
    def test_a_link(self, ada: Path, tmp_path: Path, name: str) -> None:
        commit(ada, {"attention.py": SOURCE})
        (ada / name).rename(tmp_path / "elsewhere")
        (ada / name).symlink_to(tmp_path / "elsewhere")
        assert "link" in refused(ada)

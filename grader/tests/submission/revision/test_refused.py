"""What is refused of a repository: what is no commit, no regular file, too large, broken, or kept elsewhere."""

from __future__ import annotations

import os
import shutil
import zlib
from pathlib import Path

import pytest

from grader.errors import SubmissionError
from grader.submission import MAX_BYTES
from grader.tests.submission.revision.revisions import IN_TREE, SOURCE, refused, taken
from grader.tests.support.repositories import blob, commit, commit_tree, git, make, needs_git

pytestmark = needs_git


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

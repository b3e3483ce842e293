"""Taking a learner's file out of a revision: by which names, and of which repositories."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from grader.errors import SubmissionError
from grader.submission import revision, take
from grader.tests.submission.revision.revisions import IN_TREE, SOURCE, STAGE, refused, taken
from grader.tests.support.repositories import commit, git, make, needs_git

pytestmark = needs_git


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
    assert revision.split(tmp_path / "nothing@main") is None
    assert revision.split(Path("@main")) is None

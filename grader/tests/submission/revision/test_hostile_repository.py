"""What a repository would have liked to happen while a revision is taken of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from grader.tests.submission.revision.revisions import IN_TREE, SOURCE, refused, taken
from grader.tests.support.repositories import blob, commit, commit_tree, git, needs_git

pytestmark = needs_git


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

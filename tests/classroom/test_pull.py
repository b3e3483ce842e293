"""Fetching one commit as data: what arrives, what is refused, and what neither repository nor settings can do."""

from __future__ import annotations

import base64
import http.server
import os
import re
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.classroom import pull
from grader.course.stage import Stage
from grader.errors import GraderFault, SubmissionError, UsageError
from grader.submission import take
from tests.support.repositories import commit, git, make, needs_git

STAGE = Stage("s15", Path("stages/s15_attention"), "Attention", "attention.py", (), ())
IN_TREE = "stages/s15_attention/attention.py"
SOURCE = b"def split_heads(x, num_heads):\n    return x\n"
SHA = "a" * 40


class Server:
    """A folder of repositories, as a server has them."""

    def __init__(self, folder: Path) -> None:
        self.ada = make(folder / "class" / "ada.git")
        self.url = folder.as_uri()

    def wanted(self, revision: str) -> pull.FetchRequest:
        return pull.wanted(self.url, "class/ada", revision)


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path / "server")


def refused(what: pull.FetchRequest, folder: Path, token: str | None = None, **limits: float) -> GraderFault:
    with pytest.raises(GraderFault) as caught:
        pull.pull(what, folder, token, **limits)  # type: ignore[arg-type]  # seconds and limit are both numbers
    return caught.value


@needs_git
class TestPulled:
    def test_a_commit_arrives_and_can_be_graded(self, server: Server, tmp_path: Path) -> None:
        name = commit(server.ada, {IN_TREE: SOURCE})
        pull.pull(server.wanted(name), tmp_path / "submission.git", None)
        assert take(STAGE, Path(f"{tmp_path / 'submission.git'}@{name}"), tmp_path / "course").source == SOURCE

    def test_its_files_alone_will_do(self, server: Server, tmp_path: Path) -> None:
        """Between two jobs a folder travels without its empty folders."""
        name = commit(server.ada, {IN_TREE: SOURCE})
        pull.pull(server.wanted(name), tmp_path / "first.git", None)
        files = [path for path in (tmp_path / "first.git").rglob("*") if path.is_file()]
        assert not [path for path in files if path.name.startswith(".")]  # they do not travel, either
        for path in files:
            target = tmp_path / "second.git" / path.relative_to(tmp_path / "first.git")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        assert take(STAGE, Path(f"{tmp_path / 'second.git'}@{name}"), tmp_path / "course").source == SOURCE

    def test_a_commit_that_no_branch_ends_with_arrives_without_its_history(
        self, server: Server, tmp_path: Path
    ) -> None:
        commit(server.ada, {IN_TREE: b"first"})
        name = commit(server.ada, {IN_TREE: SOURCE})
        commit(server.ada, {IN_TREE: b"later"})
        pull.pull(server.wanted(name), tmp_path / "submission.git", None)
        assert take(STAGE, Path(f"{tmp_path / 'submission.git'}@{name}"), tmp_path / "course").source == SOURCE
        with pytest.raises(SubmissionError, match="has no revision"):
            take(STAGE, Path(f"{tmp_path / 'submission.git'}@{name}~1"), tmp_path / "course")

    def test_nothing_is_checked_out_and_no_hook_comes_along(self, server: Server, tmp_path: Path) -> None:
        name = commit(server.ada, {IN_TREE: SOURCE, ".gitattributes": b"* filter=lfs\n", ".gitmodules": b"[x\n"})
        pull.pull(server.wanted(name), tmp_path / "submission.git", None)
        found = {path.name for path in (tmp_path / "submission.git").rglob("*")}
        assert not {"attention.py", ".gitattributes", ".gitmodules", "hooks", "index"} & found

    def test_names_by_sha256_will_do(self, tmp_path: Path) -> None:
        ada = make(tmp_path / "class" / "ada.git", "--object-format=sha256")
        name = commit(ada, {IN_TREE: SOURCE})
        pull.pull(pull.wanted(tmp_path.as_uri(), "class/ada", name), tmp_path / "submission.git", None)
        assert take(STAGE, Path(f"{tmp_path / 'submission.git'}@{name}"), tmp_path / "course").source == SOURCE

    @pytest.mark.skipif(sys.platform == "win32", reason="the command is a shell's")
    def test_the_settings_of_whoever_grades_are_not_believed(
        self, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        name = commit(server.ada, {IN_TREE: SOURCE})
        home = tmp_path / "home"
        hooks = home / "hooks"
        hooks.mkdir(parents=True)
        (hooks / "reference-transaction").write_text(f"#!/bin/sh\ntouch {tmp_path / 'was-run'}\n")
        (hooks / "reference-transaction").chmod(0o755)
        (home / ".gitconfig").write_text(f"[core]\nhooksPath={hooks}\n[init]\ntemplateDir={hooks}\n")
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("GIT_DIR", "/nowhere")
        pull.pull(server.wanted(name), tmp_path / "submission.git", None)
        assert not (tmp_path / "was-run").exists()


@needs_git
class TestRefused:
    def test_a_commit_that_is_not_there(self, server: Server, tmp_path: Path) -> None:
        commit(server.ada, {IN_TREE: SOURCE})
        error = refused(server.wanted(SHA), tmp_path / "submission.git")
        assert error.message.startswith("class/ada@aaaaaaaaaaaa cannot be fetched: ")
        assert "PULL_TOKEN" in str(error.hint)
        assert not (tmp_path / "submission.git").exists()

    def test_a_repository_that_is_not_there(self, tmp_path: Path) -> None:
        what = pull.wanted(tmp_path.as_uri(), "class/nobody", SHA)
        assert "cannot be fetched" in refused(what, tmp_path / "submission.git").message

    def test_what_is_no_commit(self, server: Server, tmp_path: Path) -> None:
        commit(server.ada, {IN_TREE: SOURCE})
        tree = git(server.ada, "rev-parse", "HEAD^{tree}")
        assert "cannot be fetched" in refused(server.wanted(tree), tmp_path / "submission.git").message

    @pytest.mark.skipif(sys.platform == "win32", reason="the system has no such limit")
    def test_a_commit_that_is_too_large(self, server: Server, tmp_path: Path) -> None:
        name = commit(server.ada, {"data.bin": os.urandom(400_000)})
        error = refused(server.wanted(name), tmp_path / "submission.git", limit=100_000)
        assert "cannot be fetched" in error.message
        pull.pull(server.wanted(name), tmp_path / "submission.git", None, limit=1_000_000)

    def test_a_server_that_takes_its_time(self, tmp_path: Path, silent: str) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pull, "_SERVER", re.compile("http://.*"))  # no certificate is needed to be silent
            what = pull.wanted(silent, "class/ada", SHA)
        assert "more than 0.5 seconds" in refused(what, tmp_path / "submission.git", seconds=0.5).message

    def test_a_folder_that_is_there(self, server: Server, tmp_path: Path) -> None:
        (tmp_path / "submission.git").symlink_to(tmp_path / "nothing") if os.name != "nt" else (
            tmp_path / "submission.git"
        ).mkdir()
        with pytest.raises(UsageError, match="already exists"):
            pull.pull(server.wanted(SHA), tmp_path / "submission.git", None)


def test_without_git_nothing_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    what = pull.wanted("https://github.com", "class/ada", SHA)
    assert refused(what, tmp_path / "submission.git").message.endswith("git is not installed")


@pytest.mark.parametrize(
    ("server", "repository", "revision", "what"),
    [
        ("http://github.com", "class/ada", SHA, "not a server"),
        ("ext::sh -c touch% /tmp/x", "class/ada", SHA, "not a server"),
        ("https://token@github.com", "class/ada", SHA, "not a server"),
        ("--upload-pack=x", "class/ada", SHA, "not a server"),
        ("https://github.com", "ada", SHA, "not a repository"),
        ("https://github.com", "../ada", SHA, "not a repository"),
        ("https://github.com", "class/..", SHA, "not a repository"),
        ("https://github.com", "class/ada/x", SHA, "not a repository"),
        ("https://github.com", "class/ada\n", SHA, "not a repository"),
        ("https://github.com", "class/$(id)", SHA, "not a repository"),
        ("https://github.com", "class/ada", "main", "full name of a commit"),
        ("https://github.com", "class/ada", SHA[:12], "full name of a commit"),
        ("https://github.com", "class/ada", f"{SHA}\n", "full name of a commit"),
        ("https://github.com", "class/ada", "--all", "full name of a commit"),
    ],
)
def test_only_a_name_of_the_right_form_is_fetched(server: str, repository: str, revision: str, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        pull.wanted(server, repository, revision)


class _Recorder(http.server.BaseHTTPRequestHandler):
    seen: list[tuple[str, str | None]] = []  # noqa: RUF012  # each fixture makes a class of its own

    def do_GET(self) -> None:
        self.seen.append((self.path, self.headers.get("Authorization")))
        if self.path.startswith("/moved"):
            self.send_response(302)
            self.send_header("Location", "/elsewhere/ada.git/info/refs?service=git-upload-pack")
        else:
            self.send_response(404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def recorder() -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """A server that keeps what it is asked, and sends whoever asks for moved/… elsewhere."""
    handler = type("Handler", (_Recorder,), {"seen": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}", handler.seen  # type: ignore[attr-defined]
        httpd.shutdown()


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that takes a connection and says nothing."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@needs_git
@pytest.mark.parametrize("owner", ["class", "moved"])
def test_the_token_goes_to_the_server_that_was_named_and_into_no_message(
    owner: str, recorder: tuple[str, list[tuple[str, str | None]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, seen = recorder
    monkeypatch.setattr(pull, "_SERVER", re.compile("http://.*"))
    error = refused(pull.wanted(url, f"{owner}/ada", SHA), tmp_path / "submission.git", "very-secret")
    login = base64.b64encode(b"x-access-token:very-secret").decode()
    assert [token for _, token in seen] == [f"Basic {login}"]
    assert not [path for path, _ in seen if "elsewhere" in path]
    assert "very-secret" not in f"{error.message}{error.hint}"
    assert login not in f"{error.message}{error.hint}"


@needs_git
def test_the_token_stands_in_no_file(server: Server, tmp_path: Path) -> None:
    name = commit(server.ada, {IN_TREE: SOURCE})
    pull.pull(server.wanted(name), tmp_path / "submission.git", "very-secret")
    login = base64.b64encode(b"x-access-token:very-secret")
    files = [path.read_bytes() for path in (tmp_path / "submission.git").rglob("*") if path.is_file()]
    assert files
    assert not [data for data in files if b"very-secret" in data or login in data]

"""A student's revision as data: one commit is fetched into a bare repository, and nothing of it is checked out or run.

git sees no settings but those given here, runs no hook, and is given the token through its environment, which unlike
its arguments no other user can read. The repository is then named as `--submission DIR@REVISION`.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from grader.errors import GraderFault, UsageError
from grader.report.escape import one_line

TOKEN = "PULL_TOKEN"  # nosec B105 # the environment's name for a token, not one
SECONDS = 300.0
MOST_SAID = 1000  # characters of what git says
MAX_BYTES = 256 << 20  # of any file that git writes: the commit arrives as one pack
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
_SERVER = re.compile(r"(https|file)://[^\s@?#]*")
_REVISION = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_KEPT = re.compile(r"PATH|SYSTEMROOT|TEMP|TMPDIR|SSL_CERT_(FILE|DIR)|(http|https|all|no)_proxy", re.IGNORECASE)
_SETTINGS = {
    "core.hooksPath": os.devnull,
    "credential.helper": "",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "http.followRedirects": "false",  # a token is for the server that was named
    "maintenance.auto": "false",
    "protocol.version": "2",  # with it any commit may be asked for by its name
    "submodule.recurse": "false",
}
_FETCH = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"]


@dataclass(frozen=True)
class FetchRequest:
    """A commit, by its full name, and where it is fetched from."""

    server: str
    repository: str
    revision: str

    @property
    def url(self) -> str:
        """The address of the repository."""
        return f"{self.server}/{self.repository}.git"


def wanted(server: str, repository: str, revision: str) -> FetchRequest:
    """Return what to fetch; UsageError unless each part has the form that it must have."""
    if not _SERVER.fullmatch(server):
        raise UsageError(f"{server!r} is not a server to fetch from", "Expected https://…, as in https://github.com.")
    expect_repository(repository)
    expect_revision(revision)
    return FetchRequest(server.rstrip("/"), repository, revision)


def expect_repository(repository: str) -> None:
    """Raise UsageError unless this is a repository's name, with its owner's."""
    if not _NAME.fullmatch(repository) or {".", ".."} & set(repository.split("/")):
        raise UsageError(f"{repository!r} is not a repository", "Expected OWNER/NAME.")


def expect_revision(revision: str) -> None:
    """Raise UsageError unless this is a commit's full name: what it stands for cannot be moved afterwards."""
    if not _REVISION.fullmatch(revision):
        raise UsageError(f"{revision!r} is not the full name of a commit", "Expected 40 hexadecimal digits.")


def pull(what: FetchRequest, folder: Path, token: str | None, seconds: float = SECONDS, limit: int = MAX_BYTES) -> None:
    """Fetch a commit, without its history, into a bare repository that is made at folder.

    Raises UsageError where there is something at folder already, GraderFault where the commit cannot be had.
    """
    if os.path.lexists(folder):
        raise UsageError(f"{folder} already exists", "Name a folder that is yet to be made.")
    name = f"{what.repository}@{what.revision[:12]}"
    environment = _environment(what, token)
    form = ["--object-format=sha256"] if len(what.revision) == 64 else []
    asked = [
        ["init", "--quiet", "--bare", "--template=", *form, str(folder)],
        ["-C", str(folder), *_FETCH, what.url, what.revision],
        ["-C", str(folder), "cat-file", "-e", f"{what.revision}^{{commit}}"],
    ]
    try:
        for arguments in asked:
            _run(arguments, environment, name, seconds, limit)
    except GraderFault:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _environment(what: FetchRequest, token: str | None) -> dict[str, str]:
    """Return all that git is told by its environment; the token is for this one repository's server."""
    kept = {name: value for name, value in os.environ.items() if _KEPT.fullmatch(name)}
    settings = dict(_SETTINGS)
    if token:
        login = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        settings[f"http.{what.server}/.extraHeader"] = f"Authorization: Basic {login}"
    numbered = {"GIT_CONFIG_COUNT": str(len(settings))}
    for place, (key, value) in enumerate(settings.items()):
        numbered |= {f"GIT_CONFIG_KEY_{place}": key, f"GIT_CONFIG_VALUE_{place}": value}
    return {
        **kept,
        **numbered,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ALLOW_PROTOCOL": what.server.partition(":")[0],
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "LC_ALL": "C",
    }


def _run(arguments: list[str], environment: Mapping[str, str], name: str, seconds: float, limit: int) -> None:
    program = shutil.which("git")
    if program is None:
        raise GraderFault(f"{name} cannot be fetched: git is not installed", "Install git.")
    process = subprocess.Popen(
        [program, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=_bounded(limit),  # what git starts inherits the bound; there is no thread yet that it could upset
    )
    try:
        said = process.communicate(timeout=seconds)[1].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        raise GraderFault(f"{name} cannot be fetched: it takes more than {seconds:g} seconds") from None
    finally:
        _end(process)
    if process.returncode != 0:
        why = one_line("; ".join(said.split("\n")).strip("; ") or f"git ended with {process.returncode}")[:MOST_SAID]
        hint = f"Is it pushed, may {TOKEN} read the repository, and has it at most {MAX_BYTES >> 20} MB?"
        raise GraderFault(f"{name} cannot be fetched: {why}", hint)


def _bounded(limit: int) -> Callable[[], None] | None:
    """Return what bounds the files that a process writes, where the system can."""
    try:
        import resource
    except ImportError:
        return None
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git and what it has started."""
    if process.poll() is None and hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    with suppress(OSError):
        process.kill()
    if process.stderr is not None:
        process.stderr.close()
    process.wait()

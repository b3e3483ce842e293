"""The tier bubblewrap: what its command encloses, and why it is missing where it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.isolation import bubblewrap, bundle, users

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap runs on Linux only")


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A program called bwrap that comes first."""
    path = tmp_path / "programs" / "bwrap"
    path.parent.mkdir()
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")
    bubblewrap._can_forbid_userns.cache_clear()
    yield path
    bubblewrap._can_forbid_userns.cache_clear()


def says(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


class TestWhyMissing:
    def test_no_bwrap(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shutil, "which", lambda name: None)
        assert "bwrap is not installed: apt-get install bubblewrap" in str(bubblewrap.why_missing())

    @pytest.mark.parametrize(
        ("script", "said"),
        [("echo 'setting up uid map: Permission denied' >&2; exit 1", "uid map"), ("exit 3", "exit 3")],
    )
    def test_bwrap_that_fails(self, fake: Path, script: str, said: str) -> None:
        says(fake, script)
        reason = str(bubblewrap.why_missing())
        assert reason.startswith("bwrap failed") and said in reason and reason.count(".") >= 1

    def test_bwrap_that_cannot_be_run(self, fake: Path) -> None:
        fake.write_text("no program")
        fake.chmod(0o755)
        assert "bwrap could not be run" in str(bubblewrap.why_missing())

    def test_other_systems(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "platform", "darwin")
        assert bubblewrap.why_missing() == "bubblewrap runs on Linux only"


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        (
            "proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1\n",
            "kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ("proc/sys/kernel/unprivileged_userns_clone", "0\n", "kernel.unprivileged_userns_clone=1"),
        ("proc/sys/user/max_user_namespaces", "0\n", "raise user.max_user_namespaces"),
        ("proc/self/status", "Name:\tx\nSeccomp:\t2\n", "A seccomp filter is on here"),
        ("proc/self/status", "Seccomp:\t0\n", "In a container, its seccomp profile may forbid namespaces"),
        ("proc/sys/user/max_user_namespaces", "100\n", "In a container, its seccomp profile may forbid namespaces"),
        ("nothing", "", "In a container, its seccomp profile may forbid namespaces"),
    ],
)
def test_the_setting_in_the_way_is_named(tmp_path: Path, file: str, text: str, said: str) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text)
    assert said in bubblewrap.setting_in_the_way(f"{tmp_path}/")


def test_each_kind_of_name_space_is_its_own() -> None:
    command = bubblewrap._namespaces()
    assert {"--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"} <= set(command)
    assert {"--die-with-parent", "--new-session"} <= set(command)


@pytest.mark.parametrize(
    ("version", "forbids"), [("0.8.0", True), ("0.11.1", True), ("1.0", True), ("0.7.9", False), ("no", False)]
)
def test_an_ordinary_user_gets_a_user_name_space_and_none_within(
    fake: Path, monkeypatch: pytest.MonkeyPatch, version: str, forbids: bool
) -> None:
    says(fake, f"echo bubblewrap {version}")
    monkeypatch.setattr(users, "can_change", lambda: False)
    command = bubblewrap._namespaces()
    assert "--unshare-user" in command and "--cap-add" not in command
    assert ("--disable-userns" in command) == forbids


def test_a_version_that_cannot_be_asked_forbids_nothing(fake: Path) -> None:
    fake.write_text("no program")
    fake.chmod(0o755)
    assert not bubblewrap._can_forbid_userns()


def test_root_keeps_what_it_takes_to_become_another_user_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users, "can_change", lambda: True)
    command = bubblewrap._namespaces()
    kept = [command[i + 1] for i, word in enumerate(command) if word == "--cap-add"]
    assert kept == ["CAP_SETUID", "CAP_SETGID"]
    assert "--unshare-user" not in command


def test_a_course_within_a_folder_that_is_shown_is_covered(tmp_path: Path) -> None:
    """As when the grader is installed below /usr, which the interpreter needs."""
    shown = Path("/usr/local/share")
    if bubblewrap.why_missing() or not os.access(shown, os.W_OK):
        pytest.skip(f"needs bubblewrap and a writable {shown}: {bubblewrap.why_missing()}")
    hide = shown / f"grader-test-{os.getpid()}"
    hide.mkdir()
    try:
        (hide / "secret.txt").write_text("42")
        command = [*bubblewrap.enclosure(bundle.build_bundle(tmp_path), hide), "--", "/bin/ls", "-a", str(hide)]
        seen = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert "secret.txt" not in seen
    finally:
        shutil.rmtree(hide)

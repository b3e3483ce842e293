"""What a learner's code sees in each tier, and which tier is taken."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.errors import IsolationRefused
from grader.run import sandbox

from .conftest import Learner, Start, why_missing

SOURCE = '''
import importlib
import os
import socket
import sys


def read(path):
    with open(path) as file:
        return file.read()


def listed(path):
    return sorted(os.listdir(path))


def exists(path):
    return os.path.exists(path)


def environment():
    return dict(os.environ)


def who():
    return os.getuid(), os.geteuid(), os.getgid(), os.getgroups()


def importable(name):
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def found_by_path(name):
    """Past the import hook: is the package anywhere on the path, or in a site folder?"""
    own = (os.path.dirname(os.__file__), "/usr/lib/python3", "/usr/local/lib")  # below /usr lies other software too
    folders = [os.path.join(root, f) for top in own for root, below, _ in os.walk(top) for f in below]
    places = [*sys.path, *(f for f in folders if f.endswith("-packages"))]
    return any(os.path.isdir(os.path.join(place, name)) for place in places)


def writable(folders):
    found = []
    for folder in folders:
        try:
            path = os.path.join(folder, "probe_of_a_test")
            with open(path, "w") as file:
                file.write("x")
            os.remove(path)
            found.append(folder)
        except OSError:
            pass
    return found


def mounts_that_can_be_written():
    with open("/proc/mounts") as file:
        lines = [line.split() for line in file]
    return sorted(line[1] for line in lines if "rw" in line[3].split(",") and writable([line[1]]))


def dial(host, port):
    try:
        socket.create_connection((host, port), timeout=2).close()
    except OSError as error:
        return type(error).__name__
    return "connected"


def interfaces():
    return [name for _, name in socket.if_nameindex()]


def processes():
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())


def raise_limits():
    import resource
    done = []
    for name in ("AS", "CPU", "NOFILE", "NPROC", "FSIZE"):
        kind = getattr(resource, "RLIMIT_" + name)
        try:
            resource.setrlimit(kind, (resource.getrlimit(kind)[0], resource.RLIM_INFINITY))
            done.append(name)
        except (OSError, ValueError):
            pass
    return done


def become_root():
    try:
        os.setuid(0)
    except OSError:
        return False
    return True


def fill(megabytes):
    written = 0
    try:
        for number in range(megabytes):
            with open("part%d" % number, "wb") as file:
                written += file.write(bytes(1 << 20))
    except OSError:
        pass
    return written >> 20


def descriptors():
    found = []
    for number in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink("/proc/self/fd/" + number))
        except OSError:
            pass
    return found
'''


@pytest.fixture(scope="module")
def learner(tier: sandbox.Tier, start: Start) -> Learner:
    return start(SOURCE, tier)


@pytest.fixture
def inside(learner: Learner) -> Iterator[Any]:
    """The module in each tier."""
    yield learner.open()
    learner.done()


@pytest.fixture(scope="module")
def walled(start: Start) -> Learner:
    if reason := why_missing("bubblewrap"):
        pytest.skip(f"tier bubblewrap is missing here: {reason}")
    return start(SOURCE, "bubblewrap")


@pytest.fixture
def hidden_away(walled: Learner) -> Iterator[Any]:
    """The module in bubblewrap."""
    yield walled.open()
    walled.done()


class TestEveryTier:
    def test_the_environment_is_empty_but_for_our_own_settings(
        self, inside: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = inside.environment()
        own = {*sandbox.ENVIRONMENT, "LC_CTYPE", "PWD"}
        assert set(found) <= own and found["OPENBLAS_NUM_THREADS"] == "1"

    def test_imports(self, inside: Any) -> None:
        assert all(inside.importable(name) for name in ("numpy", "math", "json", "numpy.linalg"))
        assert not any(
            inside.importable(name)
            for name in ("pytest", "rich", "typer", "hypothesis", "_pytest", "setuptools", "pip")
        )
        assert not any(
            inside.importable(f"grader.{name}")
            for name in ("manifest", "check", "hidden", "run.session", "run.remote", "testing")
        )

    def test_limits_cannot_be_raised(self, inside: Any, tier: sandbox.Tier) -> None:
        if tier == "process" and os.getuid() == 0 and not sandbox._can_drop("process"):
            pytest.skip("root in tier process can raise its limits: the interpreter is unreadable for nobody")
        assert inside.raise_limits() == []

    def test_no_descriptor_but_its_own(self, inside: Any) -> None:
        found = inside.descriptors()
        assert sum(name.startswith("socket:") for name in found) <= 1
        assert not [name for name in found if not name.startswith(("socket:", "/dev/null", "/proc/"))]


class TestBubblewrap:
    def test_not_root_for_good(self, hidden_away: Any) -> None:
        assert hidden_away.who()[:3] == (65534, 65534, 65534)
        assert not hidden_away.become_root()

    def test_no_file_of_the_course_or_of_the_grader(self, hidden_away: Any) -> None:
        here = Path(__file__)
        for path in (
            here,
            here.parents[1] / "manifest.py",
            here.parents[2] / "stages",
            here.parents[2],
            str(Path.home() / ".ssh"),
            "/home",
            "/etc/passwd",
        ):
            assert not hidden_away.exists(str(path)), path
        assert hidden_away.listed("/grader/grader/run") == sorted(
            ["__init__.py", "__pycache__", *(f"{part}.py" for part in sandbox.PARTS)]
        )

    def test_no_packages_beyond_numpy_and_msgpack(self, hidden_away: Any) -> None:
        assert hidden_away.found_by_path("numpy") and hidden_away.found_by_path("msgpack")
        assert not any(
            hidden_away.found_by_path(name) for name in ("pytest", "rich", "typer", "hypothesis", "pip", "setuptools")
        )

    def test_no_network(self, hidden_away: Any) -> None:
        assert set(hidden_away.interfaces()) <= {"lo"}
        assert hidden_away.dial("1.1.1.1", 53) != "connected" and hidden_away.dial("127.0.0.1", 22) != "connected"

    def test_no_process_but_its_own(self, hidden_away: Any) -> None:
        assert max(hidden_away.processes()) < 50 and len(hidden_away.processes()) <= 6

    def test_only_the_scratch_can_be_written(self, hidden_away: Any) -> None:
        folders = [
            "/",
            "/usr",
            "/usr/lib",
            "/grader",
            "/grader/grader/run",
            "/grader/numpy",
            "/etc",
            "/proc",
            sys.base_prefix,
            "/tmp",
            "/var/tmp",
            "/run",
        ]
        assert hidden_away.writable(folders) == ["/tmp"]
        assert set(hidden_away.mounts_that_can_be_written()) <= {"/tmp", "/dev/shm"}

    def test_the_scratch_is_bounded(self, hidden_away: Any) -> None:
        assert 48 <= hidden_away.fill(90) <= 64

    def test_a_course_within_a_folder_that_is_shown_is_covered(self, tmp_path: Path) -> None:
        """As when the grader is installed below /usr, which the interpreter needs."""
        shown = Path("/usr/local/share")
        if why_missing("bubblewrap") or not os.access(shown, os.W_OK):
            pytest.skip(f"needs bubblewrap and a writable {shown}: {why_missing('bubblewrap')}")
        hide = shown / f"grader-test-{os.getpid()}"
        hide.mkdir()
        try:
            (hide / "secret.txt").write_text("42")
            command = sandbox._bubblewrap(sandbox._build_kit(tmp_path), hide)
            seen = subprocess.run(
                [*command, "--", "/bin/ls", "-a", str(hide)], capture_output=True, text=True, check=True
            ).stdout
            assert "secret.txt" not in seen
        finally:
            shutil.rmtree(hide)


class TestChoice:
    def test_auto_takes_the_strongest_that_works(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sandbox, "why_missing", lambda tier: None)
        assert sandbox.choose("auto") == ("bubblewrap", None)

    def test_auto_says_why_it_settled_for_less(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sandbox, "why_missing", lambda tier: "no bwrap" if tier == "bubblewrap" else None)
        assert sandbox.choose("auto") == ("process", "no bwrap")

    def test_a_tier_that_is_missing_is_refused_not_replaced(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sandbox, "why_missing", lambda tier: "no bwrap" if tier == "bubblewrap" else None)
        with pytest.raises(IsolationRefused, match="'bubblewrap' is not available: no bwrap") as caught:
            sandbox.choose("bubblewrap")
        assert caught.value.hint is not None and "doctor" in caught.value.hint
        assert sandbox.choose("process") == ("process", None)

    def test_an_unknown_tier(self) -> None:
        with pytest.raises(IsolationRefused, match="'vm' is unknown"):
            sandbox.choose("vm")


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap runs on Linux only")
class TestWhyMissing:
    def test_process_is_always_there(self) -> None:
        assert sandbox.why_missing("process") is None

    def test_no_bwrap(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shutil, "which", lambda name: None)
        assert "bwrap is not installed" in str(sandbox.why_missing("bubblewrap"))

    @pytest.mark.parametrize(
        ("script", "said"),
        [("echo 'setting up uid map: Permission denied' >&2; exit 1", "uid map"), ("exit 3", "exit 3")],
    )
    def test_bwrap_that_fails(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str) -> None:
        fake = tmp_path / "bwrap"
        fake.write_text(f"#!/bin/sh\n{script}\n")
        fake.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        reason = str(sandbox.why_missing("bubblewrap"))
        assert reason.startswith("bwrap failed") and said in reason and reason.count(".") >= 1

    def test_other_systems(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "platform", "darwin")
        assert sandbox.why_missing("bubblewrap") == "bubblewrap runs on Linux only"

    def test_a_process_that_cannot_be_started_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fails(*args: object) -> None:
            raise OSError("no more processes")

        monkeypatch.setattr(sandbox, "_spawn", fails)
        with pytest.raises(IsolationRefused, match="no more processes"):
            sandbox.start("process", tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="counts in /proc")
def test_the_limit_on_processes_comes_on_top_of_those_that_the_user_has_already(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox, "_can_drop", lambda tier: False)
    sleepers = [subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE) for _ in range(3)]
    try:
        found = sandbox.tasks_of_worker("process")
    finally:
        for sleeper in sleepers:
            sleeper.communicate(b"\n")
    assert found > len(sleepers)  # they, and this process

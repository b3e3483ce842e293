"""What a learner's code sees in each tier, and which tier is taken."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader import cli
from grader.errors import IsolationRefused
from grader.isolation import bundle, landlock, tiers, users
from grader.remote.process import LoadFailed
from grader.tests.conftest import Learner, Start, why_missing
from grader.tests.support.places import HOUSE, ROOT
from grader.worker import kernel
from grader.worker.confine import COUNTED_APART
from grader.worker.kernel import LEAST_ABI, landlock_abi
from grader.worker.process_tree import children_of

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


def dial(host, port):
    try:
        socket.create_connection((host, port), timeout=2).close()
    except OSError as error:
        return type(error).__name__
    return "connected"


def interfaces():
    try:
        return [name for _, name in socket.if_nameindex()]
    except PermissionError:  # without any socket
        return []


def processes():
    return [number for number in range(1, 100) if os.path.exists(f"/proc/{number}")]


def told_of_places():
    """All that names a place: what the interpreter knows, what links lead to, and what /proc lets be read."""
    import sysconfig
    import numpy
    told = [sys.path, sys.argv, sys.orig_argv, sys.prefix, dict(os.environ), os.getcwd(), numpy.__file__, __file__]
    told += [sysconfig.get_paths(), [str(getattr(each, "__file__", "")) for each in sys.modules.values()]]
    for name in ("exe", "cwd", "root", *(f"fd/{number}" for number in range(64))):
        try:
            told.append(os.readlink(f"/proc/self/{name}"))
        except OSError:
            pass
    for process in ("self", *range(1, 20)):
        for name in ("mountinfo", "mounts", "mountstats", "maps", "smaps", "environ", "cmdline", "cgroup"):
            try:
                told.append(read(f"/proc/{process}/{name}"))
            except OSError:
                pass
    return repr(told)


def locked(path):
    import fcntl
    found = []
    with open(path) as file:
        for lock in (lambda: fcntl.flock(file, fcntl.LOCK_SH), lambda: fcntl.lockf(file, fcntl.LOCK_SH)):
            try:
                lock()
                found.append("locked")
            except OSError as error:
                found.append(type(error).__name__)
        return found


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
    for number in range(256):
        try:
            found.append(os.readlink("/proc/self/fd/%d" % number))
        except OSError:
            pass
    return found


def runs(program):
    import subprocess
    try:
        return subprocess.run([program]).returncode
    except OSError as error:
        return type(error).__name__
'''


@pytest.fixture(scope="module")
def learner(tier: tiers.Tier, start: Start) -> Learner:
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
        own = {*tiers.ENVIRONMENT, "LC_CTYPE", "PWD"}
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

    def test_limits_cannot_be_raised(self, inside: Any) -> None:
        assert inside.raise_limits() == []

    def test_no_descriptor_but_its_own(self, inside: Any) -> None:
        found = inside.descriptors()
        assert sum(name.startswith("socket:") for name in found) <= 1
        own = ("socket:", "/dev/null", *bundle.closed_folders())
        assert found and not [name for name in found if not name.startswith(own)]


class TestBubblewrap:
    def test_not_root_for_good(self, hidden_away: Any) -> None:
        assert 0 not in hidden_away.who()[:3]
        assert not hidden_away.become_root()

    def test_no_file_of_the_course_or_of_the_grader(self, hidden_away: Any) -> None:
        here = Path(__file__)
        for path in (
            here,
            HOUSE / "errors.py",
            ROOT / "stages",
            ROOT,
            str(Path.home() / ".ssh"),
            "/home",
            "/etc/passwd",
        ):
            assert not hidden_away.exists(str(path)), path
        assert hidden_away.listed("/grader/grader/worker") == sorted(
            ["__pycache__", *(part.name for part in bundle.parts() if part.parent.name == "worker")]
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
            "/grader/grader/worker",
            "/grader/numpy",
            "/etc",
            "/proc",
            sys.base_prefix,
            "/tmp",
            "/var/tmp",
            "/run",
        ]
        folders += ["/dev", "/dev/shm", "/dev/pts", "/dev/mqueue"]
        assert hidden_away.writable(folders) == ["/tmp"]

    @pytest.mark.skipif(landlock_abi() < LEAST_ABI, reason="needs Landlock")
    def test_no_folder_of_the_host_is_told(self, hidden_away: Any, walled: Learner) -> None:
        told = hidden_away.told_of_places()
        job, scratch = walled.process.job, walled.started.folder.name
        places = [ROOT, HOUSE, bundle.package("numpy").parent, job.hide, Path(scratch), Path(scratch).name]
        assert [str(place) for place in places if str(place) in told] == []

    @pytest.mark.skipif(landlock_abi() < LEAST_ABI, reason="needs Landlock")
    def test_nothing_of_proc_is_read(self, hidden_away: Any) -> None:
        for name in ("self/mountinfo", "self/maps", "1/environ", "1/cmdline", "mounts", "net/dev"):
            with pytest.raises(PermissionError):
                hidden_away.read(f"/proc/{name}")

    def test_the_scratch_is_bounded(self, hidden_away: Any) -> None:
        assert 48 <= hidden_away.fill(90) <= 64


@pytest.fixture(scope="module")
def fenced(start: Start) -> Learner:
    if reason := why_missing("landlock"):
        pytest.skip(f"tier landlock is missing here: {reason}")
    return start(SOURCE, "landlock")


@pytest.fixture
def behind_the_fence(fenced: Learner) -> Iterator[Any]:
    """The module in landlock."""
    yield fenced.open()
    fenced.done()


class TestLandlock:
    def test_no_file_of_the_course_of_the_grader_or_of_anybody(self, behind_the_fence: Any) -> None:
        here = Path(__file__)
        for path in (here, HOUSE / "errors.py", "/etc/passwd", "/proc/self/environ", "/proc/1/cmdline"):
            assert Path(path).exists()
            with pytest.raises(PermissionError):
                behind_the_fence.read(str(path))

    def test_no_folder_is_listed_but_its_own(self, behind_the_fence: Any) -> None:
        here = Path(__file__)
        for path in ("/", "/tmp", "/proc", "/etc", here.parent, ROOT, bundle.package("numpy").parent):
            with pytest.raises(PermissionError):
                behind_the_fence.listed(str(path))
        assert behind_the_fence.listed(".") == []

    def test_only_the_scratch_can_be_written(self, behind_the_fence: Any) -> None:
        folders = [
            "/",
            "/tmp",
            "/var/tmp",
            "/dev/shm",
            "/run",
            "..",
            str(Path.home()),
            ".",
            "/grader",
            "../bundle/grader",
        ]
        assert behind_the_fence.writable(folders) == ["."]

    def test_no_network(self, behind_the_fence: Any) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            assert behind_the_fence.dial("127.0.0.1", listener.getsockname()[1]) == "PermissionError"

    def test_no_program(self, behind_the_fence: Any) -> None:
        for path in (shutil.which("true"), sys.executable):
            assert behind_the_fence.runs(str(path)) == "PermissionError"

    def test_modules_of_the_standard_library_can_still_be_imported(self, behind_the_fence: Any) -> None:
        names = "wave sqlite3 ssl json.tool xml.dom.minidom numpy.testing numpy.polynomial curses"
        here = [name for name in names.split() if importlib.util.find_spec(name)]
        assert len(here) > 4 and [name for name in here if not behind_the_fence.importable(name)] == []


@pytest.mark.skipif(not tiers.program_for("landlock"), reason="needs libseccomp")
@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
def test_a_file_that_all_can_read_carries_no_lock_from_run_to_run(tier: tiers.Tier, start: Start) -> None:
    if reason := why_missing(tier):
        pytest.skip(f"tier {tier} is missing here: {reason}")
    one, another = start(SOURCE, tier), start(SOURCE, tier)
    shared = "/grader/numpy/__init__.py" if tier == "bubblewrap" else str(bundle.package("numpy") / "__init__.py")
    for learner in (one, another):
        remote: Any = learner.open()
        assert remote.locked(shared) == ["PermissionError"] * 2
        learner.done()


class TestRoot:
    @pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="needs root")
    def test_is_never_what_the_learner_is(self, inside: Any) -> None:
        user, effective, group, groups = inside.who()
        assert user >= users.POOLS[1].start and user == effective == group and groups == []
        assert not inside.become_root()


def lacking(monkeypatch: pytest.MonkeyPatch, **missing: str) -> None:
    monkeypatch.setattr(tiers, "why_missing", missing.get)
    monkeypatch.setattr(landlock, "shortfall", lambda filtered: None)


class TestChoice:
    def test_auto_takes_the_strongest_that_works(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lacking(monkeypatch)
        assert tiers.choose("auto") == ("bubblewrap", None)

    def test_what_bubblewrap_tells_on_an_old_kernel_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lacking(monkeypatch)
        monkeypatch.setattr(kernel, "landlock_abi", lambda: 0)
        assert "names of this system's folders in /proc" in str(tiers.choose("bubblewrap")[1])

    def test_auto_says_why_it_settled_for_less(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lacking(monkeypatch, bubblewrap="no bwrap.")
        assert tiers.choose("auto") == ("landlock", "no bwrap")
        lacking(monkeypatch, bubblewrap="no bwrap.", landlock="no Landlock")
        assert tiers.choose("auto") == ("process", "no bwrap; no Landlock")

    def test_what_landlock_leaves_open_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lacking(monkeypatch, bubblewrap="no bwrap")
        monkeypatch.setattr(landlock, "shortfall", lambda filtered: "UDP")
        assert tiers.choose("auto")[1] == "no bwrap; UDP"
        assert tiers.choose("landlock")[1] == "UDP"
        assert tiers.choose("process")[1] is None

    def test_a_tier_that_is_missing_is_refused_not_replaced(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lacking(monkeypatch, bubblewrap="no bwrap")
        with pytest.raises(IsolationRefused, match=r"'bubblewrap' is not available: no bwrap$") as caught:
            tiers.choose("bubblewrap")
        assert caught.value.hint is not None and "doctor" in caught.value.hint
        assert tiers.choose("process") == ("process", None)

    @pytest.mark.parametrize(("wanted", "least"), [("vm", None), ("auto", "vm")])
    def test_an_unknown_tier(self, wanted: str, least: str | None) -> None:
        with pytest.raises(IsolationRefused, match="'vm' is unknown"):
            tiers.choose(wanted, least)

    @pytest.mark.parametrize(
        ("least", "missing", "taken"),
        [
            ("bubblewrap", {}, "bubblewrap"),
            ("landlock", {}, "bubblewrap"),
            ("process", {"bubblewrap": "x", "landlock": "y"}, "process"),
            ("landlock", {"bubblewrap": "x"}, "landlock"),
            ("auto", {"bubblewrap": "x", "landlock": "y"}, "process"),
        ],
    )
    def test_a_tier_that_is_enough(
        self, monkeypatch: pytest.MonkeyPatch, least: str, missing: dict[str, str], taken: str
    ) -> None:
        lacking(monkeypatch, **missing)
        assert tiers.choose("auto", least)[0] == taken

    def test_nothing_below_the_least_is_taken(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lacking(monkeypatch, bubblewrap="no bwrap", landlock="no Landlock")
        with pytest.raises(IsolationRefused) as caught:
            tiers.choose("auto", "landlock")
        assert caught.value.message == (
            "isolation 'bubblewrap' is not available: no bwrap; isolation 'landlock' is not available: no Landlock; "
            "'landlock' is the least that is accepted"
        )
        assert caught.value.exit_code == 4

    def test_a_weaker_one_that_is_asked_for_is_refused_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lacking(monkeypatch)
        with pytest.raises(IsolationRefused, match="'process' was asked for, and 'landlock' is the least") as caught:
            tiers.choose("process", "landlock")
        assert caught.value.hint == "Leave --isolation out, or ask for bubblewrap or landlock."
        assert tiers.choose("landlock", "landlock")[0] == "landlock"


@pytest.mark.parametrize(
    ("least", "code", "said"),
    [
        (
            "landlock",
            4,
            "isolation 'bubblewrap' is not available: no bwrap; isolation 'landlock' is not available: old",
        ),
        ("process", 0, ""),
    ],
)
def test_the_command_grades_in_no_weaker_tier_than_is_required(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], least: str, code: int, said: str
) -> None:
    lacking(monkeypatch, bubblewrap="no bwrap", landlock="old")
    reference = ROOT / "grader" / "hidden" / "s01_matrix_operations" / "solution.py"
    arguments = ["check", "s01", "--submission", str(reference), "--only", "trace", "--require-isolation", least]
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["grader", *arguments])
    with pytest.raises(SystemExit) as left:
        cli.main()
    out, err = capsys.readouterr()
    assert int(left.value.code or 0) == code
    assert said in " ".join(err.split()) and ("trace" in out) == (code == 0)


class TestStart:
    def test_a_process_that_cannot_be_started_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fails(*args: object) -> None:
            raise OSError("no more processes")

        monkeypatch.setattr(tiers, "_spawn", fails)
        with pytest.raises(IsolationRefused, match="no more processes"):
            tiers.start("process", tmp_path)

    @pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
    def test_what_needs_a_fork_is_refused_without(self, tmp_path: Path, tier: tiers.Tier) -> None:
        with pytest.raises(IsolationRefused, match=f"{tier} needs a system that can fork"):
            tiers.start(tier, tmp_path, fork=False)

    def test_a_guard_that_fails_refuses_before_the_module_runs(
        self, start: Start, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        module = "raise ValueError('it ran')"
        with pytest.raises(LoadFailed, match="it ran"):
            start(module, "process")
        monkeypatch.setattr(tiers, "program_for", lambda tier: b"no filter at all")
        with pytest.raises(IsolationRefused, match="'process' is not available: the filter of system calls cannot be"):
            start(module, "process")

    def test_what_the_worker_put_up_is_told(self, tier: tiers.Tier, start: Start) -> None:
        guards = start("", tier).process.guards
        assert "an ordinary user" in guards
        assert os.getuid() != 0 or COUNTED_APART in guards
        assert any(name.startswith("Landlock") for name in guards) == (tier != "process" and landlock_abi() >= 4)
        assert ("seccomp" in guards) == bool(tiers.program_for(tier))


needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="counts in /proc")


@needs_proc
def test_the_limit_on_processes_comes_on_top_of_those_that_the_user_has_already() -> None:
    sleepers = [subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE) for _ in range(3)]
    try:
        found = users.tasks_of(os.getuid())
    finally:
        for sleeper in sleepers:
            sleeper.communicate(b"\n")
    assert found > len(sleepers)  # they, and this process


@needs_proc
def test_processes_that_are_closed_to_others_are_counted_too(start: Start) -> None:
    guardian = start("", "process").started.process.pid
    (worker,) = children_of(guardian)
    user = os.stat(f"/proc/{worker}").st_uid
    assert user != 0 and users.tasks_of(user) >= 1

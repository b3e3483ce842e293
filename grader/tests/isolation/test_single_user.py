"""Where root cannot become another user, as in containers of computing centres, and where no namespace can be made.

A tier that works there keeps all that it promises, another says why it does not, and one's own code is always graded.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader.tests.pace.matrix import why_missing
from grader.tests.support.small_course import SmallCourse

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="user namespaces are a part of Linux")

OTHER = 1000
AS_OTHER = ("setpriv", "--reuid", str(OTHER), "--regid", str(OTHER), "--clear-groups")
NO_NAMESPACES = """
import ctypes, os, sys
started, mapped = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    assert ctypes.CDLL(None).unshare(0x10000000) == 0
    os.write(started[1], b"x"), os.read(mapped[0], 1)
    with open("/proc/sys/user/max_user_namespaces", "w") as most:
        most.write("0")
    os.setgroups([]), os.setgid(int(sys.argv[1])), os.setuid(int(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
os.read(started[0], 1)
for name in ("uid_map", "gid_map"):
    with open(f"/proc/{child}/{name}", "w") as file:
        file.write("0 0 65536")
os.write(mapped[1], b"x")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
PLACES = {  # how a command is started in each, and by whom
    "root alone": ("unshare", "-Ur"),
    "another user as root alone": (*AS_OTHER, "unshare", "-Ur"),
    "no namespaces": (sys.executable, "-c", NO_NAMESPACES, str(OTHER)),
}
MANIFEST = """
    schema = 1
    id = "s90"
    title = "Small"
    module = "small.py"
    requires = []

    [limits]
    stage_seconds = 60
    call_seconds = 20
    memory_mb = 256

    [[criteria]]
    id = "double"
    text = "double"
    functions = ["double"]
    needs = []
    hints = ["a", "b", "c"]
"""
RIGHT = """
    def double(x):
        return 2 * x
"""
TEST = """
    @pytest.mark.criterion("double")
    def test_double(learner):
        assert_equal(learner.double(21), 42)
"""
ROBBER = """
    import ctypes, os, socket, struct, time

    libc = ctypes.CDLL(None, use_errno=True)


    def refused(number):
        return number == -1


    def tried(function, *arguments):
        try:
            return function(*arguments)
        except (OSError, ValueError):
            return None


    def rights():
        kept = ctypes.create_string_buffer(24)
        libc.capget(struct.pack("=Ii", 0x20080522, 0), kept)
        status = tried(lambda: open("/proc/self/status").read()) or ""
        return any(kept.raw) or "NoNewPrivs:\\t0" in status


    def regained():
        limits = os.path.exists("/bin/cat") and os.fork()
        if limits == 0:
            import subprocess
            command = ["/bin/cat", "/proc/self/status"]
            said = tried(lambda: subprocess.run(command, capture_output=True, text=True).stdout)
            os._exit(7 if said and "CapEff:\\t0000000000000000" not in said else 0)
        return os.waitpid(limits, 0)[1] != 0


    def graders():
        for number in filter(str.isdigit, tried(os.listdir, "/proc") or ()):
            line = tried(lambda: open(f"/proc/{number}/cmdline", "rb").read()) or b""
            if b"FOLDER" in line and b"worker" not in line:
                yield int(number)


    def double(x):
        found = []
        if rights():
            found.append("rights of root")
        if regained():
            found.append("rights of root in a program")
        for number in graders():
            if tried(open, f"/proc/{number}/mem", "rb") or libc.ptrace(16, number, 0, 0) == 0:
                found.append(f"a look into {number}")
        for name, done in {"a root": tried(os.chroot, "/"), "a host's name": tried(socket.sethostname, "x")}.items():
            if done is not None:
                found.append(name)
        if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0:
            found.append("a mount")
        if STRONG and tried(open, "SECRET"):
            found.append("the course")
        if STRONG and tried(socket.create_connection, ("127.0.0.1", 9), 1):
            found.append("a connection")
        if COUNTED:
            made = 0
            try:
                for made in range(200):
                    if os.fork() == 0:
                        time.sleep(20)
                        os._exit(0)
                found.append("200 processes")
            except OSError:
                pass
        raise RuntimeError(f"gained {found}")
"""


@dataclass
class Ran:
    """What the command came to."""

    code: int
    verdict: dict[str, Any]
    said: str

    @property
    def told(self) -> str:
        return json.dumps(self.verdict)


class Elsewhere:
    """A small course, and the command where this machine is as one of the places."""

    def __init__(self, folder: Path, prefix: tuple[str, ...]) -> None:
        self.folder = folder
        self.prefix = prefix
        course = SmallCourse(folder)
        course.write(manifest=MANIFEST, solution=RIGHT, public=TEST, hidden=TEST)
        self.root = course.root
        shutil.move(folder / "hidden", self.root / "hidden")
        (self.root / "pyproject.toml").write_text('[tool.grader]\nhidden = "hidden"\n')
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LANG") if name in os.environ}
        environment = {**kept, "HOME": str(self.folder), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        return subprocess.run(
            [*self.prefix, sys.executable, *arguments], cwd=self.root, env=environment,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    def check(self, module: str, tier: str) -> Ran:
        submission = self.folder / "small.py"
        SmallCourse._put(submission, module)
        submission.chmod(0o644)
        done = self.run("-m", "grader", "check", "s90", "--submission", str(submission), "--isolation", tier, "--json")
        return Ran(done.returncode, json.loads(done.stdout) if done.stdout else {}, " ".join(done.stderr.split()))


@pytest.fixture(scope="module", params=PLACES)
def place(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def elsewhere(place: str) -> Iterator[Elsewhere]:
    """The command in each place; skipped where this machine or its user cannot make one like it."""
    prefix = PLACES[place]
    if prefix[0] != "unshare" and os.getuid() != 0:
        pytest.skip("needs root, to become another user")
    with tempfile.TemporaryDirectory(prefix="grader-elsewhere-") as folder:
        found = Elsewhere(Path(folder), prefix)
        tried = found.run("-c", "import grader")
        if tried.returncode != 0:
            pytest.skip(f"not possible here: {tried.stderr.strip().splitlines()[-1:]}")
        yield found


def works(place: str, tier: str) -> bool:
    """Say whether a tier works in a place of a machine on which it works otherwise."""
    if tier == "process":
        return True
    if place == "root alone" and os.getuid() == 0:  # the kernel does not limit the processes of real root
        return False
    return tier == "landlock" or place != "no namespaces"


@pytest.fixture
def available(place: str, tier: str) -> bool:
    if tier != "process" and (reason := why_missing(tier)):
        pytest.skip(f"tier {tier} is missing here: {reason}")
    return works(place, tier)


def test_a_right_module_passes_in_each_tier_that_works(
    elsewhere: Elsewhere, place: str, tier: str, available: bool
) -> None:
    ran = elsewhere.check(RIGHT, tier)
    if not available:
        assert ran.code == 4 and f"isolation '{tier}' is unavailable" in ran.told
        assert "start the grader as an ordinary user" in ran.told or "max_user_namespaces" in ran.told
        return
    assert ran.code == 0 and ran.verdict["passed"], ran
    note = ran.verdict["isolation_note"]
    if tier == "process" and place != "no namespaces":
        assert "root cannot become another user here" in note and "the grader's own user" in note
        assert ("no limit on processes holds" in note) == (place == "root alone" and os.getuid() == 0)
    else:
        assert not note or "root" not in note


def test_an_attack_gains_nothing_that_the_tier_does_not_leave_open(
    elsewhere: Elsewhere, place: str, tier: str, available: bool
) -> None:
    if not available:
        assert elsewhere.check(RIGHT, tier).code == 4
        return
    counted = works(place, "landlock")
    robber = ROBBER.replace("STRONG", str(tier != "process")).replace("COUNTED", str(counted))
    robber = robber.replace("SECRET", str(elsewhere.root / "hidden" / "s90_small" / "solution.py"))
    ran = elsewhere.check(robber.replace("FOLDER", str(elsewhere.folder)), tier)
    assert ran.code == 1 and "gained []" in ran.told, ran


def test_the_strongest_tier_that_works_is_chosen(elsewhere: Elsewhere, place: str) -> None:
    ran = elsewhere.check(RIGHT, "auto")
    assert ran.code == 0 and works(place, ran.verdict["isolation"]), ran
    assert (ran.verdict["isolation"] == "process") == (not works(place, "landlock") or bool(why_missing("landlock")))


def test_the_doctor_tells_of_the_user_and_promises_no_more_than_holds(elsewhere: Elsewhere, place: str) -> None:
    done = elsewhere.run("-m", "grader", "doctor", "--every-tier", "--json")
    findings = {each["topic"]: each for each in json.loads(done.stdout)["findings"]}
    assert ("user" in findings) == (place != "no namespaces"), done.stdout
    assert findings["isolation process"]["level"] == "ok", done.stdout
    for tier in ("bubblewrap", "landlock"):
        if not why_missing(tier):
            assert (findings[f"isolation {tier}"]["level"] == "ok") == works(place, tier), done.stdout

"""The command where root cannot become another user, or no namespace can be made, and a submission that robs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.small_course import SmallCourse

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

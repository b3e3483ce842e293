"""A clean process forks a worker for each submission: it holds nothing of them, and none of them reaches it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import pytest

from grader.doctor import guards, health
from grader.isolation import tier as tier_module
from grader.isolation import tiers, users, zygote
from grader.sandbox.connection import RemoteModule
from grader.sandbox.exceptions import WorkerFailed
from grader.sandbox.process import Job, LearnerProcess
from grader.worker import supervisor
from tests.pace import kept
from tests.pace.kept import chain
from tests.support.places import ROOT

pytestmark = [
    pytest.mark.skipif(not zygote.is_possible(), reason="forks of a zygote need descriptors of processes"),
    pytest.mark.every_tier,
]
LABEL = "small.py"
FIND = """
import ctypes, os, signal, sys
import numpy as np

def right(x):
    return 2 * x

def draw():
    return float(np.random.rand())

def scratch(name):
    before = os.path.exists(name)
    with open(name, "w") as file:
        file.write("left")
    return before

def descriptors():
    found = []
    for number in range(64):
        try:
            found.append((number, os.fstat(number).st_mode))
        except OSError:
            pass
    return found

def attack(numbers):
    libc = ctypes.CDLL(None, use_errno=True)
    gained = []
    for number in numbers:
        for name in ("SIGSTOP", "SIGUSR1", "SIGTERM", "SIGKILL"):
            try:
                os.kill(number, getattr(signal, name))
                gained.append([name, number])
            except OSError:
                pass
        if libc.ptrace(16, number, 0, 0) == 0 or libc.ptrace(0x4206, number, 0, 0) == 0:
            gained.append(["ptrace", number])
        for file in ("mem", "maps", "environ", "fd/3", "root/etc", "cwd"):
            try:
                with open(f"/proc/{number}/{file}", "rb") as opened:
                    opened.read(1)
                gained.append([file, number])
            except OSError:
                pass
    return gained

def fork_race(seconds):
    import time
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if os.fork() == 0:
                os._exit(0)
        except OSError:
            pass

def fork_bomb():
    while True:
        try:
            os.fork()
        except OSError:
            pass

def memory_bomb():
    kept = []
    while True:
        try:
            kept.append(np.ones(1 << 20))
        except MemoryError:
            if os.fork() == 0:
                kept.append(bytearray(1 << 24))

def disk_bomb():
    number = 0
    while True:
        number += 1
        try:
            with open(f"file{number}", "wb") as file:
                file.write(bytes(1 << 20))
        except OSError:
            pass
"""


@contextmanager
def workers(tier: str, folder: Path) -> Iterator[tiers.LocalWorkerFactory]:
    """Give workers whose first one has started their zygote."""
    own = tiers.LocalWorkerFactory(tier, folder, packages=("numpy",))
    own.start().kill()
    try:
        yield own
    finally:
        own.close()


@pytest.fixture
def own(tier: tiers.Tier, tmp_path: Path) -> Iterator[tiers.LocalWorkerFactory]:
    with workers(tier, tmp_path) as found:
        yield found


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no zygote be shared with other tests."""
    monkeypatch.setattr(zygote, "_shared", WeakValueDictionary())
    monkeypatch.setattr(zygote, "shared", kept.really_shared)


def cleaned(own: tiers.LocalWorkerFactory) -> zygote.Zygote:
    assert own._zygote is not None
    return own._zygote


def number(own: tiers.LocalWorkerFactory) -> int:
    """Return the zygote's number."""
    return chain(cleaned(own))[-1]


@contextmanager
def submission(own: tiers.LocalWorkerFactory, source: str = FIND, seconds: float = 20) -> Iterator[Any]:
    """Load a module in a worker; give it as a test has it."""
    job = Job(LABEL, source.encode(), seconds, 60, 400, own.hide, 4, 65536, ("numpy",))
    process = LearnerProcess(job, own.tier, own)
    try:
        process.load()
        connection = process.open(time.monotonic() + 60)
        found = RemoteModule(connection, LABEL)
        found.__dict__["worker"] = process._started
        yield found
        process.done(connection)
    finally:
        process.kill()


def is_right(own: tiers.LocalWorkerFactory) -> bool:
    with submission(own) as module:
        return bool(module.right(21) == 42)


def memory(process: int) -> bytes:
    """Return all that stands in the memory of a process that this one may read."""
    found = []
    with open(f"/proc/{process}/mem", "rb", buffering=0) as file:
        for line in Path(f"/proc/{process}/maps").read_text().splitlines():
            first, last = (int(each, 16) for each in line.split()[0].split("-"))
            if "r" in line.split()[1] and not line.endswith(("[vvar]", "[vsyscall]", "[vvar_vclock]")):
                with suppress(OSError, OverflowError, ValueError):
                    file.seek(first)
                    found.append(file.read(last - first))
    return b"".join(found)


class TestItIsClean:
    @pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root may read its memory")
    def test_its_memory_holds_nothing_of_a_course_or_of_a_submission(
        self, own: tiers.LocalWorkerFactory, tmp_path: Path
    ) -> None:
        said = "wrote-by-a-learner"
        with submission(own, f'{FIND}\nSECRET = "{said}-source"\n') as module:
            assert module.right(np_token := f"{said}-asked") == 2 * np_token
            while_it_runs = memory(number(own))
        found = while_it_runs + memory(number(own))
        assert b"learner_module" in found  # what is there is seen
        for secret in (said, str(tmp_path), tmp_path.name, "fork_race", "stages/", "solution.py"):
            assert secret.encode() not in found, secret

    @pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root may read its descriptors")
    def test_it_has_one_descriptor_and_an_empty_environment(self, own: tiers.LocalWorkerFactory) -> None:
        with submission(own) as module:
            assert module.right(1) == 2
            process = number(own)
            opened = sorted(os.readlink(each) for each in Path(f"/proc/{process}/fd").iterdir())
            assert [each for each in opened if each != "/dev/null"] == [each for each in opened if "socket:" in each]
            assert len([each for each in opened if "socket:" in each]) == 1
            names = {
                each.split(b"=")[0].decode() for each in Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
            }
        assert names - {"", "PWD", "LC_CTYPE"} <= {*tiers.ENVIRONMENT}

    def test_a_worker_has_none_of_its_descriptors(self, own: tiers.LocalWorkerFactory) -> None:
        with submission(own) as module:
            sockets = [each for each, mode in module.descriptors() if mode & 0o170000 == 0o140000]
        assert len(sockets) == 1  # its own connection

    def test_each_worker_draws_from_the_beginning_and_finds_nothing_of_the_one_before(
        self, own: tiers.LocalWorkerFactory
    ) -> None:
        found = []
        for _ in range(2):
            with submission(own) as module:
                assert not module.scratch("left")
                found.append(module.draw())
        assert found[0] == found[1]  # what one draws is not what the next one goes on from


class TestAttacks:
    def test_of_a_worker_on_the_zygote_and_on_another_worker(self, own: tiers.LocalWorkerFactory) -> None:
        process = number(own)
        with submission(own) as victim:
            with submission(own) as module:
                others = supervisor.below(victim.worker.process.pid)
                assert module.attack([*chain(cleaned(own)), victim.worker.process.pid, *others]) == []
            assert victim.right(21) == 42
        assert number(own) == process and is_right(own)

    @pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root sees the namespaces of others")
    def test_in_bubblewrap_each_has_namespaces_of_its_own(self, tmp_path: Path) -> None:
        if reason := tiers.why_missing("bubblewrap"):
            pytest.skip(reason)
        with workers("bubblewrap", tmp_path) as own, submission(own) as one, submission(own) as other:
            first, second = (min(supervisor.children_of(each.worker.process.pid)) for each in (one, other))
            for kind in ("user", "pid", "mnt", "ipc", "net", "uts"):
                assert len({os.readlink(f"/proc/{each}/ns/{kind}") for each in (first, second, number(own))}) == 3, kind

    def test_a_race_of_forks_costs_nobody_else(self, own: tiers.LocalWorkerFactory) -> None:
        process = number(own)
        with submission(own) as module:
            racing = threading.Thread(target=lambda: module.fork_race(2.0))
            racing.start()
            results = [is_right(own) for _ in range(5)]
            racing.join()
        assert results == [True] * 5 and number(own) == process

    @pytest.mark.full_matrix
    def test_twenty_are_graded_right_beside_bombs(self, own: tiers.LocalWorkerFactory) -> None:
        process = number(own)
        with submission(own) as forks, submission(own) as memory_, submission(own) as disk:
            bombs = [forks.fork_bomb, memory_.memory_bomb, disk.disk_bomb]
            running = [threading.Thread(target=_until_it_ends, args=(bomb,)) for bomb in bombs]
            for each in running:
                each.start()
            results = [is_right(own) for _ in range(20)]
            for each in running:
                each.join(60)
        assert results == [True] * 20 and number(own) == process
        assert not supervisor.below(process)


def _until_it_ends(bomb: Callable[[], object]) -> None:
    with suppress(WorkerFailed, MemoryError):
        bomb()


class TestItsEnd:
    def test_one_that_is_killed_is_replaced(self, alone: None, own: tiers.LocalWorkerFactory) -> None:
        before = number(own)
        with submission(own) as module:
            os.kill(before, signal.SIGKILL)
            if own.tier != "bubblewrap":  # whose namespace ends with it
                assert module.right(21) == 42
            assert is_right(own)
            assert number(own) != before

    def test_one_that_is_stopped_is_replaced(
        self, alone: None, own: tiers.LocalWorkerFactory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(zygote, "BEGIN_SECONDS", 2.0)
        before = number(own)
        os.kill(before, signal.SIGSTOP)
        assert is_right(own) and number(own) != before

    def test_a_fork_of_the_grader_has_one_of_its_own(self, alone: None, own: tiers.LocalWorkerFactory) -> None:
        before, (ours, theirs) = number(own), os.pipe()
        if (child := os.fork()) == 0:
            with suppress(BaseException):
                os.write(theirs, b"%d" % (is_right(own) and number(own) != before))
                own.close()
            os._exit(0)
        os.waitpid(child, 0)
        os.close(theirs)
        with open(ours, "rb") as told:
            assert told.read() == b"1"
        assert number(own) == before and is_right(own)

    def test_it_ends_with_the_last_that_has_workers(self, alone: None, tier: tiers.Tier, tmp_path: Path) -> None:
        with workers(tier, tmp_path) as own:
            process, modules = number(own), cleaned(own).place.bundle
            with workers(tier, tmp_path) as other:
                assert number(other) == process
        assert not Path(f"/proc/{process}").exists() and not modules.exists()

    def test_it_ends_after_the_worker_that_outlives_them(self, alone: None, tier: tiers.Tier, tmp_path: Path) -> None:
        own = tiers.LocalWorkerFactory(tier, tmp_path)
        with submission(own) as module:
            own.close()
            assert module.right(21) == 42

    def test_it_ends_with_those_who_forget_to_close(self, alone: None, tier: tiers.Tier, tmp_path: Path) -> None:
        own = tiers.LocalWorkerFactory(tier, tmp_path)
        own.start().kill()
        process = number(own)
        del own
        assert not Path(f"/proc/{process}").exists()


class TestWithoutNamespaces:
    @pytest.fixture
    def refused(self, alone: None, monkeypatch: pytest.MonkeyPatch) -> str:
        monkeypatch.setattr(zygote, "_unable", {})
        monkeypatch.setattr(zygote, "PROBED", "/no/such/folder")
        if reason := tiers.why_missing("bubblewrap"):
            pytest.skip(reason)
        return "tmpfs cannot be mounted: No such file or directory"

    def test_each_submission_has_a_start_of_its_own(self, refused: str, tmp_path: Path) -> None:
        own = tiers.LocalWorkerFactory("bubblewrap", tmp_path, packages=("numpy",))
        for _ in range(2):
            with submission(own) as module:
                assert module.right(21) == 42 and module.worker.zygote is None
        own.close()
        assert zygote.why_alone(tier_module.find("bubblewrap")) == refused

    def test_the_doctor_says_so(self, refused: str) -> None:
        found = {each.topic: each for each in health._isolation(every=False)}["isolation bubblewrap"]
        assert found.level == "ok" and refused in found.what
        assert re.search(r"starts an interpreter for each submission", found.what)
        assert all(each.holds for each in found.guards if each.promised)

    def test_and_nothing_where_they_can_be_had(self, tier: tiers.Tier) -> None:
        guards.try_out(tier)
        assert zygote.why_alone(tier_module.find(tier)) is None


REFUSES_UNSHARE = """
import json, struct, sys, tempfile, time
from pathlib import Path
from grader.isolation import tiers, users, zygote
from grader.isolation.tier import find
from grader.sandbox.connection import RemoteModule
from grader.sandbox.process import Job
from grader.sandbox.process import LearnerProcess
from grader.worker import kernel

number = {"x86_64": 272, "aarch64": 97}[__import__("os").uname().machine]
rules = (0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)
kernel.filter_calls(b"".join(struct.pack("=HBBI", *rule) for rule in rules))
own = tiers.LocalWorkerFactory("bubblewrap", Path(tempfile.mkdtemp()))
found = []
for _ in range(2):
    process = LearnerProcess(Job("s.py", b"def right(x): return 2 * x", 20, 60, 400, own.hide), "bubblewrap", own)
    process.load()
    connection = process.open(time.monotonic() + 60)
    found.append([RemoteModule(connection, "s.py").right(21), process._started.zygote is None])
    process.kill()
print(json.dumps([found, zygote.why_alone(find("bubblewrap"))]))
"""


@pytest.mark.skipif(not users.can_change(), reason="bubblewrap itself needs unshare for an ordinary user")
def test_a_container_that_refuses_unshare() -> None:
    if reason := tiers.why_missing("bubblewrap"):
        pytest.skip(reason)
    done = subprocess.run([sys.executable, "-c", REFUSES_UNSHARE], capture_output=True, text=True, cwd=ROOT, check=True)
    assert json.loads(done.stdout) == [[[42, True]] * 2, "no fresh namespaces: Operation not permitted"]


def test_where_processes_have_no_descriptors_each_has_a_start_of_its_own(
    tier: tiers.Tier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[zygote.__name__], "is_possible", lambda: False)
    with submission(tiers.LocalWorkerFactory(tier, tmp_path)) as module:
        assert module.right(21) == 42 and module.worker.zygote is None


def test_one_whose_modules_were_removed_is_replaced(tmp_path: Path) -> None:
    """As a service does that clears the temporary folder of what is old."""
    own = tiers.LocalWorkerFactory("process", tmp_path, packages=("numpy",))
    try:
        first = own.start()
        found = first.zygote
        assert found is not None
        shutil.rmtree(found.place.bundle)
        first.kill()
        with submission(own) as module:
            assert module.worker.zygote is not found
    finally:
        own.close()

"""A learner's process that dies, hangs, floods or returns what cannot be used costs one test, and the next one runs."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from grader.errors import IsolationRefused
from grader.isolation import tiers
from grader.judging.assessment import _failed_worker
from grader.outcome import Status
from grader.protocol import codec
from grader.protocol.channel import Channel
from grader.remote.exceptions import Unusable, WorkerFailed
from grader.remote.process import LearnerProcess, LoadFailed
from grader.tests.conftest import Learner, Start
from grader.tests.support.places import ROOT
from grader.worker.kernel import SCOPING_ABI, landlock_abi

SOURCE = """
import gc
import os
import signal
import socket
import sys
import threading
import time
import numpy as np

loads = []
loads.append(1)


def fine(x):
    return x + 1


def count():
    loads.append(1)
    return len(loads)


def leave(code):
    os._exit(code)


def kill(number):
    os.kill(os.getpid(), number)


def crash():
    import ctypes
    ctypes.string_at(0)


def hang():
    while True:
        time.sleep(0.05)


def spin():
    while True:
        pass


def deaf():
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))
    hang()


def recurse(n=0):
    return recurse(n + 1)


def connection():
    return next(s for s in gc.get_objects() if isinstance(s, socket.socket) and s.fileno() >= 0)


def close():
    connection().close()
    for number in range(3, 20):
        try:
            os.close(number)
        except OSError:
            pass


def garbage(data):
    connection().sendall(data)
    hang()


def flood_socket():
    found = connection()
    found.settimeout(None)
    while True:
        found.sendall(b"AGW1" + b"x" * 65536)


def endless_answers():
    import struct
    found = connection()
    found.settimeout(None)
    while True:
        found.sendall(struct.pack("<4sIQ", b"AGW1", 1 << 22, 0) + bytes(1 << 22))


def flood_output():
    for _ in range(2000):
        print("x" * 10_000)
        os.write(1, b"y" * 10_000)
        sys.stderr.write("z" * 1000)
    return "done"


def deep():
    value = []
    for _ in range(50_000):
        value = [value]
    return value


def gigabytes(n):
    return np.ones(n * (1 << 27))


def many(n):
    return "x" * n


def write_file(megabytes):
    with open("big", "wb") as file:
        for _ in range(megabytes):
            file.write(bytes(1 << 20))


def open_files():
    return len([open(os.devnull) for _ in range(200)])


def fork_many():
    made = 0
    try:
        while made < 120:
            if os.fork() == 0:
                hang()
            made += 1
    except OSError:
        pass
    return made


def leave_a_child():
    process = os.fork()
    if process == 0:
        hang()
    return os.getpid(), process


def leave_a_daemon():
    if os.fork() == 0:
        os.setsid()
        hang()


def threads():
    for _ in range(4):
        threading.Thread(target=hang, daemon=False).start()
    return "started"


def at_exit():
    import atexit
    atexit.register(hang)


def kill_the_parent():
    os.kill(os.getppid(), signal.SIGKILL)
    os._exit(0)


def kill_everything():
    os.kill(-1, signal.SIGKILL)
    return "nothing else ran"


def stop_everything_that_is_left():
    for ignored in (True, False):
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if ignored:
                hang()
            os.kill(os.getpid(), signal.SIGSTOP)


def fork_for_ever():
    while True:
        try:
            if os.fork() == 0:
                os.setsid()
        except OSError:
            pass


def fill(files, bytes_each):
    for number in range(files):
        with open("f%d" % number, "wb") as file:
            file.write(bytes(bytes_each))
    time.sleep(1)
    return files


def fork_and_fill_memory(processes):
    for _ in range(processes):
        if os.fork() == 0:
            kept = np.ones(80 << 17)
            hang()
    time.sleep(15)


def meddle():
    sys.modules["numpy"] = None
    sys.modules["grader.protocol.codec"] = None
    del sys.modules["msgpack"]
    np.zeros = np.array = np.ndarray = None
    __builtins__["isinstance"] = None
"""

HANG_SECONDS = 0.7
PATIENCE = 20.0


@pytest.fixture(scope="module")
def learner(tier: tiers.Tier, start: Start) -> Learner:
    return start(SOURCE, tier, call_seconds=PATIENCE, memory_mb=256, cpu_seconds=20)


@pytest.fixture(autouse=True)
def _next_test_runs(request: pytest.FixtureRequest) -> Iterator[None]:
    """After each test here another one finds the module as it was."""
    yield
    if "learner" in request.fixturenames:
        process: Learner = request.getfixturevalue("learner")
        remote: Any = process.open()
        assert remote.fine(1) == 2 and remote.count() == 2
        process.done()


def failure(learner: Learner, call: Callable[[Any], object], seconds: float = PATIENCE) -> tuple[Status, str]:
    """Return the status and message of a test in which the worker fails, as a session puts them together."""
    remote = learner.open()
    learner.connection.call_seconds = seconds
    with pytest.raises(WorkerFailed) as caught:
        call(remote)
    with pytest.raises(WorkerFailed) as again:  # a test cannot swallow it and go on
        remote.fine(1)
    assert again.value is caught.value
    return _failed_worker(caught.value, learner.done())


class TestDeath:
    @pytest.mark.parametrize("code", [0, 3])
    def test_by_leaving(self, learner: Learner, code: int) -> None:
        said = f"the process that ran leave ended without an answer: it left with exit code {code}"
        assert failure(learner, lambda remote: remote.leave(code)) == ("crashed", said)

    @pytest.mark.parametrize(("number", "said"), [(11, "segmentation fault"), (6, "signal 6"), (15, "signal 15")])
    def test_by_a_signal(self, learner: Learner, number: int, said: str) -> None:
        status, message = failure(learner, lambda remote: remote.kill(number))
        assert status == "crashed" and said in message

    def test_by_killing_itself_says_nothing_that_is_not_known(self, learner: Learner) -> None:
        status, message = failure(learner, lambda remote: remote.kill(9))
        assert status == "crashed" and "ended without an answer" in message

    def test_by_a_bad_address(self, learner: Learner) -> None:
        status, message = failure(learner, lambda remote: remote.crash())
        assert status == "crashed" and "segmentation fault" in message

    def test_by_closing_the_connection(self, learner: Learner) -> None:
        status, _ = failure(learner, lambda remote: remote.close())
        assert status == "crashed"

    def test_of_the_process_that_the_tests_come_from(self, learner: Learner) -> None:
        if landlock_abi() >= SCOPING_ABI:
            remote: Any = learner.open()
            with pytest.raises(PermissionError):
                remote.kill_the_parent()
            return
        status, _ = failure(learner, lambda remote: remote.kill_the_parent())
        assert status in ("crashed", "timed_out")

    def test_of_all_that_it_may_kill(self, worker: Callable[..., Learner], tier: tiers.Tier) -> None:
        """Where nothing else holds it back, another user does: this is for root, or for Landlock."""
        if landlock_abi() < SCOPING_ABI and os.getuid() != 0:
            pytest.skip("would end all processes of this user")
        learner = worker(SOURCE)
        remote: Any = learner.open()
        assert remote.kill_everything() == "nothing else ran" and remote.fine(1) == 2
        learner.done()
        assert learner.open().fine(1) == 2


class TestHanging:
    @pytest.mark.parametrize("name", ["hang", "spin", "deaf"])
    def test_in_a_call(self, learner: Learner, name: str) -> None:
        started = time.monotonic()
        status, message = failure(learner, lambda remote: getattr(remote, name)(), HANG_SECONDS)
        assert (status, message) == ("timed_out", f"{name} did not return within {HANG_SECONDS} s")
        assert time.monotonic() - started < HANG_SECONDS + 2

    def test_a_stage_that_ends_sooner_ends_the_call(self, learner: Learner) -> None:
        remote: Any = learner.open(seconds=0.3)
        started = time.monotonic()
        with pytest.raises(WorkerFailed, match="the whole stage may take was used up while hang ran"):
            remote.hang()
        assert time.monotonic() - started < 1.2

    def test_at_import(self, worker: Callable[..., Learner], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("grader.remote.process.LOAD_SECONDS", 1.0)
        learner = worker("while True: pass", call_seconds=0.5, load=False)
        with pytest.raises(LoadFailed, match="did not finish loading: does it loop"):
            learner.process.load()

    def test_threads_that_never_end(self, learner: Learner) -> None:
        remote: Any = learner.open()
        assert remote.threads() == "started" and remote.fine(1) == 2
        remote.at_exit()
        started = time.monotonic()
        learner.done()
        assert time.monotonic() - started < 1


class TestFloods:
    def test_of_output(self, learner: Learner) -> None:
        remote: Any = learner.open()
        assert remote.flood_output() == "done"
        assert len(learner.connection.notes.printed) < 20_000

    @pytest.mark.parametrize("name", ["flood_socket", "endless_answers"])
    def test_of_the_socket(self, learner: Learner, name: str) -> None:
        status, message = failure(learner, lambda remote: getattr(remote, name)())
        assert status == "crashed" and "no proper answer" in message

    @pytest.mark.parametrize(
        "data",
        [
            b"hello, grader!!!",
            codec.HEADER.pack(codec.MAGIC, 2**32 - 1, 2**63),
            codec.HEADER.pack(codec.MAGIC, 1, 0) + b"\xc1",
        ],
    )
    def test_garbage(self, learner: Learner, data: bytes) -> None:
        status, message = failure(learner, lambda remote: remote.garbage(data))
        assert status == "crashed" and "no proper answer" in message


class TestLimits:
    @pytest.mark.parametrize("gigabytes", [1, 10])
    def test_memory(self, learner: Learner, gigabytes: int) -> None:
        remote: Any = learner.open()
        with pytest.raises(MemoryError):
            remote.gigabytes(gigabytes)
        assert remote.fine(1) == 2

    def test_a_text_past_what_is_carried(self, learner: Learner) -> None:
        remote: Any = learner.open()
        with pytest.raises(Unusable, match="MB outside of arrays"):
            remote.many(codec.MAX_BODY + 1)

    def test_nesting(self, learner: Learner) -> None:
        remote: Any = learner.open()
        with pytest.raises(Unusable, match="nested more than"):
            remote.deep()

    def test_recursion(self, learner: Learner) -> None:
        remote: Any = learner.open()
        with pytest.raises(RecursionError):
            remote.recurse()

    def test_the_size_of_a_file(self, learner: Learner) -> None:
        remote: Any = learner.open()
        try:
            with pytest.raises(OSError, match="File too large"):
                remote.write_file(20)
        except WorkerFailed as error:
            assert error.status == "crashed"
            assert learner.done() == ("over_limit", "it wrote a file of more than 16 MB")

    def test_the_number_of_open_files(self, learner: Learner) -> None:
        remote: Any = learner.open()
        with warnings.catch_warnings(action="ignore"), pytest.raises(OSError, match="Too many open files"):
            remote.open_files()

    def test_the_number_of_processes(self, learner: Learner, tier: tiers.Tier) -> None:
        remote: Any = learner.open()
        assert remote.fork_many() < 120

    def test_the_files_of_all_its_tests_together(self, worker: Callable[..., Learner]) -> None:
        learner = worker(SOURCE)
        status, message = failure(learner, lambda remote: remote.fill(3000, 1))
        assert status == "over_limit" and "more than 2000 files" in message
        remote: Any = learner.open()
        assert remote.fine(1) == 2

    def test_what_its_files_take_together(self, worker: Callable[..., Learner], tier: tiers.Tier) -> None:
        learner = worker(SOURCE)
        if tier == "bubblewrap":  # there the scratch folder is no larger
            remote: Any = learner.open()
            with pytest.raises(OSError, match="No space left"):
                remote.fill(10, 15 << 20)
            return
        status, message = failure(learner, lambda remote: remote.fill(10, 15 << 20))
        assert status == "over_limit" and "more than 64 MB" in message

    def test_the_memory_of_all_its_processes_together(self, worker: Callable[..., Learner]) -> None:
        learner = worker(SOURCE, memory_mb=100)
        status, message = failure(learner, lambda remote: remote.fork_and_fill_memory(8))
        assert status == "over_limit" and "took more memory" in message

    def test_processor_time(self, worker: Callable[..., Learner]) -> None:
        learner = worker(SOURCE, call_seconds=10, cpu_seconds=0)
        status, message = failure(learner, lambda remote: remote.spin())
        assert status == "timed_out" and "it used up its processor time" in message


class TestLoading:
    @pytest.mark.parametrize(
        ("source", "said", "line"),
        [
            ("x = 1\nraise ValueError('at the top')", "ValueError: at the top", 2),
            ("import pandas", "only NumPy and the standard library", 1),
            ("import grader.isolation.tiers", "No module named", 1),
            ("import sys\nsys.exit(3)", "SystemExit: 3", 2),
            ("def f(:\n", "SyntaxError", None),
            ("import os\nos._exit(0)", "the process ended while it loaded", None),
            ("import os, signal\nos.kill(os.getpid(), 11)", "the process ended while it loaded", None),
            ("import numpy as np\nx = np.ones(1 << 34)", "MemoryError", 2),
            ("x = 1\x00", "", None),
        ],
        ids=lambda value: repr(value)[:24],
    )
    def test_a_module_that_does_not_load_says_why(
        self, worker: Callable[..., Learner], source: str, said: str, line: int | None
    ) -> None:
        learner = worker(source, load=False)
        with pytest.raises(LoadFailed) as caught:
            learner.process.load()
        assert said in caught.value.problem.message and caught.value.problem.line == line
        assert "worker.py" not in caught.value.problem.message

    def test_what_it_prints_while_it_loads_is_kept(self, worker: Callable[..., Learner]) -> None:
        assert worker("print('loading', flush=True)").process.printed == "loading\n"

    def test_a_worker_that_answers_nonsense(self, worker: Callable[..., Learner]) -> None:
        forged = "import gc, socket\nnext(s for s in gc.get_objects() if isinstance(s, socket.socket)).sendall(%r)"
        for frame in (
            ["loaded", [["f", "evil", 1, []]], ["", []]],
            ["loaded", 3, 4],
            ["failed", 1, 2, 3],
            [],
            ["loaded", [], [b"x", []]],
        ):
            data = b"".join(bytes(part) for part in codec.Encoder().frame(frame, []))
            learner = worker(forged % data, load=False)
            with pytest.raises(LoadFailed, match="another form"):
                learner.process.load()


def alive(process: int) -> bool:
    """Say whether a process runs; one that has ended and waits to be collected does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def below(process: int) -> set[int]:
    """Return the processes that stem from one, as far as their parents still run."""
    found = {process}
    while True:
        parents = {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
        more = {child for child, parent in parents.items() if parent in found} - found
        if not more:
            return found
        found |= more


def of_the_worker(learner: Learner) -> list[str]:
    """Return the commands that still run in a worker's scratch folder, or with its kit."""
    name = Path(learner.process._started.folder.name).name
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if name in (text := path.read_text()):
                found.append(text)
    return found


def gone(processes: set[int], seconds: float = 3) -> bool:
    end = time.monotonic() + seconds
    while any(map(alive, processes)) and time.monotonic() < end:
        time.sleep(0.02)
    return not any(map(alive, processes))


needs_proc = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are counted in /proc")


@needs_proc
class TestNothingIsLeft:
    def test_after_a_test(self, learner: Learner) -> None:
        remote: Any = learner.open()
        root = learner.process._started.process.pid
        remote.fine(1)
        before = below(root)
        remote.leave_a_child()
        left = below(root) - before
        assert left
        learner.done()
        assert gone(left)

    def test_after_the_run(self, worker: Callable[..., Learner]) -> None:
        learner = worker(SOURCE)
        remote: Any = learner.open()
        remote.leave_a_child()
        remote.threads()
        running = below(learner.process._started.process.pid)
        scratch = Path(learner.process._started.folder.name)
        assert len(running) >= 3 and scratch.exists()
        learner.process.kill()
        assert gone(running) and not scratch.exists()

    def test_of_a_daemon(self, worker: Callable[..., Learner], tier: tiers.Tier) -> None:
        learner = worker(SOURCE)
        remote: Any = learner.open()
        remote.leave_a_daemon()
        running = below(learner.process._started.process.pid)
        learner.done()
        learner.process.kill()
        assert gone(running)

    def test_of_what_stopped_itself_or_is_deaf(self, worker: Callable[..., Learner]) -> None:
        learner = worker(SOURCE)
        remote: Any = learner.open()
        remote.stop_everything_that_is_left()
        running = below(learner.process._started.process.pid)
        assert len(running) >= 6  # guardian, worker, two tests, and the two
        learner.process.kill()
        assert gone(running)

    def test_of_a_bomb(self, worker: Callable[..., Learner], tier: tiers.Tier) -> None:
        learner = worker(SOURCE, call_seconds=HANG_SECONDS)
        failure(learner, lambda remote: remote.fork_for_ever(), HANG_SECONDS)
        root = learner.process._started.process.pid
        learner.process.kill()
        assert not below(root) - {root} and not of_the_worker(learner)

    def test_when_the_grader_is_killed(self, tier: tiers.Tier, tmp_path: Path) -> None:
        code = textwrap.dedent(f"""
            import time
            from pathlib import Path
            from grader.isolation import tiers
            from grader.remote.process import Job, LearnerProcess
            process = LearnerProcess(
                Job("x.py", b"import time\\ndef f():\\n    while True: pass", 60, 60, 512, Path({str(tmp_path)!r})),
                {tier!r}, tiers.start({tier!r}, Path({str(tmp_path)!r})),
            )
            process.load()
            from grader.remote.module import RemoteModule
            connection = process.open("a", time.monotonic() + 60)
            print(process._started.process.pid, flush=True)
            RemoteModule(connection, "x.py").f()
        """)
        grader = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert grader.stdout is not None
        running = below(int(grader.stdout.readline()))
        time.sleep(0.2)
        running |= {other for each in running for other in below(each)}
        grader.kill()
        grader.wait()
        grader.stdout.close()
        assert len(running) >= 3 and gone(running)

    def test_many_tests_in_one_run(self, worker: Callable[..., Learner]) -> None:
        """The end of each test is told by the worker, and nobody has to read it for the next to begin."""
        learner = worker(SOURCE)
        for _ in range(300):
            learner.open()
        remote: Any = learner.open()
        assert remote.fine(1) == 2
        assert len(below(learner.process._started.process.pid)) <= 7


class TestWithoutFork:
    """Where the system cannot fork: one process for the tests of a row."""

    @pytest.fixture
    def learner(self, start: Start) -> Iterator[Learner]:
        learner = start(SOURCE, "process", fork=False, call_seconds=3)
        yield learner
        learner.process.kill()

    @pytest.fixture(autouse=True)
    def _next_test_runs(self) -> None:
        """Each test here says itself what the next one finds."""

    @staticmethod
    def run(learner: Learner, key: str, call: Callable[[Any], Any]) -> Any:
        connection = learner.process.open(key, time.monotonic() + 30)
        from grader.remote.module import RemoteModule

        try:
            return call(RemoteModule(connection, "small.py"))
        except WorkerFailed as error:
            return error.status
        finally:
            learner.process.done(connection)

    def test_calls_work(self, learner: Learner) -> None:
        assert self.run(learner, "a", lambda remote: remote.fine(1)) == 2

    def test_each_row_gets_a_fresh_process(self, learner: Learner) -> None:
        counts = [self.run(learner, key, lambda remote: remote.count()) for key in ("a", "a", "b", "a")]
        assert counts == [2, 3, 2, 2]

    def test_the_next_test_runs_after_a_crash_or_a_hang(self, learner: Learner) -> None:
        assert self.run(learner, "a", lambda remote: remote.leave(1)) == "crashed"
        assert self.run(learner, "a", lambda remote: remote.count()) == 2
        assert self.run(learner, "a", lambda remote: remote.hang()) == "timed_out"
        assert self.run(learner, "a", lambda remote: remote.count()) == 2

    def test_handles_do_not_pass_from_test_to_test(self, learner: Learner) -> None:
        kept: list[Any] = []
        self.run(learner, "a", lambda remote: kept.append(remote.fine))
        with pytest.raises((WorkerFailed, codec.WireError)):
            self.run(learner, "a", lambda remote: remote.fine(kept[0]))
        with pytest.raises((WorkerFailed, codec.WireError)):
            kept[0](1)

    def test_bubblewrap_is_refused(self, start: Start) -> None:
        with pytest.raises(IsolationRefused, match="can fork"):
            start(SOURCE, "bubblewrap", fork=False)


def test_a_channel_is_all_that_the_two_ends_share(learner: Learner) -> None:
    learner.open()
    assert isinstance(learner.connection.channel, Channel)
    assert isinstance(learner.process, LearnerProcess)

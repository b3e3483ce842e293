"""The processes that stem from one: found and ended, however they try to get away."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.tests.support.alone import alone
from grader.worker import process_tree

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="children are adopted on Linux only")
START = """
import os, signal, sys, time
from grader.worker import kernel
from grader.worker.process_tree import Children, below
kernel.adopt_orphans()
children = Children()
def leave(*steps):
    "Start a process that does something, and then nothing; return its number, and that of a child of its own."
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        inner = os.fork()
        for step in steps:
            step()
        if inner:
            os.write(write, b"%d" % inner)
        while True:
            time.sleep(60)
    return process, int(os.read(read, 20))
def there(process):
    return os.path.exists("/proc/%d" % process)
"""


@pytest.mark.parametrize("listed", [True, False], ids=["with the kernel's list", "without"])
@pytest.mark.parametrize(
    "step",
    [
        "os.setsid",
        "lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN)",
        "lambda: signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))",
    ],
)
def test_all_are_ended(step: str, listed: bool) -> None:
    forget = "" if listed else "children.close(); children._file = None"
    found = alone(f"{START}\n{forget}\nleft = leave({step})\nprint([children.end(), [there(each) for each in left]])")
    assert found == [True, [False, False]]


def test_what_has_stopped_itself_is_ended() -> None:
    code = f"""{START}
process = os.fork()
if process == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
os.waitpid(process, os.WUNTRACED)
print([children.end(), there(process)])
"""
    assert alone(code) == [True, False]


def test_a_bomb_is_ended() -> None:
    """Each process forks as fast as it can, until the limit, and again whenever another one ends."""
    code = f"""{START}
import resource
process = os.fork()
if process == 0:
    if os.getuid() == 0:
        os.setgid(54321)
        os.setuid(54321)
    resource.setrlimit(resource.RLIMIT_NPROC, (30, 30) if os.getuid() == 54321 else resource.getrlimit(7))
    until = time.monotonic() + 50
    while time.monotonic() < until:
        try:
            if os.fork() == 0:
                os.setsid()
        except OSError:
            pass
    os._exit(0)
many, until = 0, time.monotonic() + 30
while many <= 5 and time.monotonic() < until:
    time.sleep(0.1)
    many = len(below(os.getpid()))
print([many > 5, children.end(seconds=15), list(below(os.getpid()))])
"""
    if os.getuid() != 0:
        pytest.skip("needs a user of its own to bound the bomb")
    assert alone(code, seconds=120) == [True, True, []]


def test_some_can_be_spared() -> None:
    code = f"{START}\na, b = leave(), leave()\nprint([children.end({{a[0]}}), [there(n) for n in (*a, *b)]])"
    found = alone(code + "\nchildren.end()")
    assert found == [True, [True, True, False, False]]


def test_no_children_are_ended_at_once() -> None:
    assert alone(f"{START}\nprint([children.numbers() == set(), children.end(seconds=0)])") == [True, True]


def test_it_says_when_it_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        children = process_tree.Children()
        assert child.pid in children.numbers()

        def refuse(*_: int) -> None:
            raise PermissionError

        with monkeypatch.context() as patch:
            patch.setattr(os, "kill", refuse)
            others = children.numbers() - {child.pid}
            assert not children.end(others)
        children.close()
        child.kill()


def test_it_says_when_time_is_up() -> None:
    assert alone(f"{START}\nleave()\nprint([children.end(seconds=-1)])\nchildren.end()") == [False]


def test_what_a_process_takes() -> None:
    own = os.getpid()
    assert 1 << 20 < process_tree.memory_of(own) < 1 << 36
    assert process_tree.parent_of(own) == os.getppid()
    code = "import resource, sys; resource.setrlimit(9, (1 << 33, 1 << 33)); print(1, flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert process_tree.address_space_of(child.pid) == 1 << 33
        assert child.pid in process_tree.below(own) and child.pid in process_tree.children_of(own)
        child.communicate("")


def test_an_unbounded_address_space() -> None:
    lines = Path("/proc/self/limits").read_text().splitlines()
    limit = next(line for line in lines if "Max address space" in line)
    assert "unlimited" not in limit or process_tree.address_space_of(os.getpid()) is None


def test_a_process_that_has_ended_takes_nothing() -> None:
    with subprocess.Popen(["true"]) as child:
        child.wait()
    number = child.pid
    assert (process_tree.memory_of(number), process_tree.parent_of(number), process_tree.children_of(number)) == (
        0,
        0,
        set(),
    )
    assert process_tree.address_space_of(number) is None and process_tree.below(number) == set()


def test_without_proc_nobody_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(os, "listdir", fails)
    assert process_tree.everyone() == set()

"""What a process asks of the kernel beside Landlock: no new privileges, its orphans, and an end with its parent."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader.worker import kernel
from tests.support.alone import alone
from tests.support.patience import SLACK
from tests.support.places import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what the kernel of Linux has")


class TestFailures:
    def test_another_system(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "platform", "darwin")
        assert kernel.landlock_abi() == 0
        kernel.set_no_new_privileges()  # which is nothing there

    def test_a_filter_that_is_none(self) -> None:
        with pytest.raises(kernel.Unconfined, match="the filter of system calls cannot be set"):
            kernel.filter_calls(b"\xff" * 16)


def test_a_process_can_close_itself_and_open_again() -> None:
    found = alone("""
        from grader.worker import kernel
        seen = [is_open()]
        for whether in (False, True):
            kernel.set_open(whether)
            seen.append(is_open())
        print(seen)
    """)
    assert found == [True, False, True]


def test_a_process_can_end_with_its_parent() -> None:
    child = "import time; from grader.worker.kernel import end_with_parent; end_with_parent(); print('up', flush=True)"
    child += "; time.sleep(60)"
    code = f"""
        import os, subprocess, sys
        child = subprocess.Popen([sys.executable, "-c", {child!r}], stdout=subprocess.PIPE)
        child.stdout.readline()
        print(child.pid, flush=True)
        os._exit(0)
    """
    number = alone(code)
    until = time.monotonic() + SLACK
    while Path(f"/proc/{number}").exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert not Path(f"/proc/{number}").exists()


def test_no_new_privileges() -> None:
    code = "from grader.worker import kernel; kernel.set_no_new_privileges(); print(open('/proc/self/status').read())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "NoNewPrivs:\t1" in done.stdout


def test_orphans_are_adopted() -> None:
    found = alone("""
        import os, time
        from grader.worker import kernel
        kernel.adopt_orphans()
        read, write = os.pipe()
        if os.fork() == 0:
            if os.fork() == 0:
                time.sleep(0.2)
                os.write(write, str(os.getppid()).encode())
            os._exit(0)
        os.wait()
        print(int(os.read(read, 20)) == os.getpid())
    """)
    assert found is True

"""The bounds that a judge sets itself end it, and its end says which one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from grader.judging import bounds
from tests.support.alone import alone
from tests.support.places import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux has them")


def test_memory_beyond_the_bound_is_refused() -> None:
    found = alone("""
        import numpy as np
        from grader.judging import bounds
        bounds.os.environ["OPENBLAS_NUM_THREADS"] = "1"
        bounds.bound_memory(64)
        print([tried(lambda: len(np.ones(1 << 20))), tried(lambda: len(np.ones(1 << 25)))])
    """)
    assert found[0] == 1 << 20 and "MemoryError" in found[1]


def test_processor_time_beyond_the_bound_ends_the_process() -> None:
    code = "from grader.judging import bounds\nbounds.die_of_it()\nbounds.bound_time(0.2)\nwhile True: pass"
    done = subprocess.run([sys.executable, "-c", code], timeout=60, check=False)
    assert done.returncode == -signal.SIGPROF
    assert bounds.why_ended(signal.SIGPROF) == f"more than {bounds.TEST_SECONDS:g} s of processor time"


def test_time_spent_waiting_counts_for_nothing_and_a_lifted_bound_is_none() -> None:
    found = alone(
        """
        import time
        from grader.judging import bounds
        bounds.die_of_it()
        bounds.bound_time(0.2)
        time.sleep(0.5)
        bounds.bound_time(0)
        until = time.process_time() + 0.4
        while time.process_time() < until: pass
        print("alive")
    """.replace('print("alive")', "print(repr('alive'))")
    )
    assert found == "alive"


@pytest.mark.parametrize("status", [0, signal.SIGKILL, signal.SIGSEGV, 256])
def test_other_ends_say_nothing_of_a_bound(status: int) -> None:
    assert bounds.why_ended(status) is None


def test_libraries_are_asked_for_one_thread_before_numpy_is_loaded() -> None:
    found = alone("""
        import os
        from grader.judging import bounds
        os.environ.pop("OPENBLAS_NUM_THREADS", None)
        bounds.one_thread()
        first = os.environ.pop("OPENBLAS_NUM_THREADS")
        import numpy
        bounds.one_thread()
        print([first, os.environ.get("OPENBLAS_NUM_THREADS")])
    """)
    assert found == ["1", None]


def test_a_grader_asks_for_that_before_it_imports_numpy() -> None:
    found = alone(f"""
        import os, sys
        from pathlib import Path
        from grader.course.manifest import load_course
        from grader.judging.grading import Grader
        os.environ.pop("OPENBLAS_NUM_THREADS", None)
        course = load_course(Path({str(ROOT)!r}))
        was_loaded = "numpy" in sys.modules
        Grader(course, course.stages[0])
        print([was_loaded, os.environ.get("OPENBLAS_NUM_THREADS")])
    """)
    assert found == [False, "1"]


def test_a_choice_of_the_users_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in bounds.THREADS:
        monkeypatch.setenv(name, "3")
    monkeypatch.delitem(sys.modules, "numpy")
    bounds.one_thread()
    assert [os.environ[name] for name in bounds.THREADS] == ["3", "3", "3"]

"""A course whose tests can end the judge that runs them: by memory, by processor time, by a signal or by waiting."""

from __future__ import annotations

from collections.abc import Callable

from tests.conftest import Graded

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Small things"
    module = "small.py"
    requires = []

    [limits]
    stage_seconds = {seconds}
    call_seconds = {calls}
    memory_mb = 256
    judge_mb = 100

    [[criteria]]
    id = "size"
    text = "size is small"
    functions = ["size"]
    needs = []
    hints = ["a", "b", "c"]

    [[criteria]]
    id = "double"
    text = "double doubles"
    functions = ["double"]
    needs = []
    hints = ["a", "b", "c"]
"""
SOLUTION = """
    def size():
        return 1


    def double(x):
        return 2 * x
"""
HIDDEN = """
    import ctypes
    import time

    KEPT = []


    @pytest.mark.criterion("size")
    def test_before(learner):
        assert learner.size() > 0


    @pytest.mark.criterion("size")
    def test_size(learner):
        size = learner.size()
        {use}
        assert size == 1


    @pytest.mark.criterion("size")
    def test_after(learner):
        assert learner.size() > 0


    @pytest.mark.criterion("double")
    def test_double(learner):
        assert learner.double(2) == 4
"""
MISTAKES = """
    @mistake(criterion="size", replaces="size", text="It is large.", fix="Return 1.")
    def large():
        return 7
"""
LARGE = SOLUTION.replace("return 1", "return 7")
SWELLS = "held = [np.ones(1 << 22) for _ in range(size if size == 1 else 100)]"
SPINS = "all(True for _ in range(1 if size == 1 else 1 << 40))"
FALLS = "size == 1 or ctypes.string_at(1)"
STALLS = "time.sleep(0 if size == 1 else 60)"
HOLDS = """
        try:
            while size != 1:
                KEPT.append(np.ones(1 << 20))
        except MemoryError:
            del KEPT[-1:]
        size == 1 and np.ones(1 << 22)
"""
BUSY = """
        end = time.process_time() + 0.7
        while time.process_time() < end:
            pass
"""
ALWAYS = "held = [np.ones(1 << 22) for _ in range(100)]"
Use = Callable[..., Graded]

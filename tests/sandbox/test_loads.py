"""A module that does not load says why; what it may import is what the course names."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grader.protocol import codec
from grader.sandbox.process import LoadFailed
from tests.conftest import Learner


class TestLoading:
    @pytest.mark.parametrize(
        ("source", "said", "line"),
        [
            ("x = 1\nraise ValueError('at the top')", "ValueError: at the top", 2),
            ("import importlib\nimportlib.import_module('pandas')", "No module named 'pandas'", 2),
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

    def test_a_package_of_the_course_can_be_imported(self, worker: Callable[..., Learner]) -> None:
        learner = worker("import iniconfig\n\n\ndef name():\n    return iniconfig.__name__\n", packages=("iniconfig",))
        assert learner.open().name() == "iniconfig"

    def test_a_course_without_packages_says_so(self, worker: Callable[..., Learner]) -> None:
        learner = worker("import importlib\nimportlib.import_module('iniconfig')\n", packages=(), load=False)
        with pytest.raises(LoadFailed, match="only the standard library can be imported"):
            learner.process.load()

    def test_a_module_that_reads_its_arguments_finds_none(self, worker: Callable[..., Learner]) -> None:
        source = (
            "import argparse, sys\nargparse.ArgumentParser().parse_args()\ndef found():\n    return len(sys.argv)\n"
        )
        assert worker(source).open().found() == 1

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

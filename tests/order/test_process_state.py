"""A test that leaves changed what all tests share fails by itself, whichever test would have suffered."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from tests.support.places import ROOT

LEAKS = {
    "os.getcwd()": "os.chdir(os.sep)",
    "the umask": "os.umask(0o27 if os.name == 'posix' else 0o200)",
    "tempfile.tempdir": "tempfile.tempdir = os.sep",
    "sys.path": "sys.path.append('elsewhere')",
    "sys.meta_path": "sys.meta_path.append(sys.meta_path[-1])",
    "sys.path_hooks": "sys.path_hooks.append(sys.path_hooks[-1])",
    "sys.argv": "sys.argv.append('more')",
    "sys.getrecursionlimit()": "sys.setrecursionlimit(999)",
    "sys.modules['wave']": "del sys.modules['wave']",
    "os.environ['LEFT']": "os.environ['LEFT'] = 'here'",
    "os.environ['KNOWN']": "del os.environ['KNOWN']",
    "the handler of SIGTERM": "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
    "ITIMER_VIRTUAL, running": "signal.setitimer(signal.ITIMER_VIRTUAL, 1000)",
    "numpy.geterr()": "np.seterr(divide='raise')",
    "numpy.get_printoptions()": "np.set_printoptions(precision=3)",
    "numpy.random's state": "np.random.seed(1)",
}
if not hasattr(signal, "setitimer"):  # as on Windows
    del LEAKS["ITIMER_VIRTUAL, running"]
HEAD = "import os, signal, sys, tempfile, wave\nimport numpy as np, pytest\n"
CLEAN = """
def test_clean(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEFT", "here")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    import this
"""
LONG = """
@pytest.fixture(scope="module")
def long():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", os.curdir)
        yield

def test_first(long): pass
def test_between(): pass
def test_last(long): pass
"""


def test_each_change_is_named_at_the_test_that_leaves_it(tmp_path: Path) -> None:
    leaks = {f"test_{number}": name for number, name in enumerate(LEAKS)}
    source = "".join([HEAD, *(f"def {test}(): {LEAKS[name]}\n" for test, name in leaks.items()), CLEAN, LONG])
    (tmp_path / "test_leaks.py").write_text(source, encoding="utf-8")
    options = [
        "-p",
        "tests.order.process_state",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--rootdir=.",
        "-rN",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "test_leaks.py", *options],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT), "KNOWN": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    found: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        if named := re.fullmatch(r"_+ ERROR at teardown of (\w+) _+", line):
            found[named[1]] = []
        elif told := re.match(r"  (.+) was .+ and is .+", line):
            found[[*found][-1]].append(told[1])
    long = {"test_first": ["tempfile.tempdir"], "test_last": ["tempfile.tempdir"]}  # once it is made, once it ends
    assert found == {test: [name] for test, name in leaks.items()} | long, done.stdout[-3000:] + done.stderr
    assert f"{len(re.findall('def test_', source))} passed" in done.stdout

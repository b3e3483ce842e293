"""The shapes in which modules are handed in, each with the mark that it gets and why; `test_shapes.py` grades them.

Most are right modules in an unusual file or with a habit that costs nothing. A shape is a line or two: the entries of
the folder that it is made of, what it is worth of the two criteria of `tests.support.command.NUMBERS`, and words of
what the report says of it. Nothing else may be said of one without words.
"""

from __future__ import annotations

import io
import json
import os
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.course.stub import stub_of
from tests.support.command import NUMBERS, WRONG

MODULE = "numbers_.py"
STUB = stub_of(NUMBERS)
HALF = NUMBERS.replace("double(double(x))", "x")
Link = Path  # an entry that is a link, and where to


@dataclass(frozen=True)
class Shape:
    """What one student hands in: entries of the folder by their paths, with the points and the words that it earns."""

    student: str
    entries: Mapping[str, bytes | Link | None]  # a folder without anything in it where there are no bytes
    points: float = 2.0
    words: tuple[str, ...] = field(default=())
    outcome: str = "graded"

    def write(self, folder: Path) -> None:
        """Put it into a folder."""
        for name, data in self.entries.items():
            place = folder / name
            (place if data is None else place.parent).mkdir(parents=True, exist_ok=True)
            if isinstance(data, Link):
                place.symlink_to(data)
            elif data is not None:
                place.write_bytes(data)


def text(student: str, source: str, points: float = 2.0, *words: str, code: str = "utf-8") -> Shape:
    """Return a module `student.py`."""
    return Shape(student, {f"{student}.py": source.encode(code)}, points, words)


def habit(student: str, first: str, points: float = 2.0, *words: str) -> Shape:
    """Return a right module that begins with a line of somebody's own."""
    return text(student, f"{first}\n{NUMBERS}", points, *words)


def inside(student: str, name: str, *words: str, data: bytes = NUMBERS.encode()) -> Shape:
    """Return a folder with one file, of any path."""
    return Shape(student, {f"{student}/{name}": data}, 2.0, words)


def file(student: str, ending: str, data: bytes, points: float = 2.0, *words: str, outcome: str = "graded") -> Shape:
    return Shape(student, {f"{student}{ending}": data}, points, words, outcome)


def refused(student: str, ending: str, data: bytes, *words: str) -> Shape:
    return file(student, ending, data, 0.0, "cannot be accepted", *words, outcome="rejected")


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


def tarred(compression: str = "gz") -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=f"w:{compression}") as archive:  # type: ignore[call-overload]
        info = tarfile.TarInfo(MODULE)
        info.size = len(NUMBERS)
        archive.addfile(info, io.BytesIO(NUMBERS.encode()))
    return made.getvalue()


def notebook(*cells: str) -> bytes:
    more: dict[str, object] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    made = [{**more, "id": str(at), "source": cell} for at, cell in enumerate(cells)]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}).encode()


def absent(package: str) -> str:
    return f"{package} is not available when a stage is checked: the import does nothing, and what uses it fails"


SAMPLE = {
    "plain", "half", "square", "utf16", "notebook-in-zip", "macos", "another-name", "matplotlib", "magic",
    "link", "empty-folder", "exits", "reads-a-file",
}  # fmt: skip
RAISES = "cannot be loaded: the module fails while it is loaded: "
ENDLESS = "cannot be loaded: the module did not finish loading"
UNREADABLE = "Python cannot read it: "
NOTHING = "nothing handed in: the module defines none of this stage's functions"
NEW = sys.version_info >= (3, 12)
RIGHT = NUMBERS.encode()

TEXTS = (
    text("plain", NUMBERS),
    text("another-style", NUMBERS.replace("2 * x", "np.add(x, x)")),
    text("one-line", "double = lambda x: 2 * x\nquadruple = lambda x: 4 * x\n"),
    text("stub", STUB, 0.0, "not started"),
    text("half", HALF, 1.0, "quadruple"),
    text("square", WRONG, 0.0, "double", "This is the square."),
    text("crlf", NUMBERS.replace("\n", "\r\n")),
    text("old-mac", NUMBERS.replace("\n", "\r")),
    text("bom", NUMBERS, code="utf-8-sig"),
    text("utf16", NUMBERS, 0.0, UNREADABLE, "saved as UTF-16", code="utf-16"),
    text("utf16-without-mark", NUMBERS, 0.0, UNREADABLE, "null byte", code="utf-16-le"),
    text("latin1", f"# résumé\n{NUMBERS}", 0.0, UNREADABLE, "0xe9", code="latin-1"),
    text("latin1-declared", f"# -*- coding: latin-1 -*-\n# résumé\n{NUMBERS}", code="latin-1"),
    text("null", f"{NUMBERS}\0", 0.0, UNREADABLE, "null byte"),
    text("empty", "", 0.0, NOTHING),
    text("spaces", "\n\n  \n", 0.0, NOTHING),
    text("other-functions", "def triple(x):\n    return 3 * x\n", 0.0, NOTHING),
    text("tabs", NUMBERS.replace("    ", "\t")),
    text("mixed-tabs", NUMBERS.replace('    """Return twice', '\t"""Return twice'), 0.0, UNREADABLE),
    text("two-defs", NUMBERS.replace("def ", "def def ", 1), 0.0, UNREADABLE, "def def"),
    text("smart-quotes", NUMBERS.replace('"', "\u201d", 1), 0.0, UNREADABLE, "U+201D"),
    habit("python-2", "print 'hello'", 0.0, UNREADABLE, "parentheses"),
    habit("python-3.12", "type Vector = list[float]", *(() if NEW else (0.0, UNREADABLE, "3.12 or newer"))),
    text("late-future", f"x = 1\nfrom __future__ import annotations\n{NUMBERS}", 0.0, UNREADABLE, "__future__"),
    text(
        "guarded-main", f"{NUMBERS}\nif __name__ == '__main__':\n    import matplotlib.pyplot as plt\n    plt.show()\n"
    ),
    text("only-in-main", f"if __name__ == '__main__':\n    {NUMBERS.replace(chr(10), chr(10) + '    ')}", 0.0, NOTHING),
    text("own-check", f"{NUMBERS}\nassert double(2) == 4\nprint('ok')\n"),
    text("false-check", f"{NUMBERS}\nassert False, 'my own check'\n"),
    text("prints-inside", NUMBERS.replace("    return 2", "    print('debug', x)\n    return 2")),
    text("lists", NUMBERS.replace("2 * x", "(2 * np.asarray(x)).tolist()")),
)
HABITS = (
    habit("matplotlib", "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()", 2.0, absent("matplotlib")),
    habit(
        "guarded-matplotlib",
        "try:\n    import matplotlib.pyplot as plt\nexcept ImportError:\n    plt = None",
        2.0,
        absent("matplotlib"),
    ),
    habit("pandas", "import pandas as pd", 2.0, absent("pandas")),
    habit("scipy", "from scipy.special import softmax", 2.0, absent("scipy")),
    habit(
        "guarded-scipy",
        "try:\n    from scipy import linalg\nexcept Exception:\n    linalg = None",
        2.0,
        absent("scipy"),
    ),
    habit("torch", "import torch", 2.0, absent("torch")),
    habit("uses-torch", "import torch\nzero = torch.zeros(2)", 2.0, absent("torch")),
    text("returns-torch", "import torch\n" + NUMBERS.replace("2 * x", "torch.tensor(2 * x)"), 0.0, "torch"),
    habit("pytest-there", "import pytest", 2.0, absent("pytest")),
    habit("colab", "from google.colab import drive\ndrive.mount('/content')", 2.0, absent("google")),
    habit("magic", "%matplotlib inline", 2.0, "%matplotlib inline is left out: only IPython understands it"),
    habit("pip", "!pip install numpy", 2.0, "!pip install numpy is left out"),
    habit("imports-itself", "import numbers_", 2.0, absent("numbers_")),
    habit("reconfigure", "import sys\nsys.stdout.reconfigure(encoding='utf-8')"),
    habit("buffer", "import sys\nsys.stdout.buffer.write(b'\\xff\\xfe')"),
    habit("fileno", "import sys\nsys.stdout.fileno()"),
    habit("isatty", "import sys\ncolour = sys.stdout.isatty()"),
    habit("faulthandler", "import faulthandler\nfaulthandler.enable()"),
    habit("chdir", "import os\nos.chdir(os.path.dirname(os.path.abspath(__file__)))"),
    habit("clear", "import os\nos.system('clear')"),
    habit("seterr", "import numpy as np\nnp.seterr(all='raise')"),
    habit("seed", "import numpy as np\nnp.random.seed(0)"),
    habit("seed-without-import", "np.random.seed(0)", 0.0, RAISES + "NameError"),
    habit("logging", "import logging, warnings\nlogging.basicConfig(level=10)\nwarnings.simplefilter('error')"),
    habit("argparse", "import argparse\narguments = argparse.ArgumentParser().parse_args()"),
    habit("stdin", "import sys\nlines = sys.stdin.read()"),
    habit("asks", "n = input('how many? ')", 0.0, RAISES + "EOFError"),
    habit("threads", "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(2)"),
    habit("atexit", "import atexit\natexit.register(print, 'bye')"),
    habit("typing", "from __future__ import annotations\nfrom typing import *\nfrom dataclasses import dataclass"),
    habit("load-in-try", "import numpy as np\ntry:\n    W = np.load('w.npy')\nexcept FileNotFoundError:\n    W = None"),
    habit("reads-a-file", "data = open('data.txt').read()"),
    habit("reads-a-drive", "data = open('C:\\\\Users\\\\me\\\\data.csv').read()"),
    habit("exits", "import sys; sys.exit(0)", 0.0, RAISES + "SystemExit"),
    habit("raises", "raise RuntimeError('kernel died')", 0.0, RAISES + "RuntimeError: kernel died"),
    habit("divides", "x = 1 / 0", 0.0, RAISES + "ZeroDivisionError"),
    habit("swells", "x = bytearray(8 << 30)", 0.0, RAISES + "MemoryError"),
    habit("endless", "while True: pass", 0.0, ENDLESS),
    habit("trains", "import time\nt = time.time()\nwhile time.time() - t < 45: pass", 0.0, ENDLESS),
    habit("sleeps", "import time; time.sleep(3600)", 0.0, ENDLESS),
    habit("forks", "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", 0.0, ENDLESS),
    habit("prints-much", "import sys\nfor _ in range(256): sys.stdout.write('x' * (1 << 20))"),
    text("endless-function", NUMBERS.replace("    return 2", "    while True: pass\n    return 2"), 0.0, "double"),
)
NAMES = (
    Shape("Zoë O'Hara", {"Zoë O'Hara.py": RIGHT}),
    Shape("李明", {"李明.py": RIGHT}),
    Shape("عمر", {"عمر.zip": zipped({MODULE: RIGHT})}),
    Shape("name with  spaces", {"name with  spaces.py": RIGHT}),
    Shape("x@uni.edu", {"x@uni.edu.py": RIGHT}),
    Shape("=cmd|' !A0", {"=cmd|' !A0.py": RIGHT}),
    Shape("upper-case", {"upper-case.PY": RIGHT}, 2.0, (f"upper-case.PY is taken for {MODULE}",)),
    inside("a-folder", MODULE),
    inside("deep", f"a/b/c/{MODULE}"),
    inside("another-name", "hw3.py", f"hw3.py is taken for {MODULE}"),
    inside("capital", "Numbers_.py", f"Numbers_.py is taken for {MODULE}"),
    inside("copy", "numbers_ (1).py"),
    inside("final", "numbers__final_FINAL.py", f"numbers__final_FINAL.py is taken for {MODULE}"),
    inside("as-text", "numbers_.py.txt", f"numbers_.py.txt is taken for {MODULE}"),
    Shape("two-files", {f"two-files/{MODULE}": RIGHT, "two-files/numbers_ (1).py": STUB.encode()}),
    Shape("two-versions", {f"two-versions/v{each}/{MODULE}": RIGHT + f"# {each}\n".encode() for each in "12"}, 0.0,
          ("2 files that could be the module",), "rejected"),
    Shape("one-version-twice", {f"one-version-twice/v{each}/{MODULE}": RIGHT for each in "12"}, 2.0,
          (f"v1/{MODULE} is taken for {MODULE}",)),
    Shape("helper", {"helper/helpers.py": b"a = 1\n", f"helper/{MODULE}": f"import helpers\n{NUMBERS}".encode()}, 2.0,
          (absent("helpers"),)),
    Shape("git", {"git/.git/HEAD": b"ref: refs/heads/main", f"git/{MODULE}": RIGHT}),
    Shape("rubbish", {"rubbish.py": RIGHT, "._rubbish.py": b"\0\5\x16\7", ".DS_Store": b"\0", "__MACOSX/x": b"\0"}),
    Shape("empty-folder", {"empty-folder": None}, 0.0, ("nothing handed in",), "missing"),
    Shape("only-words", {"only-words/readme.md": b"see my laptop"}, 0.0, ("nothing handed in",), "missing"),
    Shape("link", {"link.py": Link("plain.py")}, 0.0, ("is a link",), "rejected"),
    Shape("link-inside", {f"link-inside/{MODULE}": Link("/etc/passwd")}, 0.0, ("is a link",), "rejected"),
    Shape("folder-of-its-name", {f"folder-of-its-name/{MODULE}/{MODULE}": RIGHT}, 2.0,
          (f"{MODULE}/{MODULE} is taken for {MODULE}",)),
)  # fmt: skip
FILES = (
    file("notebook", ".ipynb", notebook(NUMBERS), 2.0, "the code cells of notebook.ipynb"),
    file("cells", ".ipynb", notebook("%load_ext x", *NUMBERS.split("\n\n\n")), 2.0, "the code cells of cells.ipynb"),
    file("bad-cell", ".ipynb", notebook(NUMBERS, "1 / 0"), 0.0, RAISES + "ZeroDivisionError"),
    inside("notebook-inside", "numbers_.ipynb", "the code cells of numbers_.ipynb", data=notebook(NUMBERS)),
    inside("checkpoints", MODULE),
    file("zip", ".zip", zipped({MODULE: RIGHT})),
    file("zip-in-zip", ".zip", zipped({"inner.zip": zipped({MODULE: RIGHT})})),
    file("tree-in-zip", ".zip", zipped({f"course/stages/s01_numbers/{MODULE}": RIGHT, "course/README.md": ""})),
    file("macos", ".zip", zipped({f"hw/{MODULE}": RIGHT, f"__MACOSX/hw/._{MODULE}": b"\0\5", "hw/.DS_Store": b"\0"})),
    file("notebook-in-zip", ".zip", zipped({"numbers_.ipynb": notebook(NUMBERS)}), 2.0, "the code cells of numbers_"),
    file("two-in-zip", ".zip", zipped({f"old/{MODULE}": STUB, MODULE: RIGHT})),
    file("venv-in-zip", ".zip", zipped({MODULE: RIGHT, **{f".venv/numpy/f{at}.py": "x = 1" for at in range(3000)}})),
    file("cache-in-zip", ".zip", zipped({MODULE: RIGHT, "__pycache__/numbers_.cpython-311.pyc": b"\0" * 99})),
    file("data-in-zip", ".zip", zipped({MODULE: RIGHT, "data.bin": os.urandom(4 << 20)})),
    file("zip-in-folder", "/hw.zip", zipped({MODULE: RIGHT})),
    file("tar-gz", ".tar.gz", tarred()),
    file("tar-xz", ".tar.xz", tarred("xz")),
    refused("cut-zip", ".zip", zipped({MODULE: RIGHT})[:100], "truncated"),
    refused("no-zip", ".zip", b"this is no zip", "not a zip"),
    refused("cut-tar", ".tgz", tarred()[:100], "truncated"),
    refused("bomb", ".zip", zipped({MODULE: b"#" * (20 << 20)}), "at most 1,048,576"),
    refused("leads-out", ".zip", zipped({f"/abs/../{MODULE}": RIGHT}), "leads out"),
    refused("backslash", ".zip", zipped({f"hw\\{MODULE}": RIGHT}), "backslash"),
    refused("large", ".py", b"#" * (2 << 20) + b"\n" + RIGHT, "at most 1,048,576"),
    refused("pdf", ".pdf", b"%PDF-1.4\n%%EOF", ".ipynb"),
    refused("rar", ".rar", b"Rar!\x1a\7\0" + b"x" * 99, ".ipynb"),
    refused("7z", ".7z", b"7z\xbc\xaf\x27\x1c" + b"x" * 50, ".ipynb"),
)  # fmt: skip
SHAPES = (*TEXTS, *HABITS, *NAMES, *FILES)

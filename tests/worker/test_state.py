"""A process in which a test left something behind is not there for the next test, whatever it left, and wherever."""

from __future__ import annotations

import time

import pytest

from grader.isolation import tiers
from grader.sandbox.connection import RemoteModule
from tests.conftest import Learner, Start
from tests.support.patience import SLACK

pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="needs forks")

SOURCE = """
from __future__ import annotations
from numpy import *
import array, datetime, enum, functools, operator, os, random, sys, threading, types, warnings
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from dataclasses import dataclass, field
import decimal
from typing import NamedTuple
import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.linalg import norm
from numpy.random import default_rng, randn
from random import random as uniform

alias = Callable[[int], float]
limits, half, today, here = np.finfo(float), Fraction(1, 2), datetime.date(2026, 1, 1), Path("x")
second, pages, tables = operator.itemgetter(1), types.MappingProxyType(dict(a=[])), {"sum": np.sum, "norm": norm}
raw, packed, options, recent = bytearray(2), array.array("d", [1]), types.SimpleNamespace(a=1), deque(maxlen=2)
own, bits, ragged = random.Random(1), np.random.PCG64(1), np.array([[1], [1, 2]], dtype=object)
keep, draw_one = {}.setdefault, random.random
count, table, rows, seen = 0, {"a": [1, 2]}, [np.zeros(3), np.ones((2, 2))], {1, 2}
counter, ordered = Counter("aab"), OrderedDict(a=1)
rng, legacy = np.random.default_rng(1), np.random.RandomState(1)


class Colour(enum.Enum):
    RED = 1


class Pair(NamedTuple):
    left: float
    right: float = 2.0


@dataclass
class Point:
    x: float
    past: list = field(default_factory=list)


class Layer:
    made = 0
    cache = {}

    def __init__(self):
        self.weights, self.inner = np.zeros(2), Point(1.0)

    def forward(self, x):
        return x + self.weights

    @property
    def size(self):
        return self.weights.size

    @classmethod
    def build(cls):
        return cls()

    @functools.cached_property
    def total(self):
        return self.weights.sum()


class Slotted:
    __slots__ = ("a", "b")


@np.vectorize
def absolute(x):
    return x if x > 0 else -x


layer, slotted, pair, power = Layer(), Slotted(), Pair(1.0), functools.partial(pow, 2)
slotted.a = []


@functools.lru_cache(None)
def cached(x):
    return x


def remember(x, past=[]):
    past.append(x)
    return len(past)


def closing():
    kept = []
    def inner(x):
        kept.append(x)
        return len(kept)
    return inner


def marked(x):
    marked.calls = getattr(marked, "calls", 0) + 1
    return x


inner = closing()
scale = lambda x: 2 * x
numbers = {"layer": layer, "again": layer}


def nothing(x): return np.sin(x) + layer.forward(x).sum() + Layer.build().size
def nothing_loud(x): print(x); warnings.warn("careful"); return np.log(np.zeros(1))
def nothing_vectorized(x): return absolute([x, -x])
def nothing_loaded_late(x): return np.median(np.array([x, 1.0, 2.0]), axis=0), np.ma.array([x], mask=[1]).count()
def nothing_of_decimals(x): return decimal.Decimal(1) / 3 + decimal.Decimal(2).sqrt()
def nothing_raised(x):
    try: raise ValueError("inside")
    except ValueError: return x
def set_global(x): global count; count += 1
def new_name(x): globals()["latest"] = x
def rebind_function(x): global nothing; nothing = scale
def into_table(x): table["b"] = x
def into_inner_list(x): table["a"].append(x)
def into_array(x): rows[0][1] = 5
def into_ragged(x): ragged[0].append(x)
def into_bytes(x): raw[0] = 1
def into_packed(x): packed.append(2.0)
def into_options(x): options.b = x
def into_recent(x): recent.append(x)
def into_pages(x): pages["a"].append(x)
def draw_own(x): own.random()
def draw_bits(x): bits.random_raw()
def draw_imported(x): randn()
def draw_uniform(x): uniform()
def writeable(x): rows[0].flags.writeable = False
def into_set(x): seen.add(7)
def into_counter(x): counter["z"] += 1
def into_ordered(x): ordered.move_to_end(next(iter(ordered))); ordered["b"] = 1
def draw(x): rng.normal()
def draw_legacy(x): legacy.normal()
def draw_numpys(x): np.random.normal()
def seed_numpys(x): np.random.seed(3)
def draw_pythons(x): random.random()
def class_attribute(x): Layer.made += 1
def class_cache(x): Layer.cache[x] = x
def class_method(x): Layer.forward = scale
def attribute(x): layer.weights = np.ones(2)
def inner_attribute(x): layer.inner.past.append(x)
def fill_property(x): layer.total
def slot(x): slotted.a.append(x)
def new_slot(x): slotted.b = 1
def fill_cache(x): cached(x)
def by_default(x): remember(x)
def by_closure(x): inner(x)
def by_function(x): marked(x)
def own_defaults(x): remember.__defaults__ = ([],) if not remember.__defaults__[0] else None; remember(x)
def errors(x): np.seterr(all="ignore")
def printing(x): np.set_printoptions(precision=2)
def filters(x): warnings.simplefilter("ignore")
def depth(x): sys.setrecursionlimit(5000)
def environment(x): os.environ["SEEN"] = "1"
def folder(x): os.chdir(os.sep)
def digits(x): decimal.getcontext().prec = 40
def bound_method(x): keep(x, 1)
def patched_numpy(x): np.matmul = None
def patched_builtin(x): import builtins; builtins.seen = 1
def trace(x): sys.setprofile(lambda *rest: None)
def new_module(x): import colorsys
def thread(x): threading.Thread(target=threading.Event().wait, args=(30,), daemon=True).start()
def child(x):
    if os.fork() == 0:
        import time
        time.sleep(30)
        os._exit(0)
"""
LEAVE_NOTHING = (
    "nothing", "nothing_loud", "nothing_vectorized", "nothing_loaded_late", "nothing_of_decimals", "nothing_raised",
    "scale",
)  # fmt: skip
LEAVE_SOMETHING = tuple(
    line.partition("(")[0].removeprefix("def ") for line in SOURCE.partition("def set_global")[2].splitlines()
    if line.startswith("def ")
)  # fmt: skip


@pytest.fixture(scope="module")
def learner(start: Start) -> Learner:
    return start(SOURCE, "process", call_seconds=SLACK)


def changes(learner: Learner, function: str) -> bool:
    """Call one function in a process, and say whether it has left anything behind there."""
    process, ends_at = learner.process, time.monotonic() + 3 * SLACK
    first = process.open(ends_at)
    getattr(RemoteModule(first, "small.py"), function)(2)
    first.end()
    second = process.follow(first, ends_at)
    assert RemoteModule(second, "small.py").scale(3) == 6 and second.tests_before == 1
    second.end()
    found = process.has_changed(second)
    process.done(second)
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", LEAVE_NOTHING)
def test_nothing_is_left(learner: Learner, function: str) -> None:
    assert not changes(learner, function)


@pytest.mark.parametrize("function", ["set_global", *LEAVE_SOMETHING])
def test_something_is_left(learner: Learner, function: str) -> None:
    assert changes(learner, function)


@pytest.mark.parametrize(
    "held",
    [
        "import itertools; numbers = itertools.count()",
        "numbers = (n for n in range(3))",
        "import logging; log = logging.getLogger('own')",
        "import threading; lock = threading.Lock()",
        "import numpy as np; objects = np.zeros(2, dtype=[('a', object)])",
        "import numpy as np\nclass Hidden(np.finfo): pass\nhidden = Hidden(float)",
        "import types\nclass Hidden(types.ModuleType): pass\nhidden = Hidden('hidden')",
        "class Hidden:\n    __module__ = 'fractions'\n    __repr__ = lambda self: ''\nhidden = Hidden()",
        "numbers = [[n] for n in range(30_000)]",
        "import numpy as np; large = np.zeros(200_000)",
        "class Odd:\n    @property\n    def __class__(self): raise SystemExit\nodd = [Odd()]",
    ],
)
def test_what_cannot_be_told_apart_counts_as_changed(start: Start, held: str) -> None:
    learner = start(f"{held}\ndef scale(x): return 2 * x\n", "process", call_seconds=SLACK)
    assert changes(learner, "scale")
    learner.process.kill()


LENT = b"""
kept = []
def keep(x): kept.append(x)
class Layer:
    made = 0
    def scale(self, x): return 2 * x
    def count(self): Layer.made += 1
"""
USES_LENT = """
import stages.s01_small.lent
from stages.s01_small.lent import Layer, keep
def scale(x): return Layer().scale(x)
def keep_in_it(x): keep(x)
def count_in_it(x): Layer().count()
"""


@pytest.mark.parametrize("function, left", [("scale", False), ("keep_in_it", True), ("count_in_it", True)])
def test_modules_of_earlier_stages_are_looked_at_too(start: Start, function: str, left: bool) -> None:
    lent = (("stages.s01_small.lent", "stages/s01_small/lent.py", LENT),)
    learner = start(USES_LENT, "process", call_seconds=SLACK, lent=lent)
    assert changes(learner, function) is left
    learner.process.kill()

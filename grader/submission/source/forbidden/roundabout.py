"""The ways around names: what reaches a name that the text does not show, and what to write in its place.

The check reads names. `getattr(np, "mat" + "mul")` is the product all the same, so a stage that forbids a name refuses
such ways as well; what cannot lead to an array or a module, as in getattr(self, name), stays allowed.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Collection
from dataclasses import dataclass

from grader.course.stage import Forbidden


@dataclass(frozen=True)
class Way:
    """One way around names: what the check cannot see there, and what a learner writes instead."""

    unseen: str
    instead: str


_CODE = Way("code that stands in a string", "Write the code itself where the string is run.")
_IMPORT = Way("a module that is imported by a name in a string", "Write an import at the top, such as import math.")
_TABLE = Way("a name that is looked up in a table", "Write the name itself: math.sqrt. Or make a dict of your own.")
_ATTRIBUTE = Way(
    "an attribute whose name is made while the program runs", 'Write the name out: x.shape, or getattr(x, "shape").'
)
_PASSED = Way(
    "a function that looks up names, handed on as a value", "Call it where you need it, with the name written out."
)
_INSIDE = Way("what is reached through Python's own inside", "Write the names that you use themselves: math.sqrt.")
MODULE = Way(
    "what a module is used for once it is handed on as a value", "Write math.sqrt, for example, where you use it."
)
CROWDED = Way("which of the many things it stands for is meant", "Give each thing a name of its own.")
PATTERN = Way("an attribute that a pattern takes out", "Write the attribute itself, as in x.shape.")

GETATTR = _ATTRIBUTE
GETTERS = frozenset({"operator.attrgetter", "operator.methodcaller"})
BUILTINS = {
    "eval": _CODE, "exec": _CODE, "compile": _CODE, "__import__": _IMPORT, "globals": _TABLE, "locals": _TABLE,
    "vars": _TABLE, "getattr": _PASSED, "__builtins__": _TABLE, "__loader__": _IMPORT, "__spec__": _IMPORT,
}  # fmt: skip
ATTRIBUTES = {
    "__dict__": _TABLE, "__globals__": _TABLE, "__builtins__": _TABLE, "f_globals": _TABLE, "f_locals": _TABLE,
    "f_builtins": _TABLE, "__getattribute__": _ATTRIBUTE, "__getattr__": _ATTRIBUTE, "__import__": _IMPORT,
    "__loader__": _IMPORT, "__spec__": _IMPORT, "__subclasses__": _INSIDE, "__code__": _INSIDE, "__self__": _INSIDE,
}  # fmt: skip
PATHS = {
    **dict.fromkeys(("importlib", "imp", "pkgutil", "runpy", "pydoc", "zipimport"), _IMPORT),
    **dict.fromkeys(("code", "codeop", "timeit", "profile", "cProfile", "trace", "bdb", "pdb", "doctest"), _CODE),
    **dict.fromkeys(("typing.get_type_hints", "typing.ForwardRef", "numpy.testing.runstring"), _CODE),
    **dict.fromkeys(("builtins", "sys.modules", "inspect.getmembers", "inspect.getmembers_static"), _TABLE),
    **dict.fromkeys(("operator.attrgetter", "operator.methodcaller"), _PASSED),
    **dict.fromkeys(("inspect.getattr_static", "string.Formatter"), _ATTRIBUTE),
    **dict.fromkeys(("gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys._getframe"), _INSIDE),
    **dict.fromkeys(("sys._current_frames", "sys.settrace", "sys.setprofile", "types.CodeType"), _INSIDE),
    **dict.fromkeys(("sys.meta_path", "sys.path_hooks", "sys.path_importer_cache"), _INSIDE),
    **dict.fromkeys(("inspect.currentframe", "inspect.stack", "inspect.trace", "inspect.getmodule"), _INSIDE),
    **dict.fromkeys(("pickle", "_pickle", "marshal", "ctypes", "_ctypes", "unittest.mock", "numpy.load"), _INSIDE),
}  # fmt: skip
_PARTS = 3  # of the longest of them
_HELD = frozenset({"sys", "builtins"})  # as attributes of other modules
# Modules whose bare mention hands them on; others are arrays', functions' and arguments' names too often.
_MODULES = frozenset({"operator", "_operator", "sys", "builtins", "importlib"})
FOLLOWED = frozenset(path.partition(".")[0] for path in PATHS) | {"numpy", "operator", "_operator"}

_METHODS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor",
}  # fmt: skip
_KEYWORDS = {"and": "and_", "or": "or_"}  # the functions of the operator module that Python's keywords would be
# Parts of NumPy that hold its functions once more, under the same last name.
_INNER = frozenset(
    {"core", "ma", "lib", "matlib", "emath", "dual", "compat", "polynomial", "fft", "testing", "np", "numpy"}
)


def way_of(path: str) -> Way | None:
    """The way around names that a dotted name is, or that it begins with."""
    path = from_within(path, _HELD)
    parts = path.split(".", _PARTS)[:_PARTS]
    known = (PATHS.get(".".join(parts[: count + 1])) for count in range(len(parts)))
    return next((way for way in known if way is not None), None)


def from_within(path: str, modules: Collection[str]) -> str:
    """The path from the last of these modules on, where another of Python's modules holds it: os.sys is sys."""
    first, *others = path.split(".")
    held = [place for place, part in enumerate(others) if part in modules]
    return ".".join(others[held[-1] :]) if held and first in sys.stdlib_module_names else path


class Names:
    """What a stage forbids, with what is the same under another name."""

    def __init__(self, forbidden: Forbidden) -> None:
        words = {_METHODS[symbol]: symbol for symbol in forbidden.operators}
        self.methods = {f"__{side}{word}__": symbol for word, symbol in words.items() for side in ("", "r", "i")}
        spelt = [*self.methods, *(f"i{word}" for word in words), *(_KEYWORDS.get(word, word) for word in words)]
        implied = [f"{module}.{name}" for module in ("operator", "_operator") for name in spelt]
        own = [name for name in forbidden.names if not name.startswith(".")]
        self.builtins = frozenset(name for name in own if hasattr(builtins, name))
        self.own_methods = frozenset(name[1:] for name in forbidden.names if name.startswith("."))
        implied += [f"builtins.{name}" for name in self.builtins]
        tops = {name.partition(".")[0] for name in own} & sys.stdlib_module_names
        self._tops = frozenset(tops | _HELD)
        inner = [f"{before}{top}" for top in tops for before in ("_", "_py")]  # the same, as C and Python write it
        known = sys.stdlib_module_names.intersection(inner)
        implied += [f"{b}{name}" for name in own for b in ("_", "_py") if f"{b}{name.partition('.')[0]}" in known]
        self._names = dict.fromkeys((*(name for name in own if name not in self.builtins), *implied))
        self._tails = {name.rpartition(".")[2] for name in forbidden.names if name.startswith("numpy.")}
        self._known: dict[str, bool] = {}
        self._holders = set(_MODULES)
        for name in self._names:
            while name := name.rpartition(".")[0]:
                self._holders.add(name)
        self.followed = FOLLOWED | {name.partition(".")[0] for name in own if "." in name}

    def forbids(self, path: str) -> bool:
        """Whether a dotted name is forbidden itself, lies in a forbidden module, or is the same in NumPy's inside."""
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self._forbids(path)
        return known

    def _forbids(self, path: str) -> bool:
        path = from_within(path, self._tops)
        if any(f"{path}.".startswith(f"{name}.") for name in self._names):
            return True
        parts = path.split(".")
        if parts[0] != "numpy" or parts[-1] not in self._tails:
            return False
        return any(part in _INNER or part.startswith("_") for part in parts[1:-1])

    def holds(self, path: str) -> bool:
        """Whether a dotted name is a module in which something forbidden lies."""
        return path in self._holders

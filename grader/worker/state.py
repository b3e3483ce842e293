"""Detect what a test left behind in a learner's process; the next test then gets a process of its own.

Forking one process for each test costs more than most tests do. A test that passed and left everything as it was may
therefore be followed by the next one in the same process. What is compared is what learner's code keeps from one call
to another: the names of its modules and what they hold, attributes of its classes and functions, random generators,
and settings of Python and NumPy. What cannot be told apart from what it was counts as changed.
"""

from __future__ import annotations

import array
import builtins
import functools
import operator
import os
import random
import re
import sys
import types
import warnings
from collections import deque, namedtuple
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from grader.worker.containers import PLAIN, base_of, members
from grader.worker.loading import StandIn, StandInModule

MOST = 20_000  # things that are looked at; a module that holds more is always taken for changed
MOST_BYTES = 1 << 20  # of arrays and text
NOTED_BY_PYTHON = frozenset({"__warningregistry__", "__builtins__", "__spec__", "__loader__"})
CONSTANT = (
    types.ModuleType, types.BuiltinFunctionType, types.MemberDescriptorType, types.GetSetDescriptorType,
    types.WrapperDescriptorType, types.MethodDescriptorType, types.GenericAlias, types.UnionType, types.CodeType,
    type(vars(namedtuple("_", "x"))["x"]), functools.cached_property, re.Pattern, type(annotations),
    operator.itemgetter, operator.attrgetter, np.dtype, np.ufunc, np.finfo, np.iinfo, type(np.sum),
    type(np.random.default_rng), *map(type, (np.r_, np.c_, np.s_, np.mgrid, np.ogrid, np.test)),
    type(None), type(...), type(NotImplemented), StandIn, StandInModule,
)  # fmt: skip
PLAIN_VALUES = (bool, int, float, complex, str, bytes, range, slice)
SHOWN = frozenset({"decimal", "fractions", "datetime", "pathlib"})  # whose objects never change, and show all of it
LATE = "numpy."  # modules of NumPy's that it imports when a function needs them, as its median does
MARKS = frozenset({"typing", "dataclasses"})  # whose objects say how something was declared
BASES = frozenset({"abc", "enum", "typing"})  # whose classes keep nothing of an instance but its attributes


class Unknown(Exception):
    """A module holds something of which nobody can say here whether it has changed."""


class StateSnapshot:
    """What a process was when the module was loaded, beside what it is now."""

    def __init__(self, modules: Iterable[types.ModuleType]) -> None:
        self._modules = tuple(modules)
        self._first = self._now()
        self._drawn = random.getstate()

    def begin(self) -> None:
        """Be in a process that was just forked: Python gives `random` another state there."""
        random.setstate(self._drawn)

    def holds(self) -> bool:
        """Say whether all that is looked at is as it was, and nothing else runs in the process or below it."""
        if self._first is None or _has_company() or self._drawn != random.getstate():
            return False
        return self._now() == self._first

    def _now(self) -> int | None:
        look = _Look({id(vars(module)) for module in self._modules})
        try:
            held = [look.names(vars(module)) for module in self._modules]
            return hash((tuple(held), _settings(look)))
        except BaseException:  # something unknown, or what a learner's own property raises when it is looked at
            return None


def _settings(look: _Look) -> int:
    """Return a number that changes with what Python and NumPy keep for everybody in the process."""
    modules = tuple(name for name in sys.modules if not name.startswith(LATE))
    kept: list[Any] = [modules, tuple(sys.path), sys.getrecursionlimit(), id(sys.stdout), id(sys.stderr)]
    kept += [tuple(map(id, warnings.filters)), id(warnings.showwarning), tuple(os.environ.items()), os.getcwd()]
    kept.append(_of_decimals())
    kept += [id(sys.gettrace()), id(sys.getprofile()), repr(np.geterr()), repr(np.get_printoptions())]
    for module in (builtins, np, np.linalg, np.random):
        kept.append(tuple(id(each) for each in vars(module).values() if type(each) is not types.ModuleType))
    kept.append(look.at(np.random.mtrand._rand))
    return hash(tuple(kept))


def _of_decimals() -> tuple[Any, ...]:
    """Return how `decimal` computes in this thread, but for what it has met so far."""
    if "decimal" not in sys.modules:
        return ()
    now = sys.modules["decimal"].getcontext()
    return now.prec, now.rounding, now.Emin, now.Emax, now.capitals, now.clamp, repr(now.traps)


def _has_company() -> bool:
    """Say whether a thread or a child of this process is still there."""
    if getattr(sys.modules.get("_thread"), "_count", int)() > 0:
        return True
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    except (AttributeError, OSError):
        return True
    return True


class _Look:
    """Goes through what modules hold; own are their tables of names, by id."""

    def __init__(self, own: set[int]) -> None:
        self._own = own
        self._met: dict[int, Any] = {}  # with the things themselves, so that no other gets the same id meanwhile
        self._left = MOST
        self._bytes = MOST_BYTES

    def names(self, table: Any) -> int:
        """Return a number that changes with what a table of names holds."""
        return hash(tuple((name, self.at(table[name])) for name in list(table) if name not in NOTED_BY_PYTHON))

    def at(self, value: Any) -> int:
        """Return a number that changes with what a value holds; Unknown where none can be had."""
        self._left -= 1
        if self._left < 0:
            raise Unknown
        kind = type(value)
        if kind is types.BuiltinFunctionType and base_of(value.__self__) is not None:
            return hash((value.__name__, self.at(value.__self__)))  # of a container that may change
        if kind in CONSTANT or (isinstance(value, CONSTANT) and self._is_known(kind)) or _is_of(kind, MARKS):
            return id(value)
        if kind in PLAIN_VALUES or isinstance(value, np.generic) or _is_of(kind, SHOWN):
            text = repr(value)
            self._weigh(len(text))
            return hash((kind, text))
        if id(value) in self._met:
            return id(value)
        self._met[id(value)] = value
        return hash((id(value) if kind not in PLAIN else kind, self._inside(value, kind)))

    def _inside(self, value: Any, kind: type) -> int:
        if kind is np.ndarray:
            return self._array(value)
        if kind is types.FunctionType:
            return self._function(value)
        if isinstance(value, type):
            return self._class(value)
        if base_of(value) is not None:
            return hash((self._all(members(value)), self._attributes(value)))
        if isinstance(value, (np.random.Generator, np.random.RandomState, np.random.BitGenerator)):
            return self._generator(value)
        if kind is random.Random:
            return hash(value.getstate())
        if kind in (bytearray, array.array):
            self._weigh(len(memoryview(value).cast("B")))
            return hash(bytes(value))
        if kind is types.MappingProxyType:
            return self.at(dict(value))
        if kind is deque:
            return hash((value.maxlen, self._all(value)))
        if kind is types.SimpleNamespace:
            return self._attributes(value)
        if isinstance(value, types.MethodType):
            return self._all((value.__func__, value.__self__))
        if isinstance(value, (staticmethod, classmethod)):
            return self.at(value.__func__)
        if isinstance(value, property):
            return self._all((value.fget, value.fset, value.fdel))
        if kind is functools.partial:
            return self._all((value.func, value.args, value.keywords))
        if kind is functools._lru_cache_wrapper:
            return hash((value.cache_info(), self.at(value.__wrapped__)))
        if kind is np.vectorize:  # what it made of its function is kept beside it
            return self._all((value.pyfunc, value.otypes, value.excluded, value.signature, value.cache))
        if all(cls is object or cls.__module__ in BASES or self._is_own(cls) for cls in kind.__mro__):
            return self._instance(value)
        raise Unknown

    def _array(self, value: np.ndarray[Any, Any]) -> int:
        if value.dtype == object:
            return hash((value.shape, self._all(value.ravel().tolist())))
        if value.dtype.hasobject:
            raise Unknown
        self._weigh(value.nbytes)
        return hash((value.dtype.str, value.shape, value.flags.writeable, value.tobytes()))

    def _function(self, value: types.FunctionType) -> int:
        if id(value.__globals__) not in self._own:
            return id(value.__code__)
        kept = [each for each in (value.__defaults__, value.__kwdefaults__, value.__dict__) if each]
        kept += [cell.cell_contents for cell in value.__closure__ or () if _is_full(cell)]
        return hash((id(value.__code__), self._all(kept))) if kept else id(value.__code__)

    def _class(self, value: type) -> int:
        if not self._is_own(value):
            return id(value)
        held = [(name, each) for name, each in list(vars(value).items()) if not _is_pythons(name, each)]
        return hash((self._all(value.__mro__[1:]), tuple((name, self.at(each)) for name, each in held)))

    def _is_own(self, cls: type) -> bool:
        module = sys.modules.get(cls.__module__)
        return module is not None and id(vars(module)) in self._own

    def _is_known(self, kind: type) -> bool:
        """Say whether a class is one of Python's or NumPy's, and none that the learner derived of one."""
        return not self._is_own(kind) and _is_of(kind, (kind.__module__,))

    def _generator(self, value: Any) -> int:
        if isinstance(value, np.random.RandomState):
            return hash(_flat(value.get_state(legacy=False)))
        return hash(_flat((value.bit_generator if isinstance(value, np.random.Generator) else value).state))

    def _instance(self, value: Any) -> int:
        slots = [name for cls in type(value).__mro__ for name in _slots(cls) if hasattr(value, name)]
        return hash((self._attributes(value), self._all(getattr(value, name) for name in slots)))

    def _attributes(self, value: Any) -> int:
        table = getattr(value, "__dict__", None)
        return 0 if table is None else self.names(table)

    def _all(self, values: Iterable[Any]) -> int:
        return hash(tuple([self.at(each) for each in values]))

    def _weigh(self, size: int) -> None:
        self._bytes -= size
        if self._bytes < 0:
            raise Unknown


def _is_of(kind: type, modules: Collection[str]) -> bool:
    """Say whether a class is one that such a module defines: what a class says of itself may be untrue."""
    return kind.__module__ in modules and getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind


def _is_pythons(name: str, value: Any) -> bool:
    """Say whether a name of a class is one that Python itself, or a decorator of its library, keeps there."""
    return name == "_abc_impl" or (name.startswith("__") and name.endswith("__") and not callable(value))


def _slots(cls: type) -> list[str]:
    return [name for name, each in vars(cls).items() if isinstance(each, types.MemberDescriptorType)]


def _is_full(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _flat(state: Any) -> Any:
    """Return the state of a generator as what has a hash."""
    if isinstance(state, dict):
        return tuple((name, _flat(each)) for name, each in state.items())
    return state.tobytes() if isinstance(state, np.ndarray) else state

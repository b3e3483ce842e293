"""Stand-ins for packages that are not there: inert while a module is loaded, and an error where a function uses them.

A module may import what a stage does not offer, plot at its top level, or annotate with a foreign class. All of that
does nothing. What is asked of a stand-in after the module is loaded raises ModuleNotFoundError, in one sentence.
"""

from __future__ import annotations

import ast
import importlib.abc
import sys
import types
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from typing import Any, NoReturn

SHOWN = 100  # characters of a name
_CATCH = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_OPERATORS = (
    "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "rfloordiv", "mod", "rmod", "pow",
    "rpow", "matmul", "rmatmul", "and", "rand", "or", "ror", "xor", "rxor", "neg", "pos", "abs", "invert", "getitem",
    "lt", "le", "gt", "ge", "call", "enter",
)  # fmt: skip
_state = {"loading": True}


def loading(now: bool) -> None:
    """Let stand-ins be inert from here on, or no longer."""
    _state["loading"] = now


class StandIn:
    """What is taken from a package that is not there; name is the dotted name under which it was asked for."""

    __slots__ = ("_name", "_why")
    _name: str
    _why: str

    def __init__(self, name: str, why: str = "") -> None:
        object.__setattr__(self, "_name", name[:SHOWN])
        object.__setattr__(self, "_why", why)

    def __getattr__(self, name: str) -> StandIn:
        return _asked(f"{self._name}.{name}", name, self._why)

    def __setattr__(self, name: str, value: Any) -> None:
        _use(f"{self._name}.{name}", self._why)

    def __setitem__(self, key: Any, value: Any) -> None:
        _use(self._name, self._why)

    def __iter__(self) -> Iterator[Any]:
        _use(self._name, self._why)
        return iter(())

    def __len__(self) -> int:
        _use(self._name, self._why)
        return 0

    def __bool__(self) -> bool:
        _use(self._name, self._why)
        return False

    def __exit__(self, *raised: object) -> None:
        _use(self._name, self._why)

    def __instancecheck__(self, instance: object) -> bool:
        _use(self._name, self._why)
        return False

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        _use(self._name, self._why)
        return ()

    def __repr__(self) -> str:
        return f"<{self._name}, which is not available>"


def _operation(self: StandIn, *args: Any, **kwargs: Any) -> StandIn:
    _use(self._name, self._why)
    return self


for _operator in _OPERATORS:
    setattr(StandIn, f"__{_operator}__", _operation)


class StandInModule(types.ModuleType):
    """A package that is not there, or a module of one."""

    def __getattr__(self, name: str) -> StandIn:
        return _asked(f"{self.__name__}.{name}", name, "")


def expect_none(value: object) -> None:
    """Raise ModuleNotFoundError where a stand-in is about to leave the process, as an answer or an argument."""
    if isinstance(value, StandIn):
        _refuse(value._name, value._why)


def _asked(dotted: str, name: str, why: str) -> StandIn:
    if name.startswith("__"):  # what Python and NumPy look for in anything
        raise AttributeError(name)
    _use(dotted, why)
    return StandIn(dotted, why)


def _use(dotted: str, why: str) -> None:
    if not _state["loading"]:
        _refuse(dotted, why)


def _refuse(dotted: str, why: str) -> NoReturn:
    top = dotted.partition(".")[0]
    told = why or f"{top} is not available when a stage is checked, and {dotted[:SHOWN]} is used"
    raise ModuleNotFoundError(told, name=top)


class StandIns(importlib.abc.Loader):
    """Makes stand-ins for the packages that some files import without being ready for their absence."""

    def __init__(self, files: frozenset[str]) -> None:
        self._files = files
        self._ready: dict[str, frozenset[int]] = {}

    def spec_of(self, name: str) -> ModuleSpec | None:
        """Return how a stand-in is made; None where the import is no learner's, or guarded against its absence."""
        if name.startswith("_"):
            return None
        frame: types.FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
            frame = frame.f_back
        if frame is None or frame.f_code.co_filename not in self._files:
            return None
        if frame.f_lineno in self._guarded(frame.f_code.co_filename):
            return None
        return ModuleSpec(name, self, origin=f"<{name}>", is_package=True)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        """Return the module, which stays empty."""
        return StandInModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to run."""

    def _guarded(self, file: str) -> frozenset[int]:
        """Return the lines of a file in which an import may fail, because what follows is ready for it."""
        import linecache

        if file not in self._ready:
            try:
                tree = ast.parse("".join(linecache.getlines(file)))
                self._ready[file] = frozenset(guarded_lines(tree))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self._ready[file] = frozenset()
        return self._ready[file]


def guarded_lines(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of imports that stand in a `try` or a `suppress` which catches that they fail."""
    for node in ast.walk(tree):
        match node:
            case ast.Try(body=body, handlers=handlers) if any(map(_catches, handlers)):
                yield from _imports(body)
            case ast.With(items=items, body=body) if any(_suppresses(item.context_expr) for item in items):
                yield from _imports(body)


def _imports(body: list[ast.stmt]) -> Iterator[int]:
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _catches(handler: ast.ExceptHandler) -> bool:
    caught = handler.type
    return caught is None or any(_name(each) in _CATCH for each in _each(caught))


def _suppresses(context: ast.expr) -> bool:
    match context:
        case ast.Call(func=function, args=args) if _name(function) == "suppress":
            return any(_name(each) in _CATCH for each in args)
    return False


def _each(caught: ast.expr) -> list[ast.expr]:
    return caught.elts if isinstance(caught, ast.Tuple) else [caught]


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""

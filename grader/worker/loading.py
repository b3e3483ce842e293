"""Load a learner's module: what it may import, what stands in for what is not there, and what is left out.

Modules of earlier stages are provided as text. A package that is not there becomes a stand-in, whose use fails and not
its import; a statement of the top level that needs a missing file, or asserts what is not so, is left out.
"""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import linecache
import marshal
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from opcode import opmap
from typing import Any, NoReturn

SHOWN = 100  # characters of a name
_CATCH = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_OPERATORS = (
    "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "rfloordiv", "mod", "rmod", "pow",
    "rpow", "matmul", "rmatmul", "and", "rand", "or", "ror", "xor", "rxor", "neg", "pos", "abs", "invert", "getitem",
    "lt", "le", "gt", "ge", "call", "enter",
)  # fmt: skip
_ANSWERS: dict[str, Any] = {  # of what may not answer with a stand-in
    "setitem": None, "iter": iter(()), "len": 0, "bool": False, "exit": None, "instancecheck": False,
    "mro_entries": (),
}  # fmt: skip
_state = {"loading": True}


def set_loading(now: bool) -> None:
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

    def __repr__(self) -> str:
        return f"<{self._name}, which is not available>"


def _inert(answer: Any) -> Callable[..., Any]:
    def operation(self: StandIn, *args: Any, **kwargs: Any) -> Any:
        _use(self._name, self._why)
        return self if answer is StandIn else answer

    return operation


for _operator, _answer in {**dict.fromkeys(_OPERATORS, StandIn), **_ANSWERS}.items():
    setattr(StandIn, f"__{_operator}__", _inert(_answer))


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
            case ast.Try(body=body, handlers=handlers):
                guards = any(each.type is None or _CATCH & _names(each.type) for each in handlers)
            case ast.With(items=items, body=body):
                contexts = [_names(each.context_expr) for each in items]
                guards = any("suppress" in names and _CATCH & names for names in contexts)
            case _:
                continue
        imports = (each for statement in body for each in ast.walk(statement))
        for found in imports if guards else ():
            if isinstance(found, ast.Import | ast.ImportFrom):
                yield from range(found.lineno, (found.end_lineno or found.lineno) + 1)


def _names(node: ast.AST) -> set[str]:
    inner = (each for each in ast.walk(node) if isinstance(each, ast.Name | ast.Attribute))
    return {each.id if isinstance(each, ast.Name) else each.attr for each in inner}


IMPORT_FROM = opmap["IMPORT_FROM"]
PACKAGE = "stages"
NAMES_SHOWN = 30  # names in one message


class LentModule(types.ModuleType):
    """A module of an earlier stage; whoever asks for a name that it lacks is told which it has."""

    def __getattr__(self, name: str) -> Any:
        names = [each for each in vars(self) if not each.startswith("_")]
        more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
        own = vars(self)
        message = f"{own.get('__name__')} ({own.get('__file__')}) does not define {name}; "
        message += f"it has {', '.join(names[:NAMES_SHOWN])}{more}" if names else "it defines nothing"
        frame = sys._getframe(1)
        if frame.f_code.co_code[frame.f_lasti] == IMPORT_FROM:  # Python's own words would leave out what there is
            raise ImportError(message, name=own.get("__name__"))
        raise AttributeError(message, name=name, obj=self)


class LentPackage(types.ModuleType):
    """`stages`, or the folder of one stage: what may be imported from there is, when it is asked for."""

    def __getattr__(self, name: str) -> Any:
        full = f"{self.__name__}.{name}"
        if any(each == full or each.startswith(f"{full}.") for each in self.__dict__.get("_lent", ())):
            return importlib.import_module(full)
        raise AttributeError(f"there is no module {full} here", name=name, obj=self)


class ProvidedModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules by full name among texts, given as name, label and text; the packages around them are empty."""

    def __init__(self, modules: list[Any]) -> None:
        self.texts = {name: (label, text) for name, label, text in modules}
        self.packages = {PACKAGE, *(name.rpartition(".")[0] for name in self.texts)}

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return how a module is made; ModuleNotFoundError, with those that there are, for another of a stage."""
        if name.partition(".")[0] != PACKAGE:
            return None
        if name in self.texts or name in self.packages:
            return ModuleSpec(name, self, origin=f"<{name}>", is_package=name in self.packages)
        there = ", ".join(self.texts)
        raise ModuleNotFoundError(f"No module named {name!r}: of other stages there are {there}", name=name)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        """Return the module, still empty."""
        return (LentModule if spec.name in self.texts else LentPackage)(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the text of a module; a package has none."""
        if module.__name__ not in self.texts:
            module.__dict__["_lent"] = tuple(self.texts)
            return
        label, text = self.texts[module.__name__]
        module.__file__ = label
        shown = text.decode("utf-8-sig", "replace")
        linecache.cache[label] = (len(shown), None, shown.splitlines(True), label)
        exec(compile(text, label, "exec", dont_inherit=True), module.__dict__)


def changed_module(code: bytes, before: Any, learners: types.ModuleType) -> types.ModuleType:
    """Run code that the grader compiled in a module's names, and return it; instead of the learner's own, in a new one.

    It has the name of the learner's, so that its classes are told from others.
    """
    module = before
    if before is learners:
        module = types.ModuleType(learners.__name__)
        sys.modules[learners.__name__] = module
    set_loading(True)
    try:
        exec(marshal.loads(code), module.__dict__)  # nosec B302 # the grader compiled this code itself
    finally:
        set_loading(False)
    return module  # type: ignore[no-any-return]


MOST = 20  # statements of one module
MAKES = "__stand_in__"  # what the changed module calls a stand-in by


class LeftOut:
    """A module's text, and the statements that are left out of it so far."""

    def __init__(self, source: bytes, label: str) -> None:
        self._source, self._label = source, label
        self._reasons: dict[int, str] = {}  # by the line in which a statement begins

    def after(self, error: FileNotFoundError | AssertionError) -> types.CodeType:
        """Return the code of the module without the statement that raised; else raise the error again."""
        tree = ast.parse(self._source, self._label)
        statement = next((each for each in tree.body if _holds(each, _line(error, self._label))), None)
        if statement is None or len(self._reasons) >= MOST or not isinstance(statement, _LEFT_OUT):
            raise error
        self._reasons[statement.lineno] = _why(error, statement)
        warnings.warn_explicit(
            f"{self._reasons[statement.lineno]}: it is left out", UserWarning, self._label, statement.lineno
        )
        tree.body = [new for each in tree.body for new in self._without(each)]
        return compile(ast.fix_missing_locations(tree), self._label, "exec", dont_inherit=True)

    def _without(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return a statement or, where it is left out, what takes its place."""
        if (why := self._reasons.get(statement.lineno)) is None or not isinstance(statement, _LEFT_OUT):
            return [statement]
        names = dict.fromkeys(
            node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )
        new: list[ast.stmt] = [ast.Pass()]
        if names:
            made = ast.ImportFrom(__name__, [ast.alias("StandIn", MAKES)], 0)
            new = [made, *(_set(name, f"{name} is not there, because {why}") for name in names)]
        return [ast.copy_location(each, statement) for each in new]


_LEFT_OUT = (ast.Expr, ast.Assert, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.With, ast.For, ast.If)


def _holds(statement: ast.stmt, line: int) -> bool:
    return statement.lineno <= line <= (statement.end_lineno or statement.lineno)


def _line(error: BaseException, label: str) -> int:
    """Return the line of the module's top level in which an exception came up; 0 where it did not come up there."""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == label and code.co_name == "<module>":
            return trace.tb_lineno
        trace = trace.tb_next
    return 0


def _why(error: FileNotFoundError | AssertionError, statement: ast.stmt) -> str:
    if isinstance(error, FileNotFoundError):
        return f"line {statement.lineno} needs the file {str(error.filename)[:100]!r}, which is not handed in"
    said = f": {str(error)[:100]}" if str(error) else ""
    return f"line {statement.lineno} asserts what is not so{said}"


def _set(name: str, why: str) -> ast.stmt:
    made = ast.Call(ast.Name(MAKES, ast.Load()), [ast.Constant(name), ast.Constant(why)], [])
    return ast.Assign([ast.Name(name, ast.Store())], made)


class OnlyAllowed:
    """An import hook that lets the standard library, the course's packages and what we need through, nothing else.

    What a learner's file imports beside that is a stand-in, unless the file is ready for its absence.
    """

    own = frozenset({"numpy", "msgpack", "grader"})  # the wire needs them
    of_this_build = "_sysconfigdata_"  # belongs to the standard library; its name differs from system to system

    def __init__(self, packages: list[str], files: list[str]) -> None:
        self.packages = packages
        self.stand_ins = StandIns(frozenset(files))
        self.allowed = sys.stdlib_module_names | self.own | frozenset(packages)

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        if name.partition(".")[0] not in self.allowed and not name.startswith(self.of_this_build):
            if (spec := self.stand_ins.spec_of(name)) is not None:
                return spec
            here = " and ".join([", ".join(self.packages), "the standard library"][not self.packages :])
            raise ModuleNotFoundError(f"No module named {name!r}: only {here} can be imported", name=name)
        return None


def load(source: bytes, label: str) -> types.ModuleType:
    """Run the learner's module and return it; whatever it raises passes through.

    A statement of its top level that looks for a file which is not there, or asserts what is not so, is left out.
    """
    text = source.decode("utf-8-sig", "replace")
    linecache.cache[label] = (len(text), None, text.splitlines(True), label)
    code = compile(source, label, "exec", dont_inherit=True)
    left_out = LeftOut(source, label)
    while True:
        module = types.ModuleType("learner_module")
        module.__file__ = os.path.abspath(os.path.basename(label))  # so that the folder that it names is there
        sys.modules["learner_module"] = module
        try:
            exec(code, module.__dict__)
        except (FileNotFoundError, AssertionError) as error:
            code = left_out.after(error)
        else:
            return module

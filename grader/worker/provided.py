"""Modules of earlier stages, which a learner's module imports by name: made from texts that came with it, lazily."""

from __future__ import annotations

import importlib
import importlib.abc
import linecache
import sys
import types
from importlib.machinery import ModuleSpec
from opcode import opmap
from typing import Any

IMPORT_FROM = opmap["IMPORT_FROM"]
PACKAGE = "stages"
SHOWN = 30  # names in one message


class LentModule(types.ModuleType):
    """A module of an earlier stage; whoever asks for a name that it lacks is told which it has."""

    def __getattr__(self, name: str) -> Any:
        names = [each for each in vars(self) if not each.startswith("_")]
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        own = vars(self)
        message = f"{own.get('__name__')} ({own.get('__file__')}) does not define {name}; "
        message += f"it has {', '.join(names[:SHOWN])}{more}" if names else "it defines nothing"
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

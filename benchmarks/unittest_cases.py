"""Turns the pytest functions of a stage's tests into cases of unittest, for graders that run those.

It is copied beside `run_tests.py` and imports nothing of the grader: fixtures and parameters are resolved when the
cases are made, so a run costs what the same tests cost when they are written for unittest.
"""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import sys
import unittest
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from _pytest.fixtures import FixtureFunctionDefinition
from _pytest.mark.structures import Mark, ParameterSet, get_unpacked_marks

HERE = Path(__file__).parent
SEED = 0


def cases(module: str, tests: str) -> type[unittest.TestCase]:
    """Return a class with one method for each test and set of parameters; both are paths from this file's folder."""
    learner, found = _loaded(module), _loaded(tests)
    methods: dict[str, Any] = {}
    for name, function in _functions(found):
        for place, given in enumerate(_parameters(function)):
            methods[f"{name}_{place}"] = _method(function, given, f"{name}_{place}", learner, found)
    return type("Tests", (unittest.TestCase,), methods)


def _loaded(path: str) -> ModuleType:
    """Import a file once."""
    name = Path(path).stem
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, HERE / path)
        assert spec is not None and spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def _functions(tests: ModuleType) -> Iterator[tuple[str, Callable[..., object]]]:
    """Yield the tests of a module and of its classes, each with a name of its own."""
    for name, value in vars(tests).items():
        if name.startswith("test_") and callable(value):
            yield name, value
        elif name.startswith("Test") and isinstance(value, type):
            for inner in [each for each in dir(value) if each.startswith("test_")]:
                yield f"test_{name}_{inner}", getattr(value(), inner)


def _parameters(function: Callable[..., object]) -> Iterator[dict[str, object]]:
    """Yield the arguments of each set of parameters; where several marks stand, of every combination."""
    owner = type(getattr(function, "__self__", None))
    marks = [*get_unpacked_marks(function), *(get_unpacked_marks(owner) if owner is not type(None) else ())]
    each_of = [list(_sets(mark)) for mark in marks if mark.name == "parametrize"]
    for chosen in itertools.product(*each_of):
        yield {name: value for one in chosen for name, value in one.items()}


def _sets(mark: Mark) -> Iterator[dict[str, object]]:
    given, values = mark.args[0], mark.args[1]
    names = [name.strip() for name in given.split(",")] if isinstance(given, str) else list(given)
    for value in values:
        many = value.values if isinstance(value, ParameterSet) else value if len(names) > 1 else (value,)
        yield dict(zip(names, many, strict=True))


def _method(
    function: Callable[..., object], given: dict[str, object], name: str, learner: ModuleType, tests: ModuleType
) -> Callable[[unittest.TestCase], None]:
    def values(wanted: Callable[..., object]) -> dict[str, object]:
        return {each: value(each) for each in inspect.signature(wanted).parameters}

    def value(wanted: str) -> object:
        match wanted:
            case "learner":
                return learner
            case "seed":
                return SEED
            case "rng":
                return np.random.default_rng([SEED, zlib.crc32(name.encode())])
            case "data":
                return lambda file: (HERE / "data" / file).read_bytes()
        if wanted in given:
            return given[wanted]
        fixture = vars(tests)[wanted]
        assert isinstance(fixture, FixtureFunctionDefinition)
        made: Callable[..., object] = fixture.__wrapped__  # type: ignore[attr-defined]
        return made(**values(made))

    def method(self: unittest.TestCase) -> None:
        function(**values(function))

    return method

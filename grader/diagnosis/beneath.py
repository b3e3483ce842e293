"""The learner's own modules of earlier stages, beneath the right modules of a stage that builds on them.

A right module has the values of what it imports. A learner's earlier module may be right and have others: GELU by tanh,
or numbers drawn in another order. Then no right module on a reference has the values of the learner's. So its objects
stay in the learner's process, and what a right module asks of them is asked there: none of its code runs here.
The lines that run there are counted, so that no clock decides where it ends.
"""

from __future__ import annotations

import marshal
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from grader.course.import_guard import STAGES, set_aside
from grader.diagnosis.pool import noting
from grader.diagnosis.runner import FAR_SECONDS
from grader.sandbox.connection import Connection
from grader.sandbox.proxies import RemoteValue

Ask = Callable[..., Any]
ASKED = "a module of an earlier stage"
STEPS = 4_000_000  # lines of earlier modules that may run for one diagnosis: most take some ten thousand


class Beneath:
    """Stands for an object of an earlier module: what is asked of it is asked of the one in the learner's process."""

    def __init__(self, ask: Ask, held: RemoteValue) -> None:
        self.__dict__.update(_ask=ask, _held=held)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._ask("getattr", self._held, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._ask("setattr", self._held, name, (value,))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._ask("call", self._held, "", args, kwargs)


class ModuleBeneath(types.ModuleType):
    """An earlier module, of which names can be imported."""

    def __init__(self, name: str, own: Beneath) -> None:
        super().__init__(name)
        self._own = own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)


@contextmanager
def own_beneath(connection: Connection, names: Sequence[str]) -> Iterator[None]:
    """Let right modules import earlier modules, by their full names, from a learner's process.

    One that was loaded before keeps what it imported.
    """
    connection.bound_steps(STEPS, FAR_SECONDS)
    code = "\n".join(f"import {name} as module_{place}" for place, name in enumerate(names))
    program = marshal.dumps(compile(code, "<earlier>", "exec", dont_inherit=True))
    held = connection.request("load", 0, "", (program,), label=ASKED)

    def ask(kind: str, target: RemoteValue, name: str, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        connection.forget()
        found = connection.request(kind, target.__dict__["_number"], name, _given(args), _given(kwargs or {}), ASKED)
        return _shown(ask, found)

    modules = [ModuleBeneath(name, ask("getattr", held, f"module_{place}")) for place, name in enumerate(names)]
    with set_aside({STAGES}):
        sys.modules.update(zip(names, modules, strict=True))
        noting.cache_clear()
        try:
            yield
        finally:
            noting.cache_clear()


def _shown(ask: Ask, value: Any) -> Any:
    """Return a value with what stands for each object in it."""
    if isinstance(value, RemoteValue):
        return Beneath(ask, value)
    if type(value) in (list, tuple):
        return type(value)(_shown(ask, each) for each in value)
    return {key: _shown(ask, each) for key, each in value.items()} if type(value) is dict else value


def _given(value: Any) -> Any:
    """Return a value with the objects that are meant by what stands for them."""
    if isinstance(value, Beneath):
        return value.__dict__["_held"]
    if type(value) in (list, tuple):
        return type(value)(map(_given, value))
    return {key: _given(each) for key, each in value.items()} if type(value) is dict else value

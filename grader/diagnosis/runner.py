"""Runs forms of a module: the learner's in a process like that of a test, a right one here, by one and the same driver.

A form is a module's text with switches or probes in it. All changes that are to be tried on a call go over in one
message: the numbers of the changes, and the requests that lead to the call. What comes back is compared by the caller.
"""

from __future__ import annotations

import builtins
import marshal
import sys
import time
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

import numpy as np

from grader.diagnosis.instrument import CLEAR, LOG, PRELUDE
from grader.diagnosis.replay import frozen
from grader.diagnosis.variants import PUT, STEP, SWITCH
from grader.sandbox.connection import Connection
from grader.sandbox.exceptions import WorkerFailed
from grader.sandbox.proxies import RemoteValue
from grader.sandbox.record import Name, Record, copied_value
from grader.sandbox.values import Extended

TRY = "_variant_try"  # the name, in a changed module, of what makes the requests
CHOOSE = "_variant_choose"  # of what puts changes in force for requests that follow one by one
MADE = "_variant_made"  # stands before the place of an earlier request, whose result is passed on
STEPS = 20_000  # of one trial where nobody says more: rounds of loops, and calls
LEAST_STEPS, MORE_STEPS = 3000, 20  # else: at least, and so many times those of the learner's own run
MOST_STEPS = 400_000
STEPS_OF_A_TEST = 100_000  # likewise: the most of a right module is a quarter, and they take two seconds
EXCHANGE_SECONDS = 0.02  # after which an exchange ends; those that were not tried go over in the next
CLOCKED = 4  # groups between two looks at the clock, which is slow on some machines
FAR_SECONDS = 20.0  # of wall time for one exchange: a single operation of NumPy that does not come to its end
MOST_PROCESSOR_SECONDS = 60.0  # of one diagnosis, here and in its process: the far bound
STARTS = 5  # processes that one diagnosis may use up, each by a trial that hangs

DRIVER = f'''
import copy as _variant_copy, marshal as _variant_marshal
from time import process_time as _variant_clock

{SWITCH} = frozenset()
_variant_left = [None, None]  # steps that are left, and what is raised without one


class _VariantStop(BaseException):
    pass


def {STEP}():
    if _variant_left[0] is not None:
        _variant_left[0] -= 1
        if _variant_left[0] < 0:
            raise _variant_left[1]


def _variant_plain(value):
    value = getattr(value, "__func__", getattr(value, "fget", value))
    return value if type(value).__name__ == "function" and value.__closure__ is None else None


def {PUT}(owner, name, made):
    held = globals() if owner is None else vars(owner)
    old, new = _variant_plain(held.get(name)), _variant_plain(made)
    if old is None or new is None or getattr(held.get(name), "__wrapped__", None) is not None:
        held.__setitem__(name, made) if owner is None else setattr(owner, name, made)
        return
    old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__


def _variant_own(value):
    kind = type(value).__name__
    if kind == "ndarray":
        return value.copy(order="K")
    if kind in ("list", "tuple"):
        return type(value)([_variant_own(each) for each in value])
    if kind == "dict":
        return {{key: _variant_own(each) for key, each in value.items()}}
    if kind == "Generator":
        return _variant_copy.deepcopy(value)
    return value


def _variant_bytes(value):
    kind = type(value).__name__
    if kind == "ndarray":
        return value.tobytes()
    if kind in ("list", "tuple"):
        return [_variant_bytes(each) for each in value]
    if kind == "dict":
        return [[repr(key), _variant_bytes(each)] for key, each in value.items()]
    return None


def _variant_given(value, made):
    if isinstance(value, list) and len(value) == 3 and value[0] == "{MADE}":
        found = made[value[1]]
        return found if value[2] is None else found[value[2]]
    if isinstance(value, list):
        return [_variant_given(each, made) for each in value]
    return value


def _variant_one(requests, steps):
    from grader.worker.draws import Draws
    from grader.worker.server import perform
    Draws().use()
    _variant_left[:] = steps, _VariantStop
    made, told = [], []
    try:
        for kind, target, name, args, kwargs, is_kept in requests:
            own, named = [_variant_given(_variant_own(each), made) for each in args], _variant_own(kwargs)
            before = _variant_bytes([own, named])
            try:
                target = _variant_given(target, made) if isinstance(target, list) else globals()[target]
                result = perform(kind, target, name, tuple(own), named)
            except Exception as error:
                lines, trace = [], error.__traceback__
                while trace is not None:
                    if trace.tb_frame.f_globals is globals():
                        lines.append(trace.tb_lineno)
                    trace = trace.tb_next
                told.append([None, [each.__name__ for each in type(error).__mro__], False, lines[-1:]])
                break
            except _VariantStop:
                told.append([None, ["TimeoutError"], False, []])
                break
            made.append(result)
            told.append([result if is_kept else None, [], _variant_bytes([own, named]) != before, []])
    finally:
        left, _variant_left[0] = _variant_left[0], None
    return told, steps - max(left, 0)


def {CHOOSE}(numbers, steps):
    globals()["{SWITCH}"] = frozenset(numbers)
    _variant_left[:] = steps, TimeoutError


def {TRY}(groups, requests, steps, codes=(), is_noted=False):
    for each in codes:
        exec(_variant_marshal.loads(each), globals())
    found, began = [], _variant_clock()
    for place, numbers in enumerate(groups):
        globals()["{SWITCH}"] = frozenset(numbers)
        {CLEAR}()
        told, used = _variant_one(requests, steps)
        found.append([told, used, list({LOG}) if is_noted else None])
        if place % {CLOCKED} == 0 and _variant_clock() - began > {EXCHANGE_SECONDS}:
            break
    globals()["{SWITCH}"] = frozenset()
    return found, _variant_clock()
'''


class RunnerGone(Exception):
    """No process is left to try changes in, or a far bound of time is reached."""


class Runner(Protocol):
    """Runs one module at a time, of which functions may be put in place anew."""

    @property
    def was_cut(self) -> bool:
        """Whether a far bound of time ended the search."""

    def choose(self, numbers: Sequence[int]) -> None:
        """Put changes in force for requests that follow one by one."""

    def named(self, name: str) -> Any:
        """Return what stands for a function, a class or a plain value of the module."""

    def load(self, codes: Sequence[bytes]) -> None:
        """Run a module's codes, one after the other, in place of the module before; RunnerGone where that fails."""

    def extend(self, code: bytes) -> None:
        """Run more code in the module before the next exchange."""

    def attempt(
        self, groups: Sequence[Sequence[int]], requests: Sequence[Any], steps: int = STEPS, is_noted: bool = False
    ) -> list[Any] | None:
        """Make requests with each group of changes in force, or with the first groups where they take long.

        None where one hung or ended the process. is_noted asks for the log of the probes.
        """

    def heard(self, numbers: Sequence[int], test: str, again: int, label: str) -> tuple[bool, Heard]:
        """Run a test of the suite with changes in force, with inputs of a seed that is so much further on.

        Return whether it passed, and the calls that it made of one function until it ended.
        """


@cache
def prelude() -> bytes:
    """Return the code that every form of a module begins with; its own names come after these."""
    text = f"import math, numpy as np\n{DRIVER}{PRELUDE}"
    return marshal.dumps(compile(text, "<prelude>", "exec", dont_inherit=True))


class LocalRunner:
    """Runs a right module in this process."""

    was_cut = False

    def __init__(self, name: str = "right_module") -> None:
        self._name = name
        self._module = types.ModuleType(name)

    def load(self, codes: Sequence[bytes]) -> None:
        self._module = types.ModuleType(self._name)
        sys.modules[self._name] = self._module  # dataclasses look their module up
        for each in (prelude(), *codes):
            self.extend(each)

    def extend(self, code: bytes) -> None:
        exec(marshal.loads(code), vars(self._module))  # nosec B302 # compiled here, of a right module of the course

    def attempt(
        self, groups: Sequence[Sequence[int]], requests: Sequence[Any], steps: int = STEPS, is_noted: bool = False
    ) -> list[Any] | None:
        with np.errstate(all="ignore"):
            found: list[Any] = vars(self._module)[TRY](groups, requests, steps, (), is_noted)[0]
        return found

    def choose(self, numbers: Sequence[int]) -> None:
        vars(self._module)[CHOOSE](numbers, STEPS_OF_A_TEST)

    def named(self, name: str) -> Any:
        return getattr(self._module, name)

    def heard(self, numbers: Sequence[int], test: str, again: int, label: str) -> tuple[bool, Heard]:
        return again > 0, Heard(label)


class RemoteRunner:
    """Runs a learner's module in a process of its own, one of those that run tests; a new one where that ends."""

    def __init__(
        self,
        start: Callable[[], Connection],
        end: Callable[[Connection], object],
        ends_at: float,
        run: Callable[[str, Any, int], bool],
        call_seconds: float = FAR_SECONDS,
    ) -> None:
        self._call_seconds = call_seconds  # of wall time for one exchange
        self._start = start
        self._end = end
        self._ends_at = ends_at  # by time.monotonic: the far bound
        self._run = run
        self._connection: Connection | None = None
        self._module = 0
        self._codes: list[bytes] = []
        self._waiting: list[bytes] = []  # of these, what is to run with the next request
        self._starts = 0
        self._was_cut = False
        self.exchanges = 0
        self.seconds = 0.0  # of processor time, as its process says
        self._ended_seconds = 0.0  # of these, in processes that have ended
        self._begins_at = time.process_time()

    @property
    def was_cut(self) -> bool:
        """Whether a far bound of time ended the search, or an exchange of it."""
        failure = None if self._connection is None else self._connection.failure
        return self._was_cut or (failure is not None and failure.status == "timed_out")

    def load(self, codes: Sequence[bytes]) -> None:
        """Run a module's codes in place of the module before; RunnerGone where that fails."""
        self._codes, self._waiting, self._module = [prelude(), *codes], [], 0
        for each in self._codes:
            self._ran(each)

    def extend(self, code: bytes) -> None:
        """Run more code in the module before the next exchange."""
        self._codes.append(code)
        self._waiting.append(code)

    def _ran(self, code: bytes) -> None:
        try:
            made = self._opened().request("load", self._module, "", (code,), label="a changed form")
        except WorkerFailed as error:
            raise RunnerGone from error
        except Exception as error:  # what the lines outside of functions raised
            raise RunnerGone from error
        if not isinstance(made, RemoteValue):
            raise RunnerGone
        self._module = made.__dict__["_number"]

    def _restart(self) -> None:
        codes = self._codes
        self._codes, self._waiting, self._module = list(codes), [], 0
        for each in codes:
            self._ran(each)

    def _opened(self) -> Connection:
        spent = time.process_time() - self._begins_at + self.seconds
        if spent > MOST_PROCESSOR_SECONDS or time.monotonic() > self._ends_at:
            self._was_cut = True
            raise RunnerGone
        if self._connection is None or self._connection.failure is not None:
            if self._starts == STARTS:
                raise RunnerGone
            self._was_cut = self.was_cut
            self.close()
            self._starts += 1
            self._ended_seconds = self.seconds
            self._connection = self._start()
            self._connection.call_seconds = self._call_seconds
        self._connection.forget()  # nobody reads what thousands of trials asked and were answered
        return self._connection

    def attempt(
        self, groups: Sequence[Sequence[int]], requests: Sequence[Any], steps: int = STEPS, is_noted: bool = False
    ) -> list[Any] | None:
        """Make requests with each group of changes in force, or with the first groups where they take long."""
        self.exchanges += 1
        if self._is_gone():
            self._restart()
        args = [list(each) for each in groups], list(requests), steps, tuple(self._waiting), is_noted
        try:
            told = self._opened().request("call", self._module, TRY, args, label=TRY)
        except RunnerGone:
            raise
        except Exception:  # the process ended, an answer cannot be sent, or a lie
            return None
        self._waiting = []
        match told:
            case [list(found), float(seconds)]:
                self.seconds = max(self.seconds, self._ended_seconds + seconds)
                return found if 0 < len(found) <= len(groups) else None
        return None

    def heard(self, numbers: Sequence[int], test: str, again: int, label: str) -> tuple[bool, Heard]:
        """Run a test of the suite with changes in force; return whether it passed, and the calls of one function."""
        self.choose(numbers)
        calls = Heard(label)
        try:
            return self._run(test, Stand(self, calls), again), calls
        finally:
            if not self._is_gone():
                self.choose(())

    def choose(self, numbers: Sequence[int]) -> None:
        """Put changes in force for requests that follow one by one."""
        if self._is_gone():
            self._restart()
        while self._waiting:
            self._ran(self._waiting.pop(0))
        args = list(numbers), STEPS_OF_A_TEST
        try:
            self._opened().request("call", self._module, CHOOSE, args, label=CHOOSE)
        except Exception as error:  # its process has ended, or the module has put its own function there
            raise RunnerGone from error

    def named(self, name: str) -> Any:
        """Return what stands for a function, a class or a plain value of the module."""
        if self._is_gone():
            self._restart()
        try:
            return self._opened().request("getattr", self._module, name, label=name)
        except WorkerFailed as error:
            raise RunnerGone from error

    def _is_gone(self) -> bool:
        return self._connection is None or self._connection.failure is not None

    def close(self) -> None:
        """End the process."""
        if self._connection is not None:
            self._end(self._connection)
            self._connection = None


@dataclass
class Heard:
    """The calls of one function of the module that a test made, and their answers."""

    label: str
    records: list[Record] = field(default_factory=list)

    @property
    def names(self) -> dict[str, Name]:
        """The function as a test's records name it."""
        return {self.label: Name("function", 1)}

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function and note the call."""
        given, named = copied_value(args), copied_value(kwargs)
        record = Record("call", 1, "", self.label, given, named, True, given, named)
        try:
            record.result = record.returned = function(*args, **kwargs)
        except WorkerFailed:
            raise
        except Exception as error:
            record.error = error
            raise
        finally:
            record.changed = frozen([args, kwargs]) != frozen([given, named])
            self.records.append(record)
        return record.result


class Stand:
    """Stands for the module of a runner: for a test's `learner`. The calls of one function are noted in heard."""

    def __init__(self, runner: Runner, heard: Heard | None = None) -> None:
        self._runner = runner
        self._heard = heard

    def __getattr__(self, name: str) -> Any:
        found = self._runner.named(name)
        heard = self._heard
        if heard is None or name != heard.label or not isinstance(found, RemoteValue):
            return found
        return lambda *args, **kwargs: heard.called(found, args, kwargs)


def requests_of(records: Sequence[Record], names: Mapping[int, str], is_local: bool = False) -> list[list[Any]] | None:
    """Return the requests of records as they go over; None where one has no such form, as a function that is passed.

    names are those of the module by the numbers of what stands for them; they are looked up anew in each trial.
    is_local says that they stay in this process, where a function can be passed.
    """
    made: dict[int, list[Any]] = {}  # by the number of an object: where it comes from
    given: dict[int, list[Any]] = {}  # by the id of a cache
    found: list[list[Any]] = []
    for place, record in enumerate(records):
        target: Any = names.get(record.target, made.get(record.target))
        if record.kind not in ("call", "getattr", "setattr", "op") or target is None or record.target == 0:
            return None
        args = [
            _sent(value, mine, made, given)
            for value, mine in zip(record.args, record.given or record.args, strict=True)
        ]
        if not is_local and not all(map(_is_plain, (*args, *record.kwargs.values()))):
            return None
        found.append([record.kind, target, record.name, args, record.kwargs, not stays_there(record.result)])
        if isinstance(record.result, RemoteValue):
            made.setdefault(record.result.__dict__["_number"], [MADE, place, None])
        elif isinstance(record.result, (tuple, list)):
            for at, each in enumerate(record.result):
                if isinstance(each, RemoteValue):
                    made.setdefault(each.__dict__["_number"], [MADE, place, at])
        if isinstance(record.returned, tuple) and record.returned:
            given[id(record.returned[-1])] = [MADE, place, -1]
    return found


def _sent(value: Any, mine: Any, made: Mapping[int, list[Any]], given: Mapping[int, list[Any]]) -> Any:
    if id(mine) in given:
        return given[id(mine)]
    if isinstance(value, RemoteValue):
        return made.get(value.__dict__["_number"], value)
    if type(value) is list and isinstance(mine, list) and len(mine) == len(value):
        return [_sent(*pair, made, given) for pair in zip(value, mine, strict=True)]
    return value


def stays_there(value: Any) -> bool:
    """Say whether a result is, or holds, an object of the learner's, which is not sent."""
    several = isinstance(value, (list, tuple)) and any(isinstance(each, RemoteValue) for each in value)
    return several or isinstance(value, RemoteValue)


def _is_plain(value: Any) -> bool:
    if isinstance(value, (RemoteValue, Extended)) or (callable(value) and not isinstance(value, np.generic)):
        return False
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return all(map(_is_plain, value.values())) if isinstance(value, dict) else True


def error_of(names: Any) -> Exception | None:
    """Return an exception of the first builtin class among names; None for no names."""
    for name in names if isinstance(names, list) else ():
        kind = getattr(builtins, name, None) if isinstance(name, str) else None
        if isinstance(kind, type) and issubclass(kind, Exception):
            return kind()
    return Exception() if names else None

"""Repeats what a test asked of a learner's module on another module, and compares the answers."""

from __future__ import annotations

import builtins
import copy
import dis
import re
import traceback
import types
from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from grader.course.stage import Stage, Tolerance
from grader.sandbox.exceptions import LEARNERS
from grader.sandbox.proxies import RemoteValue
from grader.sandbox.record import Frame, Name, Record, copied_value
from grader.worker.draws import Draws
from grader.worker.server import IN_PLACE, perform

MAX_RECORDS = 400
CONVENTIONS = 2e-5  # relative: as far as two correct conventions differ, such as eps inside or outside of a square root
_BY_HAND = re.compile(rb"\b(raise|assert)\b")


class Mirrored(np.random.Generator):
    """A generator that counts shares down from 1: `random() < keep` draws with it what `random() >= 1 - keep` does."""

    def random(self, *args: Any, **kwargs: Any) -> Any:
        """Return what is left of 1."""
        return 1 - super().random(*args, **kwargs)


class Replay:
    """Repeats a test's requests on another module and says whether every answer is the recorded one."""

    def __init__(
        self, module: types.ModuleType, stage: Stage, names: dict[str, Name], exact: bool = True, learner: bytes = b""
    ) -> None:
        self.objects: dict[int, Any] = {0: module}
        self.learner = learner
        self.floor = 0.0  # differences up to this are none
        self.is_mirrored = False  # whether generators that it is given count shares from the other end
        self.by_class = False  # objects are alike where they are of one class of the checklist, or of none
        self.by_details = False  # exceptions that nobody raised by hand are alike where their message holds a number
        self.exact = exact
        self.tolerance = stage.tolerance
        self.asked = {name for row in stage.criteria for name in row.functions}
        self.opaque = stage.opaque
        self.given: dict[int, Any] = {}
        for name, entry in names.items():
            if entry.number and hasattr(module, name):
                self.objects[entry.number] = getattr(module, name)
        self._named = frozenset(self.objects)
        self._draws = Draws()

    def copied(self) -> Self:
        """Return a replay that goes on from here with the same objects, and leaves this one as it is."""
        other = copy.copy(self)
        other.objects, other.given = dict(self.objects), dict(self.given)
        other._draws = self._draws.copied()
        return other

    def made(self) -> list[Any]:
        """Return the objects that it made, beside those of the module."""
        return [*(made for number, made in self.objects.items() if number not in self._named), *self.given.values()]

    def agrees(self, records: Iterable[Record]) -> bool:
        """Say whether the module answers each request as recorded; it stops at the first that it does not."""
        return self.first_difference(records) is None

    def first_difference(self, records: Iterable[Record]) -> int | None:
        """Return the place of the first request that the module answers otherwise; None where there is none."""
        for place, record in enumerate(records):
            try:
                if not self._agrees(record):
                    return place
            except (
                Exception
            ):  # a handle that names nothing here, a value that cannot be compared: the other side chose it
                return place
        return None

    def stands_alone(self, record: Record) -> bool:
        """Say whether a request calls a function of the module with plain values: no other has to come before it."""
        values = (*record.args, *record.kwargs.values())
        return (
            record.kind == "call"
            and not record.name
            and record.target in self._named
            and not any(map(self._is_held, values))
        )

    def _is_held(self, value: Any) -> bool:
        """Say whether a value is, or holds, an object of the module or a cache that an earlier request gave."""
        if isinstance(value, RemoteValue):
            return True
        if isinstance(value, dict):
            return any(map(self._is_held, value.values())) or bool(self.opaque)
        return isinstance(value, (list, tuple)) and (bool(self.opaque) or any(map(self._is_held, value)))

    def _agrees(self, record: Record) -> bool:
        result, error, changed = self._performed(record)
        return self._is_same(record, result, error, changed)

    def perform(self, record: Record) -> tuple[Any, Exception | None, bool, bool] | None:
        """Repeat one request: what came back or was raised, whether an argument changed, whether all is as recorded.

        None where it cannot be repeated here.
        """
        try:
            result, error, changed = self._performed(record)
            return result, error, changed, self._is_same(record, result, error, changed)
        except Exception:  # a handle that names nothing here, a value that cannot be compared
            return None

    def _performed(self, record: Record) -> tuple[Any, Exception | None, bool]:
        args = tuple(self._local(*pair) for pair in zip(record.args, record.given, strict=True))
        kwargs = {name: self._local(value, value) for name, value in record.kwargs.items()}
        before = frozen([args, kwargs])
        self._draws.use()
        try:
            result = perform(record.kind, self.objects[record.target], record.name, args, kwargs)
        except Exception as error:  # a wrong answer may well raise
            return None, error, frozen([args, kwargs]) != before
        return result, None, frozen([args, kwargs]) != before

    def _is_same(self, record: Record, result: Any, error: Exception | None, changed: bool) -> bool:
        if error is not None:  # it agrees where the learner's raised alike
            return record.error is not None and self._same_error(record, record.error, error)
        if record.name in IN_PLACE and _is_target(record) and result is not self.objects[record.target]:
            return False  # x += y changed the learner's x, and made a new one here
        if record.error is not None or record.failed or record.changed != changed:
            return False
        if record.label in self.opaque and isinstance(record.result, tuple):
            return self._same_but_cache(record, result)
        return self._same(record.result, result)

    def _same_error(self, record: Record, recorded: BaseException, local: Exception) -> bool:
        """Say whether both raised a kind of exception by hand, in their own words, or NumPy said the same to both."""
        by_hand = raised_by_hand(local)
        if not isinstance(local, _builtin_class(recorded)) or by_hand != self.learner_raised(recorded):
            return False
        if by_hand:
            return True
        if (where := self._function_of(recorded)) and where not in {record.label, *_entered(local)}:
            return False
        return str(local) == str(recorded) and (not self.by_details or re.search(r"\d", str(local)) is not None)

    def _function_of(self, recorded: BaseException) -> str:
        """Return the function of the checklist in which the learner's module raised; empty for a helper of its own."""
        frames: list[Frame] = getattr(recorded, "learner_frames", [])
        where = frames[-1].function if frames else ""
        return where if where in self.asked else ""

    def learner_raised(self, recorded: BaseException) -> bool:
        """Say whether a line of the learner's that raises, or asserts, gave a recorded exception."""
        frames: list[Frame] = getattr(recorded, "learner_frames", [])
        lines = self.learner.splitlines()
        place = frames[-1].line - 1 if frames else -1
        return 0 <= place < len(lines) and bool(_BY_HAND.search(lines[place]))

    def _local(self, value: Any, given: Any) -> Any:
        """Return this module's own object for a handle or an opaque value, and a copy of a plain one."""
        if id(given) in self.given:
            return self.given[id(given)]
        if isinstance(value, RemoteValue):
            return self.objects[value.__dict__["_number"]]
        if isinstance(value, np.random.Generator) and self.is_mirrored:
            return Mirrored(copied_value(value).bit_generator)
        if isinstance(value, (np.ndarray, np.random.Generator)):
            return copied_value(value)
        if type(value) in (list, tuple):
            return type(value)(self._local(item, item) for item in value)
        if type(value) is dict:
            return {key: self._local(item, item) for key, item in value.items()}
        return value

    def _same_but_cache(self, record: Record, local: Any) -> bool:
        """Compare all but the last result, and remember which cache of this module stands for the learner's."""
        if not isinstance(local, tuple) or len(local) != len(record.result):
            return False
        if isinstance(record.returned, tuple) and record.returned:  # where the learner's raised, no cache came back
            self.given[id(record.returned[-1])] = local[-1]
        return self._same(record.result[:-1], local[:-1])

    def _same(self, recorded: Any, local: Any) -> bool:
        if isinstance(recorded, RemoteValue):
            if (returned_exception(recorded) and not isinstance(local, BaseException)) or is_lazy(recorded, local):
                return False
            names = {str(recorded.__dict__["_shown"]), type(local).__name__}
            is_object = recorded.__dict__["_kind"] == "object"
            if self.by_class and is_object and len(names) == 2 and names & self.asked:
                return False
            self.objects[recorded.__dict__["_number"]] = local
            return True
        if isinstance(recorded, np.ndarray) or isinstance(local, np.ndarray):
            return same_array(recorded, local, self.tolerance, self.exact, self.floor)
        if isinstance(recorded, (list, tuple)):
            alike = isinstance(local, (list, tuple)) and len(local) == len(recorded)
            alike = alike and not (self.exact and isinstance(recorded, tuple) != isinstance(local, tuple))
            return alike and all(self._same(a, b) for a, b in zip(recorded, local, strict=True))
        if isinstance(recorded, dict):
            alike = isinstance(local, dict) and set(map(repr, local)) == set(map(repr, recorded))
            return alike and all(self._same(recorded[key], local[key]) for key in recorded if key in local)
        if isinstance(recorded, (float, complex, np.generic)) or isinstance(local, (float, complex, np.generic)):
            return same_array(recorded, local, self.tolerance, self.exact, self.floor)
        return not isinstance(local, RemoteValue) and bool(recorded == local)


def _is_target(record: Record) -> bool:
    """Say whether the answer was the very object that was asked."""
    return isinstance(record.result, RemoteValue) and record.result.__dict__["_number"] == record.target


def same_array(recorded: Any, local: Any, tolerance: Tolerance, exact: bool, floor: float = 0.0) -> bool:
    """Say whether two values are one answer: shape, dtype (its kind, unless exact), numbers within tolerance."""
    try:
        a, b = np.asarray(recorded), np.asarray(local)
    except ValueError:
        return False
    if a.shape != b.shape or a.dtype.kind != b.dtype.kind or a.dtype.kind == "O" or (exact and a.dtype != b.dtype):
        return False
    if a.dtype.kind not in "fc":
        return bool((a == b).all())
    coarse = max(float(np.finfo(x.dtype).eps) for x in (a, b)) > 1e-10
    rtol = tolerance.float32 if coarse else max(tolerance.float64, 1e-9 if exact else CONVENTIONS)
    with np.errstate(all="ignore"):
        finite = np.isfinite(a) & np.isfinite(b)
        if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
            return False
        scale = float(np.abs(b[finite]).max(initial=0.0)) or 1.0
        return bool(np.all(np.abs(a[finite] - b[finite]) <= max(rtol * scale, floor)))


def _builtin_class(error: BaseException) -> type[BaseException]:
    """Return the builtin or NumPy exception that a learner's own exception stands for."""
    return next(cls for cls in type(error).__mro__ if cls.__module__ != LEARNERS)


def raised_at(error: Exception) -> tuple[int, ...]:
    """Return the lines in which an exception came about: that of each call, and that of the last one's `raise`."""
    return tuple(line for _, line in traceback.walk_tb(error.__traceback__))


def raised_by_hand(error: Exception) -> bool:
    """Say whether a raise or an assert of our own module, rather than something it called, raised this."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or not last.tb_frame.f_code.co_filename.startswith("<"):
        return False
    return dis.opname[last.tb_frame.f_code.co_code[last.tb_lasti]] == "RAISE_VARARGS"


def frozen(value: Any) -> Any:
    """Return the content of mutable arguments in a form that can be compared later."""
    if isinstance(value, np.ndarray):
        return value.tobytes()
    if isinstance(value, (list, tuple)):
        return [frozen(item) for item in value]
    if isinstance(value, dict):
        return [(repr(key), frozen(item)) for key, item in value.items()]
    return None


LAZY = ("generator", "coroutine", "async_generator")


def usable(records: list[Record]) -> bool:
    """Say whether a test's requests can all be repeated."""
    return 0 < len(records) <= MAX_RECORDS and all(record.replayable and not record.failed for record in records)


def returned_exception(result: object) -> str:
    """Return the name of the exception that was returned as a value; nothing where it was another one."""
    shown = str(result.__dict__["_shown"]) if isinstance(result, RemoteValue) else ""
    known = getattr(builtins, shown, None)
    return shown if isinstance(known, type) and issubclass(known, Exception) else ""


def is_lazy(result: object, local: object) -> bool:
    """Say whether a call gave a generator or a coroutine, of which no line has run, where the right one has a value."""
    shown = result.__dict__["_shown"] if isinstance(result, RemoteValue) else ""
    return shown in LAZY and isinstance(local, (np.ndarray, np.generic, int, float, complex, str, bytes, tuple, dict))


def _entered(error: Exception) -> set[str]:
    """Return the names of the functions through which an exception came, those of methods with their class."""
    return {frame.f_code.co_qualname for frame, _ in traceback.walk_tb(error.__traceback__)}

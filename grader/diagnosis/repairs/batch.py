"""Several changes tried in one exchange: the requests of a test go over once, the answers to each change come back."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from grader.diagnosis.repairs.held.seen import CLOCK
from grader.diagnosis.repairs.rounds import MOST_ROUNDS, STEP
from grader.diagnosis.slips.schema import SWITCH
from grader.sandbox.proxies import RemoteValue
from grader.sandbox.record import Record
from grader.sandbox.values import Extended

TRY = "_slips_try"  # the name, in a changed module, of what makes the requests
MADE = "_slips_made"  # stands before the place of an earlier request, whose last result is passed on
PUT = "_slips_put"  # of what gives a function other lines, so that every name and table that holds it has them
EXCHANGE_SECONDS = 0.008  # of processor time, after which an exchange ends: some changes may not have been tried
DRIVER = f'''
import marshal as _slips_marshal
from time import process_time as {CLOCK}


def _slips_plain(value):
    value = getattr(value, "__func__", getattr(value, "fget", value))
    return value if type(value).__name__ == "function" and value.__closure__ is None else None


def {PUT}(owner, name, made):
    held = globals() if owner is None else vars(owner)
    old, new = _slips_plain(held.get(name)), _slips_plain(made)
    if old is None or new is None:
        held.__setitem__(name, made) if owner is None else setattr(owner, name, made)
        return
    old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__


def _slips_own(value):
    kind = type(value).__name__
    if hasattr(value, "dtype") and kind == "ndarray":
        return value.copy(order="K")
    if kind in ("list", "tuple"):
        return type(value)([_slips_own(each) for each in value])
    if kind == "dict":
        return {{key: _slips_own(each) for key, each in value.items()}}
    if kind == "Generator":
        import copy
        return copy.deepcopy(value)
    return value


def _slips_bytes(value):
    kind = type(value).__name__
    if kind == "ndarray":
        return value.tobytes()
    if kind in ("list", "tuple"):
        return [_slips_bytes(each) for each in value]
    if kind == "dict":
        return [[repr(key), _slips_bytes(each)] for key, each in value.items()]
    return None


_slips_rounds = None


def {STEP}():
    global _slips_rounds
    if _slips_rounds is not None:
        _slips_rounds -= 1
        if _slips_rounds < 0:
            raise TimeoutError


def _slips_one(requests):
    global _slips_rounds
    _slips_rounds = {MOST_ROUNDS}
    try:
        return _slips_all(requests)
    finally:
        _slips_rounds = None


def _slips_all(requests):
    made, told = [], []
    for kind, target, name, args, kwargs, is_kept in requests:
        own, named = _slips_own(args), _slips_own(kwargs)
        before = _slips_bytes([args, kwargs])
        if any(isinstance(each, list) and each[:1] == ["{MADE}"] for each in own):
            own = [made[each[1]][-1] if isinstance(each, list) and each[:1] == ["{MADE}"] else each for each in own]
            before = _slips_bytes([own, named])
        try:
            target = made[target] if isinstance(target, int) else globals()[target] if type(target) is str else target
            if kind == "setattr":
                result = setattr(target, name, own[0])
            elif kind == "getattr":
                result = getattr(target, name)
            else:
                result = (getattr(target, name) if name else target)(*own, **named)
        except Exception as error:
            told.append([None, [each.__name__ for each in type(error).__mro__], False])
            break
        made.append(result)
        told.append([result if is_kept else None, [], _slips_bytes([own, named]) != before])
    return told


def {TRY}(groups, requests, codes=()):
    for each in codes:
        exec(_slips_marshal.loads(each), globals())
    found, ends_at = [], {CLOCK}() + {EXCHANGE_SECONDS}
    for numbers in groups:
        globals()["{SWITCH}"] = numbers
        found.append(_slips_one(requests))
        if {CLOCK}() > ends_at:
            break
    globals()["{SWITCH}"] = []
    return found, {CLOCK}()
'''


def requests_of(records: Sequence[Record], objects: Mapping[int, Any]) -> list[list[Any]] | None:
    """Return the requests of records as they go over; None where one has no such form.

    objects are those that are there, by their numbers: what stands for one, or its name in the module, which is looked
    up there each time, since a function of other lines may have taken its place.
    """
    made: dict[int, int] = {}
    given: dict[int, int] = {}
    found: list[list[Any]] = []
    for place, record in enumerate(records):
        target = objects.get(record.target, made.get(record.target))
        if record.kind not in ("call", "getattr", "setattr") or target is None or record.target == 0:
            return None
        args = [
            [MADE, given[id(mine)]] if id(mine) in given else value
            for value, mine in zip(record.args, record.given, strict=True)
        ]
        if not all(map(_is_plain, (*args, *record.kwargs.values()))):
            return None
        found.append([record.kind, target, record.name, args, record.kwargs, not stays_there(record.result)])
        if isinstance(record.result, RemoteValue):
            made[record.result.__dict__["_number"]] = place
        elif isinstance(record.returned, tuple) and record.returned:
            given[id(record.returned[-1])] = place
    return found


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
    return None

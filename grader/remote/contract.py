"""Holds what a learner's function gave to what the stage's manifest says that it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.course.contract import Contract
from grader.remote.extended import Extended
from grader.remote.proxies import RemoteValue
from grader.remote.record import Record
from grader.remote.refusals import Unusable

NUMERIC_KINDS = "biufc"  # bool, integers, floating and complex; text, dates, objects and records are no numbers


def expect_kind(contract: Contract, record: Record, value: Any) -> None:
    """Expect a request's result to be of its kind; raises Unusable, and notes in the record that it failed."""
    if wrong := fault(contract, record.kind, record.label, value):
        record.failed = True
        raise Unusable(wrong)


def fault(contract: Contract, kind: str, label: str, value: Any) -> str:
    """Return how what a request gave differs from its kind in the contract; nothing where it does not.

    >>> fault(Contract({}, {"params": "dict of arrays"}), "getattr", "Layer.params", [1, 2])
    'params of Layer: expected a dict of arrays, got a list'
    """
    owner, _, name = label.rpartition(".")
    expected = contract.values.get(name) if kind in ("call", "getattr") else None
    if expected is None or (kind == "getattr" and _is_function(value)):  # a method that is about to be called
        return ""
    place = f"{name} of {owner}" if owner else name
    if expected == "array":
        return "" if _is_array(value) else f"{place}: expected an array, got {_named(value)}"
    if not isinstance(value, dict):
        return f"{place}: expected a dict of arrays, got {_named(value)}"
    wrong = next((key for key, item in value.items() if not _is_array(item)), None)
    if wrong is None:
        return ""
    return f"{place}: expected a dict of arrays, got {_named(value[wrong])} for {str(wrong)[:100]!r}"


def _is_array(value: Any) -> bool:
    if type(value) is np.ndarray or isinstance(value, np.generic):
        return value.dtype.kind in NUMERIC_KINDS
    return isinstance(value, (bool, int, float, complex))


def _named(value: Any) -> str:
    if isinstance(value, RemoteValue):
        return f"an instance of {value.__dict__['_shown']}" if value.__dict__["_kind"] == "object" else repr(value)
    if value is None:
        return "None"
    if type(value) is np.ndarray:
        return f"an array of dtype {value.dtype}"
    name = str(value.__dict__["_shown"]) if isinstance(value, Extended) else type(value).__name__
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name}"


def _is_function(value: Any) -> bool:
    return isinstance(value, RemoteValue) and value.__dict__["_kind"] == "function"

"""The requests of a test go over once: what they make is passed on there, and what they leave changed is noticed."""

from __future__ import annotations

import marshal
from typing import Any

import numpy as np
import pytest

from grader.diagnosis.repairs.batch import DRIVER, MADE, TRY, error_of, requests_of
from grader.diagnosis.slips.schema import SWITCH
from grader.sandbox.proxies import RemoteValue
from grader.sandbox.record import Record


def attempted(groups: list[list[int]], *requests: list[Any]) -> Any:
    names: dict[str, Any] = {"SWITCH": SWITCH, "twice": lambda x: 2 * x}
    exec(DRIVER, names)
    names["chosen"] = lambda: names[SWITCH]
    made = [[names["chosen"] if each == "chosen" else each for each in request] for request in requests]
    return names[TRY](groups, made)[0]


def record(target: int, *args: Any, result: Any = None, kind: str = "call") -> Record:
    return Record(kind, target, "", "f", args, {}, True, args, {}, result, result)


def test_each_group_has_its_own_changes_in_force() -> None:
    assert attempted([[1], [2, 3]], ["call", "chosen", "", [], {}, True]) == [[[[1], [], False]], [[[2, 3], [], False]]]


def test_arguments_are_fresh_each_time_and_a_change_of_them_is_told() -> None:
    def adds(x: Any) -> Any:
        x += 1
        return x.sum()

    told = attempted([[], []], ["call", adds, "", [np.zeros(2)], {}, True])
    assert [[each[0][0], each[0][2]] for each in told] == [[2.0, True], [2.0, True]]


def test_what_one_request_gives_another_takes() -> None:
    give = ["call", lambda: (1, {"kept": 5}), "", [], {}, True]
    take = ["call", lambda cache: cache["kept"], "", [[MADE, 0]], {}, True]
    assert attempted([[]], give, take)[0][1] == [5, [], False]


def test_what_raises_ends_its_group_and_is_told_by_its_classes() -> None:
    ((only,),) = attempted([[]], ["call", lambda: 1 / 0, "", [], {}, True], ["call", lambda: 1, "", [], {}, True])
    assert isinstance(error_of(only[1]), ZeroDivisionError)


@pytest.mark.parametrize("names", [None, [], ["Learners", 3], "ValueError", ["SystemExit"]])
def test_names_that_are_no_exception_are_none(names: Any) -> None:
    assert error_of(names) is None


def test_a_name_of_the_module_is_looked_up_each_time() -> None:
    assert attempted([[]], ["call", "twice", "", [4], {}, True]) == [[[8, [], False]]]


def test_code_that_goes_over_with_the_requests_runs_before_them() -> None:
    names: dict[str, Any] = {}
    exec(DRIVER, names)
    code = marshal.dumps(compile("def thrice(x): return 3 * x", "<code>", "exec"))
    told, _ = names[TRY]([[]], [["call", "thrice", "", [5], {}, True]], [code])
    assert told == [[[15, [], False]]]


def test_an_exchange_that_takes_long_ends_after_some_groups() -> None:
    def counts() -> int:
        return sum(range(1_000_000))  # more than the time that an exchange may take

    told = attempted([[1], [2], [3]], ["call", counts, "", [], {}, True])
    assert 0 < len(told) < 3


def test_functions_and_operators_do_not_go_over_this_way() -> None:
    assert requests_of([record(1, len)], {1: "f"}) is None
    assert requests_of([record(1, kind="op")], {1: "f"}) is None
    assert requests_of([record(2)], {1: "f"}) is None


def test_an_object_that_stays_is_named_by_the_request_that_made_it() -> None:
    made: Any = object.__new__(RemoteValue)
    made.__dict__.update(_connection=None, _number=7, _kind="object", _shown="Layer", _classes=())
    requests = requests_of([record(1, result=made), record(7, 3.0, result=2.0)], {1: "Layer"})
    assert requests is not None
    assert [each[1] for each in requests] == ["Layer", 0] and [each[5] for each in requests] == [False, True]

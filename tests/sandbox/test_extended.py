"""What extends a plain container travels as that container: content here, attributes and identity with the learner."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from grader.isolation import tiers
from grader.protocol import codec
from grader.sandbox.proxies import RemoteValue
from grader.sandbox.record import copied_value
from grader.sandbox.values import Extended, NotPlain
from grader.testing import Mismatch, assert_array, assert_equal
from tests.conftest import Learner, Start
from tests.sandbox.containers import CONTRACT, MODULE
from tests.sandbox.learners import connection_of


@pytest.fixture(scope="module")
def process(tier: tiers.Tier, start: Start) -> Learner:
    return start(MODULE, tier, contract=CONTRACT)


@pytest.mark.every_tier
def test_a_named_tuple_is_a_tuple_with_attributes(remote: Any) -> None:
    found = remote.fit()
    weights, bias = found
    assert found.weights.tolist() == weights.tolist() == [0, 1, 2] and found.predict(2.0).tolist() == [2, 4, 6]
    assert isinstance(found, remote.Fit) and not isinstance((), remote.Fit)
    assert type(found).__bases__[1] is tuple and found == (weights, 2.0) and bias == 2.0
    with pytest.raises(AttributeError, match="no public attribute '_fields'"):
        _ = found._fields
    with pytest.raises(AttributeError):
        _ = found.missing


def test_they_nest(remote: Any) -> None:
    found = remote.nested()
    assert found == {"a": [(1, (2, [1, 2]))]} and found["a"][0].right.left == 2


@pytest.mark.every_tier
def test_what_is_inside_is_what_is_seen(remote: Any) -> None:
    rows, row, table, group, deep = remote.liars()
    assert (rows, row, table, group, deep) == ([1], (1,), {"a": 1}, {1}, ((2,),))
    assert [len(each) for each in (rows, row, table, group)] == [1, 1, 1, 1]
    assert list(rows) == [1] and row[0] == 1 and 7 not in rows and list(table.items()) == [("a", 1)]
    assert rows != [2] and table != {"b": 1} and repr(group) == "{1}"
    assert_equal(rows, [1])
    with pytest.raises(Mismatch, match="expected 2 items, got 1"):
        assert_equal(row, (1, 2))


def test_the_learners_own_object_comes_back_to_its_functions(remote: Any) -> None:
    found = remote.fit()
    assert remote.keep(found) == "Fit" and remote.keep(found) == "Fit" and remote.kept_twice()
    assert remote.keep([found]) == "list"
    assert remote.apply(lambda value: value, found) == found


def test_what_a_test_changes_inside_is_changed_in_the_learners_object(remote: Any) -> None:
    found = remote.params()
    assert remote.total(found) == 0
    found["W"][0] = 5
    assert remote.total(found) == 5
    found["W"] = np.full(3, 2.0)
    found["b"].append(7)
    assert remote.keep(found) == "Params" and remote.total(found) == 6 and remote.last()["b"] == [1, 7]


def test_what_a_call_changes_in_place_is_changed_here(remote: Any) -> None:
    found = remote.params()
    weights = found["W"]
    again = remote.step(found)
    assert again is found and found["W"] is weights and weights.tolist() == [1, 1] and found["n"] == 1
    assert connection_of(remote).changed == ["step"]
    remote.step(found, found["W"])
    assert weights.tolist() == [2, 2]


def test_a_call_that_changes_nothing_is_not_blamed(remote: Any) -> None:
    found = remote.params()
    remote.total(found)
    assert connection_of(remote).changed == []


def test_what_the_learner_changed_meanwhile_is_not_set_back(remote: Any) -> None:
    found = remote.params()
    remote.keep(found)
    remote.train()
    assert remote.total(found) == remote.total(found) == 20 and found["W"].tolist() == [0, 0]


def test_objects_that_the_test_makes_stay_objects(remote: Any) -> None:
    dual = remote.Dual(3.0, 1.0)
    assert (dual * dual).value == 9 and type(dual) is RemoteValue and type(remote.square(dual)) is RemoteValue


def test_numbers_of_a_class_of_their_own(remote: Any) -> None:
    red, close = remote.red()  # assertions take neither under plain pytest
    assert isinstance(red, RemoteValue) and isinstance(close, RemoteValue)
    for use in (int, float, abs, lambda value: value + 1, lambda value: value == 3):
        with pytest.raises(NotPlain, match="red returned an instance of Color"):
            use(red)


def test_what_cannot_travel_stays_an_object(remote: Any) -> None:
    found = remote.unsendable()
    assert isinstance(found, RemoteValue) and found.left == 1 and remote.keep(found) == "Pair"
    assert isinstance(remote.graph(70), RemoteValue) and remote.graph(3).left.left == ((1, None), (1, None))


def test_one_that_contains_itself_is_refused(remote: Any) -> None:
    with pytest.raises(Exception, match="a value that contains itself"):
        remote.scribble()


def test_copies_are_plain(remote: Any) -> None:
    found = remote.params()
    for made in (copy.copy(found), copy.deepcopy(found), copied_value(found)):
        assert type(made) is dict and made["b"] == [1.0]
    assert type(copy.deepcopy(remote.pair())) is tuple and type(copied_value([remote.pair()])[0]) is tuple
    assert copied_value(found)["W"] is not found["W"]


def test_one_of_another_test_is_plain(process: Learner) -> None:
    found = process.open().fit()
    assert process.open().keep(found) == "tuple"
    process.done()


def test_a_message_says_what_came_back(remote: Any) -> None:
    with pytest.raises(Mismatch, match="returned a Fit of 2 where one array was expected"):
        assert_array(remote.fit(), np.zeros(3))
    with pytest.raises(Mismatch, match=r"returned a list of 1; wrap it with np\.array"):
        assert_array(remote.liars()[0], np.zeros(1))


@pytest.mark.parametrize(
    "fields",
    [
        [], [3], [3, "object", "Pair", [], [], 5], [3, "object", "Pair", [], [], [codec.ARRAY]],
        [0.5, "object", "Pair", [], [], [codec.TUPLE]], [3, "function", "Pair", [], [], [codec.TUPLE]],
        [3, "object", "Pair", ["x"], [], [codec.TUPLE]], [-1, "object", "Pair", [], [], [codec.LIST]],
        [3, "object", "Pair", [], [7], [codec.LIST]], [3, "object", "Pair", [], [], [codec.EXTENDS]],
    ],
    ids=repr,
)  # fmt: skip
def test_forms_that_are_none(remote: Any, fields: list[Any]) -> None:
    decoder = codec.Decoder(connection_of(remote).handles.unwrap)
    with pytest.raises(codec.WireError):
        decoder.decode([codec.EXTENDS, *fields])


def test_one_number_is_of_one_kind(remote: Any) -> None:
    handles = connection_of(remote).handles
    number = handles.named("fit", connection_of(remote).names["fit"]).__dict__["_number"]
    with pytest.raises(codec.WireError, match="another kind"):
        codec.Decoder(handles.unwrap).decode([codec.EXTENDS, number, "object", "x", [], [], [codec.TUPLE]])
    found = codec.Decoder(handles.unwrap).decode([codec.EXTENDS, 500, "object", "x", [], [], [codec.TUPLE, 1]])
    assert issubclass(type(found), Extended) and found == (1,)

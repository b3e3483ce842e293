"""What a manifest says of a learner's values and objects: axes of arrays, kinds of values, members of objects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from grader.course.table import Rule, Table, did_you_mean, listed

Members = frozenset[str]  # names of the attributes, methods and operators that a class answers
NONE: Members = frozenset()
ValueKind = Literal["array", "dict of arrays"]
VALUE_KINDS: tuple[ValueKind, ...] = get_args(ValueKind)
_AXES: Rule = (
    re.compile(r"\s*\w+([*/+-]\w+)*(\s+\w+([*/+-]\w+)*)*\s*"),
    "names of axes with spaces between, as in 'batch seq d_model'",
)
_MEMBER: Rule = re.compile(r"[A-Za-z]\w*|__[a-z]+__"), "an attribute, a method, or an operator as in '__add__'"


@dataclass(frozen=True)
class Contract:
    """Members by class, or by the function or member that gives the object; kinds of values by function or member.

    >>> moe = Contract({"MoE": frozenset({"forward"})}, {"router": "array"})
    >>> mlp = Contract({"MLP": frozenset({"params"})}, {"params": "dict of arrays", "gelu": "array"})
    >>> moe.building_on([mlp]).values
    {'params': 'dict of arrays', 'router': 'array'}
    """

    members: Mapping[str, Members] = field(default_factory=dict, hash=False)
    values: Mapping[str, ValueKind] = field(default_factory=dict, hash=False)

    def building_on(self, used: Iterable[Contract]) -> Contract:
        """Return this contract with what those of earlier stages say of their classes."""
        members: dict[str, Members] = {}
        values: dict[str, ValueKind] = {}
        for each in (*used, self):
            members |= {name: members.get(name, NONE) | own for name, own in each.members.items()}
            its_own = each.values if each is self else {k: v for k, v in each.values.items() if each.is_member(k)}
            values |= its_own
        return Contract(members, values)

    def is_member(self, name: str) -> bool:
        """Say whether a class has a member of this name."""
        return any(name in own for own in self.members.values())


NO_CONTRACT = Contract()


def contract_of(members: Table, values: Table, names: Iterable[str]) -> Contract:
    """Read the tables [members] and [values]; names are those of functions, methods and attributes in rows and [axes].

    A method or an attribute among them is a member without being listed.
    """
    asked = {name.partition(".")[0] for name in names}
    found: dict[str, set[str]] = {}
    for name in names:
        owner, _, member = name.partition(".")
        if member:
            found.setdefault(owner, set()).add(member)
    known = asked.union(*found.values(), *(each for each in members.values.values() if isinstance(each, list)))
    for name in members.values:
        if name not in known:
            members.wrong(name, f"is neither in a row's functions nor a member of a class{did_you_mean(name, known)}")
        own = members.texts(name, _MEMBER, required=True)
        for place, member in enumerate(own):
            if member in found.get(name, ()):
                members.wrong(f"{name}[{place}]", f"'{member}' is listed already, here or in a row's functions")
            found.setdefault(name, set()).add(member)
    whole = {name: frozenset(each) for name, each in found.items()}
    return Contract(whole, _values(values, known))


def _values(table: Table, known: set[str]) -> dict[str, ValueKind]:
    found: dict[str, ValueKind] = {}
    for name in table.values:
        if name not in known:
            table.wrong(name, f"is neither in a row's functions nor a member of a class{did_you_mean(name, known)}")
        value = table.text(name)
        for kind in (each for each in VALUE_KINDS if each == value):
            found[name] = kind
        if value and name not in found:
            table.wrong(name, f"{value!r} is not {listed(map(repr, VALUE_KINDS))}")
    return found


def axes_of(table: Table, names: Iterable[str]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Read the table [axes]: by function or method, the names of the axes of its arguments."""
    functions = {name.partition(".")[0] for name in names}
    axes: dict[str, dict[str, tuple[str, ...]]] = {}
    for function in table.values:
        if function.partition(".")[0] not in functions:
            table.wrong(function, f"is not in a row's functions{did_you_mean(function, functions)}")
        arguments = table.table(function)
        axes[function] = {name: tuple(arguments.text(name, _AXES).split()) for name in arguments.values}
        for name in axes[function]:
            if not name.isidentifier():
                arguments.wrong(name, "is not the name of an argument")
    return axes

"""Frozen records as plain values and back, for what a judge tells the process that watches it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

NAME = "\0"  # the key under which a record's class stands; no field has such a name
Classes = dict[str, type[Any]]


def packed(value: Any) -> Any:
    """Return records, tuples and mappings as what msgpack carries; numbers of NumPy become Python's.

    >>> packed((1, None))
    [1, None]
    """
    if is_dataclass(value) and not isinstance(value, type):
        own = {field.name: packed(getattr(value, field.name)) for field in fields(value) if field.init}
        return {NAME: type(value).__name__, **own}
    if isinstance(value, (list, tuple)):
        return [packed(item) for item in value]
    if isinstance(value, dict):
        return {key: packed(item) for key, item in value.items()}
    return value.item() if hasattr(value, "item") else value


def unpacked(plain: Any, classes: Classes) -> Any:
    """Return what packed made plain, its sequences as tuples; KeyError for a record of a class that is not given."""
    if isinstance(plain, list):
        return tuple(unpacked(item, classes) for item in plain)
    if isinstance(plain, dict):
        own = {key: unpacked(item, classes) for key, item in plain.items() if key != NAME}
        return classes[plain[NAME]](**own) if NAME in plain else own
    return plain


def records(*modules: Iterable[Any]) -> Classes:
    """Return the record classes among some values, by name."""
    found = (each for module in modules for each in module)
    return {each.__name__: each for each in found if isinstance(each, type) and is_dataclass(each)}

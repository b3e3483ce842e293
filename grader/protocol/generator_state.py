"""The state of a random generator as plain values, and back, checked against the layout that it has to have."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.protocol.definitions import BIT_GENERATORS, MT19937_WORDS, Unsendable, WireError


def plain_state(state: Any) -> Any:
    """Return a bit generator's state with arrays and big integers as bytes."""
    if isinstance(state, dict):
        return [[key, plain_state(value)] for key, value in state.items()]
    if isinstance(state, np.ndarray):
        return ["a", str(state.dtype), state.tobytes()]
    return ["i", int(state).to_bytes(17, "little")] if not isinstance(state, str) else ["s", state]


def _state(form: Any, template: Any) -> Any:
    """Return form as a state of the template's layout; WireError where it differs."""
    if type(form) is not list or not all(type(part) in (list, str, bytes) for part in form):
        raise WireError("a bit generator's state is made of lists, text and bytes")
    if isinstance(template, dict):
        if [entry[0] for entry in form] != list(template):
            raise WireError("a bit generator's state has other fields")
        return {key: _state(value, template[key]) for key, value in form}
    if isinstance(template, np.ndarray):
        kind, name, data = form
        if kind != "a" or name != str(template.dtype) or len(data) != template.nbytes:
            raise WireError("a bit generator's words have another size")
        return np.frombuffer(data, template.dtype).copy()
    kind, data = form
    if isinstance(template, str):
        return template
    if kind != "i" or len(data) != 17:
        raise WireError("a bit generator's number is 17 bytes")
    return int.from_bytes(data, "little")


def bit_generator_named(name: object) -> np.random.BitGenerator:
    if name not in BIT_GENERATORS:
        raise WireError(f"bit generator {str(name)[:40]!r} is not on the list")
    made: np.random.BitGenerator = getattr(np.random, str(name))(0)
    return made


def generator_state(generator: np.random.Generator) -> list[Any]:
    """Return a random generator as its bit generator's name and state."""
    name = type(generator.bit_generator).__name__
    if name not in BIT_GENERATORS:
        raise Unsendable(f"a random generator over {name}; {', '.join(BIT_GENERATORS)} are carried")
    return [name, plain_state(generator.bit_generator.state)]


def set_generator_state(generator: np.random.Generator, name: object, state: Any) -> None:
    """Move a random generator to a state that came over the wire; WireError for one that does not fit it."""
    if type(generator.bit_generator).__name__ != name:
        raise WireError("the state of another kind of bit generator")
    try:
        made = _state(state, generator.bit_generator.state)
        if name == "MT19937" and made["state"]["pos"] > MT19937_WORDS:  # NumPy would read past its words
            raise WireError("a bit generator's position lies outside of its words")
        generator.bit_generator.state = made
    except WireError:
        raise
    except Exception as error:  # NumPy checks ranges with several kinds of exception
        raise WireError(f"no bit generator's state: {type(error).__name__}") from None

"""Every change of a small learner's function with its text and what is said of it, run in this process, for tests."""

from __future__ import annotations

import ast
import marshal
import types
from typing import Any

import numpy as np

from grader.diagnosis.repairs.held.seen import Seen
from grader.diagnosis.repairs.kinds.missing import LIKEWISE, QUICK, TERMS
from grader.diagnosis.repairs.words.told import told
from grader.diagnosis.repairs.written import Written
from grader.tests.diagnosis.slips.made import NO_STAGE, applied


def loaded(codes: list[bytes]) -> types.ModuleType:
    """Return the module that codes make, one after the other."""
    module = types.ModuleType("small")
    for each in codes:
        exec(marshal.loads(each), module.__dict__)
    return module


def written(text: str, call: str) -> Written:
    """Return a text with what its expressions hold in one call; np is known in it."""
    made = Written(NO_STAGE, f"import numpy as np\n{text}")
    module = loaded(made.taking_notes(made.definitions))
    eval(call, vars(module) | {"np": np})
    made.seen = Seen.of(module._slips_noted)
    return made


def repairs(text: str, call: str, *constants: float) -> dict[str, list[str]]:
    """Return what is said of every change of a text's last function, by the function's text with that change."""
    source = written(text, call)
    function = list(source.definitions)[-1]
    found: dict[str, list[str]] = {}
    for level in (QUICK, LIKEWISE, 0, 1, TERMS, 2):
        for change in source.schema(function, level, 1, frozenset(constants))[1]:
            said = told(change, source.vocabulary(function))
            changed: Any = applied(source.definitions[function], change)
            body = "\n".join(map(ast.unparse, ast.fix_missing_locations(changed).body))
            if said is not None and source.did_run(change.statement):
                found.setdefault(body, []).append(said.said)
    return found

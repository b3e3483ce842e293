"""`grader explore` as it is typed: what it left behind, and the schema of its document."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import Any

import jsonschema

from grader.tests.support.places import HIDDEN

REFERENCE = HIDDEN / "s15_attention" / "solution.py"
SCHEMA: dict[str, Any] = json.loads(
    resources.files("grader.explore").joinpath("exploration.schema.json").read_text("utf-8")
)
PLAIN = ("--isolation", "process")


@dataclass
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The document, if the schema accepts it."""
        found = json.loads(self.out)
        jsonschema.Draft202012Validator(SCHEMA).validate(found)
        return found


Grader = Callable[..., Done]

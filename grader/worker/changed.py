"""A changed form of the learner's module: run in a test's process of its own, to find what would put an answer right."""

from __future__ import annotations

import marshal
import sys
import types


def changed_module(code: bytes, name: str) -> types.ModuleType:
    """Run code that the grader compiled, under the name of the learner's module, and return the module."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(marshal.loads(code), module.__dict__)
    return module

"""A rehearsal leaves a test's process as it was."""

from __future__ import annotations

import types

from grader.worker.rehearsal import rehearse
from grader.worker.server import Server


def test_a_rehearsal_leaves_no_object_and_no_note() -> None:
    server = Server(types.ModuleType("learner_module"), "module.py")
    server.module.secret = object()  # type: ignore[attr-defined]
    objects, numbers = dict(server.objects), dict(server.numbers)
    rehearse(server, 3)
    assert (server.objects, server.numbers, server.callbacks) == (objects, numbers, {})
    assert server.notes() == ["", []]
    assert not server.asked


def test_a_rehearsal_calls_nothing_of_the_module() -> None:
    module = types.ModuleType("learner_module")
    called: list[str] = []
    module.__getattr__ = called.append  # type: ignore[method-assign]
    rehearse(Server(module, "module.py"))
    assert called == []

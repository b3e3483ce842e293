"""What a judge was at can be read after its end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.judging.task import HEAD, SIZE, At, SharedStatus


def test_the_last_note_is_read() -> None:
    shared = SharedStatus()
    shared.at("test", 3)
    shared.call("softmax")
    assert shared.read() == At("test", 3, "softmax")
    shared.at("settling", 70_000)
    assert shared.read() == At("settling", 70_000, "")


@pytest.mark.parametrize("label", ["é" * SIZE, "x" * SIZE, "\ud800", ""])
def test_a_label_is_cut_where_it_does_not_fit(label: str) -> None:
    shared = SharedStatus()
    shared.at("explaining", 1)
    shared.call(label)
    found = shared.read()
    assert (found.phase, found.test) == ("explaining", 1)
    assert len(found.label.encode()) <= SIZE - HEAD.size and (label[:1] in "é x" or found.label == "?" * len(label))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a fork")
def test_a_fork_writes_what_this_process_reads() -> None:
    shared = SharedStatus()
    process = os.fork()
    if process == 0:
        shared.at("reference", 5)
        shared.call("f")
        os._exit(0)
    os.waitpid(process, 0)
    assert shared.read() == At("reference", 5, "f")


def test_two_that_map_one_file_share_it(tmp_path: Path) -> None:
    file = tmp_path / "shared"
    file.write_bytes(bytes(SIZE))
    one, other = SharedStatus(file), SharedStatus(file)
    one.at("loading", 2)
    assert other.read() == At("loading", 2, "")

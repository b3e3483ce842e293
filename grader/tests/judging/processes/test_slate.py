"""What a judge was at can be read after its end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.judging.processes.slate import HEAD, SIZE, At, Slate


def test_the_last_note_is_read() -> None:
    slate = Slate()
    slate.at("test", 3)
    slate.call("softmax")
    assert slate.read() == At("test", 3, "softmax")
    slate.at("settling", 70_000)
    assert slate.read() == At("settling", 70_000, "")


@pytest.mark.parametrize("label", ["é" * SIZE, "x" * SIZE, "\ud800", ""])
def test_a_label_is_cut_where_it_does_not_fit(label: str) -> None:
    slate = Slate()
    slate.at("explaining", 1)
    slate.call(label)
    found = slate.read()
    assert (found.phase, found.test) == ("explaining", 1)
    assert len(found.label.encode()) <= SIZE - HEAD.size and (label[:1] in "é x" or found.label == "?" * len(label))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a fork")
def test_a_fork_writes_what_this_process_reads() -> None:
    slate = Slate()
    process = os.fork()
    if process == 0:
        slate.at("reference", 5)
        slate.call("f")
        os._exit(0)
    os.waitpid(process, 0)
    assert slate.read() == At("reference", 5, "f")


def test_two_that_map_one_file_share_it(tmp_path: Path) -> None:
    file = tmp_path / "slate"
    file.write_bytes(bytes(SIZE))
    one, other = Slate(file), Slate(file)
    one.at("loading", 2)
    assert other.read() == At("loading", 2, "")

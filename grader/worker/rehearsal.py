"""A dry run of what an answer takes, before one is asked for.

A process that was forked shares its memory until it writes to it, page by page; most of what its first answer takes is
that. One that waits for its test has the time for it. Before any fork it also has the interpreter ready for this code.
"""

from __future__ import annotations

import numpy as np

from grader.protocol import codec
from grader.worker.in_place import Before
from grader.worker.server import Server


def rehearse(server: Server, times: int = 1) -> None:
    """Take in a request and make an answer to it so many times, without anything of the learner's or of a test's."""
    for _ in range(times):
        asked = codec.Encoder(server.wrap).frame([0, "call", 0, ""], [(np.ones((2, 3)), [1.0], {"axis": 0}), None])
        blob = np.concatenate([np.frombuffer(part, np.uint8) for part in asked[1:]])
        decoder = codec.Decoder(server.unwrap)
        args = decoder.decode(decoder.message(asked[0][codec.HEADER.size :], blob)[4])
        before = Before(decoder.shared, blob)
        answer = [args[0] + 1.0, before.changes()]
        codec.Encoder(server.wrap, decoder.shared).frame([0, "ok", ["", []], 0.0], answer)

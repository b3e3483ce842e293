"""An interpreter that has loaded all that a worker needs, and is forked where one is asked for.

Run as a script, with a socket's number, the folder of a bundle and the folders of packages. Each message on the socket
is a worker's settings, with two descriptors: the connection to the grader, and one that is told the process, and how it
ended. It ends with the last process that may ask.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import struct
import sys
from typing import Any

TOLD = struct.Struct("<i")
MOST = 1 << 16


def serve(requests: socket.socket) -> dict[str, Any] | None:
    """Fork a worker for each request and return its settings there; None here, where nobody asks any more."""
    running: dict[int, tuple[int, socket.socket]] = {}  # by the number of its pidfd
    while True:
        for ready in select.select([requests.fileno(), *running], [], [])[0]:
            if ready in running:
                process, told = running.pop(ready)
                os.close(ready)
                _tell(told, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
                told.close()
                continue
            data, descriptors, _, _ = socket.recv_fds(requests, MOST, 2)
            if not data:
                return None
            process = os.fork()
            if process == 0:
                return _born(json.loads(data), requests, descriptors, running)
            os.close(descriptors[0])
            told = socket.socket(fileno=descriptors[1])
            _tell(told, process)
            running[os.pidfd_open(process)] = process, told


def _tell(told: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):  # whoever asked is gone
        told.sendall(TOLD.pack(number))


def _born(
    spec: dict[str, Any], requests: socket.socket, descriptors: list[int], others: dict[int, tuple[int, socket.socket]]
) -> dict[str, Any]:
    """Leave behind what belongs to the parent; draw random numbers of one's own."""
    import numpy.random

    requests.close()
    os.close(descriptors[1])
    for descriptor, (_, told) in others.items():
        os.close(descriptor)
        told.close()
    os.setsid()
    os.chdir(spec.pop("folder"))
    numpy.random.seed()  # what the module's functions draw from
    return {**spec, "fd": descriptors[0]}


def main() -> None:
    """Load what a worker loads, then be one for whoever asks."""
    number, *folders = sys.argv[1:]
    sys.path[:] = [path for path in sys.path[1:] if path] + folders
    import numpy.linalg
    import numpy.random  # noqa: F401

    from grader.protocol import channel, codec  # noqa: F401
    from grader.worker import confine, kernel, lent, process_tree, server, supervisor  # noqa: F401
    from grader.worker import main as worker

    spec = serve(socket.socket(fileno=int(number)))
    if spec is not None:
        sys.argv = ["main.py", json.dumps(spec)]
        worker.main()


if __name__ == "__main__":
    try:
        main()
    finally:
        os._exit(0)

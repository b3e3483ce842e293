"""Services that listen beside the world that is attacked, on the network and in its folder; they note who comes."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path


class Services:
    """A TCP and a UDP port of one number, a stream under an abstract name and in a file, and a log of datagrams."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.port: int = tcp.getsockname()[1]
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", self.port))
        self._streams = [tcp]
        for name in (f"\0{folder.name}", str(folder / "service")):
            stream = stack.enter_context(socket.socket(socket.AF_UNIX))
            stream.bind(name)
            stream.listen()
            self._streams.append(stream)
        log = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        log.bind(str(folder / "log"))
        self._datagrams = (udp, log)
        for name in ("service", "log"):
            (folder / name).chmod(0o777)

    def visits(self) -> Iterator[str]:
        """Yield what has come since the last call; to one service several may have."""
        while ready := select.select([*self._streams, *self._datagrams], [], [], 0)[0]:
            for service in ready:
                if service in self._datagrams:
                    yield f"a datagram: {service.recv(1000)!r}"
                else:
                    service.accept()[0].close()
                    yield f"a connection to {service.getsockname()!r}"

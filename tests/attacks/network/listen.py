"""Listen on a port for orders."""

import socket

ATTACK = "a server of one's own"
OUTCOME = "failed"
TIERS = ("landlock",)
SAYS = "PermissionError"


def double(x):
    with socket.create_server(("127.0.0.1", 0)) as server:
        raise RuntimeError(f"listening: {server.getsockname()}")

"""Send the hidden inputs to a server by TCP."""

import socket

ATTACK = "TCP"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SUCCEEDS_IN = ("process",)
SAYS = "PermissionError|unreachable|ConnectionRefused|OSError|gaierror|FileNotFoundError"


def double(x):
    with socket.create_connection(("127.0.0.1", int("@PORT@")), timeout=2) as connection:
        connection.sendall(b"taken")
    raise RuntimeError("connected")

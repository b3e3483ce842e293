"""Talk to a service by an abstract socket, which no file rule covers."""

import socket

ATTACK = "abstract sockets"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SUCCEEDS_IN = ("process",)
SAYS = "PermissionError|unreachable|ConnectionRefused|OSError|gaierror|FileNotFoundError"


def double(x):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect("\0@ABSTRACT@")
        connection.sendall(b"taken")
    raise RuntimeError("connected")

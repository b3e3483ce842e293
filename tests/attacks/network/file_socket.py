"""Talk to a service of the machine, as a container engine's, by its socket file."""

import socket

ATTACK = "sockets with a file name"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SUCCEEDS_IN = ("process",)
NEEDS = "seccomp"
SAYS = "PermissionError|unreachable|ConnectionRefused|OSError|gaierror|FileNotFoundError"


def double(x):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect("@SOCKET@")
        connection.sendall(b"taken")
    raise RuntimeError("connected")

"""Send the hidden inputs to a server by UDP."""

import socket

ATTACK = "UDP"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SUCCEEDS_IN = ("process",)
NEEDS = "seccomp"


def double(x):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        connection.sendto(b"taken", ("127.0.0.1", int("@PORT@")))
    raise RuntimeError("connected")

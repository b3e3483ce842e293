"""Read the machine's packets from a raw socket."""

import socket

ATTACK = "raw sockets"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "PermissionError"


def double(x):
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3):
        raise RuntimeError("listening")

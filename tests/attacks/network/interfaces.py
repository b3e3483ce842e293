"""Ask a pair of sockets, which reaches nobody, for the names and addresses of the machine's network cards."""

import fcntl
import socket
import struct

ATTACK = "the machine's network cards"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
NEEDS = "seccomp"
SAYS = "PermissionError"


def double(x):
    one, _ = socket.socketpair()
    name_of_card = 0x8910  # SIOCGIFNAME
    found = fcntl.ioctl(one, name_of_card, struct.pack("16si20x", b"", 1))
    raise RuntimeError(f"found: {found}")

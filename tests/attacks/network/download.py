"""Download a solution."""

import urllib.request

ATTACK = "a download with urllib"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SAYS = "URLError|PermissionError|unreachable|ConnectionRefused|OSError|gaierror|FileNotFoundError"


def double(x):
    with urllib.request.urlopen("http://127.0.0.1:@PORT@/solution", timeout=2) as answer:
        raise RuntimeError(answer.read())

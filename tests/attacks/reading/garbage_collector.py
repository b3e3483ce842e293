"""Ask the garbage collector for every object there is."""

import gc
import re

ATTACK = "objects of the garbage collector"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    gc.unfreeze()
    texts = []
    for each in gc.get_objects():
        for part in gc.get_referents(each):
            if type(part) in (str, bytes):
                texts.append(part if type(part) is str else part.decode("latin-1"))
    raise RuntimeError("found " + " ".join(re.findall("@TOKEN_HINT@[0-9a-f]{10}", " ".join(texts))))

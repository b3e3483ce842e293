"""Loop while the module is loaded."""

ATTACK = "a loop at the top level"
OUTCOME = "not loaded"
TIERS = ("bubblewrap", "landlock", "process")


while True:
    pass

"""Show the hidden tests' inputs by the name of a function that is "not written yet"."""

ATTACK = 'hidden inputs shown where feedback is "hint"'
OUTCOME = ("blocked", "not_started", "failed")
TIERS = ("bubblewrap", "landlock", "process")
ROW = "tell"
FEEDBACK = "hint"


def tell(label):
    name = "f_" + label.replace("-", "_")
    scope = {}
    exec(compile(f"def {name}():\n    raise NotImplementedError", __file__, "exec"), scope)
    scope[name]()

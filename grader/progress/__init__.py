"""A learner's progress: what has passed and is unlocked, and help beside a check: hints, starting over, the solution.

Rooms from `report` on may import it. Begin with `state.py`, then `actions.py`; the file on disk is `store.py`.
"""

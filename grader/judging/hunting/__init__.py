"""Hunts in many small changes of one right module: whether any test tells them from it. Only wrong modules come here.

Trusted; `authoring` enters through `hunter.py`, a grader that hunts. `hunts.py` is what its judge does, and `reach.py`
says which tests a change can matter to.
"""

"""What a person reads in a terminal: the checklist, the screens around a check, and where output goes.

Begin with `checklist.py`; `layout.py` is what the others share.
"""

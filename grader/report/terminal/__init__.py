"""The terminal's screens: the checklist, the screens around a check, and the streams they are written to.

Begin with `checklist.py`; `layout.py` is what the others share.
"""

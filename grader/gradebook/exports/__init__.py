"""The table of marks in the forms that other programs read: each a pure function from entries to a text.

Only commands enter. Begin with `formats.py`; the shape of the JSON document is `marks.schema.json`.
"""

"""The kinds of changes that are tried in a learner's lines: what may be missing there, or stand in the wrong place.

Only the text of a function and the sorts of its values are looked at. Begin with missing.py.
"""

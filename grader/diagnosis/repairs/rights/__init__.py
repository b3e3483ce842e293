"""What right modules hold in a learner's failing test, and where the learner's own values leave theirs.

`repairs/forms.py` alone asks. Begin with noted.py; suspects.py says which lines go wrong, cleared.py which do
not although they look so, aligned.py what belongs there.
"""

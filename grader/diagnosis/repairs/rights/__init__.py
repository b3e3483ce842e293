"""What right modules hold in a learner's failing test, and where the learner's own values leave theirs.

`repairs/forms.py` alone asks. Begin with noted.py; suspects.py says which lines go wrong, aligned.py what belongs
there.
"""

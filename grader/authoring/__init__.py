"""For the authors of the course: new stages, and the proof that a stage's tests catch what is wrong.

No learner's copy holds it; only commands, `classroom` and, for types, `report` import it. Begin with `verify.py`.
"""

"""The steps that are explored of each stage, one module a stage; `drawings/` holds what is drawn of their results.

The session and the command import `plans.py`, the table of all stages, and only that imports the rest. Begin there.
"""

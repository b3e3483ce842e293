"""The commands that show a learner what their own code does: `explore`, `watch`, `report` and `serve`.

Nothing imports them but `grader/cli.py`. Begin with the one you are after.
"""

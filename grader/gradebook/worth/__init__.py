"""What results are worth: class.toml, and the arithmetic of points, lateness and attempts; nothing here writes.

Only `gradebook` and commands enter. Begin with `policy.py`.
"""

"""Which submissions of a stage share unusually much: for instructors, to be looked at; nothing here grades.

Only commands import it. Begin with `compare.py` (the class and its pairs); `tokens.py` says what a text is reduced to,
and `page.py` shows pairs side by side.
"""

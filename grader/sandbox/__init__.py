"""The trusted end of the pipe: a learner's process, the connection of each test, and what stands here for its objects.

All that arrives is held to caps and forms before anything is built from it. Rooms from `diagnosis` on may import it.
Begin with `connection.py`; `process.py` has what is at the other end started, and `recorded.py` asks many questions at
a time.
"""

"""UNTRUSTED: all of the grader that runs beside a learner's code, in a learner's process. Nothing here decides a mark.

It imports `protocol`, the standard library, NumPy and msgpack, and nothing else; trusted rooms use it for what both
sides have to know. Begin with `main.py`: a worker's life from its start to its last test.
"""

"""Values to bytes and back, and frames with deadlines: the one thing that both ends of the pipe share.

It is copied into every sandbox: it imports the standard library, NumPy and msgpack only. Every later room may import
it. Begin with `codec.py`, then `channel.py`.
"""

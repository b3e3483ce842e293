"""An exploration in a terminal: numbers, shaded cells, curves of characters. Begin with `telling.py`."""

"""An exploration as a picture in a file, drawn by matplotlib. Begin with `files.py`."""

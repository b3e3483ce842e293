"""What the exploration of each stage draws of what its steps found, one module a stage."""

from drawings.pictures import s04, s05, s06, s07, s09, s10, s11, s12, s13, s14, s15, s16, s18, s19, s20, s21, s22

__all__ = [
    "s04",
    "s05",
    "s06",
    "s07",
    "s09",
    "s10",
    "s11",
    "s12",
    "s13",
    "s14",
    "s15",
    "s16",
    "s18",
    "s19",
    "s20",
    "s21",
    "s22",
]

"""The bytes that a submission may become: one budget for whatever is unpacked, copied or read of it."""

from __future__ import annotations

from grader.errors import SubmissionError

MAX_TOTAL = 128 << 20  # bytes that an archive may become, and of objects that are read of a repository
MAX_NAMES = 16 << 20  # bytes that the names of a repository's revisions take on a disk
MAX_RATIO = 200  # bytes that one byte of an archive may become
ALWAYS = 8 << 20  # bytes that any archive may become, however small it is
BLOCK = 4096  # bytes that the smallest file and the smallest folder take on a disk


class Budget:
    """Counts bytes before they are made; what is said begins with label and what it does."""

    def __init__(self, label: str, limit: int, does: str = "unpacks to", hint: str | None = None) -> None:
        self.left = limit
        self._over = f"{label} {does} more than {limit:,} bytes"
        self._hint = hint

    def spend(self, count: int) -> None:
        """Take so many bytes from what is left; SubmissionError where that is too little."""
        self.left -= count
        if self.left < 0:
            raise SubmissionError(self._over, self._hint)

    def spend_file(self, size: int, folders: int = 0) -> None:
        """Take what a file of that size takes on a disk, and so many folders that are made for it."""
        self.spend(-(-max(size, 1) // BLOCK) * BLOCK + folders * BLOCK)


class ArchiveBudget(Budget):
    """Counts the bytes that an archive of a size becomes; a small one may become but a multiple of itself."""

    def __init__(self, label: str, size: int) -> None:
        most = max(ALWAYS, MAX_RATIO * size)
        super().__init__(label, min(MAX_TOTAL, most), hint="Hand in the module alone.")
        if most < MAX_TOTAL:
            self._over = f"{label} unpacks to more than {MAX_RATIO} times its size"
            self._hint = "Create the archive again."

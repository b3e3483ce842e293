"""Where the house and the course lie that the tests are about."""

from __future__ import annotations

from pathlib import Path

HOUSE = Path(__file__).resolve().parents[2]
ROOT = HOUSE.parent
HIDDEN = ROOT / "hidden"

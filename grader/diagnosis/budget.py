"""How much is tried for one red criterion: counted in trials, so that every machine says the same."""

from __future__ import annotations

from dataclasses import dataclass

FULL = 3000  # trials, for the criterion that fails first and for one that was asked for
SHARE = 1200  # for each further one
IN_ALL = 9000  # for all criteria of a module
STEPS_OF_A_TRIAL = 1500  # rounds of loops and calls that count as one trial more


@dataclass
class Budget:
    """The trials that are left for one criterion."""

    left: float = FULL
    spent: float = 0.0

    @property
    def is_over(self) -> bool:
        """Whether nothing more may be tried."""
        return self.left <= 0

    def take(self, trials: int, steps: int) -> None:
        """Count trials of a call that takes so many steps."""
        cost = trials * (1 + steps / STEPS_OF_A_TRIAL)
        self.left -= cost
        self.spent += cost

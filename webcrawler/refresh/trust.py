"""Which checks are sent with validators? Some servers answer 304 for ever, and only others tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webcrawler import chance
from webcrawler.refresh.choice import Numbers

ONE_IN = 20  # checks of every server is sent without validators, another one with them
FIRST_ONE_IN = 5  # of the first checks of a server that has not shown yet that its 304 can be believed
SHOWN = 20  # checks without validators after which it has
MISSED = 4  # changes in a row that no conditional check found; at first by chance once in 5⁴ times


class Trust:
    """Believes the 304 of a server as long as conditional checks find changes of its pages, too.

    A server that is not believed is asked without validators, but for one check in twenty: when one of these
    finds a change, it is believed again. Memory: two bytes a server.
    """

    def __init__(self) -> None:
        # By server: checks without validators, at most SHOWN; changes that others missed, at most MISSED.
        self.counts: NDArray[np.int8] = np.empty((0, 2), np.int8)

    def is_conditional(self, server: int) -> bool:
        """Tell how a page with validators is asked for; another time the answer may be another."""
        whole, missed = self.counts[server].tolist() if server < len(self.counts) else (0, 0)
        if missed >= MISSED:
            return chance.draws.random() * ONE_IN < 1
        return chance.draws.random() * (ONE_IN if whole >= SHOWN else FIRST_ONE_IN) >= 1

    def doubted(self) -> NDArray[np.int64]:
        """The servers whose 304 is not believed, ascending."""
        return np.flatnonzero(self.counts[:, 1] >= MISSED)

    def see(self, servers: Numbers, conditional: NDArray[np.bool_], changed: NDArray[np.bool_]) -> None:
        """Take in checks of pages that had validators, sent or not, in the order in which they were made."""
        if more := max(0, int(servers.max(initial=-1)) + 1 - len(self.counts)):
            self.counts = np.concatenate((self.counts, np.zeros((more, 2), np.int8)))
        matters = changed | ~conditional
        columns = (servers[matters].tolist(), conditional[matters].tolist(), changed[matters].tolist())
        for server, had_validators, was_new in zip(*columns, strict=True):
            whole, missed = self.counts[server].tolist()
            if had_validators:
                self.counts[server] = SHOWN, 0
            else:
                self.counts[server] = min(whole + 1, SHOWN), min(missed + was_new, MISSED)

"""Which checks are sent with validators? Some servers answer 304 for ever, and only others tell."""

from __future__ import annotations

from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from webcrawler.refresh.choice import Numbers

ONE_IN = 20  # checks of every server is sent without validators, another one with them
MISSED = 2  # changes in a row that no conditional check found; by chance once in 400 changes


class Trust:
    """Believes the 304 of a server as long as conditional checks find changes of its pages, too.

    A server that is not believed is asked without validators, but for one check in twenty: when one of these
    finds a change, it is believed again. Which checks are always sent so, or so, follows from their page and
    time: the history is enough to learn it all anew. Memory: a byte a server.
    """

    def __init__(self) -> None:
        self.missed: NDArray[np.int8] = np.empty(0, np.int8)  # changes, by server, at most MISSED

    def is_conditional(self, page: int, server: int, since: float) -> bool:
        """Tell how a page is asked for.

        Args:
            page: its page number; since: seconds since 1970 of its last check.
        """
        drawn = crc32(b"%d %.6f" % (page, since)) % ONE_IN
        is_believed = server >= len(self.missed) or self.missed[server] < MISSED
        return drawn == 1 or (drawn > 1 and is_believed)

    def see(self, pages: Numbers, servers: Numbers, since: NDArray[np.float64]) -> None:
        """Take in checks that found a change, in the order in which they were made."""
        if more := max(0, int(servers.max(initial=-1)) + 1 - len(self.missed)):
            self.missed = np.concatenate((self.missed, np.zeros(more, np.int8)))
        for page, server, before in zip(pages.tolist(), servers.tolist(), since.tolist(), strict=True):
            told = self.is_conditional(page, server, before)
            self.missed[server] = 0 if told else min(self.missed[server] + 1, MISSED)

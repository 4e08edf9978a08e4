"""Which servers to believe: their sitemaps and feeds that date changes, and their 304 that deny them?

Both are watched first and believed by server: half of the web's dates are always now, or were never updated,
and some servers answer 304 for ever.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webcrawler import clock
from webcrawler.refresh.value import Floats, Numbers, Pages

SILENT, SAME, NEWER = range(3)  # what a sitemap says of a page since its last check
DOUBT = 2.0  # pseudo-counts
WATCHED = 10  # checks before what a sitemap says can be called useless
TELLING = 3.0  # odds of NEWER over those of SAME, below which it is
CHECKS = 20  # of a server's pages, between two fetches of its sitemap: it costs at most 5 % more
SELDOM = 10  # times as seldom is a useless sitemap fetched

ONE_IN = 20  # checks of every server is sent without validators, another one with them
FIRST_ONE_IN = 5  # of the first checks of a server that has not shown yet that its 304 can be believed
SHOWN = 20  # checks without validators after which it has
MISSED = 4  # changes in a row that no conditional check found; at first by chance once in 5⁴ times


class Signs:
    """What sitemaps and feeds say of each page, and how much more likely a change is then, by server.

    The odds are learnt against what time alone predicted: pages with a sign are older at their check than
    others, so their share of changes would flatter a sign that tells nothing. Memory: 5 bytes a page.
    """

    state = ("said", "same_until", "counts", "since")

    def __init__(self) -> None:
        self.said = np.empty(0, np.int8)
        self.same_until = np.empty(0, np.float32)  # by page: when a sitemap last called it unchanged
        self.since = np.empty(0, np.int64)  # by server: checks since its sitemap was fetched
        # By server and what was said of the page: checks, changes predicted, changes seen.
        self.counts = np.empty((0, 3, 3), np.float64)

    def add(self, servers: Numbers) -> None:
        self.said = np.concatenate((self.said, np.full(len(servers), SILENT, np.int8)))
        self.same_until = np.concatenate((self.same_until, np.full(len(servers), -np.inf, np.float32)))
        new = max(0, int(servers.max(initial=-1)) + 1 - len(self.counts))
        self.counts = np.concatenate((self.counts, np.zeros((new, 3, 3))))
        self.since = np.concatenate((self.since, np.zeros(new, np.int64)))

    def say(self, pages: Numbers, newer: NDArray[np.bool_], at: float) -> None:
        """A sitemap or feed fetched now dates these pages: after their last check, or before it."""
        self.said[pages] = np.where(newer, NEWER, SAME)
        self.same_until[pages[~newer]] = at

    def see(self, pages: Numbers, servers: Numbers, predicted: Floats, changed: NDArray[np.bool_]) -> None:
        """Learn from checks; until the sitemap is fetched again it says nothing of these pages.

        Args:
            predicted: the probability of a change, by time alone.
        """
        told = np.stack((np.ones(len(pages)), predicted, changed), axis=1)
        np.add.at(self.counts, (servers, self.said[pages]), told)
        self.said[pages] = SILENT
        np.add.at(self.since, servers, 1)

    def known_until(self, pages: Pages, servers: Numbers, checked: Floats) -> Floats:
        """Until when pages are known to be unchanged: a sitemap that is believed is as good as a check."""
        return np.where(self._believed()[servers], np.maximum(self.same_until[pages], checked), checked)

    def odds(self, pages: Pages, servers: Numbers) -> Floats:
        """What signs multiply the odds of a change since `known_until` with; 1 where there is none."""
        odds = self.ratios()
        odds[self._believed(), SAME] = 1
        return odds[servers, self.said[pages]]

    def ratios(self) -> Floats:
        """Odds of a change over those that time predicted, by server and what is said."""
        checks, predicted, changed = np.moveaxis(self.counts, 2, 0)
        found = (changed + DOUBT) / (checks - changed + DOUBT)
        expected = (predicted + DOUBT) / (np.maximum(checks - predicted, 0) + DOUBT)
        ratios = found / expected
        ratios[:, SILENT] = 1
        return ratios

    def _believed(self) -> NDArray[np.bool_]:
        """By server: does it tell when a page is unchanged?"""
        return np.asarray(self.ratios()[:, SAME] * TELLING <= 1)

    def due(self) -> NDArray[np.bool_]:
        """By server: is its sitemap to be fetched? After 20 checks of its pages; 200 if it tells nothing."""
        ratios = self.ratios()
        watched = self.counts[:, (SAME, NEWER), 0].sum(axis=1) >= WATCHED
        useless = watched & (ratios[:, NEWER] < TELLING * ratios[:, SAME])
        return self.since >= np.where(useless, CHECKS * SELDOM, CHECKS)

    def fetched(self, servers: Numbers) -> None:
        """The sitemaps of these servers were fetched; what they say of pages follows by `say`."""
        self.since[servers] = 0


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
            return clock.draws.random() * ONE_IN < 1
        return clock.draws.random() * (ONE_IN if whole >= SHOWN else FIRST_ONE_IN) >= 1

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

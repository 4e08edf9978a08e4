"""The strategy that learns while it crawls."""

from __future__ import annotations

from collections.abc import Sequence
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.focus import exploring
from webcrawler.focus.evidence import Evidence
from webcrawler.focus.exploring import explorers
from webcrawler.focus.matching import Matcher
from webcrawler.focus.pagescore import similarity
from webcrawler.focus.scoring import log_chance, scores
from webcrawler.focus.wanted import Wanted
from webcrawler.frontier.orderings.base import PRIORITY_MAX, Ordering, Seen, Source
from webcrawler.records import Link
from webcrawler.urls import split

PER_NAT = 2**14  # priorities in a factor of e of a page's odds
AHEAD = 400  # candidates whose place in the order is kept up to date
TURN = 32  # of them, among which those that explore are spread
RELEVANCE = 0.5  # what the best hit of a search of the index counts at least, as a page score
CANDIDATES_MAX = 200_000


class Adaptive(Ordering):
    """Follows what it has learnt that links to wanted pages look like, and explores servers it knows little of."""

    learns = True

    def __init__(self, query: str = "", also: str = "") -> None:
        added = [word for word in also.split(",") if word.strip()]
        self._wanted = Wanted.of(query, added)
        self._evidence = Evidence(Matcher(self._wanted))
        self._lock = RLock()
        self._first: dict[int, int] = {}  # priorities of the rows that the pages learnt last have added
        self._explorers: set[int] = set()  # URL ids
        self._explored, self._owed, self._counted = 0, 0.0, 0  # documents
        self._decided: set[int] = set()  # URL ids

    def learn(self, seen: Sequence[Seen]) -> None:
        with self._lock:
            for one in seen:
                self._learn(one)
            rows = self._evidence.candidates.take_fresh()
            self._first = dict(zip(rows.tolist(), self._chances(rows).tolist(), strict=True))

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        if source is None:
            return PRIORITY_MAX  # a seed
        with self._lock:
            ours = self._evidence.candidates
            row = ours.row(link.id)
            if row is None:
                row = self._evidence.row_of(link)
                ours.take_fresh()
            elif row in self._first:
                priority = self._first[row]
                ours.told.rows[row] = priority
                return priority
            return int(self._chances(np.array([row]))[0])

    def _chances(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        return _priorities(log_chance(scores(self._evidence, rows)))

    def plan(self) -> tuple[list[Link], list[int]]:
        with self._lock:
            ours = self._evidence.candidates
            rows = ours.rows()
            if not len(rows):
                return [], []
            found = scores(self._evidence, rows)
            wanted = _priorities(log_chance(found))
            self._explore(rows, found, wanted)
            order = np.lexsort((ours.age.rows[rows], -wanted))[:AHEAD]
            told = ours.told.rows[rows]
            matters = told > wanted[order[-1]]
            matters[order] = True
            matters |= wanted > wanted[order[-1]]
            changed = np.flatnonzero(matters & (told != wanted))
            ours.told.rows[rows[changed]] = wanted[changed]
            links = [ours.links[row] for row in rows[changed]]
            return [link for link in links if link], wanted[changed].tolist()

    def _learn(self, one: Seen) -> None:
        evidence, score = self._evidence, self._score(one)
        if one.id in self._decided:
            self._learn_again(one, score)
            return
        self._decided.add(one.id)
        row = evidence.decided(one, score)
        server = int(evidence.candidates.server.rows[row])
        if one.text is not None:
            self._explored += one.id in self._explorers
        for link in one.links:
            if link.id in self._decided:
                if one.text is None:
                    evidence.in_vain(link)
            elif one.text is not None:
                evidence.linked(link, evidence.documents, score, server)
            else:
                evidence.inherited(link, row, server)
        self._explorers.discard(one.id)
        evidence.candidates.drop(one.id)

    def _learn_again(self, one: Seen, score: float) -> None:
        """A search found it: that may speak more for its links than the page itself did."""
        if one.text is None:
            return
        server = self._evidence.servers.of(split(one.url)[0])[0]
        for link in one.links:
            if link.id not in self._decided:
                self._evidence.linked(link, 0, score, server)

    def _score(self, one: Seen) -> float:
        """Of the page itself, or what a search of the whole index says of it, if that is more."""
        own = similarity(self._wanted, one.text) if one.text is not None else 0.0
        return max(own, RELEVANCE * (one.relevance or 0.0))

    def _explore(self, rows: NDArray[Any], found: NDArray[Any], wanted: NDArray[Any]) -> None:
        """Raise candidates that teach to their share of the first places."""
        evidence = self._evidence
        chosen, worth = explorers(evidence, rows, found)
        turn = min(TURN, len(wanted))
        first = np.sort(np.partition(wanted, len(wanted) - turn)[-turn:])[::-1]
        chance = float(np.exp(first / PER_NAT).mean())
        rate = exploring.share(float(worth[0]), chance)
        self._owed += rate * (evidence.documents - self._counted)
        self._counted = evidence.documents
        count = max(0, min(round(self._owed - self._explored + rate * turn), turn * 3 // 4, len(chosen)))
        if not count:
            return
        ahead_of = first[np.arange(count) * turn // count]
        chosen = chosen[:count]
        wanted[chosen] = np.maximum(wanted[chosen], ahead_of + 1)
        ours = evidence.candidates
        self._explorers.update(link.id for row in rows[chosen] if (link := ours.links[row]))


def _priorities(scores: NDArray[Any]) -> NDArray[np.int64]:
    return np.clip(np.rint(scores * PER_NAT), -PRIORITY_MAX + 1, PRIORITY_MAX - 1).astype(np.int64)

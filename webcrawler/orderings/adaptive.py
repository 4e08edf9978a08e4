"""The strategy that learns while it crawls. How it was found: docs/explanation/adaptive-crawling.md."""

from __future__ import annotations

from collections.abc import Sequence
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.orderings.base import BAND, PRIORITY_MAX, UNTOLD, Ordering, Seen, Source, number
from webcrawler.orderings.evidence import Evidence
from webcrawler.orderings.scores import NEW, SHARE_KNOWN, SHARE_NEW, explorers, log_chance, scores
from webcrawler.orderings.topic import Wanted, page_score
from webcrawler.records import Link
from webcrawler.urls import split

PER_NAT = 2**14  # priorities in a factor of e of a chance: BAND is a chance of 1, 0 one of e^-32
AHEAD = 400  # candidates whose place in the order is kept up to date
TURN = 32  # candidates over which explorers are spread
EXPLORERS_MOST = 3 / 4  # of a turn, at most
RELEVANCE = 0.5  # the least page score of the best hit of a search of the index
CANDIDATES_MAX = 200_000  # some 60 MB; the least promising are forgotten, and keep their last priority
SCORED = 8_192  # candidates scored a plan, at most: some 5 ms
KEPT = 0.9  # of the candidates, when they are too many
DECIDED_MAX = 1_000_000  # URL ids, some 60 MB


class Adaptive(Ordering):
    """Follows links like those that led to wanted pages, and explores the servers that it knows least of.

    Args:
        query: what is looked for.
        also: further words, separated by commas, that count less.
        gamma: the share of a page's score that the pages on the way to it are credited with, for each link
            between; see `Returns`.
    Raises:
        BadInput: the query has no word to look for; gamma is not from 0 to below 1.
    """

    learns = True

    def __init__(self, query: str = "", also: str = "", gamma: str = "0") -> None:
        self._wanted = Wanted.of(query, also.split(","))
        discount = number("gamma", gamma, lambda share: 0 <= share < 1, "from 0 to below 1")
        self._evidence = Evidence(self._wanted, discount)
        self._lock = RLock()
        self._first: dict[int, int] = {}  # row added by the pages learnt last -> its priority
        self._decided: set[int] = set()  # URL ids
        self._explorers: set[int] = set()  # URL ids
        self._explored, self._owed, self._counted = 0, 0.0, 0  # documents
        self._turn = 0  # index of the next candidates to score

    def learn(self, seen: Sequence[Seen]) -> None:
        with self._lock:
            self._evidence.candidates.tidy()
            for one in seen:
                self._learn(one)
            rows = self._evidence.candidates.take_changed()
            self._first = dict(zip(rows.tolist(), self._score_rows(rows).tolist(), strict=True))

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        if source is None:
            return PRIORITY_MAX  # a seed
        with self._lock:
            if link.id in self._decided:  # it does not wait: as a candidate it would stay for ever
                return 0
            candidates = self._evidence.candidates
            row = self._evidence.row_of(link)
            if row not in self._first:
                return int(self._score_rows(np.array([row]))[0])
            if candidates.told.rows[row] == UNTOLD:
                candidates.told.rows[row] = self._first[row]
            return self._first[row]

    def plan(self) -> tuple[list[Link], list[int]]:
        with self._lock:
            candidates = self._evidence.candidates
            rows = candidates.rows()
            if not len(rows):
                return [], []
            self._score_rows(self._to_score(rows))
            found = candidates.score.rows[rows]
            wanted = _priorities(found)
            self._explore(rows, found, wanted)
            changed = self._changed(candidates.told.rows[rows], wanted)
            candidates.told.rows[rows[changed]] = wanted[changed]
            links = candidates.links_of(rows[changed])
            if len(rows) > CANDIDATES_MAX:
                forgotten = np.argsort(-wanted, kind="stable")[int(CANDIDATES_MAX * KEPT) :]
                for link in candidates.links_of(rows[forgotten]):
                    candidates.drop(link.id)
                    self._explorers.discard(link.id)
            return links, wanted[changed].tolist()

    def _to_score(self, rows: NDArray[Any]) -> NDArray[Any]:
        """The rows near the front, and some of the others in turn."""
        if len(rows) <= SCORED:
            return rows
        found = self._evidence.candidates.score.rows[rows]
        front = rows[np.argpartition(-found, SCORED // 2)[: SCORED // 2]]
        self._turn = (self._turn + SCORED // 2) % len(rows)
        return np.union1d(front, rows[self._turn : self._turn + SCORED // 2])

    def _score_rows(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """Priorities by what is known now; keeps the scores."""
        found = scores(self._evidence, rows)
        self._evidence.candidates.score.rows[rows] = found
        return _priorities(found)

    def _learn(self, one: Seen) -> None:
        # By the page's text, or by a search of the whole index, if that scores it higher.
        own = page_score(self._wanted, one.text) if one.text is not None else 0.0
        score = max(own, RELEVANCE * (one.relevance or 0.0))
        if one.id in self._decided:
            self._learn_again(one, score)
            return
        if len(self._decided) >= DECIDED_MAX:
            self._decided.clear()
        self._decided.add(one.id)
        row = self._evidence.decided(one, score)
        self._follow(one, row, score)
        self._explored += one.text is not None and one.id in self._explorers
        self._explorers.discard(one.id)
        self._evidence.candidates.drop(one.id)

    def _follow(self, one: Seen, row: int, score: float) -> None:
        evidence = self._evidence
        server = int(evidence.candidates.server.rows[row])
        for link in one.links:
            if link.id in self._decided:
                if one.text is None:
                    evidence.led_nowhere(link)
            elif one.text is not None:
                evidence.linked(link, evidence.documents, score, server)
            else:
                evidence.inherited(link, row, server)

    def _learn_again(self, one: Seen, score: float) -> None:
        """A search found a page that is known: it may be more relevant than its own text said."""
        server, _ = self._evidence.servers.of(split(one.url)[0])
        for link in one.links if one.text is not None else ():
            if link.id not in self._decided:
                self._evidence.linked(link, 0, score, server)

    def _explore(self, rows: NDArray[Any], found: NDArray[Any], wanted: NDArray[Any]) -> None:
        """Raises candidates worth exploring to their share of the first places."""
        chosen, worth = explorers(self._evidence, rows, found)
        turn = min(TURN, len(wanted))
        first = np.sort(np.partition(wanted, len(wanted) - turn)[-turn:])[::-1]
        chance = float(np.exp(np.minimum(first - BAND, 0) / PER_NAT).mean())
        # Where the most promising candidates are good, as with an index to start from, little is explored.
        rate = (SHARE_NEW if worth[0] >= NEW else SHARE_KNOWN) * (1 - chance)
        # Counted in documents, so that dead servers cost no share.
        documents = self._evidence.documents
        self._owed += rate * (documents - self._counted)
        self._counted = documents
        due = min(round(self._owed - self._explored + rate * turn), int(turn * EXPLORERS_MOST))
        chosen = chosen[: max(0, due)]
        if len(chosen):
            places = np.arange(len(chosen)) * turn // len(chosen)
            wanted[chosen] = np.maximum(wanted[chosen], first[places] + 1)
            links = self._evidence.candidates.links_of(rows[chosen])
            self._explorers.update(link.id for link in links)

    def _changed(self, told: NDArray[Any], wanted: NDArray[Any]) -> NDArray[np.int64]:
        """Indexes of candidates with a new priority that are among the first, or were before."""
        ahead = min(AHEAD, len(wanted))
        least = np.partition(wanted, len(wanted) - ahead)[-ahead]
        matters = (wanted > least) | (told > least)
        matters[np.flatnonzero(wanted == least)[:AHEAD]] = True  # the oldest of those
        return np.flatnonzero(matters & (told != wanted))


def _priorities(scores: NDArray[Any]) -> NDArray[np.int64]:
    """Priorities of log-odds, from 0 to BAND."""
    return np.asarray(np.clip(np.rint(BAND + PER_NAT * log_chance(scores)), 0, BAND), np.int64)


class Credit(Adaptive):
    """Follows links like those from which wanted pages were reached, though it took more than one step.

    It is `adaptive` with another reward: where that learns which score the page of a link had, this learns
    the discounted return (`Returns`), so that a page off the topic is worth a visit if pages like it have
    led to the topic. Rennie and McCallum learn from a complete crawl, by a classifier of link texts; here it
    is learnt as the crawl goes on, as means over what links have in common.

    Weakness: a page that was followed but not read to its end has a return that is too low.

    Source: Rennie, McCallum 1999, "Using Reinforcement Learning to Spider the Web Efficiently"; the survey of
    crawler types, "Focused Crawler".
    """

    def __init__(self, query: str = "", also: str = "", gamma: str = "0.6") -> None:
        super().__init__(query, also, gamma)

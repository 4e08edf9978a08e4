"""The strategy that learns while it crawls. How it was found: docs/explanation/adaptive-crawling.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.orderings.base import BAND, PRIORITY_MAX, UNTOLD, Ordering, Seen, Source, number
from webcrawler.orderings.evidence import Evidence
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

EXPECTED, EXPECTED_STRENGTH = 0.02, 5.0  # mean page score before anything was fetched; its weight in pages
SERVER_STRENGTH = DIRECTORY_STRENGTH = 3.0  # pages that what is expected of a server, or directory, counts as
TOKEN_STRENGTH = PARENT_STRENGTH = ANSWER_STRENGTH = 2.0
ALL = 0.99  # a match from which on all words are there
EDGE = 0.01  # keeps log-odds finite

BIAS = -6.1  # in nats, as the weights of features

# Of exploration.
SHARE_NEW, SHARE_KNOWN = 0.5, 0.15  # of the documents: while there are servers not asked yet, and then
NEW = 0.3  # what an explorer of the first kind is worth at least
PROMISE = 0.4  # worth of each new server that a document may make known
HUB = 2.0  # nats for tables of contents and the like, where one page of a server is chosen
TIE = 0.1  # worth of a candidate's own chance


def scores(evidence: Evidence, rows: NDArray[Any]) -> NDArray[np.float64]:
    """Log-odds that each candidate is relevant; about right in their order, too low in their size.

    A sum of weighted features; learnt ones are log-odds above the usual. What each of them is, and how the
    weights were found: docs/explanation/adaptive-crawling.md.
    """
    candidates, servers = evidence.candidates, evidence.servers
    server, directory = candidates.server.rows[rows], candidates.directory.rows[rows]
    usual = (evidence.rewards + EXPECTED * EXPECTED_STRENGTH) / (evidence.documents + EXPECTED_STRENGTH)
    of_server = servers.rewards.of(server, usual, SERVER_STRENGTH)
    of_directory = evidence.directories.of(directory, of_server, DIRECTORY_STRENGTH)
    tokens, parents = candidates.tokens.rows[rows], candidates.parents.rows[rows]
    of_tokens = np.where(tokens > 0, evidence.tokens.of(tokens, usual, TOKEN_STRENGTH), 0)
    of_parents = np.where(parents > 0, evidence.pages.of(parents, usual, PARENT_STRENGTH), 0)
    mean = of_tokens.sum(1) / np.maximum((tokens > 0).sum(1), 1)
    answers = evidence.directory_answers.of(directory, servers.alive(server), ANSWER_STRENGTH)
    total = np.full(len(rows), BIAS)
    total += 2.0 * candidates.anchor.rows[rows]
    total += 1.0 * (candidates.anchor.rows[rows] > ALL)  # anchor_all
    total += 1.0 * candidates.url.rows[rows]
    total += 0.6 * candidates.context.rows[rows]
    total += 0.2 * candidates.parent.rows[rows]
    total += 0.2 * (odds(of_server) - odds(usual))
    total += 0.4 * (odds(of_directory) - odds(usual))
    total += 1.0 * np.where(tokens.any(1), odds(mean) - odds(usual), 0)  # tokens
    total += 0.5 * (odds(of_tokens.max(1)) - odds(usual))  # token
    total += 0.1 * np.where(parents.any(1), odds(of_parents.max(1)) - odds(usual), 0)  # siblings
    total += 0.8 * servers.named.rows[server]
    total += 0.2 * candidates.hub.rows[rows]
    total += 0.15 * np.log1p(candidates.links_in.rows[rows])
    total += 1.2 * np.log(answers)
    total += 0.8 * (1 / (1 + evidence.directories.counts.rows[directory]))  # unseen_directory
    return total


def log_chance(scores: NDArray[Any]) -> NDArray[np.float64]:
    """The logarithm of the chance, from log-odds."""
    return np.asarray(-np.logaddexp(0, -scores))


def odds(mean: Any) -> NDArray[np.float64]:
    """Log-odds of a mean page score."""
    return np.asarray(np.log((mean + EDGE) / (1 + EDGE - mean)))


def explorers(
    evidence: Evidence, rows: NDArray[Any], scores: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The candidates most worth exploring, one for each server, the best first.

    Servers fetched from least come first. One whose documents make others known, as a link directory's do, is
    as good as one that was never asked.

    Returns:
        Indexes into `rows`, and what a fetch of each is worth.
    """
    servers = evidence.servers
    own = evidence.candidates.server.rows[rows]
    with_hubs = scores + HUB * evidence.candidates.hub.rows[rows]
    highest = np.full(int(own.max()) + 1, -np.inf)  # by server
    np.maximum.at(highest, own, with_hubs)
    places = np.flatnonzero(with_hubs == highest[own])
    best = places[np.unique(own[places], return_index=True)[1]]  # the first of the highest of each server
    mine = own[best]
    worth = servers.alive(mine) / (1 + servers.visits(mine)) * (1 + TIE * np.exp(log_chance(scores[best])))
    worth = np.maximum(worth, np.minimum(PROMISE * servers.promise(mine), 1.0))
    order = np.argsort(-worth, kind="stable")
    return np.asarray(best[order]), np.asarray(worth[order])


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
        self._first: dict[int, int] = {}  # row added by the pages learnt last -> its priority
        self._decided: set[int] = set()  # URL ids
        self._explorers: set[int] = set()  # URL ids
        self._explored, self._owed, self._counted = 0, 0.0, 0  # documents
        self._turn = 0  # index of the next candidates to score

    def learn(self, seen: Sequence[Seen]) -> None:
        self._evidence.candidates.tidy()
        for one in seen:
            self._learn(one)
        rows = self._evidence.candidates.take_changed()
        self._first = dict(zip(rows.tolist(), self._score_rows(rows).tolist(), strict=True))

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        if source is None:
            return PRIORITY_MAX  # a seed
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

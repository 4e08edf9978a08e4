"""How promising is each candidate, and which are worth a fetch for what they teach?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.orderings.evidence import Evidence

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

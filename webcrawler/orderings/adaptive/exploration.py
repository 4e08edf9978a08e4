"""Which candidates are worth a fetch for what they teach, whatever speaks for them?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.orderings.adaptive.evidence import Evidence
from webcrawler.orderings.adaptive.scores import log_chance

SHARE_NEW, SHARE_KNOWN = 0.5, 0.15  # of the documents: while there are servers not asked yet, and then
NEW = 0.3  # what an explorer of the first kind is worth at least
PROMISE = 0.4  # worth of each new server that a document may make known
HUB = 2.0  # nats for tables of contents and the like, where one page of a server is chosen
TIE = 0.1  # worth of a candidate's own chance


def share(worth: float, chance: float) -> float:
    """Of the next documents: by the worth of the best explorer, and the chance of what is best otherwise.

    Where much is promising, as with an index to start from, little is explored.
    """
    return (SHARE_NEW if worth >= NEW else SHARE_KNOWN) * (1 - chance)


def explorers(
    evidence: Evidence, rows: NDArray[Any], scores: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Places in `rows`, one a server, and what a fetch of each is worth, the best first.

    Servers fetched least come first. One whose documents make others known, as a link directory's do, is as
    good as one that was never asked.
    """
    servers = evidence.servers
    own = evidence.candidates.server.rows[rows]
    best = _best_of_each(own, scores + HUB * evidence.candidates.hub.rows[rows])
    mine = own[best]
    worth = servers.alive(mine) / (1 + servers.visits(mine)) * (1 + TIE * np.exp(log_chance(scores[best])))
    worth = np.maximum(worth, np.minimum(PROMISE * servers.promise(mine), 1.0))
    order = np.argsort(-worth, kind="stable")
    return np.asarray(best[order]), np.asarray(worth[order])


def _best_of_each(groups: NDArray[Any], scores: NDArray[Any]) -> NDArray[Any]:
    """The place of the highest score of each group."""
    highest = np.full(int(groups.max()) + 1, -np.inf)
    np.maximum.at(highest, groups, scores)
    places = np.flatnonzero(scores == highest[groups])
    return np.asarray(places[np.unique(groups[places], return_index=True)[1]])

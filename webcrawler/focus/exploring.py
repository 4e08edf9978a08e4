"""Which candidates are worth a fetch for what they may teach, whatever speaks for them?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.focus.evidence import Evidence
from webcrawler.focus.scoring import log_chance

SHARE_NEW, SHARE_KNOWN = 0.5, 0.15  # of the documents: while there are servers not asked yet, and after
CALM = 1.0
PROMISE = 0.4  # worth of each new server that a document may make known
HUB = 2.0  # nats for tables of contents and the like, when one page of a server is to be chosen
NEW = 0.3  # least worth of what counts as new


def share(best: float, chance: float) -> float:
    """Of the next documents, by the worth of the best explorer and the mean chance of what is best otherwise."""
    return (SHARE_NEW if best >= NEW else SHARE_KNOWN) * (1 - chance) ** CALM


def explorers(
    evidence: Evidence, rows: NDArray[Any], scores: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Places in `rows`, one a server, and what a fetch of each is worth, the best first.

    A server whose documents make others known is as good as one that was never asked.
    """
    servers = evidence.servers
    own = evidence.candidates.server.rows[rows]
    best = _best_of_each(own, scores + HUB * evidence.candidates.hub.rows[rows])
    mine = own[best]
    chance = np.exp(log_chance(scores[best]))
    worth = servers.alive(mine) / (1 + servers.visits(mine)) * (1 + 0.1 * chance)
    worth = np.maximum(worth, np.minimum(PROMISE * servers.promise(mine), 1))
    order = np.argsort(-worth, kind="stable")
    return np.asarray(best[order]), np.asarray(worth[order])


def _best_of_each(groups: NDArray[Any], scores: NDArray[Any]) -> NDArray[Any]:
    """The place of the highest score of each group."""
    order = np.lexsort((-scores, groups))
    firsts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    return np.asarray(order[firsts])

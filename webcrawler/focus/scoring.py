"""How promising is each candidate? A sum of what speaks for it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.focus.evidence import Evidence

EXPECTED, EXPECTED_STRENGTH = 0.02, 5.0  # mean page score before anything was fetched, and its weight in pages
EDGE = 0.01  # keeps log-odds finite

WEIGHTS = {
    "bias": -6.1,
    "anchor": 2.0,
    "anchor_all": 1.0,
    "url": 1.0,
    "context": 0.6,
    "parent": 0.2,
    "server": 0.2,
    "directory": 0.4,
    "tokens": 1.0,
    "token": 0.5,
    "siblings": 0.1,
    "named": 0.8,
    "hub": 0.2,
    "links_in": 0.15,
    "answers": 1.2,
    "unseen_directory": 0.8,
}


def features(evidence: Evidence, rows: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Columns over some candidates; what was learnt as log-odds of a mean page score."""
    ours, servers = evidence.candidates, evidence.servers
    server, directory = ours.server.rows[rows], ours.directory.rows[rows]
    usual = (evidence.rewards + EXPECTED * EXPECTED_STRENGTH) / (evidence.documents + EXPECTED_STRENGTH)
    of_server = servers.rewards.of(server, usual, 3.0)
    alive = servers.alive(server)
    tokens = ours.tokens.rows[rows]
    of_tokens = evidence.tokens.of(tokens, usual, 2.0)
    used = tokens > 0
    mean = np.where(used, of_tokens, 0).sum(1) / np.maximum(used.sum(1), 1)
    parents = ours.parents.rows[rows]
    of_pages = np.where(parents > 0, evidence.pages.of(parents, usual, 2.0), 0).max(1)
    anchor, url = ours.anchor.rows[rows], ours.url.rows[rows]
    return {
        "best": ours.best.rows[rows],
        "anchor": anchor,
        "anchor_all": anchor > 0.99,
        "url": url,
        "url_all": url > 0.99,
        "context": ours.context.rows[rows],
        "parent": ours.parent.rows[rows],
        "server": odds(of_server) - odds(usual),
        "directory": odds(evidence.directories.of(directory, of_server, 3.0)) - odds(usual),
        "tokens": np.where(used.any(1), odds(mean) - odds(usual), 0),
        "token": odds(np.where(used, of_tokens, 0).max(1)) - odds(usual),
        "siblings": np.where(parents.any(1), odds(of_pages) - odds(usual), 0),
        "named": servers.named.rows[server],
        "hub": ours.hub.rows[rows],
        "depth": ours.depth.rows[rows],
        "links_in": np.log1p(ours.links_in.rows[rows]),
        "answers": np.log(evidence.directory_answers.of(directory, alive, 2.0)),
        "unseen_directory": 1 / (1 + evidence.directories.counts.rows[directory]),
    }


def scores(evidence: Evidence, rows: NDArray[Any]) -> NDArray[np.float64]:
    """In nats; higher is better."""
    found = features(evidence, rows)
    total = np.full(len(rows), float(WEIGHTS["bias"]))
    for name, weight in WEIGHTS.items():
        if weight and name in found:
            total += weight * found[name]
    return total


def log_chance(scores: NDArray[Any]) -> NDArray[np.float64]:
    """The logarithm of the chance that goes with log-odds."""
    return -np.logaddexp(0, -scores)


def odds(mean: Any) -> NDArray[np.float64]:
    return np.asarray(np.log((mean + EDGE) / (1 + EDGE - mean)))

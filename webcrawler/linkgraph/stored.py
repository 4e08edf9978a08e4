"""Ranks in the data folder, for search: a reader gets the old ones or the new ones, never a mixture.

The file begins with 512 bytes of JSON that say which catalog they belong to; behind it stands the array.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from webcrawler import metrics
from webcrawler.archive.catalog import Catalog
from webcrawler.background import Renewal
from webcrawler.files import replaced
from webcrawler.linkgraph.graph import DAMPING, FloatArray, catalog_graph, pagerank

NAME = "ranks.bin"
HEAD_BYTES = 512
GROWTH = 1.1  # of the changes, from which on ranks are due again


class Ranks(NamedTuple):
    """IR of all URLs known at one time: mean 1; dangling pages spread theirs over all."""

    values: FloatArray  # page number n is at n - 1; read from the disk as they are used
    seq: int  # the last change of the catalog that they hold
    identity: str  # the catalog's
    damping: float

    def of(self, numbers: ArrayLike) -> FloatArray:
        """Ranks by page number; a page not known then has the rank of one that nobody links to."""
        places = np.asarray(numbers, np.int64) - 1
        known = (places >= 0) & (places < len(self.values))
        found = np.full(places.shape, 1 - self.damping)
        found[known] = self.values[places[known]]
        return found


def store(
    folder: Path, ranks: FloatArray, seq: int, identity: str, damping: float = DAMPING, run: int = 0
) -> None:
    """Replaces the stored ranks; one writer at a time.

    Args:
        run: of the jobs over all folders, which made them: mean 1 over the URLs of all; 0: made here.

    Raises:
        OSError: for example, the disk is full; the old ranks stay.
    """
    folder.mkdir(parents=True, exist_ok=True)
    head = {"pages": len(ranks), "seq": seq, "identity": identity, "damping": damping, "run": run}
    with replaced(folder / NAME) as file:
        file.write(json.dumps(head).encode().ljust(HEAD_BYTES))
        file.write(np.asarray(ranks, np.float64).tobytes())


def load(folder: Path, identity: str) -> Ranks | None:
    """The ranks of that catalog; None if there are none that can be read."""
    with suppress(OSError, ValueError, KeyError, TypeError), (folder / NAME).open("rb") as file:
        head = json.loads(file.read(HEAD_BYTES))
        if head["identity"] == identity:
            values = np.memmap(file, np.float64, "r", HEAD_BYTES, (int(head["pages"]),))
            return Ranks(values, int(head["seq"]), identity, float(head["damping"]))
    return None


def run_of(folder: Path) -> int:
    """Which run of the jobs over all folders made the stored ranks; 0: this folder did, or there are none."""
    with suppress(OSError, ValueError, TypeError, AttributeError), (folder / NAME).open("rb") as file:
        return int(json.loads(file.read(HEAD_BYTES)).get("run", 0))
    return 0


class RankRenewal(Renewal):
    """Computes and stores ranks when they are due: of the whole catalog, starting from the last ranks."""

    def __init__(self, catalog: Catalog, folder: Path) -> None:
        self._catalog, self._folder, self._identity = catalog, folder, catalog.identity
        self._ranks = load(folder, self._identity)
        super().__init__(catalog.last_seq, self._ranks.seq if self._ranks else 0, GROWTH)

    def make(self, seq: int) -> str:
        with metrics.ranker_store_seconds.time():
            graph = catalog_graph(self._catalog)
            known = self._ranks.of(np.arange(1, graph.pages + 1)) if self._ranks else None
            values = pagerank(graph, DAMPING, start=known)
            store(self._folder, values, seq, self._identity)
        self._ranks = Ranks(values, seq, self._identity, DAMPING)
        return f"the ranks of {graph.pages} URLs"

"""Ranks in the data folder, for search: a reader gets the old ones or the new ones, never a mixture.

`ranks/ranks.json` says which catalog they belong to and names the array, a file that never changes.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import ArrayLike

from webcrawler import metrics
from webcrawler.archive.catalog import Catalog
from webcrawler.arrays import READING
from webcrawler.background import Renewal
from webcrawler.durable import replaced
from webcrawler.linkgraph.graph import DAMPING, FloatArray, catalog_graph, pagerank

NAME = "ranks.json"
READS = 10  # tries: a writer may swap the array after the head was read
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


def store(folder: Path, ranks: FloatArray, seq: int, identity: str, damping: float = DAMPING) -> None:
    """Replaces the stored ranks; one writer at a time.

    Raises:
        OSError: for example, the disk is full; the old ranks stay.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _sweep(folder)  # what a writer that died has left
    array = folder / f"{uuid4().hex}.npy"
    head = {"file": array.name, "pages": len(ranks), "seq": seq, "identity": identity, "damping": damping}
    try:
        with array.open("xb") as file:
            np.save(file, np.asarray(ranks, np.float64))
            file.flush()
            os.fsync(file.fileno())
        with replaced(folder / NAME) as file:
            file.write(f"{json.dumps(head)}\n".encode())
    finally:
        _sweep(folder)


def load(folder: Path, identity: str) -> Ranks | None:
    """The ranks of that catalog; None if there are none that can be read."""
    for _ in range(READS):
        with suppress(OSError, ValueError, KeyError, TypeError):
            head = json.loads((folder / NAME).read_text("utf-8"))
            with READING:
                values = np.load(folder / head["file"], mmap_mode="r", allow_pickle=False)
            if head["identity"] != identity or values.shape != (head["pages"],):
                return None
            return Ranks(values, int(head["seq"]), identity, float(head["damping"]))
    return None


def _sweep(folder: Path) -> None:
    """Removes all arrays but the current one; a reader that has one open keeps it."""
    named = ""
    with suppress(OSError, ValueError, KeyError, TypeError):
        named = json.loads((folder / NAME).read_text("utf-8"))["file"]
    for array in folder.glob("*.npy"):
        if array.name != named:
            array.unlink(missing_ok=True)


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

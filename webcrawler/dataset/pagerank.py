"""PageRank over all folders: as arrays where the graph fits in memory, else round by round in SQL.

Both give the same ranks, to 1e-8 in the mean. Arrays take a twentieth of the time.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from webcrawler.dataset.engines import DuckDB, Engine
from webcrawler.dataset.texts import text
from webcrawler.linkgraph import DAMPING, Graph, pagerank

TOLERANCE = 1e-8
BATCH = 1_000_000  # links that are numbered at a time
LINK_BYTES, PAGE_BYTES = 40, 120  # at the peak


def fits(links: int, pages: int, megabytes: int) -> bool:
    return links * LINK_BYTES + pages * PAGE_BYTES <= megabytes * 2**20


def by_sql(engine: Engine) -> None:
    """Make `ranks` (url_id, pagerank) of `pages`, `edges` and `last_ranks`."""
    enough = TOLERANCE * (1 - DAMPING) / DAMPING
    rounds = math.ceil(math.log(enough / 2) / math.log(DAMPING)) + 1
    engine.keep("ranks", text("ranks_start"), damping=DAMPING)
    for _ in range(rounds):
        engine.keep("ranks", text("ranks_round"), damping=DAMPING)
        if (engine.value("SELECT avg(change) FROM ranks") or 0.0) <= enough:
            break


def by_arrays(engine: DuckDB) -> None:
    """Make `ranks` as `by_sql` does."""
    import pyarrow as pa

    engine.keep("ranks", text("ranks_start"), damping=DAMPING)
    begin = engine.db.execute("SELECT url_id, pagerank FROM ranks ORDER BY url_id").fetchnumpy()
    ids, start = begin["url_id"], begin["pagerank"]
    sources, targets = _numbered(engine, ids)
    graph = Graph.of(sources, targets, len(ids))
    del sources, targets
    ranks = pagerank(graph, DAMPING, TOLERANCE, start if len(ids) else None)
    engine.db.register("ranked", pa.table({"url_id": ids, "pagerank": ranks}))
    engine.keep("ranks", "SELECT url_id, pagerank FROM ranked")
    engine.db.unregister("ranked")


def _numbered(engine: DuckDB, ids: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the ends of all edges as places in `ids`, by ascending source and target."""
    links = int(engine.value("SELECT count(*) FROM edges"))
    sources, targets = np.empty(links, np.int32), np.empty(links, np.int32)
    rows = engine.db.sql("SELECT source_id, target_id FROM edges ORDER BY source_id, target_id")
    done = 0
    for batch in rows.to_arrow_reader(BATCH):
        for end, into in zip(batch.columns, (sources, targets), strict=True):
            into[done : done + len(batch)] = np.searchsorted(ids, end.to_numpy())
        done += len(batch)
    return sources, targets

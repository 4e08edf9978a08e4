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
LINK_BYTES, PAGE_BYTES = 16, 120  # at the peak


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
    begin = engine.db.execute("SELECT url_id, links, pagerank FROM ranks ORDER BY url_id").fetchnumpy()
    ids, starts = begin["url_id"], np.concatenate([[0], np.cumsum(begin["links"])])
    graph = Graph(starts, _targets(engine, ids, int(starts[-1])))
    ranks = pagerank(graph, DAMPING, TOLERANCE, begin["pagerank"] if len(ids) else None)
    engine.db.register("ranked", pa.table({"url_id": ids, "pagerank": ranks}))
    engine.keep("ranks", "SELECT url_id, pagerank FROM ranked")
    engine.db.unregister("ranked")


def _targets(engine: DuckDB, ids: NDArray[np.int64], links: int) -> NDArray[np.int32]:
    """Return the target of each edge as a place in `ids`, by ascending source and target."""
    targets, done = np.empty(links, np.int32), 0
    rows = engine.db.sql("SELECT target_id FROM edges ORDER BY source_id, target_id")
    for batch in rows.to_arrow_reader(BATCH):
        targets[done : done + len(batch)] = np.searchsorted(ids, batch.column(0).to_numpy())
        done += len(batch)
    return targets

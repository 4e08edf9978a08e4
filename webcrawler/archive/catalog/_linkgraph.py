"""Who links to whom, read from the catalog."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from webcrawler.archive.catalog._rows import LinkRow

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    IntArray = NDArray[numpy.int64]

URL = "FROM urls u JOIN servers s ON s.number = u.server"
SOURCES = 10_000  # whose links are read in one step: some 5 MB


class LinkGraph:
    """The part of `Catalog` that knows pages by their numbers: dense, from 1, and theirs for ever."""

    _db: sqlite3.Connection

    def urls(self) -> Iterator[tuple[int, str]]:
        """Every page number with its canonical URL, in ascending order; never fetched ones included."""
        return self._db.execute(f"SELECT u.number, s.name || u.path {URL} ORDER BY u.number")

    def links(self) -> Iterator[LinkRow]:
        """All edges, redirects included, by ascending source and target."""
        return map(LinkRow._make, self._db.execute("SELECT * FROM links ORDER BY source, target"))

    def edges(self) -> Iterator[tuple[int, int, str, str, str, str]]:
        """All edges as `links` gives them: source, target, the URL of each, anchor, rel."""
        return self._db.execute("""
            SELECT l.source, l.target, a.name || s.path, b.name || t.path, l.anchor, l.rel
            FROM links l CROSS JOIN urls s ON s.number = l.source CROSS JOIN servers a ON a.number = s.server
            CROSS JOIN urls t ON t.number = l.target CROSS JOIN servers b ON b.number = t.server
            ORDER BY l.source, l.target""")

    def outlinks(self, numbers: Sequence[int]) -> tuple[IntArray, IntArray]:
        """Sources and targets of the edges that leave these pages, by ascending source.

        Redirects included, nofollow left out.
        """
        query = """SELECT source, target FROM links
            WHERE source IN (SELECT value FROM json_each(?)) AND rel <> 'nofollow' ORDER BY source"""
        sources, targets = columns(self._db.execute(query, (as_json(numbers),)), 2)
        return sources, targets

    def link_arrays(self) -> tuple[IntArray, IntArray]:
        """Sources and targets of all edges as `outlinks` gives them, by ascending source; 3 million in 0.8 s.

        One row a source, its targets as text that is parsed at once: half the time of a tuple a link.
        """
        import numpy

        rows = self._db.execute("""
            SELECT source, count(*), group_concat(target) FROM links WHERE rel <> 'nofollow'
            GROUP BY source ORDER BY source""")
        sources, targets = [numpy.zeros(0, int)], [numpy.zeros(0, int)]
        while some := rows.fetchmany(SOURCES):
            numbers, counts, texts = zip(*some, strict=True)
            sources.append(numpy.repeat(numbers, counts))
            targets.append(numpy.fromstring(",".join(texts), int, sep=","))
        return numpy.concatenate(sources), numpy.concatenate(targets)

    def changed(self, after: int, until: int) -> IntArray:
        """The page numbers of all changes after one seq and until another, ascending, each once."""
        query = "SELECT DISTINCT number FROM changes WHERE seq > ? AND seq <= ? ORDER BY number"
        return columns(self._db.execute(query, (after, until))).ravel()

    def pages(self) -> int:
        """The highest page number: they begin with 1 and leave no gap."""
        return int(self._db.execute("SELECT coalesce(max(number), 0) FROM urls").fetchone()[0])

    def url_ids(self, after: int = 0) -> IntArray:
        """The URL ids of the page numbers after that one, in their order: the numbers are dense."""
        rows = self._db.execute("SELECT id FROM urls WHERE number > ? ORDER BY number", (after,))
        return columns(rows).ravel()

    def servers(self) -> tuple[dict[int, str], IntArray]:
        """The servers' names by their numbers; the server's number of each page number, from 1 on."""
        names = dict(self._db.execute("SELECT number, name FROM servers"))
        return names, columns(self._db.execute("SELECT server FROM urls ORDER BY number")).ravel()

    def urls_of(self, numbers: Sequence[int]) -> dict[int, str]:
        """Canonical URLs by page number."""
        query = f"SELECT u.number, s.name || u.path {URL} WHERE u.number IN (SELECT value FROM json_each(?))"
        return dict(self._db.execute(query, (as_json(numbers),)))

    def top_linked(self, n: int) -> list[tuple[str, int]]:
        """The n URLs with the most in-links, redirects included; reads the whole table of links."""
        query = f"""
            SELECT s.name || u.path, t.n {URL}
            JOIN (SELECT target, count(*) AS n FROM links GROUP BY target ORDER BY n DESC, target LIMIT ?) t
            ON t.target = u.number ORDER BY t.n DESC, t.target"""
        return list(self._db.execute(query, (n,)))

    def to_networkx(self) -> Any:
        """The link graph as a DiGraph: nodes are page numbers with `url`, edges have `anchor` and `rel`."""
        import networkx  # 0.4 s, which no other use of a catalog should pay

        graph: Any = networkx.DiGraph()
        graph.add_nodes_from((number, {"url": url}) for number, url in self.urls())
        graph.add_edges_from((s, t, {"anchor": anchor, "rel": rel}) for s, t, anchor, rel in self.links())
        return graph


def columns(rows: Iterable[tuple[int, ...]], columns: int = 1) -> IntArray:
    """Shape (columns, rows)."""
    import numpy  # 0.2 s, which only what counts links should pay

    return numpy.fromiter(chain.from_iterable(rows), numpy.int64).reshape(-1, columns).T


def as_json(numbers: Sequence[int]) -> str:
    """An array for json_each."""
    return json.dumps([int(number) for number in numbers])

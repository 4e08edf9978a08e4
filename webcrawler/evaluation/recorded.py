"""Recorded graphs: what a crawl found, or a file holds, to crawl it again in other orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order

from webcrawler import urls
from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput, BadUrl
from webcrawler.evaluation import files
from webcrawler.linkgraph import Graph
from webcrawler.records import FORM_AND_LINK, Document, Text

MADE_UP = "http://graph.example/"  # prefix of the URLs of pages without one
KINDS = ("catalog.sqlite", "*.graph-txt*", "*.dat*", "links.tsv*", "*.edgelist*", "*.tsv*", "*.txt*")
AT_ONCE = 10_000  # rows of a query
HOPS = 20  # of redirects


@dataclass(frozen=True)
class Recorded:
    """A graph whose pages have URLs; anchors and texts, too, if it comes from a catalog."""

    graph: Graph
    labels: NDArray[np.int64]  # what the file calls each page
    urls: Sequence[str]  # canonical, each once
    anchors: Sequence[str] = ()  # of each link, beside graph.targets; none are known where empty
    texts: Callable[[Sequence[int]], dict[int, Text]] | None = None  # of pages by label; None: it has none

    def page(self, start: str = "") -> int:
        """The page of this name, URL or number; without one, the first page with links.

        Raises:
            BadInput: there is no such page.
        """
        if not start:
            return int(np.flatnonzero(np.diff(self.graph.starts))[0])
        spellings, number = _spellings(start), as_number(start)
        found = [page for page, url in enumerate(self.urls) if url in spellings]
        if not found and number is not None:
            found = np.flatnonzero(self.labels == number).tolist()
        if found:
            return found[0]
        pages = f"{self.urls[0]} and {len(self.urls) - 1:,} more"
        if self.urls[0].startswith(MADE_UP):
            pages = f"pages {self.labels[0]} to {self.labels[-1]}"
        raise BadInput(f"--start: the graph has no page {start[:200]!r}; it has {pages}")

    def reachable(self, start: int) -> Recorded:
        """The part that can be reached from a page; nothing else counts (Cho 1998, section 6).

        Raises:
            BadInput: the page has no links.
        """
        graph = self.graph
        reached = np.zeros(graph.pages, bool)
        reached[breadth_first_order(graph.matrix(), start, return_predecessors=False)] = True
        if reached.sum() < 2:
            raise BadInput(f"--start: page {self.labels[start]} links to no other page; choose another")
        kept = reached[graph.sources]
        number = np.cumsum(reached) - 1
        pages = np.flatnonzero(reached)
        return replace(
            self,
            graph=Graph.of(number[graph.sources[kept]], number[graph.targets[kept]], len(pages)),
            labels=self.labels[pages],
            urls=[self.urls[page] for page in pages.tolist()],
            anchors=[self.anchors[link] for link in np.flatnonzero(kept).tolist()] if self.anchors else (),
        )


def as_number(start: str) -> int | None:
    """The number, if the text is one that can be a page number."""
    return int(start) if start.isdecimal() and len(start) <= files.DIGITS_MAX else None


def _spellings(start: str) -> set[str]:
    found = set()
    for url in (start, f"http://{start}", MADE_UP + quote(start, safe="%/")):
        with suppress(BadUrl):
            found.add(urls.canonical(url))
    return found


def read(path: Path | str) -> Recorded:
    """Read a graph file, a folder with one, or the data folder of a crawl.

    Raises:
        BadInput: there is no graph, or it is damaged; the message names file and line.
    """
    path = Path(path)
    file = _chosen(path) if path.is_dir() else path
    if not file.exists():
        raise BadInput(f"there is no graph at {file}")
    if file.is_file() and _begins_with(file, b"SQLite format 3\0"):
        return from_catalog(file)
    if ".graph-txt" in file.name:
        listed = files.adjacency(file)
        return Recorded(listed.graph, listed.labels, [f"{MADE_UP}{label}" for label in listed.labels])
    lists = [file.with_name(name) for name in ("links.dat", "links.dat.gz") if ".dat" in file.name]
    if url_list := next(filter(Path.exists, lists), None):  # links.dat beside hollins.dat
        by_label = files.page_urls(url_list)
        listed = files.edges(file, np.array(list(by_label), np.int64))
        spelled = [by_label.get(label, "") for label in listed.labels.tolist()]
    else:
        listed = files.edges(file)
        spelled = [_url_of(name) for name in listed.names] or [""] * len(listed.labels)
    return Recorded(listed.graph, listed.labels, _distinct(spelled, listed.labels))


def _url_of(name: str) -> str:
    return name if name.startswith(("http://", "https://")) else MADE_UP + quote(name, safe="%/")


def _begins_with(file: Path, magic: bytes) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(len(magic)) == magic
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from None


def _chosen(folder: Path) -> Path:
    for kind in KINDS:
        found = [file for file in sorted(folder.glob(kind)) if not file.name.startswith("links.dat")]
        if len(found) == 1:
            return found[0]
        if found:
            raise BadInput(f"{folder} holds several graphs; name one: {', '.join(map(str, found[:3]))}")
    raise BadInput(f"{folder} holds no graph: neither a catalog.sqlite of a crawl nor a file of links")


def _distinct(spelled: Sequence[str], labels: NDArray[np.int64]) -> list[str]:
    """Canonical URLs, each once; a page without a URL of its own gets a made-up one."""
    found: dict[str, None] = {}
    for url, label in zip(spelled, labels.tolist(), strict=True):
        chosen = made_up = f"{MADE_UP}{label}"
        with suppress(BadUrl):
            chosen = urls.canonical(url) if url else made_up
        for other in (made_up, f"{made_up}/{len(found)}"):
            chosen = other if chosen in found else chosen
        found[chosen] = None
    return list(found)


def from_catalog(file: Path) -> Recorded:
    """The documents of a crawl and the links between them; URLs that were never fetched are left out.

    A link to a redirect counts as a link to its target. Links with nofollow do not count, as in a crawl.

    Raises:
        BadInput: the file is not a catalog, or has no links between documents.
    """
    catalog = Catalog(file, readonly=True)
    url_of = dict(catalog.urls.all())
    labels = sorted(number for number, _ in documents(catalog))
    rows = list(catalog.links.all())
    leads_to = {row.source: row.target for row in rows if row.rel == "redirect"}
    page_of = {label: page for page, label in enumerate(labels)}

    def page(label: int) -> int:
        for _ in range(HOPS):
            if label in page_of:
                return page_of[label]
            label = leads_to.get(label, 0)
        return -1

    anchors: dict[tuple[int, int], list[str]] = {}  # several where redirects lead to one page
    for row in rows:
        source, target = page_of.get(row.source, -1), page(row.target)
        if row.rel in ("", FORM_AND_LINK) and source >= 0 and target >= 0 and source != target:
            anchors.setdefault((source, target), []).append(row.anchor)
    if not anchors:
        raise BadInput(f"{file} has no link between two documents: crawl more, then compare orderings")
    links = sorted(anchors)
    ends = np.array(links, np.int64)
    return Recorded(
        Graph.of(ends[:, 0], ends[:, 1], len(labels)),
        np.array(labels, np.int64),
        [url_of[label] for label in labels],
        [" ".join(anchors[link]) for link in links],
        texts=catalog.texts,
    )


def documents(catalog: Catalog) -> Iterator[tuple[int, Document]]:
    """All documents of a crawl by page number."""
    for start in range(1, catalog.urls.count() + 1, AT_ONCE):
        yield from catalog.documents(range(start, start + AT_ONCE)).items()

"""Recorded graphs from files of several formats, and from the catalog of a crawl."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from webcrawler import urls
from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput, BadUrl
from webcrawler.evaluation import files
from webcrawler.evaluation.recorded import MADE_UP, Recorded
from webcrawler.linkgraph import Graph

KINDS = ("catalog.sqlite", "*.graph-txt*", "*.dat*", "links.tsv*", "*.edgelist*", "*.tsv*", "*.txt*")


def read(path: Path) -> Recorded:
    """Read a graph file, a folder with one, or the data folder of a crawl.

    Raises:
        BadInput: there is no graph, or it is damaged; the message names file and line.
    """
    file = _chosen(path) if path.is_dir() else path
    if not file.exists():
        raise BadInput(f"there is no graph at {file}")
    if file.is_file() and _begins_with(file, b"SQLite format 3\0"):
        return from_catalog(file)
    if ".graph-txt" in file.name:
        listed = files.adjacency(file)
        return Recorded(listed.graph, listed.labels, [f"{MADE_UP}{label}" for label in listed.labels])
    if url_list := _beside(file):
        labels, known = files.page_urls(url_list)
        listed = files.edges(file, labels)
        by_label = dict(zip(labels.tolist(), known, strict=True))
        spelled = [by_label.get(label, "") for label in listed.labels.tolist()]
    else:
        listed = files.edges(file)
        spelled = [MADE_UP + quote(name, safe="%/") for name in listed.names] or [""] * len(listed.labels)
    return Recorded(listed.graph, listed.labels, _distinct(spelled, listed.labels))


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


def _beside(file: Path) -> Path | None:
    """The file of URLs that belongs to a file of links: links.dat beside hollins.dat."""
    lists = [file.parent / "links.dat", file.parent / "links.dat.gz"] if ".dat" in file.name else []
    return next((found for found in lists if found.exists()), None)


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


AT_ONCE = 10_000  # rows of a query
HOPS = 20  # of redirects


def from_catalog(file: Path) -> Recorded:
    """The documents of a crawl and the links between them; URLs that were never fetched are left out.

    A link to a redirect counts as a link to its target. Links with nofollow do not count, as in a crawl.

    Raises:
        BadInput: the file is no catalog, or has no links between documents.
    """
    catalog = Catalog(file, readonly=True)
    url_of = dict(catalog.urls.all())
    labels = _documents(catalog, list(url_of))
    rows = list(catalog.links.all())
    leads_to = {row.source: row.target for row in rows if row.rel == "redirect"}
    page_of = {label: page for page, label in enumerate(labels)}

    def page(label: int) -> int:
        for _ in range(HOPS):
            if label in page_of:
                return page_of[label]
            label = leads_to.get(label, 0)
        return -1

    anchors: dict[tuple[int, int], str] = {}
    for row in rows:
        source, target = page_of.get(row.source, -1), page(row.target)
        if row.rel == "" and source >= 0 and target >= 0 and source != target:
            key = (source, target)  # several links, by way of redirects: their anchor texts are joined
            anchors[key] = f"{anchors[key]} {row.anchor}" if key in anchors else row.anchor
    if not anchors:
        raise BadInput(f"{file} has no link between two documents: crawl more, then compare orderings")
    links = sorted(anchors)
    ends = np.array(links, np.int64)
    return Recorded(
        Graph.of(ends[:, 0], ends[:, 1], len(labels)),
        np.array(labels, np.int64),
        [url_of[label] for label in labels],
        [anchors[link] for link in links],
        texts=catalog.texts,
    )


def _documents(catalog: Catalog, numbers: list[int]) -> list[int]:
    found: list[int] = []
    for start in range(0, len(numbers), AT_ONCE):
        found += sorted(catalog.documents(numbers[start : start + AT_ONCE]))
    return found

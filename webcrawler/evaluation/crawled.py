"""This project's own catalog as a recorded graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput
from webcrawler.evaluation.recorded import Recorded
from webcrawler.linkgraph import Graph

AT_ONCE = 10_000  # rows of a query
HOPS = 20  # of redirects


def from_catalog(file: Path) -> Recorded:
    """The documents of a crawl and the links between them; what was never fetched is left out.

    A link to a redirect leads where that leads. Links with nofollow do not count, as in a crawl.

    Raises:
        BadInput: it is no catalog, or has no links between documents.
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
            key = (source, target)  # several links to it by way of redirects: all their words count
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
        has_texts=True,
        texts=catalog.texts,
    )


def _documents(catalog: Catalog, numbers: list[int]) -> list[int]:
    found: list[int] = []
    for start in range(0, len(numbers), AT_ONCE):
        found += sorted(catalog.documents(numbers[start : start + AT_ONCE]))
    return found

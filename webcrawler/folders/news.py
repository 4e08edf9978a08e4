"""From the folders' catalogs to the view's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, islice

import numpy as np

from webcrawler.archive.catalog import Catalog, Position

SOME = 500  # URLs in one transaction
Progress = Callable[[str, int, int | None], None]  # what is being done, how much is done, of how much


def copy_news(
    parts: Sequence[Catalog], before: Sequence[Position], catalog: Catalog, progress: Progress
) -> None:
    """Copy what other catalogs say since they were read last, in the order in which one crawl had found it.

    Args:
        before: how far each of them was read.
    """
    news = [part.source.news(after) for part, after in zip(parts, before, strict=True)]
    ids, since = (np.concatenate(column) for column in zip(*news, strict=True))
    by_time = ids[np.argsort(since, kind="stable")]
    _, first = np.unique(by_time, return_index=True)
    order = by_time[np.sort(first)].tolist()
    for start in range(0, len(order), SOME):
        progress("pages", start, len(order))
        some = order[start : start + SOME]
        place = {id: at for at, id in enumerate(some)}
        said = chain.from_iterable(part.source.said(some, str(n)) for n, part in enumerate(parts))
        catalog.copy(sorted(said, key=lambda one: place[one.link.id]))
    for part, after in zip(parts, before, strict=True):
        urls = part.source.urls(after)
        while new := list(islice(urls, SOME)):
            catalog.learn(new)

"""What is known beforehand: an index of some random documents, and the best of them for a query.

Source: Pinkerton 1994, "Real-time search mode": the initial list comes from the index.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from functools import cached_property

from webcrawler.errors import BadInput
from webcrawler.evaluation.focused.recorded_web import Recording
from webcrawler.frontier import Seen
from webcrawler.index.whoosh import applied_seq
from webcrawler.search import Searcher

BEST = 100  # documents that a strategy starts from
RANKING = "bm25f"


class Ranked:
    """The whole recorded crawl as our retrieval ranks it.

    Raises:
        BadInput: it has no index.
    """

    def __init__(self, recording: Recording) -> None:
        if not has_index(recording):
            raise BadInput(
                f"{recording.crawl_dir} has no index, which ranks what is known: run `scrapy reindex`"
            )
        self._recording = recording

    @cached_property
    def _searcher(self) -> Searcher:
        return Searcher(self._recording.crawl_dir)

    def documents(self, query: str) -> list[tuple[int, float]]:
        """Page numbers and scores, best first."""
        return self._searcher.rank(query, RANKING, len(self._recording.documents))


def has_index(recording: Recording) -> bool:
    return applied_seq(recording.crawl_dir / "index") > 0


def sample(recording: Recording, size: int, seed: int) -> frozenset[int]:
    """Random documents by page number.

    Raises:
        BadInput: there are not so many.
    """
    numbers = sorted(recording.documents)
    if not 0 < size < len(numbers):
        raise BadInput(f"--known wants 1 to {len(numbers) - 1:,} of the {len(numbers):,} documents")
    return frozenset(random.Random(seed).sample(numbers, size))


def best(
    recording: Recording, ranked: Sequence[tuple[int, float]], known: Collection[int], limit: int = BEST
) -> list[Seen]:
    """The best of what is known, with relevance (score / best score) and the links that lead out of it.

    Words around links are left out: a live search has these links from the catalog, which keeps none.
    """
    chosen = [(number, score) for number, score in ranked if number in known][:limit]
    explored = {recording.documents[number].id for number in known}
    found = []
    for number, score in chosen:
        document = recording.documents[number]
        page = recording.fetch(document.url)
        links = [link._replace(context="") for link in page.links if link.id not in explored]
        relevance = max(0.0, score / chosen[0][1]) if chosen[0][1] > 0 else 0.0
        found.append(Seen(document.id, document.url, page.text, links, relevance))
    return found

"""Answers queries over all that is in a cluster, as `search.Searcher` does over one data folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from webcrawler.opensearch.client import Cluster
from webcrawler.opensearch.engine import ClusterEngine
from webcrawler.search import DEADLINE_SECONDS, Answering, Opened
from webcrawler.text import Reference

FRESH_SECONDS = 5.0  # how old a remembered answer may be: what a cluster shows changes all the time


class ClusterSearcher(Answering):
    """A thread needs a searcher of its own.

    Spellings, completions and related words are those of the folder's vocabulary, and so are cached copies.
    """

    def __init__(
        self,
        url: str,
        crawl_dir: Path,
        reference: Reference | None = None,
        deadline_seconds: float = DEADLINE_SECONDS,
    ) -> None:
        """
        Args:
            url: as SEARCH_URL.
            reference: as for `Searcher`.
            deadline_seconds: of the cluster's answers; another node is asked before.
        Raises:
            BadInput: the URL is not valid.
        """
        super().__init__(Opened(crawl_dir), deadline_seconds)
        self._cluster = Cluster(url)
        self._answers = ClusterEngine(self._cluster, self._opened, reference, deadline_seconds)

    @property
    def generation(self) -> object:
        return int(monotonic() / FRESH_SECONDS), self._opened.generation

    @property
    def documents(self) -> int:
        self._answers.begin(())
        return self._answers.collection.documents

    def check(self) -> None:
        self._cluster.check()
        self._answers.begin(())

    def _engine(self, texts: Sequence[str] = ()) -> ClusterEngine | None:
        self._answers.begin(texts)
        return self._answers if self._answers.collection.documents else None

    def _not_indexed(self) -> str:
        return "nothing is in the cluster yet: SINK_URL in the settings of a crawl sends pages to it"

    def _why_partial(self) -> str:
        return "a part of the cluster did not answer"

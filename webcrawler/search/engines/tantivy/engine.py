"""Answers: the best documents by tantivy, those that anchors speak for, and pages that nobody fetched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from webcrawler.errors import BadInput
from webcrawler.index.tantivy import stored
from webcrawler.search.engines.engine import Answer, best, check_catalog
from webcrawler.search.engines.tantivy.explaining import parts
from webcrawler.search.engines.tantivy.merging import MAX_RANKED, search
from webcrawler.search.engines.tantivy.opening import Both, Live, readable
from webcrawler.search.engines.tantivy.scoring import IMPORTANCE, weighted
from webcrawler.search.engines.tantivy.translating import Translator
from webcrawler.search.matches import Part
from webcrawler.search.opened import Opened
from webcrawler.search.rankings import DEFAULT, importance
from webcrawler.text.query import AllOf, Query


class TantivyEngine:
    """For one thread."""

    def __init__(self, crawl_dir: Path, opened: Opened) -> None:
        self._live, self._opened = Live(crawl_dir), opened
        self._both: Both | None = None
        self._translator: Translator | None = None

    @property
    @readable()
    def generation(self) -> object:
        both = self._live.both()
        if both:
            check_catalog(both.documents.catalog, self._opened.catalog)
        if both is not self._both:
            self._both = both
            self._translator = Translator(both, self._opened.linking_to) if both else None
        return both.generation if both else None

    @readable()
    def answer(
        self, query: Query, ranking: str, late: Callable[[], bool], within: Sequence[Query] = ()
    ) -> Answer:
        if ranking != DEFAULT:
            raise BadInput(
                f"tantivy has no ranking {ranking!r}, only {DEFAULT}: others need INDEX_ENGINE=whoosh"
            )
        both, translator = self._both, self._translator
        assert both and translator, "the generation says whether there is anything to search"
        root = AllOf((query.root, *(other.root for other in within))) if within else query.root
        prefixes = tuple(translator.prefixes(query.root))
        asked = (*query.asked, *prefixes)
        weights = weighted(asked)
        found = search(both, translator, root, weights, late)
        scores = found.scores + importance(self._opened.ranks_of(found.pages), IMPORTANCE)

        @readable()
        def explain(page: int) -> list[Part]:
            spelled = {stored(one.term): one.spelled for one in asked}
            sides = (both.documents, both.anchors) if page in found.called else (both.documents,)
            words = [part for side in sides for part in parts(side, weights, spelled, page)]
            rank = self._opened.ranks_of(np.array([page], np.int32))
            worth = float(importance(rank, IMPORTANCE)[0])
            return [*words, Part("links to the page", f"PageRank {rank[0]:.2f}", worth)]

        pages, highest = best(found.pages, scores, MAX_RANKED)
        return Answer(found.total, pages, highest, explain, found.partial, found.at_least, prefixes)

"""Links of the page first that is expected to be nearest to the topic: a context graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from threading import Lock

from webcrawler.orderings.base import PRIORITY_MAX, Ordering, Seen, Source, whole_number
from webcrawler.orderings.context.bayes import LayerModel, words_of_page
from webcrawler.orderings.context.layers import PAGES_MAX, Layers
from webcrawler.orderings.examples import Examples, ScoredPage, score_again
from webcrawler.orderings.topic import SIMILAR, Likeness, Wanted, page_score
from webcrawler.orderings.words import FULL, redirected
from webcrawler.records import Lease, Link, Text

LAYERS_MAX = 10
KEPT = 5_000  # pages whose waiting links get new priorities, the latest; the others' keep theirs
DECIDED_MAX = 1_000_000  # URLs; what is decided again costs a round trip for each
GROWTH = 0.05  # of the pages learnt from; then waiting links get new priorities


class ContextGraph(Ordering):
    """Follows the links of the page with the least expected distance from the topic.

    Pages are sorted into layers by how many links lead from them to a page on the topic, over the links of
    the pages fetched so far, and a classifier learns from their words in which layer a page is. So pages off
    the topic are followed if pages like them have led to it.

    A page is on the topic if it is similar to the query; without a query, to the seeds.

    Weakness: all links of a page have the same priority. Until pages on the topic were found, there is
    nothing to measure a distance from.

    Source: Diligenti, Coetzee, Lawrence, Giles, Gori 2000, "Focused Crawling Using Context Graphs"; Mengozzi,
    "context focused crawler". Departs from it: layers are learnt during the crawl, from what it has fetched;
    the expected layer decides, where the paper has a queue for the likeliest one.

    Args:
        query: what is looked for.
        layers: the farthest distance that is told apart.
    Raises:
        BadInput: the query has no word to look for, or layers is not from 1 to LAYERS_MAX.
    """

    on_repeat = "raise"
    takes_notes = True
    learns = True

    def __init__(self, query: str = "", layers: str = "3") -> None:
        depth = whole_number("layers", layers, 1, LAYERS_MAX)
        self._wanted = Wanted.of(query) if query else None
        self._lock = Lock()
        self._examples, self._likeness = Examples(), Likeness()
        self._layers, self._model = Layers(depth), LayerModel(depth + 2)
        self._words: dict[int, tuple[str, ...]] = {}  # by URL id, of the pages in the graph
        self._learnt: dict[int, int] = {}  # pages that the model was told of -> their layer
        self._pages: dict[int, ScoredPage] = {}  # by URL id, the latest
        self._decided: set[int] = set()  # URL ids
        self._changes = 0  # of the model since links that wait got priorities
        if self._wanted:
            self._model.add(tuple(self._wanted.shares), 0)

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        if source is None:
            with self._lock:
                self._examples.add(link.id)
            return PRIORITY_MAX
        return redirected(source) if link.rel == "redirect" else source.note

    def page_note(self, text: Text | None, lease: Lease) -> int:
        """The priority of its links."""
        with self._lock:
            if text is None:
                return max(0, min(lease.priority, FULL))
            priority = self._priority(self._words.get(lease.id) or words_of_page(text))
            if lease.id in self._pages:
                self._pages[lease.id].tell_first(priority)
            return priority

    def learn(self, seen: Sequence[Seen]) -> None:
        with self._lock:
            for one in seen:
                self._examples.decided(one)
                if len(self._decided) >= DECIDED_MAX:
                    self._decided.clear()
                self._decided.add(one.id)
                if one.text:
                    self._add(one, one.text)
                else:
                    for link in one.links:
                        self._learn_of(self._layers.redirect(one.id, link.id))

    def plan(self) -> tuple[list[Link], list[int]]:
        """Scores pages again, once enough was learnt."""
        with self._lock:
            if self._changes <= GROWTH * len(self._learnt):
                return [], []
            self._changes = 0
            for page in self._pages.values():
                page.links = [link for link in page.links if link.id not in self._decided]
            self._pages = dict([item for item in self._pages.items() if item[1].links][-KEPT:])
            pages = self._pages.values()
            return score_again(pages, lambda page: self._priority(page.vector), self._examples.ids)

    def _add(self, one: Seen, text: Text) -> None:
        words = words_of_page(text)
        if len(self._words) < PAGES_MAX:
            self._words.setdefault(one.id, words)
        if one.id in self._pages:
            self._pages[one.id].add(one.links)
        else:
            self._pages[one.id] = ScoredPage(words, one.links)
        links = [*(link.id for link in one.links), *one.linked]
        self._learn_of(self._layers.add(one.id, links, self._is_wanted(one, text)))

    def _is_wanted(self, one: Seen, text: Text) -> bool:
        if self._wanted:
            return page_score(self._wanted, text) >= SIMILAR
        if one.id in self._examples.ids:
            self._likeness.add(text)
            return True
        return self._likeness.score(text) >= SIMILAR

    def _learn_of(self, pages: Iterable[int]) -> None:
        """Tells the model in which layer pages are by now."""
        for page in pages:
            layer, before = self._layers.of(page), self._learnt.get(page)
            if layer is None or layer == before:
                continue
            if before is not None:
                self._model.add(self._words[page], before, times=-1)
            self._model.add(self._words[page], layer)
            self._learnt[page] = layer
            self._changes += 1

    def _priority(self, words: Sequence[str]) -> int:
        return round((1 - self._model.distance(words) / self._layers.far) * FULL)

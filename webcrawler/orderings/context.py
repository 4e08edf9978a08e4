"""Links of the page first that is expected to be nearest to the topic: a context graph that is learnt."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Sequence
from math import exp, log

from webcrawler.orderings.base import PRIORITY_MAX, Ordering, Seen, Source, whole_number
from webcrawler.orderings.examples import Examples, ScoredPage, score_again
from webcrawler.orderings.topic import SIMILAR, Likeness, Wanted, page_score, stems_of, vector
from webcrawler.orderings.words import FULL, redirected
from webcrawler.records import Lease, Link, Text
from webcrawler.text import english

PAGES_MAX = 50_000  # some 200 MB with 30 links each; later pages are not part of the graph


class Layers:
    """The layers of a context graph: 0 on the topic, 1 links to such a page, 2 links to one in layer 1.

    Where Diligenti asks a search engine who links to the examples, this keeps the links of the pages that
    were fetched, and follows them backwards.

    Source: Diligenti and others 2000, "Focused Crawling Using Context Graphs", section 3.1.

    Args:
        depth: the last layer; what is farther is in layer depth + 1.
    """

    def __init__(self, depth: int) -> None:
        self.far = depth + 1
        self._layers: dict[int, int] = {}  # by URL id, of the pages fetched
        self._linked_by: defaultdict[int, set[int]] = defaultdict(set)  # URL id -> pages fetched
        self._tried: set[int] = set()  # pages of which a link was fetched
        self._targets: dict[int, int] = {}  # of redirects

    def of(self, page: int) -> int | None:
        """The layer of a page; None: none of its links was fetched, so nothing is known of its distance."""
        layer = self._layers.get(page, self.far)
        return layer if layer < self.far or page in self._tried else None

    def add(self, page: int, links: Collection[int], is_wanted: bool) -> set[int]:
        """Adds a page that was fetched; returns the pages of whose layer more is known now.

        Args:
            links: ids of the URLs that it links to.
            is_wanted: is it on the topic?
        """
        if page not in self._layers and len(self._layers) >= PAGES_MAX:
            return set()
        ends = {self._end(link) for link in links} - {page}
        for end in ends:
            self._linked_by[end].add(page)
        if any(end in self._layers for end in ends):
            self._tried.add(page)
        nearest = min((self._layers.get(end, self.far) for end in ends), default=self.far)
        layer = 0 if is_wanted else min(nearest + 1, self.far)
        self._layers[page] = min(layer, self._layers.get(page, self.far))
        return {page} | self._tell(page)

    def redirect(self, url: int, target: int) -> set[int]:
        """What links to a redirect links to its target; returns as `add`."""
        end = self._end(target)
        if end == url:
            return set()
        self._targets[url] = end
        self._linked_by[end] |= self._linked_by.pop(url, set()) - {end}
        return self._tell(end) if end in self._layers else set()

    def _end(self, url: int) -> int:
        while url in self._targets:
            url = self._targets[url]
        return url

    def _tell(self, page: int) -> set[int]:
        """Lets those who link to a page know of its layer, and those who link to them."""
        changed = self._linked_by.get(page, set()) - self._tried
        self._tried |= changed
        waiting = deque([page])
        while waiting:
            one = waiting.popleft()
            for source in self._linked_by.get(one, ()):
                if self._layers[source] > self._layers[one] + 1:
                    self._layers[source] = self._layers[one] + 1
                    changed.add(source)
                    waiting.append(source)
        return changed


WORDS = 40  # of a page, the weightiest: Diligenti 2000, section 3.2
OWN = 0.5  # what is said of a word by its layer; the rest by all pages seen
ENGLISH = 1_000  # words of general English that count as seen


def words_of_page(text: Text) -> tuple[str, ...]:
    """The stems that describe it best: frequent there, and rare in general English."""
    found = vector(Counter(stems_of(text)))
    return tuple(sorted(found, key=lambda stem: (-found[stem], stem))[:WORDS])


class LayerModel:
    """The chance of each layer, given the words of a page; layers without a page have none.

    The last layer, of pages that are far from the topic, is there from the start: general English. The chance
    of a word in a layer is mixed with that in all pages seen (Jelinek-Mercer), so that an unknown word speaks
    for no layer. All layers with a page are equally likely beforehand.

    Source: Diligenti 2000, section 3.2. Departs from it: pages that fit no layer are a class of their own,
    as there are such pages here from the start; there, a threshold tells them.
    """

    def __init__(self, layers: int) -> None:
        self._counts = [Counter[str]() for _ in range(layers)]
        self._totals = [0] * layers
        self._all = Counter[str]()

    def add(self, words: Sequence[str], layer: int, times: int = 1) -> None:
        """Adds a page to a layer; `times=-1` takes it away again."""
        for counts in (self._counts[layer], self._all):
            for word in words:
                counts[word] += times
                if not counts[word]:
                    del counts[word]
        self._totals[layer] += times * len(words)

    def chances(self, words: Sequence[str]) -> list[float]:
        """The chance of each layer; they sum to 1."""
        seen, far = sum(self._totals) + ENGLISH, len(self._totals) - 1
        sums = {layer: 0.0 for layer, total in enumerate(self._totals) if total or layer == far}
        for word in words:
            usual = (self._all[word] + ENGLISH * english().frequency(word)) / seen
            for layer in sums:
                total = self._totals[layer]
                own = self._counts[layer][word] / total if total else usual
                sums[layer] += log(OWN * own + (1 - OWN) * usual)
        highest = max(sums.values())
        odds = {layer: exp(one - highest) for layer, one in sums.items()}
        whole = sum(odds.values())
        return [odds.get(layer, 0.0) / whole for layer in range(far + 1)]

    def distance(self, words: Sequence[str]) -> float:
        """The expected layer of a page."""
        return sum(layer * chance for layer, chance in enumerate(self.chances(words)))


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
            self._examples.add(link.id)
            return PRIORITY_MAX
        return redirected(source) if link.rel == "redirect" else source.note

    def page_note(self, text: Text | None, lease: Lease) -> int:
        """The priority of its links."""
        if text is None:
            return max(0, min(lease.priority, FULL))
        priority = self._priority(self._words.get(lease.id) or words_of_page(text))
        if lease.id in self._pages:
            self._pages[lease.id].tell_first(priority)
        return priority

    def learn(self, seen: Sequence[Seen]) -> None:
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

"""Which pages are hot? What `--hot` says, and the importance of all pages by it (Cho 1998, section 2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler import linkgraph
from webcrawler.errors import BadInput
from webcrawler.evaluation.measures import threshold_of_best
from webcrawler.evaluation.recorded import Recorded
from webcrawler.linkgraph import Collection, cosine, inner_product, vector
from webcrawler.linkgraph import combined as combine
from webcrawler.orderings import DAMPING, is_hot_page, location, words_of
from webcrawler.records import Text

METRICS = ("ib", "ir", "if", "il", "hub", "authority", "is", "ic")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?%?")
WORD = re.compile(r"\w+")


def check(hot: Sequence[str], query: str) -> None:
    """Raises BadInput: an item of --hot is wrong, or needs a query."""
    for item in [item for text in hot for item in conditions(text)]:  # all are checked first
        if item.metric in ("is", "ic") and not item.by_word:
            query_words(query)


class Condition(NamedTuple):
    """`ib:10`, `ir:1%`, `is:biology`, or `ib` alone."""

    metric: str
    least: str  # threshold; "" without one: nothing is hot by it, but it has P_CS

    @property
    def by_word(self) -> bool:
        return self.metric == "is" and bool(self.least) and not NUMBER.fullmatch(self.least)

    @property
    def importance_name(self) -> str:
        """The key under which importance is computed once for several thresholds."""
        return f"is:{self.least}" if self.by_word else self.metric


def conditions(text: str) -> list[Condition]:
    """The conditions of an item of --hot, which a hot page meets together: `is:biology+ib:5`.

    Raises:
        BadInput: the item is wrong.
    """
    found = [_condition(part, text) for part in text.split("+")]
    if len(found) > 1 and not all(condition.least for condition in found):
        raise BadInput(f"--hot={text[:200]}: each of several conditions needs a threshold")
    return found


def _condition(part: str, text: str) -> Condition:
    metric, _, least = part.partition(":")
    if metric in METRICS and part != f"{metric}:":
        found = Condition(metric, least)
        if least.endswith("%") and NUMBER.fullmatch(least) and not 0 < float(least[:-1]) <= 100:
            raise BadInput(f"--hot={text[:200]}: a percentage must be above 0 % and at most 100 %")
        if not least or NUMBER.fullmatch(least) or (metric == "is" and WORD.fullmatch(least)):
            return found
    names = ", ".join(METRICS)
    raise BadInput(
        f"--hot={text[:200]}: write metric:threshold as ib:10 or ir:1%, or is:WORD; metrics are {names}"
    )


class Importance:
    """The importance of all pages of a graph; each metric is computed once, when it is first needed.

    Args:
        query: what `is` and `ic` compare texts with.
    """

    def __init__(self, recorded: Recorded, query: str = "") -> None:
        self._recorded, self._query = recorded, query
        self._known: dict[str, NDArray[np.float64 | np.int64]] = {}

    def of(self, name: str) -> NDArray[np.float64 | np.int64]:
        """Shape (pages,), by the name of a metric; is:WORD is 1 or 0.

        Raises:
            BadInput: the metric needs texts or a query, and there is none.
        """
        if name not in self._known:
            self._known[name] = self._computed(name)
        return self._known[name]

    def hot(self, wanted: Sequence[Condition]) -> NDArray[np.bool_]:
        """Shape (pages,)."""
        found = np.ones(self._recorded.graph.pages, bool)
        for condition in wanted:
            importance = self.of(condition.importance_name)
            found &= importance >= self._least(condition, importance)
        return found

    def _least(self, condition: Condition, importance: NDArray[np.float64 | np.int64]) -> float:
        if condition.by_word:
            return 1.0
        if not condition.least.endswith("%"):
            return float(condition.least)
        share = float(condition.least[:-1]) / 100
        return threshold_of_best(importance, max(1, round(share * len(importance))))

    def _computed(self, name: str) -> NDArray[np.float64 | np.int64]:
        graph = self._recorded.graph
        if name == "ib":
            return linkgraph.backlinks(graph)
        if name == "ir":
            return linkgraph.pagerank(graph, DAMPING)
        if name == "if":
            return linkgraph.forward_links(graph)
        if name == "il":
            return np.array([location(url, ("home",), (".com",)) for url in self._recorded.urls])
        if name in ("hub", "authority"):
            return self._hubs_and_authorities[name == "authority"]
        if name == "is":
            return similarity(self._recorded, self._query)
        if name == "ic":
            return combined(self._recorded, self._query)
        return on_topic(self._recorded, name.removeprefix("is:"))

    @cached_property
    def _hubs_and_authorities(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Scaled to mean 1, as PageRank is."""
        hubs, authorities = linkgraph.hits(self._recorded.graph)
        return hubs * len(hubs), authorities * len(authorities)


AT_ONCE = 500  # texts in memory
K1, K2 = 10.0, 1.0  # of IC, as the ordering `ic` has them


def on_topic(recorded: Recorded, word: str) -> NDArray[np.float64]:
    """1 for pages with the word in the title, or ten times in the body (Cho 1998, section 7); else 0."""
    words = words_of(word)
    return _by_text(recorded, lambda text: is_hot_page(text, words))


def similarity(recorded: Recorded, query: str) -> NDArray[np.float64]:
    """IS: the cosine of the tf · idf vectors of page and query, idf = 1 / occurrences in all pages."""
    collection, words = Collection(), query_words(query)
    for _, text in _texts(recorded):
        collection.add(words_of(text.title))
        collection.add(words_of(text.body))
    idf = collection.idf
    asked = vector(words, (), idf)
    return _by_text(
        recorded, lambda text: cosine(vector(words_of(text.body), words_of(text.title), idf), asked)
    )


def combined(recorded: Recorded, query: str) -> NDArray[np.float64]:
    """IC = K1 · IS + K2 · IB, IS the inner product of term frequencies, title words heavier."""
    asked = vector(query_words(query), ())
    similar = _by_text(
        recorded, lambda text: inner_product(vector(words_of(text.body), words_of(text.title)), asked)
    )
    return combine(similar, linkgraph.backlinks(recorded.graph), K1, K2)


def _by_text(recorded: Recorded, value: Callable[[Text], float]) -> NDArray[np.float64]:
    """A value for each page; 0 if it has no text."""
    found = np.zeros(recorded.graph.pages)
    for page, text in _texts(recorded):
        found[page] = value(text)
    return found


def query_words(query: str) -> list[str]:
    """Raises BadInput: the query has no words."""
    if words := words_of(query):
        return words
    raise BadInput("--hot=is and --hot=ic compare pages with a query: add --query WORDS, or use is:WORD")


def _texts(recorded: Recorded) -> Iterator[tuple[int, Text]]:
    """The texts by page. Raises BadInput: the graph has none."""
    if recorded.texts is None:
        raise BadInput("--hot=is and --hot=ic need texts, which only the data folder of a crawl has")
    labels = recorded.labels.tolist()
    for start in range(0, len(labels), AT_ONCE):
        texts = recorded.texts(labels[start : start + AT_ONCE])
        for page, label in enumerate(labels[start : start + AT_ONCE], start):
            if label in texts:
                yield page, texts[label]

"""Which pages are hot? What `--hot` says, and the importance of all pages by it (Cho 1998, section 2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler import linkgraph
from webcrawler.errors import BadInput
from webcrawler.evaluation.measures import threshold_of_best
from webcrawler.evaluation.recorded import Recorded
from webcrawler.linkgraph import Collection, Vector, cosine, inner_product, vector
from webcrawler.linkgraph import combined as combine
from webcrawler.orderings import DAMPING, is_hot_page, location, words_of
from webcrawler.records import Text

METRICS = ("ib", "ir", "if", "il", "hub", "authority", "is", "ic")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?%?")
WORD = re.compile(r"\w+")


def check(hot: Sequence[str], query: str) -> None:
    """Raises BadInput: an item of --hot is none, or wants a query; what needs no graph to be seen."""
    for item in [item for text in hot for item in conditions(text)]:
        if item.metric in ("is", "ic") and not item.by_word:
            query_words(query)


class Condition(NamedTuple):
    """`ib:10`, `ir:1%`, `is:biology`, or `ib` alone."""

    metric: str
    least: str  # "" where there is none: nothing is hot by it, but it has P_CS

    @property
    def by_word(self) -> bool:
        return self.metric == "is" and bool(self.least) and not NUMBER.fullmatch(self.least)

    @property
    def importance_name(self) -> str:
        """What is computed once for several thresholds."""
        return f"is:{self.least}" if self.by_word else self.metric


def conditions(text: str) -> list[Condition]:
    """What one of --hot's items wants at the same time: `is:biology+ib:5`.

    Raises:
        BadInput: it is none.
    """
    wanted = [_condition(part, text) for part in text.split("+")]
    if len(wanted) > 1 and not all(condition.least for condition in wanted):
        raise BadInput(f"--hot={text[:200]}: where several are wanted at once, each needs a threshold")
    return wanted


def _condition(part: str, text: str) -> Condition:
    metric, _, least = part.partition(":")
    if metric in METRICS and part != f"{metric}:":
        found = Condition(metric, least)
        if least.endswith("%") and NUMBER.fullmatch(least) and not 0 < float(least[:-1]) <= 100:
            raise BadInput(f"--hot={text[:200]}: percentages are above 0 % and up to 100 %")
        if not least or NUMBER.fullmatch(least) or (metric == "is" and WORD.fullmatch(least)):
            return found
    names = ", ".join(METRICS)
    raise BadInput(
        f"--hot={text[:200]}: say metric:threshold as ib:10 or ir:1%, or is:WORD; metrics are {names}"
    )


class Importance:
    """The importance of all pages of a graph, each metric computed when it is first asked for.

    Args:
        query: what `is` and `ic` compare texts with.
    """

    def __init__(self, recorded: Recorded, query: str = "") -> None:
        self._recorded, self._query = recorded, query
        self._known: dict[str, NDArray[np.float64 | np.int64]] = {}

    def of(self, name: str) -> NDArray[np.float64 | np.int64]:
        """Shape (pages,), by the name of a metric; is:WORD is 1 or 0.

        Raises:
            BadInput: it wants texts, and the graph has none, or a query, and there is none.
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
        """Mean 1, as PageRank."""
        hubs, authorities = linkgraph.hits(self._recorded.graph)
        return hubs * len(hubs), authorities * len(authorities)


AT_ONCE = 500  # texts in memory
K1, K2 = 10.0, 1.0  # of IC, as the ordering `ic` has them


def on_topic(recorded: Recorded, word: str) -> NDArray[np.int64]:
    """1 for pages with the word in the title, or ten times in the body (Cho 1998, section 7), else 0."""
    found, words = np.zeros(recorded.graph.pages, np.int64), words_of(word)
    for page, text in _texts(recorded):
        found[page] = is_hot_page(text, words)
    return found


def similarity(recorded: Recorded, query: str) -> NDArray[np.float64]:
    """IS: the cosine of the tf · idf vectors of page and query, idf = 1 / occurrences in all pages."""
    collection, wanted = Collection(), query_words(query)
    for _, text in _texts(recorded):
        collection.add(words_of(text.title))
        collection.add(words_of(text.body))
    asked = vector(wanted, (), collection.idf)
    found = np.zeros(recorded.graph.pages)
    for page, text in _texts(recorded):
        found[page] = cosine(vector(words_of(text.body), words_of(text.title), collection.idf), asked)
    return found


def combined(recorded: Recorded, query: str) -> NDArray[np.float64]:
    """IC = K1 · IS + K2 · IB, IS the inner product of term frequencies, title words heavier."""
    asked: Vector = vector(query_words(query), ())
    found = np.zeros(recorded.graph.pages)
    for page, text in _texts(recorded):
        found[page] = inner_product(vector(words_of(text.body), words_of(text.title)), asked)
    return combine(found, linkgraph.backlinks(recorded.graph), K1, K2)


def query_words(query: str) -> list[str]:
    """Raises BadInput where there are none."""
    words = words_of(query)
    if not words:
        raise BadInput("--hot=is and --hot=ic compare pages with a query: add --query WORDS, or say is:WORD")
    return words


def _texts(recorded: Recorded) -> Iterator[tuple[int, Text]]:
    """Those that have one, by page."""
    if not recorded.has_texts:
        raise BadInput("--hot=is and --hot=ic want texts, which only a crawl of one's own has (CRAWL_DIR)")
    labels = recorded.labels.tolist()
    for start in range(0, len(labels), AT_ONCE):
        texts = recorded.texts(labels[start : start + AT_ONCE])
        for page, label in enumerate(labels[start : start + AT_ONCE], start):
            if label in texts:
                yield page, texts[label]

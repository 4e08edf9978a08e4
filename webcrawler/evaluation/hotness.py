"""Which pages are hot? What `--hot` says, and the importance of all pages by it (Cho 1998, section 2)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from webcrawler import linkgraph
from webcrawler.errors import BadInput
from webcrawler.evaluation.recorded import Recorded
from webcrawler.orderings import DAMPING, is_hot_page, location, words_of
from webcrawler.records import Text

METRICS = ("ib", "ir", "if", "il", "hub", "authority", "is", "ic")
CONDITION = re.compile(
    rf"(?P<metric>{'|'.join(METRICS)})(?::(?P<least>-?\d+(?:\.\d+)?%?))?|is:(?P<word>\w+)"  # 10, -2, 1.5%
)
TITLE_WEIGHT = 5  # occurrences in the text that one in the title is worth; the paper names no figure
K1, K2 = 10.0, 1.0  # of IC, as the ordering `ic` has them
AT_ONCE = 500  # texts in memory

Values = NDArray[np.float64 | np.int64]  # shape (pages,)
Vector = Mapping[str, float]


class Condition(NamedTuple):
    """`ib:10`, `ir:1%`, `is:biology`, or `ib` alone."""

    metric: str  # "is:biology" for a word
    least: str  # threshold; "" without one: nothing is hot by it, but it has P_CS


def conditions(text: str) -> list[Condition]:
    """The conditions of an item of --hot, which a hot page meets together: `is:biology+ib:5`.

    Raises:
        BadInput: the item is wrong.
    """
    parsed = []
    for part in text.split("+"):
        found = CONDITION.fullmatch(part)
        if not found:
            raise BadInput(
                f"--hot={text[:200]}: write metric:threshold as ib:10 or ir:1%, or is:WORD; "
                f"metrics are {', '.join(METRICS)}"
            )
        least = found["least"] or ""
        if least.endswith("%") and not 0 < float(least[:-1]) <= 100:
            raise BadInput(f"--hot={text[:200]}: a percentage must be above 0 % and at most 100 %")
        parsed.append(Condition(part, "1") if found["word"] else Condition(found["metric"], least))
    if len(parsed) > 1 and not all(condition.least for condition in parsed):
        raise BadInput(f"--hot={text[:200]}: each of several conditions needs a threshold")
    return parsed


def check(hot: Sequence[str], query: str) -> None:
    """Raises BadInput: an item of --hot is wrong, or needs a query."""
    metrics = {condition.metric for text in hot for condition in conditions(text)}
    if not metrics.isdisjoint(("is", "ic")):
        query_words(query)


def query_words(query: str) -> list[str]:
    """Raises BadInput: the query has no words."""
    if words := words_of(query):
        return words
    raise BadInput("--hot=is and --hot=ic compare pages with a query: add --query WORDS, or use is:WORD")


class Importance:
    """The importance of all pages of a graph; each metric is computed once, when it is first needed.

    Args:
        query: what `is` and `ic` compare texts with.
    """

    def __init__(self, recorded: Recorded, query: str = "") -> None:
        self._recorded, self._query = recorded, query
        self._known: dict[str, Values] = {}

    def of(self, metric: str) -> Values:
        """Shape (pages,). For is:WORD 1 if the word is in the title, or ten times in the body, else 0.

        Raises:
            BadInput: the metric needs texts or a query, and there is none.
        """
        if metric not in self._known:
            self._known |= self._computed(metric)
        return self._known[metric]

    def hot(self, wanted: Sequence[Condition]) -> NDArray[np.bool_]:
        """Shape (pages,)."""
        found = np.ones(self._recorded.graph.pages, bool)
        for condition in wanted:
            importance = self.of(condition.metric)
            if condition.least.endswith("%"):
                share = float(condition.least[:-1]) / 100
                least = threshold_of_best(importance, max(1, round(share * len(importance))))
            else:
                least = float(condition.least)
            found &= importance >= least
        return found

    def _computed(self, metric: str) -> dict[str, Values]:
        graph, urls = self._recorded.graph, self._recorded.urls
        if metric == "ib":
            return {metric: linkgraph.backlinks(graph)}
        if metric == "ir":
            return {metric: linkgraph.pagerank(graph, DAMPING)}
        if metric == "if":
            return {metric: linkgraph.forward_links(graph)}
        if metric == "il":
            return {metric: np.array([location(url, ("home",), (".com",)) for url in urls])}
        if metric in ("hub", "authority"):  # scaled to mean 1, as PageRank is
            hubs, authorities = linkgraph.hits(graph)
            return {"hub": hubs * graph.pages, "authority": authorities * graph.pages}
        if metric == "is":
            return {metric: self._similarity()}
        if metric == "ic":
            asked = vector(query_words(self._query), ())
            similar = self._by_text(lambda text: inner_product(page_vector(text), asked))
            return {metric: combined(similar, self.of("ib"))}
        words = words_of(metric.removeprefix("is:"))
        return {metric: self._by_text(lambda text: is_hot_page(text, words))}

    def _similarity(self) -> NDArray[np.float64]:
        """IS: the cosine of the tf · idf vectors of page and query."""
        words, occurrences = query_words(self._query), Counter[str]()
        for _, text in self._texts():
            occurrences.update(words_of(text.title))
            occurrences.update(words_of(text.body))
        weight = partial(idf, occurrences)
        asked = vector(words, (), weight)
        return self._by_text(lambda text: cosine(page_vector(text, weight), asked))

    def _by_text(self, value: Callable[[Text], float]) -> NDArray[np.float64]:
        """A value for each page; 0 if it has no text."""
        found = np.zeros(self._recorded.graph.pages)
        for page, text in self._texts():
            found[page] = value(text)
        return found

    def _texts(self) -> Iterator[tuple[int, Text]]:
        """The texts by page. Raises BadInput: the graph has none."""
        if self._recorded.texts is None:
            raise BadInput("--hot=is and --hot=ic need texts, which only the data folder of a crawl has")
        labels = self._recorded.labels.tolist()
        for start in range(0, len(labels), AT_ONCE):
            some = labels[start : start + AT_ONCE]
            texts = self._recorded.texts(some)
            for page, label in enumerate(some, start):
                if label in texts:
                    yield page, texts[label]


def threshold_of_best(importance: NDArray[np.float64 | np.int64], number: int) -> float:
    """The importance of the `number`-th best page: the threshold of hot pages in Crawl & Stop."""
    return float(np.partition(importance, -number)[-number])


def idf(occurrences: Counter[str], word: str) -> float:
    """1 / occurrences in all pages, not the usual logarithm of pages; 1 for a word never seen."""
    return 1 / max(occurrences[word], 1)


def vector(
    text: Iterable[str], title: Iterable[str], idf: Callable[[str], float] = lambda word: 1.0
) -> Vector:
    """tf · idf of each word; without `idf` the frequency alone, which needs no knowledge of other pages."""
    frequency = Counter(text)
    for word in title:
        frequency[word] += TITLE_WEIGHT
    return {word: n * idf(word) for word, n in frequency.items()}


def page_vector(text: Text, idf: Callable[[str], float] = lambda word: 1.0) -> Vector:
    return vector(words_of(text.body), words_of(text.title), idf)


def inner_product(page: Vector, query: Vector) -> float:
    return math.fsum(weight * query[word] for word, weight in page.items() if word in query)


def cosine(page: Vector, query: Vector) -> float:
    """The inner product of the normalised vectors, 0 … 1; 0 where one is empty."""
    norms = math.hypot(*page.values()) * math.hypot(*query.values())
    return inner_product(page, query) / norms if norms else 0.0


def combined(
    similarity: ArrayLike, backlinks: ArrayLike, k1: float = K1, k2: float = K2
) -> NDArray[np.float64]:
    """IC = k1 · IS + k2 · IB, IS the inner product of term frequencies; over pages in the same order."""
    return k1 * np.asarray(similarity, np.float64) + k2 * np.asarray(backlinks, np.float64)

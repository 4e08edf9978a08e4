"""What pages are about: importance by their texts. Source: Cho 1998, sections 2 and 7."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from webcrawler import linkgraph
from webcrawler.errors import BadInput
from webcrawler.evaluation.recorded import Recorded
from webcrawler.linkgraph import Collection, Vector, cosine, inner_product, vector
from webcrawler.linkgraph import combined as combine
from webcrawler.orderings import is_hot_page, words_of
from webcrawler.records import Text

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

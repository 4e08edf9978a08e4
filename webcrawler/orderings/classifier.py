"""Pages like the examples first, by a classifier. Source: the survey of crawler types, "Focused Crawler".

It is logistic regression over hashed words, by scikit-learn. A feature is a hashed stem, weighted by its
frequency and by how rare it is in general English. Such a fixed weight does better than idf over what was
seen (average precision on docweb .47 against .43), and a row never changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from webcrawler.orderings.base import BAND, PRIORITY_MAX, Ordering, Seen, Source, draw, number, whole_number
from webcrawler.orderings.examples import Examples, ScoredPage, score_again
from webcrawler.orderings.topic import SIMILAR, Wanted, page_score, stems_of, vector
from webcrawler.orderings.words import FULL, redirected
from webcrawler.records import Lease, Link, Text
from webcrawler.text import english, terms

DEPTH_MAX = 1_000
END = 1  # as a note, where 0 is that of a seed: no page may follow; END + 1: one, END + 2: two off-topic ones
SEED_SIMILAR = 0.1  # from here on a seed is an example of what is looked for
EXAMPLES = 300  # the first ones
OTHERS = 300  # a sample of all that was seen, drawn by their ids
GROWTH = 1.5  # of either; then the model is trained again
FEATURES = 2**15
BACKGROUND = 20  # documents of
COMMON = 5_000  # words
STRENGTH = 10.0  # inverse of the regularisation


class Row(NamedTuple):
    """Features of a document: two columns. The weights have length 1; a place may occur twice."""

    places: NDArray[np.int32]
    weights: NDArray[np.float64]


def row_of(text: Text) -> Row:
    """The row of a page. Cost: about a millisecond for 5,000 words."""
    return row(Counter(stems_of(text)))


def row(counts: Mapping[str, int]) -> Row:
    found = vector(counts)
    places = [crc32(stem.encode()) % FEATURES for stem in found]
    return Row(np.array(places, np.int32), np.fromiter(found.values(), np.float64, len(found)))


@cache
def background() -> list[Row]:
    """General English as documents about nothing, to learn from before other pages were seen."""
    import wordfreq  # takes 0.2 s

    words = wordfreq.top_n_list("en", COMMON, "small")
    stems = sorted(
        {stem for word in words for stem in terms(word)}, key=lambda s: (-english().frequency(s), s)
    )
    return [row(Counter(stems[start::BACKGROUND])) for start in range(BACKGROUND)]


class Model(NamedTuple):
    """Linear, so that a page is scored in microseconds."""

    weights: NDArray[np.float64]
    bias: float

    def score(self, row: Row) -> float:
        """0 to 1: how likely it is that the page is like the examples."""
        at = self.bias + float(self.weights[row.places] @ row.weights)
        return 1 / (1 + exp(-max(-700.0, min(at, 700.0))))


def train(examples: Sequence[Row], others: Sequence[Row]) -> Model:
    """Trains a model; the same rows give the same model. Takes about 10 ms for 600 of them.

    Of the other pages, only the half least like the examples is used: the better the crawl, the more of them
    are on the topic. Both sides have the same weight, however many they are.
    """
    from sklearn.linear_model import LogisticRegression  # takes 1 s
    from threadpoolctl import threadpool_limits

    together = np.asarray(_matrix(examples).sum(axis=0)).ravel()
    likeness = [float(together[row.places] @ row.weights) for row in others]
    ranked = np.argsort(likeness, kind="stable")
    unlike = [*background(), *(others[n] for n in ranked[: (len(others) + 1) // 2])]
    labels = np.repeat([1, 0], [len(examples), len(unlike)])
    regression = LogisticRegression(C=STRENGTH, class_weight="balanced", solver="liblinear", random_state=0)
    with threadpool_limits(1):  # more threads wait for one another, a hundred times as long
        regression.fit(_matrix([*examples, *unlike]), labels)
    return Model(regression.coef_[0], float(regression.intercept_[0]))


def _matrix(rows: Sequence[Row]) -> csr_array:
    ends = np.cumsum([0, *(len(row.places) for row in rows)]).astype(np.int32)
    places = np.concatenate([row.places for row in rows])
    weights = np.concatenate([row.weights for row in rows])
    return csr_array((weights, places, ends), shape=(len(rows), FEATURES))


@dataclass(slots=True)
class Document(ScoredPage):
    left: int = 0  # off-topic pages in a row that may come, this one included; counted from END


class Training:
    """Documents to learn from; a bounded number, and a new model is due more and more rarely.

    Args:
        query: words that are looked for, as one more example.
    """

    def __init__(self, query: Row | None) -> None:
        self._query = [query] if query else []
        self._examples: dict[int, Document] = {}
        self._others: dict[int, Document] = {}
        self._seen = 0  # other documents
        self._learnt = (0, 0)  # examples and other documents that the last model is of

    def add(self, id: int, document: Document, is_example: bool) -> None:
        """Keeps a document if it is one to learn from; each counts once, with all its links."""
        if known := self.get(id):
            known.add(document.links)
            document = known
        if id in self._examples:
            return
        if is_example:
            if len(self._examples) < EXAMPLES:
                self._examples[id] = document
                self._others.pop(id, None)
        elif id not in self._others:
            self._seen += 1
            self._others[id] = document
            if len(self._others) > OTHERS:
                del self._others[max(self._others, key=lambda id: draw(id, 0))]

    def get(self, id: int) -> Document | None:
        return self._examples.get(id) or self._others.get(id)

    def documents(self) -> list[Document]:
        return [*self._examples.values(), *self._others.values()]

    def is_due(self) -> bool:
        examples, others = self._learnt
        has_examples = bool(self._query or self._examples)
        is_first = examples == others == 0
        return has_examples and (
            is_first or len(self._examples) > GROWTH * examples or self._seen > GROWTH * others
        )

    def model(self) -> Model:
        self._learnt = len(self._examples), self._seen
        examples = [*self._query, *(document.vector for document in self._examples.values())]
        return train(examples, [document.vector for document in self._others.values()])


class Classifier(Ordering):
    """Links of the page most like the examples first, by a classifier that learns while it crawls.

    Seeds are the examples; it learns to tell them from other pages seen, and from general English. With a
    query, its words are one more example, and so are pages similar to it; a seed then counts only if it has
    some of the words, as a directory to start from is not an example.

    A page is on topic from a score of `degree` on. Up to `depth` off-topic pages in a row are tunnelled
    through: the links of the next one go behind all others, and are fetched when nothing else is left.

    Weakness: what was learnt is known to this process only, and the next one in its place, and so are the
    seeds that it was given; if it knows none, links inherit the priority of their page.
    """

    on_repeat = "raise"
    takes_notes = True
    learns = True

    def __init__(self, query: str = "", degree: str = "0.5", depth: str = "2") -> None:
        self._degree = number("degree", degree, lambda share: 0 < share <= 1, "above 0 and up to 1")
        self._depth = END + 1 + whole_number("depth", depth, 0, DEPTH_MAX)
        self._wanted = Wanted.of(query) if query else None
        self._examples = Examples()
        self._training = Training(row(dict.fromkeys(self._wanted.shares, 1)) if self._wanted else None)
        self._model: Model | None = None
        self._is_new = False  # the model, since the last plan

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        if source is None:
            self._examples.add(link.id)
            return PRIORITY_MAX
        if link.rel == "redirect":
            return redirected(source)
        left, score = divmod(source.note, BAND)
        return score - (BAND if left == END else 0)

    def note(self, link: Link, source: Source) -> int:
        return source.note // BAND

    def page_note(self, text: Text | None, lease: Lease) -> int:
        """How much it is like the examples, and how many off-topic pages in a row may follow."""
        left = lease.note or self._depth
        if text is None or self._model is None:
            return left * BAND + max(0, min(lease.priority, FULL))
        score = self._model.score(row_of(text))
        if document := self._training.get(lease.id):
            document.left = left
            document.tell_first(self._priority(score, left))
        return self._following(score, left) * BAND + round(score * FULL)

    def learn(self, seen: Sequence[Seen]) -> None:
        for one in seen:
            if one.text:
                document = Document(row_of(one.text), one.links, left=self._depth)
                self._training.add(one.id, document, self._is_example(one.id, one.text))
            self._examples.decided(one)
        if self._training.is_due():
            self._model, self._is_new = self._training.model(), True

    def plan(self) -> tuple[list[Link], list[int]]:
        """Scores the pages that were learnt from again, by the newest model."""
        if self._model is None or not self._is_new:
            return [], []
        self._is_new = False
        score = self._model.score
        return score_again(
            self._training.documents(),
            lambda document: self._priority(score(document.vector), document.left),
            self._examples.ids,
        )

    def _is_example(self, id: int, text: Text) -> bool:
        is_seed = id in self._examples.ids
        if self._wanted is None:
            return is_seed
        return page_score(self._wanted, text) >= (SEED_SIMILAR if is_seed else SIMILAR)

    def _following(self, score: float, left: int) -> int:
        """How many off-topic pages in a row may follow a page."""
        return self._depth if score >= self._degree else max(END, left - 1)

    def _priority(self, score: float, left: int) -> int:
        return round(score * FULL) - (BAND if self._following(score, left) == END else 0)

"""The documents that the classifier learns from: a bounded number of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from webcrawler.orderings.by_example.examples import ScoredPage
from webcrawler.orderings.by_example.features import Row
from webcrawler.orderings.plain import draw

if TYPE_CHECKING:
    from webcrawler.orderings.by_example.model import Model

EXAMPLES = 300  # the first ones
OTHERS = 300  # a sample of all that was seen, drawn by their ids
GROWTH = 1.5  # of either; then the model is trained again


@dataclass(slots=True)
class Document(ScoredPage):
    left: int = 0  # off-topic pages in a row that may come, this one included


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
        from webcrawler.orderings.by_example.model import train  # scikit-learn takes 1 s

        self._learnt = len(self._examples), self._seen
        examples = [*self._query, *(document.vector for document in self._examples.values())]
        return train(examples, [document.vector for document in self._others.values()])

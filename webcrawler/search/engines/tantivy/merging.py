"""Documents and anchors put together: who answers, and with which score."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from webcrawler.index.tantivy import stored, tantivy
from webcrawler.search.engines.tantivy.opening import NONE, Both, Found, Pages, Scores
from webcrawler.search.engines.tantivy.scoring import demanded, scored
from webcrawler.search.engines.tantivy.translating import Translator, with_numbers
from webcrawler.text.query import AnyOf, Node, Word

MAX_RANKED = 1_000  # documents that are put in order by their texts
MAX_ANCHORED = 2_000  # pages that are looked at for their anchors, the best by those
MAX_CALLED = 200  # further documents that are weighed because of their anchors

_Clause = tuple[tantivy.Occur, tantivy.Query]


class Merged(NamedTuple):
    """Pages in no promised order."""

    total: int
    pages: Pages
    scores: Scores  # of texts and anchors
    called: Pages  # whose anchors are counted in
    partial: bool = False
    at_least: bool = False  # there may be more than `total`


def search(
    both: Both, translator: Translator, node: Node, weights: Mapping[str, float], late: Callable[[], bool]
) -> Merged:
    """Looks at the clock between the searches."""
    plain = _is_any_of(node, weights)
    matching = [] if plain else [demanded(translator.documents(node))]
    if late():
        return Merged(*NONE, NONE.pages, partial=True)
    texts = [*matching, *scored(both.documents, weights)]
    documents = both.documents.best(_boolean(texts), MAX_RANKED)
    if late():
        return Merged(*documents, NONE.pages, partial=True)
    called = both.anchors.best(_boolean(scored(both.anchors, weights)), MAX_ANCHORED)
    alone = called if plain else _by_anchors_alone(both, translator, node, weights)
    missed = called.pages[both.documents.holds(called.pages) & ~np.isin(called.pages, documents.pages)]
    more = _more(both, documents, missed, texts, plain)
    at_least = alone.total > MAX_ANCHORED or (plain and len(missed) > max(MAX_CALLED, len(more.pages)))
    return _merged(both, documents, called, alone, more)._replace(at_least=at_least)


def _is_any_of(node: Node, weights: Mapping[str, float]) -> bool:
    """Whether a page answers exactly if it has one of the words that are weighed, as most queries want."""
    words = node.nodes if isinstance(node, AnyOf) else (node,)
    found = {stored(word.term) for word in words if isinstance(word, Word) and not word.field}
    return len(found) == len(words) and found == weights.keys()


def _by_anchors_alone(both: Both, translator: Translator, node: Node, weights: Mapping[str, float]) -> Found:
    matching = demanded(translator.anchors(node))
    return both.anchors.best(_boolean([matching, *scored(both.anchors, weights)]), MAX_ANCHORED)


def _more(both: Both, documents: Found, missed: Pages, texts: list[_Clause], plain: bool) -> Found:
    """Of the documents with the best anchors, that are not among those with the best texts, who answers.

    The total of plain words counts those of which anchors alone have a word.
    """
    complete = documents.total == len(documents.pages)
    if complete or not len(missed):  # then the others do not answer, or none of their texts has a word
        return Found(len(missed), missed, np.zeros(len(missed))) if plain else NONE
    only = demanded(with_numbers(both.documents, missed[:MAX_CALLED]))
    found = both.documents.best(_boolean([only, *texts]), MAX_CALLED)
    return found._replace(total=int((found.scores == 0).sum()) if plain else 0)


def _merged(both: Both, documents: Found, called: Found, alone: Found, more: Found) -> Merged:
    unknown = ~both.documents.holds(alone.pages)
    others, theirs = alone.pages[unknown], alone.scores[unknown]
    pages = np.concatenate([documents.pages, more.pages])
    scores = np.concatenate([documents.scores, more.scores]) + _looked_up(called, pages)
    return Merged(
        documents.total + more.total + len(others),
        np.concatenate([pages, others]),
        np.concatenate([scores, theirs]),
        np.concatenate([called.pages, others]),
    )


def _boolean(clauses: list[_Clause]) -> tantivy.Query:
    return tantivy.Query.boolean_query(clauses)


def _looked_up(found: Found, pages: Pages) -> Scores:
    """The score of each page where it was found, else 0."""
    if not len(found.pages):
        return np.zeros(len(pages))
    order = np.argsort(found.pages)
    places = order[np.minimum(np.searchsorted(found.pages, pages, sorter=order), len(order) - 1)]
    return np.where(found.pages[places] == pages, found.scores[places], 0.0)

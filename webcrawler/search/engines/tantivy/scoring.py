"""What a page is worth: BM25 of each field by its weight; what its importance adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from webcrawler.index.tantivy import ANCHOR, CITED, stored, tantivy
from webcrawler.search.engines.tantivy.opening import Side
from webcrawler.text.query import Asked

# Tuned on Cranfield, CACM and ADI (title), and on 201 navigational queries on the docweb (all else).
WEIGHTS: Mapping[str, float] = {"title": 1, "body": 1, "words": 2, "meta": 0.5, ANCHOR: 0.5, CITED: 3}
IMPORTANCE = 5.0  # what the most important page of all could gain

_Query, _Occur = tantivy.Query, tantivy.Occur


def weighted(asked: Sequence[Asked]) -> dict[str, float]:
    """Term to its weight; a word that is asked for twice weighs twice."""
    weights: dict[str, float] = {}
    for one in asked:
        weights[stored(one.term)] = weights.get(stored(one.term), 0.0) + one.weight
    return weights


def scored(side: Side, weights: Mapping[str, float]) -> list[tuple[tantivy.Occur, tantivy.Query]]:
    """Clauses of a boolean query that give a page its score, and demand nothing beside a demand."""
    return [
        (_Occur.Should, in_one_field(side, field, term, weight))
        for term, weight in weights.items()
        for field in side.texts
    ]


def in_one_field(side: Side, field: str, term: str, weight: float) -> tantivy.Query:
    return _Query.boost_query(_Query.term_query(side.schema, field, term), weight * WEIGHTS[field])


def demanded(query: tantivy.Query) -> tuple[tantivy.Occur, tantivy.Query]:
    """The clause that has to be satisfied and weighs nothing."""
    return _Occur.Must, _Query.const_score_query(query, 0.0)

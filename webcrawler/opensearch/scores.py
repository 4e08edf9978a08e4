"""Which pages are candidates: the best by a score that a cluster computes quickly, near to our ranking.

It has the parts of BM25F in `search.rankings`, with its weights. Whatever stands among the candidates is put
in order by the ranking itself: here it only matters that no good page is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from webcrawler.opensearch.mapping import SCALE
from webcrawler.opensearch.query import Dsl, near
from webcrawler.search import HALF
from webcrawler.search.rankings import BM25F
from webcrawler.text import parts
from webcrawler.text.query import QueryTerm, nodes

_RANKING = BM25F()
_SATURATED = _RANKING.k1 + 1  # the cluster's scores lack this factor, so all others are divided by it
# What a word that stands once in a name is worth there: its score is by 1 + k1 · SCALE lower than in a text.
_NAMED = {name: of.weight / 2 * (1 + _RANKING.k1 * SCALE) / _SATURATED for name, of in _RANKING.names.items()}
_IDENTIFIER = 3.0  # of a name in code; an idf is about as high
FIELDS = [f"{name}^{of.weight * SCALE:g}" for name, of in _RANKING.fields.items()]


def score(terms: Sequence[QueryTerm], identifiers: Sequence[nodes.Phrase]) -> list[Dsl]:
    """Return the queries of which the sum of scores says how good a page is."""
    weights = _RANKING.query_weights(terms)
    found = [_word(term, weight) for term, weight in weights.items() if weight > 0]
    words = " ".join(bare for term in weights for language, bare in parts(term) if not language)
    found += [{"match": {name: {"query": words, "boost": boost}}} for name, boost in _NAMED.items() if words]
    for one in identifiers:
        whole = near("body", one.terms, 0, ""), near("title", one.terms, 0, "")
        found += [{"constant_score": {"filter": some, "boost": _IDENTIFIER}} for some in whole]
    importance = _RANKING.importance / _SATURATED
    saturation = {"field": "pagerank", "saturation": {"pivot": HALF}, "boost": importance}
    return [*found, {"rank_feature": saturation}]


def _word(term: str, weight: float) -> Dsl:
    """Of several terms, in several languages, the best counts."""
    queries = []
    for language, bare in parts(term):
        one: Dsl = {"combined_fields": {"query": bare, "fields": FIELDS, "boost": weight}}
        spoken: Dsl = {"bool": {"must": [one], "filter": [{"term": {"language": language}}]}}
        queries.append(spoken if language else one)
    return queries[0] if len(queries) == 1 else {"dis_max": {"queries": queries}}

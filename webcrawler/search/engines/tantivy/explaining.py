"""Where the score of a page comes from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from webcrawler.index.tantivy import tantivy
from webcrawler.search.engines.tantivy.opening import Side
from webcrawler.search.engines.tantivy.scoring import WEIGHTS, demanded, in_one_field
from webcrawler.search.engines.tantivy.translating import with_numbers
from webcrawler.search.matches import Part


def parts(side: Side, weights: Mapping[str, float], spelled: Mapping[str, str], page: int) -> Iterator[Part]:
    """Each word in each field of one of the indexes."""
    only = demanded(with_numbers(side, [page]))
    for term, weight in weights.items():
        for field in side.texts:
            query = in_one_field(side, field, term, weight)
            both = tantivy.Query.boolean_query([only, (tantivy.Occur.Must, query)])
            for score, place in side.searcher.search(both, limit=1).hits:
                bm25 = json.loads(query.explain(side.searcher, place).to_json())["details"][0]
                detail = f"{_detail(bm25)} × weight {weight * WEIGHTS[field]:.3g}"
                yield Part(f"{spelled.get(term, term)} in {field}", detail, score)


def _detail(bm25: Mapping[str, Any]) -> str:
    """BM25 is idf times what repetition in a text of that length gives."""
    idf = next(part for part in bm25["details"] if part["description"].startswith("idf"))
    count = next(part for part in bm25["details"] if part["description"].startswith("freq"))
    times = count["details"][0]["value"]
    return f"{times:.0f} times: {bm25['value'] / idf['value']:.2f} × idf {idf['value']:.2f}"

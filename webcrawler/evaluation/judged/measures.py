"""How good is a list of hits? By ir-measures, which counts as trec_eval does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType

from webcrawler.errors import BadInput

MEASURES = ("nDCG@10", "AP", "P@10", "R@100")


def check() -> None:
    """Raises BadInput where the package is missing."""
    _library()


def measure(
    runs: Mapping[str, Sequence[str]],
    grades: Mapping[str, Mapping[str, int]],
    measures: Sequence[str] = MEASURES,
) -> dict[str, dict[str, float]]:
    """By query id and measure; 0 where a query was not answered.

    Args:
        runs: document ids by query id, the best first.
        grades: of documents by query id; a relevant one has 1 or more, which is its gain in nDCG.
    """
    library = _library()
    by_name = {library.parse_measure(name): name for name in measures}
    qrels = [
        library.Qrel(query, document, grade) for query, of in grades.items() for document, grade in of.items()
    ]
    scored = [  # places as scores: trec_eval would break ties by id
        library.ScoredDoc(query, document, -place)
        for query, documents in runs.items()
        for place, document in enumerate(documents)
    ]
    found = {query: dict.fromkeys(measures, 0.0) for query in grades}
    for metric in library.iter_calc(list(by_name), qrels, scored) if scored else ():
        found[metric.query_id][by_name[metric.measure]] = float(metric.value)
    return found


def _library() -> ModuleType:
    try:
        import ir_measures
    except ImportError:
        raise BadInput(
            "`scrapy judge` measures with ir-measures: make dev, or pip install ir-measures"
        ) from None
    module: ModuleType = ir_measures
    return module

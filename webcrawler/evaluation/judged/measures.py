"""The measures of one run, by ir-measures, which counts as trec_eval does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType

from webcrawler import extras

OF_BEST = ("Success@1", "Success@3", "RR")  # how soon one of a query's best documents comes
MEASURES = ("nDCG@10", "AP", "P@10", "R@100", *OF_BEST)

Grades = Mapping[str, Mapping[str, int]]  # by query id and document


def measure(
    runs: Mapping[str, Sequence[str]], grades: Grades, measures: Sequence[str] = MEASURES
) -> dict[str, dict[str, float]]:
    """The value of each measure by query id; 0 if a query was not answered.

    Args:
        runs: document ids by query id, the best first.
        grades: of documents by query id. A relevant one has 1 or more, which is its gain in nDCG; for
            OF_BEST only those count that have the highest grade of their query.
    """
    library = check_library()
    found = {query: dict.fromkeys(measures, 0.0) for query in grades}
    scored = [  # ranks as scores: trec_eval would break ties by id
        library.ScoredDoc(query, document, -place)
        for query, documents in runs.items()
        for place, document in enumerate(documents)
    ]
    for judged, names in (
        (grades, [name for name in measures if name not in OF_BEST]),
        (_best(grades), [name for name in measures if name in OF_BEST]),
    ):
        by_name = {library.parse_measure(name): name for name in names}
        qrels = [library.Qrel(query, *one) for query, of in judged.items() for one in of.items()]
        for metric in library.iter_calc(list(by_name), qrels, scored) if scored and names else ():
            found[metric.query_id][by_name[metric.measure]] = float(metric.value)
    return found


def _best(grades: Grades) -> dict[str, dict[str, int]]:
    return {
        query: {document: int(0 < grade == max(of.values())) for document, grade in of.items()}
        for query, of in grades.items()
    }


def check_library() -> ModuleType:
    """The package ir_measures. Raises BadInput: it is not installed."""
    extras.require("judge", "`scrapy judge`")
    import ir_measures

    module: ModuleType = ir_measures
    return module

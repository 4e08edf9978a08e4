"""How much is a page about a query, or like example pages?

Apart from the other orderings, as it needs the analysis of texts: who crawls by other modes does without.
"""

from webcrawler.orderings.topic.likeness import Likeness, vector
from webcrawler.orderings.topic.score import (
    ALSO,
    SIMILAR,
    Wanted,
    asked_for,
    page_score,
    share,
    stems_of,
    weight,
)

__all__ = [
    "ALSO",
    "SIMILAR",
    "Likeness",
    "Wanted",
    "asked_for",
    "page_score",
    "share",
    "stems_of",
    "vector",
    "weight",
]

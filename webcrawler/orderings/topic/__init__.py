"""How promising is this link for that query?

`Wanted` is a query as it is looked for, `similarity` says how much a page is about it. The strategies are
orderings, by name: `adaptive` learns from what it fetches (adaptive.py).
"""

from webcrawler.orderings.topic.pagescore import SIMILAR, share, similarity, stems_of
from webcrawler.orderings.topic.wanted import ALSO, Wanted, asked_for, weight

__all__ = ["ALSO", "SIMILAR", "Wanted", "asked_for", "share", "similarity", "stems_of", "weight"]

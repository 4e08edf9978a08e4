"""How promising is this link for that query?

`Wanted` is a query as it is looked for, `similarity` says how much a page is about it. The strategies are
orderings, by name: `adaptive` learns from what it fetches (adaptive.py).
"""

from webcrawler.focus.pagescore import SIMILAR, similarity
from webcrawler.focus.wanted import Wanted, asked_for

__all__ = ["SIMILAR", "Wanted", "asked_for", "similarity"]

"""How much is a page about a query? `Wanted` is the query, analysed; `similarity` compares a page with it."""

from webcrawler.orderings.topic.pagescore import SIMILAR, share, similarity, stems_of
from webcrawler.orderings.topic.wanted import ALSO, Wanted, asked_for, weight

__all__ = ["ALSO", "SIMILAR", "Wanted", "asked_for", "share", "similarity", "stems_of", "weight"]

"""Searching the web now, from the search page: who may start it, who runs it, and the list as it grows.

`Live` is all of it for one application. What a search has found is the journal that it keeps for itself
(`webcrawler.realtime.journal`); nothing here crawls.
"""

from webcrawler.web.live.pages import ENDS, Live
from webcrawler.web.live.request import DEFAULT, MAX_ENOUGH, MAX_QUERY, MAX_TYPED, STRATEGIES

__all__ = ["DEFAULT", "ENDS", "MAX_ENOUGH", "MAX_QUERY", "MAX_TYPED", "STRATEGIES", "Live"]

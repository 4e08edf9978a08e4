"""Searching the web now, from the search page: who may start it, who runs it, and the list as it grows.

`Live` is all of it for one application. What a search has found is the journal that it keeps for itself
(`webcrawler.realtime.journal`); nothing here crawls.
"""

from webcrawler.web.live import schemas
from webcrawler.web.live.pages import Live

__all__ = ["Live", "schemas"]

"""Searching the web now, from the search page: who may start it, who runs it, and the list as it grows.

`LivePages` is all of it for one application. Nothing here crawls: a search runs in a process of its own, and
writes what it finds to its journal (`webcrawler.realtime.journal`).
"""

from webcrawler.web.live.pages import LivePages

__all__ = ["LivePages"]

"""The query server: search page, status page and API over one data folder, for people and programs.

`make_app` gives the application for a `Config`; `server.serve` runs it. It reads the crawl and never writes
to it; judgments of results have a folder of their own, and searches of the web are others' work (`live`).
"""

from webcrawler.web import server
from webcrawler.web.app import make_app
from webcrawler.web.config import Config

__all__ = ["Config", "make_app", "server"]

"""The query server: search page, status page and API for one data folder.

`make_app` makes the application for a `Config`; `server.serve` runs it. It only reads what was crawled.
Judgments of results have a folder of their own; searches of the web run in other processes (`live`).
"""

from webcrawler.web import server
from webcrawler.web.app import make_app
from webcrawler.web.config import Config, Crawler

__all__ = ["Config", "Crawler", "make_app", "server"]

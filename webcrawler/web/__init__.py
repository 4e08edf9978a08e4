"""The query server: search page, status page and API for one data folder.

`make_app` makes the application for a `Config`; `serve` runs it on a socket from `listen`. It only reads what
was crawled. Judgments of results have a folder of their own; searches of the web run in other processes.
"""

from webcrawler.web.app import address_of, is_public, listen, make_app, serve
from webcrawler.web.config import Config, Crawler

__all__ = ["Config", "Crawler", "address_of", "is_public", "listen", "make_app", "serve"]

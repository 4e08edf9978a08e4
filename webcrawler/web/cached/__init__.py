"""The copy of a page that the archive holds, made harmless."""

from webcrawler.web.cached.page import routes

__all__ = ["routes"]

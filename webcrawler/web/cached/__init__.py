"""The copy of a page that the archive holds, made harmless."""

from webcrawler.web.cached import routes

__all__ = ["routes"]

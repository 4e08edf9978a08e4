"""Searching: the first page, results, explanations and suggestions, as pages and for programs."""

from webcrawler.web.search import api, pages
from webcrawler.web.search.answers import Answers

__all__ = ["ROUTES", "Answers"]

ROUTES = [*pages.ROUTES, *api.ROUTES]

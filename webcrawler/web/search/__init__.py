"""Searching: the first page, results, explanations and suggestions, as pages and for programs."""

from webcrawler.web.search.answers import Answers
from webcrawler.web.search.routes import ROUTES, home

__all__ = ["ROUTES", "Answers", "home"]

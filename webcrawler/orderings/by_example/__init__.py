"""Orderings that look for pages like the seeds of the crawl."""

from webcrawler.orderings.by_example.examples import UNTOLD

__all__ = ["UNTOLD"]

"""Which pages answer a query, best first? An engine for each kind of index, chosen by name."""

from webcrawler.search.engines.engine import Answer, SearchEngine
from webcrawler.search.engines.registry import make_engine

__all__ = ["Answer", "SearchEngine", "make_engine"]

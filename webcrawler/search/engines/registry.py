"""The engine of a name; each is imported only where it is wanted."""

from __future__ import annotations

from pathlib import Path

from webcrawler.errors import BadInput
from webcrawler.index import ENGINES
from webcrawler.search.engines.engine import SearchEngine
from webcrawler.search.opened import Opened
from webcrawler.text import Reference


def make_engine(
    name: str, crawl_dir: Path, opened: Opened, reference: Reference, fresh_seconds: float = 0.0
) -> SearchEngine:
    """Raises BadInput for a name that no engine has, or whose package is missing."""
    if name == "tantivy":
        from webcrawler.search.engines.tantivy import TantivyEngine

        return TantivyEngine(crawl_dir, opened)
    if name == "whoosh":
        from webcrawler.search.engines.arrays import ArrayEngine

        return ArrayEngine(crawl_dir, opened, reference, fresh_seconds)
    raise BadInput(f"no engine is called {name!r}: choose one of {', '.join(ENGINES)}")

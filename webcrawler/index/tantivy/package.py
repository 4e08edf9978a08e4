"""The one place that imports tantivy; importing this without it says in one line what to do."""

from webcrawler.errors import BadInput

try:
    import tantivy
except ImportError as missing:
    raise BadInput("INDEX_ENGINE=tantivy wants tantivy: run `make dev`, or pip install tantivy") from missing

__all__ = ["tantivy"]

"""A URL of each server that cannot exist: what it answers there is how it says "not found"."""

from hashlib import blake2b

from webcrawler.urls._canonical import canonical
from webcrawler.urls._resolve import server

NO_SUCH_PAGE = "-no-such-page"


def probe(name: str) -> str:
    """The canonical URL that is asked of a server: the same one each time, which no other site has."""
    return canonical(f"{name}/{blake2b(name.encode(), digest_size=8).hexdigest()}{NO_SUCH_PAGE}")


def is_probe(url: str) -> bool:
    """Is this canonical URL its server's probe? It is never a document, however it came to be fetched."""
    return url.endswith(NO_SUCH_PAGE) and url == probe(server(url))

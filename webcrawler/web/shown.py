"""A hit as the page shows it: what is a link, what is plain text, and what can be clicked next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from webcrawler.records import Hit
from webcrawler.search import Part, Results
from webcrawler.text.query import parse
from webcrawler.web.readable import readable
from webcrawler.web.search_request import Asking

_ALTERNATIVES = re.compile(r"\bOR\b")
PAGES_BEFORE = 4  # numbers shown before the current page


@dataclass(frozen=True, slots=True)
class Shown:
    hit: Hit
    link: str  # empty where the URL is none that a browser should follow
    address: str  # the URL as people read it
    title: str
    snippet: list[tuple[str, bool]]  # pieces, and whether each is a word of the query
    cached_url: str
    explain_url: str
    server_url: str  # the same words on its server alone; empty where that has no more
    parts: Sequence[Part]


def shown(asking: Asking, results: Results) -> list[Shown]:
    parts, explain = results.explanations or [[]] * len(results.hits), asking.explain_url()
    return [_shown(asking, results, hit, of, explain) for hit, of in zip(results.hits, parts, strict=True)]


def pages(asking: Asking, results: Results) -> Iterator[int]:
    """The numbers of pages that there are for certain: some before, this one, the next."""
    if results.hits:
        last = asking.page + (1 if results.more else 0)
        yield from range(max(1, asking.page - PAGES_BEFORE), last + 1)


def link(url: str) -> str:
    """The URL where it may be a link, else an empty text."""
    return url if url.startswith(("http://", "https://")) else ""


def of_server(query: str, server: str) -> str:
    """The query for pages of one server, which stands first: what a query leaves open, its end closes.

    Alternatives go into parentheses, as they were understood: a parenthesis too many would end ours.
    """
    site = f"site:{server.partition('://')[2]}"
    return f"{site} ({parse(query).root})" if _ALTERNATIVES.search(query) else f"{site} {query}"


def _shown(asking: Asking, results: Results, hit: Hit, parts: Sequence[Part], explain: str) -> Shown:
    address = readable(hit.url)
    return Shown(
        hit,
        link(hit.url),
        address,
        address if not hit.title.strip() or hit.title == hit.url else hit.title,
        [piece for piece in results.snippets.mark(hit.snippet) if piece[0]],
        f"/cached?{urlencode({'number': hit.number, 'q': asking.q})}",
        f"{explain}{hit.number}",
        asking.url(q=of_server(asking.q, hit.server)) if hit.from_server else "",
        parts,
    )

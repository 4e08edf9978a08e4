"""What does this document say and link to? And what does a sitemap name?

`parse` turns bytes into a `records.Page` in three steps: `encoding` and `markup` (which characters and
elements are these?), `reader` (which text, headings and links are there?), `links` (where do they lead?).
PDF, office documents and others become elements in `documents`. `parse_sitemap` reads sitemaps and feeds.
Pure: hostile bytes cost time and memory, which `webcrawler.parsing.pool` bounds, and never raise more than
`Unreadable`.
"""

from webcrawler.parsing.documents import HTML, declared_kind, kind_of, readable_kinds, unread_endings
from webcrawler.parsing.links import joined
from webcrawler.parsing.markup import feed, flatten, markup
from webcrawler.parsing.page import PRIVATE, index_text, is_private, parse, with_headers
from webcrawler.parsing.pool import ParserPool, free_large_blocks
from webcrawler.parsing.sitemap import SITEMAP_BYTES, begins_as_sitemap, parse_sitemap
from webcrawler.parsing.text import plain

__all__ = [
    "HTML",
    "PRIVATE",
    "SITEMAP_BYTES",
    "ParserPool",
    "begins_as_sitemap",
    "declared_kind",
    "feed",
    "flatten",
    "free_large_blocks",
    "index_text",
    "is_private",
    "joined",
    "kind_of",
    "markup",
    "parse",
    "parse_sitemap",
    "plain",
    "readable_kinds",
    "unread_endings",
    "with_headers",
]

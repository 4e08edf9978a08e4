"""What does this HTML say and link to? And what does a sitemap name?

`parse` turns bytes into a `records.Page` in three steps, a file each: `encoding` (which characters are
these?), `reader` (which text, headings and links are there?), `links` (where do they lead?).
`parse_sitemap` reads sitemaps and feeds.
Pure: hostile bytes cost time and memory, which `webcrawler.parsing.pool` bounds, and never raise.
"""

from webcrawler.parsing.links import joined
from webcrawler.parsing.page import feed, flatten, index_text, markup, parse
from webcrawler.parsing.pool import ParserPool, free_large_blocks
from webcrawler.parsing.sitemap import begins_as_sitemap, parse_sitemap

__all__ = [
    "ParserPool",
    "begins_as_sitemap",
    "feed",
    "flatten",
    "free_large_blocks",
    "index_text",
    "joined",
    "markup",
    "parse",
    "parse_sitemap",
]

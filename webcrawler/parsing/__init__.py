"""What does this HTML say and link to?

`parse` turns bytes into a `records.Page` in three steps, a file each: `encoding` (which characters are
these?), `reader` (which text, headings and links are there?), `links` (where do they lead?).
Pure: hostile bytes cost time and memory, which `webcrawler.parsing.pool` bounds, and never raise.
"""

from webcrawler.parsing.page import feed, flatten, markup, parse
from webcrawler.parsing.pool import ParserPool, free_large_blocks

__all__ = ["ParserPool", "feed", "flatten", "free_large_blocks", "markup", "parse"]

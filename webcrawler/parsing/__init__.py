"""What does this HTML say and link to?

`parse` turns bytes into a `records.Page` in three steps, a file each: `encoding` (which characters are
these?), `reader` (which text, headings and links stand there?), `links` (where do they lead?).
Pure: hostile bytes cost time and memory, which `webcrawler.parserpool` bounds, and never raise.
"""

from webcrawler.parsing.page import parse

__all__ = ["parse"]

"""A crawler that visits the web in the order you choose, loses nothing, and searches what it found.

Start at `webcrawler.frontier.Frontier` (which URL next?), `webcrawler.archive.catalog.Catalog` (what did I
fetch?) and `webcrawler.scheduler.Scheduler` (the same for any Scrapy spider).
"""

__version__ = "0.1.0"  # pyproject.toml reads it here; an egg's own metadata goes by the name of its file

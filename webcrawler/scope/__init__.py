"""What belongs to a collection? Its owner says so: by domains, by patterns of URLs, and by what was removed.

`Scope` answers for a URL. `read`, `change` and `Watched` keep it in `scope.json` of the data folder, beside
the WARC files, so that whatever builds a catalog or an index obeys it. `expand` reads the patterns of people.
`Begun` keeps how the newest crawl was begun.
"""

from webcrawler.scope._patterns import ALL, Patterns, expand
from webcrawler.scope._stored import FILE as BEGUN
from webcrawler.scope._stored import NAME, Begun, Scope, Watched, change, is_in_domains, read, read_begun

__all__ = [
    "ALL",
    "BEGUN",
    "NAME",
    "Begun",
    "Patterns",
    "Scope",
    "Watched",
    "change",
    "expand",
    "is_in_domains",
    "read",
    "read_begun",
]

"""What do people ask, and what do they open? A log of the search page that does not say who they were.

`Recorder` writes it in a thread of its own, `QueryLog` is the file, and `figures` sums it up. Off unless
QUERY_LOG_DAYS is set.
"""

from webcrawler.usage.figures import figures
from webcrawler.usage.log import NAME, QueryLog, Recorder, Shown, new_id, one_line, query_id, today

__all__ = [
    "NAME",
    "QueryLog",
    "Recorder",
    "Shown",
    "figures",
    "new_id",
    "one_line",
    "query_id",
    "today",
]

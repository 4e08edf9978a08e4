"""What was fetched, and when is it durable? A page is stored once `Catalog.write` has returned.

`Batch` writes WARC files, then the catalog, then tells the frontier. `rebuild` fills a lost frontier.
"""

from webcrawler.archive.batch import CHECKED, DOCUMENTS, Batch, Settled, broken, unread
from webcrawler.archive.finds import discard_finds, discard_left_over
from webcrawler.archive.putting import Putting
from webcrawler.archive.rebuild import rebuild
from webcrawler.archive.replay import RECALLED, recall, take_in
from webcrawler.archive.stored import purge, refuse_lost_copies, refuse_lost_records

__all__ = [
    "CHECKED",
    "DOCUMENTS",
    "RECALLED",
    "Batch",
    "Putting",
    "Settled",
    "broken",
    "discard_finds",
    "discard_left_over",
    "purge",
    "rebuild",
    "recall",
    "refuse_lost_copies",
    "refuse_lost_records",
    "take_in",
    "unread",
]

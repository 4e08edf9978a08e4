"""The bytes as they came: WARC files (ISO 28500, WARC 1.1), one gzip member a record.

`PageStore` appends, `record_at`, `records` and `targets` read, `rewrite` makes a file of another one. A
response is kept as a `response` record with its decoded body, a duplicate as a `revisit` record without it, a
failure without an answer as a `metadata` record of JSON. Each says its state and reason (WARC-Crawl-State:
failed/not-found), so that `records` is enough to rebuild the states of URLs.
"""

from webcrawler.archive.pages._records import Record, Response, record_at, records
from webcrawler.archive.pages._rewrite import Raw, raw_records, rewrite, successor
from webcrawler.archive.pages._store import PageStore
from webcrawler.archive.pages._targets import targets

__all__ = [
    "PageStore",
    "Raw",
    "Record",
    "Response",
    "raw_records",
    "record_at",
    "records",
    "rewrite",
    "successor",
    "targets",
]

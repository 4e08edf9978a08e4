"""The bytes as they came: WARC files (ISO 28500, WARC 1.1), one gzip member a record.

`PageStore` appends, `record_at`, `records` and `in_order` read, `rewrite` makes a file of another.
A response is kept as a `response` record with its decoded body, a duplicate as a `revisit` record without it,
a failure without an answer as a `metadata` record of JSON. Each says its state and reason (WARC-Crawl-State:
failed/not-found) and what was asked for, so that `in_order` is enough to make a catalog of.
"""

from webcrawler.archive.pages._members import next_record, whole_record
from webcrawler.archive.pages._order import in_order
from webcrawler.archive.pages._records import KEPT, Record, Response, record_at, records, records_from
from webcrawler.archive.pages._rewrite import Raw, WarcFile, raw_at, raw_records, rewrite, successor
from webcrawler.archive.pages._store import PageStore

__all__ = [
    "KEPT",
    "PageStore",
    "Raw",
    "Record",
    "Response",
    "WarcFile",
    "in_order",
    "next_record",
    "raw_at",
    "raw_records",
    "record_at",
    "records",
    "records_from",
    "rewrite",
    "successor",
    "whole_record",
]

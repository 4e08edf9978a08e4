"""The tables of a dataset, as each folder exports them: columns and types.

Rows are only added. A page's newest row in `urls`, the one of the highest (epoch, seq) of its home, says what
holds: of the other tables, rows of this page with the same home, epoch and seq, and no others. So one join
takes out what was replaced or is gone, and a page without links needs no row that says so. If several homes
know a page, the one that fetched it last tells of it. `sql/current_urls.sql` chooses that row.

Columns that Common Crawl's index has as well have its names, so its queries run here. Ids are URL ids, times
are UTC. What a page stands for (`duplicate_of`, `near_duplicate_of`) is what its own folder knew when the row
was written; the jobs decide it anew, over all folders.
"""

from __future__ import annotations

import pyarrow as pa

TIME = pa.timestamp("us", "UTC")
ID = pa.int64()
# Whose row it is, and since which change of its catalog; one that takes another's place begins an epoch.
VERSIONED = [("home", pa.string()), ("epoch", pa.int64()), ("seq", pa.int64())]
SECTION = pa.struct([("start", pa.int32()), ("fragment", pa.string()), ("heading", pa.string())])

# Every URL that was fetched or linked to.
URLS = [
    ("url_id", ID),
    ("url", pa.string()),  # canonical
    ("url_surtkey", pa.string()),
    ("url_host_name", pa.string()),
    ("url_host_tld", pa.string()),
    ("url_host_registered_domain", pa.string()),  # private suffixes count: two blogs of a host are two
    ("url_host_name_reversed", pa.string()),
    ("url_protocol", pa.string()),
    ("url_port", pa.int32()),  # NULL: the protocol's own
    ("url_path", pa.string()),
    ("url_query", pa.string()),
    ("server", pa.string()),  # "http://a.example:8080"
    # "document", "duplicate", "noindex", "redirect", "gone", "removed" by the owner, "uncrawled"
    ("state", pa.string()),
    # By its text or by what links say: no redirect, duplicate, noindex, gone, removed
    ("findable", pa.bool_()),
    ("fetch_time", TIME),  # of the newest fetch that told whether a document is there; NULL: none did
    *VERSIONED,
]

# Those that answered with a document.
DOCUMENTS = [
    ("url_id", ID),
    ("url", pa.string()),
    ("url_surtkey", pa.string()),
    ("url_host_name", pa.string()),
    ("url_host_registered_domain", pa.string()),
    ("fetch_time", TIME),
    ("fetch_status", pa.int16()),
    ("content_digest", pa.string()),  # base32 of SHA-1 of the body, as in WARC; NULL: not known
    ("content_mime_type", pa.string()),
    ("language", pa.string()),  # ISO 639; "": not known, or it has no text
    ("title", pa.string()),
    ("words", pa.int32()),
    ("warc_filename", pa.string()),
    ("warc_record_offset", pa.int64()),
    ("text_digest", pa.string()),  # base32 of SHA-1 of what is searched and followed, blanks aside
    ("simhash", pa.int64()),  # of the text; NULL: too short for one
    ("canonical_id", ID),  # the URL that it names as its canonical one; NULL: none
    ("duplicate_of", ID),  # NULL: the original, or alone
    ("near_duplicate_of", ID),  # the oldest document that differs in at most three bits of `simhash`
    ("noindex", pa.bool_()),
    ("findable", pa.bool_()),
    ("changed", TIME),  # when its text or links last changed
    *VERSIONED,
]

# Of documents and redirects; a target has an edge from a source once.
LINKS = [
    ("source_id", ID),
    ("target_id", ID),
    ("source_domain", pa.string()),  # registrable, as in `urls`
    ("target_domain", pa.string()),
    ("source_host_name", pa.string()),
    ("target_host_name", pa.string()),
    ("source_server", pa.string()),
    ("target_server", pa.string()),
    ("anchor", pa.string()),  # at most 200 characters, single blanks
    ("rel", pa.string()),  # "", "nofollow", "redirect", "form", "form-and-link"
    *VERSIONED,
]

# What can be searched of documents that are findable.
TEXTS = [
    ("url_id", ID),
    ("language", pa.string()),
    ("title", pa.string()),
    ("description", pa.string()),
    ("keywords", pa.string()),
    ("headings", pa.list_(pa.string())),
    ("body", pa.string()),  # all visible text
    ("sections", pa.list_(SECTION)),  # `start` in characters of `body`
    *VERSIONED,
]

# The terms of title and main content of these, as the index has them.
POSTINGS = [
    ("url_id", ID),
    ("language", pa.string()),
    ("term", pa.string()),
    ("tf", pa.int32()),
    *VERSIONED,
]

TABLES: dict[str, pa.Schema] = {
    "urls": pa.schema(URLS),
    "documents": pa.schema(DOCUMENTS),
    "links": pa.schema(LINKS),
    "texts": pa.schema(TEXTS),
    "postings": pa.schema(POSTINGS),
}

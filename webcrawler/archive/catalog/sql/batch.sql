-- Tables of the writer's own, in memory: what a batch brings, before the catalog's verdict on it.

CREATE TEMP TABLE batch_urls (
    position INTEGER PRIMARY KEY, -- the order of discovery
    id       INTEGER NOT NULL,
    server   TEXT NOT NULL,
    path     TEXT NOT NULL,
    removed  INTEGER NOT NULL,
    spelling TEXT -- as in `urls`
);

-- One row an entry, each number once.
CREATE TEMP TABLE batch (
    position INTEGER PRIMARY KEY,
    number   INTEGER NOT NULL UNIQUE,
    token INTEGER, fetched REAL, status INTEGER, state TEXT, reason TEXT, retry INTEGER, tries INTEGER, found INTEGER,
    seconds REAL, digest BLOB, simhash INTEGER, error TEXT, file TEXT, "offset" INTEGER,
    content_type TEXT, etag TEXT, last_modified TEXT, word_count INTEGER, noindex INTEGER, packed BLOB, blocks BLOB,
    text_digest BLOB, audit INTEGER NOT NULL DEFAULT 0,
    conditional INTEGER, -- as in fetches
    spelling TEXT, -- as in `urls`
    canonical INTEGER, -- as in documents
    probe    INTEGER, -- 1: its path cannot exist
    words_digest BLOB, -- SHA-1 of the words of a probe or a check
    fresh    INTEGER NOT NULL, -- 1: it says what stands there, is not fenced off, and is not what the catalog has already
    fenced   INTEGER NOT NULL DEFAULT 0, -- 1: a later lease reported before, it was written before, or its server is blocked
    checked  REAL,    -- it is a check: when the document that it looked for was last known to be current
    same     INTEGER NOT NULL DEFAULT 0, -- 1: a check that found nothing new
    held     INTEGER NOT NULL DEFAULT 0, -- 1: a check that found nothing, or failed; the document stays for now
    changed  INTEGER, -- as in fetches
    linked   INTEGER NOT NULL DEFAULT 0 -- 1: no document stands there, and links led from it
);

-- Digests that lose their original in this batch, with its text.
CREATE TEMP TABLE vacated (
    digest BLOB PRIMARY KEY,
    packed BLOB
);

-- New verdicts: which document nearly repeats which older one, NULL where none any more.
CREATE TEMP TABLE near (
    number INTEGER PRIMARY KEY,
    older  INTEGER
);

-- What fresh pages linked to before.
CREATE TEMP TABLE dropped (
    source INTEGER,
    target INTEGER,
    PRIMARY KEY (source, target)
) WITHOUT ROWID;

-- What one sitemap names.
CREATE TEMP TABLE told (
    position INTEGER PRIMARY KEY,
    number   INTEGER NOT NULL,
    modified REAL,
    of       TEXT -- as in `sitemaps`; NULL: it is a page
);

-- Pages that are blocked or removed, or no more.
CREATE TEMP TABLE touched (number INTEGER PRIMARY KEY);

-- Where records of a WARC file stood, and where they stand now.
CREATE TEMP TABLE moved (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);

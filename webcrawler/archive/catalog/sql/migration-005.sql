-- Sitemaps and feeds, and what they say of pages.

-- Those that were fetched, and those that an index names.
CREATE TABLE sitemaps (
    number  INTEGER PRIMARY KEY REFERENCES urls (number),
    of      TEXT NOT NULL, -- the server whose robots.txt named it, or the index that names it; '': a person did
    fetched REAL, -- when it was last read, or known to be unchanged
    digest  BLOB, -- SHA-1 of the body
    etag    TEXT,
    last_modified TEXT
);

-- What a sitemap says of a page: one row for both, replaced by one with a higher seq when the date is another.
CREATE TABLE signs (
    seq      INTEGER PRIMARY KEY AUTOINCREMENT, -- ascending over transactions: what is told again as it was known keeps it
    number   INTEGER NOT NULL REFERENCES urls (number),
    sitemap  INTEGER NOT NULL REFERENCES sitemaps (number),
    modified REAL, -- when the page changed; NULL: it does not say
    seen     REAL NOT NULL, -- when the sitemap that says so was fetched
    UNIQUE (number, sitemap)
);
CREATE INDEX signs_by_sitemap ON signs (sitemap);

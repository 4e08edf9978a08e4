-- The tables of the catalog. Statements end with a semicolon at the end of a line, but for those of a trigger.
-- Times are seconds since 1970, UTC. Entire URLs are not stored, but a server and a path (Pinkerton 1994, "The Database").

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE servers (
    number  INTEGER PRIMARY KEY,
    name    TEXT NOT NULL UNIQUE, -- "http://a.example:8080"
    blocked INTEGER NOT NULL DEFAULT 0, -- 1: of what is fetched there only the history is kept
    incident_since  REAL, -- since when unusually many documents are missing: none of them is removed for a day
    probed          REAL, -- when the server was asked for a path that cannot exist
    missing_words   BLOB, -- SHA-1 of the words of its answer; NULL where that is no page
    missing_simhash INTEGER,
    voters  INTEGER NOT NULL DEFAULT 0 -- domains that linked to its home page when its duplicates were last compared
);

-- Every URL that was fetched or linked to. Never deleted, so that numbers stay dense and may be remembered.
-- Ids are unique: only those are added that `ids` does not have.
CREATE TABLE urls (
    number   INTEGER PRIMARY KEY, -- the page number: node of the link graph
    id       INTEGER NOT NULL,
    server   INTEGER NOT NULL REFERENCES servers (number),
    path     TEXT NOT NULL, -- from the first slash, query included
    removed  INTEGER NOT NULL DEFAULT 0, -- 1: by the owner, only the history is kept; from scope.json, whose digest is in `meta`
    spelling TEXT -- the URL as it is fetched, where that is not the canonical one
);

-- Look-ups by URL ids, which are as good as random. An ordinary index writes a page of the file for nearly each new row,
-- once it is larger than the cache. This one is log-structured (O'Neil 1996, "The Log-Structured Merge-Tree"): new rows
-- come to level 0, and sweep-ids.sql moves neighbours on together.
CREATE TABLE leveled_ids (
    level  INTEGER NOT NULL, -- 0, 1 or 2
    id     INTEGER NOT NULL, -- of a URL, in one level only
    number INTEGER NOT NULL REFERENCES urls (number),
    PRIMARY KEY (level, id)
) WITHOUT ROWID;

-- Page numbers by URL id.
CREATE VIEW ids AS SELECT id, number FROM leveled_ids WHERE level IN (0, 1, 2);

CREATE TRIGGER url_added AFTER INSERT ON urls
BEGIN INSERT INTO leveled_ids VALUES (0, new.id, new.number); END;

-- URLs that answered 200 with HTML or XHTML, as of their newest fetch; duplicates and noindex pages included.
CREATE TABLE documents (
    number       INTEGER PRIMARY KEY REFERENCES urls (number),
    fetched      REAL NOT NULL,
    status       INTEGER NOT NULL,
    content_type TEXT NOT NULL,
    digest       BLOB, -- SHA-1 of the body
    since        INTEGER NOT NULL, -- changes.seq from which on it has had this digest: the least is the original
    duplicate_of INTEGER REFERENCES urls (number), -- the original; NULL is one itself
    simhash      INTEGER,
    etag         TEXT,
    last_modified TEXT,
    word_count   INTEGER NOT NULL,
    seconds      REAL NOT NULL, -- of the download
    noindex      INTEGER NOT NULL,
    file         TEXT, -- where its WARC record stands
    "offset"     INTEGER,
    near_duplicate_of INTEGER REFERENCES urls (number), -- the oldest document that differs in at most three bits of `simhash`
    checked      REAL, -- when it was last known to be current
    changed      REAL, -- when its text or links last changed
    text_digest  BLOB, -- SHA-1 of what of it is searched and followed, blanks aside
    missing_since REAL, -- since when fetches say that nothing is there (404, a passing redirect)
    failing_since REAL, -- since when fetches fail
    canonical    INTEGER -- id of the URL that the page names as its canonical one (RFC 6596); NULL: none
);
CREATE INDEX documents_by_digest ON documents (digest, since) WHERE digest IS NOT NULL;
CREATE INDEX documents_by_near_duplicate_of ON documents (near_duplicate_of) WHERE near_duplicate_of IS NOT NULL;
CREATE INDEX documents_at_risk ON documents (number) WHERE missing_since IS NOT NULL OR failing_since IS NOT NULL;
-- Is a link's target a duplicate? Few are: this stays in the cache.
CREATE INDEX documents_with_original ON documents (number) WHERE duplicate_of IS NOT NULL;

-- Four bands of 16 bits: one at least is the same where three bits differ (Manku 2007, 3.1).
CREATE INDEX documents_by_band_0 ON documents (simhash & 0xFFFF, since, simhash) WHERE simhash IS NOT NULL;
CREATE INDEX documents_by_band_1 ON documents (simhash >> 16 & 0xFFFF, since, simhash) WHERE simhash IS NOT NULL;
CREATE INDEX documents_by_band_2 ON documents (simhash >> 32 & 0xFFFF, since, simhash) WHERE simhash IS NOT NULL;
CREATE INDEX documents_by_band_3 ON documents (simhash >> 48 & 0xFFFF, since, simhash) WHERE simhash IS NOT NULL;

-- Pages that are duplicates, or were: by server, to compare them again when their server has become more important.
CREATE TABLE duplicates (
    server INTEGER NOT NULL REFERENCES servers (number),
    number INTEGER NOT NULL REFERENCES urls (number),
    PRIMARY KEY (server, number)
) WITHOUT ROWID;

-- Which blocks of text repeat over the pages of a server, menus and copyright lines: told by a sample of its pages. These
-- are the ones with the least URL ids, which are hashes, so the sample is random, and the same in whatever order the
-- pages come (Cohen 1997, "Size-Estimation Framework", bottom-k).
CREATE TABLE blocks (
    server  INTEGER NOT NULL REFERENCES servers (number),
    id      INTEGER NOT NULL, -- of the URL
    number  INTEGER NOT NULL REFERENCES documents (number),
    digests BLOB NOT NULL, -- CRC-32 of the first and last blocks of the main content, four bytes each, low byte first
    PRIMARY KEY (server, id)
) WITHOUT ROWID;

CREATE TABLE texts (
    number INTEGER PRIMARY KEY REFERENCES documents (number),
    packed BLOB NOT NULL -- zlib of msgpack of records.Text
);

-- The history, failures included: states and change rates are computed from it.
CREATE TABLE fetches (
    number   INTEGER NOT NULL REFERENCES urls (number),
    fetched  REAL NOT NULL,
    status   INTEGER NOT NULL, -- 0 without an answer
    state    TEXT NOT NULL,
    reason   TEXT NOT NULL,
    retry    INTEGER NOT NULL, -- 1: failed, worth another try
    tries    INTEGER NOT NULL, -- failed fetches before this one
    found    INTEGER, -- 1: a document stands there, 0: none does, NULL: this fetch could not tell
    seconds  REAL NOT NULL,
    digest   BLOB,
    error    TEXT,
    file     TEXT,
    "offset" INTEGER,
    token    INTEGER, -- of the lease, ascending; NULL: it was imported
    seq      INTEGER, -- ascending over commits: who keeps estimates of change follows it
    changed  INTEGER, -- 1: text or links differ from those of the check before, 0: they do not, NULL: it could not tell, or was the first
    since    REAL, -- of a check that told something: when the document was last known to be current before
    audit    INTEGER NOT NULL DEFAULT 0, -- 1: the check of a document that was drawn at random from all
    conditional INTEGER, -- of checks: 1 sent with validators, 0 without, though the document had some; NULL: it had none, or nobody knows
    PRIMARY KEY (number, fetched)
) WITHOUT ROWID;
CREATE INDEX fetches_by_seq ON fetches (seq) WHERE seq IS NOT NULL;
CREATE INDEX fetches_by_audit ON fetches (fetched) WHERE audit;

-- URLs that failed, or whose document was removed by a check: since when, and how often they were asked for since.
CREATE TABLE gone (
    number INTEGER PRIMARY KEY REFERENCES urls (number),
    since  REAL NOT NULL,
    tries  INTEGER NOT NULL
);

-- Checks of a server in this hour and the last, and how many found nothing there.
CREATE TABLE checks (
    server  INTEGER NOT NULL REFERENCES servers (number),
    hour    INTEGER NOT NULL, -- since 1970
    checks  INTEGER NOT NULL,
    missing INTEGER NOT NULL,
    PRIMARY KEY (server, hour)
) WITHOUT ROWID;

CREATE TABLE links (
    source INTEGER NOT NULL REFERENCES urls (number),
    target INTEGER NOT NULL REFERENCES urls (number),
    anchor TEXT NOT NULL,
    rel    TEXT NOT NULL, -- "", "nofollow", "redirect"
    PRIMARY KEY (source, target)
) WITHOUT ROWID;

-- In-links: an inverted index of `links`. A page is a document of it, and the numbers of its link targets are the terms.
-- An ordinary index by target writes a page of the file for nearly each link, once it is larger than the cache; this
-- one appends sorted runs, and merges some with each batch (https://www.sqlite.org/fts5.html, "automerge").
-- What is deleted has to be told with the same terms, so it is deleted here before it is deleted in `links`.
CREATE VIRTUAL TABLE inlinks USING fts5 (targets, content = '', detail = none, columnsize = 0, tokenize = 'ascii');

-- How many pages link to a page: `term` is its number, `doc` how many.
CREATE VIRTUAL TABLE inlink_counts USING fts5vocab (inlinks, row);

-- What views follow: a row for each insert, update or deletion of a document, in the same transaction.
CREATE TABLE changes (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT,
    number INTEGER NOT NULL,
    kind   TEXT NOT NULL
);

-- Pages whose anchor texts the change of this seq may have changed though no link to them is new: a link vanished,
-- its page was fetched and is gone, no longer a duplicate, or of a server that is blocked now.
CREATE TABLE unlinked (
    seq    INTEGER NOT NULL,
    target INTEGER NOT NULL REFERENCES urls (number)
);
CREATE INDEX unlinked_by_seq ON unlinked (seq, target);

-- Sitemaps and feeds that were fetched, and those that an index names.
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

-- Documents that nothing but searches of the web brought, and which search found them: only these see them. They
-- leave when their searches end; what is to stay has no row here (webcrawler/archive/finds.py).
CREATE TABLE finds (
    number INTEGER NOT NULL REFERENCES urls (number),
    job    TEXT NOT NULL, -- the name of the search
    PRIMARY KEY (number, job)
) WITHOUT ROWID;
CREATE INDEX finds_by_job ON finds (job);

INSERT INTO meta VALUES ('identity', lower(hex(randomblob(16))));

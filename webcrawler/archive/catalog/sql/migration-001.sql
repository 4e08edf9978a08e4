-- The tables of the catalog. Statements end with a semicolon at the end of a line; none may stand elsewhere.
-- Times are seconds since 1970, UTC. Entire URLs are not stored, but a server and a path (Pinkerton 1994, "The Database").

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE servers (
    number INTEGER PRIMARY KEY,
    name   TEXT NOT NULL UNIQUE -- "http://a.example:8080"
);

-- Every URL that was fetched or linked to. Never deleted, so that numbers stay dense and may be remembered.
CREATE TABLE urls (
    number INTEGER PRIMARY KEY, -- the page number: node of the link graph
    id     INTEGER NOT NULL UNIQUE,
    server INTEGER NOT NULL REFERENCES servers (number),
    path   TEXT NOT NULL -- from the first slash, query included
);

-- URLs that answered 200 with HTML or XHTML, as of their newest fetch; duplicates and noindex pages included.
CREATE TABLE documents (
    number       INTEGER PRIMARY KEY REFERENCES urls (number),
    fetched      REAL NOT NULL,
    status       INTEGER NOT NULL,
    content_type TEXT NOT NULL,
    digest       BLOB, -- SHA-1 of the body
    since        INTEGER NOT NULL, -- changes.seq from which on it has had this digest: the least is the original
    duplicate_of INTEGER REFERENCES urls (number), -- the original; NULL is one itself
    simhash      INTEGER, -- reserved for near duplicates
    etag         TEXT,
    last_modified TEXT,
    word_count   INTEGER NOT NULL,
    seconds      REAL NOT NULL, -- of the download
    noindex      INTEGER NOT NULL,
    file         TEXT, -- where its WARC record stands
    "offset"     INTEGER
);
CREATE INDEX documents_by_digest ON documents (digest, since) WHERE digest IS NOT NULL;

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
    PRIMARY KEY (number, fetched)
) WITHOUT ROWID;

CREATE TABLE links (
    source INTEGER NOT NULL REFERENCES urls (number),
    target INTEGER NOT NULL REFERENCES urls (number),
    anchor TEXT NOT NULL,
    rel    TEXT NOT NULL, -- "", "nofollow", "redirect"
    PRIMARY KEY (source, target)
) WITHOUT ROWID;

CREATE TABLE texts (
    number INTEGER PRIMARY KEY REFERENCES documents (number),
    packed BLOB NOT NULL -- zlib of msgpack of records.Text
);

-- What views follow: a row for each insert, update or deletion of a document, in the same transaction.
CREATE TABLE changes (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT,
    number INTEGER NOT NULL,
    kind   TEXT NOT NULL
);

INSERT INTO meta VALUES ('identity', lower(hex(randomblob(16))));

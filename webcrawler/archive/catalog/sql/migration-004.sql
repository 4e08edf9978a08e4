-- Checks: fetches of what is a document already. What each told, and what documents are known to be by now.

-- Ascending over commits: who keeps estimates of change follows it. NULL in rows older than this column.
ALTER TABLE fetches ADD COLUMN seq INTEGER;
-- 1: text or links differ from those of the check before, 0: they do not, NULL: this fetch could not tell, or was the first.
ALTER TABLE fetches ADD COLUMN changed INTEGER;
-- Of a check that told something: when the document was last known to be current before.
ALTER TABLE fetches ADD COLUMN since REAL;
-- What the server says of its last change (Last-Modified), believed or not.
ALTER TABLE fetches ADD COLUMN modified REAL;
CREATE INDEX fetches_by_seq ON fetches (seq) WHERE seq IS NOT NULL;

-- When it was last known to be current, and when its text or links last changed.
ALTER TABLE documents ADD COLUMN checked REAL;
ALTER TABLE documents ADD COLUMN changed REAL;
-- SHA-1 of what of it is searched and followed, blanks aside; the digest is that of the bytes.
ALTER TABLE documents ADD COLUMN text_digest BLOB;
-- Since when fetches say that nothing is there (404, a passing redirect), and since when they fail.
ALTER TABLE documents ADD COLUMN missing_since REAL;
ALTER TABLE documents ADD COLUMN failing_since REAL;
UPDATE documents SET checked = fetched, changed = fetched;
CREATE INDEX documents_at_risk ON documents (number) WHERE missing_since IS NOT NULL OR failing_since IS NOT NULL;

-- Since when unusually many documents of the server are missing: none of them is removed for a day.
ALTER TABLE servers ADD COLUMN incident_since REAL;
-- When the server was asked for a path that cannot exist; SHA-1 of the words of its answer and their simhash,
-- NULL where that is no page.
ALTER TABLE servers ADD COLUMN probed REAL;
ALTER TABLE servers ADD COLUMN missing_words BLOB;
ALTER TABLE servers ADD COLUMN missing_simhash INTEGER;

-- URLs whose document was removed by a check: when, and how often they were asked for since.
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

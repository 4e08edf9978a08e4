-- Look-ups by keys that are as good as random: URL ids, and the bands of fingerprints. An ordinary index writes a page of
-- the file for nearly each new row, once it is larger than the cache. These are log-structured (O'Neil 1996, "The
-- Log-Structured Merge-Tree"): new rows come to level 0, and sweep.sql moves neighbours on together.

CREATE TABLE leveled_ids (
    level  INTEGER NOT NULL, -- 0, 1 or 2
    id     INTEGER NOT NULL, -- of a URL, in one level only
    number INTEGER NOT NULL REFERENCES urls (number),
    PRIMARY KEY (level, id)
) WITHOUT ROWID;

-- Page numbers by URL id.
CREATE VIEW ids AS SELECT id, number FROM leveled_ids WHERE level IN (0, 1, 2);

CREATE TABLE leveled_bands (
    level   INTEGER NOT NULL, -- 0, 1 or 2
    band    INTEGER NOT NULL, -- as in document_bands, and all that follows
    since   INTEGER NOT NULL,
    number  INTEGER NOT NULL REFERENCES documents (number),
    simhash INTEGER NOT NULL,
    PRIMARY KEY (level, band, since, number)
) WITHOUT ROWID;

-- Four bands of 16 bits, each with its place in bits 16 and 17: one at least is the same where three bits differ
-- (Manku 2007, 3.1).
CREATE VIEW document_bands AS
SELECT shift << 12 | (simhash >> shift & 0xFFFF) AS band, since, number, simhash
FROM documents CROSS JOIN (SELECT 0 AS shift UNION ALL VALUES (16), (32), (48))
WHERE simhash IS NOT NULL;

INSERT INTO leveled_bands SELECT 2, * FROM document_bands ORDER BY band, since, number;

DROP INDEX documents_by_band_0;
DROP INDEX documents_by_band_1;
DROP INDEX documents_by_band_2;
DROP INDEX documents_by_band_3;

CREATE TRIGGER document_added AFTER INSERT ON documents
BEGIN INSERT INTO leveled_bands SELECT 0, * FROM document_bands WHERE number = new.number; END;

CREATE TRIGGER document_leaves BEFORE DELETE ON documents
BEGIN DELETE FROM leveled_bands WHERE level IN (0, 1, 2) AND (band, since, number) IN (
    SELECT band, since, number FROM document_bands WHERE number = old.number); END;

CREATE TRIGGER document_changes BEFORE UPDATE OF simhash, since ON documents
WHEN old.simhash IS NOT new.simhash OR old.since <> new.since
BEGIN DELETE FROM leveled_bands WHERE level IN (0, 1, 2) AND (band, since, number) IN (
    SELECT band, since, number FROM document_bands WHERE number = old.number); END;

CREATE TRIGGER document_changed AFTER UPDATE OF simhash, since ON documents
WHEN old.simhash IS NOT new.simhash OR old.since <> new.since
BEGIN INSERT INTO leveled_bands SELECT 0, * FROM document_bands WHERE number = new.number; END;

-- `urls` as it was, without an index of its own: ids are unique, as only those are added that `ids` does not have.
CREATE TABLE new_urls (
    number   INTEGER PRIMARY KEY,
    id       INTEGER NOT NULL,
    server   INTEGER NOT NULL REFERENCES servers (number),
    path     TEXT NOT NULL,
    removed  INTEGER NOT NULL DEFAULT 0,
    spelling TEXT
);

INSERT INTO new_urls SELECT number, id, server, path, removed, spelling FROM urls ORDER BY number;

INSERT INTO leveled_ids SELECT 2, id, number FROM urls ORDER BY id;

DROP TABLE urls;

ALTER TABLE new_urls RENAME TO urls;

CREATE TRIGGER url_added AFTER INSERT ON urls
BEGIN INSERT INTO leveled_ids VALUES (0, new.id, new.number); END;

-- Is a link's target a duplicate? Few are: this stays in the cache.
CREATE INDEX documents_with_original ON documents (number) WHERE duplicate_of IS NOT NULL;

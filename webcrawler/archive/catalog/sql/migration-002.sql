-- Near-duplicates, fencing by token, blocked servers.

-- 1: of what is fetched there only the history is kept.
ALTER TABLE servers ADD COLUMN blocked INTEGER NOT NULL DEFAULT 0;

-- Of the lease, ascending; NULL in rows older than this column.
ALTER TABLE fetches ADD COLUMN token INTEGER;

-- The oldest document that differs in at most three bits of `simhash` (webcrawler/text/fingerprint.py), NULL where none does,
-- for duplicates, and where either has no simhash.
ALTER TABLE documents ADD COLUMN near_duplicate_of INTEGER REFERENCES urls (number);
CREATE INDEX documents_by_near_duplicate_of ON documents (near_duplicate_of) WHERE near_duplicate_of IS NOT NULL;

-- Of four bands of 16 bits, one at least is the same where three bits differ (Manku 2007, 3.1).
CREATE INDEX documents_by_band_0 ON documents (simhash & 0xFFFF, since, simhash) WHERE simhash IS NOT NULL;
CREATE INDEX documents_by_band_1 ON documents (simhash >> 16 & 0xFFFF, since, simhash) WHERE simhash IS NOT NULL;
CREATE INDEX documents_by_band_2 ON documents (simhash >> 32 & 0xFFFF, since, simhash) WHERE simhash IS NOT NULL;
CREATE INDEX documents_by_band_3 ON documents (simhash >> 48 & 0xFFFF, since, simhash) WHERE simhash IS NOT NULL;

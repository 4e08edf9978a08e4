-- Of equal pages, which one is the original?

-- Id of the URL that the page names as its canonical one (RFC 6596); NULL: none, or fetched before this column was there.
ALTER TABLE documents ADD COLUMN canonical INTEGER;

-- How many domains linked to the server's home page when its duplicates were last compared with their originals.
ALTER TABLE servers ADD COLUMN voters INTEGER NOT NULL DEFAULT 0;

-- Pages that are duplicates, or were: by server, to compare them again when their server has become more important.
CREATE TABLE duplicates (
    server INTEGER NOT NULL REFERENCES servers (number),
    number INTEGER NOT NULL REFERENCES urls (number),
    PRIMARY KEY (server, number)
) WITHOUT ROWID;

INSERT INTO duplicates
SELECT u.server, d.number FROM documents d CROSS JOIN urls u ON u.number = d.number WHERE d.duplicate_of IS NOT NULL;

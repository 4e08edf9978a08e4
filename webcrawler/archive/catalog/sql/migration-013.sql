-- Which blocks of text repeat over the pages of a server, menus and copyright lines: told by a sample of its pages. These
-- are the ones with the least URL ids, which are hashes, so the sample is random, and the same in whatever order the
-- pages come (Cohen 1997, "Size-Estimation Framework", bottom-k). Of pages fetched before, nothing is known.
CREATE TABLE blocks (
    server  INTEGER NOT NULL REFERENCES servers (number),
    id      INTEGER NOT NULL, -- of the URL
    number  INTEGER NOT NULL REFERENCES documents (number),
    digests BLOB NOT NULL, -- CRC-32 of the first and last blocks of the main content, four bytes each, low byte first
    PRIMARY KEY (server, id)
) WITHOUT ROWID;

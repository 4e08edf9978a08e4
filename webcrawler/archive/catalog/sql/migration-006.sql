-- Documents that nothing but searches of the web brought, and which search found them: only these see them. They
-- leave when their searches end; what is to stay has no row here (webcrawler/archive/finds.py).
CREATE TABLE finds (
    number INTEGER NOT NULL REFERENCES urls (number),
    job    TEXT NOT NULL, -- the name of the search
    PRIMARY KEY (number, job)
) WITHOUT ROWID;
CREATE INDEX finds_by_job ON finds (job);

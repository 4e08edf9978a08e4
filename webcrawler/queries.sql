-- queries.sql: the log of queries and clicks. It tells days, not times, and not who asked.
-- Ids are random, and rows are stored in their order: nothing shows which answers came after each other.

-- One result page that somebody was shown. `start`: hits before it; `plain`: nothing but the query was asked
-- for, in order of relevance; `day`: days since 1970, UTC.
CREATE TABLE IF NOT EXISTS answers (
    id INTEGER PRIMARY KEY, day INTEGER NOT NULL, query TEXT NOT NULL, total INTEGER NOT NULL,
    start INTEGER NOT NULL, plain INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS answers_by_day ON answers (day);

CREATE TABLE IF NOT EXISTS pages (page INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE);

-- Its hits, `rank` from 1 on over all result pages; `clicked` is 1 once the hit was opened.
CREATE TABLE IF NOT EXISTS hits (
    answer INTEGER NOT NULL, rank INTEGER NOT NULL, page INTEGER NOT NULL, clicked INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (answer, rank)
) WITHOUT ROWID;

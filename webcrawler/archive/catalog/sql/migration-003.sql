-- In-links: whose anchor texts a page has, and who links to it.

CREATE INDEX links_by_target ON links (target);

-- Pages whose anchor texts the change of this seq may have changed though no link to them is new: a link vanished,
-- its page was fetched and is gone, no longer a duplicate, or of a server that is blocked now.
CREATE TABLE unlinked (
    seq    INTEGER NOT NULL,
    target INTEGER NOT NULL REFERENCES urls (number)
);
CREATE INDEX unlinked_by_seq ON unlinked (seq, target);

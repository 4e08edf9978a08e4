-- In-links: an inverted index of `links`. A page is a document of it, and the numbers of its link targets are the terms.
-- An ordinary index by target writes a page of the file for nearly each link, once it is larger than the cache; this
-- one appends sorted runs, and merges some with each batch (https://www.sqlite.org/fts5.html, "automerge").
-- What is deleted has to be told with the same terms, so it is deleted here before it is deleted in `links`.

CREATE VIRTUAL TABLE inlinks USING fts5 (targets, content = '', detail = none, columnsize = 0, tokenize = 'ascii');

-- How many pages link to a page: `term` is its number, `doc` how many.
CREATE VIRTUAL TABLE inlink_counts USING fts5vocab (inlinks, row);

INSERT INTO inlinks (rowid, targets) SELECT source, group_concat(target, ' ') FROM links GROUP BY source ORDER BY source;

DROP INDEX links_by_target;

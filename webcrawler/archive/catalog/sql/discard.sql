-- Fills `batch` with the documents :numbers as if they were gone, and notes in the history why. Their links stay.
-- :numbers  JSON: an array of page numbers.
-- :now      seconds since 1970

INSERT INTO batch (position, number, found, fresh)
SELECT d.number, d.number, 0, 1 FROM documents d WHERE d.number IN (SELECT value FROM json_each(:numbers));

INSERT OR IGNORE INTO fetches (number, fetched, status, state, reason, retry, tries, seconds, token)
SELECT b.number, :now, 0, 'done', 'discarded', 0, 0, 0,
       (SELECT max(f.token) FROM fetches f WHERE f.number = b.number)
FROM batch b;

-- Marks the documents of `batch` as finds of :job, unless they were there before it. A batch of a crawl (:job is "")
-- takes the marks from what it brings. Run after checks.sql and before apply.sql.
-- Keeps  a change for each mark that is taken from a document: its links and words were left out so far.

INSERT OR IGNORE INTO finds
SELECT b.number, :job
FROM batch b LEFT JOIN documents d ON d.number = b.number
WHERE :job <> '' AND b.found
  AND (b.fresh AND d.number IS NULL OR EXISTS (SELECT 1 FROM finds f WHERE f.number = b.number));

INSERT INTO changes (number, kind) -- of the others there is one in any case
SELECT b.number, 'update' FROM batch b
WHERE :job = '' AND b.same AND EXISTS (SELECT 1 FROM finds f WHERE f.number = b.number);

DELETE FROM finds
WHERE number IN (SELECT number FROM batch WHERE :job = '' AND (same OR fresh) OR fresh AND NOT found);

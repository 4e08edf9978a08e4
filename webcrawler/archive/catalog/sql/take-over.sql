-- The page :new takes the part of :old, which has the same bytes: it is the original of all pages with these.
-- :before  as in apply.sql
-- Keeps    one change for each of the two. The others were duplicates and are.

INSERT INTO changes (number, kind)
SELECT value, 'update' FROM json_each(json_array(:old, :new))
WHERE value NOT IN (SELECT number FROM changes WHERE seq > :before);

UPDATE documents SET duplicate_of = nullif(:new, number)
WHERE digest = (SELECT digest FROM documents WHERE number = :new);

INSERT OR IGNORE INTO duplicates SELECT server, number FROM urls WHERE number = :old;

INSERT OR IGNORE INTO texts
SELECT :new, packed FROM texts WHERE number = :old AND (SELECT NOT noindex FROM documents WHERE number = :new);

-- The verdicts of near.sql, once `near` is filled: which older document each one nearly repeats.

UPDATE documents SET near_duplicate_of = (SELECT older FROM near WHERE near.number = documents.number)
WHERE number IN (SELECT number FROM near);

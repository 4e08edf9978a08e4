-- The URL as it is fetched, where that is not the canonical one: as the first link to it spells it, then as it was fetched.
ALTER TABLE urls ADD COLUMN spelling TEXT;

-- How older documents were fetched stands in their WARC records, which are read once, while this row is there.
INSERT INTO meta SELECT 'unspelled', '1' WHERE EXISTS (SELECT 1 FROM documents);

-- The URL as it is fetched, where that is not the canonical one: as the first link to it spells it, then as it was fetched.
ALTER TABLE urls ADD COLUMN spelling TEXT;

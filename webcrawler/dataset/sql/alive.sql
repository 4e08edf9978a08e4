-- The rows of a table that no newer ones of their page replace, within one home and epoch.
-- Reads   told, newest (url_id, seq)
-- :key    the column with the page's id

SELECT t.* FROM told t SEMI JOIN newest n ON n.url_id = t.:key AND n.seq = t.seq

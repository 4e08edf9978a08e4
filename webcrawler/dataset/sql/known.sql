-- What each home knows of each URL: the newest row. In force is, of all homes', that of the one which fetched it last.
-- Reads   all_urls: the parts of all homes
-- Gives   a row a home and URL, with what jobs need; `current` is true for one row a URL

WITH own AS (
    SELECT url_id, home, epoch, seq, state, findable, fetch_time, server, url_host_name, url_host_registered_domain,
           url_host_name_reversed,
           row_number() OVER (PARTITION BY url_id, home ORDER BY epoch DESC, seq DESC) AS age
    FROM all_urls),
placed AS (
    SELECT o.*, row_number() OVER (PARTITION BY url_id ORDER BY fetch_time DESC NULLS LAST, home) AS place
    FROM own o WHERE age = 1)
SELECT url_id, home, epoch, seq, state, findable, server, url_host_name, url_host_registered_domain,
       url_host_name_reversed, place = 1 AS current
FROM placed

-- What is known of each URL: its newest row, of the home that fetched it last.
-- Reads   all_urls: the parts of all homes
-- Gives   a row a URL

WITH own AS (
    SELECT a.*, row_number() OVER (PARTITION BY url_id, home ORDER BY epoch DESC, seq DESC) AS age FROM all_urls a),
placed AS (
    SELECT o.*, row_number() OVER (PARTITION BY url_id ORDER BY fetch_time DESC NULLS LAST, home) AS place
    FROM own o WHERE age = 1)
SELECT url_id, url, url_surtkey, url_host_name, url_host_tld, url_host_registered_domain, url_host_name_reversed,
       url_protocol, url_port, url_path, url_query, server, state, findable, fetch_time, home, epoch, seq
FROM placed WHERE place = 1

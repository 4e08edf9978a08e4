-- A row a domain. The first six columns are those of Common Crawl's rank files; harmonic centrality is not computed.
-- Reads   known, domain_edges, domain_ranks (url_id, pagerank)
-- Gives   harmonicc_pos, harmonicc_val, pr_pos, pr_val, host_rev, n_hosts, and counts

WITH counted AS (
    SELECT url_host_registered_domain AS domain, count(DISTINCT url_host_name) AS n_hosts, count(*) AS urls,
           min(url_host_name_reversed) AS a_host,
           count(*) FILTER (WHERE state IN ('document', 'duplicate', 'noindex')) AS documents
    FROM known WHERE current AND url_host_registered_domain IS NOT NULL GROUP BY url_host_registered_domain),
into_it AS (SELECT target_id, count(*) AS domains, CAST(sum(links) AS BIGINT) AS links FROM domain_edges GROUP BY target_id),
out_of AS (SELECT source_id, count(*) AS domains FROM domain_edges GROUP BY source_id),
mean AS (SELECT count(*) AS domains FROM domain_ranks)
SELECT CAST(NULL AS BIGINT) AS harmonicc_pos, CAST(NULL AS DOUBLE) AS harmonicc_val,
       CAST(row_number() OVER (ORDER BY round(r.pagerank, 9) DESC NULLS LAST, c.domain) AS BIGINT) AS pr_pos,
       r.pagerank / m.domains AS pr_val, substr(c.a_host, 1, length(c.domain)) AS host_rev, c.n_hosts, c.domain, c.urls,
       c.documents, coalesce(i.domains, 0) AS in_domains, coalesce(o.domains, 0) AS out_domains,
       coalesce(i.links, 0) AS in_links
FROM counted c CROSS JOIN mean m LEFT JOIN into_it i ON i.target_id = c.domain
LEFT JOIN out_of o ON o.source_id = c.domain LEFT JOIN domain_ranks r ON r.url_id = c.domain

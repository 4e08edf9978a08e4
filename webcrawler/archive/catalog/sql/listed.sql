-- The states that there are: those of groups, of the frontier, and the reasons of both (docs/reference/states.md).

VALUES ('broken'), ('blocked'), ('empty'), ('not-fetched'), ('done'), ('failed'), ('quarantined'), ('document'),
       ('duplicate'), ('noindex'), ('discarded'), ('probe'), ('redirect'), ('not-modified'), ('sitemap'),
       ('not-found'), ('server-error'), ('robots-disallowed'), ('robots-unreachable'), ('unreachable'), ('timeout'),
       ('too-large'), ('not-indexable'), ('certificate-expired'), ('certificate-not-yet-valid'),
       ('certificate-wrong-host'), ('certificate-self-signed'), ('certificate-unknown-issuer'),
       ('certificate-invalid'), ('address-refused'), ('unparsable'), ('redirect-loop'), ('ignored'), ('removed'),
       ('scope');

-- What URLs have come to by their newest fetch, since when, and who links to them, by ascending page number.
-- :state     one of them, a state with its reason ("failed/not-found"), or a status such as 404. Groups are
--            broken   a page links there, or a sitemap names it, and who goes there sees an error
--            blocked  forbidden by robots.txt, or its server is blocked
--            empty    a document whose text has no words but its title
-- :links     to each at most, first those of the page that was found first.
-- :visitors  1: only what searches may show, too.
-- Returns    url, as it is fetched; state; reason; status, 0 without an answer; note, the error, or that a PDF may be a scan; since, the first fetch that came to
--            that, or when the document last changed; fetched, last; in_links, pages that link or redirect there; linked_from,
--            JSON: an array of objects {url, anchor, rel ("redirect", "sitemap", …), through (the redirect that it links to, or "")}.
-- Keeps      finds are left out, and what servers were asked for to learn how they say "not found" (`urls.probe`).
-- Cost       reads all URLs, and the newest fetch of each; some 10 s for a million. Some 0.2 ms for each that it returns.

SELECT t.url, t.state, t.reason, t.status, t.note,
       CASE WHEN t.state = 'not-fetched' OR t.is_owners THEN NULL
            WHEN t.is_document THEN t.changed
            ELSE coalesce((
                SELECT min(f.fetched) FROM fetches f WHERE f.number = t.number AND f.fetched > coalesce((
                    SELECT max(o.fetched) FROM fetches o
                    WHERE o.number = t.number
                      AND (o.state <> t.state OR t.state = 'done' AND o.reason <> t.reason)), 0)), t.fetched) END AS since,
       t.fetched,
       coalesce((SELECT doc FROM inlink_counts WHERE term = CAST(t.number AS TEXT)), 0) AS in_links,
       (WITH RECURSIVE alias (number) AS (
            SELECT t.number
            UNION -- ends circles
            SELECT l.source
            FROM alias a CROSS JOIN inlinks i ON i.inlinks MATCH a.number
            CROSS JOIN links l ON l.source = i.rowid AND l.target = a.number
            WHERE l.rel = 'redirect'),
        link (source, anchor, rel, target) AS (
            SELECT l.source, trim(l.anchor), l.rel, a.number
            FROM alias a CROSS JOIN inlinks i ON i.inlinks MATCH a.number
            CROSS JOIN links l ON l.source = i.rowid AND l.target = a.number
            UNION ALL
            SELECT g.sitemap, '', 'sitemap', a.number FROM alias a CROSS JOIN signs g ON g.number = a.number)
        SELECT json_group_array(json_object('url', url, 'anchor', anchor, 'rel', rel, 'through', through))
        FROM (SELECT coalesce(u.spelling, s.name || u.path) AS url, k.anchor, k.rel,
                     CASE WHEN k.target = t.number THEN '' ELSE coalesce(v.spelling, r.name || v.path) END AS through
              FROM link k CROSS JOIN urls u ON u.number = k.source CROSS JOIN servers s ON s.number = u.server
              CROSS JOIN urls v ON v.number = k.target CROSS JOIN servers r ON r.number = v.server
              WHERE k.source <> t.number AND k.source NOT IN (SELECT number FROM finds)
                AND NOT (:visitors AND (u.removed OR s.blocked OR v.removed OR r.blocked OR EXISTS (
                    SELECT 1 FROM documents d WHERE d.number = u.number AND d.noindex)))
              LIMIT :links)) AS linked_from
FROM (SELECT u.number, coalesce(u.spelling, s.name || u.path) AS url, u.removed OR s.blocked AS is_owners,
             CASE WHEN u.removed OR s.blocked THEN 'failed' ELSE coalesce(f.state, 'not-fetched') END AS state,
             CASE WHEN u.removed THEN 'removed' WHEN s.blocked THEN 'blocked'
                  WHEN d.number IS NULL OR f.reason NOT IN ('document', 'duplicate', 'not-modified')
                      THEN coalesce(f.reason, '')
                  WHEN d.duplicate_of IS NOT NULL THEN 'duplicate' WHEN d.noindex THEN 'noindex'
                  ELSE 'document' END AS reason,
             coalesce(f.status, 0) AS status, f.fetched,
             coalesce(nullif(f.error, 'Refused: ' || f.reason),
                      CASE WHEN d.word_count = 0 AND d.content_type GLOB '*/*pdf' AND f.state = 'done'
                                AND f.reason <> 'redirect' AND NOT u.removed AND NOT s.blocked
                           THEN 'no text: it may be a scan' END, '') AS note,
             f.state = 'done' AND d.number IS NOT NULL AND f.reason <> 'redirect' AS is_document,
             coalesce(d.changed, d.fetched) AS changed,
             d.word_count = 0 AND EXISTS (SELECT 1 FROM texts WHERE number = d.number) AS is_empty,
             u.removed OR s.blocked OR coalesce(d.noindex, 0) AS is_hidden
      FROM urls u CROSS JOIN servers s ON s.number = u.server
      LEFT JOIN documents d ON d.number = u.number
      LEFT JOIN fetches f ON f.number = u.number AND f.fetched = (
          SELECT fetched FROM fetches WHERE number = u.number ORDER BY token DESC, fetched DESC LIMIT 1)
      WHERE NOT (length(u.path) = 30 AND u.path GLOB '/*-no-such-page' AND f.state = 'failed')) t
WHERE t.number NOT IN (SELECT number FROM finds) AND NOT (:visitors AND t.is_hidden)
  AND CASE :state
      WHEN 'broken' THEN (t.reason GLOB 'certificate-*' OR t.reason IN (
          'not-found', 'server-error', 'unreachable', 'robots-unreachable', 'timeout', 'redirect-loop'))
          AND (EXISTS (SELECT 1 FROM inlinks i WHERE i.inlinks MATCH t.number
                       AND i.rowid <> t.number AND i.rowid NOT IN (SELECT number FROM finds))
               OR EXISTS (SELECT 1 FROM signs g WHERE g.number = t.number))
      WHEN 'blocked' THEN t.reason IN ('blocked', 'robots-disallowed')
      WHEN 'empty' THEN t.is_document AND t.is_empty
      ELSE :state IN (t.state, t.reason, t.state || '/' || t.reason, CAST(t.status AS TEXT)) END
ORDER BY t.number;

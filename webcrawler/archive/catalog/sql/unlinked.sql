-- Notes the pages whose anchor texts may change though no link to them is new. Run after the new links are inserted.

INSERT INTO unlinked (seq, target)
SELECT (SELECT coalesce(max(seq), 0) + 1 FROM changes), number FROM (
    SELECT d.target AS number FROM dropped d
    WHERE NOT EXISTS (SELECT 1 FROM links l WHERE l.source = d.source AND l.target = d.target)
    UNION SELECT d.duplicate_of FROM batch b JOIN documents d ON d.number = b.number
    WHERE b.fresh AND d.duplicate_of IS NOT NULL
    UNION SELECT number FROM batch WHERE fresh AND NOT found);

DELETE FROM dropped;

-- Note that the anchor texts of all pages in `touched` may have changed, with the newest change.

INSERT INTO unlinked (seq, target) SELECT (SELECT max(seq) FROM changes), number FROM touched;

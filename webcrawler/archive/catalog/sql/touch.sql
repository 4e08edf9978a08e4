-- Add a change where no document in `touched` changed: other pages may still name these pages.

INSERT INTO changes (number, kind) SELECT number, 'links' FROM touched LIMIT 1;

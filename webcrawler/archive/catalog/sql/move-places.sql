-- Put the places of the file :old right that is :new now; `moved` is filled. What is not in it has no place any more.

UPDATE documents SET "offset" = (SELECT new FROM moved WHERE old = documents."offset"),
                     file = CASE WHEN "offset" IN (SELECT old FROM moved) THEN :new END
WHERE file = :old;

UPDATE fetches SET "offset" = (SELECT new FROM moved WHERE old = fetches."offset"),
                   file = CASE WHEN "offset" IN (SELECT old FROM moved) THEN :new END
WHERE file = :old;

-- What a question is expected to find. Of memories there are only the ids, as JSON lists; none at all: nothing is
-- expected. `depth` is how many of the first hits count.
CREATE TABLE expectations (
  namespace text COLLATE "C" NOT NULL,
  id        text COLLATE "C" NOT NULL,
  question  text NOT NULL,
  session   text COLLATE "C",
  finds     text NOT NULL,
  absent    text NOT NULL,
  depth     integer NOT NULL,
  created   bigint NOT NULL,
  PRIMARY KEY (namespace, id)
);

-- Seen by restricted connections as far as their namespaces and subtrees go, as everything else is.
ALTER TABLE expectations ENABLE ROW LEVEL SECURITY;
ALTER TABLE expectations FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON expectations TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY restricted ON expectations USING (
  namespace = ANY ((SELECT coalesce(nullif(current_setting('retentive.namespaces', true), ''), '{}')::text[])::text[])
  OR namespace ^@ ANY ((SELECT coalesce(nullif(current_setting('retentive.subtrees', true), ''), '{}')::text[])::text[])
);
DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'retentive_restricted')
     AND has_schema_privilege('retentive_restricted', current_schema(), 'USAGE') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON expectations TO retentive_restricted;
  END IF;
END $$;

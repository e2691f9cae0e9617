-- Rows that were damaged and taken out of their tables, so that the rest can be used. `row` has all of it as JSON.
CREATE TABLE quarantine (
  namespace  text COLLATE "C" NOT NULL,
  id         text COLLATE "C" NOT NULL,
  source     text NOT NULL,                  -- the table
  row_key    text NOT NULL,                  -- how the row is known there
  reason     text NOT NULL,
  at         bigint NOT NULL,
  row        text NOT NULL,
  PRIMARY KEY (namespace, id)
);

-- Seen by restricted connections as far as their namespaces and subtrees go, as everything else is.
DO $$
BEGIN
  ALTER TABLE quarantine ENABLE ROW LEVEL SECURITY;
  ALTER TABLE quarantine FORCE ROW LEVEL SECURITY;
  CREATE POLICY owner ON quarantine TO CURRENT_USER USING (true) WITH CHECK (true);
  CREATE POLICY restricted ON quarantine USING (
    namespace = ANY ((SELECT coalesce(nullif(current_setting('retentive.namespaces', true), ''), '{}')::text[])::text[])
    OR namespace ^@ ANY ((SELECT coalesce(nullif(current_setting('retentive.subtrees', true), ''), '{}')::text[])::text[])
  );
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'retentive_restricted')
     AND has_schema_privilege('retentive_restricted', current_schema(), 'USAGE') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON quarantine TO retentive_restricted;
  END IF;
END $$;

-- What was purged: when, by whom, why; and nothing of what it said. `id` is that of a memory, or of a message.
-- `gone` is when its bytes were gone, too; NULL while that is still to be seen to.
CREATE TABLE purges (
  namespace text COLLATE "C" NOT NULL,
  id        text COLLATE "C" NOT NULL,
  at        bigint NOT NULL,
  actor     text NOT NULL,
  reason    text,
  gone      bigint,
  PRIMARY KEY (namespace, id, at)
);
CREATE INDEX purges_due ON purges (namespace) WHERE gone IS NULL;

-- Which memories one took the place of.
CREATE INDEX memories_superseded ON memories (namespace, superseded_by) WHERE superseded_by IS NOT NULL;

-- Seen by restricted connections as far as their namespaces go, as everything else is.
ALTER TABLE purges ENABLE ROW LEVEL SECURITY;
ALTER TABLE purges FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON purges TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY restricted ON purges
  USING (namespace = ANY (coalesce(nullif(current_setting('retentive.namespaces', true), ''), '{}')::text[]));
DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'retentive_restricted')
     AND has_schema_privilege('retentive_restricted', current_schema(), 'USAGE') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON purges TO retentive_restricted;
  END IF;
END $$;

-- A newer memory that may replace an older one. The hashes are those of both texts when it was proposed: an open proposal
-- counts only while both memories are active and still say that. A rejected one stays, and keeps the same two texts from
-- being proposed or replaced again.
CREATE TABLE proposals (
  namespace   text COLLATE "C" NOT NULL,
  id          text COLLATE "C" NOT NULL,
  newer       text COLLATE "C" NOT NULL,     -- the id of a memory, as `older`
  older       text COLLATE "C" NOT NULL,
  newer_hash  text COLLATE "C" NOT NULL,
  older_hash  text COLLATE "C" NOT NULL,
  rule        text NOT NULL,
  reason      text NOT NULL,                 -- may quote both texts
  status      text NOT NULL,                 -- open or rejected
  created     bigint NOT NULL,
  decided     bigint,
  PRIMARY KEY (namespace, id)
);

CREATE UNIQUE INDEX proposals_pair ON proposals (namespace, newer, older);
CREATE INDEX proposals_older ON proposals (namespace, older);
CREATE INDEX proposals_texts ON proposals (namespace, newer_hash, older_hash) WHERE status = 'rejected';

-- Seen by restricted connections as far as their namespaces and subtrees go, as everything else is.
DO $$
BEGIN
  ALTER TABLE proposals ENABLE ROW LEVEL SECURITY;
  ALTER TABLE proposals FORCE ROW LEVEL SECURITY;
  CREATE POLICY owner ON proposals TO CURRENT_USER USING (true) WITH CHECK (true);
  CREATE POLICY restricted ON proposals USING (
    namespace = ANY ((SELECT coalesce(nullif(current_setting('retentive.namespaces', true), ''), '{}')::text[])::text[])
    OR namespace ^@ ANY ((SELECT coalesce(nullif(current_setting('retentive.subtrees', true), ''), '{}')::text[])::text[])
  );
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'retentive_restricted')
     AND has_schema_privilege('retentive_restricted', current_schema(), 'USAGE') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON proposals TO retentive_restricted;
  END IF;
END $$;

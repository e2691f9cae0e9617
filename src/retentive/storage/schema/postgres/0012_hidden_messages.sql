-- Messages that a forgotten memory keeps out of answers: those it was learned from, and those that repeat it. The log
-- still has them. A message is hidden as long as it has a row here; `restore` of the memory deletes its rows.
CREATE TABLE hidden_messages (
  namespace  text COLLATE "C" NOT NULL,
  session    text COLLATE "C" NOT NULL,
  sequence   bigint NOT NULL,
  memory     text COLLATE "C" NOT NULL,      -- the id of the memory that was forgotten
  hidden     bigint NOT NULL,                -- when
  PRIMARY KEY (namespace, session, sequence, memory)
);

CREATE INDEX hidden_messages_memory ON hidden_messages (namespace, memory);

-- Which memories came from a session, by their status: a message is outdated if what was learned from it was superseded.
-- The expression is the one of the fragment `origin_json`.
DROP INDEX memories_origin;
CREATE INDEX memories_origin ON memories
  (namespace, (replace(replace(origin, '\\', '\u005c'), '\u0000', '')::json ->> 'session'), status)
  WHERE origin IS NOT NULL;

-- Seen by restricted connections as far as their namespaces and subtrees go, as everything else is.
DO $$
BEGIN
  ALTER TABLE hidden_messages ENABLE ROW LEVEL SECURITY;
  ALTER TABLE hidden_messages FORCE ROW LEVEL SECURITY;
  CREATE POLICY owner ON hidden_messages TO CURRENT_USER USING (true) WITH CHECK (true);
  CREATE POLICY restricted ON hidden_messages USING (
    namespace = ANY ((SELECT coalesce(nullif(current_setting('retentive.namespaces', true), ''), '{}')::text[])::text[])
    OR namespace ^@ ANY ((SELECT coalesce(nullif(current_setting('retentive.subtrees', true), ''), '{}')::text[])::text[])
  );
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'retentive_restricted')
     AND has_schema_privilege('retentive_restricted', current_schema(), 'USAGE') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON hidden_messages TO retentive_restricted;
  END IF;
END $$;

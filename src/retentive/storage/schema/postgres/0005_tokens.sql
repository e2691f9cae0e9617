-- Who may come in over the network. Of a secret there is only the SHA-256. They are looked up before a namespace is
-- known, so none is in their key: a token says which namespace it opens.
CREATE TABLE tokens (
  id        text COLLATE "C" PRIMARY KEY,
  hash      text COLLATE "C" NOT NULL UNIQUE,
  name      text,
  namespace text COLLATE "C" NOT NULL,
  subtree   integer NOT NULL,
  read_only integer NOT NULL,
  created   bigint NOT NULL,
  expires   bigint,
  last_used bigint,
  revoked   bigint
);

-- For the server's own connections alone: whoever is restricted has no right to this table, and no row of it.
ALTER TABLE tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE tokens FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON tokens TO CURRENT_USER USING (true) WITH CHECK (true);

-- A transaction may also name namespaces whose subtrees it sees. Each setting is read once for a statement, not for
-- each row: so is what stands in a SELECT of its own.
DO $$
DECLARE
  held record;
  named text := '(SELECT coalesce(nullif(current_setting(%L, true), ''''), ''{}'')::text[])';
BEGIN
  FOR held IN
    SELECT tablename AS name, CASE tablename WHEN 'namespaces' THEN 'name' ELSE 'namespace' END AS owner
    FROM pg_policies WHERE schemaname = current_schema() AND policyname = 'restricted'
  LOOP
    EXECUTE format('ALTER POLICY restricted ON %I USING (%I = ANY (%s::text[]) OR %I ^@ ANY (%s::text[]))',
      held.name, held.owner, format(named, 'retentive.namespaces'), held.owner, format(named, 'retentive.subtrees'));
  END LOOP;
END $$;

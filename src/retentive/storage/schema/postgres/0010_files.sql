-- Files that were indexed: what the disk said of each when it was read, and what it says of itself. What it says is in its
-- chunks. `mark` is where reading may go on once it has grown.
CREATE TABLE files (
  namespace   text COLLATE "C" NOT NULL,
  id          text COLLATE "C" NOT NULL,
  path        text COLLATE "C" NOT NULL,
  session     text COLLATE "C",
  kind        text NOT NULL,
  hash        text COLLATE "C" NOT NULL,     -- of its bytes
  size        bigint NOT NULL,
  modified    bigint NOT NULL,
  stamp       text COLLATE "C" NOT NULL,     -- empty: it may have changed since without the disk telling
  title       text NOT NULL,
  tags        text,                          -- those that were given
  metadata    text,
  links       text,
  unit        text NOT NULL,
  sections    integer NOT NULL,
  mark        text,
  indexed     bigint NOT NULL,
  version     integer NOT NULL,
  PRIMARY KEY (namespace, id)
);

-- Once in each scope, also when two index the same folder.
CREATE UNIQUE INDEX files_path ON files (namespace, path, coalesce(session, ''));

-- Of a slice of a file: the headings it is under, a line each. Its lines are in first_sequence and last_sequence.
ALTER TABLE chunks ADD COLUMN context text;

-- Seen by restricted connections as far as their namespaces and subtrees go, as everything else is.
DO $$
BEGIN
  ALTER TABLE files ENABLE ROW LEVEL SECURITY;
  ALTER TABLE files FORCE ROW LEVEL SECURITY;
  CREATE POLICY owner ON files TO CURRENT_USER USING (true) WITH CHECK (true);
  CREATE POLICY restricted ON files USING (
    namespace = ANY ((SELECT coalesce(nullif(current_setting('retentive.namespaces', true), ''), '{}')::text[])::text[])
    OR namespace ^@ ANY ((SELECT coalesce(nullif(current_setting('retentive.subtrees', true), ''), '{}')::text[])::text[])
  );
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'retentive_restricted')
     AND has_schema_privilege('retentive_restricted', current_schema(), 'USAGE') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON files TO retentive_restricted;
  END IF;
END $$;

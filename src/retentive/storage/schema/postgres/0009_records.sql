-- What is known in fields: profiles, contacts, projects, skills. `body` is JSON; `key` is the name as it is compared and
-- sorted. What was deleted stays, for its history; what was merged says into what.
CREATE TABLE records (
  namespace   text COLLATE "C" NOT NULL,
  type        text COLLATE "C" NOT NULL,
  id          text COLLATE "C" NOT NULL,
  key         text COLLATE "C" NOT NULL,
  body        text NOT NULL,
  version     integer NOT NULL,
  created     bigint NOT NULL,
  updated     bigint NOT NULL,
  deleted     bigint,
  merged_into text COLLATE "C",
  PRIMARY KEY (namespace, type, id)
);
CREATE INDEX records_key ON records (namespace, type, key, id) WHERE deleted IS NULL;

-- Two people may have one name; projects and skills are known by theirs.
CREATE UNIQUE INDEX records_name ON records (namespace, type, key) WHERE deleted IS NULL AND type IN ('project', 'skill');

-- How a record was after each change, which is the state of that version; NULL: it was deleted.
CREATE TABLE record_history (
  namespace   text COLLATE "C" NOT NULL,
  type        text COLLATE "C" NOT NULL,
  id          text COLLATE "C" NOT NULL,
  version     integer NOT NULL,
  action      text NOT NULL,
  at          bigint NOT NULL,
  actor       text NOT NULL,
  reason      text,
  body        text,
  PRIMARY KEY (namespace, type, id, version)
);

-- Which contacts a record names, so that one that goes is named no more.
CREATE TABLE record_links (
  namespace   text COLLATE "C" NOT NULL,
  target      text COLLATE "C" NOT NULL,
  type        text COLLATE "C" NOT NULL,
  id          text COLLATE "C" NOT NULL,
  PRIMARY KEY (namespace, target, type, id)
);
CREATE INDEX record_links_of ON record_links (namespace, type, id);

-- When skills ran; what came of it is a memory.
CREATE TABLE skill_runs (
  namespace   text COLLATE "C" NOT NULL,
  skill       text COLLATE "C" NOT NULL,
  at          bigint NOT NULL,
  memory      text COLLATE "C" NOT NULL,
  PRIMARY KEY (namespace, skill, at, memory)
);

-- Seen by restricted connections as far as their namespaces and subtrees go, as everything else is.
DO $$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['records', 'record_history', 'record_links', 'skill_runs'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY owner ON %I TO CURRENT_USER USING (true) WITH CHECK (true)', name);
    EXECUTE format($policy$CREATE POLICY restricted ON %I USING (
      namespace = ANY ((SELECT coalesce(nullif(current_setting('retentive.namespaces', true), ''), '{}')::text[])::text[])
      OR namespace ^@ ANY ((SELECT coalesce(nullif(current_setting('retentive.subtrees', true), ''), '{}')::text[])::text[])
    )$policy$, name);
    IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'retentive_restricted')
       AND has_schema_privilege('retentive_restricted', current_schema(), 'USAGE') THEN
      EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO retentive_restricted', name);
    END IF;
  END LOOP;
END $$;

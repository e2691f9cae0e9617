-- Times are microseconds since 1970 (UTC). The namespace is first in every primary and unique key, there is no foreign
-- key and no trigger: so the tables can be partitioned by it, and Citus can shard them by it, as they are. Names sort
-- and compare byte by byte (COLLATE "C"), as SQLite's do. `/* by namespace */` marks the tables that are cut into hash
-- partitions in a store that is made with `partitions`; the last statements say who may see which rows.

CREATE TABLE meta (
  key   text COLLATE "C" PRIMARY KEY,
  value text NOT NULL
);

-- Prefixes (`work/...`) are resolved here to an explicit list.
CREATE TABLE namespaces (
  name    text COLLATE "C" PRIMARY KEY,
  created bigint NOT NULL
);

CREATE TABLE memories (
  namespace     text COLLATE "C" NOT NULL,
  id            text COLLATE "C" NOT NULL,
  session       text COLLATE "C",
  kind          text COLLATE "C" NOT NULL,
  content       text COLLATE "C" NOT NULL,
  context       text COLLATE "C",
  tags          text COLLATE "C",
  slot          text COLLATE "C",
  source        text COLLATE "C" NOT NULL,
  origin        text COLLATE "C",
  confidence    double precision NOT NULL,
  importance    integer NOT NULL,
  status        text COLLATE "C" NOT NULL,
  superseded_by text COLLATE "C",
  content_hash  text COLLATE "C" NOT NULL,
  valid_from    bigint NOT NULL,
  valid_to      bigint,
  created       bigint NOT NULL,
  updated       bigint NOT NULL,
  expires       bigint,
  access_count  bigint NOT NULL DEFAULT 0,
  last_access   bigint,
  metadata      text COLLATE "C",
  version       integer NOT NULL DEFAULT 1,
  PRIMARY KEY (namespace, id)
) /* by namespace */;

-- One active memory per text and one per slot, in each scope, also when two writers race. Notes may say the same.
CREATE UNIQUE INDEX memories_hash ON memories (namespace, content_hash, coalesce(session, ''))
  WHERE status = 'active' AND kind <> 'note';
CREATE UNIQUE INDEX memories_slot ON memories (namespace, slot, coalesce(session, ''))
  WHERE status = 'active' AND slot IS NOT NULL;
CREATE INDEX memories_expires ON memories (expires) WHERE expires IS NOT NULL AND status = 'active';
CREATE INDEX memories_notes ON memories (namespace, created, id) WHERE kind = 'note';
CREATE INDEX memories_vital ON memories (namespace, importance, created) WHERE importance >= 9;
CREATE INDEX memories_created ON memories (namespace, created, id);
CREATE INDEX memories_session ON memories (namespace, session) WHERE session IS NOT NULL;
CREATE INDEX memories_origin ON memories (namespace) WHERE origin IS NOT NULL;

-- How a memory was before each change.
CREATE TABLE memory_history (
  namespace text COLLATE "C" NOT NULL,
  memory    text COLLATE "C" NOT NULL,
  version   integer NOT NULL,
  action    text NOT NULL,
  at        bigint NOT NULL,
  actor     text NOT NULL,
  reason    text,
  before    text NOT NULL,
  PRIMARY KEY (namespace, memory, version)
);

CREATE TABLE sessions (
  namespace text COLLATE "C" NOT NULL,
  id        text COLLATE "C" NOT NULL,
  agent     text,
  tags      text,
  metadata  text,
  created   bigint NOT NULL,
  PRIMARY KEY (namespace, id)
);

-- What changes with every message and every summary. `last_sequence` and `epoch` are what writers compare and swap.
CREATE TABLE session_state (
  namespace     text COLLATE "C" NOT NULL,
  session       text COLLATE "C" NOT NULL,
  last_sequence bigint NOT NULL,
  events        integer NOT NULL,
  active        bigint NOT NULL,            -- the time of the newest event
  summary       text NOT NULL DEFAULT '',
  summary_upto  bigint NOT NULL DEFAULT 0,
  epoch         integer NOT NULL DEFAULT 0,
  PRIMARY KEY (namespace, session)
);
CREATE INDEX session_state_active ON session_state (namespace, active, session);

CREATE TABLE events (
  namespace text COLLATE "C" NOT NULL,
  session   text COLLATE "C" NOT NULL,
  sequence  bigint NOT NULL,
  role      text COLLATE "C" NOT NULL,
  speaker   text,
  content   text COLLATE "C" NOT NULL,
  payload   text,
  time      bigint NOT NULL,
  tokens    integer NOT NULL,               -- an estimate: tells when to look whether a summary is due
  PRIMARY KEY (namespace, session, sequence)
) /* by namespace */;

-- A searchable slice. It repeats what searches filter by, so that both legs need this table alone. Numbers come from
-- one sequence and are never reused, so they are unique over all namespaces.
CREATE SEQUENCE chunk_numbers;
CREATE TABLE chunks (
  namespace      text COLLATE "C" NOT NULL,
  n              bigint NOT NULL DEFAULT nextval('chunk_numbers'),
  owner_type     text COLLATE "C" NOT NULL,
  owner          text COLLATE "C" NOT NULL,
  ordinal        integer NOT NULL,
  text           text,                      -- NULL: all of the owner's content
  session        text COLLATE "C",
  kind           text COLLATE "C" NOT NULL,
  source         text COLLATE "C" NOT NULL,
  tags           text COLLATE "C",
  confidence     double precision NOT NULL,
  importance     integer NOT NULL,
  status         text COLLATE "C" NOT NULL,
  valid_from     bigint NOT NULL,
  expires        bigint,
  first_sequence bigint,
  last_sequence  bigint,
  hash           text COLLATE "C",
  PRIMARY KEY (namespace, n)
) /* by namespace */;
CREATE UNIQUE INDEX chunks_owner ON chunks (namespace, owner, owner_type, ordinal);
CREATE UNIQUE INDEX chunks_session ON chunks (namespace, session, hash) WHERE session IS NOT NULL;
CREATE INDEX chunks_number ON chunks (n); -- for those who go through all of the store, such as backfill

-- The fields of a chunk as the tokenizer broke them up, separated by blanks: what the postings are made from, and what
-- lets one field change without the others being given again.
CREATE TABLE texts (
  namespace text COLLATE "C" NOT NULL,
  chunk     bigint NOT NULL,
  content   text COLLATE "C",
  context   text COLLATE "C",
  tags      text COLLATE "C",
  before    text COLLATE "C",
  after     text COLLATE "C",
  speaker   text COLLATE "C",
  date      text COLLATE "C",
  terms     text[] COLLATE "C" GENERATED ALWAYS AS (string_to_array(rtrim(
              coalesce(content || ' ', '') || coalesce(context || ' ', '') || coalesce(tags || ' ', '')
              || coalesce(before || ' ', '') || coalesce(after || ' ', '') || coalesce(speaker || ' ', '')
              || coalesce(date, '')), ' ')) STORED,
  PRIMARY KEY (namespace, chunk)
) /* by namespace */;

-- Where a term occurs: the sum of the fields' weights over its occurrences, beside the chunk's length in tokens and
-- whether it is active. Searches read nothing but this table's index.
CREATE TABLE postings (
  namespace text COLLATE "C" NOT NULL,
  term      text COLLATE "C" NOT NULL,
  chunk     bigint NOT NULL,
  frequency real NOT NULL,
  length    integer NOT NULL,
  active    boolean NOT NULL,
  PRIMARY KEY (namespace, term, chunk) INCLUDE (frequency, length, active)
) /* by namespace */;

-- How many active chunks a namespace has, and how many tokens they have: the sums over its rows. Writers only append
-- what they changed, so that no row is fought over; now and then many rows are folded into one.
CREATE TABLE statistics (
  namespace text COLLATE "C" NOT NULL,
  n         bigint GENERATED ALWAYS AS IDENTITY,
  rows      bigint NOT NULL,
  tokens    bigint NOT NULL,
  PRIMARY KEY (namespace, n)
);

CREATE TABLE spaces (
  id        integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name      text COLLATE "C" NOT NULL UNIQUE,
  dimension integer NOT NULL
);

-- Of length one. A space whose namespaces grow large gets an HNSW index of its own.
CREATE TABLE vectors (
  namespace text COLLATE "C" NOT NULL,
  space     integer NOT NULL,
  chunk     bigint NOT NULL,
  vector    halfvec NOT NULL,
  PRIMARY KEY (namespace, space, chunk)
) /* by namespace */;
ALTER TABLE vectors ALTER COLUMN vector SET STORAGE PLAIN;

CREATE TABLE access_log (
  namespace text COLLATE "C" NOT NULL,
  n         bigint GENERATED ALWAYS AS IDENTITY,
  memory    text COLLATE "C" NOT NULL,
  at        bigint NOT NULL,
  how       text NOT NULL,
  query     text,
  score     double precision,
  PRIMARY KEY (namespace, n)
);

-- Counters and latency histograms of all processes: bucket b of a latency counts times around 1.1^b microseconds.
CREATE TABLE measures (
  namespace text COLLATE "C" NOT NULL,
  measure   text COLLATE "C" NOT NULL,
  tier      text COLLATE "C" NOT NULL,
  bucket    integer NOT NULL,
  count     bigint NOT NULL,
  PRIMARY KEY (namespace, measure, tier, bucket)
);

-- Who may do a piece of background work, and until when. The namespace '' stands for the whole store.
CREATE TABLE leases (
  namespace text COLLATE "C" NOT NULL,
  name      text COLLATE "C" NOT NULL,
  holder    text NOT NULL,
  expires   bigint NOT NULL,
  PRIMARY KEY (namespace, name)
);

-- One row for each write of the last hours, by a token of the writer's: how it learns whether a commit went through
-- whose answer was lost with the connection.
CREATE TABLE commits (
  token text COLLATE "C" PRIMARY KEY,
  kept  boolean NOT NULL DEFAULT true,       -- false: a claim, which keeps a write that was lost from being kept late
  at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX commits_at ON commits (at);

-- Names the store.
INSERT INTO meta (key, value) VALUES ('store_id', replace(gen_random_uuid()::text, '-', ''));

-- Row-level security. The owner sees all; whoever else is let in sees the namespaces that its transaction names.
DO $$
DECLARE
  held record;
  allowed text := '%I = ANY (coalesce(nullif(current_setting(''retentive.namespaces'', true), ''''), ''{}'')::text[])';
BEGIN
  FOR held IN
    SELECT c.table_name AS name, c.column_name AS owner FROM information_schema.columns c
    WHERE c.table_schema = current_schema()
      AND (c.column_name = 'namespace' OR (c.table_name = 'namespaces' AND c.column_name = 'name'))
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', held.name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', held.name);
    EXECUTE format('CREATE POLICY owner ON %I TO CURRENT_USER USING (true) WITH CHECK (true)', held.name);
    EXECUTE format('CREATE POLICY restricted ON %I USING (' || allowed || ')', held.name, held.owner);
  END LOOP;
END $$;

-- Times are microseconds since 1970 (UTC). The namespace is first in every key.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- Prefixes (`work/...`) are resolved here to an explicit list.
CREATE TABLE namespaces (
  name    TEXT PRIMARY KEY,
  created INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE memories (
  namespace     TEXT    NOT NULL,
  id            TEXT    NOT NULL,
  session       TEXT,
  kind          TEXT    NOT NULL,
  content       TEXT    NOT NULL,
  context       TEXT,
  tags          TEXT,
  slot          TEXT,
  source        TEXT    NOT NULL,
  origin        TEXT,
  confidence    REAL    NOT NULL,
  importance    INTEGER NOT NULL,
  status        TEXT    NOT NULL,
  superseded_by TEXT,
  content_hash  TEXT    NOT NULL,
  valid_from    INTEGER NOT NULL,
  valid_to      INTEGER,
  created       INTEGER NOT NULL,
  updated       INTEGER NOT NULL,
  expires       INTEGER,
  access_count  INTEGER NOT NULL DEFAULT 0,
  last_access   INTEGER,
  metadata      TEXT,
  version       INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (namespace, id)
);

-- One active memory per text and one per slot, in each scope, also when two writers race.
CREATE UNIQUE INDEX memories_hash ON memories (namespace, content_hash, coalesce(session, '')) WHERE status = 'active';
CREATE UNIQUE INDEX memories_slot ON memories (namespace, slot, coalesce(session, ''))
  WHERE status = 'active' AND slot IS NOT NULL;
CREATE INDEX memories_expires ON memories (expires) WHERE expires IS NOT NULL AND status = 'active';

-- How a memory was before each change.
CREATE TABLE memory_history (
  namespace TEXT    NOT NULL,
  memory    TEXT    NOT NULL,
  version   INTEGER NOT NULL,
  action    TEXT    NOT NULL,
  at        INTEGER NOT NULL,
  actor     TEXT    NOT NULL,
  reason    TEXT,
  before    TEXT    NOT NULL,
  PRIMARY KEY (namespace, memory, version)
) WITHOUT ROWID;

-- A searchable slice. It repeats what searches filter by, so that both legs need this table alone.
-- `n` is explicit and never reused: implicit row ids may be renumbered by VACUUM.
CREATE TABLE chunks (
  n          INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace  TEXT    NOT NULL,
  owner_type TEXT    NOT NULL,
  owner      TEXT    NOT NULL,
  ordinal    INTEGER NOT NULL,
  text       TEXT,                    -- NULL: all of the owner's content
  session    TEXT,
  kind       TEXT    NOT NULL,
  source     TEXT    NOT NULL,
  tags       TEXT,
  confidence REAL    NOT NULL,
  importance INTEGER NOT NULL,
  status     TEXT    NOT NULL,
  valid_from INTEGER NOT NULL,
  expires    INTEGER
);
CREATE UNIQUE INDEX chunks_owner ON chunks (namespace, owner, owner_type, ordinal);
CREATE INDEX chunks_status ON chunks (namespace, status); -- and n, which SQLite adds: what an image loads, in its order

CREATE VIRTUAL TABLE chunks_fts USING fts5 (
  content, context, tags, before, after, speaker, date,
  tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
);

-- The index of chunks_fts, term by term: what the image of it in the process is loaded from.
CREATE VIRTUAL TABLE chunks_terms USING fts5vocab (chunks_fts, instance);

CREATE TABLE spaces (
  id        INTEGER PRIMARY KEY,
  name      TEXT    NOT NULL UNIQUE,
  dimension INTEGER NOT NULL
);

-- float16, little-endian, of length one.
CREATE TABLE vectors (
  chunk  INTEGER NOT NULL,
  space  INTEGER NOT NULL,
  vector BLOB    NOT NULL,
  PRIMARY KEY (space, chunk)
) WITHOUT ROWID;

-- What the in-process indexes follow: look again at this chunk.
CREATE TABLE changes (
  seq       INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace TEXT    NOT NULL,
  chunk     INTEGER NOT NULL
);

CREATE TABLE access_log (
  n         INTEGER PRIMARY KEY,
  namespace TEXT    NOT NULL,
  memory    TEXT    NOT NULL,
  at        INTEGER NOT NULL,
  how       TEXT    NOT NULL,
  query     TEXT,
  score     REAL
);
CREATE INDEX access_log_namespace ON access_log (namespace, n);

-- Counters and latency histograms of all processes: bucket b of a latency counts times around 1.1^b microseconds.
CREATE TABLE measures (
  namespace TEXT    NOT NULL,
  measure   TEXT    NOT NULL,
  tier      TEXT    NOT NULL,
  bucket    INTEGER NOT NULL,
  count     INTEGER NOT NULL,
  PRIMARY KEY (namespace, measure, tier, bucket)
) WITHOUT ROWID;

-- Names the store to what is derived from it and kept elsewhere.
INSERT INTO meta (key, value) VALUES ('store_id', lower(hex(randomblob(16))));

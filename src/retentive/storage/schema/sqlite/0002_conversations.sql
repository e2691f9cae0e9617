-- Conversations, and notes with ids of their own.

CREATE TABLE sessions (
  namespace TEXT    NOT NULL,
  id        TEXT    NOT NULL,
  agent     TEXT,
  tags      TEXT,
  metadata  TEXT,
  created   INTEGER NOT NULL,
  PRIMARY KEY (namespace, id)
) WITHOUT ROWID;

-- What changes with every message and every summary. `last_sequence` and `epoch` are what writers compare and swap.
CREATE TABLE session_state (
  namespace     TEXT    NOT NULL,
  session       TEXT    NOT NULL,
  last_sequence INTEGER NOT NULL,
  events        INTEGER NOT NULL,
  active        INTEGER NOT NULL,            -- the time of the newest event
  summary       TEXT    NOT NULL DEFAULT '',
  summary_upto  INTEGER NOT NULL DEFAULT 0,
  epoch         INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (namespace, session)
) WITHOUT ROWID;
CREATE INDEX session_state_active ON session_state (namespace, active, session);

CREATE TABLE events (
  namespace TEXT    NOT NULL,
  session   TEXT    NOT NULL,
  sequence  INTEGER NOT NULL,
  role      TEXT    NOT NULL,
  speaker   TEXT,
  content   TEXT    NOT NULL,
  payload   TEXT,
  time      INTEGER NOT NULL,
  tokens    INTEGER NOT NULL,                -- an estimate: tells when to look whether a summary is due
  PRIMARY KEY (namespace, session, sequence)
);

-- A chunk of an event: the first and the last message that said it. The same words are one chunk of a session.
ALTER TABLE chunks ADD COLUMN first_sequence INTEGER;
ALTER TABLE chunks ADD COLUMN last_sequence INTEGER;
ALTER TABLE chunks ADD COLUMN hash TEXT;
CREATE UNIQUE INDEX chunks_session ON chunks (namespace, session, hash) WHERE session IS NOT NULL;

-- A note is known by its id, not by what it says: two may say the same.
DROP INDEX memories_hash;
CREATE UNIQUE INDEX memories_hash ON memories (namespace, content_hash, coalesce(session, ''))
  WHERE status = 'active' AND kind <> 'note';
CREATE INDEX memories_notes ON memories (namespace, created, id) WHERE kind = 'note';

-- What is in every context.
CREATE INDEX memories_vital ON memories (namespace, importance, created) WHERE importance >= 9;

-- Ids that callers choose do not sort by time.
CREATE INDEX memories_created ON memories (namespace, created, id);

-- What goes with a session, and what was learned from it.
CREATE INDEX memories_session ON memories (namespace, session) WHERE session IS NOT NULL;
CREATE INDEX memories_origin ON memories (namespace, json_extract(origin, '$.session')) WHERE origin IS NOT NULL;

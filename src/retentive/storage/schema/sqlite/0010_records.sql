-- What is known in fields: profiles, contacts, projects, skills. `body` is JSON; `key` is the name as it is compared and
-- sorted. What was deleted stays, for its history; what was merged says into what.
CREATE TABLE records (
  namespace   TEXT    NOT NULL,
  type        TEXT    NOT NULL,
  id          TEXT    NOT NULL,
  key         TEXT    NOT NULL,
  body        TEXT    NOT NULL,
  version     INTEGER NOT NULL,
  created     INTEGER NOT NULL,
  updated     INTEGER NOT NULL,
  deleted     INTEGER,
  merged_into TEXT,
  PRIMARY KEY (namespace, type, id)
) WITHOUT ROWID;
CREATE INDEX records_key ON records (namespace, type, key, id) WHERE deleted IS NULL;

-- Two people may have one name; projects and skills are known by theirs.
CREATE UNIQUE INDEX records_name ON records (namespace, type, key) WHERE deleted IS NULL AND type IN ('project', 'skill');

-- How a record was after each change, which is the state of that version; NULL: it was deleted.
CREATE TABLE record_history (
  namespace TEXT    NOT NULL,
  type      TEXT    NOT NULL,
  id        TEXT    NOT NULL,
  version   INTEGER NOT NULL,
  action    TEXT    NOT NULL,
  at        INTEGER NOT NULL,
  actor     TEXT    NOT NULL,
  reason    TEXT,
  body      TEXT,
  PRIMARY KEY (namespace, type, id, version)
) WITHOUT ROWID;

-- Which contacts a record names, so that one that goes is named no more.
CREATE TABLE record_links (
  namespace TEXT NOT NULL,
  target    TEXT NOT NULL,
  type      TEXT NOT NULL,
  id        TEXT NOT NULL,
  PRIMARY KEY (namespace, target, type, id)
) WITHOUT ROWID;
CREATE INDEX record_links_of ON record_links (namespace, type, id);

-- When skills ran; what came of it is a memory.
CREATE TABLE skill_runs (
  namespace TEXT    NOT NULL,
  skill     TEXT    NOT NULL,
  at        INTEGER NOT NULL,
  memory    TEXT    NOT NULL,
  PRIMARY KEY (namespace, skill, at, memory)
) WITHOUT ROWID;

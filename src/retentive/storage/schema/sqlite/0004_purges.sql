-- What was purged: when, by whom, why; and nothing of what it said. `id` is that of a memory, or of a message.
-- `gone` is when its bytes were gone, too; NULL while that is still to be seen to.
CREATE TABLE purges (
  namespace TEXT    NOT NULL,
  id        TEXT    NOT NULL,
  at        INTEGER NOT NULL,
  actor     TEXT    NOT NULL,
  reason    TEXT,
  gone      INTEGER,
  PRIMARY KEY (namespace, id, at)
) WITHOUT ROWID;
CREATE INDEX purges_due ON purges (namespace) WHERE gone IS NULL;

-- Which memories one took the place of.
CREATE INDEX memories_superseded ON memories (namespace, superseded_by) WHERE superseded_by IS NOT NULL;

-- A newer memory that may replace an older one. The hashes are those of both texts when it was proposed: an open proposal
-- counts only while both memories are active and still say that. A rejected one stays, and keeps the same two texts from
-- being proposed or replaced again.
CREATE TABLE proposals (
  namespace  TEXT    NOT NULL,
  id         TEXT    NOT NULL,
  newer      TEXT    NOT NULL,               -- the id of a memory, as `older`
  older      TEXT    NOT NULL,
  newer_hash TEXT    NOT NULL,
  older_hash TEXT    NOT NULL,
  rule       TEXT    NOT NULL,
  reason     TEXT    NOT NULL,               -- may quote both texts
  status     TEXT    NOT NULL,               -- open or rejected
  created    INTEGER NOT NULL,
  decided    INTEGER,
  PRIMARY KEY (namespace, id)
) WITHOUT ROWID;

CREATE UNIQUE INDEX proposals_pair ON proposals (namespace, newer, older);
CREATE INDEX proposals_older ON proposals (namespace, older);
CREATE INDEX proposals_texts ON proposals (namespace, newer_hash, older_hash) WHERE status = 'rejected';

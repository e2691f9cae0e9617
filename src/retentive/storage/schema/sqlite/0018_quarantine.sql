-- Rows that were damaged and taken out of their tables, so that the rest can be used. `row` has all of it as JSON; what is
-- no text or number there is an object with its bytes as hexadecimal digits. The namespace is empty where it could not be
-- read.
CREATE TABLE quarantine (
  namespace TEXT    NOT NULL,
  id        TEXT    NOT NULL,
  source    TEXT    NOT NULL,                -- the table
  row_key   TEXT    NOT NULL,                -- how the row is known there
  reason    TEXT    NOT NULL,
  at        INTEGER NOT NULL,
  row       TEXT    NOT NULL,
  PRIMARY KEY (namespace, id)
) WITHOUT ROWID;

-- One origin that is no JSON must not keep its row from being deleted.
DROP INDEX memories_origin;
CREATE INDEX memories_origin ON memories
  (namespace, json_extract(CASE WHEN json_valid(origin) THEN origin END, '$.session'), status) WHERE origin IS NOT NULL;

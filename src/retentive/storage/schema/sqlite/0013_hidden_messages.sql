-- Messages that a forgotten memory keeps out of answers: those it was learned from, and those that repeat it. The log
-- still has them. A message is hidden as long as it has a row here; `restore` of the memory deletes its rows.
CREATE TABLE hidden_messages (
  namespace TEXT    NOT NULL,
  session   TEXT    NOT NULL,
  sequence  INTEGER NOT NULL,
  memory    TEXT    NOT NULL,                -- the id of the memory that was forgotten
  hidden    INTEGER NOT NULL,                -- when
  PRIMARY KEY (namespace, session, sequence, memory)
) WITHOUT ROWID;

CREATE INDEX hidden_messages_memory ON hidden_messages (namespace, memory);

-- Which memories came from a session, by their status: a message is outdated if what was learned from it was superseded.
DROP INDEX memories_origin;
CREATE INDEX memories_origin ON memories (namespace, json_extract(origin, '$.session'), status) WHERE origin IS NOT NULL;

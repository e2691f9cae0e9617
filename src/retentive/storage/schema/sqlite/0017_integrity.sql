-- What was written while integrity mode was on: an entry for each row that was written or deleted, in their order. `row`
-- and `mac` are made with a key that is not in this file; `chain` is made of all entries up to this one. `name` tells
-- people which row it is, as long as it is there.
CREATE TABLE integrity_log (
  seq   INTEGER PRIMARY KEY,
  at    INTEGER NOT NULL,
  row   BLOB    NOT NULL,                    -- of the table and the row's key
  mac   BLOB    NOT NULL,                    -- of all that it said; empty: it was deleted
  chain BLOB    NOT NULL,
  name  TEXT                                 -- JSON: the table and the row's key
);
CREATE INDEX integrity_log_row ON integrity_log (row);

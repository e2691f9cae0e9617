-- What a question is expected to find. Of memories there are only the ids, as JSON lists; none at all: nothing is
-- expected. `depth` is how many of the first hits count.
CREATE TABLE expectations (
  namespace TEXT    NOT NULL,
  id        TEXT    NOT NULL,
  question  TEXT    NOT NULL,
  session   TEXT,
  finds     TEXT    NOT NULL,
  absent    TEXT    NOT NULL,
  depth     INTEGER NOT NULL,
  created   INTEGER NOT NULL,
  PRIMARY KEY (namespace, id)
) WITHOUT ROWID;

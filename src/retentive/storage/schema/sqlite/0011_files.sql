-- Files that were indexed: what the disk said of each when it was read, and what it says of itself. What it says is in its
-- chunks. `mark` is where reading may go on once it has grown.
CREATE TABLE files (
  namespace TEXT    NOT NULL,
  id        TEXT    NOT NULL,
  path      TEXT    NOT NULL,
  session   TEXT,
  kind      TEXT    NOT NULL,
  hash      TEXT    NOT NULL,                -- of its bytes
  size      INTEGER NOT NULL,
  modified  INTEGER NOT NULL,
  stamp     TEXT    NOT NULL,                -- empty: it may have changed since without the disk telling
  title     TEXT    NOT NULL,
  tags      TEXT,                            -- those that were given
  metadata  TEXT,
  links     TEXT,
  unit      TEXT    NOT NULL,
  sections  INTEGER NOT NULL,
  mark      TEXT,
  indexed   INTEGER NOT NULL,
  version   INTEGER NOT NULL,
  PRIMARY KEY (namespace, id)
) WITHOUT ROWID;

-- Once in each scope, also when two index the same folder.
CREATE UNIQUE INDEX files_path ON files (namespace, path, coalesce(session, ''));

-- Of a slice of a file: the headings it is under, a line each. Its lines are in first_sequence and last_sequence.
ALTER TABLE chunks ADD COLUMN context TEXT;

-- Who may come in over the network. Of a secret there is only the SHA-256. They are looked up before a namespace is
-- known, so none is in their key: a token says which namespace it opens.
CREATE TABLE tokens (
  id        TEXT    NOT NULL PRIMARY KEY,
  hash      TEXT    NOT NULL UNIQUE,
  name      TEXT,
  namespace TEXT    NOT NULL,
  subtree   INTEGER NOT NULL,
  read_only INTEGER NOT NULL,
  created   INTEGER NOT NULL,
  expires   INTEGER,
  last_used INTEGER,
  revoked   INTEGER
) WITHOUT ROWID;

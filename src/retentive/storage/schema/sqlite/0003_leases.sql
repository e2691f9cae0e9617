-- Who may do a piece of background work, and until when. The namespace '' stands for the whole store.
CREATE TABLE leases (
  namespace TEXT    NOT NULL,
  name      TEXT    NOT NULL,
  holder    TEXT    NOT NULL,
  expires   INTEGER NOT NULL,
  PRIMARY KEY (namespace, name)
) WITHOUT ROWID;

-- The queries that libSQL servers need beside those of SQLite.

-- fragment: new_number
-- `behind` is how many chunks the same statement inserted after it: numbers are given without a gap.
((SELECT max(n) FROM chunks) - :behind)

-- name: bookkeeping_create
-- Which schema files were applied; and which batches of the last day were committed, for clients that lost the answer.
CREATE TABLE IF NOT EXISTS migrations
  (number INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, applied INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS batches (id TEXT PRIMARY KEY, outcome TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS batches_at ON batches (at);

-- name: table_names
SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'
  AND name NOT LIKE 'libsql!_%' ESCAPE '!'

-- name: migration_list
SELECT number, hash FROM migrations

-- name: migration_guard
-- Fails if another client was first.
SELECT json(iif((SELECT count(*) FROM migrations) = :count, '1', 'stale'))

-- name: migration_insert
INSERT INTO migrations (number, name, hash, applied) VALUES (:number, :name, :hash, :now)

-- name: batch_record
-- Record that a batch is committed. By the server's clock: those of clients differ.
DELETE FROM batches WHERE at < unixepoch() - 86400;
INSERT INTO batches (id, outcome, at) VALUES (:id, 'kept', unixepoch());

-- name: batch_cancel
-- The first writer decides: a batch that is still on its way fails when it meets this row.
-- One statement writes and returns the outcome, so that a read-only replica passes it on to the primary.
INSERT INTO batches (id, outcome, at) VALUES (:id, 'never', unixepoch())
ON CONFLICT (id) DO UPDATE SET outcome = batches.outcome RETURNING outcome

-- name: server_facts
SELECT pages.page_count * size.page_size, free.freelist_count * size.page_size,
  CASE WHEN disk.synchronous >= 2 THEN 'full' ELSE 'normal' END, sqlite_version(), (SELECT max(number) FROM migrations)
FROM pragma_page_count pages, pragma_page_size size, pragma_freelist_count free, pragma_synchronous disk

-- name: server_integrity
SELECT integrity_check FROM pragma_integrity_check(5)

-- A restored backup takes the place of a store: its numbers must continue, and revocations and purges must hold.

-- name: chunk_last
-- The last chunk number given, even if that chunk is deleted.
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'chunks'), 0)

-- name: chunk_set_last
-- Make the next chunk number follow this one.
DELETE FROM sqlite_sequence WHERE name = 'chunks';
INSERT INTO sqlite_sequence (name, seq) VALUES ('chunks', :chunk);

-- name: change_log_restart
-- Keep one change, with a number above all that any process has read.
DELETE FROM changes;
INSERT INTO changes (seq, namespace, chunk) VALUES (:head, '', 0);

-- name: lease_clear
DELETE FROM leases

-- name: token_list_revoked
SELECT id, revoked FROM tokens WHERE revoked IS NOT NULL ORDER BY id

-- name: purge_list
SELECT DISTINCT namespace, id FROM purges ORDER BY namespace, id

-- name: item_exists
-- A memory, a record, or a message.
SELECT 1 FROM memories WHERE namespace = :namespace AND id = :id
UNION ALL SELECT 1 FROM records WHERE namespace = :namespace AND id = :id
UNION ALL SELECT 1 FROM events WHERE namespace = :namespace AND session = :session AND sequence = :sequence

-- Of a store that becomes another: what those who follow it must not mistake, and what must not be undone.

-- name: chunk_last
-- The last number given, also if that chunk is gone.
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'chunks'), 0)

-- name: chunk_continue
-- The next number comes after this one.
DELETE FROM sqlite_sequence WHERE name = 'chunks';
INSERT INTO sqlite_sequence (name, seq) VALUES ('chunks', :chunk);

-- name: change_restart
-- One change, after all that anybody has seen.
DELETE FROM changes;
INSERT INTO changes (seq, namespace, chunk) VALUES (:head, '', 0);

-- name: lease_clear
DELETE FROM leases

-- name: token_revoked
SELECT id, revoked FROM tokens WHERE revoked IS NOT NULL ORDER BY id

-- name: purge_list
SELECT DISTINCT namespace, id FROM purges ORDER BY namespace, id

-- name: is_there
-- A memory, a record, or a message.
SELECT 1 FROM memories WHERE namespace = :namespace AND id = :id
UNION ALL SELECT 1 FROM records WHERE namespace = :namespace AND id = :id
UNION ALL SELECT 1 FROM events WHERE namespace = :namespace AND session = :session AND sequence = :sequence

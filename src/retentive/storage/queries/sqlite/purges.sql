-- name: access_delete_of_memory
-- Also its chunks in the change log. They are deleted next, which is a change that the images follow.
DELETE FROM access_log WHERE namespace = :namespace AND memory = :id;
DELETE FROM changes WHERE namespace = :namespace AND chunk IN
  (SELECT n FROM chunks WHERE namespace = :namespace AND owner = :id AND owner_type = 'memory');

-- name: text_optimize
-- Deleted texts stay in the full-text index, marked as deleted, until its segments are merged.
INSERT INTO chunks_fts (chunks_fts) VALUES ('optimize')

-- name: own_name_find
-- Names that the file itself contains. If a purged text has such a word, finding it is no trace of the text.
SELECT name FROM sqlite_schema WHERE name {like} OR sql {like}
UNION ALL SELECT name FROM spaces WHERE name {like}
UNION ALL SELECT name FROM namespaces WHERE name {like}
UNION ALL SELECT measure FROM measures WHERE measure {like} OR tier {like}
UNION ALL SELECT key FROM meta WHERE key {like} OR value {like}
UNION ALL SELECT name FROM leases WHERE name {like} OR holder {like}
UNION ALL SELECT id FROM purges WHERE id {like} OR actor {like} OR reason {like}
LIMIT 1

-- name: session_vectors
SELECT t.hash, v.vector FROM chunks t JOIN vectors v ON v.chunk = t.n
WHERE t.namespace = :namespace AND t.session = :session AND t.owner_type = 'event'
  AND v.space = (SELECT id FROM spaces WHERE name = :space)

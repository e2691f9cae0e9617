-- name: log_delete
-- The numbers of its slices in the log of changes, too. They are deleted next, which is a change that indexes see.
DELETE FROM access_log WHERE namespace = :namespace AND memory = :id;
DELETE FROM changes WHERE namespace = :namespace AND chunk IN
  (SELECT n FROM chunks WHERE namespace = :namespace AND owner = :id AND owner_type = 'memory');

-- name: text_optimize
-- What is deleted from the full text stays in its index, marked as gone, until segments are merged.
INSERT INTO chunks_fts (chunks_fts) VALUES ('optimize')

-- name: named_by_us
-- Names that the file has of itself: a text may have such a word, too, and then it is no remnant.
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

-- fragment: index_row
-- The columns of a chunk that the images hold, without the vector.
t.n, t.owner, t.owner_type, t.session, t.kind, t.source, t.importance, t.confidence, t.tags, t.valid_from, t.expires

-- name: chunk_rows
SELECT {index_row}, v.vector FROM chunks t
LEFT JOIN vectors v ON v.chunk = t.n AND v.space = (SELECT id FROM spaces WHERE name = :space)
WHERE t.namespace = :namespace AND t.status = 'active' AND t.n > :after {is_undamaged} ORDER BY t.n LIMIT :limit

-- name: chunk_rows_of
-- The plus keeps the planner from the index of the namespace: it looks up a few rows by number.
SELECT {index_row}, v.vector FROM chunks t
LEFT JOIN vectors v ON v.chunk = t.n AND v.space = (SELECT id FROM spaces WHERE name = :space)
WHERE t.n IN {each:chunks} AND +t.namespace = :namespace AND t.status = 'active' {is_undamaged} ORDER BY t.n

-- name: chunk_scan
-- Every row of a scope with its vector, for an exact search by the database alone.
SELECT {index_row}, v.vector, t.namespace FROM chunks t
CROSS JOIN vectors v ON v.chunk = t.n AND v.space = (SELECT id FROM spaces WHERE name = :space)
WHERE t.namespace IN {each:namespaces}{filters} {is_undamaged}

-- name: chunk_texts
-- Texts of those chunks that are a part of their owner. A chunk that is its whole owner has no text of its own.
SELECT n, text FROM chunks WHERE n IN {each:chunks} AND text IS NOT NULL

-- name: chunk_newest
SELECT coalesce(max(n), 0) FROM chunks

-- name: chunk_count
SELECT count(*) FROM chunks WHERE namespace = :namespace AND status = 'active'

-- name: chunk_count_of
-- How many chunks these namespaces have, counted up to :most.
SELECT count(*) FROM (SELECT 1 FROM chunks WHERE namespace IN {each:namespaces} LIMIT :most) counted

-- name: chunk_pending
-- scope: store
-- Active chunks without a vector of this space, oldest first.
SELECT t.n, t.namespace, coalesce(t.text, m.content, e.content), coalesce(t.context, m.context) FROM chunks t
LEFT JOIN memories m ON t.owner_type = 'memory' AND m.namespace = t.namespace AND m.id = t.owner
LEFT JOIN events e ON t.owner_type = 'event' AND e.namespace = t.namespace AND e.session = t.session
  AND e.sequence = t.first_sequence
LEFT JOIN vectors v ON v.chunk = t.n AND v.space = (SELECT id FROM spaces WHERE name = :space)
WHERE v.chunk IS NULL AND t.status = 'active' AND t.n > :after ORDER BY t.n LIMIT :limit

-- name: chunk_pending_of
-- Active chunks of some namespaces without a vector of this space, oldest first.
SELECT t.n, t.namespace, coalesce(t.text, m.content, e.content), coalesce(t.context, m.context) FROM chunks t
LEFT JOIN memories m ON t.owner_type = 'memory' AND m.namespace = t.namespace AND m.id = t.owner
LEFT JOIN events e ON t.owner_type = 'event' AND e.namespace = t.namespace AND e.session = t.session
  AND e.sequence = t.first_sequence
LEFT JOIN vectors v ON v.chunk = t.n AND v.space = (SELECT id FROM spaces WHERE name = :space)
WHERE t.namespace IN {each:namespaces} AND v.chunk IS NULL AND t.status = 'active' AND t.n > :after
ORDER BY t.n LIMIT :limit

-- name: chunk_pending_count
-- scope: store
-- Active chunks without a vector of this space; if no space is given, without any vector.
SELECT count(*) FROM chunks t WHERE t.status = 'active' AND NOT EXISTS
  (SELECT 1 FROM vectors v WHERE v.chunk = t.n AND v.space IN
    (SELECT id FROM spaces WHERE :space IS NULL OR name = :space))

-- name: chunk_pending_count_of
SELECT count(*) FROM chunks t WHERE t.namespace IN {each:namespaces} AND t.status = 'active' AND NOT EXISTS
  (SELECT 1 FROM vectors v WHERE v.chunk = t.n AND v.space IN
    (SELECT id FROM spaces WHERE :space IS NULL OR name = :space))

-- name: space_list
SELECT name, dimension FROM spaces ORDER BY name

-- name: space_counts
-- scope: store
SELECT s.name, s.dimension, (SELECT count(*) FROM vectors v WHERE v.space = s.id) FROM spaces s ORDER BY s.name

-- name: space_counts_of
SELECT s.name, s.dimension, (SELECT count(*) FROM vectors v JOIN chunks t ON t.n = v.chunk
                             WHERE v.space = s.id AND t.namespace IN {each:namespaces})
FROM spaces s ORDER BY s.name

-- name: change_head
SELECT coalesce(max(seq), 0) FROM changes

-- name: change_floor
SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'changes_floor'), 0)

-- name: change_list
-- The first row has the floor of the log, the others the chunks that changed.
SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'changes_floor'), 0), NULL AS chunk
UNION ALL
SELECT DISTINCT 0, chunk FROM changes WHERE seq > :after AND seq <= :upto AND namespace = :namespace
ORDER BY chunk NULLS FIRST

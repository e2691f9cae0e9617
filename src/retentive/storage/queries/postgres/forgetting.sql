-- fragment: like
ILIKE :pattern ESCAPE '\'

-- name: session_vectors
SELECT t.hash, v.vector::real[] FROM chunks t JOIN vectors v ON v.namespace = t.namespace AND v.chunk = t.n
WHERE t.namespace = :namespace AND t.session = :session AND t.owner_type = 'event'
  AND v.space = (SELECT id FROM spaces WHERE name = :space)

-- name: copy_purges
SELECT namespace, id, at, actor, reason, gone FROM purges
WHERE (namespace, id, at) > (:k1, :k2, :k3) ORDER BY namespace, id, at LIMIT :limit

-- name: put_purges
INSERT INTO purges (namespace, id, at, actor, reason, gone) VALUES (:namespace, :id, :at, :actor, :reason, :gone)

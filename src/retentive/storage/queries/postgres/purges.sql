-- fragment: like
ILIKE :pattern ESCAPE '\'

-- name: session_vectors
SELECT t.hash, {stored_vector} FROM chunks t JOIN vectors v ON v.namespace = :namespace AND v.chunk = t.n
WHERE t.namespace = :namespace AND t.session = :session AND t.owner_type = 'event'
  AND v.space = (SELECT id FROM spaces WHERE name = :space)

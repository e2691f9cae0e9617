-- fragment: without_vector
FROM chunks t
LEFT JOIN vectors v ON v.namespace = t.namespace AND v.chunk = t.n AND v.space = (SELECT id FROM spaces WHERE name = :space)
LEFT JOIN memories m ON t.owner_type = 'memory' AND m.namespace = t.namespace AND m.id = t.owner
LEFT JOIN events e ON t.owner_type = 'event' AND e.namespace = t.namespace AND e.session = t.session
  AND e.sequence = t.first_sequence
WHERE v.chunk IS NULL AND (t.status = 'active' OR EXISTS
    (SELECT 1 FROM vectors o WHERE o.namespace = t.namespace AND o.chunk = t.n
     AND o.space = (SELECT id FROM spaces WHERE name = :old)))
  AND coalesce(t.text, m.content, e.content) IS NOT NULL

-- name: vector_drop
-- timeout: none
-- All at once: no writer waits for it.
DELETE FROM vectors WHERE space = (SELECT id FROM spaces WHERE name = :space AND state = 'dropped')

-- fragment: without_vector
-- Damaged texts are left out, since they cannot be embedded. The check of the store reports them.
FROM chunks t LEFT JOIN vectors v ON v.chunk = t.n AND v.space = (SELECT id FROM spaces WHERE name = :space)
LEFT JOIN memories m ON t.owner_type = 'memory' AND m.namespace = t.namespace AND m.id = t.owner
LEFT JOIN events e ON t.owner_type = 'event' AND e.namespace = t.namespace AND e.session = t.session
  AND e.sequence = t.first_sequence
WHERE v.chunk IS NULL AND (t.status = 'active' OR EXISTS
    (SELECT 1 FROM vectors o WHERE o.chunk = t.n AND o.space = (SELECT id FROM spaces WHERE name = :old)))
  AND typeof(coalesce(t.text, m.content, e.content)) = 'text' AND typeof(t.namespace) = 'text'
  AND typeof(coalesce(t.context, m.context)) IN ('text', 'null')

-- name: vector_drop
-- Delete some vectors of a dropped space. Writers wait for each commit, so it is done in pieces.
DELETE FROM vectors WHERE space = (SELECT id FROM spaces WHERE name = :space AND state = 'dropped') AND chunk IN
  (SELECT chunk FROM vectors WHERE space = (SELECT id FROM spaces WHERE name = :space) ORDER BY chunk LIMIT :limit)

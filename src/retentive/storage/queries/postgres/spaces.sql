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
-- scope: store
-- timeout: none
-- All at once: no writer waits for it.
DELETE FROM vectors WHERE space = (SELECT id FROM spaces WHERE name = :space AND state = 'dropped')

-- name: space_release
-- scope: store
-- What is read of other tables is read first: a cluster writes a table of which every machine has a copy by itself.
WITH used AS MATERIALIZED (SELECT v.chunk FROM vectors v JOIN spaces s ON s.id = v.space WHERE s.name = :space LIMIT 1)
UPDATE spaces SET state = 'kept', changed = :now
WHERE name = :space AND state = 'active' AND NOT EXISTS (SELECT 1 FROM used)

-- name: space_activate
-- scope: store
-- timeout: none
WITH lacking AS MATERIALIZED (SELECT t.n {without_vector} LIMIT 1)
UPDATE spaces SET state = 'active', changed = :now
WHERE name = :space AND state IN ('building', 'switching') AND NOT EXISTS (SELECT 1 FROM lacking)

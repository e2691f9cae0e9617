-- fragment: session_of_origin
-- As the index has it.
json_extract(CASE WHEN json_valid(t.origin) THEN t.origin END, '$.session')

-- name: outdated_list
-- Without the hints SQLite goes through all proposals and all memories of the namespace.
SELECT 0, p.namespace, p.older, NULL, NULL, NULL FROM proposals p INDEXED BY proposals_older
WHERE p.namespace IN {each:namespaces} AND p.older IN {each:ids} AND p.status = 'open'
UNION ALL
SELECT 1, t.namespace, t.id, t.superseded_by, t.valid_to, t.origin FROM memories t INDEXED BY memories_origin
WHERE t.namespace IN {each:namespaces} AND {session_of_origin} IN {each:sessions} AND t.status = 'superseded'
  AND t.origin IS NOT NULL

-- name: message_containing
-- The plus keeps the planner from the index of the namespace: it looks up a few chunks by number.
SELECT DISTINCT {event} FROM chunks t
CROSS JOIN events e ON e.namespace = t.namespace AND e.session = t.session
  AND e.sequence >= t.first_sequence AND e.sequence <= t.last_sequence
WHERE t.n IN {each:chunks} AND +t.namespace = :namespace AND t.owner_type = 'event'
  AND (e.sequence = t.first_sequence OR e.content {like})

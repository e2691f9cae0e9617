-- Messages that forgotten memories keep out of answers, and messages whose fact was superseded.

-- fragment: is_hidden
-- Whether the event `e` is hidden.
EXISTS (SELECT 1 FROM hidden_messages h
        WHERE h.namespace = e.namespace AND h.session = e.session AND h.sequence = e.sequence)

-- name: message_hide
-- Hide a message, if it exists.
INSERT INTO hidden_messages (namespace, session, sequence, memory, hidden)
SELECT e.namespace, e.session, e.sequence, CAST(:memory AS TEXT), CAST(:now AS BIGINT) FROM events e
WHERE e.namespace = :namespace AND e.session = :session AND e.sequence = :sequence
ON CONFLICT DO NOTHING

-- name: message_show
-- Show the messages that a memory hid, when it is restored.
DELETE FROM hidden_messages WHERE namespace = :namespace AND memory = :memory

-- name: message_unhide
-- Drop the marks of a message that was purged.
DELETE FROM hidden_messages WHERE namespace = :namespace AND session = :session AND sequence = :sequence

-- name: message_containing
-- The messages of these chunks, hidden or not. A repeated chunk covers a range of messages: the first of them, and
-- those that contain the pattern.
SELECT DISTINCT {event} FROM chunks t
JOIN events e ON e.namespace = :namespace AND e.session = t.session
  AND e.sequence >= t.first_sequence AND e.sequence <= t.last_sequence
WHERE t.n IN {each:chunks} AND t.namespace = :namespace AND t.owner_type = 'event'
  AND (e.sequence = t.first_sequence OR e.content {like})

-- name: outdated_list
-- Those of these memories that are the older one of an open proposal (0); and the superseded memories that were
-- learned from these sessions (1).
SELECT 0, p.namespace, p.older, NULL, NULL, NULL FROM proposals p
WHERE p.namespace IN {each:namespaces} AND p.older IN {each:ids} AND p.status = 'open'
UNION ALL
SELECT 1, t.namespace, t.id, t.superseded_by, t.valid_to, t.origin FROM memories t
WHERE t.namespace IN {each:namespaces} AND {session_of_origin} IN {each:sessions} AND t.status = 'superseded'
  AND t.origin IS NOT NULL

-- name: memory_learned_from
-- The active memories that were learned from these sessions.
SELECT t.namespace, t.id, t.origin FROM memories t
WHERE t.namespace IN {each:namespaces} AND {session_of_origin} IN {each:sessions} AND t.status = 'active'
  AND t.origin IS NOT NULL AND (t.expires IS NULL OR t.expires > :now)

-- Messages that forgotten memories keep out of answers, and messages whose fact was superseded.

-- fragment: is_hidden
-- The event `e`.
EXISTS (SELECT 1 FROM hidden_messages h
        WHERE h.namespace = e.namespace AND h.session = e.session AND h.sequence = e.sequence)

-- name: message_hide
-- Only a message that is there.
INSERT INTO hidden_messages (namespace, session, sequence, memory, hidden)
SELECT e.namespace, e.session, e.sequence, :memory, :now FROM events e
WHERE e.namespace = :namespace AND e.session = :session AND e.sequence = :sequence
ON CONFLICT DO NOTHING

-- name: message_show
-- What a memory hid that is no longer forgotten.
DELETE FROM hidden_messages WHERE namespace = :namespace AND memory = :memory

-- name: message_unhide
-- A message that says nothing any more: it was purged.
DELETE FROM hidden_messages WHERE namespace = :namespace AND session = :session AND sequence = :sequence

-- name: message_saying
-- The messages of these chunks, hidden or not. Between the first and the last time that a slice was said, those that
-- have the words.
SELECT DISTINCT {event} FROM chunks t
JOIN events e ON e.namespace = t.namespace AND e.session = t.session
  AND e.sequence >= t.first_sequence AND e.sequence <= t.last_sequence
WHERE t.n IN {each:chunks} AND t.namespace = :namespace AND t.owner_type = 'event'
  AND (e.sequence = t.first_sequence OR e.content {like})

-- name: outdated_of
-- Which of these memories are the older one of an open proposal, live or not; and what was learned from these sessions
-- and superseded.
SELECT 0, p.namespace, p.older, NULL, NULL, NULL FROM proposals p
WHERE p.namespace IN {each:namespaces} AND p.older IN {each:ids} AND p.status = 'open'
UNION ALL
SELECT 1, t.namespace, t.id, t.superseded_by, t.valid_to, t.origin FROM memories t
WHERE t.namespace IN {each:namespaces} AND {session_of_origin} IN {each:sessions} AND t.status = 'superseded'
  AND t.origin IS NOT NULL

-- name: memory_learned_from
-- What was learned from these sessions and holds.
SELECT t.namespace, t.id, t.origin FROM memories t
WHERE t.namespace IN {each:namespaces} AND {session_of_origin} IN {each:sessions} AND t.status = 'active'
  AND t.origin IS NOT NULL AND (t.expires IS NULL OR t.expires > :now)

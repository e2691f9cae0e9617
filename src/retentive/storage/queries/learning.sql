-- name: learning_get
SELECT t.learned_upto, t.claims, t.claims_left, t.last_sequence, s.created, s.person
FROM session_state t JOIN sessions s ON s.namespace = :namespace AND s.id = t.session
WHERE t.namespace = :namespace AND t.session = :session

-- fragment: same_session
-- Another creation time means that the session was deleted and created again.
:created = (SELECT s.created FROM sessions s WHERE s.namespace = :namespace AND s.id = :session)

-- name: learning_begin
-- A guard: only if learning is where it was read, no earlier claim is left, and none of the messages read was purged.
UPDATE session_state SET learned_upto = :upto, claims = :claims, claims_left = :left
WHERE namespace = :namespace AND session = :session AND learned_upto = :expected AND claims_left = 0 AND {same_session}
  AND :purged = (SELECT count(*) FROM events e WHERE e.namespace = :namespace AND e.session = :session
    AND e.sequence >= :first AND e.sequence <= :upto AND e.content = :mark)

-- name: learning_finish_claim
-- A guard: a concurrent learner that kept this claim first has moved `claims_left`.
UPDATE session_state SET claims = CASE WHEN claims_left = 1 THEN '' ELSE claims END, claims_left = claims_left - 1
WHERE namespace = :namespace AND session = :session AND learned_upto = :upto AND claims_left = :left AND {same_session}

-- name: learning_replace_claims
-- Replace the claims that are left, by the same guard.
UPDATE session_state SET claims = :claims, claims_left = :now_left
WHERE namespace = :namespace AND session = :session AND learned_upto = :upto AND claims_left = :left AND {same_session}

-- name: learning_due
-- Sessions with messages to read or claims to keep, silent since a moment; the longest silent first.
SELECT session FROM session_state
WHERE namespace = :namespace AND active <= :before AND (learned_upto < last_sequence OR claims_left > 0)
ORDER BY active, session LIMIT :limit

-- name: learning_waiting
-- scope: store
-- Such sessions in all namespaces.
SELECT namespace, session FROM session_state
WHERE active <= :before AND (learned_upto < last_sequence OR claims_left > 0)
ORDER BY active, namespace, session LIMIT :limit

-- name: event_request_counts
-- How many requests of each message were carried out.
SELECT sequence, heeded FROM events
WHERE namespace = :namespace AND session = :session AND sequence > :after AND sequence <= :upto AND heeded > 0

-- name: event_count_request
-- A guard: each request is carried out once.
UPDATE events SET heeded = :done + 1
WHERE namespace = :namespace AND session = :session AND sequence = :sequence AND heeded = :done

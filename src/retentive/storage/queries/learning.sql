-- name: learning_get
SELECT learned_upto, claims, claims_left, last_sequence FROM session_state
WHERE namespace = :namespace AND session = :session

-- name: learning_begin
-- A guard: only from where it was read, and when all that was found before is kept.
UPDATE session_state SET learned_upto = :upto, claims = :claims, claims_left = :left
WHERE namespace = :namespace AND session = :session AND learned_upto = :expected AND claims_left = 0

-- name: learning_done
-- A guard: whoever else kept this claim first has moved `claims_left`.
UPDATE session_state SET claims = CASE WHEN claims_left = 1 THEN '' ELSE claims END, claims_left = claims_left - 1
WHERE namespace = :namespace AND session = :session AND learned_upto = :upto AND claims_left = :left

-- name: learning_put
-- Other claims in place of those that are left, by the same guard.
UPDATE session_state SET claims = :claims, claims_left = :now_left
WHERE namespace = :namespace AND session = :session AND learned_upto = :upto AND claims_left = :left

-- name: learning_due
-- Sessions in which there is something to read or to keep, silent since a moment; the longest silent first.
SELECT session FROM session_state
WHERE namespace = :namespace AND active <= :before AND (learned_upto < last_sequence OR claims_left > 0)
ORDER BY active, session LIMIT :limit

-- name: event_heeded
-- The messages whose requests were done, and how many of each.
SELECT sequence, heeded FROM events
WHERE namespace = :namespace AND session = :session AND sequence > :after AND sequence <= :upto AND heeded > 0

-- name: event_heed
-- A guard: a request is done once.
UPDATE events SET heeded = :done + 1
WHERE namespace = :namespace AND session = :session AND sequence = :sequence AND heeded = :done

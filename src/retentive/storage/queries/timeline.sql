-- What happened on each day. A day is a number: microseconds since 1970 divided by those of a day, in UTC.

-- name: timeline_made
-- Memories by the day on which they were made.
SELECT t.created / :day, count(*) FROM memories t
WHERE t.namespace = :namespace AND t.created >= :begin{filters} GROUP BY 1

-- name: timeline_ended
-- Replaced and forgotten memories by day. Only memories that changed since then can have such a change.
SELECT h.at / :day, h.action, count(*)
FROM memories t JOIN memory_history h ON h.namespace = t.namespace AND h.memory = t.id
WHERE t.namespace = :namespace AND h.namespace = :namespace AND t.updated >= :begin AND h.at >= :begin
  AND h.action IN ('superseded', 'forgotten'){filters} GROUP BY 1, 2

-- name: timeline_said
-- Sessions and messages by day. Only sessions that were active since then can have such messages.
SELECT e.time / :day, count(DISTINCT e.session), count(*)
FROM session_state s JOIN events e ON e.namespace = s.namespace AND e.session = s.session
WHERE s.namespace = :namespace AND e.namespace = :namespace AND s.active >= :begin AND e.time >= :begin
  AND s.session = coalesce(:session, s.session) GROUP BY 1

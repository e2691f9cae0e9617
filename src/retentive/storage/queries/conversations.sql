-- fragment: session
t.id, t.namespace, t.agent, t.tags, t.metadata, t.created, s.active, s.events, s.last_sequence, t.person

-- fragment: event
e.namespace, e.session, e.sequence, e.role, e.speaker, e.content, e.payload, e.time, e.tags, {is_hidden} AS is_hidden

-- name: session_get
SELECT {session} FROM sessions t JOIN session_state s ON s.namespace = :namespace AND s.session = t.id
WHERE t.namespace = :namespace AND t.id = :session

-- name: session_list
-- The most recently active first.
SELECT {session} FROM session_state s JOIN sessions t ON t.namespace = :namespace AND t.id = s.session
WHERE s.namespace = :namespace{filters} ORDER BY s.active DESC, s.session DESC LIMIT :limit

-- fragment: before_session
-- Paging: the rows after this one in the order of the list.
 AND (s.active, s.session) <
     (SELECT active, session FROM session_state WHERE namespace = :namespace AND session = :before)

-- name: session_counts
SELECT count(*), coalesce(sum(events), 0) FROM session_state WHERE namespace = :namespace

-- name: session_names
-- scope: store
-- Every session of the store.
SELECT namespace, session FROM session_state ORDER BY namespace, session

-- name: session_insert
INSERT INTO sessions (namespace, id, agent, tags, metadata, created, person)
VALUES (:namespace, :session, :agent, :tags, :metadata, :now, :person)

-- name: session_set_person
-- The person of a session is set once: later writers do not change it.
UPDATE sessions SET person = :person WHERE namespace = :namespace AND id = :session AND person IS NULL

-- name: session_set_shared
-- An empty person means that several take part. That is never undone.
UPDATE sessions SET person = '' WHERE namespace = :namespace AND id = :session

-- name: session_update
-- A guard: changes nothing if the session was changed since it was read.
UPDATE sessions SET agent = :agent, tags = :tags, metadata = :metadata
WHERE namespace = :namespace AND id = :session AND coalesce(agent, '') = coalesce(:old_agent, '')
  AND coalesce(tags, '') = coalesce(:old_tags, '') AND coalesce(metadata, '') = coalesce(:old_metadata, '')

-- name: state_insert
INSERT INTO session_state (namespace, session, last_sequence, events, active)
VALUES (:namespace, :session, :last, :count, :active)

-- name: state_advance
-- A guard: a concurrent writer that appended has moved `last_sequence`.
UPDATE session_state SET last_sequence = :last, events = events + :count,
  active = CASE WHEN events > 0 AND active > :active THEN active ELSE :active END
WHERE namespace = :namespace AND session = :session AND last_sequence = :expected

-- name: session_unchanged
-- Changes nothing: a guard for steps that were decided on this state.
UPDATE session_state SET events = events
WHERE namespace = :namespace AND session = :session AND last_sequence = :expected

-- name: summary_get
SELECT session, summary, summary_upto, epoch FROM session_state WHERE namespace = :namespace AND session = :session

-- name: summary_due
-- The summary, how many messages it does not cover yet, and about how many tokens they are.
SELECT s.session, s.summary, s.summary_upto, s.epoch, count(e.sequence), coalesce(sum(e.tokens), 0) FROM session_state s
LEFT JOIN events e ON e.namespace = :namespace AND e.session = s.session AND e.sequence > s.summary_upto
WHERE s.namespace = :namespace AND s.session = :session
GROUP BY s.session, s.summary, s.summary_upto, s.epoch

-- name: summary_replace
-- A guard. Another epoch: a concurrent writer summarised first. Another creation time: the session was deleted and
-- created again.
UPDATE session_state SET summary = :text, summary_upto = :upto, epoch = epoch + 1
WHERE namespace = :namespace AND session = :session AND epoch = :epoch
  AND summary_upto <= :upto AND :upto <= last_sequence
  AND coalesce(CAST(:created AS BIGINT), (SELECT s.created FROM sessions s WHERE s.namespace = :namespace AND s.id = :session)) =
      (SELECT s.created FROM sessions s WHERE s.namespace = :namespace AND s.id = :session)

-- name: summary_count_pending
-- How many messages no summary covers yet.
SELECT count(*) FROM events e
WHERE e.namespace = :namespace AND e.session = :session AND e.sequence > :upto AND e.sequence < :before

-- name: event_first_after
-- The first message after a moment.
SELECT min(e.sequence) FROM events e WHERE e.namespace = :namespace AND e.session = :session AND e.time > :moment

-- name: event_insert
INSERT INTO events (namespace, session, sequence, role, speaker, content, payload, time, tokens, tags)
VALUES (:namespace, :session, :sequence, :role, :speaker, :content, :payload, :time, :tokens, :tags)

-- name: event_newest
SELECT {event} FROM events e WHERE e.namespace = :namespace AND e.session = :session
  AND e.sequence > :after AND e.sequence < :before ORDER BY e.sequence DESC LIMIT :limit

-- name: event_oldest
SELECT {event} FROM events e WHERE e.namespace = :namespace AND e.session = :session
  AND e.sequence > :after AND e.sequence < :before ORDER BY e.sequence LIMIT :limit

-- fragment: next_event
-- The message `e` that follows the message p.sequence of the session p.session.
e.namespace = p.namespace AND e.session = p.session AND e.sequence = (
  SELECT min(x.sequence) FROM events x
  WHERE x.namespace = p.namespace AND x.session = p.session AND x.sequence > p.sequence)

-- fragment: event_of_chunk
-- The first message with the text of the chunk. If that one is hidden, the last: it may be newer than the forgetting.
FROM chunks t {join_event}

-- fragment: join_event
JOIN events e ON e.namespace = t.namespace AND e.session = t.session AND e.sequence =
  CASE WHEN t.first_sequence < t.last_sequence AND EXISTS (
    SELECT 1 FROM hidden_messages f
    WHERE f.namespace = t.namespace AND f.session = t.session AND f.sequence = t.first_sequence)
  THEN t.last_sequence ELSE t.first_sequence END

-- name: event_hits
-- The events of hits that are still in the scope, each with its chunk's text and sequences.
SELECT t.n, t.text, t.first_sequence, t.last_sequence, {event} {event_of_chunk}
WHERE t.n IN {each:chunks} AND +t.namespace IN {each:namespaces} AND NOT {is_hidden}{filters}

-- name: event_speakers
-- The speakers of a namespace, by one step in the index for each; and NULL if there is any conversation.
WITH RECURSIVE heard (speaker, place) AS (
  SELECT min(e.speaker), 1 FROM events e WHERE e.namespace = :namespace AND e.speaker IS NOT NULL
  UNION ALL
  SELECT (SELECT min(e.speaker) FROM events e
          WHERE e.namespace = :namespace AND e.speaker IS NOT NULL AND e.speaker > h.speaker), h.place + 1
  FROM heard h WHERE h.speaker IS NOT NULL AND h.place < :most
)
SELECT h.speaker FROM heard h WHERE h.speaker IS NOT NULL
UNION ALL SELECT NULL WHERE EXISTS (SELECT 1 FROM session_state s WHERE s.namespace = :namespace)

-- name: chunk_known
-- The hashes that chunks of the session have already.
SELECT t.hash FROM chunks t WHERE t.namespace = :namespace AND t.session = :session AND t.hash IN {each:hashes}

-- name: session_sizes
-- How many rows of each kind a session has: the result of deleting it.
SELECT (SELECT count(*) FROM events WHERE namespace = :namespace AND session = :session),
       (SELECT count(*) FROM memories WHERE namespace = :namespace AND session = :session),
       (SELECT count(*) FROM chunks WHERE namespace = :namespace AND session = :session),
       (SELECT count(*) FROM session_state WHERE namespace = :namespace AND session = :session)

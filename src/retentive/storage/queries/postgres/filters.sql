-- Queries that PostgreSQL words differently than the common files.

-- fragment: visible
 AND t.owner_type IN {each:types}
 AND CASE t.owner_type WHEN 'event'
     THEN :events_of_session::text IS NULL OR (t.session = :events_of_session AND t.namespace = :own)
     ELSE t.session IS NULL OR (t.session = :session AND t.namespace = :own) END

-- fragment: tags
 AND coalesce(t.tags, '[]')::jsonb ?& :tags

-- name: memory_containing
SELECT {memory} FROM memories t
WHERE t.namespace IN {each:namespaces}
  AND (t.content ILIKE :pattern ESCAPE '\' OR t.context ILIKE :pattern ESCAPE '\'){filters}
ORDER BY t.confidence DESC, t.last_access DESC NULLS LAST, t.created DESC, t.id DESC LIMIT :limit

-- name: event_containing
SELECT t.n, t.text, t.first_sequence, t.last_sequence, {event} {event_of_chunk}
WHERE t.namespace IN {each:namespaces} AND e.namespace IN {each:namespaces} AND t.session IS NOT NULL
  AND coalesce(t.text, e.content) ILIKE :pattern ESCAPE '\' AND NOT {is_hidden}{filters}
ORDER BY e.time DESC, t.n DESC LIMIT :limit

-- name: event_hits
SELECT t.n, t.text, t.first_sequence, t.last_sequence, {event} {event_of_chunk}
WHERE t.n IN {each:chunks} AND t.namespace IN {each:namespaces} AND e.namespace IN {each:namespaces}
  AND NOT {is_hidden}{filters}

-- fragment: next_event
-- Looked for among the next few numbers: messages are numbered without gaps, unless a damaged one was taken out.
e.namespace = p.namespace AND e.session = p.session AND e.sequence > p.sequence AND e.sequence <= p.sequence + 16
  AND e.sequence = (SELECT min(x.sequence) FROM events x
    WHERE x.namespace = e.namespace AND x.session = e.session AND x.sequence > p.sequence)

-- name: event_speakers
WITH RECURSIVE heard (speaker, place) AS (
  SELECT min(e.speaker), 1 FROM events e WHERE e.namespace = :namespace AND e.speaker IS NOT NULL
  UNION ALL
  SELECT (SELECT min(e.speaker) FROM events e
          WHERE e.namespace = :namespace AND e.speaker IS NOT NULL AND e.speaker > h.speaker), h.place + 1
  FROM heard h WHERE h.speaker IS NOT NULL AND h.place < :most
)
SELECT h.speaker FROM heard h WHERE h.speaker IS NOT NULL
UNION ALL (SELECT NULL FROM session_state s WHERE s.namespace = :namespace LIMIT 1)

-- name: event_following
-- For each of these messages, given as three lists: the metadata of its session, and the next message.
SELECT p.place - 1, t.metadata, {event}
FROM unnest(:namespaces::text[], :sessions::text[], :sequences::bigint[]) WITH ORDINALITY
  AS p (namespace, session, sequence, place)
JOIN sessions t ON t.namespace = p.namespace AND t.id = p.session
LEFT JOIN events e ON {next_event} AND e.namespace = ANY (:namespaces)
WHERE t.namespace = ANY (:namespaces)

-- fragment: origin_json
-- Without zero characters, which PostgreSQL cannot read in JSON. A text may contain the letters \u0000 themselves: their
-- backslash is a pair in JSON, which is replaced first.
replace(replace(origin, '\\', '\u005c'), '\u0000', '')::json

-- fragment: before_json
-- As origin_json.
replace(replace(before, '\\', '\u005c'), '\u0000', '')::json

-- fragment: from_session
-- A memory whose origin names the session `:session` of the namespace `:session_namespace`, or one of its
-- events. An origin without a namespace means that of the memory.
origin IS NOT NULL AND coalesce({origin_json} ->> 'namespace', namespace) = :session_namespace
  AND ({origin_json} ->> 'session' = :session
  OR starts_with({origin_json} ->> 'event', :session || '#'))

-- name: memory_from_session
-- The newest memories that were learned from a session.
SELECT {memory} FROM memories t WHERE t.namespace = :namespace AND {from_session} ORDER BY t.created DESC, t.id DESC LIMIT :limit

-- name: memory_of_run
-- The memories that a consolidation run created.
SELECT {memory} FROM memories t
WHERE t.namespace = :namespace AND t.origin IS NOT NULL AND {origin_json} ->> 'consolidation' = :run ORDER BY t.id

-- name: origin_unlink
-- Memories that were learned from a deleted session and are kept in another namespace.
UPDATE memories SET updated = :now, origin = ({origin_json}::jsonb - 'event' - 'events' - 'sequence'
  || '{"session": "deleted session"}'::jsonb)::text
WHERE namespace = :namespace AND {from_session}

-- name: memory_count_from_session
SELECT count(*) FROM memories
WHERE namespace = :namespace AND session IS DISTINCT FROM :session AND {from_session}

-- name: note_list
SELECT {memory} FROM memories t WHERE t.namespace = :namespace AND t.kind = 'note'{filters}
ORDER BY t.created DESC, t.id DESC LIMIT :limit

-- name: chunk_hashes
-- The hashes of a session's chunks that can be found and moved.
SELECT t.hash FROM chunks t WHERE t.namespace = :namespace AND t.session = :session AND t.owner_type = 'event'
  AND EXISTS (SELECT 1 FROM texts x WHERE x.namespace = :namespace AND x.chunk = t.n AND x.raw_content IS NOT NULL)

-- name: access_insert
-- searched: no
-- Only if the memory exists. It cannot be deleted before this is committed.
INSERT INTO access_log (namespace, memory, at, how, query, score)
SELECT m.namespace, m.id, :at::bigint, :how::text, :query::text, :score::double precision
FROM (SELECT namespace, id FROM memories WHERE namespace = :namespace AND id = :id FOR KEY SHARE) m

-- name: access_list
SELECT n, memory, at, how, query, score FROM access_log
WHERE namespace = :namespace AND (:id::text IS NULL OR memory = :id) ORDER BY n DESC LIMIT :limit

-- name: lease_take
-- searched: no
-- As on SQLite. WHERE reads the clock once more: the statement may have waited for another writer.
INSERT INTO leases (namespace, name, holder, expires, span)
VALUES (:namespace, :name, :holder, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + :span, :span)
ON CONFLICT (namespace, name) DO UPDATE SET holder = excluded.holder, expires = excluded.expires, span = excluded.span
WHERE leases.holder = excluded.holder
  OR leases.expires - (extract(epoch FROM clock_timestamp()) * 1000000)::bigint NOT BETWEEN 1 AND leases.span

-- name: lease_held
SELECT holder, remaining
FROM (SELECT holder, span, expires - (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS remaining
  FROM leases WHERE namespace = :namespace AND name = :name) held
WHERE remaining BETWEEN 1 AND span

-- name: work_due
-- scope: store
SELECT 0::bigint, (SELECT coalesce(max(n), 0) FROM chunks),
  EXISTS (SELECT 1 FROM session_state WHERE active <= :silent AND (learned_upto < last_sequence OR claims_left > 0)),
  EXISTS (SELECT 1 FROM memories WHERE status = 'active' AND expires <= :now),
  EXISTS (SELECT 1 FROM purges WHERE gone IS NULL)

-- name: change_head
-- There is no log of changes: the server has the indexes.
SELECT 0::bigint

-- name: change_floor
SELECT 0::bigint

-- name: change_list
SELECT 0::bigint, NULL::bigint WHERE :namespace::text IS NOT NULL AND :after::bigint <= :upto::bigint

-- name: change_prune
DELETE FROM meta WHERE key = 'changes' AND value < :floor::text

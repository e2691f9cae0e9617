-- fragment: session_tags
(SELECT tags FROM sessions WHERE namespace = :namespace AND id = :session)

-- fragment: tags_of_chunk
-- The tags of the session, and those of the first and of the last message with the text of the chunk.
(SELECT nullif(json_group_array(value), '[]') FROM (
  SELECT value FROM json_each({session_tags})
  UNION SELECT own.value FROM events e, json_each(e.tags) own
  WHERE e.namespace = :namespace AND e.session = :session AND e.tags IS NOT NULL
    AND e.sequence IN (chunks.first_sequence, chunks.last_sequence)))

-- fragment: event_chunk
INSERT INTO chunks (namespace, owner_type, owner, ordinal, text, session, kind, source, tags, confidence, importance,
                    status, valid_from, first_sequence, last_sequence, hash)
VALUES (:namespace, 'event', :owner, :ordinal, :text, :session, :kind, 'conversation',
        CASE WHEN :tags IS NULL THEN {session_tags} ELSE
          (SELECT json_group_array(value) FROM
            (SELECT value FROM json_each({session_tags}) UNION SELECT value FROM json_each(:tags))) END,
        :confidence, :importance,
        'active', :valid_from, :first, :last, :hash);

-- name: event_chunk_insert
-- The vector is pending.
{event_chunk}
{new_text}

-- name: event_chunk_insert_embedded
{event_chunk}
{new_text}
{new_vector}

-- name: event_containing
-- By the index of chunks with a session: a namespace without conversations then costs nothing.
SELECT t.n, t.text, t.first_sequence, t.last_sequence, {event} FROM chunks t INDEXED BY chunks_session {join_event}
WHERE t.namespace IN {each:namespaces} AND t.session IS NOT NULL
  AND coalesce(t.text, e.content) LIKE :pattern ESCAPE '\' AND NOT {is_hidden}{filters}
ORDER BY e.time DESC, t.n DESC LIMIT :limit

-- name: chunk_extend
-- The text was repeated: extend the range of messages of the chunk.
UPDATE chunks SET last_sequence = :last, valid_from = max(valid_from, :valid_from), tags = CASE
  WHEN :tags IS NULL THEN tags ELSE (SELECT json_group_array(value) FROM
    (SELECT value FROM json_each(chunks.tags) UNION SELECT value FROM json_each(:tags))) END
WHERE namespace = :namespace AND session = :session AND hash = :hash;
INSERT INTO changes (namespace, chunk)
SELECT namespace, n FROM chunks WHERE namespace = :namespace AND session = :session AND hash = :hash;

-- name: chunk_hashes
-- The hashes of a session's chunks that can be found.
SELECT t.hash FROM chunks t WHERE t.namespace = :namespace AND t.session = :session AND t.owner_type = 'event'
  AND EXISTS (SELECT 1 FROM chunks_fts_docsize WHERE id = t.n)

-- name: chunk_set_following_text
-- Give the last chunk of a message the text of the next message.
UPDATE chunks_fts SET after = :f_after WHERE rowid =
  (SELECT n FROM chunks WHERE namespace = :namespace AND owner = :owner AND owner_type = 'event'
   ORDER BY ordinal DESC LIMIT 1);
INSERT INTO changes (namespace, chunk)
SELECT namespace, n FROM chunks WHERE namespace = :namespace AND owner = :owner AND owner_type = 'event'
ORDER BY ordinal DESC LIMIT 1;

-- name: chunk_set_tags
-- The session has its new tags already.
UPDATE chunks SET tags = {tags_of_chunk}
WHERE namespace = :namespace AND session = :session AND owner_type = 'event';
INSERT INTO changes (namespace, chunk)
SELECT namespace, n FROM chunks WHERE namespace = :namespace AND session = :session AND owner_type = 'event';

-- fragment: chunks_of_session
SELECT n FROM chunks WHERE namespace = :namespace AND session = :session

-- fragment: memories_of_session
SELECT id FROM memories WHERE namespace = :namespace AND session = :session

-- name: event_chunk_delete
-- Delete the chunks of a session's messages and what is derived from them, to rebuild them.
INSERT INTO changes (namespace, chunk)
SELECT namespace, n FROM chunks WHERE namespace = :namespace AND session = :session AND owner_type = 'event';
DELETE FROM chunks_fts WHERE rowid IN ({chunks_of_session} AND owner_type = 'event');
DELETE FROM vectors WHERE space IN (SELECT id FROM spaces) AND chunk IN ({chunks_of_session} AND owner_type = 'event');
DELETE FROM chunks WHERE namespace = :namespace AND session = :session AND owner_type = 'event';

-- name: session_delete
-- Delete a session and all that belongs to it. Deleted texts stay in the full-text index, marked as deleted, until its
-- segments are merged; so they are merged now (0.1 to 0.4 s for 100,000 rows). `secure-delete` would not remove the
-- traces of earlier updates.
INSERT INTO changes (namespace, chunk) SELECT namespace, n FROM chunks
WHERE namespace = :namespace AND session = :session;
DELETE FROM chunks_fts WHERE rowid IN ({chunks_of_session});
INSERT INTO chunks_fts (chunks_fts) VALUES ('optimize');
DELETE FROM vectors WHERE space IN (SELECT id FROM spaces) AND chunk IN ({chunks_of_session});
DELETE FROM chunks WHERE namespace = :namespace AND session = :session;
DELETE FROM access_log WHERE namespace = :namespace AND memory IN ({memories_of_session});
DELETE FROM memory_history WHERE namespace = :namespace AND memory IN ({memories_of_session});
DELETE FROM memory_history WHERE namespace = :namespace AND json_extract({before_json}, '$.session') = :session;
UPDATE memories SET updated = :now,
  origin = json_set(json_remove(origin, '$.event', '$.events', '$.sequence'), '$.session', 'deleted session')
WHERE namespace = :namespace AND session IS NOT :session AND {from_session};
DELETE FROM proposals WHERE namespace = :namespace
  AND (newer IN ({memories_of_session}) OR older IN ({memories_of_session}));
UPDATE memory_history SET reason = NULL
WHERE namespace = :namespace AND action = 'superseded' AND reason IS NOT NULL AND memory IN
  (SELECT id FROM memories WHERE namespace = :namespace AND superseded_by IN ({memories_of_session})
   UNION ALL SELECT memory FROM memory_history
   WHERE namespace = :namespace AND json_extract({before_json}, '$.superseded_by') IN ({memories_of_session}));
DELETE FROM memories WHERE namespace = :namespace AND session = :session;
DELETE FROM events WHERE namespace = :namespace AND session = :session;
DELETE FROM files WHERE namespace = :namespace AND session = :session;
DELETE FROM hidden_messages WHERE namespace = :namespace AND session = :session;
DELETE FROM session_state WHERE namespace = :namespace AND session = :session;
DELETE FROM sessions WHERE namespace = :namespace AND id = :session;

-- fragment: from_session
-- A memory whose origin names the session `:session` of the namespace `:session_namespace`, or one of its
-- events. An origin without a namespace means that of the memory.
origin IS NOT NULL AND coalesce(json_extract({origin_json}, '$.namespace'), namespace) = :session_namespace
  AND (json_extract({origin_json}, '$.session') = :session
       OR substr(json_extract({origin_json}, '$.event'), 1, length(:session) + 1) = :session || '#')

-- fragment: origin_json
-- NULL if the JSON is damaged: SQLite would fail for all rows because of one.
CASE WHEN json_valid(origin) THEN origin END

-- fragment: before_json
CASE WHEN json_valid(before) THEN before END

-- name: memory_from_session
-- The newest memories that were learned from a session.
SELECT {memory} FROM memories t WHERE t.namespace = :namespace AND {from_session} ORDER BY t.created DESC, t.id DESC LIMIT :limit

-- name: memory_of_run
-- The memories that a consolidation run created.
SELECT {memory} FROM memories t
WHERE t.namespace = :namespace AND t.origin IS NOT NULL AND json_extract({origin_json}, '$.consolidation') = :run ORDER BY t.id

-- name: origin_unlink
-- Memories that were learned from a deleted session and are kept in another namespace.
UPDATE memories SET updated = :now,
  origin = json_set(json_remove(origin, '$.event', '$.events', '$.sequence'), '$.session', 'deleted session')
WHERE namespace = :namespace AND {from_session}

-- name: memory_count_from_session
SELECT count(*) FROM memories WHERE namespace = :namespace AND session IS NOT :session AND {from_session}

-- name: note_list
-- Without the hint SQLite goes through all memories of the namespace.
SELECT {memory} FROM memories t INDEXED BY memories_notes WHERE t.namespace = :namespace AND t.kind = 'note'{filters}
ORDER BY t.created DESC, t.id DESC LIMIT :limit

-- name: event_following
-- For each of these messages, given as three lists: the metadata of its session, and the next message.
SELECT p.place, t.metadata, {event} FROM (
  SELECT n.key AS place, n.value AS namespace, s.value AS session, q.value AS sequence
  FROM json_each(:namespaces) n JOIN json_each(:sessions) s ON s.key = n.key JOIN json_each(:sequences) q ON q.key = n.key
) p JOIN sessions t ON t.namespace = p.namespace AND t.id = p.session LEFT JOIN events e ON {next_event}

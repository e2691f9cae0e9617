-- Chunks and the rows derived from them: texts, postings, vectors, statistics.
--
-- A change is several statements of one transaction. Each does one thing to one table, and names the namespace as a
-- constant for every table: so a cluster runs it on the one machine that has the namespace, in the order written here.
-- (In a single statement with several parts, a cluster lets later parts see what earlier ones changed.)
--
-- `{piece: condition}` is the piece about the rows of the condition. A parameter f_x comes as the tokens of the field x,
-- separated by blanks, raw_x as the field was given; `vector` in the server's own format, as which a column of this name
-- is read too; `fresh_number` is a number that no row has.

-- fragment: stored_vector
halfvec_send(v.vector) AS vector

-- fragment: frequencies
-- The terms of a row x of texts, each with the sum of its fields' weights.
(SELECT term, sum(field.weight)::real AS frequency FROM (VALUES {weighted}) AS field (tokens, weight),
  string_to_table(field.tokens, ' ') AS term GROUP BY term) AS word

-- fragment: of_owner
c.namespace = :namespace AND c.owner = :owner AND c.owner_type = :owner_type

-- fragment: of_part
c.namespace = :namespace AND c.owner = :owner AND c.owner_type = :owner_type AND c.ordinal = :ordinal

-- fragment: of_event_part
c.namespace = :namespace AND c.owner = :owner AND c.owner_type = 'event' AND c.ordinal = :ordinal

-- fragment: of_file
c.namespace = :namespace AND c.owner = :owner AND c.owner_type = 'file'

-- fragment: of_file_part
c.namespace = :namespace AND c.owner = :owner AND c.owner_type = 'file' AND c.ordinal = :ordinal

-- fragment: rest_of_file
c.namespace = :namespace AND c.owner = :owner AND c.owner_type = 'file' AND c.ordinal >= :first

-- fragment: of_number
c.namespace = :namespace AND c.n = :n

-- fragment: of_events
c.namespace = :namespace AND c.session = :session AND c.owner_type = 'event'

-- fragment: of_session
c.namespace = :namespace AND c.session = :session

-- fragment: last_of_event
c.namespace = :namespace AND c.n = (
  SELECT n FROM chunks WHERE namespace = :namespace AND owner = :owner AND owner_type = 'event'
  ORDER BY ordinal DESC LIMIT 1)

-- fragment: new_text
INSERT INTO texts (namespace, chunk, content, context, tags, before, after, speaker, date,
                   raw_content, raw_context, raw_tags, raw_before, raw_after, raw_speaker, raw_date)
SELECT c.namespace, c.n, :f_content::text, :f_context::text, :f_tags::text, :f_before::text, :f_after::text,
       :f_speaker::text, :f_date::text, :raw_content::text, :raw_context::text, :raw_tags::text, :raw_before::text,
       :raw_after::text, :raw_speaker::text, :raw_date::text
FROM chunks c WHERE {rows}

-- fragment: new_vector
INSERT INTO vectors (namespace, space, chunk, vector)
SELECT c.namespace, s.id, c.n, :vector::halfvec FROM chunks c CROSS JOIN spaces s WHERE {rows} AND s.name = :space

-- fragment: new_postings
-- Chunks that have theirs keep them: those that are wrong were deleted before.
INSERT INTO postings (namespace, term, chunk, frequency, length, active)
SELECT x.namespace, word.term, x.chunk, word.frequency, cardinality(x.terms), c.status = 'active'
FROM chunks c JOIN texts x ON x.namespace = :namespace AND x.chunk = c.n CROSS JOIN LATERAL {frequencies}
WHERE {rows}
ON CONFLICT DO NOTHING

-- fragment: new_full_text
-- The engine counts the new chunks of a batch and appends one row to the statistics at the end, not thousands.
{new_text: rows};
{new_postings: rows}

-- fragment: new_chunk
INSERT INTO chunks (namespace, owner_type, owner, ordinal, text, session, kind, source, tags, confidence, importance,
                    status, valid_from, expires)
VALUES (:namespace, :owner_type, :owner, :ordinal, :text, :session, :kind, :source, :tags, :confidence, :importance,
        'active', :valid_from, :expires)

-- name: chunk_insert
-- counts: chunks
-- folds: statistics
-- The vector is pending.
{new_chunk};
{new_full_text: of_part}

-- name: chunk_insert_embedded
-- counts: chunks
-- folds: statistics
{new_chunk};
{new_vector: of_part};
{new_full_text: of_part}

-- fragment: new_event_chunk
-- With its own tags and those of its session. Whoever appends has locked the state of the session, and whoever changes
-- its tags waits for that: so the tags read here are the newest, or they are changed afterwards.
INSERT INTO chunks (namespace, owner_type, owner, ordinal, text, session, kind, source, tags, confidence, importance,
                    status, valid_from, first_sequence, last_sequence, hash)
VALUES (:namespace, 'event', :owner, :ordinal, :text, :session, :kind, 'conversation', :tags::jsonb::text, :confidence,
        :importance, 'active', :valid_from, :first, :last, :hash);
UPDATE chunks c SET tags = CASE WHEN c.tags IS NULL THEN s.tags ELSE
  (SELECT jsonb_agg(DISTINCT tag)::text FROM jsonb_array_elements(s.tags::jsonb || c.tags::jsonb) tag) END
FROM sessions s
WHERE {of_event_part} AND s.namespace = :namespace AND s.id = :session AND s.tags IS NOT NULL

-- name: event_chunk_insert
-- counts: chunks
-- folds: statistics
{new_event_chunk};
{new_full_text: of_event_part}

-- name: event_chunk_insert_embedded
-- counts: chunks
-- folds: statistics
{new_event_chunk};
{new_vector: of_event_part};
{new_full_text: of_event_part}

-- fragment: new_file_chunk
INSERT INTO chunks (namespace, owner_type, owner, ordinal, text, session, kind, source, tags, confidence, importance,
                    status, valid_from, first_sequence, last_sequence, context)
VALUES (:namespace, 'file', :owner, :ordinal, :text, :session, 'file', 'file', :tags, :confidence, :importance,
        'active', :valid_from, :first, :last, :context)

-- name: file_chunk_insert
-- counts: chunks
-- folds: statistics
{new_file_chunk};
{new_full_text: of_file_part}

-- name: file_chunk_insert_embedded
-- counts: chunks
-- folds: statistics
{new_file_chunk};
{new_vector: of_file_part};
{new_full_text: of_file_part}

-- fragment: lock_chunks
-- Before anything else, by a statement of its own. A statement that waited for another writer would go on with its old
-- snapshot, and miss the vector or the postings that the other had just added.
SELECT 1 FROM chunks c WHERE {rows} FOR UPDATE

-- fragment: delete_chunks
-- Delete chunks and what is derived from them.
{lock_chunks: rows};
INSERT INTO statistics (namespace, n, rows, tokens) OVERRIDING SYSTEM VALUE
SELECT c.namespace, :fresh_number::bigint, -count(*), -sum(cardinality(x.terms))
FROM chunks c JOIN texts x ON x.namespace = :namespace AND x.chunk = c.n
WHERE {rows} AND c.status = 'active' GROUP BY c.namespace;
DELETE FROM postings p USING chunks c, texts x
WHERE {rows} AND x.namespace = :namespace AND x.chunk = c.n
  AND p.namespace = :namespace AND p.chunk = c.n AND p.term = ANY (x.terms);
DELETE FROM texts x USING chunks c WHERE {rows} AND x.namespace = :namespace AND x.chunk = c.n;
DELETE FROM vectors v USING chunks c, spaces s
WHERE {rows} AND v.namespace = :namespace AND v.space = s.id AND v.chunk = c.n;
DELETE FROM chunks c WHERE {rows}

-- name: chunk_delete
-- folds: statistics
{delete_chunks: of_owner}

-- name: remove_chunks
-- folds: statistics
-- Delete one chunk and what is derived from it.
{delete_chunks: of_number}

-- name: remove_vectors
DELETE FROM vectors
WHERE namespace = :namespace AND chunk = :chunk AND space = (SELECT id FROM spaces WHERE name = :space)

-- name: file_chunk_delete
-- folds: statistics
{delete_chunks: rest_of_file}

-- fragment: with_other_status
c.namespace = :namespace AND c.owner = :owner AND c.owner_type = :owner_type
  AND (c.status = 'active') <> (:status::text = 'active') AND x.namespace = :namespace AND x.chunk = c.n

-- name: chunk_set_status
-- folds: statistics
{lock_chunks: of_owner};
INSERT INTO statistics (namespace, n, rows, tokens) OVERRIDING SYSTEM VALUE
SELECT c.namespace, :fresh_number::bigint, CASE WHEN :status::text = 'active' THEN count(*) ELSE -count(*) END,
       CASE WHEN :status::text = 'active' THEN sum(cardinality(x.terms)) ELSE -sum(cardinality(x.terms)) END
FROM chunks c CROSS JOIN texts x WHERE {with_other_status} GROUP BY c.namespace;
UPDATE postings p SET active = (:status::text = 'active') FROM chunks c CROSS JOIN texts x
WHERE {with_other_status} AND p.namespace = :namespace AND p.chunk = c.n AND p.term = ANY (x.terms);
UPDATE chunks c SET status = :status WHERE {of_owner}

-- fragment: delete_postings
-- The postings of chunks c whose texts x will be changed.
DELETE FROM postings p USING chunks c, texts x
WHERE {rows} AND p.namespace = :namespace AND p.chunk = c.n AND p.term = ANY (x.terms)

-- fragment: refreshed
c.namespace = :namespace AND c.owner = :owner AND c.owner_type = :owner_type
  AND x.namespace = :namespace AND x.chunk = c.n
  AND (x.context, x.tags, x.raw_context, x.raw_tags)
      IS DISTINCT FROM (:f_context::text, :f_tags::text, :raw_context::text, :raw_tags::text)

-- name: chunk_refresh
-- folds: statistics
-- The owner changed, but not the text that is chunked and embedded.
{lock_chunks: of_owner};
UPDATE chunks c SET kind = :kind, tags = :tags, confidence = :confidence, importance = :importance,
                    valid_from = :valid_from, expires = :expires
WHERE {of_owner};
{delete_postings: refreshed};
INSERT INTO statistics (namespace, n, rows, tokens) OVERRIDING SYSTEM VALUE
SELECT c.namespace, :fresh_number::bigint, 0, sum(
  coalesce(cardinality(string_to_array(:f_context::text, ' ')), 0)
    - coalesce(cardinality(string_to_array(x.context, ' ')), 0)
  + coalesce(cardinality(string_to_array(:f_tags::text, ' ')), 0)
    - coalesce(cardinality(string_to_array(x.tags, ' ')), 0))
FROM chunks c CROSS JOIN texts x WHERE {refreshed} AND c.status = 'active' GROUP BY c.namespace;
UPDATE texts x SET context = :f_context, tags = :f_tags, raw_context = :raw_context, raw_tags = :raw_tags FROM chunks c
WHERE {refreshed};
{new_postings: of_owner}

-- fragment: refreshed_of_file
c.namespace = :namespace AND c.owner = :owner AND c.owner_type = 'file' AND x.namespace = :namespace AND x.chunk = c.n
  AND (x.tags, x.raw_tags) IS DISTINCT FROM (:f_tags::text, :raw_tags::text)

-- name: file_chunk_refresh
-- folds: statistics
-- The name or the tags of the file changed, or another part of it.
{lock_chunks: of_file};
UPDATE chunks c SET tags = :tags, valid_from = :valid_from WHERE {of_file};
{delete_postings: refreshed_of_file};
INSERT INTO statistics (namespace, n, rows, tokens) OVERRIDING SYSTEM VALUE
SELECT c.namespace, :fresh_number::bigint, 0, sum(
  coalesce(cardinality(string_to_array(:f_tags::text, ' ')), 0)
    - coalesce(cardinality(string_to_array(x.tags, ' ')), 0))
FROM chunks c CROSS JOIN texts x WHERE {refreshed_of_file} AND c.status = 'active' GROUP BY c.namespace;
UPDATE texts x SET tags = :f_tags, raw_tags = :raw_tags FROM chunks c WHERE {refreshed_of_file};
{new_postings: of_file}

-- name: file_hits
SELECT t.n, t.text, t.context, t.first_sequence, t.last_sequence, t.tags, {file} {file_of_chunk}
WHERE t.n IN {each:chunks} AND t.namespace IN {each:namespaces} AND f.namespace IN {each:namespaces}
  AND t.owner_type = 'file'{filters}

-- name: file_chunks
SELECT t.ordinal, t.text, t.context, t.first_sequence, t.last_sequence, {stored_vector} FROM chunks t
LEFT JOIN vectors v ON v.namespace = :namespace AND v.chunk = t.n AND v.space = (SELECT id FROM spaces WHERE name = :space)
WHERE t.namespace = :namespace AND t.owner = :id AND t.owner_type = 'file' ORDER BY t.ordinal

-- fragment: given_following_text
c.namespace = :namespace AND c.n = (
    SELECT n FROM chunks WHERE namespace = :namespace AND owner = :owner AND owner_type = 'event'
    ORDER BY ordinal DESC LIMIT 1)
  AND x.namespace = :namespace AND x.chunk = c.n
  AND (x.after, x.raw_after) IS DISTINCT FROM (:f_after::text, :raw_after::text)

-- name: chunk_set_following_text
-- folds: statistics
-- Give the last chunk of a message the text of the next message.
{lock_chunks: last_of_event};
{delete_postings: given_following_text};
INSERT INTO statistics (namespace, n, rows, tokens) OVERRIDING SYSTEM VALUE
SELECT c.namespace, :fresh_number::bigint, 0, sum(
  coalesce(cardinality(string_to_array(:f_after::text, ' ')), 0)
    - coalesce(cardinality(string_to_array(x.after, ' ')), 0))
FROM chunks c CROSS JOIN texts x WHERE {given_following_text} AND c.status = 'active' GROUP BY c.namespace;
UPDATE texts x SET after = :f_after, raw_after = :raw_after FROM chunks c WHERE {given_following_text};
{new_postings: last_of_event}

-- name: chunk_extend
-- folds: statistics
-- The text was repeated: extend the range of messages of the chunk.
UPDATE chunks SET last_sequence = :last, valid_from = greatest(valid_from, :valid_from), tags = CASE
  WHEN :tags::text IS NULL THEN tags ELSE (SELECT jsonb_agg(DISTINCT tag)::text
    FROM jsonb_array_elements(coalesce(tags, '[]')::jsonb || :tags::jsonb) tag) END
WHERE namespace = :namespace AND session = :session AND hash = :hash

-- name: chunk_set_tags
-- folds: statistics
-- A writer that appends locks this row. So a concurrent message has the new tags, or exists and gets them.
SELECT 1 FROM session_state WHERE namespace = :namespace AND session = :session FOR UPDATE;
UPDATE chunks c SET tags = (SELECT jsonb_agg(DISTINCT tag)::text FROM (
  SELECT jsonb_array_elements(s.tags::jsonb) AS tag FROM sessions s
  WHERE s.namespace = :namespace AND s.id = :session AND s.tags IS NOT NULL
  UNION SELECT jsonb_array_elements(e.tags::jsonb) FROM events e
  WHERE e.namespace = :namespace AND e.session = :session AND e.tags IS NOT NULL
    AND e.sequence IN (c.first_sequence, c.last_sequence)) own)
WHERE c.namespace = :namespace AND c.session = :session AND c.owner_type = 'event'

-- name: vector_upsert
-- Only if the chunk exists. It cannot be deleted before this is committed.
INSERT INTO vectors (namespace, space, chunk, vector)
SELECT c.namespace, s.id, c.n, :vector::halfvec FROM chunks c JOIN spaces s ON s.name = :space
WHERE c.namespace = :namespace AND c.n = :chunk
FOR KEY SHARE OF c
ON CONFLICT (namespace, space, chunk) DO UPDATE SET vector = excluded.vector

-- name: event_chunk_delete
-- folds: statistics
{delete_chunks: of_events}

-- name: session_delete
-- timeout: none
-- folds: statistics
-- The state is deleted first: writers that append lock it, so the rest sees all they wrote. Then the memories are
-- locked against changes, and the chunks.
DELETE FROM session_state WHERE namespace = :namespace AND session = :session;
SELECT 1 FROM memories WHERE namespace = :namespace AND session = :session ORDER BY id FOR UPDATE;
{delete_chunks: of_session};
DELETE FROM access_log WHERE namespace = :namespace AND memory IN
  (SELECT id FROM memories WHERE namespace = :namespace AND session = :session);
DELETE FROM memory_history WHERE namespace = :namespace AND memory IN
  (SELECT id FROM memories WHERE namespace = :namespace AND session = :session);
DELETE FROM memory_history WHERE namespace = :namespace
  AND {before_json} ->> 'session' = :session;
UPDATE memories SET updated = :now, origin = ({origin_json}::jsonb - 'event' - 'events' - 'sequence'
  || '{"session": "deleted session"}'::jsonb)::text
WHERE namespace = :namespace AND session IS DISTINCT FROM :session AND {from_session};
DELETE FROM proposals p USING memories m WHERE p.namespace = :namespace AND m.namespace = :namespace
  AND m.session = :session AND m.id IN (p.newer, p.older);
UPDATE memory_history SET reason = NULL
WHERE namespace = :namespace AND action = 'superseded' AND reason IS NOT NULL AND memory IN (
  SELECT m.id FROM memories m JOIN memories s ON s.id = m.superseded_by
  WHERE m.namespace = :namespace AND s.namespace = :namespace AND s.session = :session
  UNION ALL SELECT h.memory FROM memory_history h JOIN memories s ON s.id = {before_json} ->> 'superseded_by'
  WHERE h.namespace = :namespace AND s.namespace = :namespace AND s.session = :session);
DELETE FROM memories WHERE namespace = :namespace AND session = :session;
DELETE FROM events WHERE namespace = :namespace AND session = :session;
DELETE FROM files WHERE namespace = :namespace AND session = :session;
DELETE FROM hidden_messages WHERE namespace = :namespace AND session = :session;
DELETE FROM sessions WHERE namespace = :namespace AND id = :session

-- name: chunk_rows
SELECT {index_row}, {stored_vector} FROM chunks t
LEFT JOIN vectors v ON v.namespace = :namespace AND v.chunk = t.n AND v.space = (SELECT id FROM spaces WHERE name = :space)
WHERE t.namespace = :namespace AND t.status = 'active' AND t.n > :after ORDER BY t.n LIMIT :limit

-- name: chunk_rows_of
SELECT {index_row}, {stored_vector} FROM chunks t
LEFT JOIN vectors v ON v.namespace = :namespace AND v.chunk = t.n AND v.space = (SELECT id FROM spaces WHERE name = :space)
WHERE t.namespace = :namespace AND t.n IN {each:chunks} AND t.status = 'active' ORDER BY t.n

-- name: chunk_scan
SELECT {index_row}, {stored_vector} FROM chunks t
JOIN vectors v ON v.namespace = t.namespace AND v.chunk = t.n AND v.space = (SELECT id FROM spaces WHERE name = :space)
WHERE t.namespace IN {each:namespaces} AND v.namespace IN {each:namespaces}{filters}

-- name: chunk_texts
SELECT n, text FROM chunks WHERE namespace IN {each:namespaces} AND n IN {each:chunks} AND text IS NOT NULL

-- name: chunk_newest
SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM chunk_numbers

-- name: chunk_pending
-- scope: store
SELECT t.n, t.namespace, coalesce(t.text, m.content, e.content), coalesce(t.context, m.context) FROM chunks t
LEFT JOIN memories m ON t.owner_type = 'memory' AND m.namespace = t.namespace AND m.id = t.owner
LEFT JOIN events e ON t.owner_type = 'event' AND e.namespace = t.namespace AND e.session = t.session
  AND e.sequence = t.first_sequence
LEFT JOIN vectors v ON v.namespace = t.namespace AND v.chunk = t.n AND v.space = (SELECT id FROM spaces WHERE name = :space)
WHERE v.chunk IS NULL AND t.status = 'active' AND t.n > :after ORDER BY t.n LIMIT :limit

-- name: chunk_pending_of
SELECT t.n, t.namespace, coalesce(t.text, m.content, e.content), coalesce(t.context, m.context) FROM chunks t
LEFT JOIN memories m ON t.owner_type = 'memory' AND m.namespace = t.namespace AND m.namespace IN {each:namespaces}
  AND m.id = t.owner
LEFT JOIN events e ON t.owner_type = 'event' AND e.namespace = t.namespace AND e.namespace IN {each:namespaces}
  AND e.session = t.session AND e.sequence = t.first_sequence
LEFT JOIN vectors v ON v.namespace = t.namespace AND v.namespace IN {each:namespaces} AND v.chunk = t.n
  AND v.space = (SELECT id FROM spaces WHERE name = :space)
WHERE t.namespace IN {each:namespaces} AND v.chunk IS NULL AND t.status = 'active' AND t.n > :after
ORDER BY t.n LIMIT :limit

-- name: chunk_pending_count
-- scope: store
SELECT count(*) FROM chunks t WHERE t.status = 'active' AND NOT EXISTS
  (SELECT 1 FROM vectors v WHERE v.namespace = t.namespace AND v.chunk = t.n AND v.space IN
    (SELECT id FROM spaces WHERE :space::text IS NULL OR name = :space))

-- name: chunk_pending_count_of
SELECT count(*) FROM chunks t WHERE t.namespace IN {each:namespaces} AND t.status = 'active' AND NOT EXISTS
  (SELECT 1 FROM vectors v WHERE v.namespace = t.namespace AND v.chunk = t.n AND v.space IN
    (SELECT id FROM spaces WHERE :space::text IS NULL OR name = :space))

-- name: space_counts
-- scope: store
SELECT s.name, s.dimension, coalesce(v.found, 0) FROM spaces s
LEFT JOIN (SELECT space, count(*) AS found FROM vectors GROUP BY space) v ON v.space = s.id ORDER BY s.name

-- name: space_counts_of
SELECT s.name, s.dimension, coalesce(v.found, 0) FROM spaces s
LEFT JOIN (SELECT space, count(*) AS found FROM vectors WHERE namespace IN {each:namespaces} GROUP BY space) v
  ON v.space = s.id ORDER BY s.name

-- name: statistics_add
INSERT INTO statistics (namespace, rows, tokens) VALUES (:namespace, :rows, :tokens)

-- name: statistics_fold
-- Fold many rows into the first one. Whoever else folds waits for its lock; those who append do not. The sum and the rows
-- that become zero are of one snapshot, so nothing that is appended meanwhile is lost.
SELECT 1 FROM statistics WHERE namespace = :namespace ORDER BY n LIMIT 1 FOR UPDATE;
UPDATE statistics s SET rows = CASE s.n WHEN f.n THEN f.rows ELSE 0 END, tokens = CASE s.n WHEN f.n THEN f.tokens ELSE 0 END
FROM (SELECT min(n) AS n, sum(rows) AS rows, sum(tokens) AS tokens FROM statistics WHERE namespace = :namespace) f
WHERE s.namespace = :namespace;
DELETE FROM statistics WHERE namespace = :namespace AND rows = 0 AND tokens = 0

-- name: chunk_vectors
SELECT v.chunk, {stored_vector} FROM vectors v
WHERE v.namespace IN {each:namespaces} AND v.chunk IN {each:chunks}
  AND v.space = (SELECT id FROM spaces WHERE name = :space)

-- name: memory_vectors
SELECT t.owner, {stored_vector} FROM chunks t JOIN vectors v ON v.namespace = :namespace AND v.chunk = t.n
WHERE t.namespace = :namespace AND t.owner IN {each:owners} AND t.owner_type = 'memory' AND t.ordinal = 0
  AND v.space = (SELECT id FROM spaces WHERE name = :space)

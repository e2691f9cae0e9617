-- Chunks and the rows derived from them: postings, vectors, statistics. Each change is one statement, so that all its
-- parts see one state and it costs one round trip.
--
-- A parameter f_x comes as the tokens of the field x, separated by blanks, raw_x as the field was given; `vector` in the
-- server's own format, as which a column of this name is read too.

-- fragment: stored_vector
halfvec_send(v.vector) AS vector

-- fragment: frequencies
-- The terms of a row x of texts, each with the sum of its fields' weights.
(SELECT term, sum(field.weight)::real AS frequency FROM (VALUES {weighted}) AS field (tokens, weight),
  string_to_table(field.tokens, ' ') AS term GROUP BY term) AS word

-- fragment: new_chunk
INSERT INTO chunks (namespace, owner_type, owner, ordinal, text, session, kind, source, tags, confidence, importance,
                    status, valid_from, expires)
  VALUES (:namespace, :owner_type, :owner, :ordinal, :text, :session, :kind, :source, :tags, :confidence, :importance,
          'active', :valid_from, :expires)
  RETURNING namespace, n, status

-- fragment: new_text
-- The engine counts the new chunks of a batch and appends one row to the statistics at the end, not thousands.
new_texts AS (
  INSERT INTO texts (namespace, chunk, content, context, tags, before, after, speaker, date,
                     raw_content, raw_context, raw_tags, raw_before, raw_after, raw_speaker, raw_date)
  SELECT new.namespace, new.n, :f_content, :f_context, :f_tags, :f_before, :f_after, :f_speaker, :f_date,
         :raw_content, :raw_context, :raw_tags, :raw_before, :raw_after, :raw_speaker, :raw_date FROM new
  RETURNING *
)
INSERT INTO postings (namespace, term, chunk, frequency, length, active)
SELECT x.namespace, word.term, x.chunk, word.frequency, cardinality(x.terms), new.status = 'active'
FROM new CROSS JOIN new_texts x CROSS JOIN LATERAL {frequencies}

-- fragment: new_vector
new_vectors AS (
  INSERT INTO vectors (namespace, space, chunk, vector)
  SELECT new.namespace, s.id, new.n, :vector::halfvec FROM new, spaces s WHERE s.name = :space
)

-- name: chunk_insert
-- counts: chunks
-- folds: statistics
-- The vector is pending.
WITH new AS ({new_chunk}), {new_text}

-- name: chunk_insert_embedded
-- counts: chunks
-- folds: statistics
WITH new AS ({new_chunk}), {new_vector}, {new_text}

-- fragment: session_tags
(SELECT tags FROM sessions WHERE namespace = :namespace AND id = :session)

-- fragment: new_event_chunk
INSERT INTO chunks (namespace, owner_type, owner, ordinal, text, session, kind, source, tags, confidence, importance,
                    status, valid_from, first_sequence, last_sequence, hash)
  VALUES (:namespace, 'event', :owner, :ordinal, :text, :session, :kind, 'conversation',
          CASE WHEN :tags::text IS NULL THEN {session_tags} ELSE
            (SELECT jsonb_agg(DISTINCT tag)::text
             FROM jsonb_array_elements(coalesce({session_tags}, '[]')::jsonb || :tags::jsonb) tag) END,
          :confidence, :importance,
          'active', :valid_from, :first, :last, :hash)
  RETURNING namespace, n, status

-- name: event_chunk_insert
-- counts: chunks
-- folds: statistics
WITH new AS ({new_event_chunk}), {new_text}

-- name: event_chunk_insert_embedded
-- counts: chunks
-- folds: statistics
WITH new AS ({new_event_chunk}), {new_vector}, {new_text}

-- fragment: new_file_chunk
INSERT INTO chunks (namespace, owner_type, owner, ordinal, text, session, kind, source, tags, confidence, importance,
                    status, valid_from, first_sequence, last_sequence, context)
  VALUES (:namespace, 'file', :owner, :ordinal, :text, :session, 'file', 'file', :tags, :confidence, :importance,
          'active', :valid_from, :first, :last, :context)
  RETURNING namespace, n, status

-- name: file_chunk_insert
-- counts: chunks
-- folds: statistics
WITH new AS ({new_file_chunk}), {new_text}

-- name: file_chunk_insert_embedded
-- counts: chunks
-- folds: statistics
WITH new AS ({new_file_chunk}), {new_vector}, {new_text}

-- fragment: of_owner
c.namespace = :namespace AND c.owner = :owner AND c.owner_type = :owner_type

-- fragment: delete_derived
-- Delete what is derived from the deleted rows `gone` of chunks.
deleted_texts AS (
  DELETE FROM texts x USING gone g WHERE x.namespace = g.namespace AND x.chunk = g.n
  RETURNING x.namespace, x.chunk, x.terms, g.status
), deleted_postings AS (
  DELETE FROM postings p USING deleted_texts x
  WHERE p.namespace = x.namespace AND p.chunk = x.chunk AND p.term = ANY (x.terms)
), deleted_vectors AS (
  DELETE FROM vectors v USING gone g
  WHERE v.namespace = g.namespace AND v.space IN (SELECT id FROM spaces) AND v.chunk = g.n
)
INSERT INTO statistics (namespace, rows, tokens)
SELECT x.namespace, -count(*), -sum(cardinality(x.terms)) FROM deleted_texts x WHERE x.status = 'active' GROUP BY x.namespace

-- name: chunk_delete
-- folds: statistics
-- The rows are locked first, by a statement of its own. A single statement that waited for another writer would go on
-- with its old snapshot, and miss the vector or the postings that the other had just added.
SELECT 1 FROM chunks c WHERE {of_owner} FOR UPDATE;
WITH gone AS (DELETE FROM chunks c WHERE {of_owner} RETURNING c.namespace, c.n, c.status), {delete_derived}

-- name: remove_chunks
-- folds: statistics
-- Delete one chunk and what is derived from it. It is locked first, as by chunk_delete.
SELECT 1 FROM chunks c WHERE c.namespace = :namespace AND c.n = :n FOR UPDATE;
WITH gone AS (
  DELETE FROM chunks c WHERE c.namespace = :namespace AND c.n = :n RETURNING c.namespace, c.n, c.status
), {delete_derived}

-- name: remove_vectors
DELETE FROM vectors
WHERE namespace = :namespace AND chunk = :chunk AND space = (SELECT id FROM spaces WHERE name = :space)

-- fragment: rest_of_file
c.namespace = :namespace AND c.owner = :owner AND c.owner_type = 'file' AND c.ordinal >= :first

-- name: file_chunk_delete
-- folds: statistics
-- The rows are locked first, as by chunk_delete.
SELECT 1 FROM chunks c WHERE {rest_of_file} FOR UPDATE;
WITH gone AS (DELETE FROM chunks c WHERE {rest_of_file} RETURNING c.namespace, c.n, c.status), {delete_derived}

-- name: chunk_set_status
-- folds: statistics
WITH changed AS (
  SELECT c.namespace, c.n, x.terms, (:status::text = 'active')::int - (c.status = 'active')::int AS more
  FROM chunks c JOIN texts x ON x.namespace = c.namespace AND x.chunk = c.n WHERE {of_owner}
), flagged AS (
  UPDATE postings p SET active = NOT p.active FROM changed x
  WHERE x.more <> 0 AND p.namespace = x.namespace AND p.chunk = x.n AND p.term = ANY (x.terms)
), counted AS (
  INSERT INTO statistics (namespace, rows, tokens)
  SELECT x.namespace, x.more, x.more * cardinality(x.terms) FROM changed x WHERE x.more <> 0
)
UPDATE chunks c SET status = :status WHERE {of_owner}

-- fragment: update_postings
-- Replace the postings of the rows `changed` of texts. `old` is each row as it was before this statement.
deleted_postings AS (
  DELETE FROM postings p USING changed x JOIN texts old ON old.namespace = x.namespace AND old.chunk = x.chunk
  WHERE p.namespace = x.namespace AND p.chunk = x.chunk AND p.term = ANY (old.terms) AND p.term <> ALL (x.terms)
), counted AS (
  INSERT INTO statistics (namespace, rows, tokens)
  SELECT x.namespace, 0, cardinality(x.terms) - cardinality(old.terms)
  FROM changed x JOIN texts old ON old.namespace = x.namespace AND old.chunk = x.chunk WHERE x.status = 'active'
)
INSERT INTO postings (namespace, term, chunk, frequency, length, active)
SELECT x.namespace, word.term, x.chunk, word.frequency, cardinality(x.terms), x.status = 'active'
FROM changed x CROSS JOIN LATERAL {frequencies}
ON CONFLICT (namespace, term, chunk) DO UPDATE
SET frequency = excluded.frequency, length = excluded.length, active = excluded.active

-- name: chunk_refresh
-- folds: statistics
-- The owner changed, but not the text that is chunked and embedded.
UPDATE chunks c SET kind = :kind, tags = :tags, confidence = :confidence, importance = :importance,
                    valid_from = :valid_from, expires = :expires
WHERE {of_owner};
WITH changed AS (
  UPDATE texts x SET context = :f_context, tags = :f_tags, raw_context = :raw_context, raw_tags = :raw_tags FROM chunks c
  WHERE {of_owner} AND x.namespace = c.namespace AND x.chunk = c.n
    AND (x.context, x.tags, x.raw_context, x.raw_tags) IS DISTINCT FROM (:f_context, :f_tags, :raw_context, :raw_tags)
  RETURNING x.*, c.status
), {update_postings}

-- name: file_chunk_refresh
-- folds: statistics
-- The name or the tags of the file changed, or another part of it.
UPDATE chunks c SET tags = :tags, valid_from = :valid_from
WHERE c.namespace = :namespace AND c.owner = :owner AND c.owner_type = 'file';
WITH changed AS (
  UPDATE texts x SET tags = :f_tags, raw_tags = :raw_tags FROM chunks c
  WHERE c.namespace = :namespace AND c.owner = :owner AND c.owner_type = 'file'
    AND x.namespace = c.namespace AND x.chunk = c.n
    AND (x.tags, x.raw_tags) IS DISTINCT FROM (:f_tags, :raw_tags)
  RETURNING x.*, c.status
), {update_postings}

-- name: file_hits
SELECT t.n, t.text, t.context, t.first_sequence, t.last_sequence, t.tags, {file} {file_of_chunk}
WHERE t.n IN {each:chunks} AND t.namespace IN {each:namespaces} AND t.owner_type = 'file'{filters}

-- name: file_chunks
SELECT t.ordinal, t.text, t.context, t.first_sequence, t.last_sequence, {stored_vector} FROM chunks t
LEFT JOIN vectors v ON v.namespace = t.namespace AND v.chunk = t.n AND v.space = (SELECT id FROM spaces WHERE name = :space)
WHERE t.namespace = :namespace AND t.owner = :id AND t.owner_type = 'file' ORDER BY t.ordinal

-- name: chunk_set_following_text
-- folds: statistics
-- Give the last chunk of a message the text of the next message.
WITH changed AS (
  UPDATE texts x SET after = :f_after, raw_after = :raw_after FROM chunks c
  WHERE x.namespace = :namespace AND x.chunk = c.n
    AND (x.after, x.raw_after) IS DISTINCT FROM (:f_after, :raw_after)
    AND c.namespace = :namespace AND c.n = (
      SELECT n FROM chunks WHERE namespace = :namespace AND owner = :owner AND owner_type = 'event'
      ORDER BY ordinal DESC LIMIT 1)
  RETURNING x.*, c.status
), {update_postings}

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
  SELECT jsonb_array_elements({session_tags}::jsonb) AS tag
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
-- The rows are locked first, as by chunk_delete.
SELECT 1 FROM chunks WHERE namespace = :namespace AND session = :session AND owner_type = 'event' FOR UPDATE;
WITH gone AS (
  DELETE FROM chunks c WHERE c.namespace = :namespace AND c.session = :session AND c.owner_type = 'event'
  RETURNING c.namespace, c.n, c.status
), {delete_derived}

-- name: session_delete
-- timeout: none
-- The state is deleted first: writers that append lock it, so the rest sees all they wrote. Then the memories are
-- locked against changes, and the chunks as by chunk_delete.
DELETE FROM session_state WHERE namespace = :namespace AND session = :session;
SELECT 1 FROM memories WHERE namespace = :namespace AND session = :session ORDER BY id FOR UPDATE;
SELECT 1 FROM chunks WHERE namespace = :namespace AND session = :session FOR UPDATE;
WITH gone AS (
  DELETE FROM chunks c WHERE c.namespace = :namespace AND c.session = :session RETURNING c.namespace, c.n, c.status
), {delete_derived};
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
  SELECT m.id FROM memories m JOIN memories s ON s.namespace = m.namespace AND s.id = m.superseded_by
  WHERE m.namespace = :namespace AND s.session = :session
  UNION ALL SELECT h.memory FROM memory_history h
  JOIN memories s ON s.namespace = h.namespace AND s.id = {before_json} ->> 'superseded_by'
  WHERE h.namespace = :namespace AND s.session = :session);
DELETE FROM memories WHERE namespace = :namespace AND session = :session;
DELETE FROM events WHERE namespace = :namespace AND session = :session;
DELETE FROM files WHERE namespace = :namespace AND session = :session;
DELETE FROM hidden_messages WHERE namespace = :namespace AND session = :session;
DELETE FROM sessions WHERE namespace = :namespace AND id = :session

-- name: chunk_rows
SELECT {index_row}, {stored_vector} FROM chunks t
LEFT JOIN vectors v ON v.namespace = t.namespace AND v.chunk = t.n AND v.space = (SELECT id FROM spaces WHERE name = :space)
WHERE t.namespace = :namespace AND t.status = 'active' AND t.n > :after ORDER BY t.n LIMIT :limit

-- name: chunk_rows_of
SELECT {index_row}, {stored_vector} FROM chunks t
LEFT JOIN vectors v ON v.namespace = t.namespace AND v.chunk = t.n AND v.space = (SELECT id FROM spaces WHERE name = :space)
WHERE t.namespace = :namespace AND t.n IN {each:chunks} AND t.status = 'active' ORDER BY t.n

-- name: chunk_scan
SELECT {index_row}, {stored_vector} FROM chunks t
JOIN vectors v ON v.namespace = t.namespace AND v.chunk = t.n AND v.space = (SELECT id FROM spaces WHERE name = :space)
WHERE t.namespace IN {each:namespaces}{filters}

-- name: chunk_texts
SELECT n, text FROM chunks WHERE namespace IN {each:namespaces} AND n IN {each:chunks} AND text IS NOT NULL

-- name: chunk_newest
SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM chunk_numbers

-- name: chunk_pending
SELECT t.n, t.namespace, coalesce(t.text, m.content, e.content), coalesce(t.context, m.context) FROM chunks t
LEFT JOIN memories m ON t.owner_type = 'memory' AND m.namespace = t.namespace AND m.id = t.owner
LEFT JOIN events e ON t.owner_type = 'event' AND e.namespace = t.namespace AND e.session = t.session
  AND e.sequence = t.first_sequence
LEFT JOIN vectors v ON v.namespace = t.namespace AND v.chunk = t.n AND v.space = (SELECT id FROM spaces WHERE name = :space)
WHERE v.chunk IS NULL AND t.status = 'active' AND t.n > :after ORDER BY t.n LIMIT :limit

-- name: chunk_pending_of
SELECT t.n, t.namespace, coalesce(t.text, m.content, e.content), coalesce(t.context, m.context) FROM chunks t
LEFT JOIN memories m ON t.owner_type = 'memory' AND m.namespace = t.namespace AND m.id = t.owner
LEFT JOIN events e ON t.owner_type = 'event' AND e.namespace = t.namespace AND e.session = t.session
  AND e.sequence = t.first_sequence
LEFT JOIN vectors v ON v.namespace = t.namespace AND v.chunk = t.n AND v.space = (SELECT id FROM spaces WHERE name = :space)
WHERE t.namespace IN {each:namespaces} AND v.chunk IS NULL AND t.status = 'active' AND t.n > :after
ORDER BY t.n LIMIT :limit

-- name: chunk_pending_count
SELECT count(*) FROM chunks t WHERE t.status = 'active' AND NOT EXISTS
  (SELECT 1 FROM vectors v WHERE v.namespace = t.namespace AND v.chunk = t.n AND v.space IN
    (SELECT id FROM spaces WHERE :space::text IS NULL OR name = :space))

-- name: chunk_pending_count_of
SELECT count(*) FROM chunks t WHERE t.namespace IN {each:namespaces} AND t.status = 'active' AND NOT EXISTS
  (SELECT 1 FROM vectors v WHERE v.namespace = t.namespace AND v.chunk = t.n AND v.space IN
    (SELECT id FROM spaces WHERE :space::text IS NULL OR name = :space))

-- name: space_counts_of
SELECT s.name, s.dimension, (SELECT count(*) FROM vectors v WHERE v.space = s.id AND v.namespace IN {each:namespaces})
FROM spaces s ORDER BY s.name

-- name: statistics_add
INSERT INTO statistics (namespace, rows, tokens) VALUES (:namespace, :rows, :tokens)

-- name: statistics_fold
-- Fold many rows into one. Rows that a concurrent writer folds are left to it.
WITH old AS (
  DELETE FROM statistics s USING
    (SELECT namespace, n FROM statistics WHERE namespace = :namespace FOR UPDATE SKIP LOCKED) f
  WHERE s.namespace = f.namespace AND s.n = f.n RETURNING s.rows, s.tokens
)
INSERT INTO statistics (namespace, rows, tokens) SELECT :namespace, sum(rows), sum(tokens) FROM old HAVING count(*) > 0

-- name: chunk_vectors
SELECT v.chunk, {stored_vector} FROM vectors v
WHERE v.namespace IN {each:namespaces} AND v.chunk IN {each:chunks}
  AND v.space = (SELECT id FROM spaces WHERE name = :space)

-- name: memory_vectors
SELECT t.owner, {stored_vector} FROM chunks t JOIN vectors v ON v.namespace = t.namespace AND v.chunk = t.n
WHERE t.namespace = :namespace AND t.owner IN {each:owners} AND t.owner_type = 'memory' AND t.ordinal = 0
  AND v.space = (SELECT id FROM spaces WHERE name = :space)

-- The parts of a move that differ between engines: numbers, full text, vectors.

-- name: move_finish
-- timeout: none
-- ANALYZE, because the server has no statistics of the new rows and would plan searches badly until it gathers them
-- itself after a minute (100 ms instead of 27 ms with 20,000 rows).
DELETE FROM meta WHERE key LIKE 'move!_%' ESCAPE '!';
ANALYZE memories, events, chunks, texts, postings, statistics, vectors

-- name: put_access_log
-- sequence: put_access_log_numbers
INSERT INTO access_log (n, namespace, memory, at, how, query, score) OVERRIDING SYSTEM VALUE
VALUES (:n, :namespace, :memory, :at, :how, :query, :score)

-- name: put_access_log_numbers
-- The moved rows keep their numbers. New rows get higher ones.
SELECT setval('retentive.access_log_n_seq', :upto) FROM access_log_n_seq WHERE NOT is_called OR last_value < :upto

-- fragment: stored_chunk_columns
-- A chunk with the fields of the full text as they were written.
t.n, t.namespace, t.owner_type, t.owner, t.ordinal, t.text, t.session, t.kind, t.source, t.tags, t.confidence,
t.importance, t.status, t.valid_from, t.expires, t.first_sequence, t.last_sequence, t.hash, t.context,
x.raw_content, x.raw_context, x.raw_tags, x.raw_before, x.raw_after, x.raw_speaker, x.raw_date

-- fragment: stored_chunk
SELECT {stored_chunk_columns} FROM chunks t LEFT JOIN texts x ON x.namespace = t.namespace AND x.chunk = t.n

-- name: chunk_some
-- Chunks of a session by their hashes.
SELECT {stored_chunk_columns} FROM chunks t LEFT JOIN texts x ON x.namespace = :namespace AND x.chunk = t.n
WHERE t.namespace = :namespace AND t.session = :session AND t.hash IN {each:hashes} ORDER BY t.n

-- name: copy_chunks
-- scope: store
{stored_chunk} WHERE t.n > :k1 ORDER BY t.n LIMIT :limit

-- name: put_chunks
-- counts: chunks
-- folds: statistics
-- sequence: put_chunks_numbers
INSERT INTO chunks (n, namespace, owner_type, owner, ordinal, text, session, kind, source, tags, confidence,
                    importance, status, valid_from, expires, first_sequence, last_sequence, hash, context)
VALUES (:n, :namespace, :owner_type, :owner, :ordinal, :text, :session, :kind, :source, :tags, :confidence,
        :importance, :status, :valid_from, :expires, :first_sequence, :last_sequence, :hash, :context);
{new_full_text: of_number}

-- name: put_chunks_numbers
SELECT setval('retentive.chunk_numbers', :upto) FROM chunk_numbers WHERE NOT is_called OR last_value < :upto

-- name: copy_vectors
-- scope: store
SELECT t.namespace, t.n AS chunk, s.name AS space, s.dimension, {stored_vector}
FROM chunks t CROSS JOIN spaces s JOIN vectors v ON v.namespace = t.namespace AND v.space = s.id AND v.chunk = t.n
WHERE t.n >= :k1 AND (t.n, s.name) > (:k1, :k2) ORDER BY t.n, s.name LIMIT :limit

-- name: put_vectors
INSERT INTO vectors (namespace, space, chunk, vector)
SELECT c.namespace, s.id, c.n, :vector::halfvec FROM chunks c CROSS JOIN spaces s
WHERE c.namespace = :namespace AND c.n = :chunk AND s.name = :space

-- name: export_vectors
-- The vectors of the chunks of these owners.
SELECT t.owner_type, t.owner, t.ordinal, t.text IS NULL, s.name, {stored_vector}
FROM chunks t CROSS JOIN spaces s JOIN vectors v ON v.namespace = :namespace AND v.space = s.id AND v.chunk = t.n
WHERE t.namespace = :namespace AND t.owner IN {each:owners} AND t.owner_type IN {each:types}
ORDER BY t.owner_type, t.owner, t.ordinal, s.name

-- name: vector_restore
-- The chunk is named by its owner and ordinal.
INSERT INTO vectors (namespace, chunk, space, vector)
SELECT c.namespace, c.n, s.id, :vector::halfvec FROM chunks c CROSS JOIN spaces s WHERE {of_part} AND s.name = :space

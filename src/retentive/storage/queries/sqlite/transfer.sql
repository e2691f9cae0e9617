-- The parts of a move that differ between engines: numbers, full text, vectors.

-- name: put_access_log
INSERT INTO access_log (n, namespace, memory, at, how, query, score)
VALUES (:n, :namespace, :memory, :at, :how, :query, :score)

-- fragment: stored_chunk
-- A chunk with the fields of the full text as they were written.
SELECT t.n, t.namespace, t.owner_type, t.owner, t.ordinal, t.text, t.session, t.kind, t.source, t.tags, t.confidence,
       t.importance, t.status, t.valid_from, t.expires, t.first_sequence, t.last_sequence, t.hash, t.context,
       f.content AS f_content, f.context AS f_context, f.tags AS f_tags, f.before AS f_before, f.after AS f_after,
       f.speaker AS f_speaker, f.date AS f_date
FROM chunks t LEFT JOIN chunks_fts f ON f.rowid = t.n

-- name: copy_chunks
{stored_chunk} WHERE t.n > :k1 ORDER BY t.n LIMIT :limit

-- name: put_chunks
INSERT INTO chunks (n, namespace, owner_type, owner, ordinal, text, session, kind, source, tags, confidence, importance,
                    status, valid_from, expires, first_sequence, last_sequence, hash, context)
VALUES (:n, :namespace, :owner_type, :owner, :ordinal, :text, :session, :kind, :source, :tags, :confidence,
        :importance, :status, :valid_from, :expires, :first_sequence, :last_sequence, :hash, :context);
INSERT INTO chunks_fts (rowid, content, context, tags, before, after, speaker, date)
VALUES (:n, :f_content, :f_context, :f_tags, :f_before, :f_after, :f_speaker, :f_date);
INSERT INTO changes (namespace, chunk) VALUES (:namespace, :n);

-- name: copy_vectors
SELECT t.namespace, t.n AS chunk, s.name AS space, s.dimension, v.vector
FROM chunks t CROSS JOIN spaces s CROSS JOIN vectors v ON v.space = s.id AND v.chunk = t.n
WHERE t.n >= :k1 AND (t.n, s.name) > (:k1, :k2) ORDER BY t.n, s.name LIMIT :limit

-- name: put_vectors
INSERT INTO vectors (chunk, space, vector) VALUES (:chunk, (SELECT id FROM spaces WHERE name = :space), :vector)

-- name: export_vectors
-- The vectors of the chunks of these owners.
SELECT t.owner_type, t.owner, t.ordinal, t.text IS NULL, s.name, v.vector
FROM chunks t CROSS JOIN spaces s JOIN vectors v ON v.space = s.id AND v.chunk = t.n
WHERE t.namespace = :namespace AND t.owner IN {each:owners} AND t.owner_type IN {each:types}
ORDER BY t.owner_type, t.owner, t.ordinal, s.name

-- name: vector_restore
-- The chunk is named by its owner and ordinal.
INSERT INTO vectors (chunk, space, vector) VALUES ((SELECT n FROM chunks WHERE namespace = :namespace AND owner = :owner
  AND owner_type = :owner_type AND ordinal = :ordinal), (SELECT id FROM spaces WHERE name = :space), :vector)

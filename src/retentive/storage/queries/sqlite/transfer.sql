-- name: copy_chunks
-- With the fields of the full text as they were written.
SELECT t.n, t.namespace, t.owner_type, t.owner, t.ordinal, t.text, t.session, t.kind, t.source, t.tags, t.confidence,
       t.importance, t.status, t.valid_from, t.expires, t.first_sequence, t.last_sequence, t.hash,
       f.content AS f_content, f.context AS f_context, f.tags AS f_tags, f.before AS f_before, f.after AS f_after,
       f.speaker AS f_speaker, f.date AS f_date
FROM chunks t JOIN chunks_fts f ON f.rowid = t.n WHERE t.n > :k1 ORDER BY t.n LIMIT :limit

-- name: put_chunks
INSERT INTO chunks (n, namespace, owner_type, owner, ordinal, text, session, kind, source, tags, confidence, importance,
                    status, valid_from, expires, first_sequence, last_sequence, hash)
VALUES (:n, :namespace, :owner_type, :owner, :ordinal, :text, :session, :kind, :source, :tags, :confidence,
        :importance, :status, :valid_from, :expires, :first_sequence, :last_sequence, :hash);
INSERT INTO chunks_fts (rowid, content, context, tags, before, after, speaker, date)
VALUES (:n, :f_content, :f_context, :f_tags, :f_before, :f_after, :f_speaker, :f_date);
INSERT INTO changes (namespace, chunk) VALUES (:namespace, :n);

-- name: copy_vectors
SELECT s.name AS space, v.chunk, s.dimension, v.vector FROM vectors v JOIN spaces s ON s.id = v.space
WHERE (s.name, v.chunk) > (:k1, :k2) ORDER BY s.name, v.chunk LIMIT :limit

-- name: put_vectors
INSERT INTO spaces (name, dimension) VALUES (:space, :dimension) ON CONFLICT DO NOTHING;
INSERT INTO vectors (chunk, space, vector) VALUES (:chunk, (SELECT id FROM spaces WHERE name = :space), :vector);

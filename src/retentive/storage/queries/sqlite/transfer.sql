-- A whole store, table by table in the order of keys, as another engine takes it. `:k1`, `:k2` ... are the key of the
-- last row that was read.

-- name: copy_namespaces
SELECT name, created FROM namespaces WHERE name > :k1 ORDER BY name LIMIT :limit

-- name: put_namespaces
INSERT INTO namespaces (name, created) VALUES (:name, :created)

-- name: copy_memories
SELECT namespace, id, session, kind, content, context, tags, slot, source, origin, confidence, importance, status,
       superseded_by, content_hash, valid_from, valid_to, created, updated, expires, access_count, last_access,
       metadata, version
FROM memories WHERE (namespace, id) > (:k1, :k2) ORDER BY namespace, id LIMIT :limit

-- name: put_memories
INSERT INTO memories (namespace, id, session, kind, content, context, tags, slot, source, origin, confidence,
                      importance, status, superseded_by, content_hash, valid_from, valid_to, created, updated, expires,
                      access_count, last_access, metadata, version)
VALUES (:namespace, :id, :session, :kind, :content, :context, :tags, :slot, :source, :origin, :confidence,
        :importance, :status, :superseded_by, :content_hash, :valid_from, :valid_to, :created, :updated, :expires,
        :access_count, :last_access, :metadata, :version)

-- name: copy_memory_history
SELECT namespace, memory, version, action, at, actor, reason, before FROM memory_history
WHERE (namespace, memory, version) > (:k1, :k2, :k3) ORDER BY namespace, memory, version LIMIT :limit

-- name: put_memory_history
INSERT INTO memory_history (namespace, memory, version, action, at, actor, reason, before)
VALUES (:namespace, :memory, :version, :action, :at, :actor, :reason, :before)

-- name: copy_sessions
SELECT namespace, id, agent, tags, metadata, created FROM sessions
WHERE (namespace, id) > (:k1, :k2) ORDER BY namespace, id LIMIT :limit

-- name: put_sessions
INSERT INTO sessions (namespace, id, agent, tags, metadata, created)
VALUES (:namespace, :id, :agent, :tags, :metadata, :created)

-- name: copy_session_state
SELECT namespace, session, last_sequence, events, active, summary, summary_upto, epoch FROM session_state
WHERE (namespace, session) > (:k1, :k2) ORDER BY namespace, session LIMIT :limit

-- name: put_session_state
INSERT INTO session_state (namespace, session, last_sequence, events, active, summary, summary_upto, epoch)
VALUES (:namespace, :session, :last_sequence, :events, :active, :summary, :summary_upto, :epoch)

-- name: copy_events
SELECT namespace, session, sequence, role, speaker, content, payload, time, tokens FROM events
WHERE (namespace, session, sequence) > (:k1, :k2, :k3) ORDER BY namespace, session, sequence LIMIT :limit

-- name: put_events
INSERT INTO events (namespace, session, sequence, role, speaker, content, payload, time, tokens)
VALUES (:namespace, :session, :sequence, :role, :speaker, :content, :payload, :time, :tokens)

-- name: copy_access_log
SELECT n, namespace, memory, at, how, query, score FROM access_log WHERE n > :k1 ORDER BY n LIMIT :limit

-- name: put_access_log
INSERT INTO access_log (n, namespace, memory, at, how, query, score)
VALUES (:n, :namespace, :memory, :at, :how, :query, :score)

-- name: copy_measures
SELECT namespace, measure, tier, bucket, count FROM measures
WHERE (namespace, measure, tier, bucket) > (:k1, :k2, :k3, :k4) ORDER BY namespace, measure, tier, bucket LIMIT :limit

-- name: put_measures
INSERT INTO measures (namespace, measure, tier, bucket, count) VALUES (:namespace, :measure, :tier, :bucket, :count)

-- name: mark_move
-- A guard: whoever else moves into this store has moved on the mark.
UPDATE meta SET value = :value WHERE key = :key AND value = :before

-- name: meta_delete
DELETE FROM meta WHERE key = :key

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

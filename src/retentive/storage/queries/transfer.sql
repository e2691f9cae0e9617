-- A whole store, table by table ordered by key, for a move to another engine: `copy_*` reads and `put_*` writes.
-- `:k1`, `:k2` ... are the key of the last row of the previous page.

-- name: copy_namespaces
-- scope: store
SELECT name, created FROM namespaces WHERE name > :k1 ORDER BY name LIMIT :limit

-- name: put_namespaces
INSERT INTO namespaces (name, created) VALUES (:name, :created)

-- name: copy_spaces
SELECT name, dimension, model, state, changed FROM spaces WHERE name > :k1 ORDER BY name LIMIT :limit

-- name: put_spaces
INSERT INTO spaces (name, dimension, model, state, changed) VALUES (:name, :dimension, :model, :state, :changed)

-- name: copy_memories
-- scope: store
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
-- scope: store
SELECT namespace, memory, version, action, at, actor, reason, before FROM memory_history
WHERE (namespace, memory, version) > (:k1, :k2, :k3) ORDER BY namespace, memory, version LIMIT :limit

-- name: put_memory_history
INSERT INTO memory_history (namespace, memory, version, action, at, actor, reason, before)
VALUES (:namespace, :memory, :version, :action, :at, :actor, :reason, :before)

-- name: copy_sessions
-- scope: store
SELECT namespace, id, agent, tags, metadata, created, person FROM sessions
WHERE (namespace, id) > (:k1, :k2) ORDER BY namespace, id LIMIT :limit

-- name: put_sessions
INSERT INTO sessions (namespace, id, agent, tags, metadata, created, person)
VALUES (:namespace, :id, :agent, :tags, :metadata, :created, :person)

-- name: copy_session_state
-- scope: store
SELECT namespace, session, last_sequence, events, active, summary, summary_upto, epoch, learned_upto, claims, claims_left
FROM session_state
WHERE (namespace, session) > (:k1, :k2) ORDER BY namespace, session LIMIT :limit

-- name: put_session_state
INSERT INTO session_state (namespace, session, last_sequence, events, active, summary, summary_upto, epoch,
  learned_upto, claims, claims_left)
VALUES (:namespace, :session, :last_sequence, :events, :active, :summary, :summary_upto, :epoch,
  :learned_upto, :claims, :claims_left)

-- name: copy_events
-- scope: store
SELECT namespace, session, sequence, role, speaker, content, payload, time, tokens, heeded, tags FROM events
WHERE (namespace, session, sequence) > (:k1, :k2, :k3) ORDER BY namespace, session, sequence LIMIT :limit

-- name: put_events
INSERT INTO events (namespace, session, sequence, role, speaker, content, payload, time, tokens, heeded, tags)
VALUES (:namespace, :session, :sequence, :role, :speaker, :content, :payload, :time, :tokens, :heeded, :tags)

-- name: copy_records
-- scope: store
SELECT namespace, type, id, key, body, version, created, updated, deleted, merged_into FROM records
WHERE (namespace, type, id) > (:k1, :k2, :k3) ORDER BY namespace, type, id LIMIT :limit

-- name: put_records
INSERT INTO records (namespace, type, id, key, body, version, created, updated, deleted, merged_into)
VALUES (:namespace, :type, :id, :key, :body, :version, :created, :updated, :deleted, :merged_into)

-- name: copy_record_history
-- scope: store
SELECT namespace, type, id, version, action, at, actor, reason, body FROM record_history
WHERE (namespace, type, id, version) > (:k1, :k2, :k3, :k4) ORDER BY namespace, type, id, version LIMIT :limit

-- name: put_record_history
INSERT INTO record_history (namespace, type, id, version, action, at, actor, reason, body)
VALUES (:namespace, :type, :id, :version, :action, :at, :actor, :reason, :body)

-- name: copy_record_links
-- scope: store
SELECT namespace, target, type, id FROM record_links
WHERE (namespace, target, type, id) > (:k1, :k2, :k3, :k4) ORDER BY namespace, target, type, id LIMIT :limit

-- name: put_record_links
INSERT INTO record_links (namespace, target, type, id) VALUES (:namespace, :target, :type, :id)

-- name: copy_skill_runs
-- scope: store
SELECT namespace, skill, at, memory FROM skill_runs
WHERE (namespace, skill, at, memory) > (:k1, :k2, :k3, :k4) ORDER BY namespace, skill, at, memory LIMIT :limit

-- name: put_skill_runs
INSERT INTO skill_runs (namespace, skill, at, memory) VALUES (:namespace, :skill, :at, :memory)

-- name: copy_files
-- scope: store
SELECT namespace, id, path, session, kind, hash, size, modified, stamp, title, tags, metadata, links, unit, sections,
       mark, indexed, version
FROM files WHERE (namespace, id) > (:k1, :k2) ORDER BY namespace, id LIMIT :limit

-- name: put_files
INSERT INTO files (namespace, id, path, session, kind, hash, size, modified, stamp, title, tags, metadata, links, unit,
                   sections, mark, indexed, version)
VALUES (:namespace, :id, :path, :session, :kind, :hash, :size, :modified, :stamp, :title, :tags, :metadata, :links, :unit,
        :sections, :mark, :indexed, :version)

-- name: copy_access_log
-- scope: store
SELECT n, namespace, memory, at, how, query, score FROM access_log
WHERE (namespace, n) > (:k1, :k2) ORDER BY namespace, n LIMIT :limit

-- name: copy_purges
-- scope: store
SELECT namespace, id, at, actor, reason, gone FROM purges
WHERE (namespace, id, at) > (:k1, :k2, :k3) ORDER BY namespace, id, at LIMIT :limit

-- name: put_purges
INSERT INTO purges (namespace, id, at, actor, reason, gone) VALUES (:namespace, :id, :at, :actor, :reason, :gone)

-- name: copy_expectations
-- scope: store
SELECT namespace, id, question, session, finds, absent, depth, created FROM expectations
WHERE (namespace, id) > (:k1, :k2) ORDER BY namespace, id LIMIT :limit

-- name: put_expectations
INSERT INTO expectations (namespace, id, question, session, finds, absent, depth, created)
VALUES (:namespace, :id, :question, :session, :finds, :absent, :depth, :created)

-- name: copy_proposals
-- scope: store
SELECT namespace, id, newer, older, newer_hash, older_hash, rule, reason, status, created, decided, move_to
FROM proposals WHERE (namespace, id) > (:k1, :k2) ORDER BY namespace, id LIMIT :limit

-- name: put_proposals
INSERT INTO proposals (namespace, id, newer, older, newer_hash, older_hash, rule, reason, status, created, decided,
                       move_to)
VALUES (:namespace, :id, :newer, :older, :newer_hash, :older_hash, :rule, :reason, :status, :created, :decided, :move_to)

-- name: copy_hidden_messages
-- scope: store
SELECT namespace, session, sequence, memory, hidden FROM hidden_messages
WHERE (namespace, session, sequence, memory) > (:k1, :k2, :k3, :k4)
ORDER BY namespace, session, sequence, memory LIMIT :limit

-- name: put_hidden_messages
INSERT INTO hidden_messages (namespace, session, sequence, memory, hidden)
VALUES (:namespace, :session, :sequence, :memory, :hidden)

-- name: copy_tokens
SELECT id, hash, name, namespace, subtree, read_only, created, expires, last_used, revoked FROM tokens
WHERE id > :k1 ORDER BY id LIMIT :limit

-- name: put_tokens
INSERT INTO tokens (id, hash, name, namespace, subtree, read_only, created, expires, last_used, revoked)
VALUES (:id, :hash, :name, :namespace, :subtree, :read_only, :created, :expires, :last_used, :revoked)

-- name: copy_measures
-- scope: store
SELECT namespace, measure, tier, bucket, count FROM measures
WHERE (namespace, measure, tier, bucket) > (:k1, :k2, :k3, :k4) ORDER BY namespace, measure, tier, bucket LIMIT :limit

-- name: put_measures
INSERT INTO measures (namespace, measure, tier, bucket, count) VALUES (:namespace, :measure, :tier, :bucket, :count)

-- name: copy_quarantine
-- scope: store
SELECT namespace, id, source, row_key, reason, at, row FROM quarantine
WHERE (namespace, id) > (:k1, :k2) ORDER BY namespace, id LIMIT :limit

-- name: put_quarantine
INSERT INTO quarantine (namespace, id, source, row_key, reason, at, row)
VALUES (:namespace, :id, :source, :row_key, :reason, :at, :row)

-- name: move_advance
-- A guard: a concurrent move into this store has changed the mark.
UPDATE meta SET value = :value WHERE key = :key AND value = :before

-- name: move_finish
DELETE FROM meta WHERE key LIKE 'move!_%' ESCAPE '!'

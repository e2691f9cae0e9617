-- The rows of an export, one namespace at a time, ordered by key. `:k1`, `:k2` ... are the key of the last row of the
-- previous page. The columns are in the order of the keys of a line (`transfer/export_format.py`).

-- name: export_namespaces
SELECT name, created FROM namespaces WHERE name = :namespace

-- fragment: exported_memory
t.namespace, t.id, t.kind, t.content, t.context, t.tags, t.slot, t.session, t.source, t.origin, t.confidence,
t.importance, t.status, t.superseded_by, t.valid_from, t.valid_to, t.created, t.updated, t.expires, t.access_count,
t.last_access, t.metadata, t.version

-- name: export_memories
SELECT {exported_memory} FROM memories t WHERE t.namespace = :namespace AND t.id > :k1 ORDER BY t.id LIMIT :limit

-- name: export_memory_some
SELECT {exported_memory} FROM memories t WHERE t.namespace = :namespace AND t.id IN {each:ids}

-- name: export_memory_history
SELECT memory, version, action, at, actor, reason, before FROM memory_history
WHERE namespace = :namespace AND memory IN {each:ids} ORDER BY memory, version

-- fragment: exported_session
t.namespace, t.id, t.agent, t.tags, t.metadata, t.person, t.created, s.last_sequence, s.events, s.active, s.summary,
s.summary_upto, s.epoch, s.learned_upto, s.claims, s.claims_left

-- name: export_sessions
SELECT {exported_session} FROM sessions t JOIN session_state s ON s.namespace = :namespace AND s.session = t.id
WHERE t.namespace = :namespace AND t.id > :k1 ORDER BY t.id LIMIT :limit

-- name: export_session_some
SELECT {exported_session} FROM sessions t JOIN session_state s ON s.namespace = :namespace AND s.session = t.id
WHERE t.namespace = :namespace AND t.id IN {each:ids}

-- name: export_events
-- Events up to the last one that the session had when its own line was written.
SELECT namespace, session, sequence, role, speaker, content, payload, time, heeded, tags FROM events
WHERE namespace = :namespace AND session = :session AND sequence > :k1 AND sequence <= :upto
ORDER BY sequence LIMIT :limit

-- fragment: exported_record
t.type, t.namespace, t.id, t.body, t.version, t.created, t.updated, t.deleted, t.merged_into

-- name: export_records
SELECT {exported_record} FROM records t
WHERE t.namespace = :namespace AND (t.type, t.id) > (:k1, :k2) ORDER BY t.type, t.id LIMIT :limit

-- name: export_record_some
SELECT {exported_record} FROM records t WHERE t.namespace = :namespace AND t.type = :type AND t.id IN {each:ids}

-- name: export_record_history
SELECT type, id, version, action, at, actor, reason, body FROM record_history
WHERE namespace = :namespace AND type IN {each:types} AND id IN {each:ids} ORDER BY type, id, version

-- name: export_record_links
SELECT type, id, target FROM record_links
WHERE namespace = :namespace AND type IN {each:types} AND id IN {each:ids} ORDER BY type, id, target

-- name: export_skill_runs
SELECT namespace, skill, at, memory FROM skill_runs
WHERE namespace = :namespace AND (skill, at, memory) > (:k1, :k2, :k3) ORDER BY skill, at, memory LIMIT :limit

-- fragment: exported_file
t.namespace, t.id, t.path, t.session, t.kind, t.hash, t.size, t.modified, t.stamp, t.title, t.tags, t.metadata, t.links,
t.unit, t.mark, t.indexed, t.version

-- name: export_files
SELECT {exported_file} FROM files t WHERE t.namespace = :namespace AND t.id > :k1 ORDER BY t.id LIMIT :limit

-- name: export_file_some
SELECT {exported_file} FROM files t WHERE t.namespace = :namespace AND t.id IN {each:ids}

-- name: export_file_chunks
SELECT text, context, first_sequence, last_sequence FROM chunks
WHERE namespace = :namespace AND owner = :id AND owner_type = 'file' ORDER BY ordinal

-- name: export_expectations
SELECT namespace, id, question, session, finds, absent, depth, created FROM expectations
WHERE namespace = :namespace AND id > :k1 ORDER BY id LIMIT :limit

-- name: export_proposals
SELECT namespace, id, newer, older, newer_hash, older_hash, rule, reason, status, created, decided, move_to
FROM proposals WHERE namespace = :namespace AND id > :k1 ORDER BY id LIMIT :limit

-- name: export_hidden_messages
SELECT namespace, session, sequence, memory, hidden FROM hidden_messages
WHERE namespace = :namespace AND (session, sequence, memory) > (:k1, :k2, :k3)
ORDER BY session, sequence, memory LIMIT :limit

-- name: export_access_log
SELECT n, namespace, memory, at, how, query, score FROM access_log
WHERE namespace = :namespace AND n > :k1 ORDER BY n LIMIT :limit

-- name: export_purges
SELECT namespace, id, at, actor, reason, gone FROM purges
WHERE namespace = :namespace AND (id, at) > (:k1, :k2) ORDER BY id, at LIMIT :limit

-- name: state_restore
-- A guard: changes nothing if the session was changed since it was read.
UPDATE session_state SET last_sequence = :last_sequence, events = :events, active = :active, summary = :summary,
  summary_upto = :summary_upto, epoch = :epoch, learned_upto = :learned_upto, claims = :claims, claims_left = :claims_left
WHERE namespace = :namespace AND session = :session AND last_sequence = :old_last_sequence AND epoch = :old_epoch
  AND learned_upto = :old_learned_upto AND claims_left = :old_claims_left

-- name: purge_restore
INSERT INTO purges (namespace, id, at, actor, reason, gone) VALUES (:namespace, :id, :at, :actor, :reason, :gone)
ON CONFLICT DO NOTHING

-- name: proposal_restore
-- A guard: only while both memories are there.
INSERT INTO proposals (namespace, id, newer, older, newer_hash, older_hash, rule, reason, status, created, decided,
                       move_to)
SELECT :namespace, :id, :newer, :older, :newer_hash, :older_hash, :rule, :reason, :status, :created, :decided, :move_to
WHERE EXISTS (SELECT 1 FROM memories WHERE namespace = :namespace AND id = :newer)
  AND EXISTS (SELECT 1 FROM memories WHERE namespace = :namespace AND id = :older)

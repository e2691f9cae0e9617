-- Damaged rows that are moved out of their tables, and rows that are missing.

-- name: quarantine_insert
INSERT INTO quarantine (namespace, id, source, row_key, reason, at, row)
VALUES (:namespace, :id, :source, :row_key, :reason, :at, :row)

-- name: quarantine_list
-- scope: store
SELECT namespace, id, source, row_key, reason, at, row FROM quarantine ORDER BY at, id

-- name: quarantine_delete
DELETE FROM quarantine WHERE namespace = :namespace AND id = :id

-- name: quarantine_of
-- Damaged rows that had this id, and their history entries.
SELECT id FROM quarantine
WHERE namespace = :namespace AND (row_key = :key OR row_key LIKE :changes ESCAPE '\') ORDER BY id

-- name: quarantine_delete_of_session
-- Damaged rows of a deleted session: its own rows, its messages, and the memories local to it.
DELETE FROM quarantine WHERE namespace = :namespace
  AND (source IN ('sessions', 'session_state') AND row_key = :session OR row {like})

-- name: copy_leases
-- scope: store
SELECT namespace, name, holder, expires, span FROM leases
WHERE (namespace, name) > (:k1, :k2) ORDER BY namespace, name LIMIT :limit

-- name: copy_meta
SELECT key, value FROM meta WHERE key > :k1 ORDER BY key LIMIT :limit

-- name: remove_namespaces
DELETE FROM namespaces WHERE name = :name

-- name: remove_memories
DELETE FROM memories WHERE namespace = :namespace AND id = :id AND version = :version

-- name: remove_memory_history
DELETE FROM memory_history WHERE namespace = :namespace AND memory = :memory AND version = :version

-- name: remove_sessions
DELETE FROM sessions WHERE namespace = :namespace AND id = :id

-- name: remove_session_state
DELETE FROM session_state WHERE namespace = :namespace AND session = :session

-- name: remove_events
DELETE FROM events WHERE namespace = :namespace AND session = :session AND sequence = :sequence

-- name: remove_records
DELETE FROM records WHERE namespace = :namespace AND type = :type AND id = :id AND version = :version

-- name: remove_record_history
DELETE FROM record_history WHERE namespace = :namespace AND type = :type AND id = :id AND version = :version

-- name: remove_record_links
DELETE FROM record_links WHERE namespace = :namespace AND target = :target AND type = :type AND id = :id

-- name: remove_skill_runs
DELETE FROM skill_runs WHERE namespace = :namespace AND skill = :skill AND at = :at AND memory = :memory

-- name: remove_files
DELETE FROM files WHERE namespace = :namespace AND id = :id

-- name: remove_access_log
DELETE FROM access_log WHERE namespace = :namespace AND n = :n

-- name: remove_purges
DELETE FROM purges WHERE namespace = :namespace AND id = :id AND at = :at

-- name: remove_expectations
DELETE FROM expectations WHERE namespace = :namespace AND id = :id

-- name: remove_proposals
DELETE FROM proposals WHERE namespace = :namespace AND id = :id

-- name: remove_hidden_messages
DELETE FROM hidden_messages
WHERE namespace = :namespace AND session = :session AND sequence = :sequence AND memory = :memory

-- name: remove_tokens
DELETE FROM tokens WHERE id = :id

-- name: remove_measures
DELETE FROM measures WHERE namespace = :namespace AND measure = :measure AND tier = :tier AND bucket = :bucket

-- name: remove_quarantine
DELETE FROM quarantine WHERE namespace = :namespace AND id = :id

-- name: remove_leases
DELETE FROM leases WHERE namespace = :namespace AND name = :name

-- name: remove_spaces
DELETE FROM spaces WHERE name = :name

-- name: remove_meta
DELETE FROM meta WHERE key = :key

-- fragment: without_owner
-- A chunk `t` whose owner does not exist.
CASE t.owner_type
  WHEN 'memory' THEN NOT EXISTS (SELECT 1 FROM memories m WHERE m.namespace = t.namespace AND m.id = t.owner)
  WHEN 'event' THEN NOT EXISTS (
    SELECT 1 FROM events e WHERE e.namespace = t.namespace AND e.session = t.session AND e.sequence = t.first_sequence)
  WHEN 'file' THEN NOT EXISTS (SELECT 1 FROM files f WHERE f.namespace = t.namespace AND f.id = t.owner)
  ELSE NOT EXISTS (
    SELECT 1 FROM records r WHERE r.namespace = t.namespace AND r.type = t.owner_type AND r.id = t.owner
      AND r.deleted IS NULL)
END

-- name: orphan_chunks
-- scope: store
-- timeout: none
{stored_chunk} WHERE {without_owner} ORDER BY t.n

-- name: chunk_some
-- Chunks of a session by their hashes.
{stored_chunk} WHERE t.namespace = :namespace AND t.session = :session AND t.hash IN {each:hashes} ORDER BY t.n

-- name: orphan_memory_history
-- scope: store
-- timeout: none
SELECT namespace, memory, version, action, at, actor, reason, before FROM memory_history h
WHERE NOT EXISTS (SELECT 1 FROM memories m WHERE m.namespace = h.namespace AND m.id = h.memory)
ORDER BY namespace, memory, version

-- name: orphan_record_history
-- scope: store
-- timeout: none
SELECT namespace, type, id, version, action, at, actor, reason, body FROM record_history h
WHERE NOT EXISTS (SELECT 1 FROM records r WHERE r.namespace = h.namespace AND r.type = h.type AND r.id = h.id)
ORDER BY namespace, type, id, version

-- name: record_list_changed
-- scope: store
-- timeout: none
-- Records whose fields differ from their own version in the history.
SELECT r.namespace, r.type, r.id FROM records r
JOIN record_history h ON h.namespace = r.namespace AND h.type = r.type AND h.id = r.id
  AND h.version = r.version
WHERE r.deleted IS NULL AND h.body IS NOT NULL AND h.body <> r.body ORDER BY r.namespace, r.type, r.id

-- name: session_wrong_counts
-- scope: store
-- timeout: none
-- Sessions whose counts differ from their messages, with both figures.
SELECT s.namespace, s.session, s.events, s.last_sequence, count(e.sequence), coalesce(max(e.sequence), 0)
FROM session_state s LEFT JOIN events e ON e.namespace = s.namespace AND e.session = s.session
GROUP BY s.namespace, s.session, s.events, s.last_sequence
HAVING s.events <> count(e.sequence) OR s.last_sequence < coalesce(max(e.sequence), 0)
ORDER BY s.namespace, s.session

-- name: event_list_numbers
SELECT sequence FROM events WHERE namespace = :namespace AND session = :session ORDER BY sequence

-- name: session_set_counts
UPDATE session_state SET events = :events, last_sequence = :last_sequence
WHERE namespace = :namespace AND session = :session AND events = :before

-- fragment: without_state
-- A message `e` whose session has no row of state.
NOT EXISTS (SELECT 1 FROM session_state s WHERE s.namespace = e.namespace AND s.session = e.session)

-- fragment: without_session
-- A state `s` whose session has no row of its own.
NOT EXISTS (SELECT 1 FROM sessions t WHERE t.namespace = s.namespace AND t.id = s.session)

-- fragment: session_without_state
-- A session `t` without a row of state.
NOT EXISTS (SELECT 1 FROM session_state s WHERE s.namespace = t.namespace AND s.session = t.id)

-- name: session_list_incomplete
-- scope: store
-- timeout: none
SELECT DISTINCT e.namespace, e.session FROM events e WHERE {without_state}
UNION SELECT t.namespace, t.id FROM sessions t WHERE {session_without_state}
UNION SELECT s.namespace, s.session FROM session_state s WHERE {without_session}

-- name: session_list_without_row
-- scope: store
-- timeout: none
-- Sessions with messages but without a row of their own.
SELECT DISTINCT e.namespace, e.session FROM events e
WHERE NOT EXISTS (SELECT 1 FROM sessions t WHERE t.namespace = e.namespace AND t.id = e.session)

-- name: session_rebuild
-- scope: store
-- Rebuild the rows of sessions from their messages. The messages count as learned, so that nothing that was forgotten
-- is learned again.
INSERT INTO session_state (namespace, session, last_sequence, events, active, learned_upto)
SELECT e.namespace, e.session, max(e.sequence), count(*), max(e.time), max(e.sequence) FROM events e
WHERE {without_state} GROUP BY e.namespace, e.session;
INSERT INTO session_state (namespace, session, last_sequence, events, active)
SELECT t.namespace, t.id, 0, 0, t.created FROM sessions t WHERE {session_without_state};
INSERT INTO sessions (namespace, id, created)
SELECT s.namespace, s.session, coalesce((
  SELECT min(e.time) FROM events e WHERE e.namespace = s.namespace AND e.session = s.session), s.active)
FROM session_state s WHERE {without_session};

-- fragment: used_namespaces
SELECT namespace, created FROM memories UNION ALL SELECT namespace, created FROM sessions
UNION ALL SELECT namespace, created FROM records UNION ALL SELECT namespace, indexed FROM files

-- name: namespace_list_missing
-- scope: store
-- timeout: none
SELECT DISTINCT u.namespace FROM ({used_namespaces}) u
WHERE NOT EXISTS (SELECT 1 FROM namespaces n WHERE n.name = u.namespace) ORDER BY u.namespace

-- name: namespace_rebuild
-- scope: store
INSERT INTO namespaces (name, created)
SELECT u.namespace, min(u.created) FROM ({used_namespaces}) u
WHERE NOT EXISTS (SELECT 1 FROM namespaces n WHERE n.name = u.namespace) GROUP BY u.namespace

-- Retention and purging of memories.

-- name: memory_not_updated_since
-- Memories that were neither created, changed nor repeated since a moment.
SELECT {memory} FROM memories t WHERE t.namespace = :namespace AND t.updated < :before{filters}
ORDER BY t.updated LIMIT :limit

-- name: memory_beyond_newest
-- Memories beyond the newest `:keep`.
SELECT {memory} FROM memories t WHERE t.namespace = :namespace{filters}
ORDER BY t.updated DESC, t.id DESC LIMIT :limit OFFSET :keep

-- name: memory_superseded
-- The memories that this one superseded.
SELECT {memory} FROM memories t WHERE t.namespace = :namespace AND t.superseded_by = :id ORDER BY t.created, t.id

-- name: event_get
SELECT {event} FROM events e WHERE e.namespace = :namespace AND e.session = :session AND e.sequence = :sequence

-- name: memory_sizes
-- How many history entries, chunks, accesses and proposals a memory has.
SELECT (SELECT count(*) FROM memory_history WHERE namespace = :namespace AND memory = :id),
       (SELECT count(*) FROM chunks WHERE namespace = :namespace AND owner = :id AND owner_type = 'memory'),
       (SELECT count(*) FROM access_log WHERE namespace = :namespace AND memory = :id),
       (SELECT count(*) FROM proposals WHERE namespace = :namespace
          AND (newer = :id OR older = :id OR newer_hash = :content_hash OR older_hash = :content_hash))

-- name: memory_delete
-- A guard: only if the memory was not changed since its texts were read.
DELETE FROM memories WHERE namespace = :namespace AND id = :id AND version = :version

-- name: history_delete
DELETE FROM memory_history WHERE namespace = :namespace AND memory = :id

-- name: history_clear_reasons
-- The reasons why a memory superseded others may quote its text. `:pattern` finds its id as a successor in earlier
-- versions.
UPDATE memory_history SET reason = NULL
WHERE namespace = :namespace AND action = 'superseded' AND reason IS NOT NULL
  AND (memory IN (SELECT id FROM memories WHERE namespace = :namespace AND superseded_by = :id)
       OR memory IN (SELECT memory FROM memory_history WHERE namespace = :namespace AND before {like}))

-- name: access_delete_of_memory
-- The accesses of a memory.
DELETE FROM access_log WHERE namespace = :namespace AND memory = :id

-- name: access_delete
DELETE FROM access_log WHERE namespace = :namespace AND n = :n

-- name: question_list
-- Every question of the access log, with the memory that it found and its number.
SELECT memory, n, query FROM access_log WHERE namespace = :namespace AND query IS NOT NULL ORDER BY n

-- name: event_replace
UPDATE events SET content = :content, payload = :payload, tokens = :tokens, tags = NULL
WHERE namespace = :namespace AND session = :session AND sequence = :sequence

-- name: summary_clear
-- A concurrent summariser finds another epoch and starts again.
UPDATE session_state SET summary = '', summary_upto = 0, epoch = epoch + 1
WHERE namespace = :namespace AND session = :session

-- name: summary_invalidate
-- Refuse summaries that are being written now: a concurrent summariser finds another epoch.
UPDATE session_state SET epoch = epoch + 1 WHERE namespace = :namespace AND session = :session

-- name: purge_insert
INSERT INTO purges (namespace, id, at, actor, reason) VALUES (:namespace, :id, :now, :actor, :reason)

-- name: purge_get
SELECT at, actor, reason, gone FROM purges WHERE namespace = :namespace AND id = :id ORDER BY at DESC

-- name: purge_due
-- scope: store
-- Purges whose bytes may still be in the files of the store.
SELECT namespace, id, at FROM purges WHERE gone IS NULL ORDER BY at, id

-- name: purge_finish
UPDATE purges SET gone = :now WHERE namespace = :namespace AND id = :id AND at = :at AND gone IS NULL

-- name: text_places
-- The places of a text: the kind of row, and the row's id or number.
SELECT 'memory', t.id, 0 FROM memories t WHERE t.namespace = :namespace AND
  (t.content {like} OR t.context {like} OR t.tags {like} OR t.slot {like} OR t.origin {like} OR t.metadata {like}
   OR t.id {like} OR t.superseded_by {like} OR t.session {like})
UNION ALL
SELECT DISTINCT 'history', t.memory, 0 FROM memory_history t WHERE t.namespace = :namespace AND
  (t.before {like} OR t.reason {like})
UNION ALL
SELECT 'message', t.session, t.sequence FROM events t WHERE t.namespace = :namespace AND
  (t.content {like} OR t.payload {like} OR t.speaker {like} OR t.tags {like})
UNION ALL
SELECT 'summary', t.session, 0 FROM session_state t WHERE t.namespace = :namespace AND t.summary {like}
UNION ALL
SELECT 'claim', t.session, 0 FROM session_state t WHERE t.namespace = :namespace AND t.claims {like}
UNION ALL
SELECT 'session', t.id, 0 FROM sessions t WHERE t.namespace = :namespace AND
  (t.id {like} OR t.agent {like} OR t.tags {like} OR t.metadata {like})
UNION ALL
SELECT 'query', t.memory, t.n FROM access_log t WHERE t.namespace = :namespace AND t.query {like}
UNION ALL
SELECT t.type, t.id, 0 FROM records t WHERE t.namespace = :namespace AND t.deleted IS NULL AND t.body {like}
UNION ALL
SELECT DISTINCT t.type || ' history', t.id, 0 FROM record_history t WHERE t.namespace = :namespace AND
  (t.body {like} OR t.reason {like})
UNION ALL
SELECT 'file', t.path, 0 FROM files t WHERE t.namespace = :namespace AND
  (t.path {like} OR t.session {like} OR t.title {like} OR t.tags {like} OR t.metadata {like} OR t.links {like}
   OR t.mark {like} OR EXISTS (SELECT 1 FROM chunks c WHERE c.namespace = t.namespace AND c.owner = t.id
                               AND c.owner_type = 'file' AND (c.text {like} OR c.context {like})))
UNION ALL
SELECT 'expectation', t.id, 0 FROM expectations t WHERE t.namespace = :namespace AND
  (t.question {like} OR t.session {like} OR t.finds {like} OR t.absent {like})
UNION ALL
SELECT 'proposal', t.id, 0 FROM proposals t WHERE t.namespace = :namespace AND (t.rule {like} OR t.reason {like})
UNION ALL
SELECT 'quarantine', t.id, 0 FROM quarantine t WHERE t.namespace = :namespace AND
  (t.row {like} OR t.row_key {like} OR t.reason {like})
LIMIT :limit

-- fragment: like
LIKE :pattern ESCAPE '\'

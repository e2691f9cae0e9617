-- fragment: memory
t.id, t.namespace, t.session, t.kind, t.content, t.context, t.tags, t.slot, t.source, t.origin, t.confidence,
t.importance, t.status, t.superseded_by, t.content_hash, t.valid_from, t.valid_to, t.created, t.updated, t.expires,
t.access_count, t.last_access, t.metadata, t.version

-- name: memory_get
SELECT {memory} FROM memories t WHERE t.namespace = :namespace AND t.id = :id

-- name: memory_of_session
SELECT t.id, t.created FROM memories t WHERE t.namespace = :namespace AND t.session = :session

-- name: memory_list
-- Newest first.
SELECT {memory} FROM memories t WHERE t.namespace = :namespace{filters} ORDER BY t.created DESC, t.id DESC LIMIT :limit

-- name: memory_created_before
-- Active memories that were created before a moment, ordered by id: a page begins after the last id.
-- The plus keeps the planner from sorting all of them for each page.
SELECT {memory} FROM memories t
WHERE t.namespace = :namespace AND t.id > :after AND +t.created <= :until{filters} ORDER BY t.id LIMIT :limit

-- name: memory_most_important
SELECT {memory} FROM memories t WHERE t.namespace IN {each:namespaces} AND t.importance >= 9{filters}
ORDER BY t.importance DESC, t.created DESC, t.id DESC LIMIT :limit

-- name: memory_by_hash
-- Active memories with one of these texts, of any session (the caller compares it). Notes are left out.
SELECT {memory} FROM memories t
WHERE t.namespace = :namespace AND t.status = 'active' AND t.kind <> 'note' AND t.content_hash IN {each:hashes}

-- name: memory_ended
-- Memories with one of these texts that were superseded, expired or forgotten; and notes. Of any session.
SELECT {memory} FROM memories t
WHERE t.namespace = :namespace AND (t.status <> 'active' OR t.kind = 'note') AND t.content_hash IN {each:hashes}

-- name: memory_by_slot
SELECT {memory} FROM memories t
WHERE t.namespace = :namespace AND t.status = 'active' AND t.slot IN {each:slots}

-- fragment: in_slots
-- Active global memories in a range of slots, from some sources.
t.namespace = :namespace AND t.status = 'active' AND t.slot >= :first AND t.slot < :beyond AND t.session IS NULL
  AND t.source IN {each:sources}
  AND (t.expires IS NULL OR t.expires > :now)

-- name: memory_in_slots
SELECT {memory} FROM memories t WHERE {in_slots} ORDER BY t.slot LIMIT :limit

-- name: memory_slot_history
-- Active and superseded memories of a slot, of any session (the caller compares it).
SELECT {memory} FROM memories t
WHERE t.namespace = :namespace AND t.slot = :slot AND t.status IN ('active', 'superseded')
ORDER BY t.valid_from, t.created, t.id

-- name: memory_some
-- The memories of hits that are still in the scope: they may have changed since the index answered.
SELECT {memory} FROM memories t WHERE t.namespace IN {each:namespaces} AND t.id IN {each:ids}{filters}

-- name: memory_containing
-- The last resort of a search: memories that contain the pattern.
SELECT {memory} FROM memories t
WHERE t.namespace IN {each:namespaces}
  AND (t.content LIKE :pattern ESCAPE '\' OR t.context LIKE :pattern ESCAPE '\'){filters}
ORDER BY t.confidence DESC, t.last_access DESC, t.created DESC, t.id DESC LIMIT :limit

-- name: memory_insert
INSERT INTO memories (namespace, id, session, kind, content, context, tags, slot, source, origin, confidence, importance,
                      status, content_hash, valid_from, created, updated, expires, metadata)
VALUES (:namespace, :id, :session, :kind, :content, :context, :tags, :slot, :source, :origin, :confidence, :importance,
        'active', :content_hash, :valid_from, :created, :created, :expires, :metadata)

-- name: memory_insert_ended
-- A memory that a newer one had superseded before it was inserted.
INSERT INTO memories (namespace, id, session, kind, content, context, tags, slot, source, origin, confidence, importance,
                      status, superseded_by, content_hash, valid_from, valid_to, created, updated, expires, metadata)
VALUES (:namespace, :id, :session, :kind, :content, :context, :tags, :slot, :source, :origin, :confidence, :importance,
        'superseded', :superseded_by, :content_hash, :valid_from, :valid_to, :created, :created, :expires, :metadata)

-- name: memory_restate
UPDATE memories SET updated = :now WHERE namespace = :namespace AND id = :id AND status = 'active'

-- name: memory_unchanged
-- Changes nothing: a guard for steps that were decided on this version.
UPDATE memories SET version = version WHERE namespace = :namespace AND id = :id AND version = :version

-- name: memory_update
UPDATE memories
SET session = :session, status = :status, superseded_by = :superseded_by, valid_to = :valid_to,
    kind = :kind, content = :content, context = :context, tags = :tags, slot = :slot, confidence = :confidence,
    importance = :importance, content_hash = :content_hash, valid_from = :valid_from, expires = :expires,
    metadata = :metadata, updated = :now, version = version + 1
WHERE namespace = :namespace AND id = :id AND version = :version

-- name: memory_set_status
UPDATE memories
SET status = :status, superseded_by = :superseded_by, valid_to = :valid_to, updated = :now, version = version + 1
WHERE namespace = :namespace AND id = :id AND version = :version

-- name: memory_expired
-- scope: store
-- Active memories past their expiry.
SELECT {memory} FROM memories t WHERE t.status = 'active' AND t.expires <= :now ORDER BY t.expires LIMIT :limit

-- name: history_insert
INSERT INTO memory_history (namespace, memory, version, action, at, actor, reason, before)
VALUES (:namespace, :id, :version, :action, :now, :actor, :reason, :snapshot)

-- name: history_list
SELECT memory, version, action, at, actor, reason, before FROM memory_history
WHERE namespace = :namespace AND memory = :id ORDER BY version

-- name: namespace_insert
INSERT INTO namespaces (name, created) VALUES (:namespace, :now) ON CONFLICT DO NOTHING

-- name: namespace_list
-- scope: store
SELECT name FROM namespaces ORDER BY name

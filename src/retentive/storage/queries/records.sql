-- Structured records: profiles, contacts, projects and skills.

-- fragment: record
t.namespace, t.type, t.id, t.body, t.version, t.created, t.updated, t.deleted, t.merged_into

-- name: record_get
SELECT {record} FROM records t WHERE t.namespace = :namespace AND t.type = :type AND t.id = :id

-- name: record_by_key
-- Records by their normalised name.
SELECT {record} FROM records t
WHERE t.namespace = :namespace AND t.type = :type AND t.key = :key AND t.deleted IS NULL ORDER BY t.id

-- name: record_list
SELECT {record} FROM records t
WHERE t.namespace = :namespace AND t.type = :type AND t.deleted IS NULL{filters} ORDER BY t.key, t.id LIMIT :limit

-- fragment: after_record
 AND (t.key, t.id) > (SELECT key, id FROM records WHERE namespace = :namespace AND type = :type AND id = :after)

-- name: record_some
-- The records of hits that still exist.
SELECT {record} FROM records t
WHERE t.namespace IN {each:namespaces} AND t.type IN {each:types} AND t.id IN {each:ids} AND t.deleted IS NULL

-- name: record_insert
INSERT INTO records (namespace, type, id, key, body, version, created, updated, deleted, merged_into)
VALUES (:namespace, :type, :id, :key, :body, :version, :now, :now, :deleted, :merged_into)

-- name: record_update
UPDATE records SET key = :key, body = :body, version = :version, updated = :now, deleted = :deleted,
                   merged_into = :merged_into
WHERE namespace = :namespace AND type = :type AND id = :id AND version = :version - 1

-- name: record_unchanged
-- Changes nothing: a guard for steps that were decided on this version.
UPDATE records SET version = version
WHERE namespace = :namespace AND type = :type AND id = :id AND version = :version AND deleted IS NULL

-- name: fact_unchanged
-- Changes nothing: a guard for steps that copy this fact into a profile.
UPDATE memories SET version = version
WHERE namespace = :namespace AND id = :id AND content_hash = :hash AND status = 'active'

-- name: profile_unchanged
-- A guard for a purge: the profile is at this version, 0 if there is none. It locks no row of a profile, because a
-- writer of a profile locks that before the facts.
UPDATE namespaces SET name = name WHERE name = :namespace AND :version = coalesce(
  (SELECT r.version FROM records r WHERE r.namespace = :namespace AND r.type = 'profile' AND r.id = :id), 0)

-- name: profile_and_facts
-- The profile and the facts about the user in one read. Facts have a slot, the profile has none.
SELECT '', body, '', version, created, updated FROM records
WHERE namespace = :namespace AND type = 'profile' AND id = :id
UNION ALL
SELECT t.slot, t.id, t.content_hash, 0, 0, 0 FROM memories t WHERE {in_slots}

-- name: revision_insert
INSERT INTO record_history (namespace, type, id, version, action, at, actor, reason, body)
VALUES (:namespace, :type, :id, :version, :action, :now, :actor, :reason, :kept)

-- name: revision_list
SELECT id, version, action, at, actor, reason, body FROM record_history
WHERE namespace = :namespace AND type = :type AND id = :id ORDER BY version

-- name: revision_rewrite
UPDATE record_history SET body = :body
WHERE namespace = :namespace AND type = :type AND id = :id AND version = :version

-- name: record_list_merged
-- The records that were merged into this one.
SELECT {record} FROM records t
WHERE t.namespace = :namespace AND t.type = :type AND t.merged_into = :id ORDER BY t.updated, t.id

-- name: link_insert
INSERT INTO record_links (namespace, target, type, id) VALUES (:namespace, :target, :type, :id)

-- name: link_delete
-- The links of a record to contacts.
DELETE FROM record_links WHERE namespace = :namespace AND type = :type AND id = :id

-- name: link_count_unchanged
-- A guard: refused if another record has linked to the target since the links were read.
UPDATE records SET version = version WHERE namespace = :namespace AND type = 'contact' AND id = :target
  AND :count = (SELECT count(*) FROM record_links l WHERE l.namespace = :namespace AND l.target = :target)

-- name: link_list
-- The records that link to this one.
SELECT type, id FROM record_links WHERE namespace = :namespace AND target = :target ORDER BY type, id

-- name: run_insert
INSERT INTO skill_runs (namespace, skill, at, memory) VALUES (:namespace, :skill, :at, :memory)
ON CONFLICT DO NOTHING

-- name: run_delete
DELETE FROM skill_runs WHERE namespace = :namespace AND skill = :skill

-- name: run_last
-- When each of these skills ran last.
SELECT skill, max(at) FROM skill_runs WHERE namespace = :namespace AND skill IN {each:skills} GROUP BY skill

-- name: run_list
SELECT memory FROM skill_runs WHERE namespace = :namespace AND skill = :skill ORDER BY at DESC, memory DESC LIMIT :limit

-- name: record_delete
-- A guard: only if the record was not changed since its texts were read.
DELETE FROM records WHERE namespace = :namespace AND type = :type AND id = :id AND version = :version

-- name: revision_delete
DELETE FROM record_history WHERE namespace = :namespace AND type = :type AND id = :id

-- name: chunk_containing
-- The last resort of a search: chunks of records and files that contain the pattern.
SELECT t.n, 0.0, t.owner, t.owner_type, t.valid_from, t.confidence, t.importance, t.namespace FROM chunks t
WHERE t.namespace IN {each:namespaces} AND t.owner_type NOT IN ('memory', 'event') AND t.text {like}{filters}
ORDER BY t.valid_from DESC, t.n DESC LIMIT :limit

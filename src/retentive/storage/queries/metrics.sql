-- name: access_insert
-- searched: no
-- Only if the memory exists: it may have been deleted since it was read.
INSERT INTO access_log (namespace, memory, at, how, query, score)
SELECT :namespace, :id, :at, :how, :query, :score
WHERE EXISTS (SELECT 1 FROM memories WHERE namespace = :namespace AND id = :id)

-- name: access_count
-- searched: no
UPDATE memories SET access_count = access_count + :count, last_access = CASE WHEN last_access > :at THEN last_access ELSE :at END
WHERE namespace = :namespace AND id = :id

-- name: access_prune
-- searched: no
DELETE FROM access_log WHERE namespace = :namespace AND n <=
  (SELECT n FROM access_log WHERE namespace = :namespace ORDER BY n DESC LIMIT 1 OFFSET :keep)

-- name: access_list
SELECT n, memory, at, how, query, score FROM access_log
WHERE namespace = :namespace AND (:id IS NULL OR memory = :id) ORDER BY n DESC LIMIT :limit

-- name: measure_add
-- searched: no
INSERT INTO measures (namespace, measure, tier, bucket, count) VALUES (:namespace, :measure, :tier, :bucket, :count)
ON CONFLICT (namespace, measure, tier, bucket) DO UPDATE SET count = measures.count + excluded.count

-- name: usage_add
-- A guard: refused at the limit.
INSERT INTO measures (namespace, measure, tier, bucket, count) VALUES (:namespace, :measure, '', :day, :count)
ON CONFLICT (namespace, measure, tier, bucket) DO UPDATE SET count = measures.count + excluded.count
WHERE measures.count < :limit

-- name: usage_get
SELECT count FROM measures WHERE namespace = :namespace AND measure = :measure AND tier = '' AND bucket = :day

-- name: measure_list
SELECT measure, tier, bucket, count FROM measures WHERE namespace = :namespace ORDER BY measure, tier, bucket

-- name: memory_count
-- How many memories there are of each kind, source and status.
SELECT kind, source, CASE WHEN status = 'active' AND expires <= :now THEN 'expired' ELSE status END, count(*)
FROM memories WHERE namespace = :namespace GROUP BY 1, 2, 3

-- name: change_prune
DELETE FROM changes WHERE seq <= :floor

-- name: meta_get
SELECT value FROM meta WHERE key = :key

-- name: meta_set
INSERT INTO meta (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value

-- name: copy_note_list
-- Folders in which a copy of the store is being written, or was when its writer was killed.
SELECT key, value FROM meta WHERE key >= 'copy_' AND key < 'copy`' ORDER BY key

-- name: copy_note_delete
DELETE FROM meta WHERE key = :key

-- name: lease_release
-- searched: no
DELETE FROM leases WHERE namespace = :namespace AND name = :name AND holder = :holder

-- name: work_due
-- scope: store
-- Whether there is background work. Asked every few seconds, so each part reads only the end of an index.
SELECT (SELECT coalesce(max(seq), 0) FROM changes), (SELECT coalesce(max(n), 0) FROM chunks),
  EXISTS (SELECT 1 FROM session_state WHERE active <= :silent AND (learned_upto < last_sequence OR claims_left > 0)),
  EXISTS (SELECT 1 FROM memories WHERE status = 'active' AND expires <= :now),
  EXISTS (SELECT 1 FROM purges WHERE gone IS NULL)

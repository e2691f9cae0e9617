-- Checks of a store, each of which counts 0 if all is well; and the rebuilding of derived rows.

-- fragment: of_memory
c.namespace = m.namespace AND c.owner = m.id AND c.owner_type = 'memory'

-- fragment: broken_chunks
-- Memories with a chunk of another status or without its texts, or that lack a chunk in between or at the end.
SELECT m.namespace, m.id FROM memories m
WHERE EXISTS (SELECT 1 FROM chunks c WHERE {of_memory} AND (c.status <> m.status OR NOT EXISTS
                (SELECT 1 FROM texts x WHERE x.namespace = c.namespace AND x.chunk = c.n AND x.raw_content IS NOT NULL)))
   OR (SELECT max(c.ordinal) + 1 <> count(*) FROM chunks c WHERE {of_memory})
   OR NOT EXISTS (SELECT 1 FROM chunks c WHERE {of_memory}
                  AND (c.text IS NULL OR right(m.content, length(c.text)) = c.text))

-- name: memory_broken_chunks
-- scope: store
-- timeout: none
{broken_chunks}

-- name: record_chunks
-- The chunks of records that are in the full text.
SELECT t.owner, t.text, t.status FROM chunks t JOIN texts x ON x.namespace = :namespace AND x.chunk = t.n
WHERE t.namespace = :namespace AND t.owner_type = :type AND t.owner IN {each:ids}
  AND x.raw_content IS NOT NULL
ORDER BY t.owner, t.ordinal

-- name: check_memories
-- scope: store
-- timeout: none
SELECT count(*) FROM ({broken_chunks}) b

-- name: check_files
-- scope: store
-- Files that lack a chunk, or whose chunk is not in the full text.
SELECT f.namespace, f.id, f.path FROM files f WHERE f.sections <>
  (SELECT count(*) FROM chunks t WHERE t.namespace = f.namespace AND t.owner = f.id AND t.owner_type = 'file' AND EXISTS
    (SELECT 1 FROM texts x WHERE x.namespace = t.namespace AND x.chunk = t.n AND x.raw_content IS NOT NULL))

-- name: check_chunks
-- scope: store
-- timeout: none
SELECT (SELECT count(*) FROM chunks c LEFT JOIN texts x ON x.namespace = c.namespace AND x.chunk = c.n
        WHERE x.raw_content IS NULL)
     + (SELECT count(*) FROM texts x LEFT JOIN chunks c ON c.namespace = x.namespace AND c.n = x.chunk
        WHERE c.n IS NULL)

-- fragment: all_postings
SELECT x.namespace, word.term, x.chunk, word.frequency, cardinality(x.terms) AS length, c.status = 'active' AS active
FROM texts x JOIN chunks c ON c.namespace = x.namespace AND c.n = x.chunk CROSS JOIN LATERAL {frequencies}

-- name: check_postings
-- scope: store
-- timeout: none
SELECT count(*) FROM ({all_postings}) w
FULL JOIN postings p ON p.namespace = w.namespace AND p.term = w.term AND p.chunk = w.chunk
WHERE p.chunk IS NULL OR w.chunk IS NULL OR p.length <> w.length OR p.active <> w.active
   OR abs(p.frequency - w.frequency) > 0.001

-- name: check_vectors
-- scope: store
-- timeout: none
SELECT count(*) FROM vectors v LEFT JOIN chunks c ON c.namespace = v.namespace AND c.n = v.chunk
WHERE c.n IS NULL OR v.space NOT IN (SELECT id FROM spaces)

-- fragment: all_statistics
SELECT c.namespace, count(*) AS rows, sum(cardinality(x.terms)) AS tokens
FROM chunks c JOIN texts x ON x.namespace = c.namespace AND x.chunk = c.n
WHERE c.status = 'active' GROUP BY c.namespace

-- name: check_statistics
-- scope: store
-- timeout: none
SELECT count(*) FROM ({all_statistics}) w
FULL JOIN (SELECT namespace, sum(rows) AS rows, sum(tokens) AS tokens FROM statistics GROUP BY namespace) s
  ON s.namespace = w.namespace
WHERE coalesce(w.rows, 0) <> coalesce(s.rows, 0) OR coalesce(w.tokens, 0) <> coalesce(s.tokens, 0)

-- name: check_indexes
-- Indexes that were not finished, unless another session is building them.
SELECT i.indexrelid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relnamespace = 'retentive'::regnamespace AND NOT i.indisvalid
  AND i.indexrelid NOT IN (SELECT index_relid FROM pg_stat_progress_create_index)

-- name: derived_rebuild
-- scope: store
-- timeout: none
-- Delete rows without an owner, and rebuild postings and statistics from the texts. Readers go on, writers wait.
LOCK TABLE chunks, texts, postings, statistics, vectors IN SHARE ROW EXCLUSIVE MODE;
DELETE FROM chunks c WHERE c.owner_type = 'memory' AND NOT EXISTS
  (SELECT 1 FROM memories m WHERE m.namespace = c.namespace AND m.id = c.owner);
DELETE FROM chunks c WHERE c.owner_type = 'event' AND NOT EXISTS
  (SELECT 1 FROM events e WHERE e.namespace = c.namespace AND e.session = c.session AND e.sequence = c.first_sequence);
DELETE FROM chunks c WHERE c.owner_type IN ('profile', 'contact', 'project', 'skill') AND NOT EXISTS
  (SELECT 1 FROM records r WHERE r.namespace = c.namespace AND r.type = c.owner_type AND r.id = c.owner
   AND r.deleted IS NULL);
DELETE FROM chunks c WHERE c.owner_type = 'file' AND NOT EXISTS
  (SELECT 1 FROM files f WHERE f.namespace = c.namespace AND f.id = c.owner);
DELETE FROM texts x WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.namespace = x.namespace AND c.n = x.chunk);
DELETE FROM vectors v WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.namespace = v.namespace AND c.n = v.chunk)
  OR v.space NOT IN (SELECT id FROM spaces);
DELETE FROM postings;
INSERT INTO postings (namespace, term, chunk, frequency, length, active) {all_postings};
DELETE FROM statistics;
INSERT INTO statistics (namespace, rows, tokens) {all_statistics}

-- name: facts
SELECT (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
        WHERE c.relnamespace = 'retentive'::regnamespace AND c.relkind IN ('r', 'm')),
       (SELECT max(number) FROM migrations), current_setting('server_version'),
       (SELECT extversion FROM pg_extension WHERE extname = 'vector')

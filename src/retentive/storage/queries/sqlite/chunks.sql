-- Chunks with their rows in SQLite's full text and change log. The statements of one query run one after the other.

-- fragment: new_chunk
INSERT INTO chunks (namespace, owner_type, owner, ordinal, text, session, kind, source, tags, confidence, importance,
                    status, valid_from, expires)
VALUES (:namespace, :owner_type, :owner, :ordinal, :text, :session, :kind, :source, :tags, :confidence, :importance,
        'active', :valid_from, :expires);

-- fragment: new_number
-- The number of the chunk that was just inserted.
(SELECT max(n) FROM chunks)

-- fragment: new_text
INSERT INTO chunks_fts (rowid, content, context, tags, before, after, speaker, date)
VALUES ({new_number}, :f_content, :f_context, :f_tags, :f_before, :f_after, :f_speaker, :f_date);
INSERT INTO changes (namespace, chunk) VALUES (:namespace, {new_number});

-- fragment: new_vector
INSERT INTO vectors (chunk, space, vector)
VALUES ({new_number}, (SELECT id FROM spaces WHERE name = :space), :vector);

-- fragment: is_undamaged
-- SQLite stores any value in any column. A damaged chunk is left out of searches until it is repaired.
 AND typeof(t.owner) = 'text' AND typeof(t.session) IN ('text', 'null') AND t.importance BETWEEN 1 AND 10
 AND t.confidence BETWEEN 0 AND 1 AND t.valid_from BETWEEN -62135596800000000 AND 253402300799999999
 AND (t.expires IS NULL OR t.expires BETWEEN -62135596800000000 AND 253402300799999999)

-- name: chunk_insert
-- The vector is pending.
{new_chunk}
{new_text}

-- name: chunk_insert_embedded
{new_chunk}
{new_text}
{new_vector}

-- fragment: new_file_chunk
INSERT INTO chunks (namespace, owner_type, owner, ordinal, text, session, kind, source, tags, confidence, importance,
                    status, valid_from, first_sequence, last_sequence, context)
VALUES (:namespace, 'file', :owner, :ordinal, :text, :session, 'file', 'file', :tags, :confidence, :importance,
        'active', :valid_from, :first, :last, :context);

-- name: file_chunk_insert
-- The vector is pending.
{new_file_chunk}
{new_text}

-- name: file_chunk_insert_embedded
{new_file_chunk}
{new_text}
{new_vector}

-- fragment: rest_of_file
SELECT n FROM chunks WHERE namespace = :namespace AND owner = :owner AND owner_type = 'file' AND ordinal >= :first

-- name: file_chunk_delete
-- Delete the chunks of a file from an ordinal on.
INSERT INTO changes (namespace, chunk)
SELECT namespace, n FROM chunks WHERE namespace = :namespace AND owner = :owner AND owner_type = 'file'
  AND ordinal >= :first;
DELETE FROM chunks_fts WHERE rowid IN ({rest_of_file});
DELETE FROM vectors WHERE space IN (SELECT id FROM spaces) AND chunk IN ({rest_of_file});
DELETE FROM chunks WHERE namespace = :namespace AND owner = :owner AND owner_type = 'file' AND ordinal >= :first;

-- name: file_chunk_refresh
-- The name or the tags of the file changed, or another part of it.
UPDATE chunks SET tags = :tags, valid_from = :valid_from
WHERE namespace = :namespace AND owner = :owner AND owner_type = 'file';
UPDATE chunks_fts SET tags = :f_tags WHERE rowid IN
  (SELECT n FROM chunks WHERE namespace = :namespace AND owner = :owner AND owner_type = 'file');
INSERT INTO changes (namespace, chunk)
SELECT namespace, n FROM chunks WHERE namespace = :namespace AND owner = :owner AND owner_type = 'file';

-- name: chunk_delete
INSERT INTO changes (namespace, chunk)
SELECT namespace, n FROM chunks WHERE namespace = :namespace AND owner = :owner AND owner_type = :owner_type;
DELETE FROM chunks_fts WHERE rowid IN
  (SELECT n FROM chunks WHERE namespace = :namespace AND owner = :owner AND owner_type = :owner_type);
DELETE FROM vectors WHERE space IN (SELECT id FROM spaces) AND chunk IN
  (SELECT n FROM chunks WHERE namespace = :namespace AND owner = :owner AND owner_type = :owner_type);
DELETE FROM chunks WHERE namespace = :namespace AND owner = :owner AND owner_type = :owner_type;

-- name: chunk_set_status
UPDATE chunks SET status = :status
WHERE namespace = :namespace AND owner = :owner AND owner_type = :owner_type;
INSERT INTO changes (namespace, chunk)
SELECT namespace, n FROM chunks WHERE namespace = :namespace AND owner = :owner AND owner_type = :owner_type;

-- name: chunk_refresh
-- The owner changed, but not the text that is chunked and embedded.
UPDATE chunks SET kind = :kind, tags = :tags, confidence = :confidence, importance = :importance,
                  valid_from = :valid_from, expires = :expires
WHERE namespace = :namespace AND owner = :owner AND owner_type = :owner_type;
UPDATE chunks_fts SET context = :f_context, tags = :f_tags WHERE rowid IN
  (SELECT n FROM chunks WHERE namespace = :namespace AND owner = :owner AND owner_type = :owner_type);
INSERT INTO changes (namespace, chunk)
SELECT namespace, n FROM chunks WHERE namespace = :namespace AND owner = :owner AND owner_type = :owner_type;

-- name: vector_upsert
-- Only if the chunk exists: it may have been replaced since its text was read.
INSERT INTO vectors (chunk, space, vector)
SELECT c.n, s.id, :vector FROM chunks c JOIN spaces s ON s.name = :space WHERE c.n = :chunk
ON CONFLICT (space, chunk) DO UPDATE SET vector = excluded.vector;
INSERT INTO changes (namespace, chunk) VALUES (:namespace, :chunk);

-- name: memory_vectors
SELECT t.owner, v.vector FROM chunks t JOIN vectors v ON v.chunk = t.n
WHERE t.namespace = :namespace AND t.owner IN {each:owners} AND t.owner_type = 'memory' AND t.ordinal = 0
  AND v.space = (SELECT id FROM spaces WHERE name = :space)

-- name: chunk_vectors
SELECT v.chunk, v.vector FROM vectors v JOIN chunks t ON t.n = v.chunk
WHERE v.chunk IN {each:chunks} AND t.namespace IN {each:namespaces}
  AND v.space = (SELECT id FROM spaces WHERE name = :space)

-- name: text_search
SELECT t.n, -bm25(chunks_fts, {weights}) AS score, t.owner, t.owner_type, t.valid_from, t.confidence, t.importance,
  t.namespace
FROM chunks_fts JOIN chunks t ON t.n = chunks_fts.rowid
WHERE chunks_fts MATCH :match AND t.namespace IN {each:namespaces}{filters} {is_undamaged}
ORDER BY score DESC, t.valid_from DESC, t.n DESC LIMIT :limit

-- name: text_postings
-- Each term with the chunks and the columns of its occurrences.
SELECT v.term, group_concat(v.doc), group_concat(CASE v.col
  WHEN 'content' THEN 0 WHEN 'context' THEN 1 WHEN 'tags' THEN 2 WHEN 'before' THEN 3 WHEN 'after' THEN 4
  WHEN 'speaker' THEN 5 ELSE 6 END) FROM chunks_terms v
WHERE v.doc IN (SELECT n FROM chunks WHERE namespace = :namespace AND status = 'active') GROUP BY v.term

-- name: term_known
-- The terms that occur in a text of these namespaces.
SELECT w.value FROM json_each(:terms) w
WHERE EXISTS (SELECT 1 FROM chunks_terms v JOIN chunks t ON t.n = v.doc
              WHERE v.term = w.value AND t.namespace IN {each:namespaces})

-- name: term_count
-- About how many rows of these namespaces have each term; terms that no text has are left out. Rows are counted in the
-- whole store, up to :most, and taken to be spread evenly: some thirty rows tell the share of the namespaces. Where they
-- have fewer than :most rows at all, one is enough.
WITH RECURSIVE
place (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM place WHERE i < 31),
newest (n) AS MATERIALIZED (SELECT max(n) FROM chunks),
share (part) AS MATERIALIZED (
  SELECT coalesce(avg(t.namespace IN {each:namespaces}), 0) FROM place, newest
  JOIN chunks t ON t.n = 1 + place.i * (newest.n - 1) / 31
)
SELECT term, found * (SELECT part FROM share) FROM (
  SELECT w.value AS term, (SELECT count(*) FROM (
    SELECT 1 FROM chunks_terms v WHERE v.term = w.value
    LIMIT iif((SELECT part * n FROM share, newest) < :most, 1, :most)
  )) AS found FROM json_each(:terms) w
) WHERE found > 0

-- name: term_rows
-- How many rows of these namespaces have each term, of the first :most that have it; no row for terms that no text has.
SELECT term, found FROM (
  SELECT w.value AS term, (
    SELECT count(DISTINCT v.doc) FROM (SELECT doc FROM chunks_terms WHERE term = w.value LIMIT :most) v
    JOIN chunks t ON t.n = v.doc WHERE t.namespace IN {each:namespaces}
  ) AS found FROM json_each(:terms) w
) WHERE found > 0

-- name: text_fields
SELECT rowid, content, context, tags, before, after, speaker, date FROM chunks_fts
WHERE rowid IN {each:chunks}

-- fragment: of_memory
c.namespace = m.namespace AND c.owner = m.id AND c.owner_type = 'memory'

-- name: memory_broken_chunks
-- Memories with a chunk of another status or not in the full text, or that lack a chunk in between or at the end.
SELECT m.namespace, m.id FROM memories m
WHERE EXISTS (SELECT 1 FROM chunks c WHERE {of_memory}
              AND (c.status <> m.status OR NOT EXISTS (SELECT 1 FROM chunks_fts_docsize WHERE id = c.n)))
   OR (SELECT max(c.ordinal) + 1 <> count(*) FROM chunks c WHERE {of_memory})
   OR NOT EXISTS (SELECT 1 FROM chunks c WHERE {of_memory}
                  AND (c.text IS NULL OR substr(m.content, -length(c.text)) = c.text))

-- name: record_chunks
-- The chunks of records that are in the full text.
SELECT t.owner, t.text, t.status FROM chunks t
WHERE t.namespace = :namespace AND t.owner_type = :type AND t.owner IN {each:ids}
  AND EXISTS (SELECT 1 FROM chunks_fts_docsize WHERE id = t.n)
ORDER BY t.owner, t.ordinal

-- name: check_files
-- Files that lack a chunk, or whose chunk is not in the full text.
SELECT f.namespace, f.id, f.path FROM files f WHERE f.sections <>
  (SELECT count(*) FROM chunks t WHERE t.namespace = f.namespace AND t.owner = f.id AND t.owner_type = 'file' AND EXISTS
    (SELECT 1 FROM chunks_fts_docsize WHERE id = t.n))

-- name: remove_chunks
-- Delete one chunk and what is derived from it.
INSERT INTO changes (namespace, chunk) SELECT namespace, n FROM chunks WHERE n = :n;
DELETE FROM chunks_fts WHERE rowid = :n;
DELETE FROM vectors WHERE space IN (SELECT id FROM spaces) AND chunk = :n;
DELETE FROM chunks WHERE n = :n;

-- name: remove_vectors
DELETE FROM vectors WHERE chunk = :chunk AND space = (SELECT id FROM spaces WHERE name = :space);
INSERT INTO changes (namespace, chunk) SELECT namespace, n FROM chunks WHERE n = :chunk;

-- name: text_rebuild
-- Rebuild the full-text index from its rows.
INSERT INTO chunks_fts (chunks_fts) VALUES ('rebuild')

-- name: derived_rebuild
-- Delete rows without an owner, and rebuild the full-text index.
DELETE FROM chunks WHERE owner_type = 'memory' AND NOT EXISTS
  (SELECT 1 FROM memories m WHERE m.namespace = chunks.namespace AND m.id = chunks.owner);
DELETE FROM chunks WHERE owner_type = 'event' AND NOT EXISTS
  (SELECT 1 FROM events e WHERE e.namespace = chunks.namespace AND e.session = chunks.session
   AND e.sequence = chunks.first_sequence);
DELETE FROM chunks WHERE owner_type IN ('profile', 'contact', 'project', 'skill') AND NOT EXISTS
  (SELECT 1 FROM records r WHERE r.namespace = chunks.namespace AND r.type = chunks.owner_type AND r.id = chunks.owner
   AND r.deleted IS NULL);
DELETE FROM chunks WHERE owner_type = 'file' AND NOT EXISTS
  (SELECT 1 FROM files f WHERE f.namespace = chunks.namespace AND f.id = chunks.owner);
DELETE FROM vectors WHERE chunk NOT IN (SELECT n FROM chunks) OR space NOT IN (SELECT id FROM spaces);
DELETE FROM changes WHERE typeof(chunk) <> 'integer' OR typeof(namespace) <> 'text';
INSERT INTO chunks_fts (chunks_fts) VALUES ('rebuild');
DELETE FROM chunks_fts WHERE rowid NOT IN (SELECT n FROM chunks);

-- Indexed files. `:within` is the session of a file, empty if it has none.

-- fragment: file
f.namespace, f.id, f.path, f.session, f.kind, f.hash, f.size, f.modified, f.stamp, f.title, f.tags, f.metadata, f.links,
f.unit, f.sections, f.mark, f.indexed, f.version

-- name: file_get
SELECT {file} FROM files f WHERE f.namespace = :namespace AND f.id = :id

-- name: file_by_path
SELECT {file} FROM files f
WHERE f.namespace = :namespace AND f.path IN {each:paths} AND coalesce(f.session, '') = :within

-- name: file_in_folder
-- The files of a folder, ordered by path.
SELECT {file} FROM files f
WHERE f.namespace = :namespace AND f.path >= :first AND f.path < :beyond AND coalesce(f.session, '') = :within
  AND f.path > :after
ORDER BY f.path LIMIT :limit

-- name: file_list
-- Files ordered by path: of one session, of none, or all.
SELECT {file} FROM files f
WHERE f.namespace = :namespace AND (f.path, coalesce(f.session, '')) > (:after, :after_session)
  AND (:any = 1 OR coalesce(f.session, '') = :within)
ORDER BY f.path, coalesce(f.session, '') LIMIT :limit

-- name: file_counts
-- How many files and chunks of files there are.
SELECT count(*), coalesce(sum(f.sections), 0) FROM files f WHERE f.namespace = :namespace

-- fragment: file_of_chunk
FROM chunks t JOIN files f ON f.namespace = t.namespace AND f.id = t.owner

-- name: file_hits
-- The files of hits that are still in the scope, each with its chunk's text and position.
SELECT t.n, t.text, t.context, t.first_sequence, t.last_sequence, t.tags, {file} {file_of_chunk}
WHERE t.n IN {each:chunks} AND +t.namespace IN {each:namespaces} AND t.owner_type = 'file'{filters}

-- name: file_chunks
-- The chunks of a file with their vectors in a space.
SELECT t.ordinal, t.text, t.context, t.first_sequence, t.last_sequence, v.vector FROM chunks t
LEFT JOIN vectors v ON v.chunk = t.n AND v.space = (SELECT id FROM spaces WHERE name = :space)
WHERE t.namespace = :namespace AND t.owner = :id AND t.owner_type = 'file' ORDER BY t.ordinal

-- name: file_insert
INSERT INTO files (namespace, id, path, session, kind, hash, size, modified, stamp, title, tags, metadata, links, unit,
                   sections, mark, indexed, version)
VALUES (:namespace, :id, :path, :session, :kind, :hash, :size, :modified, :stamp, :title, :tags, :metadata, :links, :unit,
        :sections, :mark, :indexed, :version)

-- name: file_update
-- A guard: only if the file was not changed since this was decided.
UPDATE files SET path = :path, kind = :kind, hash = :hash, size = :size, modified = :modified, stamp = :stamp,
  title = :title, tags = :tags, metadata = :metadata, links = :links, unit = :unit, sections = :sections, mark = :mark,
  indexed = :indexed, version = :version
WHERE namespace = :namespace AND id = :id AND version = :version - 1

-- name: file_set_stamp
-- Only the stamp: the file was touched, its content is the same.
UPDATE files SET stamp = :stamp WHERE namespace = :namespace AND id = :id AND version = :version

-- name: file_reset
-- Make the next indexing read the file again.
UPDATE files SET stamp = '', hash = '', mark = NULL, version = version + 1 WHERE namespace = :namespace AND id = :id

-- name: file_delete
DELETE FROM files WHERE namespace = :namespace AND id = :id AND version = :version

-- Files that were indexed. `:within` is the session they are of, empty for those of none.

-- fragment: file
f.namespace, f.id, f.path, f.session, f.kind, f.hash, f.size, f.modified, f.stamp, f.title, f.tags, f.metadata, f.links,
f.unit, f.sections, f.mark, f.indexed, f.version

-- name: file_get
SELECT {file} FROM files f WHERE f.namespace = :namespace AND f.id = :id

-- name: file_at
SELECT {file} FROM files f
WHERE f.namespace = :namespace AND f.path IN {each:paths} AND coalesce(f.session, '') = :within

-- name: file_below
-- Those in a folder, in the order of their paths.
SELECT {file} FROM files f
WHERE f.namespace = :namespace AND f.path >= :first AND f.path < :beyond AND coalesce(f.session, '') = :within
  AND f.path > :after
ORDER BY f.path LIMIT :limit

-- name: file_list
-- In the order of their paths; of one session, or of any and none.
SELECT {file} FROM files f
WHERE f.namespace = :namespace AND (f.path, coalesce(f.session, '')) > (:after, :after_session)
  AND (:any = 1 OR coalesce(f.session, '') = :within)
ORDER BY f.path, coalesce(f.session, '') LIMIT :limit

-- name: file_counts
-- Files and their slices.
SELECT count(*), coalesce(sum(f.sections), 0) FROM files f WHERE f.namespace = :namespace

-- fragment: file_of_chunk
FROM chunks t JOIN files f ON f.namespace = t.namespace AND f.id = t.owner

-- name: file_hits
-- What hits show, if it may still be seen: the slice, where it stands, and the file.
SELECT t.n, t.text, t.context, t.first_sequence, t.last_sequence, t.tags, {file} {file_of_chunk}
WHERE t.n IN {each:chunks} AND +t.namespace IN {each:namespaces} AND t.owner_type = 'file'{filters}

-- name: file_slices
-- From one on, with what their vectors are in a space.
SELECT t.ordinal, t.text, t.context, t.first_sequence, t.last_sequence, v.vector FROM chunks t
LEFT JOIN vectors v ON v.chunk = t.n AND v.space = (SELECT id FROM spaces WHERE name = :space)
WHERE t.namespace = :namespace AND t.owner = :id AND t.owner_type = 'file' ORDER BY t.ordinal

-- name: file_insert
INSERT INTO files (namespace, id, path, session, kind, hash, size, modified, stamp, title, tags, metadata, links, unit,
                   sections, mark, indexed, version)
VALUES (:namespace, :id, :path, :session, :kind, :hash, :size, :modified, :stamp, :title, :tags, :metadata, :links, :unit,
        :sections, :mark, :indexed, :version)

-- name: file_update
-- A guard: it must be as it was when this was decided.
UPDATE files SET path = :path, kind = :kind, hash = :hash, size = :size, modified = :modified, stamp = :stamp,
  title = :title, tags = :tags, metadata = :metadata, links = :links, unit = :unit, sections = :sections, mark = :mark,
  indexed = :indexed, version = :version
WHERE namespace = :namespace AND id = :id AND version = :version - 1

-- name: file_stamp
-- What the disk says of it, and nothing else: it was touched.
UPDATE files SET stamp = :stamp WHERE namespace = :namespace AND id = :id AND version = :version

-- name: file_reset
-- To be read again.
UPDATE files SET stamp = '', hash = '', mark = NULL, version = version + 1 WHERE namespace = :namespace AND id = :id

-- name: file_delete
DELETE FROM files WHERE namespace = :namespace AND id = :id AND version = :version

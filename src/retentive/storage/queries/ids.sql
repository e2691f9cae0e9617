-- Rows by the beginning or the end of their id, each with a text by which people know it.

-- fragment: part_of_id
(t.id LIKE :beginning OR t.id LIKE :ending) ORDER BY t.id LIMIT :limit

-- name: id_of_memory
SELECT t.id, t.content FROM memories t WHERE t.namespace = :namespace AND {part_of_id}

-- name: id_of_proposal
SELECT t.id, t.reason FROM proposals t WHERE t.namespace = :namespace AND {part_of_id}

-- name: id_of_expectation
SELECT t.id, t.question FROM expectations t WHERE t.namespace = :namespace AND {part_of_id}

-- name: id_of_file
SELECT t.id, t.path FROM files t WHERE t.namespace = :namespace AND {part_of_id}

-- name: id_of_record
SELECT t.id, t.key FROM records t WHERE t.namespace = :namespace AND t.type = :type AND {part_of_id}

-- name: id_of_token
SELECT t.id, t.name FROM tokens t WHERE {part_of_id}

-- Proposals are inserted where the older memory is read.

-- name: proposal_newer_of
SELECT p.namespace, p.older, t.id, t.valid_from FROM proposals p
JOIN memories t ON t.namespace = p.namespace AND t.id = p.newer AND t.content_hash = p.newer_hash
JOIN memories o ON o.namespace = p.namespace AND o.id = p.older AND o.content_hash = p.older_hash
WHERE p.namespace IN {each:namespaces} AND t.namespace IN {each:namespaces} AND o.namespace IN {each:namespaces}
  AND p.older IN {each:ids} AND p.status = 'open' AND p.move_to IS NULL{filters}
  AND o.status = 'active' AND (o.expires IS NULL OR o.expires > :now)
ORDER BY t.valid_from DESC, t.id DESC

-- fragment: older_memory
FROM memories m WHERE m.namespace = :namespace AND m.id = :older AND m.status = 'active' AND m.content_hash = :older_hash

-- fragment: new_proposal
INSERT INTO proposals (namespace, id, newer, older, newer_hash, older_hash, rule, reason, status, created, move_to)
SELECT m.namespace, :id::text, :newer::text, m.id, :newer_hash::text, m.content_hash, :rule::text, :reason::text, 'open',
       :created::bigint, :move_to::text

-- name: proposal_insert
{new_proposal} {older_memory}

-- name: proposal_insert_if_new
{new_proposal} {older_memory}
  AND NOT EXISTS (SELECT 1 FROM proposals WHERE namespace = :namespace AND newer = :newer AND older = :older)

-- name: proposal_restore
INSERT INTO proposals (namespace, id, newer, older, newer_hash, older_hash, rule, reason, status, created, decided,
                       move_to)
SELECT m.namespace, :id::text, :newer::text, m.id, :newer_hash::text, :older_hash::text, :rule::text, :reason::text,
       :status::text, :created::bigint, :decided::bigint, :move_to::text
FROM memories m WHERE m.namespace = :namespace AND m.id = :older
  AND EXISTS (SELECT 1 FROM memories n WHERE n.namespace = :namespace AND n.id = :newer)

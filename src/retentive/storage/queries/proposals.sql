-- Proposals that a newer memory supersedes an older one.

-- fragment: both_live
-- Both memories are active and unchanged since the proposal.
JOIN memories n ON n.namespace = :namespace AND n.id = p.newer AND n.status = 'active' AND n.content_hash = p.newer_hash
  AND (n.expires IS NULL OR n.expires > :now)
JOIN memories o ON o.namespace = :namespace AND o.id = p.older AND o.status = 'active' AND o.content_hash = p.older_hash
  AND (o.expires IS NULL OR o.expires > :now)

-- fragment: shown_proposal
p.id, p.namespace, p.newer, n.content, n.valid_from, p.older, o.content, o.valid_from, p.rule, p.reason, p.created,
p.move_to, n.source, o.source

-- name: proposal_list
-- Open proposals whose memories are active, newest first: ids grow with time.
SELECT {shown_proposal} FROM proposals p {both_live}
WHERE p.namespace = :namespace AND p.status = 'open' AND (:before = '' OR p.id < :before) ORDER BY p.id DESC LIMIT :limit

-- name: proposal_get_open
SELECT {shown_proposal} FROM proposals p {both_live}
WHERE p.namespace = :namespace AND p.id = :id AND p.status = 'open'

-- name: proposal_status
SELECT status FROM proposals WHERE namespace = :namespace AND id = :id

-- name: proposal_newer_of
-- The newer memory of each open proposal about one of these older memories, newest first. SQLite keeps the order of
-- cross joins: it must begin with the proposals, of which there are few.
SELECT p.namespace, p.older, t.id, t.valid_from FROM proposals p CROSS JOIN memories t CROSS JOIN memories o
WHERE p.namespace IN {each:namespaces} AND p.older IN {each:ids} AND p.status = 'open' AND p.move_to IS NULL
  AND t.namespace = p.namespace AND t.id = p.newer AND t.content_hash = p.newer_hash{filters}
  AND o.namespace = p.namespace AND o.id = p.older AND o.status = 'active' AND o.content_hash = p.older_hash
  AND (o.expires IS NULL OR o.expires > :now)
ORDER BY t.valid_from DESC, t.id DESC

-- name: proposal_rejected
-- By the hashes of the texts: a memory that is added again gets a new id.
SELECT newer_hash, older_hash FROM proposals
WHERE namespace = :namespace AND status = 'rejected' AND newer_hash IN {each:hashes}

-- name: proposal_of_memories
-- The proposals about these memories, open or rejected, with the hashes of both texts.
SELECT newer, older, newer_hash, older_hash, status FROM proposals
WHERE namespace = :namespace AND (newer IN {each:ids} OR older IN {each:ids})

-- name: proposal_insert
-- A guard: only if the older memory is active and has the same text.
INSERT INTO proposals (namespace, id, newer, older, newer_hash, older_hash, rule, reason, status, created, move_to)
SELECT :namespace, :id, :newer, :older, :newer_hash, :older_hash, :rule, :reason, 'open', :created, :move_to
WHERE EXISTS (SELECT 1 FROM memories WHERE namespace = :namespace AND id = :older AND status = 'active'
              AND content_hash = :older_hash)

-- name: proposal_insert_if_new
-- For a newer memory that existed before: the pair may have a proposal already.
INSERT INTO proposals (namespace, id, newer, older, newer_hash, older_hash, rule, reason, status, created, move_to)
SELECT :namespace, :id, :newer, :older, :newer_hash, :older_hash, :rule, :reason, 'open', :created, :move_to
WHERE EXISTS (SELECT 1 FROM memories WHERE namespace = :namespace AND id = :older AND status = 'active'
              AND content_hash = :older_hash)
  AND NOT EXISTS (SELECT 1 FROM proposals WHERE namespace = :namespace AND newer = :newer AND older = :older)

-- name: proposal_insert_rejected
-- Reject a pair, whether or not it was proposed.
INSERT INTO proposals (namespace, id, newer, older, newer_hash, older_hash, rule, reason, status, created, decided)
VALUES (:namespace, :id, :newer, :older, :newer_hash, :older_hash, :rule, :reason, 'rejected', :decided, :decided)
ON CONFLICT (namespace, newer, older) DO UPDATE SET newer_hash = excluded.newer_hash, older_hash = excluded.older_hash,
  status = excluded.status, decided = excluded.decided

-- name: proposal_reject
UPDATE proposals SET status = 'rejected', decided = :now WHERE namespace = :namespace AND id = :id AND status = 'open'

-- name: proposal_accept
DELETE FROM proposals WHERE namespace = :namespace AND id = :id AND status = 'open'

-- name: proposal_delete_of_memory
-- The proposals that name a memory, or the same text.
DELETE FROM proposals WHERE namespace = :namespace
  AND (newer = :id OR older = :id OR newer_hash = :content_hash OR older_hash = :content_hash)

-- name: proposal_clear_reason
-- Clear the reason, which may quote a text that is purged elsewhere.
UPDATE proposals SET reason = '' WHERE namespace = :namespace AND id = :id

-- fragment: outdated
p.status = 'open' AND NOT EXISTS (SELECT 1 FROM memories n JOIN memories o ON o.namespace = n.namespace
  WHERE n.namespace = p.namespace AND n.id = p.newer AND n.status = 'active' AND n.content_hash = p.newer_hash
    AND (n.expires IS NULL OR n.expires > :now)
    AND o.id = p.older AND o.status = 'active' AND o.content_hash = p.older_hash
    AND (o.expires IS NULL OR o.expires > :now))

-- name: proposal_has_outdated
-- scope: store
SELECT EXISTS (SELECT 1 FROM proposals p WHERE {outdated})

-- name: proposal_prune
-- scope: store
-- Delete open proposals of the whole store whose memories have changed or ended.
DELETE FROM proposals AS p WHERE {outdated}

-- Proposals that a newer memory replaces an older one.

-- fragment: both_live
-- Both memories are active and say what they said when it was proposed.
JOIN memories n ON n.namespace = p.namespace AND n.id = p.newer AND n.status = 'active' AND n.content_hash = p.newer_hash
  AND (n.expires IS NULL OR n.expires > :now)
JOIN memories o ON o.namespace = p.namespace AND o.id = p.older AND o.status = 'active' AND o.content_hash = p.older_hash
  AND (o.expires IS NULL OR o.expires > :now)

-- fragment: shown_proposal
p.id, p.namespace, p.newer, n.content, n.valid_from, p.older, o.content, o.valid_from, p.rule, p.reason, p.created

-- name: proposal_list
-- The live ones, newest first: ids grow with time.
SELECT {shown_proposal} FROM proposals p {both_live}
WHERE p.namespace = :namespace AND p.status = 'open' AND (:before = '' OR p.id < :before) ORDER BY p.id DESC LIMIT :limit

-- name: proposal_live
SELECT {shown_proposal} FROM proposals p {both_live}
WHERE p.namespace = :namespace AND p.id = :id AND p.status = 'open'

-- name: proposal_status
SELECT status FROM proposals WHERE namespace = :namespace AND id = :id

-- name: proposal_rejected
-- By the texts: one that is told again gets a new id.
SELECT newer_hash, older_hash FROM proposals
WHERE namespace = :namespace AND status = 'rejected' AND newer_hash IN {each:hashes}

-- name: proposal_insert
-- A guard: only while the older memory is active and still says that.
INSERT INTO proposals (namespace, id, newer, older, newer_hash, older_hash, rule, reason, status, created)
SELECT :namespace, :id, :newer, :older, :newer_hash, :older_hash, :rule, :reason, 'open', :created
WHERE EXISTS (SELECT 1 FROM memories WHERE namespace = :namespace AND id = :older AND status = 'active'
              AND content_hash = :older_hash)

-- name: proposal_decide_against
-- Keeps a pair apart, whether or not it was proposed.
INSERT INTO proposals (namespace, id, newer, older, newer_hash, older_hash, rule, reason, status, created, decided)
VALUES (:namespace, :id, :newer, :older, :newer_hash, :older_hash, :rule, :reason, 'rejected', :decided, :decided)
ON CONFLICT (namespace, newer, older) DO UPDATE SET newer_hash = excluded.newer_hash, older_hash = excluded.older_hash,
  status = excluded.status, decided = excluded.decided

-- name: proposal_reject
UPDATE proposals SET status = 'rejected', decided = :now WHERE namespace = :namespace AND id = :id AND status = 'open'

-- name: proposal_accept
DELETE FROM proposals WHERE namespace = :namespace AND id = :id AND status = 'open'

-- name: proposal_delete_of
-- What names a memory, or the same text.
DELETE FROM proposals WHERE namespace = :namespace
  AND (newer = :id OR older = :id OR newer_hash = :content_hash OR older_hash = :content_hash)

-- name: proposal_unquote
-- The reason may quote a text that is purged elsewhere.
UPDATE proposals SET reason = '' WHERE namespace = :namespace AND id = :id

-- fragment: outdated
p.status = 'open' AND NOT EXISTS (SELECT 1 FROM memories n JOIN memories o ON o.namespace = n.namespace
  WHERE n.namespace = p.namespace AND n.id = p.newer AND n.status = 'active' AND n.content_hash = p.newer_hash
    AND (n.expires IS NULL OR n.expires > :now)
    AND o.id = p.older AND o.status = 'active' AND o.content_hash = p.older_hash
    AND (o.expires IS NULL OR o.expires > :now))

-- name: proposal_outdated
SELECT EXISTS (SELECT 1 FROM proposals p WHERE {outdated})

-- name: proposal_prune
-- Of the whole store: open ones whose memories changed or ended since.
DELETE FROM proposals AS p WHERE {outdated}

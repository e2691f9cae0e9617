-- fragment: token
id, name, namespace, subtree, read_only, created, expires, last_used, revoked

-- name: token_insert
-- searched: no
INSERT INTO tokens (id, hash, name, namespace, subtree, read_only, created, expires)
VALUES (:id, :hash, :name, :namespace, :subtree, :read_only, :created, :expires)

-- name: token_find
SELECT hash, {token} FROM tokens WHERE hash = :hash

-- name: token_find_many
SELECT hash, {token} FROM tokens WHERE hash IN {each:hashes}

-- name: token_get
SELECT {token} FROM tokens WHERE id = :id

-- name: token_list
SELECT {token} FROM tokens ORDER BY created DESC, id DESC

-- name: token_revoke
-- searched: no
-- The time of the first revocation stays.
UPDATE tokens SET revoked = :at WHERE id = :id AND revoked IS NULL

-- name: token_use
-- searched: no
UPDATE tokens SET last_used = :at WHERE id = :id AND (last_used IS NULL OR last_used < :at)

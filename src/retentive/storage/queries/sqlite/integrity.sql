-- The key `integrity` of `meta` has the fingerprint of the key that seals the store. Without it the mode is off.

-- name: integrity_fingerprint_set
INSERT INTO meta (key, value) VALUES ('integrity', :fingerprint)
ON CONFLICT (key) DO UPDATE SET value = excluded.value

-- name: integrity_fingerprint_clear
DELETE FROM meta WHERE key = 'integrity'

-- name: integrity_last
SELECT seq, chain, at FROM integrity_log ORDER BY seq DESC LIMIT 1

-- name: integrity_insert
INSERT INTO integrity_log (seq, at, row, mac, chain, name) VALUES (:seq, :at, :row, :mac, :chain, :name)

-- name: integrity_clear_name
UPDATE integrity_log SET name = NULL WHERE row = :row

-- name: integrity_clear
DELETE FROM integrity_log

-- name: integrity_list
SELECT seq, at, row, mac, chain, name FROM integrity_log ORDER BY seq

-- name: integrity_list_of_row
SELECT seq, mac FROM integrity_log WHERE row = :row

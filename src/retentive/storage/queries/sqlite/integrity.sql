-- The key `integrity` of `meta` has the fingerprint of the key that the store is sealed with; none: the mode is off.

-- name: integrity_mark_set
INSERT INTO meta (key, value) VALUES ('integrity', :fingerprint)
ON CONFLICT (key) DO UPDATE SET value = excluded.value

-- name: integrity_mark_clear
DELETE FROM meta WHERE key = 'integrity'

-- name: integrity_last
SELECT seq, chain, at FROM integrity_log ORDER BY seq DESC LIMIT 1

-- name: integrity_insert
INSERT INTO integrity_log (seq, at, row, mac, chain, name) VALUES (:seq, :at, :row, :mac, :chain, :name)

-- name: integrity_unname
UPDATE integrity_log SET name = NULL WHERE row = :row

-- name: integrity_clear
DELETE FROM integrity_log

-- name: integrity_entries
SELECT seq, at, row, mac, chain, name FROM integrity_log ORDER BY seq

-- name: integrity_of_row
SELECT seq, mac FROM integrity_log WHERE row = :row

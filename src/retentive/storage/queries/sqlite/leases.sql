-- name: lease_take
-- If nobody holds it, its time is up, it ends later than its span allows, or it is the holder's own (which makes it
-- last longer). By the database's clock: those of the holders may differ.
INSERT INTO leases (namespace, name, holder, expires, span)
VALUES (:namespace, :name, :holder, CAST(unixepoch('subsec') * 1000000 AS INTEGER) + :span, :span)
ON CONFLICT (namespace, name) DO UPDATE SET holder = excluded.holder, expires = excluded.expires, span = excluded.span
WHERE leases.holder = excluded.holder
  OR leases.expires - CAST(unixepoch('subsec') * 1000000 AS INTEGER) NOT BETWEEN 1 AND leases.span

-- name: lease_held
-- By whom, and for how much longer, in microseconds.
SELECT holder, remaining
FROM (SELECT holder, span, expires - CAST(unixepoch('subsec') * 1000000 AS INTEGER) AS remaining
  FROM leases WHERE namespace = :namespace AND name = :name) held
WHERE remaining BETWEEN 1 AND span

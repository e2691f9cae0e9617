-- name: lease_take
-- Take a lease that no other holder has, that has expired, or that ends later than its span allows. The holder's own
-- lease is extended. By the database's clock: those of the holders may differ.
INSERT INTO leases (namespace, name, holder, expires, span)
VALUES (:namespace, :name, :holder, CAST(unixepoch('subsec') * 1000000 AS INTEGER) + :span, :span)
ON CONFLICT (namespace, name) DO UPDATE SET holder = excluded.holder, expires = excluded.expires, span = excluded.span
WHERE leases.holder = excluded.holder
  OR leases.expires - CAST(unixepoch('subsec') * 1000000 AS INTEGER) NOT BETWEEN 1 AND leases.span

-- name: lease_held
-- The holder, and for how many more microseconds.
SELECT holder, remaining
FROM (SELECT holder, span, expires - CAST(unixepoch('subsec') * 1000000 AS INTEGER) AS remaining
  FROM leases WHERE namespace = :namespace AND name = :name) held
WHERE remaining BETWEEN 1 AND span

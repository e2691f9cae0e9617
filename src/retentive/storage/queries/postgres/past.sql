-- fragment: memory_state_then
-- The state of a memory `m` at :known_at. History has instants as text.
SELECT {before_json} ->> 'status' AS status,
       (extract(epoch FROM ({before_json} ->> 'valid_from')::timestamptz) * 1000000)::bigint AS valid_from,
       (extract(epoch FROM ({before_json} ->> 'valid_to')::timestamptz) * 1000000)::bigint AS valid_to,
       (extract(epoch FROM ({before_json} ->> 'expires')::timestamptz) * 1000000)::bigint AS expires
FROM memory_history h WHERE {first_change}
UNION ALL {unchanged}

-- fragment: unchanged
-- The state of a memory `m` that was not changed since :known_at.
SELECT k.status, k.valid_from, k.valid_to, k.expires FROM memories k
WHERE k.namespace = m.namespace AND k.id = m.id AND NOT EXISTS (
  SELECT 1 FROM memory_history c WHERE c.namespace = m.namespace AND c.memory = m.id AND c.at > :known_at)

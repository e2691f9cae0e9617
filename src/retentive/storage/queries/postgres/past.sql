-- fragment: memory_state_then
-- The state of a memory `m` at :known_at. History has instants as text.
SELECT {before_json} ->> 'status' AS status,
       (extract(epoch FROM ({before_json} ->> 'valid_from')::timestamptz) * 1000000)::bigint AS valid_from,
       (extract(epoch FROM ({before_json} ->> 'valid_to')::timestamptz) * 1000000)::bigint AS valid_to,
       (extract(epoch FROM ({before_json} ->> 'expires')::timestamptz) * 1000000)::bigint AS expires
FROM memory_history h WHERE {first_change}
UNION ALL {unchanged}

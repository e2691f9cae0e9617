-- fragment: found
-- How a change found a memory, but for backslashes and zero characters, which PostgreSQL's JSON cannot read: what is
-- asked of it has neither. Pairs of backslashes go first, since a text may say \u0000 and not mean it.
replace(replace(h.before, '\\', ''), '\u0000', '')::json

-- fragment: state
-- A memory `m` at :known_at. History has instants as text.
SELECT {found} ->> 'status' AS status,
       (extract(epoch FROM ({found} ->> 'valid_from')::timestamptz) * 1000000)::bigint AS valid_from,
       (extract(epoch FROM ({found} ->> 'valid_to')::timestamptz) * 1000000)::bigint AS valid_to,
       (extract(epoch FROM ({found} ->> 'expires')::timestamptz) * 1000000)::bigint AS expires
FROM memory_history h WHERE {first_change}
UNION ALL {unchanged}

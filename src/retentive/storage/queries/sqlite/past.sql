-- fragment: state
-- A memory `m` at :known_at. History has instants as text: with a fraction of six digits, or with none.
SELECT h.before ->> 'status' AS status,
       unixepoch(substr(h.before ->> 'valid_from', 1, 19)) * 1000000
         + CAST(substr(h.before ->> 'valid_from', 21) AS INTEGER) AS valid_from,
       unixepoch(substr(h.before ->> 'valid_to', 1, 19)) * 1000000
         + CAST(substr(h.before ->> 'valid_to', 21) AS INTEGER) AS valid_to,
       unixepoch(substr(h.before ->> 'expires', 1, 19)) * 1000000
         + CAST(substr(h.before ->> 'expires', 21) AS INTEGER) AS expires
FROM memory_history h WHERE {first_change}
UNION ALL {unchanged}

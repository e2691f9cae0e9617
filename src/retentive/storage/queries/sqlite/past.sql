-- fragment: memory_state_then
-- The state of a memory `m` at :known_at. History has instants as text, with a fraction of six digits or none.
SELECT ({before_json}) ->> 'status' AS status,
       unixepoch(substr(({before_json}) ->> 'valid_from', 1, 19)) * 1000000
         + CAST(substr(({before_json}) ->> 'valid_from', 21) AS INTEGER) AS valid_from,
       unixepoch(substr(({before_json}) ->> 'valid_to', 1, 19)) * 1000000
         + CAST(substr(({before_json}) ->> 'valid_to', 21) AS INTEGER) AS valid_to,
       unixepoch(substr(({before_json}) ->> 'expires', 1, 19)) * 1000000
         + CAST(substr(({before_json}) ->> 'expires', 21) AS INTEGER) AS expires
FROM memory_history h WHERE {first_change}
UNION ALL {unchanged}

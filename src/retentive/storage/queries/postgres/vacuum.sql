-- name: vacuum
-- One statement at a time, outside any transaction.
VACUUM (ANALYZE) memories;
VACUUM (ANALYZE) memory_history;
VACUUM (ANALYZE) sessions;
VACUUM (ANALYZE) session_state;
VACUUM (ANALYZE) events;
VACUUM (ANALYZE) chunks;
VACUUM (ANALYZE) texts;
VACUUM (ANALYZE) postings;
VACUUM (ANALYZE) statistics;
VACUUM (ANALYZE) vectors;
VACUUM (ANALYZE) access_log;
VACUUM (ANALYZE) measures;
VACUUM (ANALYZE) commits

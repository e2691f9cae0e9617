-- Checks of a store: each query returns one row for each disagreement.

-- name: text_check
-- Fails if the index does not match its rows.
INSERT INTO chunks_fts (chunks_fts) VALUES ('integrity-check')

-- name: text_list_strays
SELECT n FROM chunks WHERE n NOT IN (SELECT id FROM chunks_fts_docsize)
UNION ALL SELECT id FROM chunks_fts_docsize WHERE id NOT IN (SELECT n FROM chunks)

-- name: vector_list_strays
SELECT chunk FROM vectors WHERE chunk NOT IN (SELECT n FROM chunks) OR space NOT IN (SELECT id FROM spaces)

-- name: change_list_strays
SELECT seq FROM changes WHERE typeof(chunk) <> 'integer' OR typeof(namespace) <> 'text'

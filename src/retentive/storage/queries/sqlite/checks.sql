-- What a check-up asks. A row of each that is not as it should be.

-- name: text_check
-- Fails if the index does not match its rows.
INSERT INTO chunks_fts (chunks_fts) VALUES ('integrity-check')

-- name: text_strays
SELECT n FROM chunks WHERE n NOT IN (SELECT id FROM chunks_fts_docsize)
UNION ALL SELECT id FROM chunks_fts_docsize WHERE id NOT IN (SELECT n FROM chunks)

-- name: vector_strays
SELECT chunk FROM vectors WHERE chunk NOT IN (SELECT n FROM chunks) OR space NOT IN (SELECT id FROM spaces)

-- name: change_strays
SELECT seq FROM changes WHERE typeof(chunk) <> 'integer' OR typeof(namespace) <> 'text'

-- Recall tests: what questions are expected to find.

-- fragment: expectation
namespace, id, question, session, finds, absent, depth, created

-- name: expectation_insert
INSERT INTO expectations ({expectation})
VALUES (:namespace, :id, :question, :session, :finds, :absent, :depth, :created)

-- name: expectation_list
SELECT {expectation} FROM expectations WHERE namespace = :namespace ORDER BY created, id

-- name: expectation_delete
DELETE FROM expectations WHERE namespace = :namespace AND id = :id

-- name: expectation_delete_of_session
DELETE FROM expectations WHERE namespace = :namespace AND session = :session

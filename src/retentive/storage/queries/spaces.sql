-- The vector spaces of a store, and how one of them becomes active.

-- name: space_insert
-- Insert a space that does not exist. It becomes active if no space is: the first model that writes is the store's.
INSERT INTO spaces (name, dimension, model, state, changed)
SELECT CAST(:space AS TEXT), CAST(:dimension AS INTEGER), CAST(:model AS TEXT),
  CASE WHEN CAST(:state AS TEXT) = 'active' AND EXISTS (SELECT 1 FROM spaces WHERE state = 'active') THEN 'kept'
       ELSE CAST(:state AS TEXT) END, CAST(:now AS BIGINT)
WHERE true ON CONFLICT DO NOTHING

-- name: space_list_states
SELECT name, dimension, model, state, changed FROM spaces ORDER BY name

-- name: space_adopt
UPDATE spaces SET state = 'active', changed = :now, model = coalesce(CAST(:model AS TEXT), model)
WHERE name = :space AND state <> 'given' AND NOT EXISTS (SELECT 1 FROM spaces WHERE state = 'active')

-- name: space_release
-- scope: store
-- Deactivate the active space if it has no vectors. The next model that writes becomes the store's.
UPDATE spaces SET state = 'kept', changed = :now
WHERE name = :space AND state = 'active' AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.space = spaces.id)

-- name: space_set_state
-- Set the state of a space that is not active: only a switch deactivates a space.
UPDATE spaces SET state = :state, changed = :now, model = coalesce(CAST(:model AS TEXT), model)
WHERE name = :space AND state NOT IN ('active', 'given')

-- name: space_set_model
-- Record how the model of a space is opened, if that is not known.
UPDATE spaces SET model = :model WHERE name = :space AND model IS NULL

-- name: space_retire
UPDATE spaces SET state = 'kept', changed = :now WHERE name = :space AND state = 'active'

-- name: space_activate
-- scope: store
-- timeout: none
-- Only if no chunk lacks a vector in it.
UPDATE spaces SET state = 'active', changed = :now
WHERE name = :space AND state IN ('building', 'switching') AND NOT EXISTS (SELECT 1 {without_vector})

-- name: chunk_without_vector
-- scope: store
-- Chunks without a vector in a new space, oldest first: the active ones, and those with a vector in the old space,
-- because questions about the past find them.
SELECT t.n, t.namespace, coalesce(t.text, m.content, e.content), coalesce(t.context, m.context) {without_vector}
  AND t.n > :after ORDER BY t.n LIMIT :limit

-- name: chunk_without_vector_count
-- scope: store
SELECT count(*) {without_vector}

-- name: space_has_vectors
-- scope: store
SELECT EXISTS (SELECT 1 FROM vectors v JOIN spaces s ON s.id = v.space WHERE s.name = :space)

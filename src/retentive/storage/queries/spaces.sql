-- The spaces of a store's vectors, and how one becomes the active one.

-- name: space_insert
-- One that is not there yet. It is the active one if none is: the first model that writes is the store's.
INSERT INTO spaces (name, dimension, model, state, changed)
SELECT CAST(:space AS TEXT), CAST(:dimension AS INTEGER), CAST(:model AS TEXT),
  CASE WHEN CAST(:state AS TEXT) = 'active' AND EXISTS (SELECT 1 FROM spaces WHERE state = 'active') THEN 'kept'
       ELSE CAST(:state AS TEXT) END, CAST(:now AS BIGINT)
WHERE true ON CONFLICT DO NOTHING

-- name: space_states
SELECT name, dimension, model, state, changed FROM spaces ORDER BY name

-- name: space_adopt
UPDATE spaces SET state = 'active', changed = :now, model = coalesce(CAST(:model AS TEXT), model)
WHERE name = :space AND state <> 'given' AND NOT EXISTS (SELECT 1 FROM spaces WHERE state = 'active')

-- name: space_release
-- The active one that has no vectors: then the next model that writes is the store's.
UPDATE spaces SET state = 'kept', changed = :now
WHERE name = :space AND state = 'active' AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.space = spaces.id)

-- name: space_mark
-- In another state than before; the active one leaves it by a switch alone.
UPDATE spaces SET state = :state, changed = :now, model = coalesce(CAST(:model AS TEXT), model)
WHERE name = :space AND state NOT IN ('active', 'given')

-- name: space_model
-- How its model is opened again, where that was not known.
UPDATE spaces SET model = :model WHERE name = :space AND model IS NULL

-- name: space_retire
UPDATE spaces SET state = 'kept', changed = :now WHERE name = :space AND state = 'active'

-- name: space_activate
-- Only if nothing is left to be embedded in it.
UPDATE spaces SET state = 'active', changed = :now
WHERE name = :space AND state IN ('building', 'switching') AND NOT EXISTS (SELECT 1 {unbuilt})

-- name: chunk_unbuilt
-- What a new space still lacks, oldest first: all that is active, and all else that has a vector in the old space,
-- because questions about the past find it.
SELECT t.n, t.namespace, coalesce(t.text, m.content, e.content), coalesce(t.context, m.context) {unbuilt}
  AND t.n > :after ORDER BY t.n LIMIT :limit

-- name: chunk_unbuilt_count
SELECT count(*) {unbuilt}

-- name: space_has_vectors
SELECT EXISTS (SELECT 1 FROM vectors v JOIN spaces s ON s.id = v.space WHERE s.name = :space)

-- Filters of questions about the past, on a row `t` of memories, or of chunks and then on their owner.

-- fragment: was_valid_state
-- The state `s` was valid at :as_of. A later change does not matter, unless the memory was forgotten.
s.status <> 'forgotten' AND s.valid_from <= :as_of AND (s.valid_to IS NULL OR s.valid_to > :as_of)
  AND (s.expires IS NULL OR s.expires > :as_of)

-- fragment: was_current_state
-- The state `s` was current at :known_at. A later change may have found the memory expired, though it was not yet then.
s.status IN ('active', 'expired') AND (s.expires IS NULL OR s.expires > :known_at)

-- fragment: was_current
m.created <= :known_at AND EXISTS (SELECT 1 FROM ({memory_state_then}) s WHERE {was_current_state})

-- fragment: was_valid
m.created <= :known_at AND EXISTS (SELECT 1 FROM ({memory_state_then}) s WHERE {was_valid_state})

-- fragment: first_change
-- The first change `h` of a memory `m` after :known_at. It recorded the state before itself.
h.namespace = m.namespace AND h.memory = m.id AND h.version = (
  SELECT min(c.version) FROM memory_history c
  WHERE c.namespace = m.namespace AND c.memory = m.id AND c.at > :known_at)

-- fragment: unchanged
-- The state of a memory `m` that was not changed since :known_at.
SELECT m.status, m.valid_from, m.valid_to, m.expires WHERE NOT EXISTS (
  SELECT 1 FROM memory_history c WHERE c.namespace = m.namespace AND c.memory = m.id AND c.at > :known_at)

-- fragment: existed_then
-- The owner of a chunk existed then: a message that had been written, a file that is still there.
 AND CASE t.owner_type WHEN 'memory' THEN true
     WHEN 'event' THEN EXISTS (
       SELECT 1 FROM events said WHERE said.namespace = t.namespace AND said.session = t.session
         AND said.sequence = t.first_sequence AND said.time <= :said_until)
     ELSE t.status IN ('active', 'ignored') AND t.valid_from <= :said_until END

-- fragment: as_of
 AND EXISTS (SELECT 1 FROM memories s WHERE s.namespace = t.namespace AND s.id = t.id AND {was_valid_state})

-- fragment: known_at
 AND EXISTS (SELECT 1 FROM memories m WHERE m.namespace = t.namespace AND m.id = t.id AND {was_current})

-- fragment: as_of_known_at
 AND EXISTS (SELECT 1 FROM memories m WHERE m.namespace = t.namespace AND m.id = t.id AND {was_valid})

-- fragment: chunk_as_of
 AND (t.owner_type <> 'memory' OR EXISTS (
   SELECT 1 FROM memories s WHERE s.namespace = t.namespace AND s.id = t.owner AND {was_valid_state})){existed_then}

-- fragment: chunk_known_at
 AND (t.owner_type <> 'memory' OR EXISTS (
   SELECT 1 FROM memories m WHERE m.namespace = t.namespace AND m.id = t.owner AND {was_current})){existed_then}

-- fragment: chunk_as_of_known_at
 AND (t.owner_type <> 'memory' OR EXISTS (
   SELECT 1 FROM memories m WHERE m.namespace = t.namespace AND m.id = t.owner AND {was_valid})){existed_then}

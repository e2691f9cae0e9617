-- Questions about the past, on a row `t` of memories, or of chunks: then on the memory or the event it is a slice of.

-- fragment: valid
-- Whatever became of it since, unless it was forgotten.
s.status <> 'forgotten' AND s.valid_from <= :as_of AND (s.valid_to IS NULL OR s.valid_to > :as_of)
  AND (s.expires IS NULL OR s.expires > :as_of)

-- fragment: current
-- A change after its time ran out found it expired, though it had not run out at the moment in question.
s.status IN ('active', 'expired') AND (s.expires IS NULL OR s.expires > :known_at)

-- fragment: was_current
m.created <= :known_at AND EXISTS (SELECT 1 FROM ({state}) s WHERE {current})

-- fragment: was_valid
m.created <= :known_at AND EXISTS (SELECT 1 FROM ({state}) s WHERE {valid})

-- fragment: first_change
-- Of a memory `m` after the moment in question: it kept how that found it.
h.namespace = m.namespace AND h.memory = m.id AND h.version = (
  SELECT min(c.version) FROM memory_history c
  WHERE c.namespace = m.namespace AND c.memory = m.id AND c.at > :known_at)

-- fragment: unchanged
-- A memory `m` as it still is.
SELECT m.status, m.valid_from, m.valid_to, m.expires WHERE NOT EXISTS (
  SELECT 1 FROM memory_history c WHERE c.namespace = m.namespace AND c.memory = m.id AND c.at > :known_at)

-- fragment: said
-- Of events, what had been said; of files, what there is now and was there then.
 AND CASE t.owner_type WHEN 'memory' THEN true
     WHEN 'event' THEN EXISTS (
       SELECT 1 FROM events said WHERE said.namespace = t.namespace AND said.session = t.session
         AND said.sequence = t.first_sequence AND said.time <= :said_until)
     ELSE t.status IN ('active', 'ignored') AND t.valid_from <= :said_until END

-- fragment: as_of
 AND EXISTS (SELECT 1 FROM memories s WHERE s.namespace = t.namespace AND s.id = t.id AND {valid})

-- fragment: known_at
 AND EXISTS (SELECT 1 FROM memories m WHERE m.namespace = t.namespace AND m.id = t.id AND {was_current})

-- fragment: as_of_known_at
 AND EXISTS (SELECT 1 FROM memories m WHERE m.namespace = t.namespace AND m.id = t.id AND {was_valid})

-- fragment: chunk_as_of
 AND (t.owner_type <> 'memory' OR EXISTS (
   SELECT 1 FROM memories s WHERE s.namespace = t.namespace AND s.id = t.owner AND {valid})){said}

-- fragment: chunk_known_at
 AND (t.owner_type <> 'memory' OR EXISTS (
   SELECT 1 FROM memories m WHERE m.namespace = t.namespace AND m.id = t.owner AND {was_current})){said}

-- fragment: chunk_as_of_known_at
 AND (t.owner_type <> 'memory' OR EXISTS (
   SELECT 1 FROM memories m WHERE m.namespace = t.namespace AND m.id = t.owner AND {was_valid})){said}

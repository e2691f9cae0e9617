-- A slice of what an assistant said is of the kind `reply`, so that a search can leave replies out: they repeat the words
-- of what they reply to.
UPDATE chunks SET kind = 'reply'
WHERE owner_type = 'event' AND EXISTS (
  SELECT 1 FROM events e
  WHERE e.namespace = chunks.namespace AND e.session = chunks.session AND e.sequence = chunks.first_sequence
    AND e.role = 'assistant');

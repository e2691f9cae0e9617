-- A slice of what an assistant said is of the kind `reply`, so that a search can leave replies out: they repeat the words
-- of what they reply to.
UPDATE chunks c SET kind = 'reply' FROM events e
WHERE c.owner_type = 'event' AND e.namespace = c.namespace AND e.session = c.session AND e.sequence = c.first_sequence
  AND e.role = 'assistant';

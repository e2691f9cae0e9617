-- A store remembers its models. `model` is how the model of a space is opened again: the text of the setting `embedder`;
-- NULL if that cannot be said. `state` is what the space is for:
--   active     questions are asked in it, and new texts are embedded in it
--   building   it is being filled beside the active one
--   switching  it is about to become the active one
--   kept       it was active, or came with an import
--   given      callers bring its vectors themselves
--   dropped    its vectors are deleted; the row stays, because others know its number
-- `changed` is when it came into this state.
ALTER TABLE spaces ADD COLUMN model TEXT;
ALTER TABLE spaces ADD COLUMN state TEXT NOT NULL DEFAULT 'kept';
ALTER TABLE spaces ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;

UPDATE spaces SET model = CASE name WHEN 'all-MiniLM-L6-v2' THEN 'minilm' WHEN 'hashing-384' THEN 'hashing' END;
UPDATE spaces SET state = 'given' WHERE name GLOB 'given-*';
-- Of the models that a store was opened with, the one that holds the most vectors.
UPDATE spaces SET state = 'active' WHERE id =
  (SELECT v.space FROM vectors v JOIN spaces s ON s.id = v.space WHERE s.state = 'kept'
   GROUP BY v.space ORDER BY count(*) DESC, v.space LIMIT 1);
CREATE UNIQUE INDEX spaces_active ON spaces (state) WHERE state = 'active';

-- The fields of a chunk as they were given, beside their tokens: what moves along into another engine. Tokens are stems,
-- from which the words cannot be had back. NULL in all that was written before; `doctor --repair` makes it anew.
ALTER TABLE texts
  ADD COLUMN raw_content text COLLATE "C",
  ADD COLUMN raw_context text COLLATE "C",
  ADD COLUMN raw_tags    text COLLATE "C",
  ADD COLUMN raw_before  text COLLATE "C",
  ADD COLUMN raw_after   text COLLATE "C",
  ADD COLUMN raw_speaker text COLLATE "C",
  ADD COLUMN raw_date    text COLLATE "C";

-- A message has tags of its own, beside those of its session. Its chunks have both.
ALTER TABLE events ADD COLUMN tags TEXT;

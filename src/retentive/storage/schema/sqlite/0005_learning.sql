-- How far a session's messages were read for what is worth keeping, what was found in them that is still to be kept
-- (JSON), and how much of it. Written by compare-and-swap: a claim and its being done commit together.
ALTER TABLE session_state ADD COLUMN learned_upto INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session_state ADD COLUMN claims TEXT NOT NULL DEFAULT '';
ALTER TABLE session_state ADD COLUMN claims_left INTEGER NOT NULL DEFAULT 0;

-- Requests in plain words that were done, of those in the message.
ALTER TABLE events ADD COLUMN heeded INTEGER NOT NULL DEFAULT 0;

-- What came late looks for the slot's past.
CREATE INDEX memories_chain ON memories (namespace, slot, valid_from) WHERE slot IS NOT NULL;

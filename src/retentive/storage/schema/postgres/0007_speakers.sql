-- Who speaks in a namespace is asked for by searches: each name is found by one step in this index.
CREATE INDEX events_speakers ON events (namespace, speaker) WHERE speaker IS NOT NULL;

-- Optional filters of a question, on a row `t` of memories or chunks.

-- fragment: local
-- Global rows, and those of the caller's own session, which is in its own namespace.
 AND (t.session IS NULL OR (t.session = :session AND t.namespace = :own))

-- fragment: visible
-- The same for chunks. Events may be of all sessions or of one.
 AND t.owner_type IN {each:types}
 AND CASE t.owner_type WHEN 'event'
     THEN :events_of_session IS NULL OR (t.session = :events_of_session AND t.namespace = :own)
     ELSE t.session IS NULL OR (t.session = :session AND t.namespace = :own) END

-- fragment: only_session
-- Only what belongs to the caller's own session.
 AND t.session = :session AND t.namespace = :own

-- fragment: active
 AND t.status = 'active' AND (t.expires IS NULL OR t.expires > :now)

-- fragment: statuses
-- A memory past its expiry counts as expired, whether or not the background work has marked it yet.
 AND CASE WHEN t.status = 'active' AND t.expires <= :now THEN 'expired' ELSE t.status END
     IN {each:statuses}

-- fragment: kinds
 AND t.kind IN {each:kinds}

-- fragment: without_replies
 AND t.kind <> 'reply'

-- fragment: sources
 AND t.source IN {each:sources}

-- fragment: tags
 AND NOT EXISTS (SELECT 1 FROM json_each(:tags) AS wanted
                 WHERE wanted.value NOT IN (SELECT value FROM json_each(CASE WHEN json_valid(t.tags) THEN t.tags ELSE '[]' END)))

-- fragment: min_importance
 AND t.importance >= :min_importance

-- fragment: min_confidence
 AND t.confidence >= :min_confidence

-- fragment: since
 AND t.valid_from >= :since

-- fragment: until
 AND t.valid_from < :until

-- fragment: before
-- Paging: the rows after this one in the order of the list.
 AND (t.created, t.id) < (SELECT created, id FROM memories WHERE namespace = :namespace AND id = :before)

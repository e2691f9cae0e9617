-- The namespace of the person who talks in a session: what is learned there about them rather than about the project is
-- kept in it. Only a writer who may write there sets it. NULL: not known; empty: several persons, so that what is learned
-- stays in the session's namespace.
ALTER TABLE sessions ADD COLUMN person text COLLATE "C";

-- A proposal to move a memory to another namespace: `newer` and `older` are both the memory. NULL: one of two memories.
ALTER TABLE proposals ADD COLUMN move_to text COLLATE "C";

"""How does it move? The chat logs that people have, read into conversations. Nothing here writes to a store."""

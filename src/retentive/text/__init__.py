"""Pure functions on text: normalise, hash, terms, chunk. No I/O, no state."""

"""Which answer this best? Pure functions: matches of the legs in, ranked candidates out."""
